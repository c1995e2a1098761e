// What `warpsmith run` shows while it follows a run. Pure.
#pragma once

#include <string>

#include "common/base/clock.h"
#include "schema/client.h"

namespace warpsmith {

// Guesses the time that is left from how fast evaluations finished since the following began.
class ProgressLine {
 public:
  // One line of at most `width` columns, without a line end:
  //   [######------]  42%  134/320 evaluations  pass 61%  best 1.83x softmax_rows  12 s left  host
  std::string Text(const RunStatus& status, TimePoint now, size_t width);

 private:
  bool begun_ = false;
  TimePoint since_{};
  int64_t finished_at_begin_ = 0;
};

// What a run came to, in a few lines.
std::string Summary(const RunStatus& status);

// "42 s", "3 min 20 s", "2 h 05 min".
std::string ForPeople(Duration duration);

bool HasEnded(RunState state);

}  // namespace warpsmith
