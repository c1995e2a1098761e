#include "tools/warpsmith/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "common/base/random.h"
#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/wire/codec.h"
#include "schema/coordinator.h"

namespace warpsmith {
namespace {

constexpr const char* kAddressFile = "runs/current/address";
constexpr Duration kRepeat = std::chrono::seconds(2);         // of a request that nobody answered
constexpr Duration kConnect = std::chrono::milliseconds(50);  // between tries while not connected

ErrorCode ParseErrorCode(const std::string& word) {
  for (const auto code :
       {ErrorCode::kInvalidInput, ErrorCode::kNotFound, ErrorCode::kMissing,
        ErrorCode::kUnavailable, ErrorCode::kExhausted, ErrorCode::kCorrupt, ErrorCode::kTimeout})
    if (word == ToString(code)) return code;
  return ErrorCode::kInternal;
}

}  // namespace

Result<std::string> CoordinatorAddress(const std::string& flag) {
  if (!flag.empty()) return flag;
  if (const char* set = std::getenv("WARPSMITH_COORDINATOR"); set && *set) return std::string(set);
  if (auto text = ReadFile(kAddressFile, 4096)) {
    const auto end = text->find_last_not_of(" \r\n");
    text->resize(end == std::string::npos ? 0 : end + 1);
    if (!text->empty()) return std::move(*text);
  }
  return Fail(ErrorCode::kNotFound,
              fmt::format("no coordinator is known: start one with `warpsmith up`, or name it with "
                          "--coordinator ADDRESS or WARPSMITH_COORDINATOR (there is no {} here)",
                          kAddressFile));
}

Result<Client> Client::Connect(const std::string& flag) {
  ASSIGN_OR_RETURN(std::string address, CoordinatorAddress(flag));
  auto transport = DealerTransport::Connect(address, MakeRoutingId("client"));
  if (!transport) return Wrap(transport.error(), "coordinator " + address);
  return Client(std::move(*transport), std::move(address));
}

Result<ClientReply> Client::Call(const ClientRequest& request, Duration timeout) {
  using Steady = std::chrono::steady_clock;
  const uint64_t id = next_id_++;
  const std::string bytes = Encode(ToCoordinator{ClientCall{id, request}});
  const TimePoint began = Steady::now();
  const TimePoint deadline = began + timeout;
  TimePoint send_at = began;
  for (TimePoint now = send_at; now < deadline; now = Steady::now()) {
    if (now >= send_at) {
      const auto sent = transport_->Send({.peer = "", .bytes = bytes});
      if (!sent && sent.error().code != ErrorCode::kUnavailable)
        return Wrap(sent.error(), "this request cannot be sent (a run's suites travel with it)");
      connected_ = connected_ || sent.has_value();
      // A coordinator that starts again is waited for, one that never was there is not.
      if (!connected_ && now - began >= nobody_)
        return Fail(ErrorCode::kUnavailable,
                    fmt::format("nobody listens at {}: start a coordinator (warpsmith up), or name "
                                "another with --coordinator ADDRESS",
                                address_));
      send_at = now + (sent ? kRepeat : kConnect);
    }
    const auto envelope = transport_->Receive(std::min(send_at, deadline) - now);
    if (!envelope) continue;
    auto message = Decode<FromCoordinator>(envelope->bytes);
    if (!message) return Wrap(message.error(), "answer of " + address_);
    auto* answer = std::get_if<ClientAnswer>(&*message);
    if (!answer || answer->id != id) continue;  // of an earlier call, repeated
    if (const auto* failed = std::get_if<RequestFailed>(&answer->reply))
      return Fail(ParseErrorCode(failed->code), failed->why);
    return std::move(answer->reply);
  }
  return Fail(ErrorCode::kUnavailable,
              fmt::format("no answer from the coordinator at {} within {:.0f} s: is it running "
                          "(warpsmith up), and is the address right?",
                          address_, std::chrono::duration<double>(timeout).count()));
}

Result<RunId> ChosenRun(Client& client, std::optional<uint64_t> named) {
  if (named) return RunId(*named);
  ASSIGN_OR_RETURN(const auto cluster, client.Ask<ClusterStatus>(GetCluster{}));
  RunId newest;
  for (const auto& run : cluster.runs) newest = std::max(newest, run.run);
  if (cluster.runs.empty())
    return Fail(ErrorCode::kNotFound,
                "no run was submitted yet: start one with `warpsmith run FILE`");
  return newest;
}

std::string SubmissionKey(const std::string& word) {
  return fmt::format("{}-{:016x}{:016x}", word, SecretSeed(), SecretSeed());
}

}  // namespace warpsmith
