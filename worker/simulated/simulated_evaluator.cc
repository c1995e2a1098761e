#include "worker/simulated/simulated_evaluator.h"

#include <condition_variable>
#include <mutex>

#include "common/base/check.h"
#include "common/base/random.h"
#include "common/runtime/sha256.h"
#include "worker/simulated/cost_model.h"

namespace warpsmith {
namespace {

constexpr size_t kMaxWaiting = 65536;

}  // namespace

struct SimulatedEvaluator::Lane {
  explicit Lane(int i) : index(i), queue(kMaxWaiting) {}

  struct Item {
    EvaluationOrder order;
    std::function<void(Evaluation)> done;
  };
  const int index;
  BoundedQueue<Item> queue;
  std::mutex mutex;
  std::condition_variable stopped;
  bool stopping = false;
  std::jthread thread;
};

SimulatedEvaluator::SimulatedEvaluator(SimulatedOptions options) : options_(options) {
  for (int i = 0; i < options_.devices; ++i) {
    lanes_.push_back(std::make_unique<Lane>(i));
    lanes_.back()->thread = std::jthread([this, lane = lanes_.back().get()] { Serve(*lane); });
  }
}

SimulatedEvaluator::~SimulatedEvaluator() {
  for (auto& lane : lanes_) {
    lane->queue.Close();
    std::lock_guard lock(lane->mutex);
    lane->stopping = true;
    lane->stopped.notify_all();
  }
  lanes_.clear();
}

std::vector<DeviceFacts> SimulatedEvaluator::Devices() const {
  std::vector<DeviceFacts> devices;
  for (const auto& lane : lanes_) devices.push_back(SimulatedDevice(lane->index));
  return devices;
}

void SimulatedEvaluator::Submit(EvaluationOrder order, std::function<void(Evaluation)> done) {
  CHECK(order.device_index >= 0 && static_cast<size_t>(order.device_index) < lanes_.size(),
        "an order names one of the evaluator's lanes");
  Lane& lane = *lanes_[static_cast<size_t>(order.device_index)];
  lane.queue.Push({std::move(order), std::move(done)});
}

void SimulatedEvaluator::Serve(Lane& lane) {
  for (uint64_t number = 0; std::optional<Lane::Item> item = lane.queue.Pop(); ++number) {
    bool stopping = false;
    {
      std::unique_lock lock(lane.mutex);
      stopping = lane.stopped.wait_for(lock, options_.delay, [&] { return lane.stopping; });
    }
    Evaluation record = Judge(item->order, number);
    if (stopping) {
      record.outcome = Infrastructure{InfrastructureKind::kWorkerLost, "the evaluator stops"};
    }
    item->done(std::move(record));
  }
}

Evaluation SimulatedEvaluator::Judge(const EvaluationOrder& order, uint64_t number) const {
  Evaluation record{.candidate_hash = Sha256Hex(order.candidate),
                    .task = order.task.id,
                    .device = SimulatedDevice(order.device_index),
                    .depth = order.depth};
  double ms = std::chrono::duration<double, std::milli>(options_.delay).count();
  record.stages = {{Stage::kScreen, ms}};
  Random random(MixSeed({options_.seed, static_cast<uint64_t>(order.device_index), number}));
  if (random.Chance(options_.trouble)) {
    record.outcome = Infrastructure{InfrastructureKind::kTooNoisy, "simulated trouble"};
  } else {
    record.outcome = SimulatedOutcome(order.task, order.candidate, order.depth, options_.seed);
  }
  return record;
}

}  // namespace warpsmith
