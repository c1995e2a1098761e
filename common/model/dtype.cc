#include "common/model/dtype.h"

#include "common/base/check.h"

namespace warpsmith {

size_t SizeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
    case Dtype::kInt64: return 8;
    case Dtype::kFloat32:
    case Dtype::kInt32: return 4;
    case Dtype::kFloat16:
    case Dtype::kBFloat16:
    case Dtype::kInt16: return 2;
    case Dtype::kInt8:
    case Dtype::kUint8:
    case Dtype::kBool: return 1;
  }
  CHECK(false, "an element type that was checked when its task was read");
}

bool IsFloating(Dtype dtype) {
  return dtype == Dtype::kFloat64 || dtype == Dtype::kFloat32 || dtype == Dtype::kFloat16 ||
         dtype == Dtype::kBFloat16;
}

}  // namespace warpsmith
