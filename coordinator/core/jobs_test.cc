#include "coordinator/core/jobs.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using std::chrono::seconds;

RolloutPlan Group(uint64_t run, uint64_t group) {
  return {RunId(run), GroupId(group), TaskId("s/t"), 4, 2};
}

class JobsTest : public testing::Test {
 protected:
  TimePoint now{};
  JobTable jobs;
};

TEST_F(JobsTest, AJobIsAlwaysInExactlyOneCount) {
  Job& a = jobs.Add(Group(1, 0), now);
  Job& b = jobs.Add(Group(1, 1), now);
  Job& c = jobs.Add(Group(1, 2), now);
  jobs.Lease(a);
  jobs.Lease(b);
  jobs.Queue(b, now + seconds(1));
  jobs.Cancel(c);
  EXPECT_TRUE(jobs.Audit());
  EXPECT_EQ(jobs.counts(), (JobCounts{3, 1, 1, 0, 1}));
  jobs.Finish(a);
  EXPECT_EQ(jobs.counts(), (JobCounts{3, 1, 0, 1, 1}));
  jobs.Forget(a.id);
  EXPECT_TRUE(jobs.Audit());
}

TEST_F(JobsTest, AJobInBackOffIsReadyOnlyWhenItsTimeHasCome) {
  Job& job = jobs.Add(Group(1, 0), now);
  jobs.Lease(job);
  jobs.Queue(job, now + seconds(5));
  EXPECT_EQ(jobs.NextDeadline(), now + seconds(5));
  jobs.Ripen(now + seconds(4));
  EXPECT_TRUE(jobs.Ready(JobTable::QueueOf(job)).empty());
  jobs.Ripen(now + seconds(5));
  EXPECT_EQ(jobs.Ready(JobTable::QueueOf(job)).size(), 1u);
}

TEST_F(JobsTest, ACancelledJobInBackOffNeverBecomesReady) {
  Job& job = jobs.Add(Group(1, 0), now);
  jobs.Lease(job);
  jobs.Queue(job, now + seconds(5));
  const JobQueueKey key = JobTable::QueueOf(job);
  jobs.Cancel(job);
  jobs.Ripen(now + seconds(6));
  EXPECT_TRUE(jobs.Ready(key).empty());
  EXPECT_FALSE(jobs.NextDeadline().has_value());
}

TEST_F(JobsTest, EachGrantIsAnotherAttempt) {
  Job& job = jobs.Add(Group(1, 0), now);
  jobs.Lease(job);
  EXPECT_EQ(job.attempt, 1u);
  jobs.Queue(job, now);
  jobs.Ripen(now);
  jobs.Lease(job);
  EXPECT_EQ(job.attempt, 2u);
}

TEST_F(JobsTest, AGroupIsFoundByItsRunAndNumberUntilItIsForgotten) {
  Job& job = jobs.Add(Group(3, 7), now);
  EXPECT_EQ(jobs.FindGroup(RunId(3), GroupId(7)), &job);
  EXPECT_EQ(jobs.FindGroup(RunId(3), GroupId(8)), nullptr);
  const JobId id = job.id;
  jobs.Finish(job);
  jobs.Forget(id);
  EXPECT_EQ(jobs.FindGroup(RunId(3), GroupId(7)), nullptr);
}

TEST_F(JobsTest, ARestartedJobMissesOnlyWhatHasNoResult) {
  JobSnapshot snapshot;
  snapshot.added = {JobId(9), Group(1, 4)};
  snapshot.changed.state = JobState::kLeased;
  snapshot.changed.attempt = 3;
  snapshot.done = {0, 2};
  JobTable restarted(9, JobCounts{9, 0, 1, 8, 0});
  const Job& job = restarted.Restore(snapshot, now);
  EXPECT_EQ(job.missing, 2u);
  EXPECT_TRUE(job.done[2]);
  EXPECT_FALSE(job.done[1]);
  EXPECT_TRUE(restarted.Audit());
  EXPECT_EQ(restarted.Add(Group(1, 5), now).id, JobId(10));
}

TEST_F(JobsTest, AGroupsDeadlineEndsWithIt) {
  Job& job = jobs.Add(Group(1, 0), now);
  jobs.SetDeadline(job, now + seconds(10));
  EXPECT_TRUE(jobs.Overdue(now + seconds(9)).empty());
  EXPECT_EQ(jobs.Overdue(now + seconds(10)).size(), 1u);
  jobs.Finish(job);
  EXPECT_TRUE(jobs.Overdue(now + seconds(10)).empty());
}

}  // namespace
}  // namespace warpsmith
