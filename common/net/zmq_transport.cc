#include "common/net/zmq_transport.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <zmq.hpp>

#include "common/base/check.h"
#include "common/base/random.h"
#include "common/base/unique_fd.h"

namespace warpsmith {
namespace {

constexpr int kLingerMs = 300;
constexpr int kHandshakeMs = 5000;
constexpr int kHighWaterMark = 1000;  // messages a peer; credits keep far below it
constexpr char kMonitor[] = "inproc://monitor";

void SetCommonOptions(zmq::socket_t& socket) {
  socket.set(zmq::sockopt::linger, kLingerMs);
  socket.set(zmq::sockopt::maxmsgsize, kMaxMessageBytes);
  socket.set(zmq::sockopt::handshake_ivl, kHandshakeMs);
  socket.set(zmq::sockopt::sndhwm, kHighWaterMark);
  socket.set(zmq::sockopt::rcvhwm, kHighWaterMark);
  socket.set(zmq::sockopt::immediate, true);
  // A pulled cable is noticed by ZeroMQ's own heartbeats, and by TCP's.
  socket.set(zmq::sockopt::heartbeat_ivl, 5000);
  socket.set(zmq::sockopt::heartbeat_timeout, 15000);
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 60);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 10);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
}

tl::unexpected<Error> AddressError(const char* verb, const std::string& endpoint,
                                   const zmq::error_t& error) {
  const std::string what = fmt::format("{} {}: {}", verb, endpoint, error.what());
  switch (error.num()) {
    case EADDRINUSE:
      return Fail(ErrorCode::kExhausted,
                  what + "; stop the program that uses it, or choose another address");
    case EACCES:
      return Fail(ErrorCode::kInvalidInput, what + "; choose an address that this user may use");
    case EINVAL:
    case EPROTONOSUPPORT:
    case ENOCOMPATPROTO:
    case EADDRNOTAVAIL:
    case ENODEV:
    case ENOENT:
    case ENAMETOOLONG:
      return Fail(ErrorCode::kInvalidInput,
                  what + "; write tcp://host:port or ipc:///path, with an address of this machine");
    case EMFILE:
      return Fail(ErrorCode::kExhausted, what + "; raise the limit of open files (ulimit -n)");
    default: return Fail(ErrorCode::kInternal, what);
  }
}

// libzmq removes the socket file of another program that still listens, and takes its place.
bool SomebodyListensAt(const std::string& endpoint) {
  if (!endpoint.starts_with("ipc:///")) return false;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = endpoint.substr(6);
  if (path.size() >= sizeof address.sun_path) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return ::connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

struct ZmqTransport::Socket {
  explicit Socket(zmq::socket_type type)
      : is_router(type == zmq::socket_type::router),
        socket(context, type),
        monitor(context, ZMQ_PAIR) {
    CHECK(wake.valid(), "a transport starts with descriptors to spare");
    SetCommonOptions(socket);
    // Unbounded, because a full monitor would block libzmq's own thread.
    monitor.set(zmq::sockopt::rcvhwm, 0);
    monitor.set(zmq::sockopt::linger, 0);
    const int watched = ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED | ZMQ_EVENT_DISCONNECTED |
                        ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                        ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    CHECK(::zmq_socket_monitor(socket.handle(), kMonitor, watched) == 0, "a socket can be watched");
    monitor.connect(kMonitor);
  }

  // Before the monitor's other end goes with the context.
  ~Socket() { ::zmq_socket_monitor(socket.handle(), nullptr, 0); }

  void CountEvents() {
    zmq::message_t event, address;
    while (monitor.recv(event, zmq::recv_flags::dontwait)) {
      uint16_t kind = 0;
      if (event.size() >= sizeof kind) std::memcpy(&kind, event.data(), sizeof kind);
      if (event.more()) (void)monitor.recv(address, zmq::recv_flags::none);
      if (kind & (ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_CONNECTED)) {
        ++counters.connections;
      } else if (kind & ZMQ_EVENT_DISCONNECTED) {
        ++counters.disconnections;
      } else {
        ++counters.failed_handshakes;
      }
    }
  }

  // The next message that is here already and has the form of ours.
  std::optional<Envelope> Take() {
    zmq::message_t part;
    while (socket.recv(part, zmq::recv_flags::dontwait)) {
      Envelope envelope;
      bool well_formed = true;
      if (is_router) {
        envelope.peer = part.to_string();
        well_formed = part.more() && socket.recv(part, zmq::recv_flags::dontwait);
      }
      well_formed = well_formed && !part.more();
      envelope.bytes = part.to_string();
      while (part.more() && socket.recv(part, zmq::recv_flags::dontwait)) {
      }
      if (well_formed) return envelope;
      ++counters.malformed;
    }
    return std::nullopt;
  }

  bool is_router;
  zmq::context_t context{1};
  zmq::socket_t socket;
  zmq::socket_t monitor;
  UniqueFd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  TransportCounters counters;
};

ZmqTransport::ZmqTransport(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}
ZmqTransport::~ZmqTransport() = default;

Status ZmqTransport::Send(const Envelope& envelope) {
  CHECK(socket_->is_router != envelope.peer.empty(),
        "a router names the receiver, a dealer does not");
  if (envelope.bytes.size() > static_cast<size_t>(kMaxMessageBytes))
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a message of {} bytes is over the limit of {}", envelope.bytes.size(),
                            kMaxMessageBytes));
  try {
    if (socket_->is_router) {
      auto routed = socket_->socket.send(zmq::buffer(envelope.peer),
                                         zmq::send_flags::sndmore | zmq::send_flags::dontwait);
      if (!routed) return Fail(ErrorCode::kUnavailable, "the peer takes nothing more now");
    }
    if (!socket_->socket.send(zmq::buffer(envelope.bytes), zmq::send_flags::dontwait))
      return Fail(ErrorCode::kUnavailable, "the peer is not connected, or takes nothing more now");
    return {};
  } catch (const zmq::error_t& error) {
    if (error.num() == EHOSTUNREACH)
      return Fail(ErrorCode::kUnavailable, "the peer is not connected");
    return Fail(ErrorCode::kInternal, fmt::format("zmq_send: {}", error.what()));
  }
}

std::optional<Envelope> ZmqTransport::Receive(Duration timeout) {
  const TimePoint deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    try {
      socket_->CountEvents();
      if (auto envelope = socket_->Take()) return envelope;

      const auto left = std::max(deadline - std::chrono::steady_clock::now(), Duration{});
      zmq::pollitem_t items[] = {{socket_->socket.handle(), 0, ZMQ_POLLIN, 0},
                                 {nullptr, socket_->wake.get(), ZMQ_POLLIN, 0},
                                 {socket_->monitor.handle(), 0, ZMQ_POLLIN, 0}};
      zmq::poll(items, 3, std::chrono::ceil<std::chrono::milliseconds>(left));
      if (items[1].revents) {
        uint64_t count;
        [[maybe_unused]] const ssize_t n = ::read(socket_->wake.get(), &count, sizeof count);
        return std::nullopt;
      }
      // Also while strangers come and go all the time.
      if (left == Duration{} && !items[0].revents) return std::nullopt;
    } catch (const zmq::error_t& error) {
      CHECK(error.num() == EINTR, error.what());  // anything else: a socket used wrongly
    }
  }
}

void ZmqTransport::Wake() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(socket_->wake.get(), &one, sizeof one);
}

std::string ZmqTransport::endpoint() const {
  return socket_->socket.get(zmq::sockopt::last_endpoint);
}

const TransportCounters& ZmqTransport::counters() const { return socket_->counters; }

Result<std::unique_ptr<RouterTransport>> RouterTransport::Bind(const std::string& endpoint) {
  if (SomebodyListensAt(endpoint))
    return AddressError("bind", endpoint, [] {
      errno = EADDRINUSE;
      return zmq::error_t();
    }());
  auto socket = std::make_unique<Socket>(zmq::socket_type::router);
  try {
    // A peer that comes back on a new connection takes over from its old one, which may hang for
    // long.
    socket->socket.set(zmq::sockopt::router_handover, true);
    socket->socket.set(zmq::sockopt::router_mandatory, true);
    socket->socket.bind(endpoint);
  } catch (const zmq::error_t& error) {
    return AddressError("bind", endpoint, error);
  }
  return std::unique_ptr<RouterTransport>(new RouterTransport(std::move(socket)));
}

Result<std::unique_ptr<DealerTransport>> DealerTransport::Connect(const std::string& endpoint,
                                                                  const std::string& routing_id) {
  CHECK(!routing_id.empty() && routing_id.size() <= 255 && routing_id[0] != '\0',
        "a routing id that ZeroMQ takes");
  auto socket = std::make_unique<Socket>(zmq::socket_type::dealer);
  try {
    socket->socket.set(zmq::sockopt::routing_id, routing_id);
    socket->socket.set(zmq::sockopt::reconnect_ivl, 100);
    socket->socket.set(zmq::sockopt::reconnect_ivl_max, 2000);
    socket->socket.connect(endpoint);
  } catch (const zmq::error_t& error) {
    return AddressError("connect to", endpoint, error);
  }
  return std::unique_ptr<DealerTransport>(new DealerTransport(std::move(socket)));
}

std::string MakeRoutingId(const std::string& word) {
  char host[65] = "host";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}-{}-{}-{:016x}", word, host, ::getpid(), SecretSeed());
}

}  // namespace warpsmith
