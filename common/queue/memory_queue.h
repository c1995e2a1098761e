// A TrajectoryQueue in memory, for one process and for tests: the broker stands for the server, and
// can be away, full, or wiped like one.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "common/queue/trajectory_queue.h"

namespace warpsmith {

// Thread-safe. Outlives its queues by shared ownership.
class MemoryBroker {
 public:
  void SetAway(bool away);
  void SetFull(bool full);
  void Wipe();
  // Loses the payload of an entry that a consumer was given and has not acknowledged.
  void LosePayload(const std::string& stream, uint64_t publish_seq);

 private:
  friend class MemoryQueue;
  struct Stream {
    std::map<uint64_t, QueuedTrajectory> entries;  // by place in the stream
    std::set<uint64_t> held;                       // publish_seqs among them
    std::set<uint64_t> lost;                       // publish_seqs that were, and went untrimmed
    std::set<uint64_t> pending;                    // places given out, not acknowledged
    uint64_t next_unread = 1;
    uint64_t floor = 0;  // below it everything is acknowledged
    uint64_t end = 0;
  };

  Status Check(bool writing) const;

  mutable std::mutex mutex_;
  bool away_ = false;
  bool full_ = false;
  std::map<std::string, Stream> streams_;
  uint64_t next_place_ = 1;  // never used twice, not even after a wipe
};

class MemoryQueue : public TrajectoryQueue {
 public:
  explicit MemoryQueue(std::shared_ptr<MemoryBroker> broker) : broker_(std::move(broker)) {}

  Status Ping() override;
  Status Publish(const std::string& stream, const std::vector<QueuedTrajectory>& batch) override;
  Result<uint64_t> End(const std::string& stream) override;
  Status Trim(const std::string& stream, uint64_t below) override;
  // Never waits: what is not there now does not come.
  Result<std::vector<QueuedTrajectory>> Read(const std::string& stream, size_t limit,
                                             Duration wait) override;
  Status Acknowledge(const std::string& stream, const std::vector<std::string>& entries) override;
  Status Drop(const std::string& stream) override;

 private:
  std::shared_ptr<MemoryBroker> broker_;
  std::map<std::string, uint64_t> given_;  // place of the last entry that this consumer was given
};

}  // namespace warpsmith
