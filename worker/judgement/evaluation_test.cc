#include "worker/judgement/evaluation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Task SoftmaxTask() {
  Task task;
  task.host_cases = {{CaseRole::kTrain, {{"rows", 64}}},
                     {CaseRole::kHoldout, {{"rows", 48}}},
                     {CaseRole::kEdge, {{"rows", 0}}},
                     {CaseRole::kTrain, {{"rows", 32}}}};
  return task;
}

TEST(Depth, DecidesWhichCasesAreVerifiedAndTimed) {
  const Task task = SoftmaxTask();
  const auto verify = PlanEvaluation(task, DeviceKind::kHost, Depth::kVerify);
  EXPECT_THAT(verify.verify, ElementsAre(2, 0, 3));
  EXPECT_THAT(verify.timed, IsEmpty());
  const auto screen = PlanEvaluation(task, DeviceKind::kHost, Depth::kScreen);
  EXPECT_THAT(screen.timed, ElementsAre(0, 3));
  EXPECT_EQ(screen.timing, Stage::kScreen);
  const auto measure = PlanEvaluation(task, DeviceKind::kHost, Depth::kMeasure);
  EXPECT_THAT(measure.verify, ElementsAre(2, 0, 3, 1));
  EXPECT_THAT(measure.timed, ElementsAre(0, 3, 1));
  EXPECT_LT(measure.stopping.target_half_width, screen.stopping.target_half_width);
  EXPECT_FALSE(measure.fresh_process);
  const auto confirm = PlanEvaluation(task, DeviceKind::kHost, Depth::kConfirm);
  EXPECT_TRUE(confirm.fresh_process);
  EXPECT_EQ(confirm.timing, Stage::kConfirm);
  EXPECT_LT(confirm.stopping.target_half_width, measure.stopping.target_half_width);
}

TEST(Depth, AScreenOnSharedCoresIsShortAndGoesOnWhereItWasNoisy) {
  const auto host = PlanEvaluation(SoftmaxTask(), DeviceKind::kHost, Depth::kScreen);
  const auto gpu = PlanEvaluation(SoftmaxTask(), DeviceKind::kCuda, Depth::kScreen);
  EXPECT_LT(host.stopping.budget, gpu.stopping.budget);
  EXPECT_GT(host.stopping.clearly_slower, gpu.stopping.clearly_slower);
  EXPECT_GT(host.rules.blocks_if_noisy, host.stopping.max_blocks);
  EXPECT_GE(host.rules.uneven_loads, 3) << "uneven runs must outlive fresh loads";
  EXPECT_GE(gpu.rules.uneven_loads, 2);
}

TEST(Depth, EveryDepthCanDecideAtItsFirstLook) {
  for (Depth depth : {Depth::kScreen, Depth::kMeasure, Depth::kConfirm}) {
    const auto steps = PlanEvaluation(SoftmaxTask(), DeviceKind::kHost, depth);
    const HalfWidthCriterion criterion(steps.stopping, 1);
    std::vector<double> samples(steps.stopping.min_blocks, 0.5);
    Random random(1);
    EXPECT_TRUE(BootstrapMedian(samples, criterion.confidence(), random).known)
        << "min_blocks " << steps.stopping.min_blocks << " at " << criterion.confidence();
  }
}

TEST(Sets, OverfillTheCacheWhereThatFits) {
  DeviceFacts h200{.kind = DeviceKind::kCuda, .memory_bytes = 140ll << 30, .l2_bytes = 60 << 20};
  EXPECT_EQ(BufferSets(512ull << 20, h200), 4u);
  EXPECT_EQ(BufferSets(32ull << 20, h200), 6u);
  EXPECT_EQ(BufferSets(1 << 20, h200), 8u);
  EXPECT_EQ(BufferSets(20ull << 30, h200), 2u) << "four would fill half of the memory";
  DeviceFacts host{.kind = DeviceKind::kHost, .memory_bytes = 8ll << 30, .l2_bytes = 32 << 20};
  EXPECT_EQ(BufferSets(1 << 20, host), 4u);
  EXPECT_EQ(BufferSets(1 << 20, host) % 2, 0u);
}

TEST(Floor, CountsWhatNoKernelCanAvoid) {
  DeviceFacts device{
      .l2_bytes = 50'000'000, .peak_bandwidth_bytes_per_s = 4.8e12, .peak_flops_per_s = 1e15};
  EXPECT_DOUBLE_EQ(FloorUs({480e6, 0, 0}, device), 100);
  EXPECT_DOUBLE_EQ(FloorUs({480e6, 40e6, 0}, device), 100) << "the output may stay in L2";
  EXPECT_DOUBLE_EQ(FloorUs({480e6, 530e6, 0}, device), 200);
  EXPECT_DOUBLE_EQ(FloorUs({480e6, 0, 1e12}, device), 1000);
  EXPECT_EQ(FloorUs({480e6, 1, 1e12}, DeviceFacts{}), 0) << "unknown peaks, unknown floor";
}

TEST(Limits, AreBoundedAndFollowTheBaseline) {
  EXPECT_GT(RunLimit(10000, 2, DeviceKind::kCuda), RunLimit(10, 2, DeviceKind::kCuda));
  EXPECT_LE(RunLimit(1e9, 8, DeviceKind::kHost), std::chrono::seconds(30));
}

}  // namespace
}  // namespace warpsmith
