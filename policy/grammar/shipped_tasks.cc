#include "policy/grammar/shipped_tasks.h"

namespace warpsmith {
namespace {

const std::vector<std::string> kMatrix = {"rows", "cols"};

std::vector<Case> Cases(int64_t rows, int64_t cols) {
  return {{CaseRole::kTrain, {{"rows", rows}, {"cols", cols}}},
          {CaseRole::kHoldout, {{"rows", rows / 2}, {"cols", cols * 3 / 2}}},
          {CaseRole::kEdge, {{"rows", 3}, {"cols", 501}}},
          {CaseRole::kEdge, {{"rows", 1}, {"cols", 1}}},
          {CaseRole::kEdge, {{"rows", 0}, {"cols", 7}}}};
}

Task Matrix(const std::string& name, Dtype dtype, const std::vector<std::string>& inputs,
            const std::string& expression) {
  Task task;
  task.id = TaskId("shipped/" + name);
  std::string parameters;
  for (const std::string& input : inputs) {
    task.inputs.push_back({.name = input, .dtype = dtype, .shape = kMatrix});
    parameters += input + ": Tensor, ";
  }
  task.outputs = {{.name = "y", .dtype = dtype, .shape = kMatrix, .rtol = 1e-2}};
  task.reference = "def reference(" + parameters +
                   "w: Tensor, bias: Tensor, a: float, b: float, s: float, eps: float, rows: int, "
                   "cols: int) -> Tensor:\n    return " +
                   expression + "\n";
  task.cuda_cases = Cases(4096, 8192);
  task.host_cases = Cases(64, 512);
  return task;
}

Task WithRow(Task task, const std::string& name) {
  task.inputs.push_back({.name = name, .dtype = task.inputs[0].dtype, .shape = {"cols"}});
  return task;
}

Task WithScalar(Task task, const std::string& name, double value) {
  task.scalars.push_back({.name = name, .value = value});
  return task;
}

Task Transposed(const std::string& name, Dtype dtype) {
  Task task = Matrix(name, dtype, {"x"}, "torch.transpose(x, 0, 1).contiguous()");
  task.outputs[0].shape = {"cols", "rows"};
  return task;
}

}  // namespace

std::vector<Task> ShippedTasks() {
  const Dtype f32 = Dtype::kFloat32, bf16 = Dtype::kBFloat16;
  return {
      WithScalar(
          WithScalar(Matrix("gelu_chain", bf16, {"x", "r"}, "torch.gelu(a * x + b) + r"), "a", 1.5),
          "b", 0.1),
      Matrix("swiglu", bf16, {"g", "u"}, "torch.silu(g) * u"),
      WithScalar(
          WithRow(Matrix("bias_residual_scale", f32, {"x", "r"}, "(x + bias) * s + r"), "bias"),
          "s", 0.5),
      Matrix("softmax_rows", f32, {"x"}, "torch.softmax(x, -1)"),
      WithScalar(
          WithRow(Matrix("rms_norm_rows", bf16, {"x"}, "torch.rms_norm(x, [cols], w, eps)"), "w"),
          "eps", 1e-5),
      WithScalar(Matrix("l2_normalize_rows", f32, {"x"},
                        "x / (torch.sqrt(torch.sum(x * x, -1, True)) + eps)"),
                 "eps", 1e-6),
      Transposed("transpose", f32),
      Transposed("transpose_odd", bf16),
  };
}

}  // namespace warpsmith
