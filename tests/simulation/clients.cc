// Researchers of a simulated cluster: they submit, ask again until they are answered, and sometimes
// change their minds.
#include "coordinator/core/testing.h"
#include "tests/simulation/world.h"

namespace warpsmith::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr Duration kAskAgain = seconds(1);

}  // namespace

RunSpec World::DrawSpec() {
  RunSpec spec = random_.Chance(0.7) ? GrammarSpec() : RandomSpec();
  spec.seed = random_.Bits64();
  Algorithm& algorithm = spec.algorithm;
  algorithm.turns = 1 + static_cast<int>(random_.Below(3));
  algorithm.staleness = static_cast<int>(random_.Below(4));
  algorithm.batch_episodes = 2 + static_cast<int>(random_.Below(12));
  const auto most = static_cast<uint64_t>((algorithm.staleness + 1) * algorithm.batch_episodes);
  algorithm.group = 2 + static_cast<int>(random_.Below(std::min<uint64_t>(most - 1, 5)));
  spec.budget_evaluations = 10 + static_cast<int64_t>(random_.Below(250));
  return spec;
}

void World::PlanSubmissions() {
  const size_t count = 1 + random_.Below(4);
  for (size_t i = 0; i < count; ++i) {
    Submission submission;
    submission.key = "run" + std::to_string(i);
    submission.spec = DrawSpec();
    submission.cancel = i > 0 && random_.Chance(0.15);
    submissions_.push_back(std::move(submission));
    clockwork_.After(milliseconds(random_.Below(20'000)), [this, i] { Submit(i); });
  }
  const size_t evaluations = 1 + random_.Below(4);
  for (size_t i = 0; i < evaluations; ++i) {
    EvaluationSubmission evaluation{"evaluation" + std::to_string(i), {}, {}};
    evaluation.body.task = SmallSuite().tasks[0];
    evaluation.body.candidates.assign(1 + random_.Below(8), "candidate");
    evaluations_.push_back(std::move(evaluation));
    clockwork_.After(milliseconds(random_.Below(40'000)), [this, i] { SubmitEvaluationJob(i); });
  }
}

void World::Ask(const std::string& client, ClientRequest request) {
  network_.Carry("client", [this, client, request = std::move(request)] {
    ToCoordinator(ClientAsked{ClientId(client), {1, request}});
  });
}

void World::Submit(size_t index) {
  const Submission& submission = submissions_[index];
  // Now and then also after the answer has come: the key makes it the same run.
  if (submission.run && !random_.Chance(0.2)) return;
  Ask(submission.key, SubmitRun{submission.key, submission.spec});
  clockwork_.After(kAskAgain, [this, index] { Submit(index); });
}

void World::Cancel(size_t index) {
  const Submission& submission = submissions_[index];
  if (submission.cancelled) return;
  Ask(submission.key, CancelRun{*submission.run});
  clockwork_.After(kAskAgain, [this, index] { Cancel(index); });
}

void World::SubmitEvaluationJob(size_t index) {
  const EvaluationSubmission& evaluation = evaluations_[index];
  if (evaluation.job) return;
  Ask(evaluation.key, SubmitEvaluation{evaluation.key, evaluation.body, "auto"});
  clockwork_.After(kAskAgain, [this, index] { SubmitEvaluationJob(index); });
}

void World::Answered(const std::string& client, const ClientReply& reply) {
  if (const auto* job = std::get_if<JobAccepted>(&reply)) {
    for (EvaluationSubmission& evaluation : evaluations_) {
      if (evaluation.key != client) continue;
      if (evaluation.job && *evaluation.job != job->job)
        invariants_.Broken("a key names one job for ever");
      evaluation.job = job->job;
    }
  }
  for (size_t i = 0; i < submissions_.size(); ++i) {
    Submission& submission = submissions_[i];
    if (submission.key != client) continue;
    if (std::holds_alternative<RunStatus>(reply)) submission.cancelled = true;
    const auto* run = std::get_if<RunAccepted>(&reply);
    if (run == nullptr) continue;
    invariants_.Accepted(client, run->run);
    const bool first = !submission.run;
    submission.run = run->run;
    if (first && submission.cancel)
      clockwork_.After(milliseconds(random_.Below(15'000)), [this, i] { Cancel(i); });
  }
}

}  // namespace warpsmith::sim
