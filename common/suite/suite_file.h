// Suite files (docs/design.md, "Suite file"): the tasks that policies are asked to write kernels
// for.
//
//   suite: starter
//   tasks:
//     - id: softmax_rows
//       inputs:  {x: {dtype: float32, shape: [rows, cols], init: normal}}
//       scalars: {eps: {dtype: float32, value: 1e-6}}      # optional; value, or expression
//       outputs: {y: {dtype: float32, shape: [rows, cols], rtol: 1e-4}}
//       reference: |
//         def reference(x: Tensor, eps: float) -> Tensor:
//             return torch.softmax(x, -1)
//       work:    {flops: 5 * rows * cols}                  # optional; also read_bytes, write_bytes
//       cases:
//         gpu:  {train: [{rows: 8192, cols: 4096}], holdout: [], edge: [{rows: 0, cols: 7}]}
//         host: {train: [{rows: 64, cols: 512}]}
//       starter: softmax_rows.cu                           # optional, beside the suite
//
// init is a word, or a map with its numbers:
//   normal {scale}   uniform {low, high}   integer {low, high}   index {bound}   one_hot
//   mask {value}     constant {value}
// outputs take rtol, atol, compare (value, exact, index_by_value, ulp(n)), index_into, order_free
// and equal_nan. `cases` without gpu and host hold for both.
//
// This is the static lint: unknown fields, duplicate keys and ids, quoted or non-finite numbers,
// anchors, names that hide each other, expressions that fail for a case, and starters without a
// plan are problems; all of them come out at once, each "file:line:column: problem; write X
// instead". References are not compiled here.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "common/model/task.h"

namespace warpsmith {

constexpr size_t kMaxSuiteBytes = 4 << 20;
constexpr size_t kMaxTasksOfSuite = 4096;
constexpr size_t kMaxCasesOfRole = 256;
constexpr int64_t kMaxDim = int64_t{1} << 40;

// The text of a starter by the name that the suite gives it.
using StarterLoader = std::function<Result<std::string>(const std::string& name)>;

// Pure but for what the loader does. `file` is the name in messages. kInvalidInput: every problem,
// one a line.
Result<Suite> ParseSuite(std::string_view text, std::string_view file, const StarterLoader& loader);

// Reads the suite and its starters, which lie in its folder or below. kNotFound where the suite is
// not.
Result<Suite> LoadSuite(const std::filesystem::path& path);

}  // namespace warpsmith
