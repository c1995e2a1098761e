#include "common/runtime/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "common/base/check.h"

namespace warpsmith {
namespace {

// Written by a signal handler: nothing but lock-free atomics.
std::atomic<bool> stop_requested{false};
std::atomic<int> stop_event{-1};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void Raise(int event) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(event, &one, sizeof one);
}

void OnSignal(int signal) {
  const int saved = errno;
  if (stop_requested.exchange(true)) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  Raise(stop_event.load());
  errno = saved;
}

}  // namespace

StopSignals::StopSignals()
    : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      end_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(event_.valid() && end_.valid(), "a program starts with descriptors to spare");
  CHECK(stop_event.exchange(event_.get()) == -1, "one StopSignals at a time");
  stop_requested = false;
  struct sigaction action {};
  action.sa_handler = OnSignal;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  Raise(end_.get());
  if (watcher_.joinable()) watcher_.join();
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  stop_event = -1;
}

bool StopSignals::requested() const { return stop_requested; }

void StopSignals::Request() {
  stop_requested = true;
  Raise(event_.get());
}

void StopSignals::Watch(std::function<void()> on_stop) {
  CHECK(!watcher_.joinable(), "one watcher");
  watcher_ = std::jthread([this, on_stop = std::move(on_stop)] {
    pthread_setname_np(pthread_self(), "signals");
    pollfd entries[2] = {{event_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    while (::poll(entries, 2, -1) < 0 && errno == EINTR) {
    }
    if (entries[0].revents) on_stop();
  });
}

}  // namespace warpsmith
