#include "learner/shell/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "common/runtime/files.h"
#include "common/runtime/sha256.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CheckpointsTest : public testing::Test {
 protected:
  CheckpointFolder Open() { return *CheckpointFolder::Open(folder_.path() / "run-1"); }
  static Checkpoint Of(uint64_t step) {
    return {.run = RunId(1),
            .version = {3, step},
            .parent = {3, step - 1},
            .ancestors = {{1, 4}, {2, 5}},
            .watermark = {10 * step, {10 * step + 2, 10 * step + 5}},
            .spec_digest = "abc"};
  }
  static Status Write(CheckpointFolder& folder, uint64_t step) {
    const std::string weights = "weights " + std::to_string(step);
    return folder.Write(
        Of(step), [&](const std::string& path) { return WriteFileAtomically(path, weights); },
        CheckpointDurable{.run = RunId(1), .version = {3, step}, .consumed = {{step, {}}}});
  }
  fs::path Path(const std::string& name) { return folder_.path() / "run-1" / name; }

  TempDirectory folder_ = *TempDirectory::Make("checkpoints-test");
};

TEST_F(CheckpointsTest, AnEmptyFolderHasNothingToGoOnFrom) {
  EXPECT_FALSE(Open().newest());
  EXPECT_THAT(CheckpointFolder::OpenRuns(folder_.path()), SizeIs(1));
  EXPECT_THAT(CheckpointFolder::OpenRuns(folder_.path() / "none"), IsEmpty());
}

TEST_F(CheckpointsTest, WhatIsWrittenIsFoundByTheNextProcess) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  ASSERT_TRUE(Write(folder, 7));
  const auto found = Open().newest();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->run, RunId(1));
  EXPECT_EQ(found->version, (PolicyVersion{3, 7}));
  EXPECT_EQ(found->parent, (PolicyVersion{3, 6}));
  EXPECT_THAT(found->ancestors, ElementsAre(PolicyVersion{1, 4}, PolicyVersion{2, 5}));
  EXPECT_EQ(found->watermark, (TrainingWatermark{70, {72, 75}}));
  EXPECT_EQ(found->spec_digest, "abc");
  EXPECT_EQ(found->sha256, Sha256Hex("weights 7"));
  EXPECT_EQ(found->size_bytes, 9u);
}

TEST_F(CheckpointsTest, ASaveThatFailsLeavesTheOneBefore) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  const auto failing = [](const std::string& path) -> Status {
    std::ofstream(path) << "half";
    return Fail(ErrorCode::kExhausted, "disk full");
  };
  EXPECT_EQ(folder.Write(Of(7), failing, std::nullopt).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(folder.newest()->version.step, 6u);
  EXPECT_FALSE(fs::exists(Path("3.7.safetensors.tmp"))) << "its room is given back";
  EXPECT_EQ(Open().newest()->version.step, 6u);
}

// A kill at any byte. What a process leaves is a prefix of what it writes, file by file.
TEST_F(CheckpointsTest, WhateverACrashLeavesOfTheNewestTheOneBeforeLoads) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  ASSERT_TRUE(Write(folder, 7));
  const std::string manifest = *ReadFile(Path("3.7.json"));
  const std::string weights = *ReadFile(Path("3.7.safetensors"));
  for (size_t length = 0; length + 2 < manifest.size(); length += 7) {
    ASSERT_TRUE(WriteFileAtomically(Path("3.7.json"), manifest.substr(0, length)));
    ASSERT_TRUE(WriteFileAtomically(Path("3.7.safetensors"), weights));
    auto again = Open();
    ASSERT_TRUE(again.newest()) << length;
    EXPECT_EQ(again.newest()->version.step, 6u) << length;
    EXPECT_THAT(again.broken(), SizeIs(1));
  }
  for (size_t length = 0; length < weights.size(); ++length) {
    ASSERT_TRUE(WriteFileAtomically(Path("3.7.json"), manifest));
    ASSERT_TRUE(WriteFileAtomically(Path("3.7.safetensors"), weights.substr(0, length)));
    EXPECT_EQ(Open().newest()->version.step, 6u) << length;
  }
  std::ofstream(Path("3.8.safetensors.tmp")) << "left over";
  EXPECT_EQ(Open().newest()->version.step, 6u);
  EXPECT_FALSE(fs::exists(Path("3.8.safetensors.tmp")));
}

// The files come one after another, the manifest last.
TEST_F(CheckpointsTest, ACrashBetweenTwoFilesLeavesNoCheckpointNothingToTellAndNoWaste) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  ASSERT_TRUE(Write(folder, 7));
  ASSERT_TRUE(fs::remove(Path("3.7.json")));
  {
    auto after_the_report = Open();
    EXPECT_EQ(after_the_report.newest()->version.step, 6u);
    EXPECT_THAT(after_the_report.broken(), IsEmpty());
    ASSERT_THAT(after_the_report.Unacknowledged(), SizeIs(1));
    EXPECT_EQ(after_the_report.Unacknowledged()[0].version.step, 6u);
    EXPECT_FALSE(fs::exists(Path("3.7.safetensors")));
    EXPECT_FALSE(fs::exists(Path("3.7.report")));
    ASSERT_TRUE(Write(after_the_report, 7)) << "made again";
  }
  ASSERT_TRUE(fs::remove(Path("3.7.json")));
  ASSERT_TRUE(fs::remove(Path("3.7.report")));
  auto after_the_weights = Open();
  EXPECT_EQ(after_the_weights.newest()->version.step, 6u);
  EXPECT_FALSE(fs::exists(Path("3.7.safetensors")));
  EXPECT_EQ(*ReadFile(after_the_weights.WeightsPath({3, 6})), "weights 6");
}

TEST_F(CheckpointsTest, ReportsWaitForTheirAcknowledgementThroughPruningAndRestarts) {
  auto folder = Open();
  for (uint64_t step = 1; step <= 5; ++step) ASSERT_TRUE(Write(folder, step));
  folder.Acknowledged({3, 2});
  folder.Acknowledged({3, 4});
  folder.Prune(2);
  EXPECT_FALSE(fs::exists(Path("3.3.safetensors")));
  EXPECT_TRUE(fs::exists(Path("3.4.safetensors")));
  std::vector<uint64_t> steps;
  for (const auto& report : Open().Unacknowledged()) steps.push_back(report.version.step);
  EXPECT_THAT(steps, ElementsAre(1, 3, 5));
  folder.Acknowledged({3, 1});
  folder.Prune(2);
  EXPECT_FALSE(fs::exists(Path("3.1.json")));
}

TEST_F(CheckpointsTest, AForkHasTheSameWeightsAndNothingToTell) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  ASSERT_TRUE(folder.Fork({4, 6}, {{3, 6}}));
  auto again = Open();
  EXPECT_EQ(again.newest()->version, (PolicyVersion{4, 6}));
  EXPECT_EQ(again.newest()->parent, (PolicyVersion{3, 6}));
  EXPECT_EQ(again.newest()->watermark, Of(6).watermark);
  EXPECT_EQ(*ReadFile(again.WeightsPath({4, 6})), "weights 6");
  EXPECT_THAT(again.Unacknowledged(), SizeIs(1)) << "of the step itself";
}

TEST_F(CheckpointsTest, AFinishedRunIsNotGoneOnWith) {
  auto folder = Open();
  ASSERT_TRUE(Write(folder, 6));
  ASSERT_TRUE(folder.MarkFinished());
  EXPECT_THAT(CheckpointFolder::OpenRuns(folder_.path()), IsEmpty());
  ASSERT_TRUE(Open().SetAside());
  EXPECT_FALSE(Open().newest());
  EXPECT_TRUE(fs::exists(folder_.path() / "run-1.old-1" / "3.6.json"));
}

}  // namespace
}  // namespace warpsmith
