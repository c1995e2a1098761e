#include "tools/warpsmith/kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>

#include "common/runtime/files.h"

namespace warpsmith {
namespace {

using Steady = std::chrono::steady_clock;

constexpr Duration kLook = std::chrono::milliseconds(200);  // between looks at the stop request
constexpr Duration kAtOnce = std::chrono::seconds(10);

std::string Ending(const ExitReport& exit) {
  return exit.signal
             ? fmt::format("was ended by signal {} ({})", exit.signal, strsignal(exit.signal))
             : fmt::format("ended with status {}", exit.status);
}

bool SaysHopeless(const ExitReport& exit) {
  return exit.signal == 0 && (exit.status == ExitStatus(ErrorCode::kInvalidInput) ||
                              exit.status == ExitStatus(ErrorCode::kMissing) ||
                              exit.status == ExitStatus(ErrorCode::kExhausted));
}

// Sleeps unless stopped first.
void Pause(const std::stop_token& stop, Duration duration) {
  std::mutex mutex;
  std::condition_variable_any waiting;
  std::unique_lock lock(mutex);
  waiting.wait_for(lock, stop, duration, [] { return false; });
}

}  // namespace

Duration Backoff::Next(Duration lived, bool cannot_work) {
  if (lived >= kHealthy && !cannot_work) next_ = kFirst;
  const Duration wait = next_;
  next_ = std::min(next_ * 2, kCap);
  return wait;
}

std::string EndOfLog(const std::filesystem::path& log, int status) {
  constexpr size_t kMost = 800;
  const auto text = ReadFile(log);
  if (text && !text->empty())
    return fmt::format("the end of {}:\n{}", log.string(),
                       text->substr(text->size() - std::min(text->size(), kMost)));
  // What a child says goes to the same disk as everything else.
  const bool exhausted = status == ExitStatus(ErrorCode::kExhausted);
  return fmt::format("{} says nothing{}", log.string(),
                     exhausted ? ": the disk may be full; make room and start again" : "");
}

Kept::Kept(KeptOptions options)
    : options_(std::move(options)), thread_([this](std::stop_token stop) { Run(stop); }) {}

void Kept::Stop() {
  BeginStop();
  if (thread_.joinable()) thread_.join();
}

void Kept::Run(std::stop_token stop) {
  Backoff backoff;
  for (bool first = true; !stop.stop_requested(); first = false) {
    const TimePoint began = Steady::now();
    auto child = Subprocess::Start(options_.start());
    std::string ending;
    bool cannot_work = false;
    if (child) {
      std::optional<ExitReport> exit;
      while (!exit && !stop.stop_requested()) exit = child->Wait(kLook);
      if (!exit) {
        child->Stop(options_.grace);
        return;
      }
      ending = Ending(*exit);
      cannot_work = SaysHopeless(*exit);
      if (first && Steady::now() - began < kAtOnce && cannot_work)
        return options_.hopeless(exit->status, fmt::format("{} {}", options_.name, ending));
    } else {
      ending = "could not be started: " + child.error().message;
      if (first)
        return options_.hopeless(ExitStatus(child.error().code),
                                 fmt::format("{} {}", options_.name, ending));
    }
    const Duration wait = backoff.Next(Steady::now() - began, cannot_work);
    options_.notice(fmt::format("{} {}; it starts again in {:.1f} s", options_.name, ending,
                                std::chrono::duration<double>(wait).count()));
    Pause(stop, wait);
  }
}

}  // namespace warpsmith
