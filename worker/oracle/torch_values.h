// Values from the inside, for the .cc files of this folder that use libtorch.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "common/base/result.h"
#include "worker/oracle/values.h"

namespace warpsmith {

struct ValuesImpl {
  std::vector<at::Tensor> tensors;
};

at::ScalarType ScalarTypeOf(Dtype dtype);
// What a library exception means here, one line.
Error FromException(const std::exception& exception);

inline const at::Tensor& TensorOf(const Values& values, size_t index) {
  return values.impl().tensors.at(index);
}
inline Values MakeValues(std::vector<at::Tensor> tensors) {
  return Values(std::make_shared<const ValuesImpl>(ValuesImpl{std::move(tensors)}));
}

}  // namespace warpsmith
