// Answers a supervisor's questions with policies: one for every (run, kind), made when first asked
// for. At most `max_runs` are kept; beyond that the least recently used is forgotten. One whose
// weights were forgotten is not answered for with other weights: the process ends, and its
// supervisor loads weights into the next one. Thread-compatible.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <set>
#include <string>

#include "common/net/frame_socket.h"
#include "policy/core/policy.h"
#include "schema/child.h"

namespace warpsmith {

class PolicyServer {
 public:
  // A policy of a kind; null: there is no such kind here.
  using MakePolicy = std::function<std::unique_ptr<Policy>(const std::string& kind)>;

  static constexpr size_t kMaxRuns = 64;

  explicit PolicyServer(MakePolicy make, size_t max_runs = kMaxRuns)
      : make_(std::move(make)), max_runs_(max_runs) {}

  // What goes wrong with one question is the answer's `problem`. An error: the process must end.
  Result<FromPolicy> Answer(const ToPolicy& question);

  // Answers until the parent is gone, which is not an error.
  Status Serve(FrameSocket& parent);

 private:
  struct Entry {
    RunId run;
    std::string kind;
    std::unique_ptr<Policy> policy;
    bool loaded = false;  // has weights from its learner
  };

  Result<FromPolicy> Act(const ActRequest& request);
  Result<FromPolicy> Load(const LoadWeights& request);
  // Null: no such kind.
  Entry* Find(RunId run, const std::string& kind);

  const MakePolicy make_;
  const size_t max_runs_;
  std::list<Entry> entries_;                           // the most recently used first
  std::set<std::pair<RunId, std::string>> forgotten_;  // with their weights
};

}  // namespace warpsmith
