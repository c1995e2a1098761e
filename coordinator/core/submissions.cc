#include "coordinator/core/submissions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "common/model/device_kind.h"
#include "common/model/known.h"
#include "common/model/run_check.h"
#include "common/model/task.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxKeyBytes = 256;
constexpr size_t kMaxCandidates = 4096;

Status CheckKey(const std::string& key) {
  if (key.empty() || key.size() > kMaxKeyBytes)
    return Fail(ErrorCode::kInvalidInput, "key: give 1 to 256 bytes, unique for the submission");
  return {};
}

Status CheckDevice(const std::string& device) {
  if (device == "auto" || ParseWord<DeviceKind>(device)) return {};
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("device: '{}' is not one of {}", device, fmt::join(DeviceWords(), ", ")));
}

Status CheckRange(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return {};
  return Fail(ErrorCode::kInvalidInput, std::string(field) + ": " + std::to_string(value) +
                                            " is not in " + std::to_string(low) + " to " +
                                            std::to_string(high));
}

bool HasCase(const Task& task, DeviceKind kind) { return !CasesOf(task, kind).empty(); }
bool HasTrainCase(const Task& task, DeviceKind kind) {
  const auto& cases = CasesOf(task, kind);
  return std::any_of(cases.begin(), cases.end(),
                     [](const Case& c) { return c.role == CaseRole::kTrain; });
}

// Whether a task has what is needed on the device that was asked for, or on any.
bool HasFor(const std::string& device, const Task& task, bool (*has)(const Task&, DeviceKind)) {
  if (const auto kind = ParseWord<DeviceKind>(device)) return has(task, *kind);
  const auto all = AllDeviceTraits();
  return std::any_of(all.begin(), all.end(),
                     [&](const DeviceTraits& traits) { return has(task, traits.kind); });
}

Status CheckTasks(const RunSpec& spec) {
  std::set<TaskId> ids;
  for (const Suite& suite : spec.suites)
    for (const Task& task : suite.tasks)
      if (!ids.insert(task.id).second)
        return Fail(ErrorCode::kInvalidInput, "suites: task " + task.id.value() + " comes twice");
  // A run without a device of its own gets one that it has train cases for.
  const auto tasks = AllTasks(spec);
  const bool some = std::any_of(tasks.begin(), tasks.end(), [&](const Task* task) {
    return HasFor(spec.device, *task, HasTrainCase);
  });
  if (!some)
    return Fail(ErrorCode::kInvalidInput,
                "suites: no task has a train case for device " + spec.device);
  return {};
}

}  // namespace

Status CheckSubmission(const SubmitRun& submission) {
  RETURN_IF_ERROR(CheckKey(submission.key));
  RETURN_IF_ERROR(CheckKnown(submission.spec));
  const RunSpec& spec = submission.spec;
  const Algorithm& algorithm = spec.algorithm;
  RETURN_IF_ERROR(CheckDevice(spec.device));
  RETURN_IF_ERROR(CheckRange("budget.evaluations", spec.budget_evaluations, 1, 1'000'000'000));
  RETURN_IF_ERROR(CheckPolicyAndAlgorithm(spec));
  if (Learns(spec))
    RETURN_IF_ERROR(CheckRange("algorithm.group (at most (staleness + 1) * batch_episodes)",
                               algorithm.group, 1,
                               (int64_t{algorithm.staleness} + 1) * algorithm.batch_episodes));
  return CheckTasks(spec);
}

Status CheckSubmission(const SubmitEvaluation& submission) {
  RETURN_IF_ERROR(CheckKey(submission.key));
  RETURN_IF_ERROR(CheckKnown(submission.job));
  RETURN_IF_ERROR(CheckDevice(submission.device));
  RETURN_IF_ERROR(CheckRange("candidates", static_cast<int64_t>(submission.job.candidates.size()),
                             1, kMaxCandidates));
  // Where a task has no case no oracle admits it.
  const Task& task = submission.job.task;
  if (!HasFor(submission.device, task, HasCase))
    return Fail(ErrorCode::kInvalidInput,
                "task: " + task.id.value() + " has no case for device " + submission.device);
  return {};
}

std::optional<RunId> Submissions::FindRun(const std::string& key) const {
  const auto found = runs_.find(key);
  if (found == runs_.end()) return std::nullopt;
  return found->second;
}

std::optional<JobId> Submissions::FindJob(const std::string& key) const {
  const auto found = jobs_.find(key);
  if (found == jobs_.end()) return std::nullopt;
  return found->second;
}

}  // namespace warpsmith
