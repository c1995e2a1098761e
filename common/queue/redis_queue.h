// TrajectoryQueue over a Redis stream and a consumer group. Beside each stream stands a sorted set
// of the publish_seqs that it holds, and the mark below which everything is acknowledged: what
// makes publishing again harmless, in whatever order a wiped server is filled again. Scripts keep
// the three together.
//
// After a broken connection, or an error that says that this server does not serve now, a later
// call connects again, resolving the name anew, and no sooner than a back-off allows (20 ms,
// doubling to 2 s). A reply that was lost with its connection may have held entries: the next Read
// gives them. A process that makes a RedisQueue ignores SIGPIPE.
#pragma once

#include <map>
#include <memory>

#include "common/queue/trajectory_queue.h"

namespace warpsmith {

struct RedisOptions {
  std::string address;                         // "unix:/path" or "tcp:host:port"
  std::string password;                        // empty: none
  Duration timeout = std::chrono::seconds(3);  // of one command, besides what Read waits
};

class RedisQueue : public TrajectoryQueue {
 public:
  // kInvalidInput: no such form of address. Connects at the first call that needs it.
  static Result<std::unique_ptr<RedisQueue>> Make(RedisOptions options);
  ~RedisQueue() override;

  Status Ping() override;
  Status Publish(const std::string& stream, const std::vector<QueuedTrajectory>& batch) override;
  Result<uint64_t> End(const std::string& stream) override;
  Status Trim(const std::string& stream, uint64_t below) override;
  Result<std::vector<QueuedTrajectory>> Read(const std::string& stream, size_t limit,
                                             Duration wait) override;
  Status Acknowledge(const std::string& stream, const std::vector<std::string>& entries) override;
  Status Drop(const std::string& stream) override;

 private:
  class Connection;

  // How far this consumer has come in a stream.
  struct Cursor {
    std::string last = "0";   // the newest entry that it was given
    bool catching_up = true;  // the server may have given out more than arrived: before this object
                              // was made, or in a reply that was lost
  };

  explicit RedisQueue(RedisOptions options);
  Result<std::vector<QueuedTrajectory>> ReadFrom(const std::string& stream,
                                                 const std::string& after, size_t limit,
                                                 Duration wait);
  Result<std::vector<QueuedTrajectory>> ReadNew(const std::string& stream, Cursor& cursor,
                                                size_t limit, Duration wait);
  Status MakeGroup(const std::string& stream);

  std::unique_ptr<Connection> connection_;
  std::map<std::string, Cursor> cursors_;  // by stream
};

}  // namespace warpsmith
