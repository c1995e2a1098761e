#include "learner/shell/learner.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/runtime/log.h"
#include "common/wire/codec.h"
#include "learner/shell/publisher.h"

namespace warpsmith {
namespace {

constexpr Duration kRegisterAgain = std::chrono::seconds(1);
constexpr Duration kTryAgain = std::chrono::seconds(5);  // after a full disk
// A queue that is away may take its whole time limit to say so, and meanwhile nothing is said to
// the coordinator: it is asked once in so long, whatever the number of runs.
constexpr Duration kQueueAgain = std::chrono::seconds(1);

}  // namespace

struct Learner::Run {
  // kUnopened and kUnsaved: failed in a way that may pass, tried again at next_attempt.
  enum class State { kOpening, kUnopened, kReady, kTraining, kUnsaved, kFailed };
  struct Report {
    CheckpointDurable checkpoint;
    TimePoint next{};
  };

  TrainRun order;
  uint64_t number = 0;  // of this opening; what is left of an earlier one is ignored
  State state = State::kOpening;
  std::shared_ptr<RunTrainer> trainer;
  std::optional<RunIntake> intake;
  std::optional<uint64_t> end_seq;
  std::optional<WeightsAnnouncement> announcement;
  TimePoint next_announcement{};
  TimePoint next_trained{};
  std::string refusal;  // of a run that has failed
  TimePoint next_refusal{};
  std::map<PolicyVersion, Report> reports;  // not acknowledged
  TrainingWatermark durable_watermark;
  bool stream_ok = true;
  TimePoint next_read{};               // while it is not
  std::shared_ptr<const StepJob> job;  // until its checkpoint is durable
  TimePoint next_attempt{};
};

Learner::Learner(LearnerOptions options, Transport& transport, const Clock& clock,
                 WeightsTable& weights, MakeQueue make_queue, MakeTrainer make_trainer,
                 Executor executor)
    : options_(std::move(options)),
      transport_(transport),
      clock_(clock),
      weights_(weights),
      make_queue_(std::move(make_queue)),
      make_trainer_(std::move(make_trainer)),
      executor_(std::move(executor)),
      finished_(std::make_shared<BoundedQueue<Finished>>(1000)) {
  for (const auto& path : CheckpointFolder::OpenRuns(options_.directory)) {
    auto folder = CheckpointFolder::Open(path);
    if (!folder) {
      LogError("checkpoints_unreadable",
               {{"path", path.string()}, {"why", folder.error().message}});
      continue;
    }
    for (const std::string& why : folder->broken()) LogError("checkpoint_broken", {{"why", why}});
    if (const auto& newest = folder->newest())
      found_.push_back({newest->run, newest->watermark, newest->version});
  }
}

Learner::~Learner() { finished_->Close(); }

Status Learner::Turn(Duration wait) {
  if (auto envelope = transport_.Receive(busy_ ? Duration{} : wait)) {
    auto message = Decode<FromCoordinator>(envelope->bytes);
    const auto* to_learner = message ? std::get_if<CoordinatorToLearner>(&*message) : nullptr;
    if (to_learner) {
      RETURN_IF_ERROR(Handle(*to_learner));
    } else {
      LogWarn("message_refused",
              {{"why", message ? "not for a learner" : message.error().message}});
    }
  }
  busy_ = false;
  while (auto finished = finished_->TryPop()) {
    const auto run = runs_.find(finished->run);
    if (run != runs_.end() && run->second->number == finished->order) finished->work(*run->second);
  }
  for (auto& [id, run] : runs_) Advance(*run);
  SayWhatIsDue();
  return fatal_;
}

Status Learner::Handle(const CoordinatorToLearner& message) {
  return std::visit([&](const auto& m) { return On(m); }, message);
}

Status Learner::On(const Refused& message) {
  return Fail(ErrorCode::kInvalidInput, "the coordinator refuses this learner: " + message.why);
}

Status Learner::On(const Unknown&) {
  registered_ = false;
  next_register_ = clock_.Now();
  return {};
}

// Of a later release; what a learner must know, its coordinator says in words of this one.
Status Learner::On(const Unrecognized& message) {
  LogWarn("message_unrecognized", {{"number", message.number}});
  return {};
}

Status Learner::On(const HeartbeatReply&) { return {}; }

Status Learner::On(const WelcomeLearner& message) {
  LogInfo("registered", {{"epoch", message.epoch}, {"incarnation", message.incarnation}});
  // A coordinator that lost its store: whatever we hold goes on under the new number.
  if (welcome_ && welcome_->incarnation != message.incarnation) runs_.clear();
  if (!queue_ || !welcome_ || welcome_->redis != message.redis) {
    auto queue = make_queue_(message.redis);
    if (!queue) return tl::unexpected(queue.error());
    queue_ = std::move(*queue);
  }
  welcome_ = message;
  registered_ = true;
  next_heartbeat_ = clock_.Now() + message.heartbeat / 2;
  for (auto& [id, run] : runs_) {  // it may know nothing of what was said before
    run->next_announcement = {};
    run->next_refusal = {};
    for (auto& [version, report] : run->reports) report.next = {};
  }
  return {};
}

Status Learner::On(const TrainRun& message) {
  if (!welcome_) return {};
  auto known = runs_.find(message.run);
  if (known != runs_.end()) {
    Run& run = *known->second;
    if (run.order.spec == message.spec && run.order.stream == message.stream) {
      run.next_announcement = {};  // it did not hear us
      return {};
    }
    LogWarn("run_opened_again", {{"run", message.run}});
  }
  RETURN_IF_ERROR(CheckFound(message.run));
  auto run = std::make_unique<Run>();
  run->order = message;
  run->number = next_order_++;
  run->trainer = std::make_shared<RunTrainer>(message, welcome_->incarnation, FolderOf(message.run),
                                              options_.keep, make_trainer_);
  Run& added = *(runs_[message.run] = std::move(run));
  Open(added);
  return {};
}

Status Learner::CheckFound(RunId run) {
  // Numbers of incarnations only grow, and what was found is of earlier processes.
  const bool impossible = std::any_of(found_.begin(), found_.end(), [&](const auto& state) {
    return state.run == run && state.version.incarnation >= welcome_->incarnation;
  });
  if (!impossible) return {};
  ASSIGN_OR_RETURN(CheckpointFolder folder, CheckpointFolder::Open(FolderOf(run)));
  RETURN_IF_ERROR(folder.SetAside());
  return Fail(
      ErrorCode::kCorrupt,
      FolderOf(run).string() +
          " held checkpoints of another coordinator, or of one that has lost its store, and "
          "is set aside; start the learner again");
}

Status Learner::On(const CloseRun& message) {
  const auto run = runs_.find(message.run);
  if (run == runs_.end()) return {};  // TrainRun comes first, and both come again
  run->second->end_seq = message.end_seq;
  if (run->second->intake) run->second->intake->Close(message.end_seq);
  return {};
}

Status Learner::On(const AckCheckpoint& message) {
  const auto run = runs_.find(message.run);
  if (run == runs_.end()) return {};
  if (run->second->reports.erase(message.version) > 0)
    run->second->trainer->folder().Acknowledged(message.version);
  return {};
}

Status Learner::On(const ForgetRun& message) {
  weights_.Drop(message.run);
  const auto known = runs_.find(message.run);
  if (known == runs_.end()) {
    // Found in the directory, and ended while no learner was there.
    const auto ended = std::erase_if(found_, [&](const auto& s) { return s.run == message.run; });
    if (ended == 0) return {};
    auto folder = CheckpointFolder::Open(FolderOf(message.run));
    const Status marked = folder ? folder->MarkFinished() : tl::unexpected(folder.error());
    // Found once more by the next process, and forgotten then.
    if (!marked) LogWarn("finish_not_marked", {{"why", marked.error().message}});
    return {};
  }
  LogInfo("run_forgotten", {{"run", message.run}});
  // After what is under way: the executor keeps the order.
  executor_([trainer = known->second->trainer] {
    if (auto status = trainer->Finish(); !status)
      LogWarn("finish_not_marked", {{"why", status.error().message}});
  });
  runs_.erase(known);
  return {};
}

// ---- saying

bool Learner::Say(const LearnerMessage& message) {
  return transport_.Send({"", Encode(ToCoordinator(message))}).has_value();
}

void Learner::Register() {
  RegisterLearner registration{.name = options_.name, .runs = found_};
  for (const auto& [id, run] : runs_) {
    if (!run->intake) continue;
    std::erase_if(registration.runs, [&](const auto& state) { return state.run == id; });
    registration.runs.push_back({id, run->durable_watermark, run->intake->line().current()});
  }
  Say(registration);
}

void Learner::Announce(Run& run) {
  if (Say(*run.announcement)) run.next_announcement = clock_.Now() + options_.repeat;
}

void Learner::SayWhatIsDue() {
  const TimePoint now = clock_.Now();
  if (!registered_) {
    if (now < next_register_) return;
    Register();
    next_register_ = now + kRegisterAgain;
    return;
  }
  if (now >= next_heartbeat_) {
    Say(Heartbeat{});
    next_heartbeat_ = now + welcome_->heartbeat / 2;
  }
  for (auto& [id, run] : runs_) {
    if (!run->refusal.empty() && now >= run->next_refusal && Say(RunRefused{id, run->refusal}))
      run->next_refusal = now + options_.repeat;
    // Weights first: whoever hears of a checkpoint may want them.
    if (run->announcement && now >= run->next_announcement) Announce(*run);
    for (auto& [version, report] : run->reports) {
      if (now < report.next) continue;
      if (!Say(report.checkpoint)) break;
      report.next = now + options_.repeat;
    }
    const bool trained = run->intake && run->intake->complete();
    if (trained && now >= run->next_trained && Say(RunTrained{id, run->intake->line().current()}))
      run->next_trained = now + options_.repeat;
  }
}

// ---- working

void Learner::Submit(Run& run, std::function<Work(RunTrainer&)> work) {
  executor_([work = std::move(work), trainer = run.trainer, finished = finished_,
             id = run.order.run, order = run.number, transport = &transport_] {
    if (finished->Push({id, order, work(*trainer)})) transport->Wake();
  });
}

void Learner::Open(Run& run) {
  run.state = Run::State::kOpening;
  Submit(run, [this](RunTrainer& trainer) -> Work {
    auto opened = std::make_shared<Result<OpenedRun>>(trainer.Open());
    return [this, opened](Run& back) { OnOpened(back, std::move(*opened)); };
  });
}

void Learner::OnOpened(Run& run, Result<OpenedRun> opened) {
  if (!opened) {
    LogError("run_not_opened", {{"run", run.order.run}, {"why", opened.error().message}});
    const ErrorCode code = opened.error().code;
    if (code == ErrorCode::kCorrupt) fatal_ = tl::unexpected(opened.error());
    run.state = code == ErrorCode::kInvalidInput ? Run::State::kFailed : Run::State::kUnopened;
    if (run.state == Run::State::kFailed) run.refusal = opened.error().message;
    run.next_attempt = clock_.Now() + kTryAgain;
    return;
  }
  const Checkpoint& checkpoint = opened->checkpoint;
  LogInfo("run_opened", {{"run", run.order.run},
                         {"version", ToString(checkpoint.version)},
                         {"parent", ToString(checkpoint.parent)},
                         {"consumed_below", checkpoint.watermark.below}});
  run.intake.emplace(run.order, checkpoint.watermark,
                     TrainedLine(checkpoint.version, checkpoint.ancestors));
  if (run.end_seq) run.intake->Close(*run.end_seq);
  for (CheckpointDurable& report : opened->unacknowledged)
    run.reports[report.version] = {std::move(report)};
  run.state = Run::State::kReady;
  Offer(run, checkpoint);
}

void Learner::Offer(Run& run, const Checkpoint& checkpoint) {
  weights_.Put(checkpoint.run, checkpoint.version,
               run.trainer->folder().WeightsPath(checkpoint.version));
  run.announcement =
      WeightsAnnouncement{checkpoint.run,        checkpoint.version, options_.weights_endpoint,
                          checkpoint.size_bytes, kChunkBytes,        checkpoint.sha256};
  run.next_announcement = {};
  run.durable_watermark = checkpoint.watermark;
}

void Learner::Advance(Run& run) {
  switch (run.state) {
    case Run::State::kUnopened:
      if (clock_.Now() >= run.next_attempt) Open(run);
      return;
    case Run::State::kUnsaved:
      if (clock_.Now() >= run.next_attempt) StartStep(run);
      [[fallthrough]];
    case Run::State::kTraining: ReadQueue(run); return;
    case Run::State::kReady: break;
    case Run::State::kOpening:
    case Run::State::kFailed: return;
  }
  ReadQueue(run);
  auto batch = run.intake->Cut();
  if (!batch) return;
  const TrainedLine& line = run.intake->line();
  const PolicyVersion next{welcome_->incarnation, line.current().step + 1};
  run.job =
      std::make_shared<StepJob>(StepJob{std::move(*batch), next, line, run.intake->watermark()});
  StartStep(run);
}

void Learner::ReadQueue(Run& run) {
  if (!queue_ok_ && clock_.Now() < next_queue_attempt_) return;
  if (!run.stream_ok && clock_.Now() < run.next_read) return;
  Result<size_t> read = run.intake->Read(*queue_, options_.read_limit);
  if (read && *read > 0) busy_ = true;
  Status status;
  if (!read) status = tl::unexpected(read.error());
  if (status) status = run.intake->Acknowledge(*queue_);
  // A server that is there and refuses this one stream holds no other run up.
  const bool refused = !status && status.error().code == ErrorCode::kInternal;
  if (refused && run.stream_ok)
    LogWarn("stream_refused", {{"run", run.order.run}, {"why", status.error().message}});
  run.stream_ok = !refused;
  if (refused) {
    run.next_read = clock_.Now() + kQueueAgain;
    return;
  }
  if (status.has_value() != queue_ok_) {
    queue_ok_ = status.has_value();
    if (queue_ok_)
      LogInfo("queue_back");
    else
      LogWarn("queue_away", {{"why", status.error().message}});
  }
  if (!queue_ok_) next_queue_attempt_ = clock_.Now() + kQueueAgain;
}

void Learner::StartStep(Run& run) {
  run.state = Run::State::kTraining;
  Submit(run, [this, job = run.job](RunTrainer& trainer) -> Work {
    auto saved = std::make_shared<Result<SavedStep>>(trainer.Step(*job));
    return [this, saved](Run& back) { OnSaved(back, std::move(*saved)); };
  });
}

void Learner::OnSaved(Run& run, Result<SavedStep> saved) {
  if (!saved) {
    LogError("checkpoint_not_saved", {{"run", run.order.run}, {"why", saved.error().message}});
    run.state = Run::State::kUnsaved;
    run.next_attempt = clock_.Now() + kTryAgain;
    return;
  }
  const CheckpointDurable& report = saved->report;
  LogInfo("checkpoint_saved", {{"run", run.order.run},
                               {"version", ToString(report.version)},
                               {"consumed", report.consumed.size()},
                               {"mean_reward", report.report.mean_reward},
                               {"seconds", report.report.seconds}});
  run.job.reset();
  run.intake->Durable(report.version);
  Offer(run, saved->checkpoint);
  run.reports[report.version] = {std::move(saved->report)};
  run.state = Run::State::kReady;
  busy_ = true;
}

std::filesystem::path Learner::FolderOf(RunId run) const {
  return options_.directory / ("run-" + std::to_string(run.value()));
}

}  // namespace warpsmith
