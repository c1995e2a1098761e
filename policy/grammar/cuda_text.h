// Small tools for writing CUDA text that people like to read. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/model/task.h"

namespace warpsmith {

// Replaces each @key@ by its value. A line that holds only @key@ takes a value of several lines,
// each indented as that line is, or vanishes where the value is empty. An unknown key is a bug.
std::string Expand(std::string_view text, const std::map<std::string, std::string>& values);

const char* CudaType(Dtype dtype);       // "__nv_bfloat16"
std::string FloatLiteral(double value);  // "0.5f"

// A name for a kernel's parameter or local variable: the task's own, unless CUDA C++ or the text
// around it uses that already.
std::string SafeName(const std::string& name);
// The kernel's: the task's name without its suite, and "_kernel", for CUDA has functions of most
// names.
std::string KernelName(const Task& task);

// A kernel's parameters, broken into lines of at most 100 columns that stand under its opening
// bracket, given that `    <kernel>(` comes before.
std::string ParameterList(const std::string& kernel, const std::vector<std::string>& parameters);

// "rows * cols": the product of a shape's expressions from dimension `begin` to before `end`; "1"
// for none.
std::string Product(const std::vector<std::string>& shape, size_t begin, size_t end);

// The largest value of an expression over the task's cases for a kind of device; nothing where a
// case cannot be evaluated or there is none.
std::optional<int64_t> LargestOver(const Task& task, DeviceKind device,
                                   const std::string& expression);

bool IsOneOfFloats(Dtype dtype);  // float32, float16, bfloat16: what kernels compute in float

}  // namespace warpsmith
