// One connection to a Redis server: commands with binary arguments, scripts, and errors by what a
// caller does about them. Private to common/queue.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/queue/redis_queue.h"

struct redisContext;
struct redisReply;

namespace warpsmith {

struct RedisReplyDeleter {
  void operator()(redisReply* reply) const;
};
using RedisReply = std::unique_ptr<redisReply, RedisReplyDeleter>;

class RedisQueue::Connection {
 public:
  explicit Connection(RedisOptions options);
  ~Connection();

  // A reply that is no error. kUnavailable: the server is away, starting or no master, and the
  // connection is dropped; kExhausted: it is full. kNotFound: NOGROUP. `extra` is added to the time
  // limit.
  Result<RedisReply> Command(const std::vector<std::string_view>& arguments, Duration extra = {});

  // EVALSHA, with the script loaded where the server does not have it.
  Result<RedisReply> Script(const std::string& text, std::vector<std::string_view> keys,
                            const std::vector<std::string_view>& arguments);

  // How long until the next attempt to connect; zero when connected.
  Duration UntilNextAttempt() const;

 private:
  Status EnsureConnected();
  Status Connect();
  void Drop();
  tl::unexpected<Error> ServerError(std::string_view text);

  RedisOptions options_;
  redisContext* context_ = nullptr;
  TimePoint next_attempt_{};
  Duration backoff_{};
  std::map<std::string, std::string> sha_of_;  // script text -> its SHA-1 on the server
};

}  // namespace warpsmith
