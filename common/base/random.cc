#include "common/base/random.h"

#include <sys/random.h>

#include "common/base/check.h"
#include "common/base/philox.h"

namespace warpsmith {

std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  const PhiloxWords words =
      Philox({counter[0], counter[1], counter[2], counter[3]}, key[0], key[1]);
  return {words.w0, words.w1, words.w2, words.w3};
}

uint32_t Random::Bits() {
  if (used_ == 4) {
    words_ = Philox4x32({static_cast<uint32_t>(block_), static_cast<uint32_t>(block_ >> 32),
                         static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)},
                        {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
    ++block_;
    used_ = 0;
  }
  return words_[used_++];
}

uint64_t Random::Below(uint64_t bound) {
  CHECK(bound > 0, "Below needs a positive bound");
  // Rejection keeps the draw exactly uniform.
  const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
  for (;;) {
    const uint64_t bits = Bits64();
    if (bits < limit) return bits % bound;
  }
}

double Random::Uniform() { return static_cast<double>(Bits64() >> 11) * 0x1.0p-53; }

size_t Random::Weighted(std::span<const double> weights) {
  double total = 0;
  for (double weight : weights) {
    CHECK(weight >= 0, "weights are not negative");
    total += weight;
  }
  CHECK(total > 0, "some weight is positive");
  double left = Uniform() * total;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0) continue;
    last = i;
    left -= weights[i];
    if (left < 0) return i;
  }
  return last;  // rounding at the upper end
}

uint64_t MixSeed(std::initializer_list<uint64_t> words) {
  uint64_t state = 0;
  for (uint64_t word : words) {
    state += word + 0x9E3779B97F4A7C15;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    state = z ^ (z >> 31);
  }
  return state;
}

uint64_t SecretSeed() {
  uint64_t seed = 0;
  const auto read = getrandom(&seed, sizeof(seed), 0);
  CHECK(read == sizeof(seed), "the system gives random bytes");
  return seed;
}

}  // namespace warpsmith
