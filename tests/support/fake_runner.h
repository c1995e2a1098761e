// A runner in a thread of the test: its kernel is a function, and it can lie, die and hang in every
// way that a test needs. It maps what the oracle lends it as a real runner does, but read-write.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/net/frame_socket.h"
#include "schema/child.h"

namespace warpsmith {

struct FakeRun {
  const ResolvedPlan& plan;
  std::vector<void*> buffers;  // in the order of plan.buffers; null where empty
  uint64_t number = 0;         // of this run since its module was loaded
  bool timed = false;

  float* floats(size_t buffer) const { return static_cast<float*>(buffers[buffer]); }
};

struct FakeBehaviour {
  std::function<void(const FakeRun&)> kernel;
  // The time that it says a run took; default: what it took.
  std::function<double(const FakeRun&, double took_us)> said_us;
  // May replace its answer's bytes. Nothing: it closes its socket instead.
  std::function<std::optional<std::string>(const ToRunner&, std::string honest)> tongue;
  // Questions that it never answers.
  std::function<bool(const ToRunner&)> hangs;
};

// The destructor ends the thread.
class FakeRunner {
 public:
  FakeRunner(FrameSocket socket, FakeBehaviour behaviour);
  ~FakeRunner();

  // From its next question on.
  void Become(FakeBehaviour behaviour);
  // Closes its socket, whatever it does.
  void Die() { socket_.Shutdown(); }

 private:
  struct Set {
    std::vector<void*> mappings;
    std::vector<uint64_t> sizes;
    std::vector<void*> buffers;
  };
  void Serve();
  FromRunner Answer(const FakeBehaviour& behaviour, const ToRunner& message, Frame& frame);
  void Forget();

  FrameSocket socket_;
  std::mutex mutex_;
  FakeBehaviour behaviour_;
  LoadModule module_;
  std::map<uint32_t, Set> sets_;
  uint64_t runs_ = 0;
  std::thread thread_;
};

}  // namespace warpsmith
