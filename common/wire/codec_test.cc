#include "common/wire/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/wire/child_records.h"
#include "common/wire/coordinator_records.h"
#include "common/wire/filled.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

template <typename T>
class CodecTest : public testing::Test {};

using Messages =
    testing::Types<ToCoordinator, FromCoordinator, WeightsRequest, WeightsReply, CompileRequest,
                   CompileReply, ToOracle, FromOracle, ToRunner, FromRunner, ToPolicy, FromPolicy,
                   Trajectory, RunSpec, JobBody, Evaluation, CheckpointDurable>;
TYPED_TEST_SUITE(CodecTest, Messages);

TYPED_TEST(CodecTest, WhatIsWrittenIsRead) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const auto message = wire_io::Filler(seed).Make<TypeParam>();
    const std::string bytes = Encode(message);
    auto read = Decode<TypeParam>(bytes);
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().message;
    ASSERT_TRUE(*read == message) << "seed " << seed;
    ASSERT_EQ(Encode(*read), bytes) << "the same record gives the same bytes, seed " << seed;
  }
}

// Bytes of a hostile peer are refused or read as some other message, and nothing else happens.
// 20,000 over all kinds of messages.
TYPED_TEST(CodecTest, MutatedBytesNeverDoMoreThanFailToDecode) {
  Random random(7);
  int refused = 0;
  for (int round = 0; round < 1200; ++round) {
    std::string bytes =
        Encode(wire_io::Filler(static_cast<uint64_t>(round % 50)).Make<TypeParam>());
    for (uint64_t flips = 1 + random.Below(8); flips > 0; --flips) {
      const size_t at = 8 + random.Below(bytes.size() - 8);
      bytes[at] = random.Chance(0.5) ? static_cast<char>(random.Bits())
                                     : static_cast<char>(bytes[at] ^ (1 << random.Below(8)));
    }
    auto read = Decode<TypeParam>(bytes);
    if (!read) {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
}

ToCoordinator SomeResult() {
  for (uint64_t seed = 0;; ++seed) {
    auto message = wire_io::Filler(seed).Make<TrajectoryResult>();
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
  EXPECT_THAT(read.error().message, HasSubstr("one version of Warpsmith everywhere"));
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

// What a later release may know and this one does not.
TEST(Codec, AnAlternativeThatIsNotKnownIsCorruptAndNamedAsThat) {
  Evaluation evaluation;
  evaluation.outcome = Rejected{};
  const std::string rejected = Encode(evaluation);
  evaluation.outcome = CompileError{};
  const std::string compile_error = Encode(evaluation);
  // The two differ in the union's number alone.
  size_t at = 0;
  for (size_t i = 0; i < rejected.size(); ++i)
    if (rejected[i] != compile_error[i]) at = i;
  std::string later = rejected;
  later[at] = static_cast<char>(std::variant_size_v<Outcome>);
  const auto read = Decode<Evaluation>(later);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(read.error().message, HasSubstr("not known"));
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

TEST(Codec, EnumsBeyondTheLastAreCorrupt) {
  CompileRequest request{.device_kind = DeviceKind::kSimulated};
  const std::string good = Encode(request);
  request.device_kind = static_cast<DeviceKind>(3);
  EXPECT_TRUE(Decode<CompileRequest>(good));
  EXPECT_EQ(Refusal<CompileRequest>(Encode(request)), ErrorCode::kCorrupt);
}

TEST(Codec, TablesNameEveryMember) {
  using wire_io::FieldsInTable;
  using wire_io::MembersOf;
#define EXPECT_WHOLE(Type) EXPECT_EQ(FieldsInTable<Type>(), MembersOf<Type>()) << #Type
  EXPECT_WHOLE(DeviceFacts);
  EXPECT_WHOLE(Algorithm);
  EXPECT_WHOLE(RunSpec);
  EXPECT_WHOLE(RolloutJob);
  EXPECT_WHOLE(Measurement);
  EXPECT_WHOLE(WrongOutputReport);
  EXPECT_WHOLE(Evaluation);
  EXPECT_WHOLE(Action);
  EXPECT_WHOLE(Turn);
  EXPECT_WHOLE(Trajectory);
  EXPECT_WHOLE(Task);
  EXPECT_WHOLE(OutputSpec);
  EXPECT_WHOLE(KernelInfo);
  EXPECT_WHOLE(StepReport);
  EXPECT_WHOLE(CheckpointDurable);
  EXPECT_WHOLE(RunStatus);
  EXPECT_WHOLE(ClusterStatus);
  EXPECT_WHOLE(WeightsAnnouncement);
  EXPECT_WHOLE(AssignJob);
  EXPECT_WHOLE(ActRequest);
#undef EXPECT_WHOLE
}

}  // namespace
}  // namespace warpsmith
