// For tests: a task made of buffers with known content, and one way through compiler, oracle device
// and runner device for a candidate's text.
#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/model/outcome.h"
#include "common/model/task.h"
#include "worker/host/host_compiler.h"
#include "worker/host/host_oracle_device.h"
#include "worker/host/host_runner_device.h"

namespace warpsmith {

class TestLane {
 public:
  explicit TestLane(int workers = 1) { options_.workers = workers; }

  TestLane& Dim(const std::string& name, int64_t value);
  template <typename T>
  TestLane& Input(const std::string& name, Dtype dtype, const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return AddInput(name, dtype, std::move(bytes));
  }
  TestLane& Floats(const std::string& name, const std::vector<float>& values) {
    return Input(name, Dtype::kFloat32, values);
  }
  TestLane& Scalar(const std::string& name, Dtype dtype, double value);
  TestLane& Output(const std::string& name, Dtype dtype, int64_t elements);
  TestLane& Place(Placement placement) {
    placement_ = placement;
    return *this;
  }
  TestLane& RunLimit(Duration limit) {
    options_.run_limit = limit;
    return *this;
  }

  // Compiles, loads, binds and runs the plan `runs` times untimed. What it came to: Correct{} when
  // all went well, else the outcome. Outputs are poisoned before each run.
  Outcome Run(const std::string& text, int runs = 1);

  template <typename T>
  std::vector<T> Get(const std::string& output) const {
    const std::string& bytes = outputs_.at(output);
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<float> Floats(const std::string& output) const { return Get<float>(output); }
  // The first byte outside an output or temp that was written over, with its buffer's name.
  std::optional<std::string> Damage() const { return damage_; }
  const std::string& printed() const { return printed_; }

 private:
  TestLane& AddInput(const std::string& name, Dtype dtype, std::string bytes);

  HostRunnerOptions options_;
  Placement placement_ = Placement::kEndsAtGuard;
  Task task_;
  Dims dims_;
  std::map<std::string, std::string> inputs_;
  std::map<std::string, std::string> outputs_;
  std::optional<std::string> damage_;
  std::string printed_;
};

// A candidate with one launch, its plan written as usual.
std::string Candidate(const std::string& kernel, const std::string& grid, const std::string& block,
                      const std::string& args, const std::string& code,
                      const std::string& shared = "0");

// The outcome of compiling, Correct{} when it compiles.
Outcome CompileOutcome(const std::string& text);
CompiledCandidate MustCompile(const std::string& text);

}  // namespace warpsmith
