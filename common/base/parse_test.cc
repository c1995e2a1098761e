#include "common/base/parse.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace warpsmith {
namespace {

TEST(ParseWhole, RubbishIsNoNumberAndNeverZero) {
  for (const char* text : {"", "x", "1x", " 1", "1 ", "+1", "0x1", "1.0", "1e2", "--1", "-"}) {
    EXPECT_EQ(ParseWhole<int>(text), std::nullopt) << '\'' << text << '\'';
    EXPECT_EQ(ParseWhole<uint64_t>(text), std::nullopt) << '\'' << text << '\'';
  }
  for (const char* text : {"", "x", "1x", " 1", "1 ", "+1", "1..0"})
    EXPECT_EQ(ParseWhole<double>(text), std::nullopt) << '\'' << text << '\'';
}

TEST(ParseWhole, WhatDoesNotFitIsRefusedAndNotWrapped) {
  EXPECT_EQ(ParseWhole<int8_t>("128"), std::nullopt);
  EXPECT_EQ(ParseWhole<int>("2147483648"), std::nullopt);
  EXPECT_EQ(ParseWhole<uint64_t>("18446744073709551616"), std::nullopt);
  EXPECT_EQ(ParseWhole<uint64_t>("-1"), std::nullopt);
  EXPECT_EQ(ParseWhole<double>("1e999"), std::nullopt);
}

TEST(ParseWhole, ReadsAllOfTheText) {
  EXPECT_EQ(ParseWhole<int>("-2147483648"), INT32_MIN);
  EXPECT_EQ(ParseWhole<int>("010"), 10) << "decimal, whatever stands in front";
  EXPECT_EQ(ParseWhole<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(ParseWhole<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(ParseWhole<double>("-2.5e-3"), -2.5e-3);
  const std::string_view longer = "123456";
  EXPECT_EQ(ParseWhole<int>(longer.substr(1, 2)), 23) << "a part of a longer text";
}

}  // namespace
}  // namespace warpsmith
