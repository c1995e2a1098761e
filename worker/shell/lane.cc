#include "worker/shell/lane.h"

#include <signal.h>

#include <algorithm>

#include "common/runtime/log.h"
#include "common/wire/known.h"
#include "worker/shell/compiled.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxWaiting = 65536;
constexpr Duration kSendLimit = std::chrono::seconds(30);
constexpr Duration kLongestStage = std::chrono::minutes(10);
constexpr Duration kLongestBackoff = std::chrono::seconds(10);
constexpr int kLongestQuarantineFactor = 10;

EvaluateReply Lost(InfrastructureKind kind, std::string why) {
  return {.outcome = Infrastructure{kind, std::move(why)}};
}

TimePoint Now() { return SystemClock().Now(); }

}  // namespace

Lane::Lane(LaneOptions options)
    : options_(std::move(options)), queue_(kMaxWaiting), thread_([this] { Run(); }) {}

Lane::~Lane() {
  stopping_ = true;
  queue_.Close();
  {
    std::lock_guard lock(mutex_);
    if (socket_.valid()) socket_.Shutdown();
  }
  stopped_.notify_all();
  thread_.join();
}

std::vector<int> Lane::ChildPids() const {
  std::lock_guard lock(mutex_);
  std::vector<int> pids;
  for (int pid : {oracle_pid_, active_pid_, spare_pid_}) {
    if (pid > 0) pids.push_back(pid);
  }
  return pids;
}

void Lane::Run() {
  Status started = StartOracle();
  if (started) {
    EnsureSpare();
  } else {
    ready_.set_value(tl::unexpected(started.error()));
  }
  while (std::optional<LaneOrder> order = queue_.Pop()) {
    EvaluateReply reply =
        stopping_ ? Lost(InfrastructureKind::kWorkerLost, "the evaluator stops") : Judge(*order);
    reply.log = CutLog(std::move(reply.log), options_.limits.log_bytes);
    order->done(std::move(reply));
  }
  EndOracle();
  KillRunner(spare_);
}

// ---- one order

EvaluateReply Lane::Judge(const LaneOrder& order) {
  if (std::string why = HeldBack(); !why.empty()) {
    return Lost(InfrastructureKind::kDeviceSick, "the device is in quarantine: " + why);
  }
  if (Status up = EnsureOracle(); !up) {
    return Lost(InfrastructureKind::kDeviceSick, up.error().message);
  }
  if (!active_) {
    if (Status attached = AttachRunner(); !attached) {
      Died(attached.error().message);
      return Lost(InfrastructureKind::kInternal, attached.error().message);
    }
  }
  EnsureSpare();
  EvaluateReply reply = Converse(order);
  if (stopping_) return Lost(InfrastructureKind::kWorkerLost, "the evaluator stops");
  return reply;
}

EvaluateReply Lane::Converse(const LaneOrder& order) {
  const uint64_t id = ++last_id_;
  auto failed = [&](const std::string& why) {
    Died(why);
    return Lost(InfrastructureKind::kInternal, why);
  };
  // Whatever the candidate did: beside a runner that still holds the device nothing can be judged.
  auto held = [&] {
    EndOracle();
    return Lost(InfrastructureKind::kDeviceSick, quarantine_why_);
  };
  if (!Send(EvaluateRequest{id, order.task, *order.compiled, order.depth})) {
    return failed("the oracle takes no orders");
  }
  bool in_stage = false;
  TimePoint limit = Now() + options_.limits.oracle_silence;
  for (;;) {
    Result<Frame> frame = socket_.Receive(std::max(limit - Now(), Duration::zero()));
    if (!frame && frame.error().code == ErrorCode::kTimeout) {
      if (!in_stage) return failed("the oracle has been silent too long");
      LogInfo("runner_late", {{"device", options_.index}});
      if (!KillRunner(active_)) return held();
      in_stage = false;
      limit = Now() + options_.limits.oracle_silence;
      continue;
    }
    if (!frame) return failed("the oracle died: " + frame.error().message);
    Result<FromOracle> message = DecodeKnown<FromOracle>(frame->bytes);
    if (!message) return failed("the oracle speaks another language: " + message.error().message);

    if (auto* reply = std::get_if<EvaluateReply>(&*message)) {
      if (reply->id != id) continue;
      deaths_ = 0;
      quarantines_ = 0;
      return std::move(*reply);
    }
    if (auto* began = std::get_if<StageBegan>(&*message)) {
      in_stage = active_ && began->runner == active_->number();
      limit = Now() + (in_stage ? std::clamp(began->limit, Duration::zero(), kLongestStage)
                                : options_.limits.oracle_silence);
    } else if (std::holds_alternative<StageEnded>(*message)) {
      in_stage = false;
      limit = Now() + options_.limits.oracle_silence;
    } else if (auto* discard = std::get_if<DiscardRunner>(&*message)) {
      LogInfo("runner_discarded", {{"device", options_.index}, {"why", discard->why}});
      in_stage = false;
      if (active_ && active_->number() == discard->runner && !KillRunner(active_)) return held();
      if (!active_) {
        if (Status attached = AttachRunner(); !attached) return failed(attached.error().message);
      }
      limit = Now() + options_.limits.oracle_silence;
    } else if (auto* gone = std::get_if<OracleFailed>(&*message)) {
      EndOracle();
      Quarantine(gone->why);
      return Lost(gone->kind, gone->why);
    }
  }
}

// ---- the children

Status Lane::StartOracle() {
  ASSIGN_OR_RETURN(auto ends, FrameSocket::MakePair());
  ASSIGN_OR_RETURN(Subprocess child, Subprocess::Start(LaneChild(options_, options_.programs.oracle,
                                                                 "oracle", ends.second.fd())));
  ends.second.Release().Reset();
  {
    std::lock_guard lock(mutex_);
    socket_ = std::move(ends.first);
    oracle_pid_ = child.pid();
    if (stopping_) socket_.Shutdown();
  }
  oracle_ = std::move(child);
  auto failed = [&](ErrorCode code, const std::string& why) {
    EndOracle();
    return Fail(code, why);
  };
  Result<Frame> frame = socket_.Receive(options_.limits.oracle_start);
  if (!frame) {
    return failed(ErrorCode::kUnavailable,
                  std::string("the oracle of device ") + ToString(options_.kind) + " " +
                      std::to_string(options_.index) + " did not come up (" +
                      frame.error().message + "); see its log");
  }
  Result<FromOracle> message = DecodeKnown<FromOracle>(frame->bytes);
  if (!message) return failed(ErrorCode::kInternal, "the oracle speaks another language");
  if (auto* gone = std::get_if<OracleFailed>(&*message)) {
    return failed(ErrorCode::kMissing, gone->why);
  }
  auto* ready = std::get_if<OracleReady>(&*message);
  if (!ready) return failed(ErrorCode::kInternal, "the oracle did not say that it is ready");
  if (last_runner_ == 0) {
    Status attached = AttachRunner();
    if (!attached) return failed(attached.error().code, attached.error().message);
    ready->device.index = options_.index;
    ready_.set_value(ready->device);
    return {};
  }
  return AttachRunner();
}

Status Lane::EnsureOracle() {
  if (oracle_) return {};
  Duration delay = options_.limits.restart_backoff * (1 << std::min(deaths_, 10));
  if (deaths_ > 0 && !Sleep(std::min(delay, kLongestBackoff))) {
    return Fail(ErrorCode::kUnavailable, "the evaluator stops");
  }
  Status started = StartOracle();
  if (!started) Died(started.error().message);
  return started;
}

Status Lane::AttachRunner() {
  if (!spare_) {
    Result<RunnerChild> fresh = RunnerChild::Start(options_, ++last_runner_, stopping_);
    if (!fresh) return tl::unexpected(fresh.error());
    spare_ = *std::move(fresh);
  }
  active_ = std::exchange(spare_, std::nullopt);
  Note(&spare_pid_, -1);
  Note(&active_pid_, active_->pid());
  Status sent = Send(RunnerAttached{active_->number()}, {active_->oracle_end()});
  active_->HandedOver();
  return sent;
}

void Lane::EnsureSpare() {
  if (spare_ || stopping_) return;
  Result<RunnerChild> fresh = RunnerChild::Start(options_, ++last_runner_, stopping_);
  if (!fresh && stopping_) return;
  if (!fresh) {
    // Without a spare the lane still works; the next need of a runner tells the whole story.
    LogWarn("no_spare_runner", {{"device", options_.index}, {"why", fresh.error().message}});
    return;
  }
  spare_ = *std::move(fresh);
  Note(&spare_pid_, spare_->pid());
}

void Lane::EndOracle() {
  // The runner's socket ends in the oracle that goes.
  KillRunner(active_);
  if (oracle_) {
    oracle_->Signal(SIGKILL);
    if (!oracle_->Wait(options_.limits.death)) {
      KeepUndead(*std::move(oracle_), "its oracle cannot be killed");
    }
  }
  oracle_.reset();
  std::lock_guard lock(mutex_);
  oracle_pid_ = -1;
  socket_ = FrameSocket();
}

bool Lane::KillRunner(std::optional<RunnerChild>& runner) {
  if (!runner) return true;
  std::optional<Subprocess> undead = runner->Kill(options_.limits.death);
  Note(&runner == &spare_ ? &spare_pid_ : &active_pid_, -1);
  runner.reset();
  if (!undead) return true;
  KeepUndead(*std::move(undead), "its runner cannot be killed");
  return false;
}

void Lane::KeepUndead(Subprocess child, const std::string& why) {
  LogError("child_undead", {{"device", options_.index}, {"pid", child.pid()}, {"why", why}});
  undead_.push_back(std::move(child));
  Quarantine(why);
}

std::string Lane::HeldBack() {
  std::erase_if(undead_, [](Subprocess& child) { return !child.running(); });
  if (!undead_.empty()) {
    return "process " + std::to_string(undead_.front().pid()) +
           " would not die and may hold it; if it stays, the machine needs a restart";
  }
  return Now() < quarantined_until_ ? quarantine_why_ : "";
}

void Lane::Died(const std::string& why) {
  if (stopping_) return;
  ++deaths_;
  LogWarn("oracle_lost", {{"device", options_.index}, {"deaths", deaths_}, {"why", why}});
  EndOracle();
  if (deaths_ >= options_.limits.deaths_to_quarantine) Quarantine(why);
}

void Lane::Quarantine(const std::string& why) {
  quarantine_why_ = why;
  int factor = 1 << std::min(quarantines_, 10);
  ++quarantines_;
  quarantined_until_ =
      Now() + options_.limits.quarantine * std::min(factor, kLongestQuarantineFactor);
  // One death more sends it back.
  deaths_ = std::max(0, options_.limits.deaths_to_quarantine - 1);
  LogError("device_quarantined", {{"device", options_.index}, {"why", why}});
}

bool Lane::Sleep(Duration time) {
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, time, [&] { return stopping_.load(); });
}

Status Lane::Send(const ToOracle& message, std::vector<int> fds) {
  return socket_.Send(Encode(message), fds, kSendLimit);
}

void Lane::Note(int* place, int pid) {
  std::lock_guard lock(mutex_);
  *place = pid;
}

}  // namespace warpsmith
