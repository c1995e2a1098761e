// What learners say.
#include <algorithm>

#include "coordinator/core/coordinator.h"

namespace warpsmith {

std::string Coordinator::StreamOf(RunId run) const {
  // A stream of its own for each incarnation: a learner that goes back to an older checkpoint needs
  // trajectories again that its predecessor's stream has dropped for good.
  return "warpsmith:" + cluster_ + ":" + std::to_string(run.value()) + ":" +
         std::to_string(learner_.incarnation());
}

void Coordinator::On(TimePoint now, LearnerSaid& event) {
  using Standing = LearnerSession::Standing;
  const Standing standing = learner_.StandingOf(event.peer);
  if (standing == Standing::kReplaced) {
    Emit(SendLearner{event.peer, Refused{"a newer learner has taken over: stop this one"}});
    return;
  }
  if (auto* registration = std::get_if<RegisterLearner>(&event.message)) {
    OnRegisterLearner(now, event.peer, std::move(*registration));
    return;
  }
  if (standing == Standing::kPending && learner_.Remembers(event.peer)) TakeOver(now, event.peer);
  if (!learner_.registered(event.peer)) {
    Emit(SendLearner{event.peer, Unknown{}});
    return;
  }
  learner_.Heard(now);
  std::visit([&](auto& message) { OnLearner(now, message); }, event.message);
}

void Coordinator::OnLearner(TimePoint, Unrecognized& message) {
  Warn("message_unrecognized",
       {{"learner", learner_.peer()}, {"number", std::to_string(message.number)}});
}

void Coordinator::OnRegisterLearner(TimePoint now, const std::string& peer,
                                    RegisterLearner message) {
  const auto protocol =
      CommonProtocol("learner", message.protocol_version, message.newest_protocol);
  if (!protocol) {
    Warn("learner_refused", {{"peer", peer}, {"why", protocol.error().message}});
    Emit(SendLearner{peer, Refused{protocol.error().message}});
    return;
  }
  if (learner_.StandingOf(peer) == LearnerSession::Standing::kUnknown) {
    const LearnerRegistered registered = learner_.Admit(peer);
    Put(registered);
    Say("learner_registered",
        {{"peer", peer}, {"incarnation", std::to_string(registered.incarnation)}});
  }
  Durably(SendLearner{peer, WelcomeLearner{epoch_, learner_.IncarnationOf(peer),
                                           settings_.heartbeat, settings_.redis, *protocol}});
  for (const LearnerRunState& state : message.runs) {
    const TrainingRun* run = FindRun(state.run);
    if (run == nullptr || !run->live()) Durably(SendLearner{peer, ForgetRun{state.run}});
  }
  if (learner_.StandingOf(peer) == LearnerSession::Standing::kPending) {
    learner_.Remember(peer, std::move(message));
    return;
  }
  // The same process as before: its watermark may be older than what it has reported since
  // (messages can be late), so it moves nothing.
  learner_.Readmit(now);
  TellAllRuns(now);
}

void Coordinator::TakeOver(TimePoint now, const std::string& peer) {
  const RegisterLearner registration = learner_.TakeOver(peer, now);
  Put(LearnerTookOver{learner_.incarnation()});
  Say("learner_took_over",
      {{"peer", peer}, {"incarnation", std::to_string(learner_.incarnation())}});
  for (auto& [id, run] : runs_) {
    if (!run.live() || !run.learns()) continue;
    const auto state = std::find_if(registration.runs.begin(), registration.runs.end(),
                                    [&](const LearnerRunState& s) { return s.run == id; });
    ResumeRun(run, state == registration.runs.end() ? LearnerRunState{id, {}, {}} : *state);
  }
  TellAllRuns(now);
}

void Coordinator::TellAllRuns(TimePoint now) {
  for (auto& [id, run] : runs_) {
    if (!run.live() || !run.learns()) continue;
    OpenStreamOf(run);
    TellLearner(now, run);
  }
}

void Coordinator::ResumeRun(TrainingRun& run, const LearnerRunState& state) {
  const auto resumed = run.ledger.Resume(run.id(), state.watermark, state.version);
  for (const auto& mark : resumed.consumed) Put(mark);
  for (const auto& mark : resumed.undone) Put(mark);
  ForkLine(run, state.version);
  Say("run_resumed", {{"run", std::to_string(run.id().value())},
                      {"version", ToString(state.version)},
                      {"consumed", std::to_string(run.ledger.consumed())},
                      {"undone", std::to_string(resumed.undone.size())}});
}

void Coordinator::ForkLine(TrainingRun& run, const PolicyVersion& from) {
  run.line.Fork(from, learner_.incarnation());
  Put(LineForked{run.id(), from, learner_.incarnation()});
}

void Coordinator::OpenStreamOf(const TrainingRun& run) {
  Durably(OpenStream{run.id(), StreamOf(run.id()), run.ledger.base(), run.ledger.end()});
}

void Coordinator::TellLearner(TimePoint now, TrainingRun& run) {
  if (learner_.peer().empty()) return;
  auto& talk = learner_.Talk(run.id());
  if (talk.told && now - *talk.told < settings_.repeat) return;
  const bool train = !talk.confirmed;
  const bool close = run.state() == RunState::kFinishing;
  if (!train && !close) return;
  talk.told = now;
  if (!learner_.alive(now)) return;
  if (train)
    Durably(SendLearner{learner_.peer(), TrainRun{run.id(), run.spec(), StreamOf(run.id())}});
  if (close) Durably(SendLearner{learner_.peer(), CloseRun{run.id(), run.ledger.end()}});
}

void Coordinator::OnLearner(TimePoint, RegisterLearner&) {}  // OnRegisterLearner took it

void Coordinator::OnLearner(TimePoint, Heartbeat&) {
  Emit(SendLearner{learner_.peer(), HeartbeatReply{epoch_}});
}

void Coordinator::OnLearner(TimePoint now, WeightsAnnouncement& message) {
  TrainingRun* run = FindRun(message.run);
  if (run == nullptr || !run->live()) {
    Emit(SendLearner{learner_.peer(), ForgetRun{message.run}});
    return;
  }
  auto& talk = learner_.Talk(message.run);
  talk.confirmed = true;
  if (message.version.incarnation != learner_.incarnation()) {
    Warn("announcement_refused", {{"run", std::to_string(message.run.value())},
                                  {"version", ToString(message.version)},
                                  {"incarnation", std::to_string(learner_.incarnation())}});
    return;
  }
  if (talk.weights && message.version < talk.weights->version) return;  // late
  const bool newer = !talk.weights || message.version > talk.weights->version;
  talk.weights = message;
  run->line.Advance(message.version);
  for (auto& [id, worker] : workers_.all()) {
    if (newer) worker.announced.erase(message.run);
    AnnounceTo(now, worker, message.run);
  }
}

void Coordinator::OnLearner(TimePoint now, CheckpointDurable& message) {
  // It is said until it is acknowledged, and must not pile up while the store cannot write.
  if (!store_.ok) return;
  const std::string peer = learner_.peer();
  Durably(SendLearner{peer, AckCheckpoint{message.run, message.version}});
  TrainingRun* run = FindRun(message.run);
  if (run == nullptr || !run->live()) Durably(SendLearner{peer, ForgetRun{message.run}});
  if (run == nullptr) return;
  if (run->live()) learner_.Talk(message.run).confirmed = true;
  const int64_t errors = run->ledger.errors();
  const auto marks = run->ledger.Consume(message);
  if (run->ledger.errors() != errors)
    Warn("consumed_twice", {{"run", std::to_string(message.run.value())},
                            {"version", ToString(message.version)},
                            {"places", std::to_string(run->ledger.errors() - errors)}});
  run->line.Advance(message.version);
  const RunId id = message.run;
  const uint64_t below = std::min(message.watermark.below, run->ledger.base());
  Put(CheckpointRecorded{std::move(message)});
  for (const auto& mark : marks) Put(mark);
  Durably(TrimStream{id, below});
  SettleRun(now, *run);
}

void Coordinator::OnLearner(TimePoint now, RunTrained& message) {
  TrainingRun* run = FindRun(message.run);
  if (run == nullptr || !run->live()) {
    Durably(SendLearner{learner_.peer(), ForgetRun{message.run}});
    return;
  }
  auto& talk = learner_.Talk(message.run);
  talk.confirmed = true;
  if (run->state() != RunState::kFinishing) return;  // of a close that a restart has forgotten
  if (!talk.trained) talk.trained = now;
  SettleRun(now, *run);
}

void Coordinator::OnLearner(TimePoint now, RunRefused& message) {
  TrainingRun* run = FindRun(message.run);
  if (run == nullptr || !run->live()) {
    Durably(SendLearner{learner_.peer(), ForgetRun{message.run}});
    return;
  }
  AbandonRun(now, *run, RunState::kFailed, "the learner cannot train it: " + message.why);
}

}  // namespace warpsmith
