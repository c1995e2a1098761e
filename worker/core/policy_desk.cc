#include "worker/core/policy_desk.h"

#include <utility>

#include "common/base/check.h"

namespace warpsmith {

void PolicyDesk::Asked(OpenAsk ask) {
  CHECK(!open_, "one question to the policy at a time");
  if (ask.job) last_asked_ = *ask.job;
  open_ = std::move(ask);
}

std::optional<OpenAsk> PolicyDesk::TakeAct(uint64_t id) {
  if (!open_ || open_->load || open_->id != id) return std::nullopt;
  return std::exchange(open_, std::nullopt);
}

std::optional<LoadWeights> PolicyDesk::TakeLoad(uint64_t id) {
  if (!open_ || !open_->load || open_->id != id) return std::nullopt;
  return std::exchange(open_, std::nullopt)->load;
}

std::optional<OpenAsk> PolicyDesk::TakeLost() { return std::exchange(open_, std::nullopt); }

void PolicyDesk::Forget(JobId job) {
  if (open_ && open_->job == job) open_->job.reset();
}

}  // namespace warpsmith
