#include "common/suite/resolve.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "common/base/parse.h"
#include "common/suite/expression.h"
#include "common/suite/scalar_bits.h"
#include "common/suite/task_shapes.h"

namespace warpsmith {
namespace {

using Size3 = std::array<int64_t, 3>;

constexpr Size3 kMaxGrid{2147483647, 65535, 65535};
constexpr Size3 kMaxBlock{1024, 1024, 64};
constexpr int64_t kMaxBlockThreads = 1024;
constexpr int64_t kMaxClusterBlocks = 8;  // what every device with clusters takes
constexpr std::array<const char*, 3> kAxis{"x", "y", "z"};

int64_t Product(const Size3& size) { return size[0] * size[1] * size[2]; }

// Works on one plan; the first problem ends it.
class Resolver {
 public:
  Resolver(const Plan& plan, const std::vector<KernelInfo>& kernels, const Task& task,
           const Dims& dims, const DeviceFacts& device)
      : plan_(plan), kernels_(kernels), task_(task), dims_(dims), device_(device) {}

  std::variant<ResolvedPlan, Outcome> Run() {
    if (!(Buffers() && ScopeNames() && Temps() && Zeros())) return *outcome_;
    for (size_t i = 0; i < plan_.launches.size(); ++i)
      if (!Launch(plan_.launches[i], i)) return *outcome_;
    return std::move(resolved_);
  }

 private:
  bool Reject(std::string why) {
    outcome_ = Rejected{where_ + std::move(why)};
    return false;
  }
  bool Exceeds(std::string limit) {
    outcome_ = ResourceError{where_ + std::move(limit)};
    return false;
  }
  bool NotThisTask(const Error& error) {
    outcome_ = Infrastructure{InfrastructureKind::kInternal, error.message};
    return false;
  }

  bool Buffers() {
    auto buffers = TaskBuffers(task_, dims_);
    if (!buffers) return NotThisTask(buffers.error());
    resolved_.buffers = std::move(*buffers);
    for (const auto& buffer : resolved_.buffers)
      task_bytes_ += static_cast<int64_t>(BytesOf(buffer));
    return true;
  }

  bool ScopeNames() {
    scope_ = dims_;
    for (const auto& scalar : task_.scalars) {
      if (IsFloating(scalar.dtype)) continue;
      const auto value = IntegerScalarValue(scalar, dims_);
      if (!value) return NotThisTask(value.error());
      scope_[scalar.name] = *value;
    }
    scope_["sm_count"] = device_.sm_count;
    scope_["warp_size"] = device_.warp_size;
    scope_["max_shared"] = device_.max_shared_bytes;
    for (const auto& [name, text] : plan_.let) {
      where_ = fmt::format("let {}: ", name);
      if (scope_.contains(name) || FindBuffer(name) >= 0 || FindScalar(name))
        return Reject("the name is taken already; choose another");
      const auto value = EvaluateExpression(text, scope_);
      if (!value) return Reject(value.error().message);
      scope_[name] = *value;
    }
    return true;
  }

  bool Temps() {
    const int64_t limit = std::max(kMinTempBytes, kMaxTempsPerTask * task_bytes_);
    int64_t total = 0;
    for (const auto& temp : plan_.temps) {
      where_ = fmt::format("temp {}: ", temp.name);
      if (scope_.contains(temp.name) || FindBuffer(temp.name) >= 0 || FindScalar(temp.name))
        return Reject("the name is taken already; choose another");
      auto buffer = SizedBuffer(temp.name, BufferRole::kTemp, temp.dtype, temp.shape, scope_);
      if (!buffer) return Reject("shape: " + buffer.error().message);
      total += static_cast<int64_t>(BytesOf(*buffer));  // 16 temps of at most 2^40: no overflow
      if (total > limit)
        return Exceeds(
            fmt::format("shape: temps take {} bytes; this task allows {}", total, limit));
      resolved_.buffers.push_back(std::move(*buffer));
    }
    return true;
  }

  bool Zeros() {
    for (const auto& name : plan_.zero) {
      where_ = fmt::format("zero {}: ", name);
      const int index = FindBuffer(name);
      if (index < 0) return Reject("there is no such output or temp");
      auto& buffer = resolved_.buffers[index];
      if (buffer.role == BufferRole::kInput) return Reject("an input cannot be zero-filled");
      buffer.zero = true;
    }
    return true;
  }

  bool Launch(const LaunchSpec& spec, size_t index) {
    const std::string launch = fmt::format("launch {} ({}): ", index + 1, spec.kernel);
    const auto field = [&](const char* name) { where_ = launch + name + ": "; };
    ResolvedLaunch out;

    field("kernel");
    const auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                                     [&](const auto& k) { return k.name == spec.kernel; });
    if (kernel == kernels_.end()) return Reject("the text defines no such kernel");
    out.kernel = static_cast<int>(kernel - kernels_.begin());

    field("args");
    if (!Arguments(spec, *kernel, &out)) return false;
    Size3 grid{};
    Size3 block{};
    field("grid");
    if (!Sizes(spec.grid, &grid)) return false;
    field("block");
    if (!Sizes(spec.block, &block)) return false;
    if (Product({grid[0] > 0, grid[1] > 0, grid[2] > 0}) == 0) return true;  // no block to launch

    if (!Block(block, *kernel, &out)) return false;
    field("grid");
    if (!Within(grid, kMaxGrid, &out.grid)) return false;
    field("cluster");
    if (!Cluster(spec, grid, &out)) return false;
    field("shared");
    if (!Shared(spec, *kernel, &out)) return false;
    resolved_.launches.push_back(std::move(out));
    return true;
  }

  // Up to three sizes, none negative; those not written are 1.
  bool Sizes(const std::vector<std::string>& texts, Size3* sizes) {
    *sizes = {1, 1, 1};
    if (texts.size() > 3) return Reject(fmt::format("{} sizes; at most 3", texts.size()));
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto value = EvaluateExpression(texts[i], scope_);
      if (!value) return Reject(value.error().message);
      if (*value < 0) return Reject(fmt::format("{} is {}, below zero", kAxis[i], *value));
      (*sizes)[i] = *value;
    }
    return true;
  }

  bool Within(const Size3& sizes, const Size3& limits, std::array<uint32_t, 3>* out) {
    for (size_t i = 0; i < 3; ++i) {
      if (sizes[i] < 1) return Reject(fmt::format("{} is {}; at least 1", kAxis[i], sizes[i]));
      if (sizes[i] > limits[i])
        return Reject(fmt::format("{} is {}; at most {}", kAxis[i], sizes[i], limits[i]));
      (*out)[i] = static_cast<uint32_t>(sizes[i]);
    }
    return true;
  }

  bool Block(const Size3& block, const KernelInfo& kernel, ResolvedLaunch* out) {
    if (!Within(block, kMaxBlock, &out->block)) return false;
    const int64_t threads = Product(block);
    if (threads > kMaxBlockThreads)
      return Reject(fmt::format("{} threads; at most {}", threads, kMaxBlockThreads));
    if (threads > device_.max_threads_per_block)
      return Exceeds(
          fmt::format("{} threads; this device takes {}", threads, device_.max_threads_per_block));
    if (kernel.max_threads_per_block > 0 && threads > kernel.max_threads_per_block)
      return Exceeds(
          fmt::format("{} threads; this kernel as compiled takes {} (it uses {} registers "
                      "a thread, or says so in its launch bounds)",
                      threads, kernel.max_threads_per_block, kernel.registers));
    return true;
  }

  bool Cluster(const LaunchSpec& spec, const Size3& grid, ResolvedLaunch* out) {
    Size3 cluster{};
    if (!Sizes(spec.cluster, &cluster) ||
        !Within(cluster, {kMaxClusterBlocks, kMaxClusterBlocks, kMaxClusterBlocks}, &out->cluster))
      return false;
    if (Product(cluster) == 1) return true;
    if (Product(cluster) > kMaxClusterBlocks)
      return Reject(fmt::format("{} blocks; at most {}", Product(cluster), kMaxClusterBlocks));
    for (size_t i = 0; i < 3; ++i)
      if (grid[i] % cluster[i] != 0)
        return Reject(
            fmt::format("grid {} is {}, not a multiple of {}", kAxis[i], grid[i], cluster[i]));
    if (!HasClusters()) return Exceeds(fmt::format("{} has no clusters", device_.architecture));
    return true;
  }

  bool HasClusters() const { return ComputeCapability(device_.architecture).value_or(0) >= 90; }

  bool Shared(const LaunchSpec& spec, const KernelInfo& kernel, ResolvedLaunch* out) {
    const auto dynamic = EvaluateExpression(spec.shared, scope_);
    if (!dynamic) return Reject(dynamic.error().message);
    if (*dynamic < 0) return Reject(fmt::format("{} bytes, below zero", *dynamic));
    const int64_t fixed = std::max(kernel.static_shared_bytes, 0);
    if (*dynamic > device_.max_shared_bytes - fixed)
      return Exceeds(
          fmt::format("{} bytes and {} of the kernel's own; a block on this device has {}",
                      *dynamic, fixed, device_.max_shared_bytes));
    out->shared_bytes = static_cast<uint32_t>(*dynamic);
    return true;
  }

  bool Arguments(const LaunchSpec& spec, const KernelInfo& kernel, ResolvedLaunch* out) {
    if (spec.args.size() != kernel.parameters.size())
      return Reject(fmt::format("{} arguments; the kernel takes {}", spec.args.size(),
                                kernel.parameters.size()));
    for (size_t i = 0; i < spec.args.size(); ++i) {
      ResolvedArgument argument{.type = kernel.parameters[i]};
      const auto problem = Argument(spec.args[i], &argument);
      if (problem)
        return Reject(fmt::format("argument {} (`{}`): {}", i + 1, spec.args[i], *problem));
      out->arguments.push_back(argument);
    }
    return true;
  }

  std::optional<std::string> Argument(const std::string& text, ResolvedArgument* argument) {
    const ParameterType type = argument->type;
    if (type == ParameterType::kUnsupported)
      return "the kernel's parameter has a type that no argument fits; take pointers and numbers";
    const int buffer = FindBuffer(text);
    if (buffer >= 0 && type != ParameterType::kPointer)
      return fmt::format("is a buffer, but the kernel takes a number of type {} here",
                         ToString(type));
    if (buffer >= 0) {
      argument->buffer = buffer;
      return std::nullopt;
    }
    if (type == ParameterType::kPointer)
      return fmt::format("the kernel takes a pointer here; write one of {}", BufferNames());
    const auto bits = ScalarArgument(text, type);
    if (!bits) return bits.error().message;
    argument->bits = *bits;
    return std::nullopt;
  }

  Result<ScalarBits> ScalarArgument(const std::string& text, ParameterType type) {
    const ScalarSpec* scalar = FindScalar(text);
    if (scalar && IsFloating(scalar->dtype)) {
      ASSIGN_OR_RETURN(const double value, ScalarValue(*scalar, dims_));
      return RealBits(value, type);
    }
    ASSIGN_OR_RETURN(const int64_t value, EvaluateExpression(text, scope_));
    return IntegerBits(value, type);
  }

  int FindBuffer(const std::string& name) const {
    for (size_t i = 0; i < resolved_.buffers.size(); ++i)
      if (resolved_.buffers[i].name == name) return static_cast<int>(i);
    return -1;
  }

  const ScalarSpec* FindScalar(const std::string& name) const {
    for (const auto& scalar : task_.scalars)
      if (scalar.name == name) return &scalar;
    return nullptr;
  }

  std::string BufferNames() const {
    std::vector<std::string> names;
    for (const auto& buffer : resolved_.buffers) names.push_back(buffer.name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  const Plan& plan_;
  const std::vector<KernelInfo>& kernels_;
  const Task& task_;
  const Dims& dims_;
  const DeviceFacts& device_;
  ResolvedPlan resolved_;
  Names scope_;
  int64_t task_bytes_ = 0;
  std::string where_;
  std::optional<Outcome> outcome_;
};

}  // namespace

std::variant<ResolvedPlan, Outcome> ResolvePlan(const Plan& plan,
                                                const std::vector<KernelInfo>& kernels,
                                                const Task& task, const Dims& dims,
                                                const DeviceFacts& device) {
  return Resolver(plan, kernels, task, dims, device).Run();
}

std::optional<int> ComputeCapability(std::string_view architecture) {
  if (!architecture.starts_with("sm_")) return std::nullopt;
  architecture.remove_prefix(3);
  if (architecture.ends_with('a') || architecture.ends_with('f')) architecture.remove_suffix(1);
  return ParseWhole<int>(architecture);
}

}  // namespace warpsmith
