#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <set>

#include "worker/simulated/cost_model.h"
#include "worker/simulated/simulated_evaluator.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

Task ATask(const std::string& id = "starter/softmax_rows") {
  Task task{.id = TaskId(id), .outputs = {{.name = "y"}}};
  task.host_cases = {{CaseRole::kTrain, {{"rows", 64}, {"cols", 512}}},
                     {CaseRole::kHoldout, {{"rows", 48}, {"cols", 640}}},
                     {CaseRole::kEdge, {{"rows", 3}, {"cols", 501}}}};
  return task;
}

std::string Candidate(const std::string& block, int vec, int items, const std::string& more = "") {
  return "/* warpsmith\nlaunches:\n  - {kernel: k, grid: rows, block: \"" + block +
         "\", args: \"y\"}\n*/\nconstexpr int kVec = " + std::to_string(vec) +
         ";\nconstexpr int kItemsPerThread = " + std::to_string(items) +
         ";\n__global__ void k(float* y) {" + more + "}\n";
}

std::string Label(const std::string& text) {
  return OutcomeName(SimulatedOutcome(ATask(), text, Depth::kScreen, 1));
}
double Speedup(const std::string& text, const Task& task = ATask()) {
  return SpeedupOf(SimulatedOutcome(task, text, Depth::kScreen, 1));
}

TEST(CostModel, SomeChoicesFail) {
  EXPECT_EQ(Label("no plan at all"), "rejected");
  EXPECT_EQ(Label(Candidate("2048", 4, 1)), "rejected");
  EXPECT_EQ(Label(Candidate("unknown_name", 4, 1)), "rejected");
  EXPECT_EQ(Label(Candidate("1024", 8, 4)), "resource_error");
  EXPECT_EQ(Label(Candidate("16", 8, 1)), "launch_error");
  EXPECT_EQ(Label(Candidate("128", 4, 1, "\n#error no\n")), "compile_error");
  EXPECT_EQ(Label(Candidate("128", 4, 1)), "correct");
}

TEST(CostModel, OneChoiceIsBestAndFarOnesAreSlow) {
  double best = 0, worst = 100;
  for (const char* block : {"32", "64", "128", "256", "512", "1024"}) {
    for (int vec : {1, 2, 4, 8}) {
      for (int items : {1, 2, 4}) {
        double speedup = Speedup(Candidate(block, vec, items));
        if (speedup == 0) continue;
        best = std::max(best, speedup);
        worst = std::min(worst, speedup);
      }
    }
  }
  EXPECT_GT(best, 2.4);
  EXPECT_LT(best, 2.6);
  EXPECT_LT(worst, 1.3);
}

TEST(CostModel, TasksDifferInWhatIsBest) {
  std::set<std::pair<std::string, int>> winners;
  for (int i = 0; i < 12; ++i) {
    Task task = ATask("suite/task" + std::to_string(i));
    std::pair<double, std::pair<std::string, int>> best;
    for (const char* block : {"64", "128", "256", "512"}) {
      for (int vec : {2, 4, 8}) {
        best = std::max(best, {Speedup(Candidate(block, vec, 1), task), {block, vec}});
      }
    }
    winners.insert(best.second);
  }
  EXPECT_GE(winners.size(), 4u);
}

TEST(CostModel, TheSameSeedGivesTheSameNumbersAndAnotherDoesNot) {
  std::string text = Candidate("128", 4, 1);
  EXPECT_EQ(SimulatedOutcome(ATask(), text, Depth::kMeasure, 1),
            SimulatedOutcome(ATask(), text, Depth::kMeasure, 1));
  EXPECT_NE(SimulatedOutcome(ATask(), text, Depth::kMeasure, 1),
            SimulatedOutcome(ATask(), text, Depth::kMeasure, 2));
}

TEST(CostModel, TimesTheCasesOfTheDepth) {
  auto measured = [](Depth depth) {
    return std::get<Correct>(SimulatedOutcome(ATask(), Candidate("128", 4, 1), depth, 1))
        .measurements.size();
  };
  EXPECT_EQ(measured(Depth::kVerify), 0u);
  EXPECT_EQ(measured(Depth::kScreen), 1u);
  EXPECT_EQ(measured(Depth::kMeasure), 2u);
}

TEST(SimulatedLanes, AnswerInOrderAndNameTheirKind) {
  SimulatedEvaluator evaluator({.devices = 2});
  ASSERT_EQ(evaluator.Devices().size(), 2u);
  std::vector<int> order;
  std::promise<void> all;
  for (int i = 0; i < 50; ++i) {
    evaluator.Submit({.task = ATask(), .candidate = Candidate("128", 4, 1), .device_index = 1},
                     [&, i](Evaluation record) {
                       EXPECT_EQ(record.device.kind, DeviceKind::kSimulated);
                       order.push_back(i);
                       if (order.size() == 50) all.set_value();
                     });
  }
  ASSERT_EQ(all.get_future().wait_for(60s), std::future_status::ready);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(SimulatedLanes, AnswerEverybodyWhenTheyGo) {
  std::atomic<int> lost = 0, answered = 0;
  {
    SimulatedEvaluator evaluator({.delay = 1h});
    for (int i = 0; i < 5; ++i) {
      evaluator.Submit({.task = ATask(), .candidate = Candidate("128", 4, 1)},
                       [&](Evaluation record) {
                         ++answered;
                         if (IsInfrastructure(record.outcome)) ++lost;
                       });
    }
  }
  EXPECT_EQ(answered, 5);
  EXPECT_EQ(lost, 5);
}

TEST(SimulatedLanes, TroubleComesAsOftenAsAsked) {
  std::atomic<int> trouble = 0;
  {
    SimulatedEvaluator evaluator({.trouble = 0.3});
    std::promise<void> all;
    std::atomic<int> left = 500;
    for (int i = 0; i < 500; ++i) {
      evaluator.Submit({.task = ATask(), .candidate = Candidate("128", 4, 1)},
                       [&](Evaluation record) {
                         if (IsInfrastructure(record.outcome)) ++trouble;
                         if (--left == 0) all.set_value();
                       });
    }
    ASSERT_EQ(all.get_future().wait_for(60s), std::future_status::ready);
  }
  EXPECT_GT(trouble, 100);
  EXPECT_LT(trouble, 200);
}

}  // namespace
}  // namespace warpsmith
