// The loop with a transport of the test's own: what peers send, and what they get.
#include "coordinator/shell/loop.h"

#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <mutex>

#include "common/queue/memory_queue.h"
#include "common/wire/codec.h"
#include "coordinator/core/testing.h"
#include "coordinator/shell/memory_store.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

// Everything that was sent lies in `sent`; nothing waits.
class FakeTransport : public Transport {
 public:
  Status Send(const Envelope& envelope) override {
    if (away.contains(envelope.peer)) return Fail(ErrorCode::kUnavailable, "not connected");
    if (envelope.bytes.size() > most_bytes) return Fail(ErrorCode::kInvalidInput, "over the limit");
    sent.push_back(envelope);
    return {};
  }
  std::optional<Envelope> Receive(Duration) override {
    if (incoming.empty()) return std::nullopt;
    Envelope envelope = std::move(incoming.front());
    incoming.pop_front();
    return envelope;
  }
  void Wake() override {}

  std::deque<Envelope> incoming;
  std::vector<Envelope> sent;
  std::set<std::string> away;
  size_t most_bytes = SIZE_MAX;
};

class LoopTest : public testing::Test {
 protected:
  LoopTest() {
    auto snapshot = store.BeginEpoch();
    store.Start(inbox.ListenToStore());
    loop.emplace(CoordinatorSettings{}, std::move(*snapshot),
                 CoordinatorParts{transport, store, publisher, inbox, clock});
  }
  // Until nothing more comes in.
  void Turn() {
    int rounds = 0;
    loop->Run([&] { return transport.incoming.empty() && ++rounds > 4; });
  }
  void Comes(const std::string& peer, const ToCoordinator& message) {
    transport.incoming.push_back({peer, Encode(message)});
  }
  std::vector<FromCoordinator> SentTo(const std::string& peer) {
    std::vector<FromCoordinator> messages;
    for (const Envelope& envelope : transport.sent)
      if (envelope.peer == peer)
        messages.push_back(Decode<FromCoordinator>(envelope.bytes).value());
    return messages;
  }
  static RegisterWorker Offer() {
    RegisterWorker offer;
    DeviceFacts facts;
    facts.kind = DeviceKind::kSimulated;
    offer.devices = {facts};
    offer.policies = {"random"};
    return offer;
  }

  ManualClock clock;
  FakeTransport transport;
  MemoryStore store{"c"};
  CoordinatorInbox inbox{[] {}};
  StreamPublisher publisher{std::make_unique<MemoryQueue>(std::make_shared<MemoryBroker>()),
                            std::move(*store.OpenReader()), inbox.ListenToPublisher()};
  std::optional<CoordinatorLoop> loop;
};

TEST_F(LoopTest, HostileBytesAreCountedAndDroppedAndWorkGoesOn) {
  transport.incoming.push_back({"scanner", "GET / HTTP/1.1\r\n\r\n"});
  transport.incoming.push_back({"noise", std::string(100'000, '\xff')});
  transport.incoming.push_back({"empty", ""});
  std::string cut = Encode(ToCoordinator(WorkerMessage(Offer())));
  cut.resize(cut.size() / 2);
  transport.incoming.push_back({"cut", cut});
  Comes("anna", WorkerMessage(Offer()));
  Turn();
  EXPECT_EQ(loop->corrupt_messages(), 4u);
  const auto sent = SentTo("anna");
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<WelcomeWorker>(std::get<CoordinatorToWorker>(sent[0])));
  EXPECT_EQ(transport.sent.size(), 1u) << "strangers get no answer";
}

TEST_F(LoopTest, APeerOfAnotherReleaseIsAnsweredInAWayThatItsCodecExplains) {
  std::string foreign = Encode(ToCoordinator(ClientCall{1, GetCluster{}}));
  foreign[4] = 99;  // the format version
  transport.incoming.push_back({"client", foreign});
  Turn();
  EXPECT_EQ(loop->corrupt_messages(), 1u);
  const auto sent = SentTo("client");
  ASSERT_EQ(sent.size(), 1u);
  const auto& refused = std::get<Refused>(std::get<CoordinatorToWorker>(sent[0]));
  EXPECT_THAT(refused.why, HasSubstr("format version 99"));
}

TEST_F(LoopTest, AnAnswerOverTheSizeLimitIsReplacedByOneThatSaysSo) {
  Comes("client", ClientCall{1, SubmitRun{"key", RandomSpec()}});
  Turn();
  transport.most_bytes = 400;
  Comes("client", ClientCall{2, GetCluster{}});
  Turn();
  const auto answer = std::get<ClientAnswer>(SentTo("client").back());
  EXPECT_EQ(answer.id, 2u);
  EXPECT_EQ(std::get<RequestFailed>(answer.reply).code, "exhausted");
  EXPECT_THAT(std::get<RequestFailed>(answer.reply).why, HasSubstr("too large"));
}

// Whatever a candidate did, its word arrives: no status is another's, and none ends anything.
TEST_F(LoopTest, EveryOutcomeKeepsItsNameFromTheWorkerToTheClient) {
  std::vector<Outcome> outcomes = {
      Rejected{"why"},         CompileError{"log"}, ResourceError{"limit"},
      LaunchError{"code"},     WrongOutput{},       Nondeterministic{"y"},
      Timeout{Stage::kVerify}, DeviceFault{"700"},  Violation{ViolationKind::kTimeForged, ""},
      Correct{{}, 1.5},
  };
  ASSERT_EQ(outcomes.size(), std::variant_size_v<Outcome> - 2)
      << "all but infrastructure, and those not known";
  EvaluationJob body{.task = SmallSuite().tasks[0]};
  for (const Outcome& outcome : outcomes) body.candidates.push_back(OutcomeName(outcome));
  Comes("anna", WorkerMessage(Offer()));
  Comes("client", ClientCall{1, SubmitEvaluation{"e", body, "auto"}});
  Turn();
  const auto job = std::get<AssignJob>(std::get<CoordinatorToWorker>(SentTo("anna").back()));
  for (uint32_t i = 0; i < outcomes.size(); ++i) {
    Evaluation evaluation;
    evaluation.outcome = outcomes[i];
    Comes("anna", WorkerMessage(EvaluationResult{job.job, job.fence, i, evaluation}));
  }
  Turn();
  Comes("client", ClientCall{2, GetJob{job.job}});
  Turn();
  const auto status = std::get<JobStatus>(std::get<ClientAnswer>(SentTo("client").back()).reply);
  EXPECT_EQ(status.state, "finished");
  for (uint32_t i = 0; i < outcomes.size(); ++i)
    EXPECT_EQ(status.results.at(i).at(0).outcome, outcomes[i]) << body.candidates[i];
}

TEST_F(LoopTest, ARunGoesFromSubmissionToItsResultsOverTheWire) {
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 8;
  Comes("anna", WorkerMessage(Offer()));
  Comes("client", ClientCall{5, SubmitRun{"key", spec}});
  Turn();
  const auto accepted = std::get<ClientAnswer>(SentTo("client").at(0));
  EXPECT_EQ(accepted.id, 5u);
  const RunId run = std::get<RunAccepted>(accepted.reply).run;

  std::optional<AssignJob> job;
  for (const auto& message : SentTo("anna"))
    if (const auto* assign = std::get_if<AssignJob>(&std::get<CoordinatorToWorker>(message)))
      job = *assign;
  ASSERT_TRUE(job.has_value());
  const auto& rollout = std::get<RolloutJob>(job->body);
  for (uint32_t episode : rollout.episodes)
    Comes("anna", WorkerMessage(TrajectoryResult{
                      job->job, job->fence,
                      MakeTrajectory({run, rollout.group, episode}, rollout.task.id, 2)}));
  Turn();
  Comes("client", ClientCall{6, GetHistory{run}});
  Turn();
  const auto history = std::get<History>(std::get<ClientAnswer>(SentTo("client").back()).reply);
  EXPECT_EQ(history.status.state, RunState::kComplete);
  EXPECT_EQ(history.evaluations.size(), 8u);
}

TEST_F(LoopTest, APeerThatIsAwayMissesItsMessageAndNobodyElseDoes) {
  transport.away = {"anna"};
  Comes("anna", WorkerMessage(Offer()));
  Comes("bert", WorkerMessage(Offer()));
  Turn();
  EXPECT_TRUE(SentTo("anna").empty());
  EXPECT_EQ(SentTo("bert").size(), 1u);
}

TEST_F(LoopTest, AfterASleepMessagesAreHeardBeforeDeadlinesAreLookedAt) {
  Comes("anna", WorkerMessage(Offer()));
  Turn();
  clock.Advance(std::chrono::minutes(10));  // SIGSTOP, a suspended machine
  Comes("anna", WorkerMessage(Heartbeat{}));
  Turn();
  Comes("client", ClientCall{1, GetCluster{}});
  Turn();
  const auto cluster =
      std::get<ClusterStatus>(std::get<ClientAnswer>(SentTo("client").at(0)).reply);
  ASSERT_EQ(cluster.workers.size(), 1u);
  EXPECT_EQ(cluster.workers[0].state, "alive");
}

}  // namespace
}  // namespace warpsmith
