#include "tests/support/fake_runner.h"

#include <sys/mman.h>

#include <utility>

#include "common/wire/codec.h"

namespace warpsmith {
namespace {
constexpr Duration kPatience = std::chrono::seconds(60);
}

FakeRunner::FakeRunner(FrameSocket socket, FakeBehaviour behaviour)
    : socket_(std::move(socket)), behaviour_(std::move(behaviour)) {
  thread_ = std::thread([this] { Serve(); });
}

FakeRunner::~FakeRunner() {
  socket_.Shutdown();
  thread_.join();
  Forget();
}

void FakeRunner::Forget() {
  for (auto& [number, set] : sets_)
    for (size_t i = 0; i < set.mappings.size(); ++i) ::munmap(set.mappings[i], set.sizes[i]);
  sets_.clear();
}

void FakeRunner::Become(FakeBehaviour behaviour) {
  const std::lock_guard lock(mutex_);
  behaviour_ = std::move(behaviour);
}

FromRunner FakeRunner::Answer(const FakeBehaviour& behaviour, const ToRunner& message,
                              Frame& frame) {
  if (const auto* load = std::get_if<LoadModule>(&message)) {
    Forget();
    module_ = *load;
    runs_ = 0;
  } else if (const auto* bind = std::get_if<BindBuffers>(&message)) {
    Set set;
    size_t next = 0;
    for (const BufferHandle& handle : bind->buffers) {
      if (handle.size == 0) {
        set.buffers.push_back(nullptr);
        continue;
      }
      void* mapping = ::mmap(nullptr, handle.mapping_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                             frame.fds.at(next++).get(), 0);
      set.mappings.push_back(mapping);
      set.sizes.push_back(handle.mapping_bytes);
      set.buffers.push_back(static_cast<char*>(mapping) + handle.offset);
    }
    sets_[bind->set] = std::move(set);
  } else if (const auto* run = std::get_if<RunPlan>(&message)) {
    Done done;
    for (uint32_t number : run->sets) {
      const FakeRun context{module_.plan, sets_.at(number).buffers, runs_++, run->timed};
      const auto began = std::chrono::steady_clock::now();
      if (behaviour.kernel) behaviour.kernel(context);
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - began;
      if (!run->timed) continue;
      done.run_us.push_back(behaviour.said_us ? behaviour.said_us(context, took.count())
                                              : took.count());
    }
    return done;
  }
  return Done{};
}

void FakeRunner::Serve() {
  std::string bytes = Encode(FromRunner(RunnerReady{}));
  if (!socket_.Send(bytes, {}, kPatience)) return;
  for (;;) {
    auto frame = socket_.Receive(kPatience);
    if (!frame) return;
    const auto message = Decode<ToRunner>(frame->bytes);
    if (!message) return;
    FakeBehaviour behaviour;
    {
      const std::lock_guard lock(mutex_);
      behaviour = behaviour_;
    }
    if (behaviour.hangs && behaviour.hangs(*message)) continue;
    std::optional<std::string> answer = Encode(Answer(behaviour, *message, *frame));
    if (behaviour.tongue) answer = behaviour.tongue(*message, std::move(*answer));
    if (!answer) return socket_.Shutdown();
    if (!socket_.Send(*answer, {}, kPatience)) return;
  }
}

}  // namespace warpsmith
