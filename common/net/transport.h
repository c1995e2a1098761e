// Messages between hosts, as a seam: ZeroMQ (zmq_transport.h) or a simulated network
// (tests/simulation). One thread owns a transport; only Wake may be called from others.
#pragma once

#include <optional>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace warpsmith {

struct Envelope {
  std::string peer;   // routing id: of the sender, or of the receiver; empty on a dealer's side
  std::string bytes;  // one whole message
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Never blocks. kUnavailable: the peer is away, or takes no more now; kInvalidInput: too long.
  virtual Status Send(const Envelope& envelope) = 0;

  // The next message, or nothing after `timeout` or a Wake. Messages over the size limit never come
  // out: their connection is closed and counted.
  virtual std::optional<Envelope> Receive(Duration timeout) = 0;

  // Ends a Receive that waits now, or the next one. Thread-safe.
  virtual void Wake() = 0;
};

}  // namespace warpsmith
