#include "worker/shell/loop.h"

#include <algorithm>

#include "common/runtime/log.h"
#include "common/wire/codec.h"
#include "schema/coordinator.h"

namespace warpsmith {
namespace {

constexpr Duration kLongestSleep = std::chrono::seconds(1);

class Loop {
 public:
  Loop(WorkerCoreOptions options, const WorkerParts& parts)
      : parts_(parts), core_(std::move(options)) {}

  Exit Run() {
    Step(Started{});
    while (!exit_) {
      std::optional<Envelope> envelope = parts_.transport.Receive(UntilDeadline());
      if (envelope) Hear(*envelope);
      while (std::optional<WorkerEvent> event = parts_.inbox.Next()) Step(*std::move(event));
      if (!draining_ && parts_.stop_requested()) {
        draining_ = true;
        Step(DrainRequested{parts_.drain_grace});
      }
      std::optional<TimePoint> deadline = core_.NextDeadline();
      if (deadline && *deadline <= Now()) Step(TimePassed{});
    }
    return *exit_;
  }

 private:
  static TimePoint Now() { return SystemClock().Now(); }

  Duration UntilDeadline() const {
    std::optional<TimePoint> deadline = core_.NextDeadline();
    if (!deadline) return kLongestSleep;
    return std::clamp(*deadline - Now(), Duration::zero(), kLongestSleep);
  }

  void Hear(const Envelope& envelope) {
    Result<FromCoordinator> message = Decode<FromCoordinator>(envelope.bytes);
    auto* mine = message ? std::get_if<CoordinatorToWorker>(&*message) : nullptr;
    if (mine) {
      Step(Heard{std::move(*mine)});
    } else {
      LogWarn("message_dropped", {{"why", message ? "not for a worker" : message.error().message}});
    }
  }

  void Step(WorkerEvent event) {
    for (WorkerEffect& effect : core_.Step(Now(), std::move(event))) {
      std::visit([&](auto& e) { Do(std::move(e)); }, effect);
    }
  }

  void Do(SendMessage effect) {
    // What cannot be sent now is lost: the core repeats what matters.
    (void)parts_.transport.Send({"", Encode(ToCoordinator(std::move(effect.message)))});
  }
  void Do(Evaluate effect) {
    parts_.evaluator.Submit({.task = std::move(effect.task),
                             .candidate = std::move(effect.candidate),
                             .depth = effect.depth,
                             .device_index = effect.device_index},
                            [&inbox = parts_.inbox, id = effect.id](Evaluation evaluation) {
                              inbox.Tell(Evaluated{id, std::move(evaluation), WallClockMs()});
                            });
  }
  void Do(AskPolicy effect) { parts_.ask_policy(std::move(effect.message)); }
  void Do(PullWeights effect) { parts_.pull_weights(std::move(effect.announcement)); }
  void Do(const LogLine& effect) { Log(effect); }
  void Do(Exit effect) { exit_ = std::move(effect); }

  const WorkerParts& parts_;
  WorkerCore core_;
  bool draining_ = false;
  std::optional<Exit> exit_;
};

}  // namespace

void WorkerInbox::Tell(WorkerEvent event) {
  events_.TryPush(std::move(event));
  transport_.Wake();
}

Exit RunWorker(WorkerCoreOptions options, const WorkerParts& parts) {
  return Loop(std::move(options), parts).Run();
}

}  // namespace warpsmith
