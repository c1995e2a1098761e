// A bounded, closable queue: how threads hand each other owned messages. Thread-safe.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "common/base/clock.h"

namespace warpsmith {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) {}

  // Waits for room. False: the queue is closed, and `item` is dropped.
  bool Push(T item) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || items_.size() < capacity_; });
    return Add(std::move(item));
  }

  // False: full or closed.
  bool TryPush(T item) {
    std::unique_lock lock(mutex_);
    if (items_.size() >= capacity_) return false;
    return Add(std::move(item));
  }

  // Waits for an item. Nothing: the queue is closed and empty.
  std::optional<T> Pop() {
    std::unique_lock lock(mutex_);
    filled_.wait(lock, [&] { return closed_ || !items_.empty(); });
    return Take();
  }

  // Nothing: none came in time, or closed and empty.
  std::optional<T> PopFor(Duration timeout) {
    std::unique_lock lock(mutex_);
    filled_.wait_for(lock, timeout, [&] { return closed_ || !items_.empty(); });
    return Take();
  }

  std::optional<T> TryPop() {
    std::unique_lock lock(mutex_);
    return Take();
  }

  // No more items go in; those inside still come out.
  void Close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    filled_.notify_all();
    room_.notify_all();
  }

  bool closed() const {
    std::unique_lock lock(mutex_);
    return closed_;
  }
  size_t size() const {
    std::unique_lock lock(mutex_);
    return items_.size();
  }

 private:
  bool Add(T item) {
    if (closed_) return false;
    items_.push_back(std::move(item));
    filled_.notify_one();
    return true;
  }

  std::optional<T> Take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    room_.notify_one();
    return item;
  }

  const size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable filled_;
  std::condition_variable room_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace warpsmith
