#include "tests/support/private_redis.h"

#include <hiredis/hiredis.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

namespace warpsmith {
namespace {

std::string TextOf(const redisReply* reply) {
  if (!reply) return "no reply";
  switch (reply->type) {
    case REDIS_REPLY_INTEGER: return std::to_string(reply->integer);
    case REDIS_REPLY_NIL: return "nil";
    case REDIS_REPLY_ARRAY: {
      std::string lines;
      for (size_t i = 0; i < reply->elements; ++i) lines += TextOf(reply->element[i]) + "\n";
      return lines;
    }
    default: return std::string(reply->str, static_cast<size_t>(reply->len));
  }
}

std::string ServerProgram() {
  for (const char* path : {"/usr/bin/redis-server", "/usr/local/bin/redis-server"})
    if (::access(path, X_OK) == 0) return path;
  return "";
}

}  // namespace

Result<PrivateRedis> PrivateRedis::Start() {
  PrivateRedis redis;
  ASSIGN_OR_RETURN(redis.folder_, TempDirectory::Make("private-redis"));
  RETURN_IF_ERROR(redis.StartAgain());
  return redis;
}

Status PrivateRedis::StartAgain() {
  const std::string program = ServerProgram();
  if (program.empty()) return Fail(ErrorCode::kMissing, "no redis-server: run tools/setup");
  ASSIGN_OR_RETURN(server_, Subprocess::Start({.argv = {program, "--port", "0", "--unixsocket",
                                                        socket_path(), "--save", "", "--appendonly",
                                                        "no", "--dir", folder_.path().string()},
                                               .stdout_path = (folder_.path() / "log").string()}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (Command({"PING"}) != "PONG") {
    if (!server_.running() || std::chrono::steady_clock::now() > deadline)
      return Fail(ErrorCode::kInternal, "redis-server does not come up: " +
                                            ReadFile(folder_.path() / "log").value_or(""));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {};
}

void PrivateRedis::Kill() {
  server_.Signal(SIGKILL);
  server_.Wait(std::chrono::seconds(20));
}

void PrivateRedis::Freeze() { server_.Signal(SIGSTOP); }
void PrivateRedis::Thaw() { server_.Signal(SIGCONT); }

std::string PrivateRedis::Command(const std::vector<std::string>& arguments) {
  redisContext* context = redisConnectUnix(socket_path().c_str());
  std::string text = "no connection";
  if (context && !context->err) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& argument : arguments) {
      texts.push_back(argument.data());
      lengths.push_back(argument.size());
    }
    auto* reply = static_cast<redisReply*>(redisCommandArgv(
        context, static_cast<int>(arguments.size()), texts.data(), lengths.data()));
    text = TextOf(reply);
    if (reply) freeReplyObject(reply);
  }
  if (context) redisFree(context);
  return text;
}

}  // namespace warpsmith
