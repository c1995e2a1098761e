#include "common/model/device_kind.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "common/model/task.h"

namespace warpsmith {
namespace {

using testing::ElementsAre;

constexpr DeviceKind kEvery[] = {DeviceKind::kCuda, DeviceKind::kHost, DeviceKind::kSimulated};

// A new enumerator does not compile here (-Wswitch) until it is listed, here and above.
constexpr bool Listed(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kCuda:
    case DeviceKind::kHost:
    case DeviceKind::kSimulated: return std::find(kEvery, std::end(kEvery), kind) != kEvery + 3;
  }
  return false;
}

TEST(DeviceKinds, EachHasExactlyOneEntry) {
  for (DeviceKind kind : kEvery) {
    ASSERT_TRUE(Listed(kind));
    EXPECT_EQ(TraitsOf(kind).kind, kind);
  }
  EXPECT_EQ(AllDeviceTraits().size(), std::size(kEvery));
}

TEST(DeviceKinds, EveryEntryCanBeSpokenOf) {
  std::set<std::string> names;
  for (const DeviceTraits& traits : AllDeviceTraits()) {
    EXPECT_STRNE(traits.noun, "");
    EXPECT_STRNE(traits.cores_noun, "");
    EXPECT_EQ(ParseWord<DeviceKind>(ToString(traits.kind)), traits.kind);
    EXPECT_TRUE(names.insert(ToString(traits.kind)).second);
  }
}

TEST(DeviceKinds, ARealFigureIsWorthMoreThanAModels) {
  const auto all = AllDeviceTraits();
  EXPECT_EQ(all.front().kind, DeviceKind::kCuda);
  EXPECT_TRUE(std::is_partitioned(all.begin(), all.end(),
                                  [](const DeviceTraits& traits) { return !traits.modelled; }));
}

TEST(DeviceKinds, TakeTheirListOfATasksCases) {
  Task task;
  task.cuda_cases = {{CaseRole::kTrain, {{"rows", 8192}}}};
  task.host_cases = {{CaseRole::kTrain, {{"rows", 64}}}};
  for (const DeviceTraits& traits : AllDeviceTraits())
    EXPECT_EQ(CasesOf(task, traits.kind),
              traits.cases == CaseList::kGpu ? task.cuda_cases : task.host_cases)
        << ToString(traits.kind);
}

TEST(DeviceKinds, ACpusMemoryIsTheHosts) {
  for (const DeviceTraits& traits : AllDeviceTraits()) {
    if (!traits.shares_host_cores) continue;
    EXPECT_EQ(traits.memory, BufferMemory::kHost) << ToString(traits.kind);
    EXPECT_FALSE(traits.modelled) << "a model takes no lane's cores";
  }
}

TEST(DeviceKinds, AreWhatPeopleMayWrite) {
  EXPECT_THAT(DeviceWords(), ElementsAre("auto", "cuda", "host", "simulated"));
  EXPECT_THAT(RealDeviceWords(), ElementsAre("auto", "cuda", "host"));
}

}  // namespace
}  // namespace warpsmith
