// What every pure core shares with its shell: the event that time has passed, and the effect that
// something is to be logged.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace warpsmith {

// Deadlines are looked at with this event only.
struct TimePassed {};

// Something that people want to read in the log.
struct LogLine {
  bool warning = false;
  std::string event;
  std::vector<std::pair<std::string, std::string>> fields;  // those with an empty value say nothing
  bool operator==(const LogLine&) const = default;
};

}  // namespace warpsmith
