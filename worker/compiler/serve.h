// What a compiler child does all its life: take a request, compile it, answer. Everything it reads
// is hostile, and it may be taken over by it: what it says is checked by the supervisor.
#pragma once

#include <filesystem>
#include <map>
#include <memory>

#include "common/net/frame_socket.h"
#include "worker/device/kernel_compiler.h"

namespace warpsmith {

using KernelCompilers = std::map<DeviceKind, std::unique_ptr<KernelCompiler>>;

// Until the parent is gone (ok), or says something that is no request (kCorrupt). `temp` is emptied
// after each request.
Status ServeCompiles(FrameSocket& parent, const KernelCompilers& compilers,
                     const std::filesystem::path& temp);

}  // namespace warpsmith
