// Element types and kinds of device: the small fixed vocabularies that every record uses.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace warpsmith {

enum class Dtype {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8,
  kBool
};

size_t SizeOf(Dtype dtype);  // bytes
bool IsFloating(Dtype dtype);
const char* ToString(Dtype dtype);  // "float32"
std::optional<Dtype> ParseDtype(std::string_view name);

// Where a candidate runs. Every record names it; figures of two kinds are never compared.
enum class DeviceKind { kCuda, kHost, kSimulated };

const char* ToString(DeviceKind kind);  // "cuda"
std::optional<DeviceKind> ParseDeviceKind(std::string_view name);

}  // namespace warpsmith
