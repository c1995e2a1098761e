#include "worker/oracle/runner_link.h"

#include <cmath>
#include <utility>

#include "common/model/outcome.h"
#include "common/wire/known.h"

namespace warpsmith {
namespace {

// Outcomes that a runner is in a position to know.
bool MayReport(const Outcome& outcome) {
  return std::holds_alternative<LaunchError>(outcome) ||
         std::holds_alternative<DeviceFault>(outcome) ||
         std::holds_alternative<ResourceError>(outcome) ||
         std::holds_alternative<Rejected>(outcome) || IsInfrastructure(outcome);
}

// Outcomes after which the runner is as good as before.
bool Harmless(const Outcome& outcome) {
  return std::holds_alternative<LaunchError>(outcome) ||
         std::holds_alternative<ResourceError>(outcome) ||
         std::holds_alternative<Rejected>(outcome);
}

}  // namespace

RunnerLink::RunnerLink(Notify notify, Next next, RunnerLinkOptions options)
    : notify_(std::move(notify)), next_(std::move(next)), options_(options) {}

void RunnerLink::Begin(uint64_t evaluation) {
  evaluation_ = evaluation;
  output_.clear();
}

void RunnerLink::Keep(const std::string& output) {
  if (output_.size() >= options_.output_cap) return;
  output_ += output.substr(0, options_.output_cap - output_.size());
  if (output_.size() >= options_.output_cap) output_ += "\n[output cut]\n";
}

void RunnerLink::Discard(const std::string& why) {
  if (!runner_) return;
  const uint64_t id = runner_->id;
  runner_.reset();
  // A supervisor that cannot hear it is gone, and the runner with it.
  (void)notify_(DiscardRunner{id, why});
}

std::optional<Outcome> RunnerLink::Attach() {
  if (runner_) return std::nullopt;
  auto next = next_();
  if (!next) return Infrastructure{InfrastructureKind::kWorkerLost, next.error().message};
  runner_ = std::move(*next);
  const auto frame = runner_->socket.Receive(options_.ready);
  const auto first = frame ? DecodeKnown<FromRunner>(frame->bytes)
                           : Result<FromRunner>(tl::unexpected<Error>(frame.error()));
  if (first && std::holds_alternative<RunnerReady>(*first)) return std::nullopt;
  const std::string why = first ? "it did not begin with RunnerReady" : first.error().message;
  Discard("never ready: " + why);
  if (first)
    if (const auto* failed = std::get_if<Failed>(&*first))
      if (const auto* infrastructure = std::get_if<Infrastructure>(&failed->outcome))
        return *infrastructure;
  return Infrastructure{InfrastructureKind::kDriver, "a runner did not come up: " + why};
}

Outcome RunnerLink::Nonsense(const std::string& what) {
  Discard("nonsense: " + what);
  return DeviceFault{"the runner talks nonsense: " + what};
}

Outcome RunnerLink::Lost(Stage stage, const Error& error, Duration waited, Duration limit) {
  if (error.code == ErrorCode::kCorrupt) return Nonsense(error.message);
  // The supervisor kills at the limit, so an end before it is the runner's own.
  if (error.code == ErrorCode::kTimeout || waited >= limit) {
    Discard(std::string("timeout in stage ") + ToString(stage));
    return Timeout{stage};
  }
  Discard("died: " + error.message);
  return DeviceFault{"the runner died"};
}

std::variant<Done, Outcome> RunnerLink::Checked(Stage stage, const ToRunner& message,
                                                FromRunner answer) {
  if (auto* failed = std::get_if<Failed>(&answer)) {
    Keep(failed->output);
    // Its own watch ended a run; it does not know the stage.
    if (std::holds_alternative<Timeout>(failed->outcome)) {
      Discard("timeout");
      return Timeout{stage};
    }
    if (!MayReport(failed->outcome))
      return Nonsense(std::string("it judges itself ") + OutcomeName(failed->outcome));
    if (!Harmless(failed->outcome)) Discard(OutcomeLabel(failed->outcome));
    return std::move(failed->outcome);
  }
  auto* done = std::get_if<Done>(&answer);
  if (done == nullptr) return Nonsense("it is ready again");
  Keep(done->output);
  const auto* run = std::get_if<RunPlan>(&message);
  const size_t expected = run != nullptr && run->timed ? run->sets.size() : 0;
  if (done->run_us.size() != expected)
    return Nonsense(std::to_string(done->run_us.size()) + " times for " + std::to_string(expected) +
                    " timed runs");
  double sum = 0;
  bool sane = std::isfinite(done->sm_clock_mhz) && done->sm_clock_mhz >= 0;
  for (double us : done->run_us) {
    sane = sane && std::isfinite(us) && us > 0;
    sum += us;
  }
  const double waited_us = std::chrono::duration<double, std::micro>(last_wait_).count();
  if (!sane || sum > waited_us) {
    Discard("impossible times");
    return Violation{ViolationKind::kTimeForged, sane
                                                     ? "its runs took longer than the wait for them"
                                                     : "a time that is not positive and finite"};
  }
  return std::move(*done);
}

std::variant<Done, Outcome> RunnerLink::Call(Stage stage, const ToRunner& message,
                                             std::span<const int> fds, Duration limit) {
  if (auto trouble = Attach()) return std::move(*trouble);
  bool dead = false;
  auto answer = Ask(stage, message, fds, limit, dead);
  if (!dead) return answer;
  if (auto trouble = Attach()) return std::move(*trouble);
  return Ask(stage, message, fds, limit, dead);
}

std::variant<Done, Outcome> RunnerLink::Ask(Stage stage, const ToRunner& message,
                                            std::span<const int> fds, Duration limit, bool& dead) {
  const auto lost_supervisor = [](const Error& error) {
    return Outcome(Infrastructure{InfrastructureKind::kWorkerLost, error.message});
  };
  const TimePoint began = std::chrono::steady_clock::now();
  if (auto told = notify_(StageBegan{evaluation_, stage, runner_->id, limit}); !told)
    return lost_supervisor(told.error());
  const std::string bytes = Encode(message);
  const Status sent = runner_->socket.Send(bytes, fds, limit);
  Result<Frame> frame = sent ? runner_->socket.Receive(limit + options_.grace)
                             : Result<Frame>(tl::unexpected<Error>(sent.error()));
  last_wait_ = std::chrono::steady_clock::now() - began;
  // Never too late: the limit must not run on into the oracle's own work.
  if (auto told = notify_(StageEnded{evaluation_}); !told) return lost_supervisor(told.error());
  // A module that never reached its runner did not end it.
  dead = !sent && sent.error().code == ErrorCode::kUnavailable &&
         std::holds_alternative<LoadModule>(message);
  if (dead) {
    Discard("dead before a module was loaded: " + sent.error().message);
    return Infrastructure{InfrastructureKind::kWorkerLost, "one runner after the other died idle"};
  }
  if (!frame) return Lost(stage, frame.error(), last_wait_, limit);
  if (!frame->fds.empty()) return Nonsense("it sends descriptors");
  auto answer = DecodeKnown<FromRunner>(frame->bytes);
  if (!answer) return Nonsense(answer.error().message);
  return Checked(stage, message, std::move(*answer));
}

}  // namespace warpsmith
