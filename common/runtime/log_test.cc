#include "common/runtime/log.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

TEST(Log, ALineIsAnEventAndItsFields) {
  EXPECT_EQ(FormatEvent("checkpoint_saved", {{"run", RunId(3)},
                                             {"size_bytes", 12u},
                                             {"loss", 0.5},
                                             {"last", true},
                                             {"task", TaskId("starter/gelu_chain")}}),
            "checkpoint_saved run=3 size_bytes=12 loss=0.5 last=true task=starter/gelu_chain");
}

TEST(Log, NoTextOfACandidateForgesALineOrAField) {
  EXPECT_EQ(
      FormatEvent("compile_error", {{"log", "a\nerror forged run=1 \"x\"\x1b[2J"}, {"empty", ""}}),
      "compile_error log=\"a\\nerror forged run=1 \\\"x\\\"\\x1b[2J\" empty=\"\"");
}

TEST(Log, ALongValueIsCut) {
  EXPECT_LT(FormatEvent("e", {{"log", std::string(1 << 20, 'x')}}).size(), 3000u);
}

}  // namespace
}  // namespace warpsmith
