// What is written into buffers, on every device: poison that no float is, and Philox's draws.
#include "worker/device/buffer_content.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "common/base/random.h"

namespace warpsmith {
namespace {

TEST(PoisonWord, IsNotANumberInEveryFloatingTypeAndDiffersByPattern) {
  std::set<uint32_t> words;
  for (uint32_t pattern = 0; pattern < 900; ++pattern) {
    const uint32_t word = PoisonWord(pattern);
    words.insert(word);
    for (const uint32_t half : {word >> 16, word & 0xFFFF}) {
      EXPECT_EQ(half & 0x7F80, 0x7F80u);  // bfloat16's exponent
      EXPECT_NE(half & 0x007F, 0u);
      EXPECT_EQ(half & 0x7C00, 0x7C00u);  // float16's exponent
      EXPECT_NE(half & 0x03FF, 0u);
    }
    float as_float;
    std::memcpy(&as_float, &word, sizeof(as_float));
    EXPECT_TRUE(std::isnan(as_float));
    const uint64_t twice = uint64_t{word} << 32 | word;
    double as_double;
    std::memcpy(&as_double, &twice, sizeof(as_double));
    EXPECT_TRUE(std::isnan(as_double));
  }
  EXPECT_EQ(words.size(), 900u);
}

TEST(ContentValue, DrawsTheBitsOfTheCommonPhilox) {
  ContentNumbers numbers{.seed = 0x1234567890ABCDEF, .case_number = 3, .tensor_number = 7};
  for (const uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40}) {
    const auto words =
        Philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), 7, 3},
                   {0x90ABCDEF, 0x12345678});
    const ContentWords drawn = DrawContent(numbers, index);
    EXPECT_EQ(drawn.word0, words[0]);
    EXPECT_EQ(drawn.word1, words[1]);
  }
}

// The known answer of Random123's kat_vectors for the digits of pi.
TEST(ContentValue, DrawsTheKnownAnswer) {
  const ContentNumbers numbers{
      .seed = 0x299f31d0a4093822, .case_number = 0x03707344, .tensor_number = 0x13198a2e};
  const ContentWords drawn = DrawContent(numbers, 0x85a308d3243f6a88);
  EXPECT_EQ(drawn.word0, 0xd16cfe09u);
  EXPECT_EQ(drawn.word1, 0x94fdccebu);
}

TEST(ContentValue, EachKindStaysInItsRange) {
  ContentNumbers n{
      .seed = 9, .last_dim = 5, .bound = 11, .scale = 2, .low = -2, .high = 3, .value = 0.25};
  double sum = 0, squares = 0;
  int ones = 0, hot = 0, highest = 0;
  constexpr int kDraws = 20'000;
  for (int i = 0; i < kDraws; ++i) {
    const auto draw = [&](InitKind kind) {
      n.kind = static_cast<int>(kind);
      return ContentValue(n, static_cast<uint64_t>(i));
    };
    const double normal = draw(InitKind::kNormal);
    sum += normal;
    squares += normal * normal;
    EXPECT_GE(draw(InitKind::kUniform), -2);
    EXPECT_LT(draw(InitKind::kUniform), 3);
    const double whole = draw(InitKind::kInteger);
    EXPECT_EQ(whole, std::floor(whole));
    EXPECT_GE(whole, -2);
    EXPECT_LE(whole, 3);
    highest += whole == 3;
    EXPECT_GE(draw(InitKind::kIndex), 0);
    EXPECT_LT(draw(InitKind::kIndex), 11);
    ones += draw(InitKind::kMask) == 1;
    hot += draw(InitKind::kOneHot) == 1;
    EXPECT_EQ(draw(InitKind::kConstant), 0.25);
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.06);
  EXPECT_NEAR(std::sqrt(squares / kDraws), 2, 0.06);
  EXPECT_NEAR(ones / double{kDraws}, 0.25, 0.02);
  EXPECT_NEAR(highest / double{kDraws}, 1 / 6.0, 0.02) << "both ends are drawn";
  EXPECT_EQ(hot, kDraws / 5);  // exactly one in each row of five
}

}  // namespace
}  // namespace warpsmith
