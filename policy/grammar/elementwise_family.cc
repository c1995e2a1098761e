#include "policy/grammar/elementwise_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "policy/core/reference.h"
#include "policy/grammar/cuda_text.h"
#include "policy/grammar/elementwise_text.h"
#include "policy/grammar/slot_table.h"

namespace warpsmith {
namespace {

// What the family needs to know about a task that matches.
struct Chain {
  ExprPtr expression;
  std::vector<const InputSpec*> whole;  // of the output's shape
  std::vector<const InputSpec*> rows;   // of its last dimension
  std::vector<const ScalarSpec*> scalars;
};

Result<Chain> Read(const Task& task) {
  if (task.outputs.size() != 1) return Fail(ErrorCode::kInvalidInput, "it has not one output");
  const OutputSpec& output = task.outputs[0];
  if (!IsOneOfFloats(output.dtype) || output.shape.empty())
    return Fail(ErrorCode::kInvalidInput, "the output is no floating tensor");
  ASSIGN_OR_RETURN(const ReferenceTree reference, ParseReference(task.reference));
  if (reference.results.size() != 1)
    return Fail(ErrorCode::kInvalidInput, "the reference returns a tuple");
  Chain chain{.expression = reference.results[0]};
  for (const InputSpec& input : task.inputs) {
    if (!Mentions(*chain.expression, input.name)) continue;
    if (!IsOneOfFloats(input.dtype))
      return Fail(ErrorCode::kInvalidInput, fmt::format("{} is not floating", input.name));
    if (input.shape == output.shape)
      chain.whole.push_back(&input);
    else if (input.shape.size() == 1 && input.shape[0] == output.shape.back())
      chain.rows.push_back(&input);
    else
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("the shape of {} is not broadcast", input.name));
  }
  if (chain.whole.empty()) return Fail(ErrorCode::kInvalidInput, "no input has the output's shape");
  for (const ScalarSpec& scalar : task.scalars)
    if (Mentions(*chain.expression, scalar.name)) chain.scalars.push_back(&scalar);
  RETURN_IF_ERROR(CheckElementwise(*chain.expression, [&](const std::string& name) {
    return std::any_of(task.inputs.begin(), task.inputs.end(),
                       [&](const InputSpec& input) { return input.name == name; }) ||
           std::any_of(chain.scalars.begin(), chain.scalars.end(),
                       [&](const ScalarSpec* scalar) { return scalar->name == name; });
  }));
  return chain;
}

void Append(std::string& list, const std::string& item) {
  list += (list.empty() ? "" : ", ") + item;
}

// Indices are int unless a case has more elements: then a grid stride could overflow.
const char* IndexType(const Task& task, DeviceKind device, const std::string& elements) {
  const auto largest = LargestOver(task, device, elements);
  return largest && *largest <= (int64_t{1} << 30) ? "int" : "long long";
}

constexpr std::string_view kText = R"(/* warpsmith
launches:
  - kernel: @kernel@
    grid: @grid@
    block: @threads@
    args: @args@
*/
// @summary@
constexpr int kThreads = @threads@;  // of a block
constexpr int kVec = @vec@;  // neighbouring elements of one load
constexpr int kItems = @items@;  // independent loads that a thread keeps in flight
constexpr int kTile = kThreads * kVec * kItems;  // elements of a block's step
using Index = @index@;

@helpers@
// One element.
__device__ __forceinline__ float apply(@apply_parameters@) {
  return @expression@;
}

__global__ void __launch_bounds__(@bounds@)
    @kernel@(@parameters@) {
  @loop_head@
  @body@
  @loop_tail@
}
)";

// All vectors of a tile are whole, or the tile is done element by element.
constexpr std::string_view kPeeled = R"(if (tile + kTile <= elements) {
  @declarations@
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    @loads@
  }
#pragma unroll
  for (int item = 0; item < kItems; ++item) {
    const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
    @items@
    @column@
    vec<@type@, kVec> result;
    @compute@
    @store@(@output@ + at, result);
  }
} else {  // the last tile
  for (Index at = tile + static_cast<int>(threadIdx.x); at < elements; at += kThreads) {
    @column@
    @output@[at] = from_float<@type@>(apply(@scalar_values@));
  }
}
)";

// Every vector asks whether it is whole; the elements after the last whole one are block 0's.
constexpr std::string_view kPredicated = R"(@declarations@
#pragma unroll
for (int item = 0; item < kItems; ++item) {
  const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
  if (at + kVec <= elements) {
    @loads@
  }
}
#pragma unroll
for (int item = 0; item < kItems; ++item) {
  const Index at = tile + (item * kThreads + static_cast<int>(threadIdx.x)) * kVec;
  if (at + kVec > elements) break;
  @items@
  @column@
  vec<@type@, kVec> result;
  @compute@
  @store@(@output@ + at, result);
}
)";

// The elements of a vector, which may lie across the end of a row where row vectors are broadcast.
constexpr std::string_view kCompute = R"(#pragma unroll
for (int k = 0; k < kVec; ++k) {
  result[k] = from_float<@type@>(
      apply(@values@));
}
)";

constexpr std::string_view kComputeBroadcast = R"(if (column + kVec <= cols) {
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    result[k] = from_float<@type@>(
        apply(@values@));
  }
} else {  // across the end of a row
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    result[k] = from_float<@type@>(
        apply(@wrapped_values@));
    if (++column == cols) column = 0;
  }
}
)";

constexpr std::string_view kTail = R"(if (blockIdx.x == 0 && threadIdx.x < elements % kVec) {
  const Index at = elements - elements % kVec + static_cast<int>(threadIdx.x);
  @column@
  @output@[at] = from_float<@type@>(apply(@scalar_values@));
}
)";

}  // namespace

const std::vector<Slot>& ElementwiseFamily::slots() const {
  static const std::vector<Slot> slots = {
      {"vec", {"1", "2", "4", "8"}},
      {"threads", {"32", "64", "128", "256", "512", "1024"}},
      {"items", {"1", "2", "4", "8"}},
      {"grid", {"exact", "1", "2", "4"}},  // or so many times what fits on the device at once
      {"load", {"ca", "nc", "cs"}},
      {"store", {"wb", "cs"}},
      {"math", {"exact", "fast"}},
      {"bounds", {"peel", "predicate"}},
      {"min_blocks", {"0", "2", "4"}},
  };
  return slots;
}

Status ElementwiseFamily::Matches(const Task& task) const {
  const auto chain = Read(task);
  if (!chain) return tl::unexpected<Error>(chain.error());
  return {};
}

std::vector<uint8_t> ElementwiseFamily::Allowed(const Task& task, size_t slot,
                                                std::span<const int32_t>) const {
  const Slot& asked = slots().at(slot);
  if (asked.name != "math") return All(asked);
  const auto chain = Read(task);
  CHECK(chain, "the task matches");
  return HasFastMath(*chain->expression) ? All(asked) : Only(asked, "exact");
}

std::string ElementwiseFamily::Write(const Task& task, DeviceKind device,
                                     std::span<const int32_t> ids) const {
  const auto chain = Read(task);
  CHECK(chain, "the task matches");
  const Choices chosen(slots(), ids);
  const OutputSpec& output = task.outputs[0];
  const std::string elements = Product(output.shape, 0, output.shape.size());
  const std::string out =
      SafeName(output.name) + (Mentions(*chain->expression, output.name) ? "_out" : "");
  const std::string load = chosen["load"] == "ca" ? "load_vec" : "load_" + chosen["load"];

  std::string args, apply_parameters, declarations, items, loads, vector_values, wrapped_values,
      scalar_values;
  std::vector<std::string> parameters;
  std::map<std::string, std::string> leaves;
  for (const InputSpec* input : chain->whole) {
    const std::string name = SafeName(input->name), type = CudaType(input->dtype);
    leaves[input->name] = name;
    Append(args, input->name);
    parameters.push_back(fmt::format("const {}* __restrict__ {}", type, name));
    Append(apply_parameters, "float " + name);
    declarations += fmt::format("vec<{}, kVec> {}_items[kItems];\n", type, name);
    items += fmt::format("const auto& {0}_item = {0}_items[item];\n", name);
    loads += fmt::format("{}_items[item] = {}<kVec>({} + at);\n", name, load, name);
    Append(vector_values, fmt::format("to_float({}_item[k])", name));
    Append(wrapped_values, fmt::format("to_float({}_item[k])", name));
    Append(scalar_values, fmt::format("to_float({}[at])", name));
  }
  for (const InputSpec* input : chain->rows) {
    const std::string name = SafeName(input->name);
    leaves[input->name] = name;
    Append(args, input->name);
    parameters.push_back(fmt::format("const {}* __restrict__ {}", CudaType(input->dtype), name));
    Append(apply_parameters, "float " + name);
    Append(vector_values, fmt::format("to_float({}[column + k])", name));
    Append(wrapped_values, fmt::format("to_float({}[column])", name));
    Append(scalar_values, fmt::format("to_float({}[column])", name));
  }
  Append(args, output.name);
  parameters.push_back(fmt::format("{}* __restrict__ {}", CudaType(output.dtype), out));
  for (const ScalarSpec* scalar : chain->scalars) {
    const std::string name = SafeName(scalar->name);
    leaves[scalar->name] = name;
    Append(args, scalar->name);
    parameters.push_back("float " + name);
    Append(apply_parameters, "float " + name);
    for (std::string* list : {&vector_values, &wrapped_values, &scalar_values}) Append(*list, name);
  }
  Append(args, elements);
  parameters.push_back("Index elements");
  const bool broadcast = !chain->rows.empty();
  if (broadcast) {
    Append(args, output.shape.back());
    parameters.push_back("int cols");
  }

  const ElementwiseText text = WriteElementwise(
      *chain->expression, leaves, chosen["math"] == "fast" ? MathMode::kFast : MathMode::kExact);
  std::string helpers;
  for (const auto& [name, definition] : text.helpers) helpers += definition + "\n";

  const int threads = chosen.Number("threads"), vec = chosen.Number("vec"),
            item_count = chosen.Number("items");
  const bool exact = chosen["grid"] == "exact", peel = chosen["bounds"] == "peel";
  std::string grid = fmt::format("ceil_div({}, {})", elements, threads * vec * item_count);
  std::string loop_head = "const Index tile = static_cast<Index>(blockIdx.x) * kTile;\n", loop_tail;
  if (!exact) {
    // A multiprocessor holds 2048 threads, and at most 32 blocks of these.
    const int blocks = std::min(2048 / threads, 32) * chosen.Number("grid");
    grid = fmt::format("min({}, sm_count * {})", grid, blocks);
    loop_head =
        "const Index stride = static_cast<Index>(gridDim.x) * kTile;\n"
        "for (Index tile = static_cast<Index>(blockIdx.x) * kTile; tile < elements; tile += "
        "stride) {\n";
    loop_tail = "}\n";
  }
  const std::map<std::string, std::string> parts = {
      {"declarations", declarations},
      {"loads", loads},
      {"items", items},
      {"type", CudaType(output.dtype)},
      {"output", out},
      {"store", chosen["store"] == "cs" ? "store_cs" : "store_vec"},
      {"compute",
       Expand(broadcast ? kComputeBroadcast : kCompute, {{"type", CudaType(output.dtype)},
                                                         {"values", vector_values},
                                                         {"wrapped_values", wrapped_values}})},
      {"scalar_values", scalar_values},
      {"column", broadcast ? "int column = static_cast<int>(at % cols);\n" : ""},
  };
  std::string body = Expand(peel ? kPeeled : kPredicated, parts);
  if (!exact) body = Expand("  @body@\n", {{"body", body}});
  if (!peel) loop_tail += Expand(kTail, parts);
  const std::string min_blocks = chosen["min_blocks"];
  return Expand(kText, {{"kernel", KernelName(task)},
                        {"grid", grid},
                        {"threads", std::to_string(threads)},
                        {"vec", std::to_string(vec)},
                        {"items", std::to_string(item_count)},
                        {"index", IndexType(task, device, elements)},
                        {"args", args},
                        {"summary", DescribeChoices(*this, ids)},
                        {"helpers", helpers},
                        {"apply_parameters", apply_parameters},
                        {"expression", text.expression},
                        {"bounds", min_blocks == "0" ? "kThreads" : "kThreads, " + min_blocks},
                        {"parameters", ParameterList(KernelName(task), parameters)},
                        {"loop_head", loop_head},
                        {"body", body},
                        {"loop_tail", loop_tail}});
}

}  // namespace warpsmith
