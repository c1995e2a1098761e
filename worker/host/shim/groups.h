// Host device: the part of cooperative_groups that kernels use: the block, tiles of a power of two
// at most 32 lanes wide, coalesced groups, and reductions over them.
#pragma once

#include "threads.h"

namespace cooperative_groups {

inline unsigned int warpsmith_rank() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

class thread_block {
 public:
  void sync() const { __syncthreads(); }
  unsigned int thread_rank() const { return warpsmith_rank(); }
  unsigned int size() const { return blockDim.x * blockDim.y * blockDim.z; }
  unsigned int num_threads() const { return size(); }
  dim3 group_index() const { return dim3(blockIdx); }
  dim3 thread_index() const { return dim3(threadIdx); }
};
inline thread_block this_thread_block() { return thread_block(); }

// The lanes of `mask`, in lane order, are the group's ranks.
class warpsmith_lanes {
 public:
  explicit warpsmith_lanes(unsigned int mask) : mask_(mask) {}
  void sync() const { __syncwarp(mask_); }
  unsigned int size() const { return static_cast<unsigned int>(__popc(mask_)); }
  unsigned int num_threads() const { return size(); }
  unsigned int thread_rank() const {
    return static_cast<unsigned int>(__popc(mask_ & ((1u << warpsmith_rank() % 32u) - 1u)));
  }
  template <typename T>
  T shfl(T value, unsigned int rank) const {
    return __shfl_sync(mask_, value, lane_of(rank));
  }
  template <typename T>
  T shfl_down(T value, unsigned int delta) const {
    const unsigned int to = thread_rank() + delta;
    return __shfl_sync(mask_, value, lane_of(to < size() ? to : thread_rank()));
  }
  template <typename T>
  T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return __shfl_sync(mask_, value, lane_of(rank >= delta ? rank - delta : rank));
  }
  template <typename T>
  T shfl_xor(T value, unsigned int lanes) const {
    const unsigned int to = thread_rank() ^ lanes;
    return __shfl_sync(mask_, value, lane_of(to < size() ? to : thread_rank()));
  }
  int any(int p) const { return __any_sync(mask_, p); }
  int all(int p) const { return __all_sync(mask_, p); }
  unsigned int ballot(int p) const { return compact(__ballot_sync(mask_, p)); }
  template <typename T>
  unsigned int match_any(T value) const {
    return compact(__match_any_sync(mask_, value));
  }

 private:
  int lane_of(unsigned int rank) const {
    unsigned int left = mask_;
    for (unsigned int i = 0; i < rank; ++i) left &= left - 1;
    return __ffs(static_cast<int>(left)) - 1;
  }
  unsigned int compact(unsigned int lanes) const {
    unsigned int result = 0, bit = 0;
    for (unsigned int left = mask_; left != 0; left &= left - 1, ++bit)
      if (lanes & left & -left) result |= 1u << bit;
    return result;
  }
  unsigned int mask_;
};

template <unsigned int Size, typename Parent = thread_block>
class thread_block_tile : public warpsmith_lanes {
  static_assert(Size <= 32 && (Size & (Size - 1)) == 0,
                "unsupported on the host device: tiles of more than 32 threads");

 public:
  thread_block_tile()
      : warpsmith_lanes((Size == 32 ? 0xffffffffu : (1u << Size % 32u) - 1u)
                        << (warpsmith_rank() % 32u / Size * Size)) {}
  unsigned int meta_group_rank() const { return warpsmith_rank() / Size; }
  unsigned int meta_group_size() const {
    return (blockDim.x * blockDim.y * blockDim.z + Size - 1) / Size;
  }
};
template <unsigned int Size, typename Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return thread_block_tile<Size, Parent>();
}

using coalesced_group = warpsmith_lanes;
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return a < b ? a : b; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a > b ? a : b; }
};

template <typename Group, typename T, typename Op>
T reduce(const Group& group, T value, Op op) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.size(); ++rank)
    result = op(result, group.shfl(value, rank));
  return result;
}
template <typename Group>
void sync(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
