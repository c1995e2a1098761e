#include "common/runtime/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "common/runtime/sha256.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FilesTest : public testing::Test {
 protected:
  FilesTest() : folder_(*TempDirectory::Make("files-test")) {}
  fs::path Path(const std::string& name) { return folder_.path() / name; }
  size_t Entries() {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  TempDirectory folder_;
};

TEST_F(FilesTest, AMissingFileIsNotFoundAndNamed) {
  auto read = ReadFile(Path("none"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read.error().message, HasSubstr(Path("none").string()));
  EXPECT_FALSE(ReadFile(folder_.path()));
}

TEST_F(FilesTest, AFileOverTheLimitIsNotRead) {
  ASSERT_TRUE(WriteFileAtomically(Path("big"), std::string(100'000, 'x')));
  EXPECT_EQ(ReadFile(Path("big"), 99'999).error().code, ErrorCode::kExhausted);
  EXPECT_EQ(ReadFile(Path("big"), 100'000)->size(), 100'000u);
}

TEST_F(FilesTest, AFolderIsLockedOnceAndFreeWhenItsLockGoes) {
  auto lock = LockDirectory(folder_.path(), "coordinator");
  ASSERT_TRUE(lock) << lock.error().message;
  const auto second = LockDirectory(folder_.path(), "coordinator");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(second.error().message, HasSubstr("another coordinator runs in"));
  lock->Reset();
  EXPECT_TRUE(LockDirectory(folder_.path(), "coordinator"));
}

TEST_F(FilesTest, AFolderThatCannotBeLockedIsNotSaidToBeSomebodyElses) {
  ASSERT_TRUE(WriteFileAtomically(Path("file"), "x"));
  const auto lock = LockDirectory(Path("file"), "worker");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(lock.error().message, HasSubstr("Not a directory"));
}

// A limit on file sizes stands in for a full disk: the write fails in the middle in the same way.
TEST_F(FilesTest, AWriteThatDoesNotFitIsExhaustedAndLeavesTheOldFile) {
  ASSERT_TRUE(WriteFileAtomically(Path("kept"), "before"));
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{10, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  auto status = WriteFileAtomically(Path("kept"), std::string(1000, 'y'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kExhausted);
  EXPECT_EQ(*ReadFile(Path("kept")), "before");
  EXPECT_EQ(Entries(), 1u) << "the temporary is gone";
}

TEST_F(FilesTest, WritingIntoAFolderThatIsAFileFails) {
  ASSERT_TRUE(WriteFileAtomically(Path("file"), "x"));
  EXPECT_FALSE(WriteFileAtomically(Path("file/below"), "y"));
}

TEST_F(FilesTest, AWriteReplacesTheWholeFileAndMakesFolders) {
  const std::string binary("a\0b\n", 4);
  ASSERT_TRUE(WriteFileAtomically(Path("a/b/c"), "a longer text than the next"));
  ASSERT_TRUE(WriteFileAtomically(Path("a/b/c"), binary));
  EXPECT_EQ(*ReadFile(Path("a/b/c")), binary);
}

TEST_F(FilesTest, ACommittedFileTakesItsNameFromTheTemporary) {
  ASSERT_TRUE(WriteFileAtomically(Path("weights.tmp"), "new"));
  ASSERT_TRUE(CommitFile(Path("weights.tmp"), Path("weights")));
  EXPECT_EQ(*ReadFile(Path("weights")), "new");
  EXPECT_EQ(CommitFile(Path("weights.tmp"), Path("weights")).error().code, ErrorCode::kNotFound);
}

TEST_F(FilesTest, ATemporaryFolderGoesWithItsObject) {
  fs::path path;
  {
    TempDirectory folder = *TempDirectory::Make("gone");
    path = folder.path();
    ASSERT_TRUE(WriteFileAtomically(path / "x", "y"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Sha256, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Sha256 digest;
  digest.Update("a");
  digest.Update("bc");
  EXPECT_EQ(digest.Finish(), Sha256Hex("abc"));
}

// What becomes of the standard output while it is this descriptor; -1: closed.
Status WrittenTo(int fd) {
  std::fflush(stdout);
  const UniqueFd kept(dup(STDOUT_FILENO));
  fd < 0 ? close(STDOUT_FILENO) : dup2(fd, STDOUT_FILENO);
  const Status written = WriteStdout("text\n");
  dup2(kept.get(), STDOUT_FILENO);
  std::clearerr(stdout);
  return written;
}

TEST_F(FilesTest, OutputThatNobodyTookIsAnError) {
  const UniqueFd full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Status refused = WrittenTo(full.get());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("standard output"));
  const Status closed = WrittenTo(-1);
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, ErrorCode::kInternal);

  const UniqueFd file(open(Path("out").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  EXPECT_TRUE(WrittenTo(file.get()));
  EXPECT_THAT(*ReadFile(Path("out")), testing::EndsWith("text\n"));
}

}  // namespace
}  // namespace warpsmith
