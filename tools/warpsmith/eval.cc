// warpsmith eval: judges one candidate, here or by a coordinator.
#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "common/model/run.h"
#include "common/runtime/files.h"
#include "common/runtime/signals.h"
#include "common/suite/suite_file.h"
#include "common/suite/text_file.h"
#include "tools/warpsmith/client.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/json.h"
#include "tools/warpsmith/show.h"
#include "tools/warpsmith/waiting.h"
#include "worker/shell/process_evaluator.h"

namespace warpsmith {
namespace {

// A longer text is read whole only to be rejected, as the contract says.
constexpr size_t kMaxFileBytes = 16 << 20;

Result<Task> FindTask(const Suite& suite, const std::string& name) {
  std::string known;
  for (const auto& task : suite.tasks) {
    if (task.id.value() == name || task.id.value() == suite.name + "/" + name) return task;
    known += (known.empty() ? "" : ", ") + task.id.value().substr(suite.name.size() + 1);
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("suite {} has no task {}; it has {}", suite.name, name, known));
}

Result<Depth> ParseDepth(const std::string& name) {
  for (const auto depth : {Depth::kVerify, Depth::kScreen, Depth::kMeasure, Depth::kConfirm})
    if (name == ToString(depth)) return depth;
  return Fail(ErrorCode::kInvalidInput, "depth is verify, screen, measure or confirm, not " + name);
}

// An evaluation that arrives on another thread, or a signal to stop.
class Arrival {
 public:
  void Put(std::optional<Evaluation> evaluation) {
    const std::scoped_lock lock(mutex_);
    if (!came_) evaluation_ = std::move(evaluation);
    came_ = true;
    arrived_.notify_all();
  }
  std::optional<Evaluation> Wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return came_; });
    return std::move(evaluation_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  bool came_ = false;
  std::optional<Evaluation> evaluation_;
};

Result<Evaluation> JudgeHere(EvaluationOrder order, const std::string& device) {
  StopSignals signals;
  Arrival arrival;  // outlives the evaluator, which may call back until it is gone
  signals.Watch([&] { arrival.Put(std::nullopt); });
  ProcessEvaluatorOptions options;
  options.device = device;
  options.compilers = 1;
  ASSIGN_OR_RETURN(const auto evaluator, ProcessEvaluator::Start(std::move(options)));
  for (const DeviceFacts& facts : evaluator->Devices())
    if (CasesOf(order.task, facts.kind).empty())
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("task {} has no case for device {}: add one under `cases`, or choose "
                              "another --device",
                              order.task.id.value(), ToString(facts.kind)));
  evaluator->Submit(std::move(order), [&](Evaluation e) { arrival.Put(std::move(e)); });
  auto evaluation = arrival.Wait();
  if (!evaluation) return Fail(ErrorCode::kUnavailable, "interrupted before the evaluation ended");
  return std::move(*evaluation);
}

Result<Evaluation> JudgeByCoordinator(EvaluationOrder order, const EvalOptions& options) {
  constexpr Duration kLimit = std::chrono::minutes(30);
  StopSignals signals;
  ASSIGN_OR_RETURN(auto client, Client::Connect(options.coordinator));
  EvaluationJob job{.task = std::move(order.task),
                    .candidates = {std::move(order.candidate)},
                    .depth = order.depth};
  const SubmitEvaluation submission{SubmissionKey("evaluation"), std::move(job), options.device};
  ASSIGN_OR_RETURN(const auto accepted,
                   client.Ask<JobAccepted>(submission, std::chrono::seconds(30)));
  const auto deadline = std::chrono::steady_clock::now() + kLimit;
  std::string problem;
  while (std::chrono::steady_clock::now() < deadline && !signals.requested()) {
    auto status = client.Ask<JobStatus>(GetJob{accepted.job}, std::chrono::minutes(2));
    if (!status) return tl::unexpected(status.error());
    if (!status->results.empty() && !status->results[0].empty())
      return std::move(status->results[0][0]);
    if (status->state == "cancelled" || status->state == "finished")
      return Fail(ErrorCode::kUnavailable,
                  "the job ended without a result (" + status->state + "): " + status->problem);
    if (!status->problem.empty() && status->problem != problem)
      fmt::print(stderr, "waiting: {}\n", status->problem);
    problem = status->problem;
    WaitForStop(signals, std::chrono::milliseconds(200));
  }
  return Fail(ErrorCode::kTimeout, fmt::format("job {} has no result yet; it goes on without this "
                                               "command, and `warpsmith status` shows the cluster",
                                               accepted.job.value()));
}

}  // namespace

Result<int> RunEval(const EvalOptions& options) {
  ASSIGN_OR_RETURN(const Suite suite, LoadSuite(options.suite));
  EvaluationOrder order;
  ASSIGN_OR_RETURN(order.task, FindTask(suite, options.task));
  ASSIGN_OR_RETURN(order.candidate, ReadTextFile(options.file, kMaxFileBytes));
  ASSIGN_OR_RETURN(order.depth, ParseDepth(options.depth));
  auto evaluation = options.coordinator.empty() ? JudgeHere(std::move(order), options.device)
                                                : JudgeByCoordinator(std::move(order), options);
  if (!evaluation) return tl::unexpected(evaluation.error());
  RETURN_IF_ERROR(
      WriteStdout(options.json ? EvaluationJson(*evaluation) + "\n" : ShowEvaluation(*evaluation)));
  return EvaluationStatus(evaluation->outcome);
}

}  // namespace warpsmith
