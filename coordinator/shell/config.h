// The configuration of warpsmith-coordinator. `warpsmith-coordinator --print-config` shows it.
#pragma once

#include <string>

#include "common/runtime/config.h"
#include "coordinator/core/settings.h"

namespace warpsmith {

struct CoordinatorConfig {
  std::string listen = kDefaultCoordinatorAddress;
  std::string directory = "coordinator";
  std::string redis = "tcp:127.0.0.1:6379";
  std::string redis_password;
  CoordinatorSettings settings;
};

Result<ConfigAction> LoadCoordinatorConfig(int argc, const char* const* argv,
                                           CoordinatorConfig* config);

}  // namespace warpsmith
