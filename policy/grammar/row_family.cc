#include "policy/grammar/row_family.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "policy/grammar/cuda_text.h"
#include "policy/grammar/elementwise_text.h"
#include "policy/grammar/row_program.h"
#include "policy/grammar/slot_table.h"

namespace warpsmith {
namespace {

// Registers that a thread may spend on one input's part of a row; the rest is read again.
constexpr int64_t kMaxCachedElements = 64;

PassMode ModeOf(const Choices& chosen) {
  return chosen["passes"] == "one" ? PassMode::kOne : PassMode::kTwo;
}

RowProgram MustRead(const Task& task, PassMode mode) {
  auto program = ReadRowProgram(task, mode);
  CHECK(program, "the task matches");
  return std::move(*program);
}

bool UsesFastMath(const RowProgram& program) {
  return HasFastMath(*program.result) ||
         std::any_of(program.reductions.begin(), program.reductions.end(),
                     [](const RowReduction& reduction) { return HasFastMath(*reduction.of); });
}

constexpr std::string_view kText = R"(/* warpsmith
launches:
  - kernel: @kernel@
    grid: @grid@
    block: @lanes@, @rows@
    shared: @shared@
    args: @args@
*/
// @summary@
constexpr int kLanes = @lanes@;  // threads that share a row
constexpr int kRows = @rows@;  // rows of a block
constexpr int kVec = @vec@;  // neighbouring elements of one load: a part of the row
@constants@

// The part of a row that starts at `column`, as floats; 0 beyond the row's end. Rows whose length
// is no multiple of kVec do not start aligned and are read one by one.
template <typename T>
__device__ __forceinline__ vec<float, kVec> load_part(const T* row, int column, int cols) {
  vec<float, kVec> part;
  if (cols % kVec == 0) {
    const vec<T, kVec> raw = load_vec<kVec>(row + column);
#pragma unroll
    for (int k = 0; k < kVec; ++k) part[k] = to_float(raw[k]);
  } else {
#pragma unroll
    for (int k = 0; k < kVec; ++k) part[k] = column + k < cols ? to_float(row[column + k]) : 0.0f;
  }
  return part;
}

@store_part@
@reduce_row@
@helpers@
__global__ void __launch_bounds__(kLanes * kRows)
    @kernel@(@parameters@) {
  const int lane = threadIdx.x;
  @stage_pointer@
  @loop_head@
  @body@
  @loop_tail@
}
)";

constexpr std::string_view kStorePart = R"(template <typename T>
__device__ __forceinline__ void store_part(T* row, int column, int cols, const vec<T, kVec>& part) {
  if (cols % kVec == 0) {
    @store@(row + column, part);
  } else {
#pragma unroll
    for (int k = 0; k < kVec; ++k)
      if (column + k < cols) row[column + k] = part[k];
  }
}
)";

// For more than a warp a row.
constexpr std::string_view kReduceRow =
    R"(// Combines the values of the threads of each row; all threads of the block must call it.
template <typename Op>
__device__ float reduce_row(float value, Op op) {
  __shared__ float partial[kRows][kLanes / 32];
  value = warp_reduce(value, op);
  if (threadIdx.x % 32 == 0) partial[threadIdx.y][threadIdx.x / 32] = value;
  __syncthreads();
  value = partial[threadIdx.y][0];
  for (int warp = 1; warp < kLanes / 32; ++warp) value = op(value, partial[threadIdx.y][warp]);
  __syncthreads();  // before the next call writes partial
  return value;
}
)";

// `row_cols` is 0 for the rows beyond the last: their threads only take part in reductions.
constexpr std::string_view kBody = R"(const int row_cols = row < rows ? cols : 0;
@row_pointers@
@fill@
@passes@
@result@
)";

// Ways to go over the parts of a row that are this thread's. Only registers need the body twice,
// for what they do not hold, and so as a function.
constexpr std::string_view kFromMemory = R"(#pragma unroll @unroll@
for (int column = lane * kVec; column < row_cols; column += kLanes * kVec) {
  @load@
  @body@
}
)";

constexpr std::string_view kFromShared = R"(#pragma unroll @unroll@
for (int column = lane * kVec, i = 0; column < row_cols; column += kLanes * kVec, ++i) {
  @unstage@
  @body@
}
)";

constexpr std::string_view kFromRegisters = R"(const auto @visit@ = [&](int column@parameters@) {
  @body@
};
#pragma unroll
for (int i = 0; i < kParts; ++i) {
  const int column = (i * kLanes + lane) * kVec;
  if (column < row_cols) @visit@(column@cached@);
}
for (int column = (kParts * kLanes + lane) * kVec; column < row_cols; column += kLanes * kVec)
  @visit@(column@loaded@);  // what is left of a longer row
)";

class RowWriter {
 public:
  RowWriter(const Task& task, DeviceKind device, const Choices& chosen)
      : task_(task),
        device_(device),
        chosen_(chosen),
        program_(MustRead(task, ModeOf(chosen))),
        math_(chosen["math"] == "fast" ? MathMode::kFast : MathMode::kExact),
        lanes_(chosen.Number("lanes")),
        rows_(chosen.Number("rows")),
        vec_(chosen.Number("vec")),
        cache_(chosen["cache"]) {}

  std::string Write(const std::string& summary) {
    const auto& shape = program_.whole[0]->shape;
    const std::string rows = Product(shape, 0, shape.size() - 1);
    const std::string cols = Product(shape, shape.size() - 1, shape.size());
    NameLeaves();

    std::string args, row_pointers;
    std::vector<std::string> parameters;
    const auto add = [&](const std::string& argument, const std::string& parameter) {
      args += (args.empty() ? "" : ", ") + argument;
      parameters.push_back(parameter);
    };
    for (const auto* inputs : {&program_.whole, &program_.columns})
      for (const InputSpec* input : *inputs)
        add(input->name, fmt::format("const {}* __restrict__ {}", CudaType(input->dtype),
                                     SafeName(input->name)));
    const OutputSpec& output = task_.outputs[0];
    add(output.name, fmt::format("{}* __restrict__ {}", CudaType(output.dtype), Out()));
    for (const ScalarSpec* scalar : program_.scalars)
      add(scalar->name, "float " + SafeName(scalar->name));
    add(rows, "int rows");
    add(cols, "int cols");

    for (const InputSpec* input : program_.whole)
      row_pointers +=
          fmt::format("const {}* {}_row = {} + static_cast<long long>(row) * cols;\n",
                      CudaType(input->dtype), SafeName(input->name), SafeName(input->name));
    if (!program_.per_row)
      row_pointers += fmt::format("{}* {}_row = {} + static_cast<long long>(row) * cols;\n",
                                  CudaType(output.dtype), Out(), Out());

    // Texts first: they say which helpers they need.
    std::string passes;
    for (size_t level = 0; level < program_.passes; ++level) passes += "\n" + Pass(level);
    const std::string result = "\n" + WriteResult();
    std::string body = Expand(
        kBody,
        {{"row_pointers", row_pointers}, {"fill", Fill()}, {"passes", passes}, {"result", result}});
    const bool persistent = chosen_["grid"] == "persistent";
    std::string grid = fmt::format("ceil_div({}, {})", rows, rows_), loop_head, loop_tail;
    if (persistent) {
      grid =
          fmt::format("min({}, sm_count * {})", grid, std::clamp(2048 / (lanes_ * rows_), 1, 32));
      loop_head =
          "for (int first_row = blockIdx.x * kRows; first_row < rows; first_row += gridDim.x * "
          "kRows) {\n"
          "  const int row = first_row + threadIdx.y;\n";
      loop_tail = "}\n";
      body = Expand("  @body@\n", {{"body", body}});
    } else {
      loop_head = "const int row = blockIdx.x * kRows + threadIdx.y;\n";
    }
    std::string helpers;
    for (const auto& [name, definition] : helpers_) helpers += definition + "\n";
    return Expand(kText,
                  {{"kernel", KernelName(task_)},
                   {"grid", grid},
                   {"lanes", std::to_string(lanes_)},
                   {"rows", std::to_string(rows_)},
                   {"vec", std::to_string(vec_)},
                   {"shared", SharedBytes(cols)},
                   {"args", args},
                   {"summary", summary},
                   {"constants", Constants()},
                   {"store_part",
                    program_.per_row
                        ? ""
                        : Expand(kStorePart,
                                 {{"store", chosen_["store"] == "cs" ? "store_cs" : "store_vec"}}) +
                              "\n"},
                   {"reduce_row", lanes_ > 32 ? std::string(kReduceRow) + "\n" : ""},
                   {"helpers", helpers},
                   {"parameters", ParameterList(KernelName(task_), parameters)},
                   {"stage_pointer", StagePointer()},
                   {"loop_head", loop_head},
                   {"body", body},
                   {"loop_tail", loop_tail}});
  }

 private:
  std::string Out() const { return SafeName(task_.outputs[0].name); }

  void NameLeaves() {
    for (const InputSpec* input : program_.whole)
      leaves_[input->name] = SafeName(input->name) + "_part[k]";
    for (const InputSpec* input : program_.columns)
      leaves_[input->name] = SafeName(input->name) + "_part[k]";
    for (const ScalarSpec* scalar : program_.scalars)
      leaves_[scalar->name] = SafeName(scalar->name);
    for (const RowReduction& reduction : program_.reductions)
      leaves_[reduction.name] = reduction.name;
  }

  std::string Text(const Expr& expr) {
    ElementwiseText text = WriteElementwise(expr, leaves_, math_);
    helpers_.merge(text.helpers);
    return text.expression;
  }

  // How many parts of a row a thread keeps in registers.
  int64_t CachedParts() const {
    const auto& shape = program_.whole[0]->shape;
    const int64_t most = std::max<int64_t>(kMaxCachedElements / vec_, 1);
    const auto columns = LargestOver(task_, device_, shape.back());
    if (!columns) return most;
    const int64_t step = int64_t{lanes_} * vec_;
    return std::clamp<int64_t>((*columns + step - 1) / step, 1, most);
  }

  std::string Constants() const {
    std::string text;
    if (cache_ == "reg")
      text += fmt::format(
          "constexpr int kParts = {};  // parts of a row that a thread keeps in registers\n",
          CachedParts());
    for (const RowReduction& reduction : program_.reductions)
      if (reduction.reduce == RowReduce::kMax || reduction.reduce == RowReduce::kMin) {
        text += "constexpr float kLargest = 3.402823466e38f;  // finite\n";
        break;
      }
    return text;
  }

  std::string PerRowStage(const std::string& cols) const {
    return fmt::format("ceil_div({}, {}) * {}", cols, lanes_ * vec_, lanes_ * vec_);
  }
  std::string SharedBytes(const std::string& cols) const {
    if (cache_ != "smem") return "0";
    return fmt::format("{} * {}", 4 * rows_ * static_cast<int>(program_.whole.size()),
                       PerRowStage(cols));
  }
  std::string StagePointer() const {
    if (cache_ != "smem") return "";
    return fmt::format(
        "// Each thread's own parts of its row, element by element, so that neighbouring threads "
        "use\n"
        "// neighbouring banks and no barrier is needed.\n"
        "extern __shared__ float staged[];\n"
        "const int stage_elements = {};\n"
        "float* row_stage = staged + threadIdx.y * {}stage_elements + lane;\n",
        PerRowStage("cols"),
        program_.whole.size() == 1 ? "" : fmt::format("{} * ", program_.whole.size()));
  }

  // Where an input's elements stand in shared memory.
  static std::string Staged(size_t input, const std::string& k) {
    const std::string at = fmt::format("(i * kVec + {}) * kLanes", k);
    return input == 0 ? fmt::format("row_stage[{}]", at)
                      : fmt::format("row_stage[{} * stage_elements + {}]", input, at);
  }

  // const vec<float, kVec> x_part = load_part(...), for every input that is read element by
  // element.
  std::string LoadParts() const {
    std::string text;
    for (const InputSpec* input : program_.whole)
      text += fmt::format("const vec<float, kVec> {0}_part = load_part({0}_row, column, cols);\n",
                          SafeName(input->name));
    return text;
  }

  std::string Fill() const {
    if (cache_ == "none") return "";
    std::string declarations, stores;
    for (size_t i = 0; i < program_.whole.size(); ++i) {
      const std::string name = SafeName(program_.whole[i]->name);
      if (cache_ == "reg") {
        declarations += fmt::format("vec<float, kVec> {}_parts[kParts];\n", name);
        stores += fmt::format("{0}_parts[i] = load_part({0}_row, column, cols);\n", name);
      } else {
        stores += fmt::format("{} = {}_part[k];\n", Staged(i, "k"), name);
      }
    }
    if (cache_ == "reg")
      return declarations + Expand(R"(#pragma unroll
for (int i = 0; i < kParts; ++i) {
  const int column = (i * kLanes + lane) * kVec;
  if (column < row_cols) {
    @stores@
  }
}
)",
                                   {{"stores", stores}});
    return Expand(
        R"(for (int column = lane * kVec, i = 0; column < row_cols; column += kLanes * kVec, ++i) {
  @load@
#pragma unroll
  for (int k = 0; k < kVec; ++k) {
    @stores@
  }
}
)",
        {{"load", LoadParts()}, {"stores", stores}});
  }

  // `body` for each part of the row that is this thread's, in the words `column` and <input>_part.
  // `used`: the expressions in it, for what is one value a column.
  std::string ForEachPart(const std::string& name, const std::vector<const Expr*>& used,
                          std::string body) const {
    std::string columns;
    for (const InputSpec* input : program_.columns)
      if (std::any_of(used.begin(), used.end(),
                      [&](const Expr* expr) { return Mentions(*expr, input->name); }))
        columns += fmt::format("const vec<float, kVec> {0}_part = load_part({0}, column, cols);\n",
                               SafeName(input->name));
    body = columns + body;
    const std::string unroll = chosen_["unroll"];
    if (cache_ == "none")
      return Expand(kFromMemory, {{"unroll", unroll}, {"load", LoadParts()}, {"body", body}});
    std::string parameters, cached, loaded, unstage, copies;
    for (size_t i = 0; i < program_.whole.size(); ++i) {
      const std::string input = SafeName(program_.whole[i]->name);
      parameters += fmt::format(", const vec<float, kVec>& {}_part", input);
      cached += fmt::format(", {}_parts[i]", input);
      loaded += fmt::format(", load_part({}_row, column, cols)", input);
      unstage += fmt::format("vec<float, kVec> {}_part;\n", input);
      copies += fmt::format("  {}_part[k] = {};\n", input, Staged(i, "k"));
    }
    if (cache_ == "reg")
      return Expand(kFromRegisters, {{"visit", name},
                                     {"parameters", parameters},
                                     {"body", body},
                                     {"cached", cached},
                                     {"loaded", loaded}});
    unstage += "#pragma unroll\nfor (int k = 0; k < kVec; ++k) {\n" + copies + "}\n";
    return Expand(kFromShared, {{"unroll", unroll}, {"unstage", unstage}, {"body", body}});
  }

  static const char* Neutral(RowReduce reduce) {
    return reduce == RowReduce::kMax   ? "-kLargest"
           : reduce == RowReduce::kMin ? "kLargest"
                                       : "0.0f";
  }

  std::string Combine(const std::string& value, RowReduce reduce) const {
    const char* op = reduce == RowReduce::kMax   ? "warpsmith_max()"
                     : reduce == RowReduce::kMin ? "warpsmith_min()"
                                                 : "warpsmith_sum()";
    if (lanes_ == 1) return value;
    if (lanes_ <= 32) return fmt::format("warp_reduce<kLanes>({}, {})", value, op);
    return fmt::format("reduce_row({}, {})", value, op);
  }

  // One pass over the row: all reductions of a level.
  std::string Pass(size_t level) {
    std::vector<const RowReduction*> here;
    std::vector<const Expr*> used;
    std::string names;
    for (const RowReduction& reduction : program_.reductions) {
      if (reduction.level != level) continue;
      here.push_back(&reduction);
      used.push_back(reduction.of.get());
      names += (names.empty() ? "" : ", ") + reduction.name;
    }
    std::string text = fmt::format("// Pass {}: {}.\n", level + 1, names), start, step, combine;
    for (const RowReduction* reduction : here) {
      text += fmt::format("vec<float, kVec> {}_k;\n", reduction->name);
      start += fmt::format("{}_k[k] = {};\n", reduction->name, Neutral(reduction->reduce));
      if (reduction->reduce != RowReduce::kSumExp && !IsOnlineMax(*reduction, here))
        step += Step(*reduction);
      else if (reduction->reduce == RowReduce::kSumExp)
        step += OnlineStep(*reduction);
      combine += Together(*reduction);
    }
    text += Expand(R"(#pragma unroll
for (int k = 0; k < kVec; ++k) {
  @start@
}
)",
                   {{"start", start}});
    const std::string body = Expand(R"(#pragma unroll
for (int k = 0; k < kVec; ++k) {
  const bool inside = column + k < cols;
  @step@
}
)",
                                    {{"step", step}});
    return text + ForEachPart(fmt::format("pass_{}", level + 1), used, body) + combine;
  }

  // A maximum that a kSumExp of the same pass keeps.
  static bool IsOnlineMax(const RowReduction& reduction,
                          const std::vector<const RowReduction*>& here) {
    return std::any_of(here.begin(), here.end(),
                       [&](const RowReduction* other) { return other->max == reduction.name; });
  }

  const char* Exp() const { return math_ == MathMode::kFast ? "fast_exp" : "expf"; }

  // Element k of a part joins its accumulator. One for each k: independent chains, which a GPU
  // overlaps and a CPU turns into vector instructions, as long as nothing branches.
  std::string Step(const RowReduction& reduction) {
    const std::string& name = reduction.name;
    const std::string term = fmt::format("const float {}_term = {};\n", name, Text(*reduction.of));
    if (reduction.reduce == RowReduce::kSum || reduction.reduce == RowReduce::kMean)
      return term + fmt::format("{0}_k[k] += inside ? {0}_term : 0.0f;\n", name);
    return term + fmt::format(
                      "const float {0}_value = inside ? {0}_term : {1};\n"
                      "{0}_k[k] = {0}_value {2} {0}_k[k] ? {0}_value : {0}_k[k];\n",
                      name, Neutral(reduction.reduce),
                      reduction.reduce == RowReduce::kMax ? ">" : "<");
  }

  // Milakov, Gimelshein: "Online normalizer calculation for softmax", 2018. In a scope of its own:
  // a pass may hold several.
  std::string OnlineStep(const RowReduction& sum) {
    return fmt::format(
        "{{\n"
        "  const float {sum}_term = {value};\n"
        "  const float value = inside ? {sum}_term : -kLargest;\n"
        "  const float largest = value > {max}_k[k] ? value : {max}_k[k];\n"
        "  const float rescaled = {sum}_k[k] * {exp}({max}_k[k] - largest);\n"
        "  const float added = {exp}(value - largest);\n"
        "  {sum}_k[k] = rescaled + (inside ? added : 0.0f);\n"
        "  {max}_k[k] = largest;\n"
        "}}\n",
        fmt::arg("max", sum.max), fmt::arg("value", Text(*sum.of)), fmt::arg("sum", sum.name),
        fmt::arg("exp", Exp()));
  }

  // The accumulators of a thread, then the threads of a row.
  std::string Together(const RowReduction& reduction) const {
    const std::string& name = reduction.name;
    std::string join;
    switch (reduction.reduce) {
      case RowReduce::kMax:
        join = fmt::format("{0} = {0}_k[k] > {0} ? {0}_k[k] : {0};", name);
        break;
      case RowReduce::kMin:
        join = fmt::format("{0} = {0}_k[k] < {0} ? {0}_k[k] : {0};", name);
        break;
      case RowReduce::kSumExp:
        join = fmt::format("{0} += {0}_k[k] * {1}({2}_k[k] - {2});", name, Exp(), reduction.max);
        break;
      default: join = fmt::format("{0} += {0}_k[k];", name);
    }
    std::string text = fmt::format(
        "float {} = {};\n"
        "#pragma unroll\n"
        "for (int k = 0; k < kVec; ++k) {}\n",
        name, Neutral(reduction.reduce), join);
    if (lanes_ > 1) text += fmt::format("{} = {};\n", name, Combine(name, reduction.reduce));
    if (reduction.reduce == RowReduce::kMean)
      text += fmt::format("{0} = {0} / static_cast<float>(cols);\n", name);
    return text;
  }

  std::string WriteResult() {
    const OutputSpec& output = task_.outputs[0];
    const std::string value = Text(*program_.result);
    const std::string type = CudaType(output.dtype);
    if (program_.per_row)
      return fmt::format("if (lane == 0 && row < rows) {}[row] = from_float<{}>({});\n", Out(),
                         type, value);
    const std::string body = fmt::format(
        "vec<{0}, kVec> result;\n"
        "#pragma unroll\n"
        "for (int k = 0; k < kVec; ++k)\n"
        "  result[k] = from_float<{0}>({1});\n"
        "store_part({2}_row, column, cols, result);\n",
        type, value, Out());
    return "// The result.\n" + ForEachPart("write", {program_.result.get()}, body);
  }

  const Task& task_;
  const DeviceKind device_;
  const Choices chosen_;
  const RowProgram program_;
  const MathMode math_;
  const int lanes_, rows_, vec_;
  const std::string cache_;
  std::map<std::string, std::string> leaves_;
  std::map<std::string, std::string> helpers_;
};

}  // namespace

const std::vector<Slot>& RowFamily::slots() const {
  static const std::vector<Slot> slots = {
      {"lanes", {"1", "8", "32", "64", "128", "256", "512", "1024"}},
      {"rows", {"1", "2", "4", "8"}},
      {"vec", {"1", "2", "4", "8"}},
      {"cache", {"none", "reg", "smem"}},
      {"passes", {"two", "one"}},
      {"unroll", {"1", "2", "4", "8"}},
      {"grid", {"exact", "persistent"}},
      {"store", {"wb", "cs"}},
      {"math", {"exact", "fast"}},
  };
  return slots;
}

Status RowFamily::Matches(const Task& task) const {
  const auto program = ReadRowProgram(task, PassMode::kTwo);
  if (!program) return tl::unexpected<Error>(program.error());
  return {};
}

std::vector<uint8_t> RowFamily::Allowed(const Task& task, size_t slot,
                                        std::span<const int32_t> earlier) const {
  const Slot& asked = slots().at(slot);
  const Choices chosen(slots(), earlier);
  // Shuffles need whole warps.
  if (asked.name == "rows" && chosen["lanes"] == "8") return {0, 0, 1, 1};
  if (asked.name == "passes") {
    const size_t two = MustRead(task, PassMode::kTwo).passes;
    return MustRead(task, PassMode::kOne).passes < two ? All(asked) : Only(asked, "two");
  }
  // Loops over registers are unrolled whole.
  if (asked.name == "unroll" && chosen["cache"] == "reg") return Only(asked, "1");
  if (asked.name == "store" && MustRead(task, PassMode::kTwo).per_row) return Only(asked, "wb");
  if (asked.name == "math" && !UsesFastMath(MustRead(task, PassMode::kTwo)))
    return Only(asked, "exact");
  return All(asked);
}

std::string RowFamily::Write(const Task& task, DeviceKind device,
                             std::span<const int32_t> choices) const {
  return RowWriter(task, device, Choices(slots(), choices)).Write(DescribeChoices(*this, choices));
}

}  // namespace warpsmith
