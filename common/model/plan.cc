#include "common/model/plan.h"

namespace warpsmith {

size_t SizeOf(ParameterType type) {
  switch (type) {
    case ParameterType::kPointer:
    case ParameterType::kInt64:
    case ParameterType::kUint64:
    case ParameterType::kFloat64: return 8;
    case ParameterType::kInt32:
    case ParameterType::kUint32:
    case ParameterType::kFloat32: return 4;
    case ParameterType::kInt16:
    case ParameterType::kUint16:
    case ParameterType::kFloat16:
    case ParameterType::kBFloat16: return 2;
    case ParameterType::kInt8:
    case ParameterType::kUint8:
    case ParameterType::kBool: return 1;
    case ParameterType::kUnsupported: break;
  }
  return 0;
}

}  // namespace warpsmith
