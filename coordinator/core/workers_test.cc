#include "coordinator/core/workers.h"

#include <gtest/gtest.h>

#include "common/model/device_kind.h"

namespace warpsmith {
namespace {

using std::chrono::seconds;

RegisterWorker Offer(std::vector<DeviceKind> kinds) {
  RegisterWorker offer;
  for (DeviceKind kind : kinds) {
    DeviceFacts facts;
    facts.kind = kind;
    offer.devices.push_back(facts);
  }
  offer.policies = {"random"};
  return offer;
}

class WorkersTest : public testing::Test {
 protected:
  TimePoint now{};
  WorkerTable workers{seconds(6), seconds(30)};
};

TEST_F(WorkersTest, SilenceMakesTorpidThenDead) {
  const Worker& worker = workers.Register(WorkerId("anna"), Offer({DeviceKind::kHost}), now);
  EXPECT_FALSE(workers.torpid(worker, now + seconds(5)));
  EXPECT_TRUE(workers.torpid(worker, now + seconds(6)));
  EXPECT_TRUE(workers.Dead(now + seconds(29)).empty());
  EXPECT_EQ(workers.Dead(now + seconds(30)).size(), 1u);
  EXPECT_EQ(workers.NextDeadline(), now + seconds(30));
}

TEST_F(WorkersTest, RegisteringAgainKeepsWhatIsKnownOfItsWeights) {
  workers.Register(WorkerId("anna"), Offer({DeviceKind::kHost}), now).in_use[RunId(1)] = {1, 4};
  const Worker& again = workers.Register(WorkerId("anna"), Offer({DeviceKind::kHost}), now);
  EXPECT_EQ(again.in_use.at(RunId(1)), (PolicyVersion{1, 4}));
}

TEST_F(WorkersTest, WhatAWorkerUsesItDoesNotRefuse) {
  Worker worker;
  worker.in_use[RunId(1)] = {2, 1};
  worker.refused[RunId(1)] = {RunId(1), {2, 3}, "other families"};
  EXPECT_FALSE(worker.Refuses(RunId(1), {2, 0})) << "any of this incarnation serves";
  EXPECT_TRUE(worker.Refuses(RunId(1), {2, 2}));
  EXPECT_FALSE(worker.Refuses(RunId(1), {2, 4}));
  EXPECT_FALSE(worker.Refuses(RunId(1), {}));
  EXPECT_FALSE(worker.Refuses(RunId(2), {2, 2}));
}

TEST_F(WorkersTest, TheFirstKindThatSomeWorkerHasIsTaken) {
  std::vector<DeviceKind> kinds;
  for (const DeviceTraits& traits : AllDeviceTraits()) kinds.push_back(traits.kind);
  EXPECT_FALSE(workers.FirstKind("random", kinds).has_value());
  workers.Register(WorkerId("a"), Offer({DeviceKind::kSimulated}), now);
  EXPECT_EQ(workers.FirstKind("random", kinds), DeviceKind::kSimulated);
  workers.Register(WorkerId("b"), Offer({DeviceKind::kHost, DeviceKind::kCuda}), now);
  EXPECT_EQ(workers.FirstKind("random", kinds), DeviceKind::kCuda);
  EXPECT_EQ(workers.FirstKind("random", {DeviceKind::kHost}), DeviceKind::kHost);
  EXPECT_FALSE(workers.FirstKind("grammar", kinds).has_value());
}

TEST_F(WorkersTest, TheLaneWithTheFewestLeasesIsTaken) {
  const Worker& worker = workers.Register(
      WorkerId("a"), Offer({DeviceKind::kHost, DeviceKind::kCuda, DeviceKind::kCuda}), now);
  EXPECT_EQ(worker.Device(DeviceKind::kCuda, {{1, 1}}), 2);
  EXPECT_EQ(worker.Device(DeviceKind::kCuda, {{1, 1}, {2, 1}}), 1);
  EXPECT_FALSE(worker.Device(DeviceKind::kSimulated, {}).has_value());
}

}  // namespace
}  // namespace warpsmith
