// The store on disk against the model that every store must agree with, and what disks do.
#include "coordinator/shell/sqlite_store.h"

#include <gmock/gmock.h>

#include <condition_variable>

#include "common/runtime/files.h"
#include "coordinator/core/store_image.h"
#include "coordinator/core/testing.h"

namespace warpsmith {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr auto kPatience = std::chrono::seconds(30);  // against hanging only

class SqliteStoreTest : public testing::Test {
 protected:
  SqliteStoreTest() : directory(*TempDirectory::Make("store_test")) { Open(); }

  void Open() {
    store.reset();
    auto opened = SqliteStore::Open(directory.path(), {.retry = milliseconds(5)});
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    auto began = store->BeginEpoch();
    ASSERT_TRUE(began) << began.error().message;
    snapshot = std::move(*began);
    stored = 0;
    batches = 0;
    store->Start({[this](Stored s) { Tell([&] { stored = s.batch; }); },
                  [this](StoreHealth h) { Tell([&] { health = h; }); },
                  [this](const ClientId&, ClientAnswer a) { Tell([&] { answer = a.reply; }); }});
  }
  template <typename Change>
  void Tell(const Change& change) {
    std::lock_guard lock(mutex);
    change();
    changed.notify_all();
  }
  template <typename Condition>
  void Await(const Condition& condition) {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, kPatience, condition));
  }
  void Put(std::vector<Record> records) {
    image.Apply(records);
    store->Write({++batches, std::move(records)});
  }
  void AwaitStored() {
    Await([&] { return stored == batches; });
  }
  ClientReply Ask(ClientRequest request, RunId run = RunId(1)) {
    QueryStore query{ClientId("c"), {1, std::move(request)}, {}, "", ""};
    query.status.run = run;
    {
      std::lock_guard lock(mutex);
      answer.reset();
    }
    store->Query(query);
    Await([&] { return answer.has_value(); });
    EXPECT_EQ(image.Query(query), *answer) << "the model says otherwise";
    return *answer;
  }
  // Both after a restart: every difference between the store and the model is a loss.
  void RestartAgreesWithTheModel() {
    AwaitStored();
    Open();
    Snapshot expected = image.BeginEpoch();
    while (expected.epoch < snapshot.epoch) expected = image.BeginEpoch();
    expected.cluster = snapshot.cluster;
    EXPECT_EQ(snapshot, expected);
  }

  // A run with two groups, one done, one leased and half done; an evaluation job with one result.
  void PutAnything() {
    Put({RunAdded{RunId(1), "key", GrammarSpec(), 17}});
    Put({RunChanged{RunId(1), RunState::kRunning, "host", 16, 2, 0, ""},
         JobAdded{JobId(1), RolloutPlan{RunId(1), GroupId(0), TaskId("small/add"), 2, 2}},
         JobChanged{JobId(1), JobState::kLeased, 1, 0, 0, ""}});
    uint64_t seq = 0;
    for (uint32_t episode : {1, 0})
      Put({TrajectoryAccepted{
          JobId(1), seq++,
          MakeTrajectory({RunId(1), GroupId(0), episode}, TaskId("small/add"), 2, {1, episode})}});
    Put({JobChanged{JobId(1), JobState::kFinished, 1, 0, 0, ""},
         JobAdded{JobId(2), RolloutPlan{RunId(1), GroupId(1), TaskId("small/copy"), 2, 2}},
         JobChanged{JobId(2), JobState::kLeased, 3, 2, 0, "worker lost"}});
    Trajectory masked = MakeTrajectory({RunId(1), GroupId(1), 1}, TaskId("small/copy"), 2);
    for (Turn& turn : masked.turns) turn.evaluation.outcome = Infrastructure{};
    Put({TrajectoryAccepted{JobId(2), seq++, masked}});
    EvaluationJob body;
    body.candidates = {"a", "b"};
    Put({JobAdded{JobId(3), EvaluationPlan{"eval", "auto", body}}});
    Evaluation evaluation;
    evaluation.outcome = Correct{{}, 2.5};
    Put({EvaluationAccepted{JobId(3), 1, evaluation}});
    Put({LearnerRegistered{1, "lena"}, LearnerTookOver{1}, LineForked{RunId(1), {}, 1}});
    CheckpointDurable checkpoint;
    checkpoint.run = RunId(1);
    checkpoint.version = {1, 1};
    checkpoint.report.step = 1;
    checkpoint.report.mean_reward = 0.5;
    Put({CheckpointRecorded{checkpoint}, TrajectoryConsumed{RunId(1), 0, Fate::kTrained, {1, 1}},
         TrajectoryConsumed{RunId(1), 2, std::nullopt, {1, 1}}});
    AwaitStored();
  }

  TempDirectory directory;
  std::unique_ptr<SqliteStore> store;
  Snapshot snapshot;
  StoreImage image{"model"};
  uint64_t batches = 0;

  std::mutex mutex;
  std::condition_variable changed;
  uint64_t stored = 0;
  StoreHealth health;
  std::optional<ClientReply> answer;
};

TEST_F(SqliteStoreTest, KnowsAfterARestartWhatTheModelKnows) {
  PutAnything();
  RestartAgreesWithTheModel();
}

TEST_F(SqliteStoreTest, AnUndoneConsumptionAndAMaskedJobSurviveARestart) {
  PutAnything();
  Put({ConsumptionUndone{RunId(1), 0}, LearnerRegistered{2, "lola"}, LineForked{RunId(1), {}, 2},
       JobChanged{JobId(2), JobState::kFinished, 5, 5, 2, "given up"}});
  RestartAgreesWithTheModel();
  EXPECT_EQ(snapshot.runs.at(0).counters.masked_evaluations, 2);
}

TEST_F(SqliteStoreTest, EachLifeIsAnotherEpochOfTheSameCluster) {
  const uint64_t first = snapshot.epoch;
  const std::string cluster = snapshot.cluster;
  EXPECT_FALSE(cluster.empty());
  Open();
  EXPECT_EQ(snapshot.epoch, first + 1);
  EXPECT_EQ(snapshot.cluster, cluster);
}

TEST_F(SqliteStoreTest, ASecondCoordinatorIsRefused) {
  const auto second = SqliteStore::Open(directory.path(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(second.error().message, HasSubstr("another coordinator"));
}

TEST_F(SqliteStoreTest, AFileOfAnotherFormatIsRefusedAndLeftAlone) {
  store.reset();
  {
    auto database = Database::Open((directory.path() / "store.sqlite").string(), false);
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 99"));
  }
  const auto opened = SqliteStore::Open(directory.path(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("format 99"));
}

TEST_F(SqliteStoreTest, ADamagedFileIsRefusedWithAdvice) {
  store.reset();
  ASSERT_TRUE(WriteFileAtomically(directory.path() / "store.sqlite", std::string(8192, 'x')));
  const auto opened = SqliteStore::Open(directory.path(), {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("backup"));
}

TEST_F(SqliteStoreTest, AFullDiskIsToldNothingIsLostAndItGoesOnWhenThereIsRoom) {
  PutAnything();
  store->LimitBytes(4096 * 8);
  Put({RunAdded{RunId(2), "big", GrammarSpec(), 0}});
  RunSpec big = GrammarSpec();
  big.suites[0].tasks[0].reference.assign(200'000, 'x');
  Put({RunAdded{RunId(3), "bigger", big, 0}});
  Await([&] { return !health.ok; });
  EXPECT_THAT(health.problem, HasSubstr("disk"));
  EXPECT_LT(stored, batches);
  Put({RunChanged{RunId(3), RunState::kCancelled, "host", 0, 0, 0, ""}});
  store->LimitBytes(0);
  AwaitStored();
  Await([&] { return health.ok; });
  RestartAgreesWithTheModel();
}

TEST_F(SqliteStoreTest, AnswersClientsAsTheModelDoes) {
  PutAnything();
  const auto best = std::get<BestTable>(Ask(GetBest{RunId(1)}));
  ASSERT_EQ(best.rows.size(), 2u);
  EXPECT_EQ(best.rows[0].task, TaskId("small/add"));
  EXPECT_EQ(best.rows[0].candidate, "candidate 1/0/1/1");
  EXPECT_TRUE(best.rows[1].candidate.empty()) << "infrastructure is nobody's best";
  const auto history = std::get<History>(Ask(GetHistory{RunId(1)}));
  EXPECT_EQ(history.evaluations.size(), 6u);
  EXPECT_EQ(history.steps.size(), 1u);
  const auto job = std::get<JobStatus>(Ask(GetJob{JobId(3)}));
  EXPECT_EQ(job.state, "queued");
  ASSERT_EQ(job.results.size(), 2u);
  EXPECT_FALSE(!job.results[0].empty());
  EXPECT_TRUE(!job.results[1].empty());
  EXPECT_EQ(std::get<RequestFailed>(Ask(GetJob{JobId(77)})).code, "not_found");
}

TEST_F(SqliteStoreTest, AStreamIsReadInOrderFromAnyPlace) {
  PutAnything();
  auto reader = store->OpenReader();
  ASSERT_TRUE(reader);
  const auto entries = (*reader)->Read(RunId(1), 1, 10);
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ(entries->at(0).publish_seq, 1u);
  EXPECT_EQ(entries->at(1).publish_seq, 2u);
  EXPECT_EQ((*reader)->Read(RunId(1), 0, 2)->size(), 2u);
  EXPECT_TRUE((*reader)->Read(RunId(9), 0, 2)->empty());
}

TEST_F(SqliteStoreTest, ManyBatchesShareATransactionAndAllBecomeDurable) {
  PutAnything();
  for (uint64_t id = 10; id < 400; ++id)
    Put({JobAdded{JobId(id), RolloutPlan{RunId(1), GroupId(id), TaskId("small/add"), 2, 2}}});
  RestartAgreesWithTheModel();
}

}  // namespace
}  // namespace warpsmith
