// What the policy is being asked: one question at a time, and the jobs in turn. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "schema/child.h"

namespace warpsmith {

struct OpenAsk {
  uint64_t id = 0;
  std::optional<JobId> job;         // whose act it is; nothing for a load, or once the job is gone
  std::vector<size_t> episodes;     // of an act: indices in the job's work
  std::optional<LoadWeights> load;  // nothing: an act
  TimePoint since{};
};

class PolicyDesk {
 public:
  bool busy() const { return open_.has_value(); }
  const std::optional<OpenAsk>& open() const { return open_; }
  // The job whose act was asked for last.
  JobId last_asked() const { return last_asked_; }

  // Not while it is busy.
  void Asked(OpenAsk ask);
  // The question that this answers, which is no longer open. Nothing: the answer is to another one.
  std::optional<OpenAsk> TakeAct(uint64_t id);
  std::optional<LoadWeights> TakeLoad(uint64_t id);
  // Whatever was open is lost with the policy.
  std::optional<OpenAsk> TakeLost();
  // The job is gone; the policy goes on with its act.
  void Forget(JobId job);

 private:
  std::optional<OpenAsk> open_;
  JobId last_asked_;
};

}  // namespace warpsmith
