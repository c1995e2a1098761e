// A Redis server of a test's own: on a Unix socket in a temporary folder, nothing on disk, gone
// with its object.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/runtime/files.h"
#include "common/runtime/subprocess.h"

namespace warpsmith {

class PrivateRedis {
 public:
  // kMissing where there is no redis-server program.
  static Result<PrivateRedis> Start();

  // For RedisOptions and WelcomeLearner: "unix:/path".
  std::string address() const { return "unix:" + socket_path(); }

  void Kill();  // as a machine that loses power: nothing is kept
  Status StartAgain();
  void Freeze();  // SIGSTOP
  void Thaw();

  // A command and its reply as text, errors included; lists come one entry a line.
  std::string Command(const std::vector<std::string>& arguments);

 private:
  std::string socket_path() const { return folder_.path() / "redis.sock"; }

  TempDirectory folder_;
  Subprocess server_;
};

}  // namespace warpsmith
