#include "policy/grammar/transpose_family.h"

#include <fmt/format.h>

#include "common/base/check.h"
#include "policy/core/reference.h"
#include "policy/grammar/cuda_text.h"
#include "policy/grammar/slot_table.h"

namespace warpsmith {
namespace {

bool IsDim(const ExprPtr& dim, int index) {
  return dim && dim->kind == ExprKind::kNumber &&
         (dim->number == index || dim->number == index - 2);
}

// Whether it is the named matrix with its dimensions exchanged.
bool IsTransposed(const Expr& expr, const std::string& matrix) {
  if (IsCall(expr, "contiguous") || IsCall(expr, "clone"))
    return !expr.args.empty() && IsTransposed(*expr.args[0], matrix);
  if (expr.kind != ExprKind::kCall || expr.args.empty() || expr.args[0]->kind != ExprKind::kName ||
      expr.args[0]->name != matrix)
    return false;
  if (expr.name == "t" || expr.name == "T" || expr.name == "mT") return expr.args.size() == 1;
  if (expr.name == "transpose" || expr.name == "swapaxes") {
    const ExprPtr a = Argument(expr, 1, "dim0"), b = Argument(expr, 2, "dim1");
    return (IsDim(a, 0) && IsDim(b, 1)) || (IsDim(a, 1) && IsDim(b, 0));
  }
  if (expr.name != "permute") return false;
  std::vector<ExprPtr> dims(expr.args.begin() + 1, expr.args.end());
  if (dims.size() == 1 && dims[0]->kind == ExprKind::kList) dims = std::vector(dims[0]->args);
  return dims.size() == 2 && IsDim(dims[0], 1) && IsDim(dims[1], 0);
}

constexpr std::string_view kText = R"(/* warpsmith
launches:
  - kernel: @kernel@
    grid: ceil_div(@rows@, @tile@) * ceil_div(@cols@, @tile@)
    block: @threads_x@, @threads_y@
    args: @x@, @y@, @rows@, @cols@
*/
// @summary@
constexpr int kTile = @tile@;  // a block moves kTile x kTile elements
constexpr int kVec = @vec@;  // neighbouring elements of one access
constexpr int kThreadsY = @threads_y@;
@pad@

@load_part@
@store_part@
__global__ void __launch_bounds__((kTile / kVec) * kThreadsY)
    @kernel@(const @type@* __restrict__ @in@, @type@* __restrict__ @out@, int rows, int cols) {
  @order@
  @move@
}
)";

// A matrix whose rows' length is no multiple of kVec is not aligned: one element at a time.
constexpr std::string_view kLoadPart = R"(// Elements [at, at + kVec) of a row of `length`.
__device__ __forceinline__ vec<@type@, kVec> load_part(const @type@* row, int at, int length) {
  if (length % kVec == 0) return load_vec<kVec>(row + at);
  vec<@type@, kVec> part;
#pragma unroll
  for (int k = 0; k < kVec; ++k) part[k] = at + k < length ? row[at + k] : @type@();
  return part;
}

)";

constexpr std::string_view kStorePart = R"(// Elements [at, at + kVec) of a row of `length`.
__device__ __forceinline__ void store_part(@type@* row, int at, int length,
                                           const vec<@type@, kVec>& part) {
  if (length % kVec == 0) {
    @store@(row + at, part);
    return;
  }
#pragma unroll
  for (int k = 0; k < kVec; ++k)
    if (at + k < length) row[at + k] = part[k];
}

)";

constexpr std::string_view kShared = R"(__shared__ @type@ tile[kTile][kTile + kPad];

// In: rows of the tile are rows of @in@.
const int column = first_column + static_cast<int>(threadIdx.x) * kVec;
for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
  const int row = first_row + i;
  if (row >= rows || column >= cols) break;
  const auto part = load_part(@in@ + static_cast<long long>(row) * cols, column, cols);
#pragma unroll
  for (int k = 0; k < kVec; ++k) tile[i][threadIdx.x * kVec + k] = part[k];
}
__syncthreads();

// Out: columns of the tile are rows of @out@.
const int at = first_row + static_cast<int>(threadIdx.x) * kVec;
for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
  const int out_row = first_column + i;
  if (out_row >= cols || at >= rows) break;
  vec<@type@, kVec> part;
#pragma unroll
  for (int k = 0; k < kVec; ++k) part[k] = tile[threadIdx.x * kVec + k][i];
  store_part(@out@ + static_cast<long long>(out_row) * rows, at, rows, part);
}
)";

constexpr std::string_view kScatter = R"(// Contiguous reads, strided writes.
const int column = first_column + static_cast<int>(threadIdx.x) * kVec;
for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
  const int row = first_row + i;
  if (row >= rows || column >= cols) break;
  const auto part = load_part(@in@ + static_cast<long long>(row) * cols, column, cols);
#pragma unroll
  for (int k = 0; k < kVec; ++k)
    if (column + k < cols) @out@[static_cast<long long>(column + k) * rows + row] = part[k];
}
)";

constexpr std::string_view kGather = R"(// Strided reads, contiguous writes.
const int at = first_row + static_cast<int>(threadIdx.x) * kVec;
for (int i = threadIdx.y; i < kTile; i += kThreadsY) {
  const int column = first_column + i;
  if (column >= cols || at >= rows) break;
  vec<@type@, kVec> part;
#pragma unroll
  for (int k = 0; k < kVec; ++k)
    part[k] = at + k < rows ? @in@[static_cast<long long>(at + k) * cols + column] : @type@();
  store_part(@out@ + static_cast<long long>(column) * rows, at, rows, part);
}
)";

}  // namespace

const std::vector<Slot>& TransposeFamily::slots() const {
  static const std::vector<Slot> slots = {
      {"stage", {"shared", "scatter", "gather"}},
      {"tile", {"16", "32", "64"}},
      {"vec", {"1", "2", "4"}},
      {"pad", {"0", "1", "2"}},
      {"rows_per_thread", {"1", "2", "4", "8", "16"}},
      {"order", {"rows", "columns"}},  // which way neighbouring blocks go
      {"store", {"wb", "cs"}},
  };
  return slots;
}

Status TransposeFamily::Matches(const Task& task) const {
  if (task.inputs.size() != 1 || task.outputs.size() != 1)
    return Fail(ErrorCode::kInvalidInput, "it has not one input and one output");
  const InputSpec& input = task.inputs[0];
  const OutputSpec& output = task.outputs[0];
  if (input.shape.size() != 2 || output.shape != std::vector{input.shape[1], input.shape[0]} ||
      input.dtype != output.dtype)
    return Fail(ErrorCode::kInvalidInput, "the output is no transposed matrix");
  ASSIGN_OR_RETURN(const ReferenceTree reference, ParseReference(task.reference));
  if (reference.results.size() != 1 || !IsTransposed(*reference.results[0], input.name))
    return Fail(ErrorCode::kInvalidInput, "the reference is no transposition");
  return {};
}

std::vector<uint8_t> TransposeFamily::Allowed(const Task&, size_t slot,
                                              std::span<const int32_t> earlier) const {
  const Slot& asked = slots().at(slot);
  const Choices chosen(slots(), earlier);
  // Only a tile in shared memory has rows to pad.
  if (asked.name == "pad" && chosen["stage"] != "shared") return Only(asked, "0");
  // Strided writes have no vector stores.
  if (asked.name == "store" && chosen["stage"] == "scatter") return Only(asked, "wb");
  return All(asked);
}

std::string TransposeFamily::Write(const Task& task, DeviceKind,
                                   std::span<const int32_t> ids) const {
  const Choices chosen(slots(), ids);
  const InputSpec& input = task.inputs[0];
  const std::string stage = chosen["stage"], out = SafeName(task.outputs[0].name);
  const int tile = chosen.Number("tile");
  const std::map<std::string, std::string> names = {
      {"type", CudaType(input.dtype)},
      {"in", SafeName(input.name)},
      {"out", out},
      {"store", chosen["store"] == "cs" ? "store_cs" : "store_vec"}};
  const std::string order =
      chosen["order"] == "rows"
          ? "const int tiles_across = ceil_div(cols, kTile);  // neighbouring blocks share rows\n"
            "const int first_row = static_cast<int>(blockIdx.x) / tiles_across * kTile;\n"
            "const int first_column = static_cast<int>(blockIdx.x) % tiles_across * kTile;\n"
          : "const int tiles_down = ceil_div(rows, kTile);  // neighbouring blocks share columns\n"
            "const int first_row = static_cast<int>(blockIdx.x) % tiles_down * kTile;\n"
            "const int first_column = static_cast<int>(blockIdx.x) / tiles_down * kTile;\n";
  return Expand(
      kText,
      {{"kernel", KernelName(task)},
       {"rows", Product(input.shape, 0, 1)},
       {"cols", Product(input.shape, 1, 2)},
       {"tile", std::to_string(tile)},
       {"vec", chosen["vec"]},
       {"threads_x", std::to_string(tile / chosen.Number("vec"))},
       {"threads_y", std::to_string(tile / chosen.Number("rows_per_thread"))},
       {"x", input.name},
       {"y", task.outputs[0].name},
       {"summary", DescribeChoices(*this, ids)},
       {"type", CudaType(input.dtype)},
       {"in", SafeName(input.name)},
       {"out", out},
       {"pad",
        stage == "shared"
            ? fmt::format(
                  "constexpr int kPad = {};  // keeps a column's elements in different banks\n",
                  chosen["pad"])
            : ""},
       {"load_part", stage == "gather" ? "" : Expand(kLoadPart, names)},
       {"store_part", stage == "scatter" ? "" : Expand(kStorePart, names)},
       {"order", order},
       {"move", Expand(stage == "shared"    ? kShared
                       : stage == "scatter" ? kScatter
                                            : kGather,
                       names)}});
}

}  // namespace warpsmith
