#include "policy/core/observation.h"

#include <gmock/gmock.h>

namespace warpsmith {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two slots; the second one's last choice goes with the first one's first choice only.
class TwoSlots : public Family {
 public:
  std::string_view name() const override { return "two_slots"; }
  const std::vector<Slot>& slots() const override { return slots_; }
  Status Matches(const Task&) const override { return {}; }
  std::vector<uint8_t> Allowed(const Task&, size_t slot,
                               std::span<const int32_t> earlier) const override {
    if (slot == 0) return {1, 1};
    return {1, 1, static_cast<uint8_t>(earlier[0] == 0)};
  }
  std::string Write(const Task&, DeviceKind, std::span<const int32_t>) const override { return ""; }

 private:
  std::vector<Slot> slots_ = {{"a", {"0", "1"}}, {"b", {"0", "1", "2"}}};
};

Task Softmax() {
  Task task;
  task.inputs = {{.name = "x", .dtype = Dtype::kFloat32, .shape = {"rows", "cols"}}};
  task.reference = "def reference(x):\n    return torch.softmax(x, -1)";
  task.host_cases = {{CaseRole::kEdge, {{"rows", 0}, {"cols", 7}}},
                     {CaseRole::kTrain, {{"rows", 64}, {"cols", 512}}}};
  return task;
}

Turn Ended(Outcome outcome, std::vector<int32_t> ids) {
  Turn turn;
  turn.action.ids = std::move(ids);
  turn.evaluation.outcome = std::move(outcome);
  return turn;
}

TEST(CheckChoices, RefusesWhatAnotherGrammarWrote) {
  const TwoSlots family;
  EXPECT_TRUE(CheckChoices(family, Task{}, std::vector<int32_t>{0, 2}));
  EXPECT_FALSE(CheckChoices(family, Task{}, std::vector<int32_t>{1, 2}));  // masked
  EXPECT_FALSE(CheckChoices(family, Task{}, std::vector<int32_t>{0}));
  EXPECT_FALSE(CheckChoices(family, Task{}, std::vector<int32_t>{0, 3}));
  EXPECT_FALSE(CheckChoices(family, Task{}, std::vector<int32_t>{-1, 0}));
}

TEST(Encode, AFirstTurnHasNothingToLookBackOn) {
  const auto encoded = Encode(Softmax(), DeviceFacts{}, {});
  EXPECT_THAT(encoded.features, SizeIs(kFeatures));
  EXPECT_THAT(encoded.best, IsEmpty());
  EXPECT_THAT(encoded.last, IsEmpty());
}

TEST(Encode, CarriesTheBestCorrectTurnAndTheLast) {
  const std::vector<Turn> turns = {Ended(Correct{.speedup = 1.5}, {1, 0}),
                                   Ended(Correct{.speedup = 3}, {0, 1}),
                                   Ended(WrongOutput{}, {0, 2})};
  const auto encoded = Encode(Softmax(), DeviceFacts{}, turns);
  EXPECT_THAT(encoded.best, ElementsAre(0, 1));
  EXPECT_THAT(encoded.last, ElementsAre(0, 2));
  EXPECT_NE(encoded.features, Encode(Softmax(), DeviceFacts{}, std::span(turns).first(2)).features);
}

TEST(Encode, StaysFiniteAndBoundedForAbsurdFacts) {
  Task task = Softmax();
  task.host_cases[1].dims = {{"rows", INT64_MAX / 4}, {"cols", 1}};
  DeviceFacts device;
  device.l2_bytes = -1;
  const std::vector<Turn> turns = {Ended(Correct{.speedup = 1e300}, {})};
  EXPECT_THAT(Encode(task, device, turns).features,
              Each(::testing::AllOf(::testing::Ge(-4), ::testing::Le(4))));
}

TEST(Encode, TellsDevicesAndOperationsApartButNotNames) {
  Task renamed = Softmax();
  renamed.id = TaskId("elsewhere/other");
  EXPECT_EQ(Encode(Softmax(), DeviceFacts{}, {}).features,
            Encode(renamed, DeviceFacts{}, {}).features);
  Task other = Softmax();
  other.reference = "def reference(x):\n    return torch.log_softmax(x, -1)";
  EXPECT_NE(Encode(Softmax(), DeviceFacts{}, {}).features,
            Encode(other, DeviceFacts{}, {}).features);
  DeviceFacts simulated;
  simulated.kind = DeviceKind::kSimulated;
  EXPECT_NE(Encode(Softmax(), DeviceFacts{}, {}).features,
            Encode(Softmax(), simulated, {}).features);
}

}  // namespace
}  // namespace warpsmith
