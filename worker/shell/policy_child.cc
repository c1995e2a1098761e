#include "worker/shell/policy_child.h"

#include <algorithm>

#include "common/runtime/log.h"
#include "common/wire/known.h"

namespace warpsmith {
namespace {

constexpr int kChildFd = 3;
constexpr size_t kMaxWaiting = 64;
constexpr Duration kSendLimit = std::chrono::seconds(30);
constexpr Duration kLongestBackoff = std::chrono::seconds(10);

}  // namespace

PolicyChild::PolicyChild(Options options, std::function<void(WorkerEvent)> tell)
    : options_(std::move(options)),
      tell_(std::move(tell)),
      questions_(kMaxWaiting),
      thread_([this] { Run(); }) {}

PolicyChild::~PolicyChild() {
  questions_.Close();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    if (socket_.valid()) socket_.Shutdown();
  }
  stopped_.notify_all();
  thread_.join();
}

void PolicyChild::Ask(ToPolicy question) { questions_.Push(std::move(question)); }

int PolicyChild::pid() const {
  std::lock_guard lock(mutex_);
  return child_.pid();
}

void PolicyChild::Run() {
  // Warm before the first question: loading libtorch takes a second.
  if (Status started = EnsureStarted(); !started) {
    LogWarn("policy_not_started", {{"why", started.error().message}});
  }
  while (std::optional<ToPolicy> question = questions_.Pop()) {
    Result<FromPolicy> answer = Converse(*question);
    if (answer) {
      deaths_ = 0;
      tell_(PolicyReplied{*std::move(answer)});
      continue;
    }
    {
      std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    ++deaths_;
    LogWarn("policy_lost", {{"deaths", deaths_}, {"why", answer.error().message}});
    End();
    tell_(PolicyLost{answer.error().message});
  }
  End();
}

Status PolicyChild::EnsureStarted() {
  if (socket_.valid()) return {};
  if (deaths_ > 0) {
    Duration delay = options_.restart_backoff * (1 << std::min(deaths_ - 1, 10));
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, std::min(delay, kLongestBackoff), [&] { return stopping_; });
  }
  ASSIGN_OR_RETURN(auto ends, FrameSocket::MakePair());
  SubprocessOptions start{.argv = {options_.program.string(), "--fd", std::to_string(kChildFd)},
                          .fds = {{kChildFd, ends.second.fd()}},
                          .stdout_path = "/dev/null"};
  if (!options_.log_directory.empty()) start.stderr_path = options_.log_directory / "policy.log";
  ASSIGN_OR_RETURN(Subprocess child, Subprocess::Start(start));
  std::lock_guard lock(mutex_);
  if (stopping_) return Fail(ErrorCode::kUnavailable, "the worker stops");
  child_ = std::move(child);
  socket_ = std::move(ends.first);
  return {};
}

Result<FromPolicy> PolicyChild::Converse(const ToPolicy& question) {
  RETURN_IF_ERROR(EnsureStarted());
  RETURN_IF_ERROR(socket_.Send(Encode(question), {}, kSendLimit));
  ASSIGN_OR_RETURN(Frame frame, socket_.Receive(options_.answer));
  return DecodeKnown<FromPolicy>(frame.bytes);
}

void PolicyChild::End() {
  std::lock_guard lock(mutex_);
  child_ = Subprocess();
  socket_ = FrameSocket();
}

}  // namespace warpsmith
