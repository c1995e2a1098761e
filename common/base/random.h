// Counter-based randomness: Philox4x32-10 (common/base/philox.h). The same key and counter give the
// same bits on every device.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace warpsmith {

// Four 32-bit words for a 128-bit counter under a 64-bit key.
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

// A stream of draws from one seed and stream number. Two streams of a seed are independent.
// Value type; not shared among threads.
class Random {
 public:
  explicit Random(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  uint32_t Bits();
  uint64_t Bits64() { return (uint64_t{Bits()} << 32) | Bits(); }
  // Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound);
  // Uniform in [0, 1), 53 bits.
  double Uniform();
  // True with this probability.
  bool Chance(double probability) { return Uniform() < probability; }
  // An index drawn in proportion to non-negative weights, not all zero.
  size_t Weighted(std::span<const double> weights);
  // A seed for something that needs its own stream.
  uint64_t Fork() { return Bits64(); }

 private:
  uint64_t seed_;
  uint64_t stream_;
  uint64_t block_ = 0;
  std::array<uint32_t, 4> words_{};
  int used_ = 4;
};

// Mixes words into one seed (SplitMix64 finaliser over a running sum), for seeds derived from
// (run seed, group, episode) and the like.
uint64_t MixSeed(std::initializer_list<uint64_t> words);

// 64 bits from the operating system, for secret seeds and incarnations.
uint64_t SecretSeed();

}  // namespace warpsmith
