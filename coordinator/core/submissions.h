// What clients submit: checked before it costs anything, and remembered by the client's key so that
// a repeated submission is the same run or job.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "schema/client.h"

namespace warpsmith {

// kInvalidInput names the field and what to write instead.
Status CheckSubmission(const SubmitRun& submission);
Status CheckSubmission(const SubmitEvaluation& submission);

// Pure; not shared among threads.
class Submissions {
 public:
  void Remember(const std::string& key, RunId run) { runs_[key] = run; }
  void Remember(const std::string& key, JobId job) { jobs_[key] = job; }
  std::optional<RunId> FindRun(const std::string& key) const;
  std::optional<JobId> FindJob(const std::string& key) const;

 private:
  std::map<std::string, RunId> runs_;
  std::map<std::string, JobId> jobs_;
};

}  // namespace warpsmith
