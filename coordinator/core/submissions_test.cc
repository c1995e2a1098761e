#include "coordinator/core/submissions.h"

#include <gmock/gmock.h>

#include <cmath>

#include "coordinator/core/testing.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

std::string WhyNot(const RunSpec& spec) {
  const Status status = CheckSubmission(SubmitRun{"key", spec});
  return status ? "" : status.error().message;
}

TEST(Submissions, AGoodOneIsAccepted) {
  EXPECT_EQ(WhyNot(RandomSpec()), "");
  EXPECT_EQ(WhyNot(GrammarSpec()), "");
}

TEST(Submissions, WhatCannotRunIsRefusedWithTheFieldsName) {
  RunSpec spec = RandomSpec();
  spec.budget_evaluations = 0;
  EXPECT_THAT(WhyNot(spec), HasSubstr("budget.evaluations"));
  spec = RandomSpec();
  spec.algorithm.turns = 0;
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.turns"));
  spec = GrammarSpec();
  spec.algorithm.epochs = 2'000'000'000;
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.epochs"));
  spec = GrammarSpec();
  spec.algorithm.clip_low = std::nan("");
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.clip_low"));
  spec = GrammarSpec();
  spec.algorithm.advantage = "grpo";
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.advantage"));
  spec = GrammarSpec();
  spec.policy = "decoder";
  EXPECT_THAT(WhyNot(spec), HasSubstr("policy.kind"));
  spec = RandomSpec();
  spec.device = "tpu";
  EXPECT_THAT(WhyNot(spec), HasSubstr("tpu"));
  spec = RandomSpec();
  spec.suites[0].tasks.push_back(spec.suites[0].tasks[0]);
  EXPECT_THAT(WhyNot(spec), HasSubstr("small/copy comes twice"));
  spec = RandomSpec();
  for (Task& task : spec.suites[0].tasks) task.cuda_cases.clear();
  EXPECT_EQ(WhyNot(spec), "");
  spec.device = "cuda";
  EXPECT_THAT(WhyNot(spec), HasSubstr("no task has a train case"));
}

TEST(Submissions, AGroupThatNeverFitsItsAdmissionCapacityIsRefused) {
  RunSpec spec = GrammarSpec();
  spec.algorithm.group = 17;
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.group"));
  spec.algorithm.group = 16;
  EXPECT_EQ(WhyNot(spec), "");
}

TEST(Submissions, AGroupOfOneTeachesNothing) {
  RunSpec spec = GrammarSpec();
  spec.algorithm.group = 1;
  EXPECT_THAT(WhyNot(spec), HasSubstr("algorithm.group"));
  spec = RandomSpec();
  spec.algorithm.group = 1;
  EXPECT_EQ(WhyNot(spec), "");
}

TEST(Submissions, EvaluationsNeedCandidatesAndAKey) {
  SubmitEvaluation submission{"key", {}, "auto"};
  EXPECT_FALSE(CheckSubmission(submission));
  submission.job.candidates = {"a"};
  submission.job.task = SmallSuite().tasks[0];
  EXPECT_TRUE(CheckSubmission(submission));
  submission.key = "";
  EXPECT_FALSE(CheckSubmission(submission));
}

TEST(Submissions, AnEvaluationNeedsACaseOnItsDevice) {
  SubmitEvaluation submission{"key", {}, "cuda"};
  submission.job.candidates = {"a"};
  submission.job.task = SmallSuite().tasks[0];
  submission.job.task.cuda_cases.clear();
  const Status refused = CheckSubmission(submission);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("no case for device cuda"));
  submission.device = "auto";
  EXPECT_TRUE(CheckSubmission(submission));
  submission.job.task.host_cases.clear();
  EXPECT_FALSE(CheckSubmission(submission));
}

TEST(Submissions, AKeyNamesOneRunForEver) {
  Submissions submissions;
  EXPECT_FALSE(submissions.FindRun("k").has_value());
  submissions.Remember("k", RunId(4));
  EXPECT_EQ(submissions.FindRun("k"), RunId(4));
  EXPECT_FALSE(submissions.FindJob("k").has_value());
}

}  // namespace
}  // namespace warpsmith
