// The one learner that counts: the newest process that registered and then spoke. It has a durable
// incarnation number, and every older process is refused from then on.
//
// Registering is not enough, because a registration can arrive long after its process has died (a
// coordinator that was frozen reads what lay in its sockets, in any order): a process that says
// something after it was welcomed is alive, and what it registered with is true.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "coordinator/core/record.h"
#include "schema/learner.h"

namespace warpsmith {

// Pure; not shared among threads.
class LearnerSession {
 public:
  explicit LearnerSession(Duration dead) : dead_(dead) {}
  // What the store knows of earlier processes. None of them is registered now.
  void Restore(const std::vector<LearnerRegistered>& learners);

  enum class Standing {
    kUnknown,   // never registered
    kPending,   // has a number, and has not spoken since
    kCurrent,   // took over
    kReplaced,  // a newer one took over
  };
  Standing StandingOf(const std::string& peer) const;
  bool registered(const std::string& peer) const { return registered_ && peer == peer_; }

  // A new process; its number is to be made durable before it hears of it.
  LearnerRegistered Admit(const std::string& peer);
  uint64_t IncarnationOf(const std::string& peer) const { return incarnations_.at(peer); }
  // What a pending process registered with.
  void Remember(const std::string& peer, RegisterLearner registration);
  bool Remembers(const std::string& peer) const { return pending_.contains(peer); }
  // A pending process has spoken: it is the current one. Gives what it registered with.
  RegisterLearner TakeOver(const std::string& peer, TimePoint now);
  // The current process registers again.
  void Readmit(TimePoint now);
  void Heard(TimePoint now) { heard_ = now; }

  bool alive(TimePoint now) const { return registered_ && now - heard_ < dead_; }
  const std::string& peer() const { return peer_; }
  uint64_t incarnation() const { return incarnation_; }

  // What is known of the current process and one run.
  struct RunTalk {
    bool confirmed = false;         // it said something about the run: TrainRun has arrived
    std::optional<TimePoint> told;  // when TrainRun or CloseRun was last sent
    std::optional<WeightsAnnouncement> weights;
    std::optional<TimePoint> trained;  // when RunTrained first came
  };
  RunTalk& Talk(RunId run) { return talks_[run]; }
  const RunTalk* FindTalk(RunId run) const;
  void Forget(RunId run) { talks_.erase(run); }

 private:
  Duration dead_;
  std::map<std::string, uint64_t> incarnations_;  // by peer
  uint64_t last_incarnation_ = 0;
  std::map<std::string, RegisterLearner> pending_;
  std::string peer_;
  uint64_t incarnation_ = 0;
  bool registered_ = false;
  TimePoint heard_{};
  std::map<RunId, RunTalk> talks_;
};

}  // namespace warpsmith
