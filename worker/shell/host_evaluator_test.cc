// The whole chain on the host device, with the real children: compiler, oracle, runner.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <future>
#include <stdexcept>

#include "common/runtime/files.h"
#include "common/suite/suite_file.h"
#include "tests/support/proc.h"
#include "worker/shell/compiler_pool.h"
#include "worker/shell/process_evaluator.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

class HostEvaluator : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TempDirectory(std::move(*TempDirectory::Make("host-evaluator")));
    suite_ = new Suite(std::move(*LoadSuite(std::string(WARPSMITH_SUITES) + "/starter.yaml")));
    auto started = ProcessEvaluator::Start({.device = "host", .log_directory = folder_->path()});
    ASSERT_TRUE(started) << started.error().message;
    evaluator_ = started->release();
  }
  static void TearDownTestSuite() {
    delete std::exchange(evaluator_, nullptr);
    delete std::exchange(suite_, nullptr);
    delete std::exchange(folder_, nullptr);
  }
  void SetUp() override { ASSERT_TRUE(evaluator_); }

  static const Task& Find(const std::string& id) {
    for (const Task& task : suite_->tasks) {
      if (task.id.value() == id) return task;
    }
    throw std::runtime_error("no task " + id);
  }
  static std::future<Evaluation> Submit(const Task& task, std::string text, Depth depth) {
    auto promise = std::make_shared<std::promise<Evaluation>>();
    evaluator_->Submit({.task = task, .candidate = std::move(text), .depth = depth},
                       [promise](Evaluation e) { promise->set_value(std::move(e)); });
    return promise->get_future();
  }
  static Evaluation Judge(const std::string& text, Depth depth = Depth::kVerify) {
    return Submit(Find("starter/softmax_rows"), text, depth).get();
  }
  // The starter, with `from` replaced.
  static std::string Changed(const std::string& from, const std::string& to) {
    std::string text = Find("starter/softmax_rows").starter;
    size_t at = text.find(from);
    if (at == std::string::npos) throw std::runtime_error("the starter has no " + from);
    return text.replace(at, from.size(), to);
  }
  static void ExpectHealthy() {
    Evaluation record = Judge(Find("starter/softmax_rows").starter);
    EXPECT_EQ(OutcomeLabel(record.outcome), "correct") << Describe(record.outcome);
  }

  static inline TempDirectory* folder_ = nullptr;
  static inline Suite* suite_ = nullptr;
  static inline ProcessEvaluator* evaluator_ = nullptr;
};

TEST_F(HostEvaluator, EveryStarterIsCorrect) {
  std::vector<std::pair<std::string, std::future<Evaluation>>> waiting;
  for (const Task& task : suite_->tasks) {
    waiting.emplace_back(task.id.value(), Submit(task, task.starter, Depth::kVerify));
  }
  for (auto& [id, future] : waiting) {
    Evaluation record = future.get();
    EXPECT_EQ(OutcomeLabel(record.outcome), "correct") << id << ": " << Describe(record.outcome);
    EXPECT_EQ(record.device.kind, DeviceKind::kHost);
  }
}

TEST_F(HostEvaluator, AMeasurementNamesItsDeviceAndItsCases) {
  Evaluation record = Judge(Find("starter/softmax_rows").starter, Depth::kScreen);
  const auto* trouble = std::get_if<Infrastructure>(&record.outcome);
  if (trouble && trouble->kind == InfrastructureKind::kTooNoisy) {
    GTEST_SKIP() << "this machine is too busy to measure: " << trouble->detail;
  }
  const auto* correct = std::get_if<Correct>(&record.outcome);
  ASSERT_TRUE(correct) << Describe(record.outcome);
  ASSERT_FALSE(correct->measurements.empty());
  for (const Measurement& measurement : correct->measurements) {
    EXPECT_EQ(measurement.device_kind, DeviceKind::kHost);
    EXPECT_GT(measurement.candidate_us, 0);
    EXPECT_GT(measurement.baseline_us, 0);
  }
}

TEST_F(HostEvaluator, AWrongKernelIsWrong) {
  Evaluation record = Judge(Changed("expf(in[c] - largest) / sum", "expf(in[c] - largest)"));
  EXPECT_STREQ(OutcomeName(record.outcome), "wrong_output") << Describe(record.outcome);
}

TEST_F(HostEvaluator, AMistakeIsACompileErrorOnTheAuthorsLine) {
  std::string text = Changed("float largest", "flaot largest");
  auto line = 1 + std::count(text.begin(),
                             text.begin() + static_cast<std::ptrdiff_t>(text.find("flaot")), '\n');
  Evaluation record = Judge(text);
  EXPECT_STREQ(OutcomeName(record.outcome), "compile_error");
  EXPECT_NE(record.log.find("candidate.cu:" + std::to_string(line) + ":"), std::string::npos)
      << record.log;
}

TEST_F(HostEvaluator, AnEndlessKernelIsTimedOutAndTheNextIsFine) {
  Evaluation record = Judge(Changed("float sum = 0.0f;",
                                    "float sum = 0.0f;\n"
                                    "  for (volatile int spin = 0; spin >= 0;) spin = 1;"));
  EXPECT_EQ(OutcomeLabel(record.outcome), "timeout(verify)") << Describe(record.outcome);
  ExpectHealthy();
}

TEST_F(HostEvaluator, AFaultIsReportedAndTheNextIsFine) {
  Evaluation record = Judge(Changed("out[c] = ", "const_cast<float*>(in)[c] = "));
  EXPECT_STREQ(OutcomeName(record.outcome), "device_fault") << Describe(record.outcome);
  ExpectHealthy();
}

TEST_F(HostEvaluator, HostCodeIsRefused) {
  Evaluation record = Judge(Find("starter/softmax_rows").starter + "\nint main() { return 0; }\n");
  EXPECT_STREQ(OutcomeName(record.outcome), "rejected") << Describe(record.outcome);
}

TEST_F(HostEvaluator, TheOracleKilledUnderAnOrderIsInfrastructureAndComesBack) {
  std::vector<int> pids = evaluator_->ChildPids();
  auto future = Submit(
      Find("starter/softmax_rows"),
      Changed("float sum = 0.0f;", "float sum = 0.0f;\n  for (volatile int s = 0; s >= 0;) s = 1;"),
      Depth::kVerify);
  int oracle = 0;
  for (int pid : pids) {
    std::string command = ReadFile("/proc/" + std::to_string(pid) + "/comm").value_or("");
    if (command.starts_with("warpsmith-oracl")) oracle = pid;
  }
  ASSERT_GT(oracle, 0);
  kill(oracle, SIGKILL);
  Evaluation record = future.get();
  EXPECT_TRUE(IsInfrastructure(record.outcome)) << Describe(record.outcome);
  ExpectHealthy();
}

TEST(HostEvaluatorEnd, LeavesNoProcess) {
  std::vector<int> pids;
  {
    auto started = ProcessEvaluator::Start({.device = "host"});
    ASSERT_TRUE(started) << started.error().message;
    pids = (*started)->ChildPids();
    ASSERT_GE(pids.size(), 2u);
  }
  for (int pid : pids) EXPECT_TRUE(LookAt(pid).ended()) << pid;
}

// ---- compile bombs, in the real compiler

std::string MacroBomb() {
  std::string text = "#define A0 1+\n";
  for (int i = 1; i < 30; ++i) {
    std::string below = "A" + std::to_string(i - 1);
    text += "#define A" + std::to_string(i) + " " + below + " " + below + "\n";
  }
  return text + "__device__ int big = A29 0;\n";
}
std::string TemplateBomb() {
  return "template <int D, long I> struct T { static constexpr long v ="
         " T<D - 1, 2 * I>::v + T<D - 1, 2 * I + 1>::v; };\n"
         "template <long I> struct T<0, I> { static constexpr long v = I; };\n"
         "__device__ long big = T<22, 1>::v;\n";
}

class CompileBombs : public ::testing::TestWithParam<DeviceKind> {};

TEST_P(CompileBombs, EndInTheirLimitsAndLeaveTheCompilerFree) {
  EvaluationLimits limits;
  limits.compile = 3s;
  auto pool =
      CompilerPool::Start({.program = ChildPrograms::Installed().compiler, .limits = limits});
  ASSERT_TRUE(pool) << pool.error().message;
  auto compile = [&](const std::string& more) {
    std::string text =
        "/* warpsmith\nlaunches:\n  - {kernel: k, grid: \"1\", block: \"32\", args: []}\n*/\n" +
        more + "__global__ void k() {}\n";
    auto promise = std::make_shared<std::promise<CompileDone>>();
    (*pool)->Submit({.text = text,
                     .device_kind = GetParam(),
                     .architecture = GetParam() == DeviceKind::kCuda ? "sm_90a" : "x86_64"},
                    [promise](CompileDone done) { promise->set_value(std::move(done)); });
    return promise->get_future().get();
  };
  auto patient = [&] {  // the machine may be busy: a plain text is tried more than once
    for (int i = 0; i < 5; ++i) {
      CompileDone done = compile("// try " + std::to_string(i) + "\n");
      if (!std::holds_alternative<Outcome>(done.result)) return true;
    }
    return false;
  };
  for (const std::string& bomb : {MacroBomb(), TemplateBomb()}) {
    CompileDone done = compile(bomb);
    const auto* outcome = std::get_if<Outcome>(&done.result);
    ASSERT_TRUE(outcome) << "it compiled";
    EXPECT_TRUE(IsRewarded(*outcome)) << Describe(*outcome);
    EXPECT_TRUE(patient());
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CompileBombs,
                         ::testing::Values(DeviceKind::kCuda, DeviceKind::kHost),
                         [](const auto& device) { return std::string(ToString(device.param)); });

}  // namespace
}  // namespace warpsmith
