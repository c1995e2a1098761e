// The parts of a suite file's task, each read by a function of its own; internal to common/suite.
#pragma once

#include <vector>

#include "common/model/task.h"
#include "common/suite/yaml_fields.h"

namespace warpsmith {

// A whole number of an input's content is chosen by 32 random bits, so from at most so many.
constexpr int64_t kMaxDrawn = int64_t{1} << 32;

std::vector<InputSpec> ReadInputs(const YamlNode& node, YamlProblems* problems);
std::vector<ScalarSpec> ReadScalars(const YamlNode& node, YamlProblems* problems);
std::vector<OutputSpec> ReadOutputs(const YamlNode& node, YamlProblems* problems);
Work ReadWork(const YamlNode& node, YamlProblems* problems);

// Into task->cuda_cases and task->host_cases.
void ReadCases(const YamlNode& node, Task* task, YamlProblems* problems);

// What only the whole task can tell: names that hide each other, references with parameters that
// are none, expressions that fail for a case. `node` is the task, `cases` where they stand.
void CheckTask(const Task& task, const YamlNode& node, YamlProblems* problems);

}  // namespace warpsmith
