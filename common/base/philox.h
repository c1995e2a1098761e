// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011): the one text of it, which g++ compiles for the host and NVRTC for a GPU, so that a counter
// and a key give the same bits everywhere. common/base/random.h is what the rest of the host uses.
// Pure.
#pragma once

#ifdef __CUDACC_RTC__
#define WARPSMITH_PHILOX __device__ inline
#else
#define WARPSMITH_PHILOX inline __attribute__((always_inline))
#endif

namespace warpsmith {

// Four words of 32 bits.
struct PhiloxWords {
  unsigned int w0, w1, w2, w3;
};

// What a round adds to the key's words.
constexpr unsigned int kPhiloxWeyl0 = 0x9E3779B9u, kPhiloxWeyl1 = 0xBB67AE85u;
constexpr int kPhiloxRounds = 10;

// One round on words that lie anywhere, for loops that go over many counters round by round.
WARPSMITH_PHILOX void PhiloxRound(unsigned int& w0, unsigned int& w1, unsigned int& w2,
                                  unsigned int& w3, unsigned int key0, unsigned int key1) {
  const unsigned long long p0 = 0xD2511F53ull * w0, p1 = 0xCD9E8D57ull * w2;
  w0 = static_cast<unsigned int>(p1 >> 32) ^ w1 ^ key0;
  w1 = static_cast<unsigned int>(p1);
  w2 = static_cast<unsigned int>(p0 >> 32) ^ w3 ^ key1;
  w3 = static_cast<unsigned int>(p0);
}

WARPSMITH_PHILOX PhiloxWords Philox(PhiloxWords counter, unsigned int key0, unsigned int key1) {
  for (int round = 0; round < kPhiloxRounds; ++round) {
    PhiloxRound(counter.w0, counter.w1, counter.w2, counter.w3, key0, key1);
    key0 += kPhiloxWeyl0;
    key1 += kPhiloxWeyl1;
  }
  return counter;
}

}  // namespace warpsmith
