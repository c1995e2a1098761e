#include "common/model/dtype.h"

#include <array>
#include <utility>

#include "common/base/check.h"

namespace warpsmith {
namespace {

struct DtypeRow {
  Dtype dtype;
  const char* name;
  size_t size;
  bool floating;
};

constexpr std::array<DtypeRow, 10> kDtypes{{
    {Dtype::kFloat64, "float64", 8, true},
    {Dtype::kFloat32, "float32", 4, true},
    {Dtype::kFloat16, "float16", 2, true},
    {Dtype::kBFloat16, "bfloat16", 2, true},
    {Dtype::kInt64, "int64", 8, false},
    {Dtype::kInt32, "int32", 4, false},
    {Dtype::kInt16, "int16", 2, false},
    {Dtype::kInt8, "int8", 1, false},
    {Dtype::kUint8, "uint8", 1, false},
    {Dtype::kBool, "bool", 1, false},
}};

const DtypeRow& Row(Dtype dtype) {
  const auto index = static_cast<size_t>(dtype);
  CHECK(index < kDtypes.size() && kDtypes[index].dtype == dtype, "the table follows the enum");
  return kDtypes[index];
}

constexpr std::array<std::pair<DeviceKind, const char*>, 3> kDeviceKinds{
    {{DeviceKind::kCuda, "cuda"},
     {DeviceKind::kHost, "host"},
     {DeviceKind::kSimulated, "simulated"}}};

}  // namespace

size_t SizeOf(Dtype dtype) { return Row(dtype).size; }
bool IsFloating(Dtype dtype) { return Row(dtype).floating; }
const char* ToString(Dtype dtype) { return Row(dtype).name; }

std::optional<Dtype> ParseDtype(std::string_view name) {
  for (const auto& row : kDtypes)
    if (name == row.name) return row.dtype;
  return std::nullopt;
}

const char* ToString(DeviceKind kind) { return kDeviceKinds[static_cast<size_t>(kind)].second; }

std::optional<DeviceKind> ParseDeviceKind(std::string_view name) {
  for (const auto& [kind, text] : kDeviceKinds)
    if (name == text) return kind;
  return std::nullopt;
}

}  // namespace warpsmith
