// Names of things as types, so that a job's id cannot be passed where a run's is meant.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace warpsmith {

template <typename Tag, typename Rep>
class Id {
 public:
  using rep = Rep;
  Id() = default;
  explicit Id(Rep value) : value_(std::move(value)) {}

  const Rep& value() const { return value_; }
  auto operator<=>(const Id&) const = default;
  bool operator==(const Id&) const = default;

 private:
  Rep value_{};
};

using RunId = Id<struct RunTag, uint64_t>;           // dense, from the coordinator's store
using JobId = Id<struct JobTag, uint64_t>;           // dense, from the coordinator's store
using GroupId = Id<struct GroupTag, uint64_t>;       // a rollout job's group, dense within its run
using WorkerId = Id<struct WorkerTag, std::string>;  // routing id: unique for one incarnation
using ClientId = Id<struct ClientTag, std::string>;  // routing id of a client's connection
using TaskId = Id<struct TaskTag, std::string>;      // "suite/task"

}  // namespace warpsmith

template <typename Tag, typename Rep>
struct std::hash<warpsmith::Id<Tag, Rep>> {
  size_t operator()(const warpsmith::Id<Tag, Rep>& id) const {
    return std::hash<Rep>()(id.value());
  }
};
