// Transport over ZeroMQ: a ROUTER that binds (coordinator, learner's weights) and a DEALER that
// connects (worker, learner, client). Endpoints are "tcp://host:port" or "ipc:///path". One thread
// owns each object; Wake may be called from any.
//
// A message that the peer's queue does not take at once is refused, never parked: conversations
// repeat what matters. Bytes that are no ZeroMQ, half greetings and messages over 64 MiB cost their
// own connection only, and are counted. Noise that happens to look like ZeroMQ's first protocol
// comes out as a message of a peer that nobody knows, for the codec to refuse.
#pragma once

#include <memory>

#include "common/net/transport.h"

namespace warpsmith {

constexpr int64_t kMaxMessageBytes = 64 << 20;

struct TransportCounters {
  uint64_t connections = 0;  // made or accepted since the start
  uint64_t disconnections = 0;
  uint64_t failed_handshakes = 0;  // strangers
  uint64_t malformed = 0;          // messages of other than one part
};

class ZmqTransport : public Transport {
 public:
  ~ZmqTransport() override;
  Status Send(const Envelope& envelope) override;
  std::optional<Envelope> Receive(Duration timeout) override;
  void Wake() override;

  // The address in force; where the port was "*", the one that was given.
  std::string endpoint() const;
  // As of the last Receive.
  const TransportCounters& counters() const;

 protected:
  struct Socket;
  explicit ZmqTransport(std::unique_ptr<Socket> socket);

 private:
  std::unique_ptr<Socket> socket_;
};

class RouterTransport : public ZmqTransport {
 public:
  // kExhausted: the address is taken. kInvalidInput: it is no address of this machine.
  static Result<std::unique_ptr<RouterTransport>> Bind(const std::string& endpoint);

 private:
  using ZmqTransport::ZmqTransport;
};

class DealerTransport : public ZmqTransport {
 public:
  // Connects, and connects again, in the background. `routing_id` (1 to 255 bytes, the first not
  // NUL) names this incarnation to the other side. kInvalidInput: no address at all.
  static Result<std::unique_ptr<DealerTransport>> Connect(const std::string& endpoint,
                                                          const std::string& routing_id);

 private:
  using ZmqTransport::ZmqTransport;
};

// A routing id that no other incarnation has: `word`, the host, the process, and 64 random bits.
std::string MakeRoutingId(const std::string& word);

}  // namespace warpsmith
