// What other threads have for the coordinator's loop. Thread-safe; never blocks the sender.
#pragma once

#include <functional>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "coordinator/core/event.h"
#include "coordinator/shell/job_store.h"

namespace warpsmith {

class CoordinatorInbox {
 public:
  // An answer goes out as it is; an event goes to the core first.
  using Item = std::variant<Event, AnswerClient>;

  // `wake` ends the loop's wait; thread-safe.
  explicit CoordinatorInbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  void Post(Item item) {
    {
      std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    wake_();
  }
  std::vector<Item> Take() {
    std::lock_guard lock(mutex_);
    return std::exchange(items_, {});
  }

  StoreListener ListenToStore() {
    return {[this](Stored stored) { Post(Event(stored)); },
            [this](StoreHealth health) { Post(Event(std::move(health))); },
            [this](const ClientId& client, ClientAnswer answer) {
              Post(AnswerClient{client, std::move(answer)});
            }};
  }
  std::function<void(RedisHealth)> ListenToPublisher() {
    return [this](RedisHealth health) { Post(Event(std::move(health))); };
  }

 private:
  std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace warpsmith
