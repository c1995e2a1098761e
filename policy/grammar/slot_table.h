// A family's slots and the reading of its choices by name, so that the order of slots stands in one
// place. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/check.h"
#include "common/base/parse.h"
#include "policy/core/family.h"

namespace warpsmith {

// One choice of each slot, by the slot's name.
class Choices {
 public:
  Choices(const std::vector<Slot>& slots, std::span<const int32_t> choices)
      : slots_(slots), choices_(choices) {}

  const std::string& operator[](std::string_view slot) const {
    for (size_t i = 0; i < choices_.size(); ++i)
      if (slots_[i].name == slot) return slots_[i].choices.at(static_cast<size_t>(choices_[i]));
    CHECK(false, "the slot exists and has been chosen");
  }
  int Number(std::string_view slot) const {
    const auto value = ParseWhole<int>((*this)[slot]);
    CHECK(value, "the choice is a number");
    return *value;
  }

 private:
  const std::vector<Slot>& slots_;
  std::span<const int32_t> choices_;
};

// 1 for the named choice, 0 for all others.
inline std::vector<uint8_t> Only(const Slot& slot, std::string_view choice) {
  std::vector<uint8_t> allowed;
  for (const std::string& name : slot.choices) allowed.push_back(name == choice);
  return allowed;
}

inline std::vector<uint8_t> All(const Slot& slot) {
  return std::vector<uint8_t>(slot.choices.size(), 1);
}

}  // namespace warpsmith
