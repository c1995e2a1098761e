// The loop with a transport of the test's own: what peers send, and what they get.
#include "coordinator/shell/loop.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <mutex>

#include "common/queue/memory_queue.h"
#include "common/wire/codec.h"
#include "coordinator/core/testing.h"
#include "coordinator/shell/memory_store.h"

namespace warpsmith {
namespace {

// Everything that was sent lies in `sent`; nothing waits.
class FakeTransport : public Transport {
 public:
  Status Send(const Envelope& envelope) override {
    if (away.contains(envelope.peer)) return Fail(ErrorCode::kUnavailable, "not connected");
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
