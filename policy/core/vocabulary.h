// One number for every (family, slot, choice), so that one network serves all families: choice c of
// slot s of family f is token first(f, s) + c. Pure; immutable after construction.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "policy/core/family.h"

namespace warpsmith {

class Vocabulary {
 public:
  explicit Vocabulary(std::span<const Family* const> families);

  size_t families() const { return first_.size(); }
  size_t slots(size_t family) const { return first_[family].size(); }
  size_t max_slots() const { return max_slots_; }
  int32_t size() const { return size_; }
  int32_t first(size_t family, size_t slot) const { return first_[family][slot]; }
  int32_t choices(size_t family, size_t slot) const { return choices_[family][slot]; }

  // A number that changes whenever the meaning of a token does: weights are for one fingerprint.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  std::vector<std::vector<int32_t>> first_;
  std::vector<std::vector<int32_t>> choices_;
  size_t max_slots_ = 0;
  int32_t size_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace warpsmith
