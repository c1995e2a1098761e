#include "common/runtime/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "common/base/check.h"

namespace warpsmith {

struct Sha256::Context {
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> md{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  CHECK(context_->md && EVP_DigestInit_ex(context_->md.get(), EVP_sha256(), nullptr) == 1,
        "OpenSSL has SHA-256");
}

Sha256::~Sha256() = default;

void Sha256::Update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(context_->md.get(), bytes.data(), bytes.size()) == 1,
        "a digest takes bytes");
}

std::string Sha256::Finish() {
  std::array<unsigned char, 32> digest;
  CHECK(EVP_DigestFinal_ex(context_->md.get(), digest.data(), nullptr) == 1, "a digest ends once");
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * digest.size());
  for (unsigned char byte : digest) {
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

std::string Sha256Hex(std::string_view bytes) {
  Sha256 digest;
  digest.Update(bytes);
  return digest.Finish();
}

}  // namespace warpsmith
