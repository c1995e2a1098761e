// The launch plan inside a candidate's text (docs/design.md, "Candidate file"): the first block
// comment,
//
//   /* warpsmith
//   let:
//     rows_per_block: 4
//   launches:
//     - kernel: softmax_rows<8>        # a name expression: templates and plain kernels alike
//       grid:   ceil_div(rows, rows_per_block), 1
//       block:  32, rows_per_block
//       shared: 0                      # optional: dynamic shared memory, bytes
//       cluster: 1                     # optional
//       args:   x, y, rows, cols
//   temps:                             # optional: scratch buffers
//     partial: {dtype: float32, shape: "rows"}
//   zero: [partial]                    # optional: outputs or temps zero-filled before the launches
//   */
//
// grid, block, cluster, args, shape and zero are one text, or a list joined by commas; both are
// split outside brackets. Texts are hostile: this runs in a compiler child, takes time in
// proportion to the text, and never throws. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/plan.h"

namespace warpsmith {

constexpr size_t kMaxPlanLets = 64;
constexpr size_t kMaxPlanTemps = 16;
constexpr size_t kMaxPlanRank = 8;

// The text as a compiler sees it: without a byte-order mark. kInvalidInput: too long, a NUL byte,
// or empty.
Result<std::string> AdmitCandidate(std::string_view text);

// kInvalidInput with every problem, one a line: "line 5: launch 2 (scale): grid: ...". The message
// is the `why` of a Rejected outcome.
Result<Plan> ParsePlan(std::string_view candidate_text);

// What every device's compiler begins with: the text admitted, its plan parsed.
struct AdmittedCandidate {
  std::string text;
  Plan plan;
};
Result<AdmittedCandidate> AdmitWithPlan(std::string_view text);

// The kernels that its launches name, each once, in the order of their first launches.
std::vector<std::string> KernelNames(const Plan& plan);

// Whether a Plan that came out of an untrusted process is one that ParsePlan could have returned:
// counts, names, grammar of expressions. kInvalidInput names the first thing that is not. Every
// plan that ParsePlan returns passes: else a candidate could make its compiler look like a liar.
Status CheckPlan(const Plan& plan);

// A strict grammar of name expressions, so that a kernel's name can stand in generated code:
//   name     := identifier ('::' identifier)* ['<' argument (',' argument)* '>']
//   argument := ['-'] whole number | true | false | type
//   type     := ['const'] (fundamental words | name) '*'*
// No keyword, no other punctuation. kInvalidInput says what is wrong.
Status CheckKernelName(std::string_view text);

}  // namespace warpsmith
