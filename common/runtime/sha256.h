// SHA-256 (FIPS 180-4) by OpenSSL, as lower-case hex.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace warpsmith {

// Thread-compatible. One digest an object.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  void Update(std::string_view bytes);
  std::string Finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string Sha256Hex(std::string_view bytes);

}  // namespace warpsmith
