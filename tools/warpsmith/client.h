// A client of the coordinator: one request, one answer, repeated until it comes. Requests that
// change something carry a key, so that repeating them is harmless. Thread-compatible.
#pragma once

#include <memory>
#include <string>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/net/transport.h"
#include "schema/client.h"

namespace warpsmith {

class Client {
 public:
  // `address` as on the command line; empty: WARPSMITH_COORDINATOR, then runs/current/address.
  // kNotFound where none of them says anything.
  static Result<Client> Connect(const std::string& address);
  // `nobody`: how long the first connection may take.
  Client(std::unique_ptr<Transport> transport, std::string address,
         Duration nobody = std::chrono::seconds(4))
      : transport_(std::move(transport)), address_(std::move(address)), nobody_(nobody) {}

  // The answer. A RequestFailed becomes its error; kUnavailable: none came in time, or
  // nobody ever listened there.
  Result<ClientReply> Call(const ClientRequest& request, Duration timeout);

  // The same, where the answer must be a Reply.
  template <typename Reply>
  Result<Reply> Ask(const ClientRequest& request, Duration timeout = std::chrono::seconds(10)) {
    ASSIGN_OR_RETURN(ClientReply reply, Call(request, timeout));
    if (auto* wanted = std::get_if<Reply>(&reply)) return std::move(*wanted);
    return Fail(ErrorCode::kCorrupt, address_ +
                                         " answered something else than was asked; are this "
                                         "program and the coordinator of one version?");
  }

  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<Transport> transport_;
  std::string address_;
  Duration nobody_;
  uint64_t next_id_ = 1;
  bool connected_ = false;  // something was sent once
};

// Where the coordinator is, by flag, environment or the address file of `warpsmith up`.
Result<std::string> CoordinatorAddress(const std::string& flag);

// The newest run, or the one named. kNotFound where there is none.
Result<RunId> ChosenRun(Client& client, std::optional<uint64_t> named);

// A key that no other submission has.
std::string SubmissionKey(const std::string& word);

}  // namespace warpsmith
