// The host device's compiler: plan and text checks, the shim (shim/), g++, checks of the object,
// and a link with the runtime (runtime/) into a static executable of its own. Needs g++ and a
// linker on the PATH, and ShareDirectory()/host.
#pragma once

#include <filesystem>
#include <string>

#include "worker/device/kernel_compiler.h"

namespace warpsmith {

struct HostCompilerOptions {
  std::filesystem::path share;  // shim headers and runtime; empty: ShareDirectory()/host
  // A wall-clock limit of one g++ or linker, beside whatever bounds the compiler child itself.
  Duration limit = std::chrono::seconds(30);
  // False in a compiler child, whose supervisor ends its whole group.
  bool own_group = true;
};

// Thread-compatible. Runs where hostile text is allowed: in a compiler child's sandbox, which needs
// to let it read /usr, /lib* and the share directory, write under TMPDIR, and start g++ and the
// linker. Each compilation has a temporary folder of its own, gone when Compile returns.
class HostCompiler : public KernelCompiler {
 public:
  explicit HostCompiler(HostCompilerOptions options = {});
  CompileReply Compile(const CompileRequest& request) override;

 private:
  HostCompilerOptions options_;
  std::string linker_;  // path; empty: none found
  std::string gxx_;     // path; empty: none found
};

// g++'s messages for an author: without our own paths and chains of includes, cut at a cap.
std::string PublicCompilerLog(std::string_view log, const std::filesystem::path& share);

}  // namespace warpsmith
