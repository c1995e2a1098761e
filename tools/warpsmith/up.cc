// warpsmith up: everything on one machine: a private Redis on a Unix socket, coordinator, workers
// and learner, kept alive until Ctrl-C.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "common/base/unique_fd.h"
#include "common/runtime/files.h"
#include "common/runtime/signals.h"
#include "tools/warpsmith/commands.h"
#include "tools/warpsmith/kept.h"
#include "tools/warpsmith/programs.h"
#include "tools/warpsmith/waiting.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

constexpr Duration kCoordinatorStart = std::chrono::seconds(60);
constexpr std::chrono::seconds kDrain{5};  // a worker may finish what it evaluates at the end
constexpr Duration kPeerGrace = kDrain + std::chrono::seconds(10);
constexpr size_t kMaxSocketPath = 100;  // of 107 bytes in sockaddr_un
constexpr const char* kCurrent = "runs/current";

class House {
 public:
  House(const UpOptions& options, fs::path directory)
      : options_(options), directory_(std::move(directory)) {}

  Result<int> Run() {
    RETURN_IF_ERROR(MakeDirectories(directory_ / "logs"));
    ASSIGN_OR_RETURN(const UniqueFd lock, LockDirectory(directory_, "`warpsmith up`"));
    RETURN_IF_ERROR(FindPrograms());
    RETURN_IF_ERROR(PlaceRedisSocket());
    std::error_code ignored;
    fs::remove(directory_ / "address", ignored);
    fs::remove(directory_ / "coordinator" / "address", ignored);

    redis_ = Keep("redis", [this] { return RedisOptions(); });
    coordinator_ = Keep("coordinator", [this] { return CoordinatorOptions(); });
    Status status = AwaitAddress();
    if (status) status = StartPeers();
    while (status && !signals_.requested() && !hopeless_)
      WaitForStop(signals_, std::chrono::milliseconds(500));
    fs::remove(directory_ / "address", ignored);
    StopAll();
    if (!status) return tl::unexpected(status.error());
    if (const auto failure = Failure()) return tl::unexpected(*failure);
    return 0;
  }

 private:
  Status FindPrograms() {
    ASSIGN_OR_RETURN(redis_program_, SystemProgram("redis-server"));
    ASSIGN_OR_RETURN(coordinator_program_, OwnProgram("warpsmith-coordinator"));
    ASSIGN_OR_RETURN(worker_program_, OwnProgram("warpsmith-worker"));
    if (auto learner = OwnProgram("warpsmith-learner"))
      learner_program_ = std::move(*learner);
    else
      Notice("no learner: this build is without libtorch, so runs that learn will wait");
    return {};
  }

  // Beside everything else, unless the path is longer than a socket's may be.
  Status PlaceRedisSocket() {
    redis_socket_ = directory_ / "redis.sock";
    if (redis_socket_.string().size() > kMaxSocketPath) {
      ASSIGN_OR_RETURN(socket_directory_, TempDirectory::Make("warpsmith-redis"));
      redis_socket_ = socket_directory_.path() / "redis.sock";
    }
    return MakeDirectories(directory_ / "redis");
  }

  // `settings`: a process reads DIRECTORY/<settings>.toml where the user put one.
  SubprocessOptions WithLog(const std::string& name, std::vector<std::string> argv,
                            const std::string& settings = "") const {
    SubprocessOptions options;
    options.argv = std::move(argv);
    const auto file = directory_ / (settings + ".toml");
    if (!settings.empty() && fs::exists(file)) {
      options.argv.push_back("--config");
      options.argv.push_back(file.string());
    }
    options.stdout_path = options.stderr_path = (directory_ / "logs" / (name + ".log")).string();
    return options;
  }

  // Nothing is saved: Redis is transport, and the coordinator publishes again what it lost.
  SubprocessOptions RedisOptions() const {
    return WithLog("redis", {redis_program_, "--port", "0", "--unixsocket", redis_socket_.string(),
                             "--unixsocketperm", "700", "--save", "", "--appendonly", "no",
                             "--maxmemory-policy", "noeviction", "--daemonize", "no", "--dir",
                             (directory_ / "redis").string()});
  }

  // A coordinator that starts again takes the address that everybody knows already.
  SubprocessOptions CoordinatorOptions() const {
    const std::scoped_lock lock(mutex_);
    return WithLog("coordinator",
                   {coordinator_program_, "--listen", address_.empty() ? options_.listen : address_,
                    "--directory", (directory_ / "coordinator").string(), "--redis",
                    "unix:" + redis_socket_.string()},
                   "coordinator");
  }

  SubprocessOptions WorkerOptions(const std::string& name) const {
    auto options = WithLog(
        name,
        {worker_program_, "--coordinator", address_, "--device", options_.device, "--directory",
         (directory_ / name).string(), "--drain-grace-s", std::to_string(kDrain.count())},
        "worker");
    if (options_.capacity > 0) {
      options.argv.push_back("--capacity");
      options.argv.push_back(std::to_string(options_.capacity));
    }
    return options;
  }

  SubprocessOptions LearnerOptions() const {
    return WithLog("learner",
                   {learner_program_, "--coordinator", address_, "--directory",
                    (directory_ / "learner").string()},
                   "learner");
  }

  std::unique_ptr<Kept> Keep(const std::string& name, std::function<SubprocessOptions()> start,
                             Duration grace = std::chrono::seconds(5)) {
    return std::make_unique<Kept>(KeptOptions{
        .name = name,
        .start = std::move(start),
        .grace = grace,
        .notice = [this](const std::string& line) { Notice(line); },
        .hopeless = [this, name](int status,
                                 const std::string& why) { GiveUp(name, status, why); }});
  }

  Status AwaitAddress() {
    const auto deadline = std::chrono::steady_clock::now() + kCoordinatorStart;
    while (!signals_.requested() && !hopeless_) {
      const auto text = ReadFile(directory_ / "coordinator" / "address", 4096);
      if (text && !text->empty()) {
        const std::scoped_lock lock(mutex_);
        address_ = text->substr(0, text->find_first_of(" \r\n"));
        return {};
      }
      if (std::chrono::steady_clock::now() > deadline)
        return Fail(ErrorCode::kTimeout,
                    fmt::format("the coordinator did not start within 60 s: see {}",
                                (directory_ / "logs").string()));
      WaitForStop(signals_, std::chrono::milliseconds(50));
    }
    return {};
  }

  Status StartPeers() {
    if (address_.empty()) return {};  // stopped before it came so far
    for (int i = 0; i < options_.workers; ++i) {
      const std::string name = fmt::format("worker-{}", i);
      peers_.push_back(Keep(
          name, [this, name] { return WorkerOptions(name); }, kPeerGrace));
    }
    if (!learner_program_.empty())
      peers_.push_back(Keep(
          "learner", [this] { return LearnerOptions(); }, kPeerGrace));
    PointCurrentHere();
    // Last: whoever waits for this file may use everything else.
    RETURN_IF_ERROR(WriteFileAtomically(directory_ / "address", address_ + "\n"));
    (void)WriteStdout(fmt::format(  // lost, the servers go on

        "warpsmith is up at {} (device {}, {} worker{}); logs in {}\n"
        "Ctrl-C ends it; other commands find it by WARPSMITH_COORDINATOR or {}/address\n",
        address_, options_.device, options_.workers, options_.workers == 1 ? "" : "s",
        (directory_ / "logs").string(), kCurrent));
    return {};
  }

  // runs/current -> this directory, for commands started from the same folder. A convenience: where
  // it cannot be made, --coordinator still works.
  void PointCurrentHere() {
    std::error_code error;
    const fs::path link(kCurrent);
    if (fs::weakly_canonical(link, error) == fs::weakly_canonical(directory_, error)) return;
    if (fs::exists(fs::symlink_status(link, error)) && !fs::is_symlink(link, error)) return;
    fs::create_directories(link.parent_path(), error);
    const fs::path fresh = link.string() + ".new";
    fs::remove(fresh, error);
    fs::create_directory_symlink(directory_, fresh, error);
    if (!error) fs::rename(fresh, link, error);
    if (error) Notice(fmt::format("{} could not be made: {}", kCurrent, error.message()));
  }

  void StopAll() {
    for (auto& peer : peers_) peer->BeginStop();
    for (auto& peer : peers_) peer->Stop();
    if (coordinator_) coordinator_->Stop();
    if (redis_) redis_->Stop();
  }

  void Notice(const std::string& line) const {
    const std::scoped_lock lock(mutex_);
    fmt::print(stderr, "warpsmith up: {}\n", line);
  }

  void GiveUp(const std::string& name, int status, const std::string& why) {
    const std::string end = EndOfLog(directory_ / "logs" / (name + ".log"), status);
    const std::scoped_lock lock(mutex_);
    if (!failure_)
      failure_ = Error{status == ExitStatus(ErrorCode::kMissing)     ? ErrorCode::kMissing
                       : status == ExitStatus(ErrorCode::kExhausted) ? ErrorCode::kExhausted
                                                                     : ErrorCode::kInvalidInput,
                       fmt::format("{}; {}", why, end)};
    hopeless_ = true;
  }

  std::optional<Error> Failure() const {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  const UpOptions& options_;
  const fs::path directory_;
  StopSignals signals_;
  std::string redis_program_, coordinator_program_, worker_program_, learner_program_;
  TempDirectory socket_directory_;
  fs::path redis_socket_;
  mutable std::mutex mutex_;  // of address_, failure_ and notices
  std::string address_;
  std::optional<Error> failure_;
  std::atomic<bool> hopeless_ = false;
  std::unique_ptr<Kept> redis_, coordinator_;
  std::vector<std::unique_ptr<Kept>> peers_;
};

}  // namespace

Result<int> RunUp(const UpOptions& options) {
  std::error_code error;
  const auto directory = fs::absolute(options.directory, error);
  if (error) return Fail(ErrorCode::kInvalidInput, options.directory + ": " + error.message());
  return House(options, directory).Run();
}

}  // namespace warpsmith
