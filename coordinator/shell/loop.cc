#include "coordinator/shell/loop.h"

#include <algorithm>

#include "common/runtime/log.h"
#include "common/wire/codec.h"

namespace warpsmith {
namespace {

constexpr Duration kLongestWait = std::chrono::seconds(1);
constexpr Duration kLatestDeadline =
    std::chrono::seconds(1);  // overdue by so much: before messages
constexpr int kMessagesARound = 256;

}  // namespace

CoordinatorLoop::CoordinatorLoop(CoordinatorSettings settings, Snapshot snapshot,
                                 CoordinatorParts parts)
    : parts_(parts), core_(std::move(settings), std::move(snapshot), parts.clock.Now()) {}

void CoordinatorLoop::Run(const std::function<bool()>& stop) {
  while (!stop()) {
    TakeInbox();
    const auto deadline = core_.NextDeadline();
    Duration wait = kLongestWait;
    if (deadline) wait = std::clamp(*deadline - parts_.clock.Now(), Duration{}, kLongestWait);
    bool more = TakeMessage(wait);
    for (int i = 1; more && i < kMessagesARound; ++i) more = TakeMessage(Duration{});
    // After a long sleep of ours, what others said meanwhile comes before what they seem to owe.
    const TimePoint now = parts_.clock.Now();
    if (deadline && *deadline + (more ? kLatestDeadline : Duration{}) <= now) Step(TimePassed{});
  }
}

void CoordinatorLoop::TakeInbox() {
  for (CoordinatorInbox::Item& item : parts_.inbox.Take()) {
    if (auto* event = std::get_if<Event>(&item)) {
      Step(std::move(*event));
    } else {
      Do(std::get<AnswerClient>(item));
    }
  }
}

bool CoordinatorLoop::TakeMessage(Duration wait) {
  auto envelope = parts_.transport.Receive(wait);
  if (!envelope) return false;
  auto message = Decode<ToCoordinator>(envelope->bytes);
  if (!message) {
    ++corrupt_;
    const TimePoint now = parts_.clock.Now();
    if (corrupt_ == 1 || now - corrupt_logged_ >= std::chrono::seconds(1)) {
      LogWarn("message_dropped",
              {{"peer", envelope->peer}, {"why", message.error().message}, {"dropped", corrupt_}});
      corrupt_logged_ = now;
    }
    // It cannot read this, but its codec reads which version we speak, and tells its people.
    if (IsOfAnotherFormat(envelope->bytes))
      (void)Send(envelope->peer, CoordinatorToWorker(Refused{message.error().message}));
    return true;
  }
  std::string& peer = envelope->peer;
  if (auto* worker = std::get_if<WorkerMessage>(&*message)) {
    Step(WorkerSaid{WorkerId(std::move(peer)), std::move(*worker)});
  } else if (auto* learner = std::get_if<LearnerMessage>(&*message)) {
    Step(LearnerSaid{std::move(peer), std::move(*learner)});
  } else if (auto* client = std::get_if<ClientCall>(&*message)) {
    Step(ClientAsked{ClientId(std::move(peer)), std::move(*client)});
  } else {
    LogWarn("message_unrecognized", {{"peer", peer}});
  }
  return true;
}

void CoordinatorLoop::Step(Event event) {
  for (Effect& effect : core_.Step(parts_.clock.Now(), std::move(event)))
    std::visit([&](auto& what) { Do(what); }, effect);
}

void CoordinatorLoop::Do(SendWorker& effect) {
  (void)Send(effect.worker.value(), std::move(effect.message));
}

void CoordinatorLoop::Do(SendLearner& effect) {
  (void)Send(effect.peer, std::move(effect.message));
}

void CoordinatorLoop::Do(AnswerClient& effect) {
  const uint64_t id = effect.answer.id;
  const Status sent = Send(effect.client.value(), std::move(effect.answer));
  // Too large: who asks is not left waiting for an answer that never comes.
  if (!sent && sent.error().code == ErrorCode::kInvalidInput)
    (void)Send(
        effect.client.value(),
        ClientAnswer{id, RequestFailed{ToString(ErrorCode::kExhausted),
                                       "the answer is too large to send: " + sent.error().message +
                                           "; the coordinator's store.sqlite holds it"}});
}

Status CoordinatorLoop::Send(const std::string& peer, const FromCoordinator& message) {
  // A peer that is away misses it: whatever matters is asked for, or sent, again.
  const Status sent = parts_.transport.Send({peer, Encode(message)});
  if (!sent)
    Log(sent.error().code == ErrorCode::kUnavailable ? LogLevel::kDebug : LogLevel::kWarn,
        "send_failed", {{"peer", peer}, {"why", sent.error().message}});
  return sent;
}

void CoordinatorLoop::Do(LogLine& effect) { Log(effect); }

}  // namespace warpsmith
