#include "common/wire/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "common/wire/budget.h"
#include "common/wire/filled.h"
#include "common/wire/known.h"
#include "schema/child.h"
#include "schema/coordinator.h"

// Counts what is allocated between Start and Peak, so that a test can say what a message became.
namespace {
thread_local size_t live_bytes = 0, peak_bytes = 0;
}  // namespace

void* operator new(size_t size) {
  auto* block = static_cast<size_t*>(std::malloc(size + 2 * sizeof(size_t)));
  if (block == nullptr) throw std::bad_alloc();
  *block = size;
  live_bytes += size;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return block + 2;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<size_t*>(memory) - 2;
  live_bytes -= *block;
  std::free(block);
}
void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace warpsmith {
namespace {

using testing::HasSubstr;

// The most bytes that were alive at once while `what` ran, above those before.
template <typename What>
size_t PeakOf(What what) {
  const size_t before = peak_bytes = live_bytes;
  what();
  return peak_bytes - before;
}
constexpr size_t kPerMessage = 64 * 1024;  // the record itself, an error and its backtrace

template <typename T>
class CodecTest : public testing::Test {};

using Messages =
    testing::Types<ToCoordinator, FromCoordinator, WeightsRequest, WeightsReply, CompileRequest,
                   CompileReply, ToOracle, FromOracle, ToRunner, FromRunner, ToPolicy, FromPolicy,
                   Trajectory, RunSpec, JobBody, Evaluation, CheckpointDurable>;
TYPED_TEST_SUITE(CodecTest, Messages);

TYPED_TEST(CodecTest, WhatIsWrittenIsRead) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto message = Filler(seed).Make<TypeParam>();
    const std::string bytes = Encode(message);
    auto read = Decode<TypeParam>(bytes);
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().message;
    ASSERT_TRUE(*read == message) << "seed " << seed;
    ASSERT_EQ(Encode(*read), bytes) << "the same record gives the same bytes, seed " << seed;
  }
}

std::string Mutated(std::string bytes, Random& random) {
  for (uint64_t flips = 1 + random.Below(8); flips > 0; --flips) {
    if (random.Chance(0.3)) {  // a whole word: a pointer of some sort
      const size_t word = 8 * (1 + random.Below(bytes.size() / 8 - 1));
      const uint64_t pointer = random.Bits64() & (random.Chance(0.5) ? ~uint64_t{0} : 0xff000000ff);
      std::memcpy(bytes.data() + word, &pointer, sizeof pointer);
      continue;
    }
    const size_t at = 8 + random.Below(bytes.size() - 8);
    bytes[at] = random.Chance(0.5) ? static_cast<char>(random.Bits())
                                   : static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
  }
  return bytes;
}

// Bytes of a hostile peer are refused or read as some other message, and nothing else happens.
// 102,000 over all kinds of messages and stored records.
TYPED_TEST(CodecTest, MutatedBytesNeverDoMoreThanFailToDecode) {
  Random random(7);
  int refused = 0;
  std::vector<std::string> whole;
  for (uint64_t seed = 0; seed < 50; ++seed)
    whole.push_back(Encode(Filler(seed).Make<TypeParam>()));
  for (size_t round = 0; round < 6000; ++round) {
    const std::string bytes = Mutated(whole[round % whole.size()], random);
    Result<TypeParam> read;
    const size_t peak = PeakOf([&] { read = Decode<TypeParam>(bytes); });
    ASSERT_LE(peak, Budget::kPerByte * bytes.size() + kPerMessage) << "round " << round;
    if (read) continue;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

ToCoordinator SomeResult() {
  for (uint64_t seed = 0;; ++seed) {
    auto message = Filler(seed).Make<TrajectoryResult>();
    if (!message.trajectory.turns.empty()) return WorkerMessage(message);
  }
}

template <typename T>
ErrorCode Refusal(const std::string& bytes) {
  auto read = Decode<T>(bytes);
  EXPECT_FALSE(read);
  return read ? ErrorCode::kInternal : read.error().code;
}

TEST(Codec, AMessageCutAnywhereIsCorrupt) {
  const std::string bytes = Encode(SomeResult());
  for (size_t length = 0; length < bytes.size(); ++length)
    ASSERT_EQ(Refusal<ToCoordinator>(bytes.substr(0, length)), ErrorCode::kCorrupt) << length;
}

TEST(Codec, BytesAfterTheEndAreCorrupt) {
  EXPECT_EQ(Refusal<ToCoordinator>(Encode(SomeResult()) + std::string(8, '\0')),
            ErrorCode::kCorrupt);
}

TEST(Codec, AnotherMagicKindOrVersionIsCorruptAndSaysWhich) {
  const std::string bytes = Encode(SomeResult());
  EXPECT_EQ(Refusal<FromCoordinator>(bytes), ErrorCode::kCorrupt);
  std::string other = bytes;
  other[0] = 'X';
  EXPECT_EQ(Refusal<ToCoordinator>(other), ErrorCode::kCorrupt);
  other = bytes;
  other[4] = 99;
  auto read = Decode<ToCoordinator>(other);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("format version 99"));
  EXPECT_THAT(read.error().message, HasSubstr("one apart at most"));
}

TEST(Codec, APeerOfAnotherReleaseIsToldFromOneThatTalksNonsense) {
  const std::string bytes = Encode(SomeResult());
  std::string other = bytes;
  other[4] = 99;
  EXPECT_TRUE(IsOfAnotherFormat(other));
  EXPECT_TRUE(IsOfAnotherFormat(other.substr(0, 8)));
  EXPECT_FALSE(IsOfAnotherFormat(bytes));
  EXPECT_FALSE(IsOfAnotherFormat(bytes.substr(0, 7)));
  EXPECT_FALSE(IsOfAnotherFormat("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(IsOfAnotherFormat(""));
}

TEST(Codec, TextOfAnotherProtocolIsCorrupt) {
  EXPECT_EQ(Refusal<ToCoordinator>("GET / HTTP/1.1\r\n\r\n      "), ErrorCode::kCorrupt);
  EXPECT_EQ(Refusal<ToCoordinator>(""), ErrorCode::kCorrupt);
}

TEST(Codec, BytesMayLieAtAnyAddress) {
  const ToCoordinator message = SomeResult();
  const std::string bytes = Encode(message);
  for (size_t shift = 0; shift < 8; ++shift) {
    const std::string shifted = std::string(shift, 'x') + bytes;
    auto read = Decode<ToCoordinator>(std::string_view(shifted).substr(shift));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == message);
  }
}

// Large enough that what they become is not lost in the allowance for one message.
TEST(Codec, LargeMutatedMessagesBecomeAtMostEightTimesTheirSize) {
  Random random(11);
  ClusterStatus cluster;
  JobStatus job;
  Filler filler(3);
  for (int i = 0; i < 300; ++i) {
    cluster.runs.push_back(filler.Make<RunStatus>());
    job.results.emplace_back();
  }
  for (int i = 0; i < 100; ++i) job.results[i].push_back(filler.Make<Evaluation>());
  for (const ClientReply& reply : {ClientReply(cluster), ClientReply(job)}) {
    const std::string whole = Encode(FromCoordinator(ClientAnswer{1, reply}));
    for (int round = 0; round < 300; ++round) {
      const std::string bytes = Mutated(whole, random);
      const size_t peak = PeakOf([&] { (void)Decode<FromCoordinator>(bytes); });
      ASSERT_LE(peak, Budget::kPerByte * bytes.size() + kPerMessage) << "round " << round;
    }
  }
}

// What we write ourselves is never refused for what it becomes, however empty it is.
TEST(Codec, ManyEmptyRecordsOfOurOwnFitTheirBudget) {
  const auto fits = [](const ClientReply& reply) {
    const auto read = Decode<FromCoordinator>(Encode(FromCoordinator(ClientAnswer{1, reply})));
    ASSERT_TRUE(read) << read.error().message;
  };
  ClusterStatus cluster;
  cluster.runs.resize(1000);
  cluster.workers.resize(1000);
  for (WorkerStatus& worker : cluster.workers) worker.devices.resize(3);
  fits(cluster);
  JobStatus job;
  job.results.resize(1000);
  fits(job);
  for (auto& result : job.results) result.resize(1);
  fits(job);
  BestTable best;
  best.rows.resize(1000);
  for (BestRow& row : best.rows) row.outcomes.resize(12);
  fits(best);
  History history;
  history.evaluations.resize(1000);
  history.steps.resize(1000);
  fits(history);
  Trajectory trajectory;
  trajectory.turns.resize(1000);
  for (Turn& turn : trajectory.turns) {
    turn.evaluation.outcome = Correct{.measurements = std::vector<Measurement>(5)};
    turn.evaluation.kernels.resize(16);
    turn.evaluation.stages.resize(8);
  }
  EXPECT_TRUE(Decode<Trajectory>(Encode(trajectory)));
  RunSpec spec;
  spec.suites.resize(3);
  for (Suite& suite : spec.suites) {
    suite.tasks.resize(300);
    for (Task& task : suite.tasks) {
      task.inputs.resize(4);
      task.outputs.resize(4);
      task.scalars.resize(4);
      task.cuda_cases.resize(10);
    }
  }
  EXPECT_TRUE(Decode<RunSpec>(Encode(spec)));
}

// A pointer to a list of 2^29 - 1 elements of no size at all: a few bytes that claim gigabytes.
TEST(Codec, AFewBytesNeverBecomeMuchMemory) {
  std::string bytes = Encode(ToRunner(RunPlan{.sets = {1, 2}}));
  int refused = 0;
  for (size_t word = 8; word + 8 <= bytes.size(); word += 8) {
    const uint64_t void_list = 1 | (uint64_t{0xfffffff8} << 32);
    std::string hostile = bytes;
    std::memcpy(hostile.data() + word, &void_list, 8);
    auto read = Decode<ToRunner>(hostile);
    refused += !read;
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace warpsmith
