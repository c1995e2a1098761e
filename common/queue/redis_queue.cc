#include "common/queue/redis_queue.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <thread>

#include "common/base/parse.h"
#include "common/base/random.h"
#include "common/queue/redis_connection.h"

namespace warpsmith {
namespace {

// Everybody who reads is the same consumer, so that a new process is given what the last one left.
constexpr std::string_view kGroup = "learner";
constexpr std::string_view kConsumer = "learner";
constexpr Duration kGroupBackoff = std::chrono::milliseconds(100);

constexpr size_t kPublishEntries = 64;
constexpr size_t kPublishBytes = 8 << 20;
constexpr size_t kAcknowledgeEntries = 1000;

// KEYS: stream, sorted set of entry ids by publish_seq, mark. ARGV: a random number, then seq,
// payload, ... Entries get ids of the server's clock: a wiped stream may be filled again in any
// order. A new stream's first id has the random number in it, so that no entry of before a wipe has
// an id of after it. The group comes with the stream, because a reader could not make it once
// memory is full, and then nothing would ever be read. Entries may be gone though the set still
// names them (the stream's key alone was evicted or deleted, or somebody trimmed it by length):
// then publishing again means it.
const std::string kPublishScript = R"lua(
local next_id = '*'
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('XGROUP', 'CREATE', KEYS[1], 'learner', '0', 'MKSTREAM')
  local now = redis.call('TIME')
  next_id = string.format('%.0f-%s', now[1] * 1000 + math.floor(now[2] / 1000), ARGV[1])
end
local floor = tonumber(redis.call('GET', KEYS[3]) or '0')
local lost = redis.call('XLEN', KEYS[1]) < redis.call('ZCARD', KEYS[2])
for i = 2, #ARGV, 2 do
  local seq = tonumber(ARGV[i])
  local held = redis.call('ZRANGEBYSCORE', KEYS[2], seq, seq, 'LIMIT', 0, 1)[1]
  if held and lost and #redis.call('XRANGE', KEYS[1], held, held) == 0 then
    redis.call('ZREM', KEYS[2], held)
    held = nil
  end
  if seq >= floor and not held then
    local id = redis.call('XADD', KEYS[1], next_id, 's', ARGV[i], 'p', ARGV[i + 1])
    next_id = '*'
    redis.call('ZADD', KEYS[2], seq, id)
  end
end
return 0
)lua";

const std::string kEndScript = R"lua(
local floor = tonumber(redis.call('GET', KEYS[3]) or '0')
if redis.call('XLEN', KEYS[1]) < redis.call('ZCARD', KEYS[2]) then
  return floor
end
local last = redis.call('ZREVRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return math.max(last[2] and tonumber(last[2]) + 1 or 0, floor)
)lua";

// The mark comes last: deleting is allowed when memory is full, and makes room for it. Where it
// does not, the mark waits for the next time.
const std::string kTrimScript = R"lua(
local below = tonumber(ARGV[1])
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[1])
for first = 1, #ids, 500 do
  redis.call('XDEL', KEYS[1], unpack(ids, first, math.min(first + 499, #ids)))
end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[1])
if below > tonumber(redis.call('GET', KEYS[3]) or '0') then
  redis.pcall('SET', KEYS[3], ARGV[1])
end
return #ids
)lua";

// The names of what stands beside a stream share its hash slot.
struct Keys {
  explicit Keys(const std::string& name)
      : stream(name), held("{" + name + "}:held"), mark("{" + name + "}:acknowledged") {}
  std::vector<std::string_view> all() const { return {stream, held, mark}; }

  std::string stream, held, mark;
};

std::string_view TextOf(const redisReply* reply) {
  if (!reply || reply->type != REDIS_REPLY_STRING) return {};
  return {reply->str, static_cast<size_t>(reply->len)};
}

// One entry: [id, [field, value, ...]], the second nil where the entry is deleted. One without a
// number is nobody's trajectory, and as good as deleted.
QueuedTrajectory ParseEntry(const redisReply* entry) {
  QueuedTrajectory item;
  if (entry->type != REDIS_REPLY_ARRAY || entry->elements < 2) return item;
  item.entry = TextOf(entry->element[0]);
  const redisReply* fields = entry->element[1];
  if (fields->type != REDIS_REPLY_ARRAY) return item;
  bool numbered = false;
  for (size_t i = 0; i + 1 < fields->elements; i += 2) {
    const std::string_view name = TextOf(fields->element[i]);
    const std::string_view value = TextOf(fields->element[i + 1]);
    if (name == "s") {
      const auto number = ParseWhole<uint64_t>(value);
      numbered = number.has_value();
      item.publish_seq = number.value_or(0);
    }
    if (name == "p") item.payload = value;
  }
  if (!numbered) item.payload.clear();
  return item;
}

}  // namespace

RedisQueue::RedisQueue(RedisOptions options)
    : connection_(std::make_unique<Connection>(std::move(options))) {}
RedisQueue::~RedisQueue() = default;

// A write, because a server that answers may still be full, or no master.
Status RedisQueue::Ping() {
  auto reply = connection_->Command({"SET", "warpsmith:ping", "1", "EX", "60"});
  if (!reply) return tl::unexpected(reply.error());
  return {};
}

Status RedisQueue::Publish(const std::string& stream, const std::vector<QueuedTrajectory>& batch) {
  const Keys keys(stream);
  const std::string random = std::to_string(SecretSeed() >> 1);  // room to count up from
  size_t next = 0;
  while (next < batch.size()) {
    const size_t first = next;
    size_t bytes = 0;
    std::vector<std::string> numbers;
    while (next < batch.size() && next - first < kPublishEntries && bytes < kPublishBytes) {
      numbers.push_back(std::to_string(batch[next].publish_seq));
      bytes += batch[next++].payload.size();
    }
    std::vector<std::string_view> arguments{random};
    for (size_t i = first; i < next; ++i) {
      arguments.push_back(numbers[i - first]);
      arguments.push_back(batch[i].payload);
    }
    auto reply = connection_->Script(kPublishScript, keys.all(), arguments);
    if (!reply) return tl::unexpected(reply.error());
  }
  return {};
}

Result<uint64_t> RedisQueue::End(const std::string& stream) {
  ASSIGN_OR_RETURN(RedisReply reply, connection_->Script(kEndScript, Keys(stream).all(), {}));
  return static_cast<uint64_t>(reply->integer);
}

Status RedisQueue::Trim(const std::string& stream, uint64_t below) {
  const std::string number = std::to_string(below);
  auto reply = connection_->Script(kTrimScript, Keys(stream).all(), {number});
  if (!reply) return tl::unexpected(reply.error());
  return {};
}

Status RedisQueue::MakeGroup(const std::string& stream) {
  auto reply = connection_->Command({"XGROUP", "CREATE", stream, kGroup, "0", "MKSTREAM"});
  const bool there = !reply && reply.error().message.find("BUSYGROUP") != std::string::npos;
  if (!reply && !there) return tl::unexpected(reply.error());
  return {};
}

Result<std::vector<QueuedTrajectory>> RedisQueue::ReadFrom(const std::string& stream,
                                                           const std::string& after, size_t limit,
                                                           Duration wait) {
  const std::string count = std::to_string(limit);
  const std::string block =
      std::to_string(std::chrono::ceil<std::chrono::milliseconds>(wait).count());
  std::vector<std::string_view> command{"XREADGROUP", "GROUP", kGroup, kConsumer, "COUNT", count};
  if (wait > Duration{}) command.insert(command.end(), {"BLOCK", block});  // BLOCK 0 waits for ever
  command.insert(command.end(), {"STREAMS", stream, after});
  ASSIGN_OR_RETURN(RedisReply reply, connection_->Command(command, wait));

  // [[stream, [entry, ...]]], or nil when nothing came.
  std::vector<QueuedTrajectory> result;
  if (reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) return result;
  const redisReply* of_stream = reply->element[0];
  if (of_stream->type != REDIS_REPLY_ARRAY || of_stream->elements < 2) return result;
  const redisReply* entries = of_stream->element[1];
  if (entries->type != REDIS_REPLY_ARRAY) return result;
  for (size_t i = 0; i < entries->elements; ++i) result.push_back(ParseEntry(entries->element[i]));
  return result;
}

Result<std::vector<QueuedTrajectory>> RedisQueue::ReadNew(const std::string& stream, Cursor& cursor,
                                                          size_t limit, Duration wait) {
  auto fresh = ReadFrom(stream, ">", limit, wait);
  if (fresh && !fresh->empty()) cursor.last = fresh->back().entry;
  // A server that is slow gives entries out after nobody waits for the reply any more.
  if (!fresh && fresh.error().code != ErrorCode::kNotFound) cursor.catching_up = true;
  return fresh;
}

Result<std::vector<QueuedTrajectory>> RedisQueue::Read(const std::string& stream, size_t limit,
                                                       Duration wait) {
  // An error must not come back sooner than the next attempt could succeed, or its caller would
  // spin.
  if (const Duration away = connection_->UntilNextAttempt(); away > Duration{})
    std::this_thread::sleep_for(std::min(away, wait));

  Cursor& cursor = cursors_[stream];
  if (cursor.catching_up) {
    auto past = ReadFrom(stream, cursor.last, limit, {});
    if (past && !past->empty()) {
      cursor.last = past->back().entry;
      return past;
    }
    if (!past && past.error().code != ErrorCode::kNotFound) return past;
    cursor.catching_up = false;
  }

  auto fresh = ReadNew(stream, cursor, limit, wait);
  if (fresh || fresh.error().code != ErrorCode::kNotFound) return fresh;
  // No group: a new stream, or the server lost it. The error comes at once, whatever BLOCK said.
  RETURN_IF_ERROR(MakeGroup(stream));
  fresh = ReadNew(stream, cursor, limit, {});
  if (fresh && !fresh->empty()) return fresh;
  if (!fresh && fresh.error().code != ErrorCode::kNotFound) return fresh;
  std::this_thread::sleep_for(std::min(kGroupBackoff, wait));
  return std::vector<QueuedTrajectory>{};
}

Status RedisQueue::Acknowledge(const std::string& stream, const std::vector<std::string>& entries) {
  for (size_t first = 0; first < entries.size(); first += kAcknowledgeEntries) {
    std::vector<std::string_view> command{"XACK", stream, kGroup};
    const auto begin = entries.begin() + static_cast<ptrdiff_t>(first);
    command.insert(
        command.end(), begin,
        begin + static_cast<ptrdiff_t>(std::min(kAcknowledgeEntries, entries.size() - first)));
    auto reply = connection_->Command(command);
    if (!reply && reply.error().code != ErrorCode::kNotFound) return tl::unexpected(reply.error());
  }
  return {};
}

Status RedisQueue::Drop(const std::string& stream) {
  const Keys keys(stream);
  auto reply = connection_->Command({"DEL", keys.stream, keys.held, keys.mark});
  if (!reply) return tl::unexpected(reply.error());
  cursors_.erase(stream);
  return {};
}

}  // namespace warpsmith
