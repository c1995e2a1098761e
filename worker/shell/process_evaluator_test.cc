// The supervisor against children that misbehave in every way (testing/fake_child.cc).
#include "worker/shell/process_evaluator.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <set>
#include <thread>

#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "tests/support/proc.h"
#include "worker/shell/compiler_pool.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

bool Ended(int pid) { return LookAt(pid).ended(); }

int AliveInGroup(int group) {
  int alive = 0;
  for (const ProcessState& process : AllProcesses()) {
    if (process.group == group && !process.ended()) ++alive;
  }
  return alive;
}

class Supervisor : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(*TempDirectory::Make("supervisor-test"));
    for (const char* part : {"compiler", "oracle", "runner"}) {
      fs::create_symlink(ProgramDirectory() / "worker_fake_child", folder_.path() / part);
    }
    options_.device = "host";
    options_.compilers = 1;
    options_.programs = {folder_.path() / "compiler", folder_.path() / "oracle",
                         folder_.path() / "runner"};
    options_.log_directory = folder_.path() / "log";
    options_.limits.compile = 5s;
    options_.limits.restart_backoff = 1ms;
    options_.limits.oracle_silence = 20s;
  }

  void Start() {
    auto started = ProcessEvaluator::Start(options_);
    ASSERT_TRUE(started) << started.error().message;
    evaluator_ = *std::move(started);
  }

  std::future<Evaluation> Submit(std::string text, Depth depth = Depth::kScreen) {
    auto promise = std::make_shared<std::promise<Evaluation>>();
    evaluator_->Submit({.candidate = std::move(text), .depth = depth},
                       [promise](Evaluation e) { promise->set_value(std::move(e)); });
    return promise->get_future();
  }
  Evaluation Judge(std::string text, Depth depth = Depth::kScreen) {
    auto future = Submit(std::move(text), depth);
    EXPECT_EQ(future.wait_for(60s), std::future_status::ready);
    return future.get();
  }
  std::string Label(std::string text) { return OutcomeLabel(Judge(std::move(text)).outcome); }

  TempDirectory folder_;
  ProcessEvaluatorOptions options_;
  std::unique_ptr<ProcessEvaluator> evaluator_;
};

TEST_F(Supervisor, SaysWhatIsMissing) {
  options_.device = "tpu";
  EXPECT_EQ(ProcessEvaluator::Start(options_).error().code, ErrorCode::kInvalidInput);
  options_.device = "host";
  options_.programs.oracle = "/nowhere/oracle";
  EXPECT_EQ(ProcessEvaluator::Start(options_).error().code, ErrorCode::kMissing);
}

TEST_F(Supervisor, PassesOnWhyThereIsNoDevice) {
  setenv("FAKE_NO_DEVICE", "1", 1);
  auto started = ProcessEvaluator::Start(options_);
  unsetenv("FAKE_NO_DEVICE");
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kMissing);
  EXPECT_NE(started.error().message.find("no such device here"), std::string::npos);
}

TEST_F(Supervisor, PassesOnThatNoRunnerStarts) {
  options_.programs.runner = "/bin/false";
  auto started = ProcessEvaluator::Start(options_);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kMissing);
  EXPECT_NE(started.error().message.find("runner died"), std::string::npos);
}

TEST_F(Supervisor, JudgesACandidateAndKeepsTheRecord) {
  Start();
  ASSERT_EQ(evaluator_->Devices().size(), 1u);
  Evaluation record = Judge("good");
  EXPECT_EQ(OutcomeLabel(record.outcome), "correct");
  EXPECT_EQ(record.candidate_hash.size(), 64u);
  EXPECT_EQ(record.kernels.size(), 1u);
  EXPECT_EQ(record.device.architecture, "x86_64");
  ASSERT_FALSE(record.stages.empty());
  EXPECT_EQ(record.stages[0].stage, Stage::kCompile);
}

TEST_F(Supervisor, RefusesTextBeforeAnyCompilerSeesIt) {
  Start();
  EXPECT_EQ(OutcomeName(Judge(std::string("a\0b", 3)).outcome), std::string("rejected"));
  EXPECT_EQ(OutcomeName(Judge(std::string(300'000, 'x')).outcome), std::string("rejected"));
}

TEST_F(Supervisor, ABombIsKilledAndTheNextCandidateIsFine) {
  options_.limits.compile = 1500ms;
  Start();
  EXPECT_EQ(Label("hang"), "timeout(compile)");
  EXPECT_EQ(Label("good"), "correct");
}

TEST_F(Supervisor, AKilledCompilerTakesItsOwnChildrenAlong) {
  options_.limits.compile = 1500ms;
  Start();
  Judge("good");
  std::vector<int> before = evaluator_->ChildPids();
  EXPECT_EQ(Label("hang with a child"), "timeout(compile)");
  evaluator_.reset();
  for (int pid : before) EXPECT_TRUE(Ended(pid)) << pid;
  EXPECT_EQ(AliveInGroup(before.front()), 0);
}

TEST_F(Supervisor, ACrashThatFollowsTheCandidateIsItsOwnFault) {
  Start();
  EXPECT_EQ(Label("good"), "correct");
  EXPECT_EQ(OutcomeName(Judge("crash").outcome), std::string("resource_error"));
  EXPECT_EQ(Label("good again"), "correct");
}

TEST_F(Supervisor, ACrashThatDoesNotFollowTheCandidateIsForgotten) {
  Start();
  EXPECT_EQ(Label("crash once"), "correct");
}

TEST_F(Supervisor, ACompilerThatCannotWorkAtAllIsNobodysFault) {
  options_.programs.compiler = "/bin/false";
  Start();
  EXPECT_TRUE(IsInfrastructure(Judge("good").outcome));
}

TEST_F(Supervisor, LiesOfATakenOverCompilerNeverBecomeAResult) {
  Start();
  EXPECT_EQ(Label("good"), "correct");
  for (const char* lie : {"lie: another request", "lie: another device", "lie: other kernels",
                          "lie: correct", "lie: no binary", "lie: rubbish"}) {
    EXPECT_EQ(Label(lie), "violation(disturbs)") << lie;
  }
  EXPECT_EQ(Label("good again"), "correct");
}

TEST_F(Supervisor, CutsLongLogs) {
  Start();
  Evaluation record = Judge("error");
  EXPECT_EQ(OutcomeName(record.outcome), std::string("compile_error"));
  EXPECT_LT(record.log.size(), 70'000u);
}

TEST_F(Supervisor, CompilesOnceWhatItHasSeen) {
  Start();
  std::string first = Judge("good").log;
  EXPECT_EQ(Judge("good").log, first);
  EXPECT_EQ(Judge("good").stages[0].ms, 0);
  EXPECT_NE(Judge("good", Depth::kConfirm).log.substr(0, 12), first.substr(0, 12))
      << "a confirmation compiles anew, in a fresh child";
}

TEST_F(Supervisor, ABinaryThatIsNoneIsNotKeptAndTheNextOneIs) {
  Start();
  Judge("good");
  EXPECT_EQ(Label("lie once: no binary"), "correct");
  EXPECT_EQ(Judge("lie once: no binary").stages[0].ms, 0) << "a hit";
}

TEST_F(Supervisor, TextArchitectureAndVersionsTellCompilationsApart) {
  auto pool = std::move(
      *CompilerPool::Start({.program = options_.programs.compiler, .limits = options_.limits}));
  auto hit = [&](const std::string& text, const std::string& architecture,
                 const std::string& versions) {
    std::promise<CompileDone> done;
    pool->Submit({.text = text, .architecture = architecture, .versions = versions},
                 [&](CompileDone result) { done.set_value(std::move(result)); });
    return done.get_future().get().ms == 0;
  };
  EXPECT_FALSE(hit("a", "x86_64", "12"));
  EXPECT_TRUE(hit("a", "x86_64", "12"));
  EXPECT_FALSE(hit("b", "x86_64", "12"));
  EXPECT_FALSE(hit("a", "aarch64", "12"));
  EXPECT_FALSE(hit("a", "x86_64", "13"));
  EXPECT_FALSE(hit("a", "x86_641", "2")) << "parts do not run together";
}

TEST_F(Supervisor, ReplacesACompilerAfterItsUses) {
  options_.limits.compiler_uses = 2;
  Start();
  auto pid = [&](const std::string& text) {
    std::string log = Judge(text).log;
    return log.substr(0, log.find(' '));
  };
  std::string a = pid("1"), b = pid("2"), c = pid("3");
  EXPECT_EQ(a, b);
  EXPECT_NE(b, c);
}

TEST_F(Supervisor, KillsARunnerThatIsLateAndAttachesTheSpare) {
  Start();
  EXPECT_NE(Judge("good").log.find("runner=1"), std::string::npos);
  EXPECT_EQ(Label("runner is late"), "timeout(verify)");
  Evaluation next = Judge("good");
  EXPECT_EQ(OutcomeLabel(next.outcome), "correct");
  EXPECT_NE(next.log.find("runner=2"), std::string::npos);
}

TEST_F(Supervisor, TimeBetweenStagesIsNotTheRunners) {
  Start();
  EXPECT_EQ(Label("oracle is slow between stages"), "correct");
  EXPECT_NE(Judge("good").log.find("runner=1"), std::string::npos);
}

TEST_F(Supervisor, ADiscardedRunnerIsGone) {
  Start();
  Judge("good");
  std::vector<int> before = evaluator_->ChildPids();
  EXPECT_EQ(Label("runner faults"), "device_fault(700)");
  EXPECT_EQ(Label("good 2"), "correct");
  std::vector<int> after = evaluator_->ChildPids();
  ASSERT_EQ(before.size(), 4u);  // compiler, oracle, active, spare
  ASSERT_EQ(after.size(), 4u);
  EXPECT_EQ(after[1], before[1]) << "the oracle lives on";
  EXPECT_EQ(after[2], before[3]) << "the spare took over";
  EXPECT_TRUE(Ended(before[2]));
}

TEST_F(Supervisor, WithoutAFreshRunnerTheSpareIsUsedUpThenTheDeviceIsSick) {
  Start();
  Judge("good");
  fs::remove(options_.programs.runner);
  fs::create_symlink("/bin/false", options_.programs.runner);
  EXPECT_EQ(Label("runner faults"), "device_fault(700)");
  EXPECT_EQ(Label("good with the spare"), "correct");
  EXPECT_EQ(Label("runner faults"), "infrastructure(internal)");
  EXPECT_EQ(Label("good again"), "infrastructure(device_sick)");
}

TEST_F(Supervisor, ChildrenHoldNoDescriptorOfTheSupervisors) {
  Start();
  Judge("good");
  std::vector<int> pids = evaluator_->ChildPids();  // compiler, oracle, active, spare
  ASSERT_EQ(pids.size(), 4u);
  for (int pid : {pids[0], pids[2], pids[3]}) {
    std::set<std::string> open;
    for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
      open.insert(entry.path().filename());
    }
    EXPECT_EQ(open, (std::set<std::string>{"0", "1", "2", "3"})) << LookAt(pid).name;
  }
}

TEST_F(Supervisor, AnOracleThatDiesIsInfrastructureAndIsStartedAgain) {
  Start();
  EXPECT_TRUE(IsInfrastructure(Judge("oracle dies").outcome));
  EXPECT_EQ(Label("good"), "correct");
}

TEST_F(Supervisor, ASilentOracleIsEnded) {
  options_.limits.oracle_silence = 1500ms;
  Start();
  EXPECT_TRUE(IsInfrastructure(Judge("oracle is silent").outcome));
  EXPECT_EQ(Label("good"), "correct");
}

TEST_F(Supervisor, ADeviceWhoseOracleDiesAgainAndAgainIsQuarantined) {
  options_.limits.quarantine = 1h;
  Start();
  for (int death = 0; death < 3; ++death) {
    EXPECT_EQ(Label("oracle dies"), "infrastructure(internal)");
  }
  EXPECT_EQ(Label("good"), "infrastructure(device_sick)");
}

TEST_F(Supervisor, QuarantineEnds) {
  options_.limits.quarantine = 50ms;
  Start();
  for (int death = 0; death < 3; ++death) Judge("oracle dies");
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(Label("good"), "correct");
}

TEST_F(Supervisor, ADeviceWhoseRunnerWillNotDieIsQuarantinedUntilItHas) {
  options_.limits.death = 200ms;
  options_.limits.quarantine = 1ms;
  Start();
  Judge("good");
  Unkillable held(evaluator_->ChildPids().at(2));  // compiler, oracle, active, spare
  if (!held.holds()) GTEST_SKIP() << "this machine lets nobody trace";
  EXPECT_EQ(Label("runner is late"), "infrastructure(device_sick)");
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(Label("good"), "infrastructure(device_sick)") << "still held, whatever the time";
  held.LetGo();
  EXPECT_TRUE(Soon([&] { return Label("good") == "correct"; }));
}

TEST_F(Supervisor, AChildThatWillNotDieDoesNotHoldUpTheEnd) {
  options_.limits.death = 200ms;
  Start();
  Judge("good");
  std::vector<int> pids = evaluator_->ChildPids();
  Unkillable oracle(pids.at(1));
  if (!oracle.holds()) GTEST_SKIP() << "this machine lets nobody trace";
  evaluator_.reset();
  for (int pid : {pids[0], pids[2], pids[3]}) EXPECT_TRUE(Ended(pid)) << pid;
  oracle.LetGo();
  EXPECT_EQ(waitpid(pids[1], nullptr, 0), pids[1]);
}

TEST_F(Supervisor, ALostDeviceIsSaidSo) {
  Start();
  EXPECT_EQ(Label("device is lost"), "infrastructure(device_lost)");
  EXPECT_EQ(Label("good"), "infrastructure(device_sick)");
}

TEST_F(Supervisor, LeavesNoProcessBehindAndAnswersEverybody) {
  Start();
  Judge("good");
  std::vector<int> pids = evaluator_->ChildPids();
  ASSERT_EQ(pids.size(), 4u);
  std::vector<std::future<Evaluation>> waiting;
  waiting.push_back(Submit("oracle is silent"));
  waiting.push_back(Submit("hang"));
  for (int i = 0; i < 20; ++i) waiting.push_back(Submit("good " + std::to_string(i)));
  TimePoint begin = SystemClock().Now();
  evaluator_.reset();
  EXPECT_LT(SystemClock().Now() - begin, 20s) << "it does not wait for limits";
  for (auto& future : waiting) {
    ASSERT_EQ(future.wait_for(0s), std::future_status::ready);
    EXPECT_TRUE(IsInfrastructure(future.get().outcome));
  }
  for (int pid : pids) EXPECT_TRUE(Ended(pid)) << pid;
  for (const ProcessState& process : AllProcesses()) {
    EXPECT_NE(process.parent, getpid()) << process.name << " is not reaped";
  }
}

TEST_F(Supervisor, ScratchFoldersGoWithTheirCompilers) {
  options_.scratch_directory = folder_.path() / "scratch";
  Start();
  Judge("good");
  EXPECT_FALSE(fs::is_empty(options_.scratch_directory));
  evaluator_.reset();
  EXPECT_TRUE(fs::is_empty(options_.scratch_directory));
}

}  // namespace
}  // namespace warpsmith
