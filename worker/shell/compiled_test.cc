#include "worker/shell/compiled.h"

#include <gtest/gtest.h>

#include "common/model/plan.h"
#include "worker/shell/compile_cache.h"
#include "worker/shell/cores.h"

namespace warpsmith {
namespace {

CompileRequest Asked() {
  return {.id = 7, .text = "t", .device_kind = DeviceKind::kCuda, .architecture = "sm_90a"};
}

CompiledCandidate Good() {
  CompiledCandidate compiled{.device_kind = DeviceKind::kCuda, .architecture = "sm_90a"};
  compiled.plan.launches = {{.kernel = "k<8>", .grid = {"n"}, .block = {"32"}, .args = {"x"}}};
  compiled.kernels = {{.name = "k<8>", .symbol = "_Z1kILi8EEvPf"}};
  compiled.binary =
      "\x7f"
      "ELF...";
  return compiled;
}

std::string Check(const CompiledCandidate& compiled) {
  return CheckReply(Asked(), {.id = 7, .result = compiled});
}

TEST(CompilerEvidence, AnHonestAnswerHolds) { EXPECT_EQ(Check(Good()), ""); }

TEST(CompilerEvidence, EachLieIsSeen) {
  auto lie = [](auto change) {
    CompiledCandidate compiled = Good();
    change(compiled);
    return Check(compiled);
  };
  EXPECT_NE(lie([](auto& c) { c.device_kind = DeviceKind::kHost; }), "");
  EXPECT_NE(lie([](auto& c) { c.architecture = "sm_80"; }), "");
  EXPECT_NE(lie([](auto& c) { c.binary = ""; }), "");
  EXPECT_NE(lie([](auto& c) { c.binary = "#!/bin/sh"; }), "");
  EXPECT_NE(lie([](auto& c) { c.binary.resize(65 << 20); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.launches.clear(); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.launches.resize(17, c.plan.launches[0]); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.launches[0].args.resize(65); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.launches[0].grid.resize(4); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.launches[0].kernel.resize(5000, 'k'); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.let.resize(300); }), "");
  EXPECT_NE(lie([](auto& c) { c.plan.temps.resize(65); }), "");
  EXPECT_NE(lie([](auto& c) { c.kernels.clear(); }), "");
  EXPECT_NE(lie([](auto& c) { c.kernels.push_back(c.kernels[0]); }), "");
  EXPECT_NE(lie([](auto& c) { c.kernels[0].name = "other"; }), "");
  EXPECT_NE(lie([](auto& c) { c.kernels[0].parameters.resize(65); }), "");
}

TEST(CompilerEvidence, OnlyACompilersOutcomesAreLetThrough) {
  auto check = [](Outcome outcome) { return CheckReply(Asked(), {.id = 7, .result = outcome}); };
  EXPECT_EQ(check(CompileError{"log"}), "");
  EXPECT_EQ(check(Rejected{"why"}), "");
  EXPECT_EQ(check(Infrastructure{InfrastructureKind::kUnsupportedArchitecture, ""}), "");
  EXPECT_NE(check(Correct{.speedup = 9}), "");
  EXPECT_NE(check(WrongOutput{}), "");
  EXPECT_NE(check(Timeout{}), "");
  EXPECT_NE(CheckReply(Asked(), {.id = 8, .result = Outcome(CompileError{})}), "");
}

TEST(Admission, RefusesWhatNoCompilerMaySee) {
  EXPECT_EQ(RefuseText("x"), "");
  EXPECT_EQ(RefuseText(std::string(kMaxCandidateBytes, 'x')), "");
  EXPECT_NE(RefuseText(std::string(kMaxCandidateBytes + 1, 'x')), "");
  EXPECT_NE(RefuseText(""), "");
  EXPECT_NE(RefuseText(std::string("a\0b", 3)).find("offset 1"), std::string::npos);
}

TEST(Admission, CutsLongLogsWithAMark) {
  EXPECT_EQ(CutLog("short", 10), "short");
  std::string cut = CutLog(std::string(100, 'x'), 10);
  EXPECT_NE(cut.find("90 bytes cut"), std::string::npos);
  EXPECT_LT(cut.size(), 50u);
}

TEST(CompileCacheBounds, TheLeastRecentlyUsedGoesFirst) {
  CompileCache cache(3 * 2048);
  auto entry = [] {
    auto compiled = std::make_shared<CompiledCandidate>();
    compiled->binary.resize(1000);
    return SharedCompileResult(std::shared_ptr<const CompiledCandidate>(compiled));
  };
  cache.Add("a", entry());
  cache.Add("b", entry());
  cache.Add("c", entry());
  EXPECT_TRUE(cache.Find("a"));
  cache.Add("d", entry());
  EXPECT_TRUE(cache.Find("a"));
  EXPECT_FALSE(cache.Find("b"));
  EXPECT_LE(cache.bytes(), 3u * 2048);
  auto huge = std::make_shared<CompiledCandidate>();
  huge->binary.resize(100'000);
  cache.Add("e", SharedCompileResult(std::shared_ptr<const CompiledCandidate>(huge)));
  EXPECT_FALSE(cache.Find("e"));
  EXPECT_TRUE(cache.Find("a")) << "what does not fit displaces nothing";
}

TEST(Cores, TheLaneOwnsTheLastHalf) {
  EXPECT_EQ(SplitCores({0, 1, 2, 3}).lane, (std::vector<int>{2, 3}));
  EXPECT_EQ(SplitCores({0, 1, 2, 3}).rest, (std::vector<int>{0, 1}));
  EXPECT_EQ(SplitCores({4, 5, 6}).lane, (std::vector<int>{6}));
  EXPECT_EQ(SplitCores({3}).lane, (std::vector<int>{3}));
  EXPECT_EQ(SplitCores({3}).rest, (std::vector<int>{3}));
}

}  // namespace
}  // namespace warpsmith
