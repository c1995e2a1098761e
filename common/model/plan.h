// What a candidate file says (design: "Candidate file"), and what it becomes for one case on one
// device once its expressions are evaluated.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/model/dtype.h"

namespace warpsmith {

// Limits of the contract; a plan beyond them is rejected.
constexpr size_t kMaxCandidateBytes = 256 * 1024;
constexpr size_t kMaxPlanBytes = 16 * 1024;
constexpr size_t kMaxPlanDepth = 8;
constexpr size_t kMaxLaunches = 16;
constexpr size_t kMaxArguments = 64;

struct LaunchSpec {
  std::string kernel;                // name expression: softmax_rows<8>
  std::vector<std::string> grid;     // one to three expressions
  std::vector<std::string> block;    // one to three
  std::string shared = "0";          // dynamic shared memory, bytes
  std::vector<std::string> cluster;  // empty: none
  std::vector<std::string> args;     // buffer names or expressions

  bool operator==(const LaunchSpec&) const = default;
};

struct TempSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::string> shape;

  bool operator==(const TempSpec&) const = default;
};

struct Plan {
  std::vector<std::pair<std::string, std::string>> let;  // in order: later ones may use earlier
  std::vector<LaunchSpec> launches;
  std::vector<TempSpec> temps;
  std::vector<std::string> zero;  // outputs or temps zero-filled before the launches

  bool operator==(const Plan&) const = default;
};

// A kernel parameter's type, from the kernel's function type as the compiler saw it.
enum class ParameterType {
  kPointer,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat32,
  kFloat64,
  kFloat16,
  kBFloat16,
  kBool,
  kUnsupported
};

const char* ToString(ParameterType type);
size_t SizeOf(ParameterType type);

struct KernelInfo {
  std::string name;    // as the plan writes it
  std::string symbol;  // lowered name in the binary
  std::vector<ParameterType> parameters;
  // From the compiler's report; -1 where the device kind has no such thing.
  int registers = -1;
  int spill_bytes = -1;
  int static_shared_bytes = -1;
  int local_bytes = -1;
  int max_threads_per_block = -1;

  bool operator==(const KernelInfo&) const = default;
};

// What a compiler child returns for a candidate that compiles.
struct CompiledCandidate {
  DeviceKind device_kind = DeviceKind::kHost;
  std::string architecture;  // "sm_90a"; "x86_64" on the host device
  Plan plan;
  std::vector<KernelInfo> kernels;
  std::string binary;  // cubin, or the host device's executable
  std::string log;     // warnings

  bool operator==(const CompiledCandidate&) const = default;
};

// A buffer that a candidate sees.
enum class BufferRole { kInput, kOutput, kTemp };

struct BufferSpec {
  std::string name;
  BufferRole role = BufferRole::kInput;
  Dtype dtype = Dtype::kFloat32;
  std::vector<int64_t> shape;
  bool zero = false;

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t size : shape) n *= size;
    return n;
  }
  uint64_t bytes() const { return static_cast<uint64_t>(elements()) * SizeOf(dtype); }
  bool operator==(const BufferSpec&) const = default;
};

struct ResolvedArgument {
  int buffer = -1;  // index into ResolvedPlan::buffers, or -1 for a scalar
  ParameterType type = ParameterType::kPointer;
  std::array<uint8_t, 8> bits{};  // the scalar's bytes, little endian, SizeOf(type) of them used

  bool operator==(const ResolvedArgument&) const = default;
};

struct ResolvedLaunch {
  int kernel = 0;  // index into CompiledCandidate::kernels
  std::array<uint32_t, 3> grid{1, 1, 1};
  std::array<uint32_t, 3> block{1, 1, 1};
  std::array<uint32_t, 3> cluster{1, 1, 1};
  uint32_t shared_bytes = 0;
  std::vector<ResolvedArgument> arguments;

  bool operator==(const ResolvedLaunch&) const = default;
};

// A plan for one case on one device. Buffers: the task's inputs, its outputs, then the temps.
// A launch whose grid is empty (a case of zero elements) is left out.
struct ResolvedPlan {
  std::vector<BufferSpec> buffers;
  std::vector<ResolvedLaunch> launches;

  bool operator==(const ResolvedPlan&) const = default;
};

}  // namespace warpsmith
