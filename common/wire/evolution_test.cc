// Records of earlier and later releases than this one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/wire/convert.h"
#include "common/wire/known.h"
#include "common/wire/meaning.h"
#include "common/wire/message.h"
#include "schema/coordinator.codec.h"
#include "schema/outcome.codec.h"
#include "schema/run.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

constexpr uint16_t kEvaluation = 19;  // its number in our header

Evaluation Judged(Outcome outcome) {
  Evaluation evaluation;
  evaluation.task = TaskId("suite/task");
  evaluation.outcome = std::move(outcome);
  evaluation.log = "a log";
  return evaluation;
}

// The outcome of a later release: alternative 42, whose struct holds a word and a text.
std::string OfALaterOutcome() {
  capnp::MallocMessageBuilder builder;
  auto root = builder.initRoot<wire::Evaluation>();
  Write(root, Judged(Rejected{"stands in for it"}));
  const auto layout = capnp::Schema::from<wire::Outcome>().getProto().getStruct();
  capnp::AnyStruct::Builder outcome(root.getOutcome());
  const uint16_t number = 42;
  std::memcpy(outcome.getDataSection().begin() + layout.getDiscriminantOffset() * 2, &number, 2);
  auto content = outcome.getPointerSection()[0].initAsAnyStruct(1, 1);
  content.getDataSection()[0] = 7;
  content.getPointerSection()[0].setAs<capnp::Text>("what a later release says");
  return EncodeFrame(kEvaluation, builder);
}

TEST(Evolution, AnAlternativeOfALaterReleaseIsCarriedAsItCame) {
  const auto read = Decode<Evaluation>(OfALaterOutcome());
  ASSERT_TRUE(read) << read.error().message;
  const auto* unknown = std::get_if<Unrecognized>(&read->outcome);
  ASSERT_NE(unknown, nullptr);
  EXPECT_EQ(unknown->number, 42);
  EXPECT_EQ(read->log, "a log") << "what stands beside it is read";

  const std::string again = Encode(*read);
  EXPECT_THAT(again, HasSubstr("what a later release says"));
  const auto twice = Decode<Evaluation>(again);
  ASSERT_TRUE(twice);
  EXPECT_TRUE(*twice == *read) << "and nothing is lost on the way";
}

TEST(Evolution, AWordOfALaterReleaseIsCarriedAndNamedUnrecognized) {
  const auto read = Decode<Evaluation>(Encode(Judged(Timeout{static_cast<Stage>(99)})));
  ASSERT_TRUE(read);
  const Stage stage = std::get<Timeout>(read->outcome).stage;
  EXPECT_EQ(static_cast<int>(stage), 99);
  EXPECT_FALSE(IsKnown(stage));
  EXPECT_STREQ(ToString(stage), "unrecognized");
}

TEST(Evolution, WhoActsOnARecordIsToldWhatItDoesNotKnow) {
  RolloutJob job;
  EXPECT_TRUE(CheckKnown(job));
  job.task.inputs.resize(2);
  job.task.inputs[1].dtype = static_cast<Dtype>(17);
  const Status known = CheckKnown(JobBody(job));
  ASSERT_FALSE(known);
  EXPECT_THAT(known.error().message, HasSubstr("rollout_job.task.inputs[1].dtype (value 17)"));
  EXPECT_THAT(known.error().message, HasSubstr("bring this program to that release"));
  EXPECT_FALSE(CheckKnown(Judged(Unrecognized{.number = 42})));
}

TEST(Evolution, AChildMustBeOfThisVeryRelease) {
  EXPECT_FALSE(DecodeKnown<Evaluation>(OfALaterOutcome()));
  EXPECT_TRUE(DecodeKnown<Evaluation>(Encode(Judged(Rejected{}))));
}

TEST(Evolution, AnOutcomeThatIsMissingIsNoneAndNeverTheFirstOfThem) {
  capnp::MallocMessageBuilder builder;
  builder.initRoot<wire::Evaluation>().setLog("nothing else");
  const auto read = Decode<Evaluation>(EncodeFrame(kEvaluation, builder));
  ASSERT_TRUE(read);
  EXPECT_TRUE(std::holds_alternative<Unrecognized>(Outcome{}));
  EXPECT_FALSE(std::holds_alternative<Rejected>(read->outcome));
}

// A struct of an earlier release has fewer words than ours.
TEST(Evolution, MembersThatAnEarlierReleaseDidNotHaveAreAsBefore) {
  capnp::MallocMessageBuilder builder;
  auto worker = builder.initRoot<wire::FromCoordinator>().initCoordinatorToWorker();
  capnp::AnyStruct::Builder any(std::move(worker));
  any.getPointerSection()[0].initAsAnyStruct(3, 1).getDataSection()[0] = 9;  // epoch 9
  constexpr uint16_t kFromCoordinator = 2;
  const auto read = Decode<FromCoordinator>(EncodeFrame(kFromCoordinator, builder));
  ASSERT_TRUE(read) << read.error().message;
  const auto& welcome = std::get<WelcomeWorker>(std::get<CoordinatorToWorker>(*read));
  EXPECT_EQ(welcome.epoch, 9u);
  EXPECT_EQ(welcome.protocol, 1u) << "the only one there was";
}

// ---- bounds

// The one thing that a list of empty structs costs its sender is its length.
TEST(Evolution, AListOfEmptyStructsIsRefusedBeforeItBecomesMemory) {
  capnp::MallocMessageBuilder builder;
  auto root = builder.initRoot<wire::Evaluation>();
  capnp::AnyStruct::Builder any(std::move(root));
  any.getPointerSection()[6].setAs<capnp::Text>(std::string(4000, 'x').c_str());  // the log
  any.getPointerSection()[4].initAsListOfAnyStruct(1, 0, 4000);                   // stages
  const auto modest = Decode<Evaluation>(EncodeFrame(kEvaluation, builder));
  EXPECT_TRUE(modest) << modest.error().message << ": a stage takes 16 bytes for 8";
  any.getPointerSection()[5].initAsListOfAnyStruct(0, 0, 3000);  // kernels, of nothing at all
  const auto greedy = Decode<Evaluation>(EncodeFrame(kEvaluation, builder));
  ASSERT_FALSE(greedy);
  EXPECT_EQ(greedy.error().code, ErrorCode::kCorrupt);
}

// ---- meaning

TEST(Evolution, TheMeaningOfARecordIsItsMembersThatAreNotAsInAFreshOne) {
  RunSpec spec;
  spec.name = "first";
  EXPECT_EQ(MeaningText(spec), R"({"name":"first"})");
  spec.algorithm.turns = 8;
  EXPECT_EQ(MeaningText(spec), R"({"name":"first","algorithm":{"turns":8}})");
  RunSpec other = spec;
  EXPECT_EQ(MeaningText(other), MeaningText(spec));
  other.suites.push_back({"suite", {}});
  EXPECT_NE(MeaningText(other), MeaningText(spec));
}

}  // namespace
}  // namespace warpsmith
