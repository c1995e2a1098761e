// An oracle judges runners that are honest, wrong, hostile and dead. The device is plain memory,
// the runner a thread of the test, the test itself the supervisor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>

#include "common/model/outcome.h"
#include "common/wire/codec.h"
#include "tests/support/fake_oracle_device.h"
#include "tests/support/fake_runner.h"
#include "worker/oracle/oracle_server.h"
#include "worker/oracle/testing_tasks.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr Duration kPatience = std::chrono::seconds(60);

CompiledCandidate OneLaunch() {
  CompiledCandidate candidate;
  candidate.architecture = "x86_64";
  candidate.plan.launches = {
      {.kernel = "k", .grid = {"max(rows, 1)"}, .block = {"32"}, .args = {"x", "y"}}};
  candidate.kernels = {{.name = "k",
                        .symbol = "k",
                        .parameters = {ParameterType::kPointer, ParameterType::kPointer}}};
  candidate.binary = "a binary";
  return candidate;
}

int64_t Rows(const FakeRun& run) { return run.plan.buffers[0].shape[0]; }
int64_t Cols(const FakeRun& run) { return run.plan.buffers[0].shape[1]; }

void Softmax(const FakeRun& run) {
  const float* x = run.floats(0);
  float* y = run.floats(1);
  for (int64_t row = 0; row < Rows(run); ++row, x += Cols(run), y += Cols(run)) {
    const float most = *std::max_element(x, x + Cols(run));
    float sum = 0;
    for (int64_t i = 0; i < Cols(run); ++i) sum += y[i] = std::exp(x[i] - most);
    for (int64_t i = 0; i < Cols(run); ++i) y[i] /= sum;
  }
}

// A kernel long enough for the times that tests let it claim.
void SlowSoftmax(const FakeRun& run) {
  Softmax(run);
  if (run.timed) std::this_thread::sleep_for(std::chrono::microseconds(120));
}

FakeBehaviour Honest(std::function<void(const FakeRun&)> kernel) {
  FakeBehaviour behaviour;
  behaviour.kernel = std::move(kernel);
  return behaviour;
}

FakeBehaviour Claiming(double us, std::function<void(const FakeRun&)> kernel = SlowSoftmax) {
  FakeBehaviour behaviour = Honest(std::move(kernel));
  behaviour.said_us = [us](const FakeRun&, double) { return us; };
  return behaviour;
}

// The supervisor's side: gives out runners, kills them at their limits, keeps what it was told.
class OracleUnderTest {
 public:
  OracleUnderTest() {
    auto ends = FrameSocket::MakePair();
    supervisor_ = std::move(ends->first);
    thread_ = std::thread([this, end = std::move(ends->second)]() mutable {
      OracleServer server(std::move(end), device_, {.grace = milliseconds(300)});
      served_ = server.Serve().has_value();
    });
    EXPECT_TRUE(std::holds_alternative<OracleReady>(Hear()));
  }
  ~OracleUnderTest() {
    supervisor_.Shutdown();
    thread_.join();
    EXPECT_TRUE(served_) << "a supervisor that hangs up is no error";
    EXPECT_EQ(device_.held(), 0u) << "buffers were left behind";
  }

  FakeOracleDevice& device() { return device_; }

  EvaluateReply Evaluate(const Task& task, const FakeBehaviour& behaviour,
                         Depth depth = Depth::kVerify,
                         const CompiledCandidate& candidate = OneLaunch()) {
    discarded_.clear();
    behaviour_ = behaviour;
    if (runner_)
      runner_->Become(behaviour);
    else
      AttachRunner();
    Say(EvaluateRequest{++id_, task, candidate, depth});
    for (;;) {
      const FromOracle message = Hear();
      if (const auto* reply = std::get_if<EvaluateReply>(&message)) {
        EXPECT_EQ(reply->id, id_);
        return *reply;
      }
      if (const auto* began = std::get_if<StageBegan>(&message)) {
        EXPECT_EQ(began->runner, runner_number_);
        limit_ = kills_ ? std::optional(began->limit) : std::nullopt;
      } else if (std::holds_alternative<StageEnded>(message)) {
        limit_.reset();
      } else if (const auto* discard = std::get_if<DiscardRunner>(&message)) {
        limit_.reset();
        discarded_.push_back(discard->why);
        if (discard->runner == runner_number_) AttachRunner();
      }
    }
  }

  std::string Label(const Task& task, const FakeBehaviour& behaviour, Depth depth = Depth::kVerify,
                    const CompiledCandidate& candidate = OneLaunch()) {
    reply_ = Evaluate(task, behaviour, depth, candidate);
    return OutcomeLabel(reply_.outcome);
  }
  std::string Label(const FakeBehaviour& behaviour, Depth depth = Depth::kVerify) {
    return Label(SoftmaxTask(), behaviour, depth);
  }
  const EvaluateReply& reply() const { return reply_; }
  std::string Story() const { return Describe(reply_.outcome); }
  template <typename T>
  T Get() const {
    const T* outcome = std::get_if<T>(&reply_.outcome);
    EXPECT_NE(outcome, nullptr) << Story();
    return outcome ? *outcome : T{};
  }
  const std::vector<std::string>& discarded() const { return discarded_; }
  // A supervisor that does not keep to its limits.
  void NeverKills() { kills_ = false; }
  // Nobody tells the oracle.
  void RunnerDiesIdle() { runner_->Die(); }

 private:
  void Say(const ToOracle& message, std::span<const int> fds = {}) {
    EXPECT_TRUE(supervisor_.Send(Encode(message), fds, kPatience));
  }
  FromOracle Hear() {
    auto frame = supervisor_.Receive(limit_.value_or(kPatience));
    if (!frame && frame.error().code == ErrorCode::kTimeout && limit_) {
      runner_.reset();  // the kill
      limit_.reset();
      frame = supervisor_.Receive(kPatience);
    }
    EXPECT_TRUE(frame) << frame.error().message;
    if (!frame) return OracleFailed{};
    auto message = Decode<FromOracle>(frame->bytes);
    EXPECT_TRUE(message);
    return *message;
  }
  void AttachRunner() {
    auto ends = FrameSocket::MakePair();
    const int fds[] = {ends->second.fd()};
    Say(RunnerAttached{++runner_number_}, fds);
    runner_ = std::make_unique<FakeRunner>(std::move(ends->first), behaviour_);
  }

  FakeOracleDevice device_;
  FrameSocket supervisor_;
  std::thread thread_;
  bool served_ = false;
  FakeBehaviour behaviour_;
  std::unique_ptr<FakeRunner> runner_;
  uint64_t runner_number_ = 0;
  uint64_t id_ = 0;
  bool kills_ = true;
  std::optional<Duration> limit_;
  std::vector<std::string> discarded_;
  EvaluateReply reply_;
};

bool IsRun(const ToRunner& message) { return std::holds_alternative<RunPlan>(message); }

// Answers a run with other bytes than the honest ones.
FakeBehaviour Saying(std::function<std::optional<std::string>(std::string honest)> instead) {
  FakeBehaviour behaviour = Honest(SlowSoftmax);
  behaviour.tongue = [instead](const ToRunner& message, std::string honest) {
    return IsRun(message) ? instead(std::move(honest)) : std::optional(std::move(honest));
  };
  return behaviour;
}

FakeBehaviour Failing(Outcome outcome) {
  return Saying([outcome](std::string) {
    return Encode(FromRunner(Failed{outcome, "printed\n"}));
  });
}

// ---- wrong candidates

TEST(Oracle, NothingWrittenIsSeenByThePoison) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest({})), "wrong_output");
  const auto report = oracle.Get<WrongOutput>().report;
  EXPECT_EQ(report.pattern, "never written: every element");
  EXPECT_EQ(report.output, "y");
  EXPECT_EQ(report.failed_case.dims, (Dims{{"rows", 3}, {"cols", 17}}));
}

TEST(Oracle, ZerosConstantsAndCopiesAreWrong) {
  OracleUnderTest oracle;
  const auto writes = [&](auto value) {
    return oracle.Label(Honest([value](const FakeRun& run) {
      for (int64_t i = 0; i < Rows(run) * Cols(run); ++i) run.floats(1)[i] = value(run, i);
    }));
  };
  EXPECT_EQ(writes([](const FakeRun&, int64_t) { return 0.0f; }), "wrong_output");
  EXPECT_EQ(oracle.Get<WrongOutput>().report.pattern, "all zero");
  EXPECT_EQ(
      writes([](const FakeRun& run, int64_t) { return 1.0f / static_cast<float>(Cols(run)); }),
      "wrong_output");
  EXPECT_EQ(oracle.Get<WrongOutput>().report.pattern, "all the same value");
  EXPECT_EQ(writes([](const FakeRun& run, int64_t i) { return run.floats(0)[i]; }), "wrong_output");
  EXPECT_EQ(writes([](const FakeRun&, int64_t) { return NAN; }), "wrong_output");
  EXPECT_EQ(oracle.Get<WrongOutput>().report.reason, "nan_mismatch");
  EXPECT_TRUE(oracle.discarded().empty()) << "a wrong output is no anomaly of the runner";
}

TEST(Oracle, TheLastColumnThatIsForgottenIsNamed) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest([](const FakeRun& run) {
    const float poison = run.floats(1)[Cols(run) - 1];
    Softmax(run);
    for (int64_t row = 0; row < Rows(run); ++row) run.floats(1)[(row + 1) * Cols(run) - 1] = poison;
  })),
            "wrong_output");
  EXPECT_EQ(oracle.Get<WrongOutput>().report.pattern, "never written: last column");
}

TEST(Oracle, AnAnswerReplayedIsWrongOnTheNextContent) {
  OracleUnderTest oracle;
  auto kept = std::make_shared<std::vector<float>>();
  EXPECT_EQ(oracle.Label(Claiming(20,
                                  [kept](const FakeRun& run) {
                                    const auto n = static_cast<size_t>(Rows(run) * Cols(run));
                                    if (run.number == 0) {
                                      Softmax(run);
                                      kept->assign(run.floats(1), run.floats(1) + n);
                                    }
                                    std::copy(kept->begin(), kept->end(), run.floats(1));
                                    std::this_thread::sleep_for(std::chrono::microseconds(50));
                                  }),
                         Depth::kScreen),
            "wrong_output");
}

TEST(Oracle, WorkSkippedAfterTheFirstLaunchesIsSeenWhileTimed) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Claiming(20,
                                  [](const FakeRun& run) {
                                    if (run.number < 9) Softmax(run);
                                    std::this_thread::sleep_for(std::chrono::microseconds(50));
                                  }),
                         Depth::kScreen),
            "wrong_output");
  EXPECT_EQ(oracle.Get<WrongOutput>().report.pattern, "never written: every element");
}

TEST(Oracle, AnInputThatChangesIsAViolation) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest([](const FakeRun& run) {
    for (int64_t i = 0; i < Rows(run) * Cols(run); ++i) run.floats(0)[i] = run.floats(1)[i] = 0;
  })),
            "violation(input_modified)");
  EXPECT_THAT(oracle.Story(), HasSubstr("input x"));
  EXPECT_EQ(oracle.discarded().size(), 1u);
}

TEST(Oracle, AWriteJustOutsideIsAViolationThoughTheValuesAreRight) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest([](const FakeRun& run) {
    Softmax(run);
    run.floats(1)[Rows(run) * Cols(run)] = 0;
  })),
            "violation(out_of_bounds)");
  EXPECT_THAT(oracle.Story(), HasSubstr("output y: something was written at byte 0 past its end"));
  EXPECT_EQ(oracle.Label(Honest([](const FakeRun& run) {
    Softmax(run);
    run.floats(1)[-1] = 0;
  })),
            "violation(out_of_bounds)");
  EXPECT_THAT(oracle.Story(), HasSubstr("4 bytes before its start"));
}

TEST(Oracle, TwoRunsMustAgreeBitForBitUnlessTheTaskSaysOtherwise) {
  OracleUnderTest oracle;
  const auto racy = Honest([](const FakeRun& run) {
    Softmax(run);
    if (run.number % 2 == 1) run.floats(1)[0] = std::nextafter(run.floats(1)[0], 1.0f);
  });
  EXPECT_EQ(oracle.Label(racy), "nondeterministic");
  Task task = SoftmaxTask();
  task.outputs[0].order_free = true;
  EXPECT_EQ(oracle.Label(task, racy), "correct");
}

// ---- runners that lie

TEST(Oracle, ImpossibleTimesAreForged) {
  OracleUnderTest oracle;
  for (double us : {-5.0, 0.0, std::numeric_limits<double>::quiet_NaN(),
                    std::numeric_limits<double>::infinity(), 1e12}) {
    EXPECT_EQ(oracle.Label(Claiming(us), Depth::kScreen), "violation(time_forged)") << us;
    EXPECT_EQ(oracle.discarded().size(), 1u);
  }
}

TEST(Oracle, NonsenseIsAFaultOfTheDeviceCodeThatTookTheRunner) {
  OracleUnderTest oracle;
  EXPECT_THAT(oracle.Label(Saying([](std::string) { return "garbage"; })),
              HasSubstr("device_fault(the runner talks nonsense"));
  EXPECT_THAT(oracle.Label(Saying([](std::string honest) { return honest.substr(0, 24); })),
              HasSubstr("device_fault"));
  EXPECT_THAT(oracle.Label(Saying([](std::string) { return Encode(FromRunner(RunnerReady{})); })),
              HasSubstr("device_fault"));
  EXPECT_THAT(oracle.Label(Failing(Correct{.measurements = {}, .speedup = 100})),
              HasSubstr("judges itself correct"));
  EXPECT_THAT(oracle.Label(Saying([](std::string) {
                             const Done done{.run_us = {1, 2, 3, 4, 5, 6, 7}};
                             return Encode(FromRunner(done));
                           }),
                           Depth::kScreen),
              HasSubstr("7 times for 0 timed runs"));
  EXPECT_EQ(oracle.discarded().size(), 1u);
}

TEST(Oracle, MoreTimesThanRunsAreNonsense) {
  OracleUnderTest oracle;
  FakeBehaviour behaviour = Claiming(10);
  behaviour.tongue = [](const ToRunner& message, std::string honest) -> std::optional<std::string> {
    const auto* run = std::get_if<RunPlan>(&message);
    if (run == nullptr || run->sets.empty() || !run->timed) return honest;
    return Encode(FromRunner(Done{.run_us = std::vector<double>(run->sets.size() + 1, 1.0)}));
  };
  EXPECT_THAT(oracle.Label(behaviour, Depth::kScreen), HasSubstr("3 times for 2 timed runs"));
}

TEST(Oracle, WhatARunnerMayReportIsTaken) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Failing(LaunchError{"invalid configuration"})),
            "launch_error(invalid configuration)");
  EXPECT_TRUE(oracle.discarded().empty());
  EXPECT_EQ(oracle.Label(Failing(DeviceFault{"illegal address"})), "device_fault(illegal address)");
  EXPECT_EQ(oracle.discarded().size(), 1u) << "after a fault the runner is replaced";
  EXPECT_EQ(oracle.reply().log, "printed\n");
  EXPECT_EQ(oracle.Label(Failing(Timeout{Stage::kConfirm})), "timeout(verify)");
  EXPECT_EQ(oracle.Label(Failing(ResourceError{"stack"})), "resource_error");
  EXPECT_EQ(oracle.Label(Failing(Infrastructure{InfrastructureKind::kDriver, "gone"})),
            "infrastructure(driver)");
}

TEST(Oracle, UnevenRunsOfABlockAreAViolation) {
  OracleUnderTest oracle;
  oracle.device().time_us = 300;
  FakeBehaviour behaviour = Honest([](const FakeRun& run) {
    Softmax(run);
    if (run.timed) std::this_thread::sleep_for(std::chrono::microseconds(300));
  });
  behaviour.said_us = [](const FakeRun& run, double) { return run.number % 4 == 0 ? 250.0 : 5.0; };
  EXPECT_EQ(oracle.Label(behaviour, Depth::kScreen), "violation(uneven)");
}

TEST(Oracle, TimesBelowTheFloorThatTheWallClockRefutesAreImplausible) {
  OracleUnderTest oracle;
  oracle.device().time_us = 100;
  oracle.device().facts_.peak_bandwidth_bytes_per_s = 1e8;  // 8 KiB take 82 us at best
  EXPECT_EQ(oracle.Label(Claiming(10,
                                  [](const FakeRun& run) {
                                    Softmax(run);
                                    std::this_thread::sleep_for(milliseconds(1));
                                  }),
                         Depth::kScreen),
            "violation(implausible)");
}

TEST(Oracle, TimesBelowTheFloorAreMaskedWhereNothingElseSpeaksAgainstThem) {
  OracleUnderTest oracle;
  oracle.device().time_us = 100;
  oracle.device().facts_.peak_bandwidth_bytes_per_s = 1e6;
  EXPECT_EQ(oracle.Label(Claiming(100,
                                  [](const FakeRun& run) {
                                    Softmax(run);
                                    if (run.timed)
                                      std::this_thread::sleep_for(std::chrono::microseconds(150));
                                  }),
                         Depth::kScreen),
            "infrastructure(internal)");
  EXPECT_THAT(oracle.Story(), HasSubstr("below the floor"));
}

TEST(Oracle, AConfirmationRefutesTimesThatTheWallClockDoesNotShow) {
  OracleUnderTest oracle;
  oracle.device().time_us = 100;
  EXPECT_EQ(oracle.Label(Claiming(10,
                                  [](const FakeRun& run) {
                                    Softmax(run);
                                    std::this_thread::sleep_for(milliseconds(1));
                                  }),
                         Depth::kConfirm),
            "violation(time_forged)");
}

TEST(Oracle, RunsThatOnlyTheWallClockSeesMustDoTheWorkToo) {
  OracleUnderTest oracle;
  oracle.device().time_us = 100;
  EXPECT_EQ(oracle.Label(Claiming(10,
                                  [](const FakeRun& run) {
                                    const bool verified = run.number < 2;
                                    if (run.timed || verified) Softmax(run);
                                    if (run.timed) std::this_thread::sleep_for(milliseconds(1));
                                  }),
                         Depth::kConfirm),
            "wrong_output");
}

// ---- runners that die

TEST(Oracle, ARunnerThatEndsBeforeItsLimitIsAFault) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Saying([](std::string) { return std::nullopt; })),
            "device_fault(the runner died)");
  EXPECT_EQ(oracle.discarded().size(), 1u);
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct") << "the next one is unharmed";
}

TEST(Oracle, ARunnerThatDiedIdleIsReplacedBeforeTheNextCandidateMeetsIt) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct");
  oracle.RunnerDiesIdle();
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct") << oracle.Story();
  EXPECT_EQ(oracle.discarded().size(), 1u);
}

TEST(Oracle, AHangIsATimeoutAndTheNextCandidateIsUnharmed) {
  OracleUnderTest oracle;
  FakeBehaviour behaviour = Honest(Softmax);
  behaviour.hangs = IsRun;
  EXPECT_EQ(oracle.Label(behaviour), "timeout(verify)");
  EXPECT_EQ(oracle.discarded().size(), 1u);
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct");
}

TEST(Oracle, AHangIsATimeoutEvenIfTheSupervisorSleeps) {
  OracleUnderTest oracle;
  oracle.NeverKills();
  FakeBehaviour behaviour = Honest(Softmax);
  behaviour.hangs = IsRun;
  EXPECT_EQ(oracle.Label(behaviour), "timeout(verify)");
}

TEST(Oracle, ALoadThatHangsIsATimeoutOfItsStage) {
  OracleUnderTest oracle;
  oracle.NeverKills();
  FakeBehaviour behaviour = Honest(Softmax);
  behaviour.tongue = [](const ToRunner& message, std::string honest) -> std::optional<std::string> {
    if (std::holds_alternative<LoadModule>(message)) return std::nullopt;
    return honest;
  };
  EXPECT_EQ(oracle.Label(behaviour), "device_fault(the runner died)");
}

// ---- what is nobody's fault, or is refused before anything runs

TEST(Oracle, APlanBeyondTheLimitsNeverReachesTheRunner) {
  OracleUnderTest oracle;
  CompiledCandidate candidate = OneLaunch();
  candidate.plan.launches[0].block = {"2048"};
  FakeBehaviour untouched;
  untouched.kernel = [](const FakeRun&) { ADD_FAILURE() << "it ran"; };
  EXPECT_EQ(oracle.Label(SoftmaxTask(), untouched, Depth::kScreen, candidate), "rejected");
}

TEST(Oracle, ATaskThatCannotBeTrustedIsNotTheCandidatesFault) {
  OracleUnderTest oracle;
  Task task = SoftmaxTask();
  task.outputs[0].atol = 1.0;
  EXPECT_EQ(oracle.Label(task, Honest(Softmax)), "infrastructure(internal)");
  EXPECT_THAT(oracle.Story(), HasSubstr("would pass"));
}

TEST(Oracle, MemoryThatTheDeviceLacksIsNotTheCandidatesFault) {
  OracleUnderTest oracle;
  oracle.device().memory_left = 8000;
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "infrastructure(out_of_memory)");
}

TEST(Oracle, TempsThatTheDeviceHasNoRoomForAreTheCandidatesFault) {
  OracleUnderTest oracle;
  oracle.device().facts_.memory_bytes = 64 << 20;
  CompiledCandidate candidate = OneLaunch();
  candidate.plan.temps = {{.name = "t", .dtype = Dtype::kFloat32, .shape = {"12 * 1048576"}}};
  FakeBehaviour untouched;
  untouched.kernel = [](const FakeRun&) { ADD_FAILURE() << "it ran"; };
  EXPECT_EQ(oracle.Label(SoftmaxTask(), untouched, Depth::kScreen, candidate), "resource_error");
  EXPECT_THAT(oracle.Story(), HasSubstr("temps of 48 MiB"));
}

TEST(Oracle, ATaskThatIsTooLargeForTheDeviceIsNotTheCandidatesFault) {
  OracleUnderTest oracle;
  oracle.device().facts_.memory_bytes = 16 << 10;
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "infrastructure(out_of_memory)");
  EXPECT_THAT(oracle.Story(), HasSubstr("the case needs"));
}

TEST(Oracle, ABinaryForAnotherDeviceIsNotRun) {
  OracleUnderTest oracle;
  CompiledCandidate candidate = OneLaunch();
  candidate.device_kind = DeviceKind::kCuda;
  EXPECT_EQ(oracle.Label(SoftmaxTask(), Honest({}), Depth::kVerify, candidate),
            "infrastructure(internal)");
}

// ---- right candidates

TEST(Oracle, ACorrectCandidateIsCorrect) {
  OracleUnderTest oracle;
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct") << oracle.Story();
  EXPECT_EQ(oracle.Get<Correct>().speedup, 0) << "only verified";
  EXPECT_TRUE(oracle.discarded().empty());
  EXPECT_FALSE(oracle.reply().stages.empty());
}

TEST(Oracle, AScreenedCandidateHasItsSpeedupAndTheEvidence) {
  OracleUnderTest oracle;
  oracle.device().time_us = 100;
  EXPECT_EQ(oracle.Label(Claiming(50), Depth::kScreen), "correct") << oracle.Story();
  const Correct correct = oracle.Get<Correct>();
  ASSERT_EQ(correct.measurements.size(), 1u);
  const Measurement& m = correct.measurements[0];
  EXPECT_NEAR(correct.speedup, 2, 1e-9);
  EXPECT_EQ(m.comparison, Comparison::kFaster);
  EXPECT_EQ(m.validity, Validity::kValid);
  EXPECT_NEAR(m.candidate_us, 50, 1e-9);
  EXPECT_NEAR(m.baseline_us, 100, 1e-9);
  EXPECT_GE(m.candidate_block_us.size(), 6u);
  EXPECT_EQ(m.candidate_block_us.size(), m.baseline_block_us.size());
  EXPECT_EQ(m.timed_case, SoftmaxTask().host_cases[0]);
}

TEST(Oracle, ATieScoresOne) {
  OracleUnderTest oracle;
  oracle.device().time_us = 50.2;
  EXPECT_EQ(oracle.Label(Claiming(50), Depth::kScreen), "correct") << oracle.Story();
  EXPECT_EQ(oracle.Get<Correct>().speedup, 1);
  EXPECT_EQ(oracle.Get<Correct>().measurements.at(0).comparison, Comparison::kTie);
}

TEST(Oracle, AConfirmationTakesAFreshProcess) {
  OracleUnderTest oracle;
  oracle.device().time_us = 400;
  EXPECT_EQ(oracle.Label(Honest(Softmax)), "correct");
  EXPECT_EQ(oracle.Label(Claiming(200,
                                  [](const FakeRun& run) {
                                    Softmax(run);
                                    if (run.timed)
                                      std::this_thread::sleep_for(std::chrono::microseconds(300));
                                  }),
                         Depth::kConfirm),
            "correct")
      << oracle.Story();
  EXPECT_EQ(oracle.discarded().size(), 1u);
}

TEST(Oracle, AFloodOfOutputIsCut) {
  OracleUnderTest oracle;
  const std::string flood(1 << 20, 'x');
  EXPECT_EQ(oracle.Label(Saying([&](std::string) {
    return Encode(FromRunner(Done{.run_us = {}, .output = flood}));
  })),
            "correct");
  EXPECT_LT(oracle.reply().log.size(), 70u << 10);
  EXPECT_THAT(oracle.reply().log, HasSubstr("[output cut]"));
}

}  // namespace
}  // namespace warpsmith
