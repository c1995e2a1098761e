#include "common/queue/redis_connection.h"

#include <hiredis/hiredis.h>
#include <signal.h>

#include <algorithm>

#include "common/base/parse.h"

namespace warpsmith {
namespace {

constexpr Duration kFirstBackoff = std::chrono::milliseconds(20);
constexpr Duration kLongestBackoff = std::chrono::seconds(2);

timeval ToTimeval(Duration duration) {
  const auto us = std::chrono::ceil<std::chrono::microseconds>(duration).count();
  return {us / 1'000'000, us % 1'000'000};
}

// The port of "tcp:host:port", or 0.
int PortOf(std::string_view text) { return ParseWhole<uint16_t>(text).value_or(0); }

}  // namespace

void RedisReplyDeleter::operator()(redisReply* reply) const { freeReplyObject(reply); }

Result<std::unique_ptr<RedisQueue>> RedisQueue::Make(RedisOptions options) {
  const std::string& address = options.address;
  const size_t colon = address.rfind(':');
  const bool unix_path = address.starts_with("unix:/");
  const bool tcp =
      address.starts_with("tcp:") && colon > 4 && PortOf(address.substr(colon + 1)) > 0;
  if (!unix_path && !tcp)
    return Fail(
        ErrorCode::kInvalidInput,
        "'" + address + "' is no address of a Redis server; write unix:/path or tcp:host:port");
  // hiredis writes without MSG_NOSIGNAL, and a server that dies must not take us with it.
  struct sigaction current;
  if (::sigaction(SIGPIPE, nullptr, &current) == 0 && current.sa_handler == SIG_DFL)
    ::signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<RedisQueue>(new RedisQueue(std::move(options)));
}

RedisQueue::Connection::Connection(RedisOptions options) : options_(std::move(options)) {}
RedisQueue::Connection::~Connection() { Drop(); }

void RedisQueue::Connection::Drop() {
  if (context_) redisFree(context_);
  context_ = nullptr;
}

Duration RedisQueue::Connection::UntilNextAttempt() const {
  if (context_) return {};
  return std::max(next_attempt_ - std::chrono::steady_clock::now(), Duration{});
}

Status RedisQueue::Connection::Connect() {
  const timeval timeout = ToTimeval(options_.timeout);
  const std::string& address = options_.address;
  if (address.starts_with("unix:")) {
    context_ = redisConnectUnixWithTimeout(address.c_str() + 5, timeout);
  } else {
    const size_t colon = address.rfind(':');
    context_ = redisConnectWithTimeout(address.substr(4, colon - 4).c_str(),
                                       PortOf(address.substr(colon + 1)), timeout);
  }
  if (!context_) return Fail(ErrorCode::kExhausted, "no memory for a connection to Redis");
  if (context_->err) {
    const std::string why = context_->errstr;
    Drop();
    return Fail(ErrorCode::kUnavailable, "Redis at " + address + ": " + why);
  }
  if (address.starts_with("tcp:")) redisEnableKeepAlive(context_);  // an error on other sockets
  if (options_.password.empty()) return {};
  auto authenticated = Command({"AUTH", options_.password});
  if (!authenticated) return tl::unexpected(authenticated.error());
  return {};
}

Status RedisQueue::Connection::EnsureConnected() {
  if (context_) return {};
  if (UntilNextAttempt() > Duration{})
    return Fail(ErrorCode::kUnavailable, "Redis at " + options_.address + " is away");
  Status connected = Connect();
  if (connected) {
    backoff_ = Duration{};
  } else {
    Drop();
    backoff_ = std::clamp(backoff_ * 2, kFirstBackoff, kLongestBackoff);
    next_attempt_ = std::chrono::steady_clock::now() + backoff_;
  }
  return connected;
}

tl::unexpected<Error> RedisQueue::Connection::ServerError(std::string_view text) {
  const auto is = [&](std::string_view word) { return text.starts_with(word); };
  const std::string message = "Redis at " + options_.address + ": " + std::string(text);
  // Errors inside a script carry the inner error's text after its own words.
  if (is("OOM") || text.find("OOM command not allowed") != text.npos)
    return Fail(ErrorCode::kExhausted, message + "; raise its maxmemory, or wait for the learner");
  if (is("MISCONF")) return Fail(ErrorCode::kExhausted, message + "; free its disk");
  if (is("NOGROUP") || is("UNBLOCKED") || text.find("no such key") != text.npos)
    return Fail(ErrorCode::kNotFound, message);
  if (text.find("without any password") != text.npos) {
    Drop();
    return Fail(ErrorCode::kInvalidInput,
                message + "; it has no password: unset WARPSMITH_REDIS_PASSWORD");
  }
  if (is("NOAUTH") || is("WRONGPASS")) {
    Drop();
    return Fail(ErrorCode::kInvalidInput,
                message + "; set WARPSMITH_REDIS_PASSWORD to its password");
  }
  constexpr std::string_view kElsewhere[] = {
      "LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN",
      "BUSY ",   "MOVED",      "ASK",         "ERR max number of clients"};
  if (text.find("READONLY") != text.npos ||
      std::any_of(std::begin(kElsewhere), std::end(kElsewhere), is)) {
    // Another server may be the master by now: resolve the name again.
    Drop();
    return Fail(ErrorCode::kUnavailable, message);
  }
  return Fail(ErrorCode::kInternal, message);
}

Result<RedisReply> RedisQueue::Connection::Command(const std::vector<std::string_view>& arguments,
                                                   Duration extra) {
  if (!context_) RETURN_IF_ERROR(EnsureConnected());
  redisSetTimeout(context_, ToTimeval(options_.timeout + extra));

  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (std::string_view argument : arguments) {
    texts.push_back(argument.data());
    lengths.push_back(argument.size());
  }
  RedisReply reply(static_cast<redisReply*>(redisCommandArgv(
      context_, static_cast<int>(arguments.size()), texts.data(), lengths.data())));
  if (!reply) {
    const std::string why = context_->errstr;
    Drop();
    next_attempt_ = {};  // an old connection tells nothing about a new one
    return Fail(ErrorCode::kUnavailable, "Redis at " + options_.address + ": " + why);
  }
  if (reply->type == REDIS_REPLY_ERROR)
    return ServerError({reply->str, static_cast<size_t>(reply->len)});
  return reply;
}

Result<RedisReply> RedisQueue::Connection::Script(const std::string& text,
                                                  std::vector<std::string_view> keys,
                                                  const std::vector<std::string_view>& arguments) {
  for (int attempt = 0;; ++attempt) {
    std::string& sha = sha_of_[text];
    if (sha.empty()) {
      ASSIGN_OR_RETURN(RedisReply loaded, Command({"SCRIPT", "LOAD", text}));
      if (loaded->type != REDIS_REPLY_STRING)
        return Fail(ErrorCode::kInternal, "SCRIPT LOAD gave no digest");
      sha.assign(loaded->str, static_cast<size_t>(loaded->len));
    }
    const std::string key_count = std::to_string(keys.size());
    std::vector<std::string_view> command{"EVALSHA", sha, key_count};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto reply = Command(command);
    const bool forgotten = !reply && reply.error().message.find("NOSCRIPT") != std::string::npos;
    if (!forgotten || attempt > 0) return reply;
    sha.clear();  // restarted, or SCRIPT FLUSH
  }
}

}  // namespace warpsmith
