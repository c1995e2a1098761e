// What a run may ask for: one list for whoever reads a run file, takes a submission or trains.
// Pure.
#pragma once

#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/model/run.h"

namespace warpsmith {

// A number of an algorithm, as run files call it, and its bounds; both ends are allowed.
template <typename T>
struct AlgorithmNumber {
  std::string_view name;
  T Algorithm::*value;
  T low, high;
};
std::span<const AlgorithmNumber<int>> AlgorithmIntegers();
std::span<const AlgorithmNumber<double>> AlgorithmReals();

std::span<const std::string_view> AdvantageNames();
std::span<const std::string_view> PolicyNames();

// Every number within its bounds (a run that does not learn may have groups of one), policy and
// advantage known. kInvalidInput names the field and what to write instead.
Status CheckPolicyAndAlgorithm(const RunSpec& spec);

}  // namespace warpsmith
