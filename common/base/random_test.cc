#include "common/base/random.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

// Known answers from the reference implementation's kat_vectors (Random123).
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, RepeatsFromItsSeedAndDiffersBetweenStreams) {
  Random a(7, 1), b(7, 1), c(7, 2);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const auto bits = a.Bits64();
    EXPECT_EQ(bits, b.Bits64());
    same += bits == c.Bits64();
  }
  EXPECT_EQ(same, 0);
}

TEST(Random, DrawsIndicesInProportionToTheirWeights) {
  Random random(3);
  const double weights[] = {0, 1, 3, 0};
  int counts[4] = {};
  for (int i = 0; i < 40000; ++i) ++counts[random.Weighted(weights)];
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[3], 0);
  EXPECT_NEAR(counts[2] / 40000.0, 0.75, 0.02);
}

TEST(Random, StaysBelowItsBound) {
  Random random(5);
  for (uint64_t bound : {1ull, 2ull, 3ull, 1000ull, ~0ull})
    for (int i = 0; i < 100; ++i) EXPECT_LT(random.Below(bound), bound);
}

}  // namespace
}  // namespace warpsmith
