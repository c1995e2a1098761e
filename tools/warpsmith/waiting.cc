#include "tools/warpsmith/waiting.h"

#include <poll.h>

namespace warpsmith {

void WaitForStop(const StopSignals& signals, Duration duration) {
  pollfd entry{signals.fd(), POLLIN, 0};
  ::poll(&entry, 1,
         static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(duration).count()));
}

}  // namespace warpsmith
