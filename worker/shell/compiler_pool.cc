#include "worker/shell/compiler_pool.h"

#include <mutex>
#include <utility>

#include "common/base/clock.h"
#include "common/net/frame_socket.h"
#include "common/runtime/log.h"
#include "common/runtime/sha256.h"
#include "common/wire/known.h"
#include "worker/shell/compiled.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxWaiting = 65536;
constexpr int kChildFd = 3;
constexpr Duration kSendLimit = std::chrono::seconds(10);
// Raised whenever what a compiler does to a text changes, so that nothing old is found.
constexpr const char* kCompilerRevision = "2";

SharedCompileResult WorkerLost() {
  return Outcome(Infrastructure{InfrastructureKind::kWorkerLost, "the evaluator stops"});
}

std::string KeyOf(const CompileOrder& order) {
  Sha256 digest;
  for (const std::string& part : {std::string(ToString(order.device_kind)), order.architecture,
                                  order.versions, std::string(kCompilerRevision), order.text}) {
    digest.Update(std::to_string(part.size()) + ":");
    digest.Update(part);
  }
  return digest.Finish();
}

std::string Ending(std::optional<ExitReport> exit) {
  if (!exit) return "it would not die";
  if (exit->signal != 0) return "signal " + std::to_string(exit->signal);
  return "status " + std::to_string(exit->status);
}

}  // namespace

// One child and its thread's view of it. Only Shutdown and pid are called from other threads.
class CompilerPool::Compiler {
 public:
  Compiler(const Options& options, const std::filesystem::path& scratch, int number)
      : options_(options), scratch_(scratch), number_(number) {}
  ~Compiler() { End(); }

  // What came of one request.
  struct Gone {
    std::string how;
  };
  struct TooLate {};
  using Answer = std::variant<CompileReply, Gone, TooLate, Error>;

  Answer Ask(CompileRequest request) {
    if (Status started = EnsureStarted(); !started) return started.error();
    if (stopped()) return Gone{"stopped"};
    request.id = ++last_id_;
    last_request_ = request.id;
    TimePoint deadline = SystemClock().Now() + options_.limits.compile;
    if (!socket_.Send(Encode(request), {}, kSendLimit)) return Gone{HowItEnded()};
    Result<Frame> frame = socket_.Receive(deadline - SystemClock().Now());
    if (!frame) {
      if (frame.error().code == ErrorCode::kTimeout) {
        End();
        return TooLate{};
      }
      if (frame.error().code == ErrorCode::kUnavailable) return Gone{HowItEnded()};
      End();
      return frame.error();
    }
    Result<CompileReply> reply = DecodeKnown<CompileReply>(frame->bytes);
    if (!reply) {
      End();
      return reply.error();
    }
    if (++uses_ >= options_.limits.compiler_uses) End();
    return *std::move(reply);
  }
  uint64_t last_request() const { return last_request_; }

  void End() {
    std::lock_guard lock(mutex_);
    child_ = Subprocess();
    socket_ = FrameSocket();
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
    folder_.clear();
  }

  // Ends a wait of the compiler's own thread.
  void Shutdown() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    if (socket_.valid()) socket_.Shutdown();
  }
  int pid() const {
    std::lock_guard lock(mutex_);
    return child_.pid();
  }

 private:
  Status EnsureStarted() {
    if (socket_.valid()) return {};
    std::string name = std::to_string(number_) + "-" + std::to_string(++generation_);
    ASSIGN_OR_RETURN(auto ends, FrameSocket::MakePair());
    std::filesystem::path folder = scratch_ / name;
    RETURN_IF_ERROR(MakeDirectories(folder));
    SubprocessOptions start{.argv = {options_.program.string(), "--fd", std::to_string(kChildFd),
                                     "--temp", folder.string()},
                            .fds = {{kChildFd, ends.second.fd()}},
                            .stdout_path = "/dev/null",
                            .cores = options_.cores};
    if (number_ == 0 && generation_ == 1) start.argv.push_back("--announce");
    if (!options_.log_directory.empty()) {
      start.stderr_path = options_.log_directory / "compiler.log";
    }
    Result<Subprocess> child = Subprocess::Start(start);
    if (!child) return tl::unexpected(child.error());
    std::lock_guard lock(mutex_);
    folder_ = folder;
    child_ = *std::move(child);
    socket_ = std::move(ends.first);
    uses_ = 0;
    return {};
  }

  bool stopped() const {
    std::lock_guard lock(mutex_);
    return stopped_;
  }

  std::string HowItEnded() {
    std::string how = Ending(child_.Wait(std::chrono::seconds(1)));
    End();
    return how;
  }

  const Options& options_;
  const std::filesystem::path scratch_;
  const int number_;
  int generation_ = 0;
  int uses_ = 0;
  uint64_t last_id_ = 0;
  uint64_t last_request_ = 0;
  mutable std::mutex mutex_;  // guards the replacement of what follows
  std::filesystem::path folder_;
  Subprocess child_;
  FrameSocket socket_;
  bool stopped_ = false;
};

CompilerPool::CompilerPool(Options options)
    : options_(std::move(options)), cache_(options_.limits.cache_bytes), queue_(kMaxWaiting) {}

Result<std::unique_ptr<CompilerPool>> CompilerPool::Start(Options options) {
  std::unique_ptr<CompilerPool> pool(new CompilerPool(std::move(options)));
  std::filesystem::path scratch = pool->options_.scratch_directory;
  if (scratch.empty()) {
    ASSIGN_OR_RETURN(pool->own_scratch_, TempDirectory::Make("warpsmith-compile-"));
    scratch = pool->own_scratch_.path();
  }
  for (int i = 0; i < pool->options_.compilers; ++i) {
    pool->compilers_.push_back(std::make_unique<Compiler>(pool->options_, scratch, i));
  }
  for (auto& compiler : pool->compilers_) {
    pool->threads_.emplace_back([pool = pool.get(), compiler = compiler.get()] {
      while (std::optional<Item> item = pool->queue_.Pop()) {
        item->done(pool->Serve(*compiler, item->order));
      }
      // The child goes with the thread that started it.
      compiler->End();
    });
  }
  return pool;
}

CompilerPool::~CompilerPool() {
  stopping_ = true;
  queue_.Close();
  for (auto& compiler : compilers_) compiler->Shutdown();
  threads_.clear();
}

void CompilerPool::Submit(CompileOrder order, std::function<void(CompileDone)> done) {
  queue_.Push({std::move(order), std::move(done)});
}

std::vector<int> CompilerPool::ChildPids() const {
  std::vector<int> pids;
  for (const auto& compiler : compilers_) {
    if (compiler->pid() > 0) pids.push_back(compiler->pid());
  }
  return pids;
}

CompileDone CompilerPool::Serve(Compiler& compiler, const CompileOrder& order) {
  if (stopping_) return {WorkerLost()};
  std::string refused = RefuseText(order.text);
  if (!refused.empty()) return {Outcome(Rejected{refused})};
  std::string key = KeyOf(order);
  if (!order.fresh) {
    if (std::optional<SharedCompileResult> known = cache_.Find(key)) return {*std::move(known)};
  }
  // An earlier text may have taken the child over: a confirmation gets a fresh one.
  if (order.fresh) compiler.End();
  TimePoint begin = SystemClock().Now();
  SharedCompileResult result = Compile(compiler, order);
  double ms = std::chrono::duration<double, std::milli>(SystemClock().Now() - begin).count();
  const auto* outcome = std::get_if<Outcome>(&result);
  if (!outcome || !IsInfrastructure(*outcome)) cache_.Add(key, result);
  return {std::move(result), ms};
}

// What follows a candidate into a second, fresh child is the candidate's own doing.
SharedCompileResult CompilerPool::Compile(Compiler& compiler, const CompileOrder& order) {
  std::string died, lied;
  for (int attempt = 0; attempt < 2; ++attempt) {
    CompileRequest request{
        .text = order.text, .device_kind = order.device_kind, .architecture = order.architecture};
    Compiler::Answer answer = compiler.Ask(request);
    if (stopping_) return WorkerLost();
    if (std::holds_alternative<Compiler::TooLate>(answer)) {
      return Outcome(Timeout{Stage::kCompile});
    }
    if (auto* gone = std::get_if<Compiler::Gone>(&answer)) {
      died = gone->how;
      LogWarn("compiler_died", {{"how", died}});
      continue;
    }
    if (auto* error = std::get_if<Error>(&answer)) {
      if (error->code != ErrorCode::kCorrupt) {
        bool full = error->code == ErrorCode::kExhausted;
        auto kind = full ? InfrastructureKind::kDisk : InfrastructureKind::kInternal;
        return Outcome(Infrastructure{kind, "no compiler: " + error->message});
      }
      lied = error->message;
      continue;
    }
    auto& reply = std::get<CompileReply>(answer);
    request.id = compiler.last_request();
    std::string problem = CheckReply(request, reply);
    if (!problem.empty()) {
      lied = problem;
      compiler.End();
      continue;
    }
    answered_ = true;
    if (auto* outcome = std::get_if<Outcome>(&reply.result)) {
      if (auto* error = std::get_if<CompileError>(outcome)) {
        error->log = CutLog(std::move(error->log), options_.limits.log_bytes);
      }
      return std::move(*outcome);
    }
    auto& compiled = std::get<CompiledCandidate>(reply.result);
    compiled.log = CutLog(std::move(compiled.log), options_.limits.log_bytes);
    return std::make_shared<const CompiledCandidate>(std::move(compiled));
  }
  if (!lied.empty()) {
    LogWarn("compiler_lied", {{"why", lied}});
    if (answered_) {
      return Outcome(Violation{ViolationKind::kDisturbs,
                               "the compiler's answer does not hold, twice: " + lied});
    }
    return Outcome(Infrastructure{InfrastructureKind::kInternal,
                                  "the compiler's answer does not hold: " + lied});
  }
  if (answered_) {
    return Outcome(
        ResourceError{"the compiler died of it twice (" + died + "): its limit of memory or time"});
  }
  return Outcome(
      Infrastructure{InfrastructureKind::kInternal, "the compiler dies at once (" + died + ")"});
}

}  // namespace warpsmith
