// What a family of kernels is: a way to write a whole class of operations, with slots for the
// choices that decide how fast it is. A choice is not promised to be good: some do not compile, do
// not launch or are slow, and a policy has to learn that. Only what makes no sense as text is
// masked.
//
// Families are stateless and thread-safe; the program's table of them is policy/grammar/families.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/task.h"
#include "schema/device.h"

namespace warpsmith {

struct Slot {
  std::string name;                  // "threads"
  std::vector<std::string> choices;  // "64", "128", ...
};

class Family {
 public:
  virtual ~Family() = default;

  virtual std::string_view name() const = 0;
  virtual const std::vector<Slot>& slots() const = 0;

  // Whether it can write candidates for this task. kInvalidInput says why not.
  virtual Status Matches(const Task& task) const = 0;

  // Which choices of `slot` make sense for the task after the choices of the slots before it: 1 or
  // 0 for each, at least one 1. The task matches.
  virtual std::vector<uint8_t> Allowed(const Task& task, size_t slot,
                                       std::span<const int32_t> earlier) const = 0;

  // The candidate text, plan included, for one allowed choice of every slot. The same arguments,
  // the same text. Right for all sizes; sizes of compile-time storage are chosen by the task's
  // cases for this kind of device.
  virtual std::string Write(const Task& task, DeviceKind device,
                            std::span<const int32_t> choices) const = 0;
};

// The first family that matches. kInvalidInput: none; the message gives every family's reason.
Result<const Family*> FindFamily(std::span<const Family* const> families, const Task& task);

// "threads=128 vec=4 ...", for logs and comments.
std::string DescribeChoices(const Family& family, std::span<const int32_t> choices);

}  // namespace warpsmith
