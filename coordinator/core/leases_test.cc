#include "coordinator/core/leases.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using std::chrono::seconds;

class LeasesTest : public testing::Test {
 protected:
  TimePoint now{};
  LeaseTable leases{seconds(10), seconds(25)};
  const WorkerId anna{"anna"};
  const WorkerId bert{"bert"};
  const JobId job{1};
  const Fence fence{1, 1};
};

TEST_F(LeasesTest, AGrantThatIsNotSentYetDoesNotExpire) {
  leases.Grant(job, fence, anna, 0);
  EXPECT_FALSE(leases.NextDeadline().has_value());
  leases.Begin(job, fence, now);
  EXPECT_EQ(leases.NextDeadline(), now + seconds(10));
}

TEST_F(LeasesTest, ProgressRenewsUpToTheTotalDeadline) {
  leases.Grant(job, fence, anna, 0);
  leases.Begin(job, fence, now);
  EXPECT_TRUE(leases.Renew(job, fence, anna, now + seconds(8)));
  EXPECT_TRUE(leases.Expired(now + seconds(17)).empty());
  EXPECT_TRUE(leases.Renew(job, fence, anna, now + seconds(17)));
  EXPECT_EQ(leases.Expired(now + seconds(25)).size(), 1u);  // not 27: the total deadline
}

TEST_F(LeasesTest, OnlyItsWorkerWithItsFenceRenews) {
  leases.Grant(job, fence, anna, 0);
  leases.Begin(job, fence, now);
  EXPECT_FALSE(leases.Renew(job, fence, bert, now + seconds(5)));
  EXPECT_FALSE(leases.Renew(job, {1, 2}, anna, now + seconds(5)));
  EXPECT_FALSE(leases.Renew(job, {0, 1}, anna, now + seconds(5)));
  EXPECT_FALSE(leases.Renew(JobId(2), fence, anna, now + seconds(5)));
  EXPECT_EQ(leases.Expired(now + seconds(10)).size(), 1u);
}

TEST_F(LeasesTest, AnOlderGrantsClockDoesNotStartANewerOnes) {
  leases.Grant(job, fence, anna, 0);
  leases.Release(job);
  leases.Grant(job, {1, 2}, bert, 0);
  leases.Begin(job, fence, now);
  EXPECT_FALSE(leases.NextDeadline().has_value());
}

TEST_F(LeasesTest, UnconfirmedLeasesExpireAfterOneLeaseTimeAndBelongToNobody) {
  leases.Unconfirmed(job, fence, now);
  EXPECT_FALSE(leases.Find(job)->confirmed());
  EXPECT_TRUE(leases.Of(WorkerId("")).empty());
  EXPECT_EQ(leases.Expired(now + seconds(10)).size(), 1u);
}

TEST_F(LeasesTest, CountsByWorkerAndLane) {
  leases.Grant(JobId(1), fence, anna, 0);
  leases.Grant(JobId(2), fence, anna, 1);
  leases.Grant(JobId(3), fence, anna, 1);
  leases.Grant(JobId(4), fence, bert, 0);
  EXPECT_EQ(leases.Count(anna), 3u);
  EXPECT_EQ(leases.Load(anna), (std::map<int32_t, size_t>{{0, 1}, {1, 2}}));
  leases.Release(JobId(3));
  EXPECT_EQ(leases.Count(anna), 2u);
}

}  // namespace
}  // namespace warpsmith
