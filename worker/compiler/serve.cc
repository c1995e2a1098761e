#include "worker/compiler/serve.h"

#include <string>

#include "common/wire/known.h"

namespace warpsmith {
namespace {

constexpr Duration kForever = std::chrono::hours(24);
constexpr Duration kSendLimit = std::chrono::seconds(30);

CompileReply Answer(const CompileRequest& request, const KernelCompilers& compilers) {
  auto it = compilers.find(request.device_kind);
  if (it == compilers.end()) {
    return {.id = request.id,
            .result = Infrastructure{
                InfrastructureKind::kInternal,
                std::string("this compiler serves no device ") + ToString(request.device_kind)}};
  }
  CompileReply reply = it->second->Compile(request);
  reply.id = request.id;
  return reply;
}

void Empty(const std::filesystem::path& folder) {
  std::error_code ignored;  // what stays counts against the limits of this child only
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

}  // namespace

Status ServeCompiles(FrameSocket& parent, const KernelCompilers& compilers,
                     const std::filesystem::path& temp) {
  for (;;) {
    Result<Frame> frame = parent.Receive(kForever);
    if (!frame) {
      if (frame.error().code == ErrorCode::kUnavailable) return {};
      if (frame.error().code == ErrorCode::kTimeout) continue;
      return Wrap(frame.error(), "request");
    }
    ASSIGN_OR_RETURN(CompileRequest request, DecodeKnown<CompileRequest>(frame->bytes));
    CompileReply reply = Answer(request, compilers);
    Status sent = parent.Send(Encode(reply), {}, kSendLimit);
    if (!sent && sent.error().code == ErrorCode::kUnavailable) return {};
    RETURN_IF_ERROR(sent);
    Empty(temp);
  }
}

}  // namespace warpsmith
