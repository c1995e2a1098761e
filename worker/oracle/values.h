// Tensors as the oracle's code passes them on: opaque, so that libtorch's headers stay in three
// files. Thread-compatible: the oracle's one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/model/dtype.h"

namespace warpsmith {

struct ValuesImpl;  // torch_values.h

// A tuple of tensors on the oracle's device, shared by copies. Results of a reference, or views of
// buffers.
class Values {
 public:
  Values() = default;
  explicit Values(std::shared_ptr<const ValuesImpl> impl) : impl_(std::move(impl)) {}
  size_t size() const;
  bool empty() const { return size() == 0; }
  const ValuesImpl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const ValuesImpl> impl_;
};

// A dense tensor in memory that somebody else owns.
struct TensorView {
  void* data = nullptr;  // the device's pointer; unused for no elements
  Dtype dtype = Dtype::kFloat32;
  std::vector<int64_t> shape;
};

// Views, not copies: they see what the memory holds when they are read.
Values ViewOf(std::span<const TensorView> tensors, DeviceKind kind, int device_index);
// A copy of one tensor, in memory of its own.
Values CloneOf(const Values& values, size_t index);
// One tensor like another, every element this value.
Values FilledLike(const Values& values, size_t index, double value);
// One tensor with the elements of another in row-major order, in the type of a third; empty where
// the numbers of elements differ.
Values ReshapedLike(const Values& source, size_t source_index, const Values& like, size_t index);

// Over the finite elements; 0 where there are none.
double RmsOf(const Values& values, size_t index);
struct Summary {
  double mean = 0;
  double least = 0;
  double most = 0;
};
Summary SummaryOf(const Values& values, size_t index);

}  // namespace warpsmith
