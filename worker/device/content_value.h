// One element of an input as it is drawn: the same text for the host device (g++) and for CUDA
// (NVRTC), so that the bits drawn are the same everywhere and only the last bits of a normal's
// logarithm and cosine may differ. Pure.
//
// Element i of a tensor takes one block of Philox4x32-10 (common/base/philox.h): counter = {i low,
// i high, tensor number, case number}, key = {seed low, seed high}; words 0 and 1 are used:
//   u0 = (word 0 + 1/2) / 2^32 in (0, 1)     u1 = word 1 / 2^32 in [0, 1)
//   normal    scale * sqrt(-2 ln u0) * cos(2 pi u1)   (Box and Muller, 1958)
//   uniform   low + (high - low) * word 0 / 2^32
//   integer   low + floor(word 0 * (high - low + 1) / 2^32)
//   index     floor(word 0 * bound / 2^32)
//   one_hot   1 where the column is floor(w * last_dim / 2^32), w = word 0 of block (row)
//   mask      1 where word 0 / 2^32 < value
//   constant  value
// A value becomes float32 by rounding to nearest, and float16 or bfloat16 from that float32 (for
// these two CUDA takes logarithm and cosine of a normal in floats).
// Compile without contraction of multiply-adds (g++ for x86-64 does; NVRTC: --fmad=false).
#pragma once

#ifdef __CUDACC_RTC__
#define WARPSMITH_CONTENT __device__ inline
#else
#include <cmath>
#define WARPSMITH_CONTENT inline
#endif

#include "common/base/philox.h"

namespace warpsmith {

// Content of worker/device/oracle_device.h, as plain numbers.
struct ContentNumbers {
  unsigned long long seed;
  unsigned int case_number;
  unsigned int tensor_number;
  int kind;  // static_cast<int>(InitKind)
  int unused;
  long long last_dim;
  long long bound;
  double scale, low, high, value;
};

struct ContentWords {
  unsigned int word0, word1;
};

WARPSMITH_CONTENT ContentWords DrawContent(const ContentNumbers& c, unsigned long long index) {
  const PhiloxWords words =
      Philox({static_cast<unsigned int>(index), static_cast<unsigned int>(index >> 32),
              c.tensor_number, c.case_number},
             static_cast<unsigned int>(c.seed), static_cast<unsigned int>(c.seed >> 32));
  return {words.w0, words.w1};
}

// A whole number in [0, range) from 32 random bits; up to range / 2^32 of bias. range <= 2^32.
WARPSMITH_CONTENT long long ScaleWord(unsigned int word, long long range) {
  return range <= 0 ? 0
                    : static_cast<long long>((static_cast<unsigned long long>(word) *
                                              static_cast<unsigned long long>(range)) >>
                                             32);
}

WARPSMITH_CONTENT double ContentValue(const ContentNumbers& c, unsigned long long index) {
  constexpr double kTwoToMinus32 = 1.0 / 4294967296.0;
  if (c.kind == 6) return c.value;  // constant
  const long long last_dim = c.last_dim > 0 ? c.last_dim : 1;
  unsigned long long row = 0;
  if (c.kind == 4) row = index / static_cast<unsigned long long>(last_dim);  // slow on a GPU
  const ContentWords words = DrawContent(c, c.kind == 4 ? row : index);
  const double u = words.word0 * kTwoToMinus32;
  switch (c.kind) {
    case 0: {  // normal
      const double u0 = (words.word0 + 0.5) * kTwoToMinus32, u1 = words.word1 * kTwoToMinus32;
      return c.scale * sqrt(-2.0 * log(u0)) * cos(6.283185307179586 * u1);
    }
    case 1:  // uniform
      return c.low + (c.high - c.low) * u;
    case 2:  // integer
      return c.low + static_cast<double>(
                         ScaleWord(words.word0, static_cast<long long>(c.high - c.low) + 1));
    case 3:  // index
      return static_cast<double>(ScaleWord(words.word0, c.bound));
    case 4:  // one_hot
      return index - row * static_cast<unsigned long long>(last_dim) ==
                     static_cast<unsigned long long>(ScaleWord(words.word0, last_dim))
                 ? 1.0
                 : 0.0;
    case 5:  // mask
      return u < c.value ? 1.0 : 0.0;
    default: return 0;
  }
}

}  // namespace warpsmith
