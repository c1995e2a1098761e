#include "worker/oracle/oracle_server.h"

#include <utility>

#include "common/wire/known.h"
#include "worker/oracle/evaluate.h"

namespace warpsmith {
namespace {

constexpr Duration kForever = std::chrono::hours(24 * 365);
constexpr Duration kSendTimeout = std::chrono::seconds(60);

}  // namespace

Status OracleServer::Tell(const FromOracle& message) {
  return supervisor_.Send(Encode(message), {}, kSendTimeout);
}

Status OracleServer::TakeIn(Duration timeout) {
  ASSIGN_OR_RETURN(Frame frame, supervisor_.Receive(timeout));
  ASSIGN_OR_RETURN(ToOracle message, DecodeKnown<ToOracle>(frame.bytes));
  if (auto* request = std::get_if<EvaluateRequest>(&message)) {
    requests_.push_back(std::move(*request));
    return {};
  }
  if (frame.fds.size() != 1)
    return Fail(ErrorCode::kCorrupt, "a runner is attached by exactly one descriptor");
  spare_ = AttachedRunner{std::get<RunnerAttached>(message).runner,
                          FrameSocket(std::move(frame.fds[0]))};
  return {};
}

Result<AttachedRunner> OracleServer::NextRunner() {
  while (!spare_) RETURN_IF_ERROR(TakeIn(kForever));
  AttachedRunner runner = std::move(*spare_);
  spare_.reset();
  return runner;
}

Status OracleServer::Serve() {
  RunnerLink link([this](const FromOracle& message) { return Tell(message); },
                  [this] { return NextRunner(); }, options_);
  Judge judge(device_, link);
  Status state = Tell(OracleReady{device_.facts()});
  while (state) {
    if (requests_.empty()) {
      state = TakeIn(kForever);
      continue;
    }
    const EvaluateRequest request = std::move(requests_.front());
    requests_.pop_front();
    state = Tell(judge.Evaluate(request));
  }
  if (state.error().code == ErrorCode::kUnavailable) return {};
  return state;
}

}  // namespace warpsmith
