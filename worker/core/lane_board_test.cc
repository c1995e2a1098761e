#include "worker/core/lane_board.h"

#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

std::map<JobId, WorkerJob> JobsOf(std::initializer_list<int> ids, int lane = 0) {
  std::map<JobId, WorkerJob> jobs;
  for (int id : ids) {
    WorkerJob& job = jobs[JobId(id)];
    job.id = JobId(id);
    job.device_index = lane;
    job.ready = {0, 1};
  }
  return jobs;
}

TEST(LaneBoard, ServesJobsInTurn) {
  LaneBoard board;
  auto jobs = JobsOf({1, 2, 3});
  std::vector<JobId> served;
  for (uint64_t id = 1; id <= 4; ++id) {
    WorkerJob* job = board.Next(0, jobs);
    ASSERT_NE(job, nullptr);
    served.push_back(job->id);
    board.Started({}, id, {job->id, 0, 0});
  }
  EXPECT_EQ(served, (std::vector{JobId(1), JobId(2), JobId(3), JobId(1)}));
  jobs[JobId(2)].ready.clear();
  EXPECT_EQ(board.Next(0, jobs)->id, JobId(3)) << "who has nothing ready is passed over";
  EXPECT_EQ(board.Next(1, jobs), nullptr) << "another lane's jobs";
  for (auto& [id, job] : jobs) job.ready.clear();
  EXPECT_EQ(board.Next(0, jobs), nullptr);
}

TEST(LaneBoard, ALaneStaysBusyWithWorkWhoseJobIsGone) {
  LaneBoard board;
  board.Started({}, 7, {JobId(1), 4, 0});
  board.Forget(JobId(1));
  EXPECT_FALSE(board.Has(JobId(1)));
  EXPECT_EQ(board.Load(0), 1u);
  const auto answered = board.Answered({}, 7);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->job, std::nullopt);
  EXPECT_EQ(board.Load(0), 0u);
  EXPECT_FALSE(board.Answered({}, 7)) << "answered once";
}

TEST(LaneBoard, MovesWhenItBecomesBusyAndWithEachAnswer) {
  LaneBoard board;
  const TimePoint start{};
  board.Started(start, 1, {JobId(1), 0, 0});
  board.Started(start + 5s, 2, {JobId(1), 1, 0});
  EXPECT_EQ(board.moved(0), start) << "it was busy already";
  board.Answered(start + 7s, 1);
  EXPECT_EQ(board.moved(0), start + 7s);
  board.Answered(start + 8s, 2);
  board.Started(start + 60s, 3, {JobId(1), 2, 0});
  EXPECT_EQ(board.moved(0), start + 60s) << "idle time is no silence";
}

}  // namespace
}  // namespace warpsmith
