// A store that an earlier release left when it was killed: what had ended can be asked for still,
// and what was accepted is there.
#include <gtest/gtest.h>

#include <condition_variable>
#include <nlohmann/json.hpp>

#include "common/runtime/files.h"
#include "common/runtime/subprocess.h"
#include "common/wire/codec.h"
#include "coordinator/shell/sqlite_store.h"
#include "tests/compatibility/golden.h"
#include "tools/warpsmith/json.h"

namespace warpsmith {
namespace {

using Json = nlohmann::json;

constexpr auto kPatience = std::chrono::seconds(60);  // against hanging only

class KilledStore {
 public:
  explicit KilledStore(const std::filesystem::path& release)
      : expected(Json::parse(*ReadFile(release / "expected.json"))),
        directory_(*TempDirectory::Make("compatibility")) {
    SubprocessOptions unpack;
    unpack.argv = {WARPSMITH_PYTHON,
                   "-m",
                   "tarfile",
                   "-e",
                   (release / "up-directory.tar.xz").string(),
                   directory_.path().string()};
    auto child = Subprocess::Start(unpack);
    const auto exit = child ? child->Wait(kPatience) : std::nullopt;
    if (!exit || exit->status != 0) throw std::runtime_error("the archive was not unpacked");
    auto opened = SqliteStore::Open(directory_.path() / "house" / "coordinator", {});
    if (!opened) throw std::runtime_error(opened.error().message);
    store = std::move(*opened);
    auto began = store->BeginEpoch();
    if (!began) throw std::runtime_error(began.error().message);
    store->Start({[](Stored) {}, [](StoreHealth) {},
                  [this](const ClientId&, ClientAnswer answer) {
                    const std::scoped_lock lock(mutex_);
                    answer_ = std::move(answer.reply);
                    came_.notify_all();
                  }});
  }

  ClientReply Ask(ClientRequest request, RunId run = RunId(0)) {
    QueryStore query{ClientId("c"), {1, std::move(request)}, {}, "", ""};
    query.status.run = run;
    std::unique_lock lock(mutex_);
    answer_.reset();
    store->Query(query);
    if (!came_.wait_for(lock, kPatience, [&] { return answer_.has_value(); }))
      throw std::runtime_error("the store does not answer");
    return *answer_;
  }

  const Json expected;

 private:
  TempDirectory directory_;
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<ClientReply> answer_;

 public:
  std::unique_ptr<SqliteStore> store;  // last: it ends before what its threads use
};

// Every key of the expected value; a later release may tell more.
void ExpectSays(const Json& found, const Json& expected, const std::string& where) {
  if (expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      ASSERT_TRUE(found.contains(key)) << where << "." << key << " is not told";
      ExpectSays(found[key], value, where + "." + key);
    }
  } else if (expected.is_array()) {
    ASSERT_EQ(found.size(), expected.size()) << where;
    for (size_t i = 0; i < expected.size(); ++i)
      ExpectSays(found[i], expected[i], where + "[" + std::to_string(i) + "]");
  } else {
    EXPECT_EQ(found, expected) << where;
  }
}

TEST(KilledStores, AnswerForTheEvaluationsThatHadEnded) {
  for (const auto& release : GoldenReleases()) {
    KilledStore killed(release);
    ASSERT_FALSE(killed.expected["jobs"].empty());
    for (const auto& [job, evaluation] : killed.expected["jobs"].items()) {
      SCOPED_TRACE(release.filename().string() + " job " + job);
      const auto reply = killed.Ask(GetJob{JobId(std::stoull(job))});
      const auto* status = std::get_if<JobStatus>(&reply);
      ASSERT_TRUE(status);
      EXPECT_EQ(status->state, "finished");
      ASSERT_EQ(status->results.size(), 1u);
      ASSERT_EQ(status->results[0].size(), 1u);
      ExpectSays(Json::parse(EvaluationJson(status->results[0][0])), evaluation, "evaluation");
    }
  }
}

TEST(KilledStores, TellTheHistoryAndTheBestKernelsOfRunsThatHadEnded) {
  for (const auto& release : GoldenReleases()) {
    KilledStore killed(release);
    ASSERT_FALSE(killed.expected["runs"].empty());
    for (const auto& [number, told] : killed.expected["runs"].items()) {
      SCOPED_TRACE(release.filename().string() + " run " + number);
      const RunId run(std::stoull(number));
      const auto history = killed.Ask(GetHistory{run}, run);
      const auto best = killed.Ask(GetBest{run}, run);
      ASSERT_TRUE(std::holds_alternative<History>(history));
      ASSERT_TRUE(std::holds_alternative<BestTable>(best));
      Json expected = told;
      expected.erase("status");  // the coordinator's; the store is asked for the rest
      ExpectSays(Json::parse(RunJson(std::get<History>(history), std::get<BestTable>(best))),
                 expected, "run");
    }
  }
}

TEST(KilledStores, HoldTheTrajectoriesThatWereToBePublishedAgain) {
  for (const auto& release : GoldenReleases()) {
    KilledStore killed(release);
    const auto& stream = killed.expected["stream"];
    const RunId run(stream["run"].get<uint64_t>());
    const auto reader = killed.store->OpenReader();
    ASSERT_TRUE(reader);
    const auto entries = (*reader)->Read(run, 0, 10000);
    ASSERT_TRUE(entries) << entries.error().message;
    ASSERT_EQ(entries->size(), stream["entries"].get<size_t>());
    for (const auto& entry : *entries) {
      const auto trajectory = Decode<Trajectory>(entry.payload);
      ASSERT_TRUE(trajectory) << trajectory.error().message;
      EXPECT_EQ(trajectory->id.run, run);
      EXPECT_FALSE(trajectory->turns.empty());
    }
  }
}

}  // namespace
}  // namespace warpsmith
