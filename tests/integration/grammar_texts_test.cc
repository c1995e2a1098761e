// What the grammar writes is what its task asks for: texts of every family run on the host device
// and are held against the operation in double precision; for a GPU they at least compile.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>

#include "common/base/parse.h"
#include "common/base/random.h"
#include "common/suite/plan_file.h"
#include "common/suite/resolve.h"
#include "common/suite/suite_file.h"
#include "policy/grammar/families.h"
#include "policy/grammar/random_policy.h"
#include "policy/grammar/shipped_tasks.h"
#include "worker/cuda/nvrtc_compiler.h"
#include "worker/host/test_lane.h"

namespace warpsmith {
namespace {

using Matrix = std::vector<double>;
using Inputs = std::map<std::string, Matrix>;
// The expected output of `rows` x `cols`, row-major.
using Operation = std::function<Matrix(const Inputs&, size_t rows, size_t cols)>;

struct Known {
  Task task;
  Operation operation;
};

uint16_t ToBFloat16(double value) {
  const auto narrow = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &narrow, 4);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
double FromBFloat16(uint16_t value) {
  const uint32_t bits = uint32_t{value} << 16;
  float wide = 0;
  std::memcpy(&wide, &bits, 4);
  return wide;
}

double Gelu(double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); }
double Sigmoid(double v) { return 1 / (1 + std::exp(-v)); }

Operation EachElement(std::function<double(const std::map<std::string, double>&)> f) {
  return [f](const Inputs& inputs, size_t rows, size_t cols) {
    Matrix result;
    for (size_t i = 0; i < rows * cols; ++i) {
      std::map<std::string, double> values;
      for (const auto& [name, matrix] : inputs)
        values[name] = matrix[matrix.size() == rows * cols ? i : i % cols];
      result.push_back(f(values));
    }
    return result;
  };
}

Operation EachRow(std::function<Matrix(const Matrix&, const Inputs&)> f) {
  return [f](const Inputs& inputs, size_t rows, size_t cols) {
    Matrix result;
    const Matrix& x = inputs.at("x");
    for (size_t row = 0; row < rows; ++row) {
      const auto first = x.begin() + static_cast<long>(row * cols);
      const Matrix some = f(Matrix(first, first + static_cast<long>(cols)), inputs);
      result.insert(result.end(), some.begin(), some.end());
    }
    return result;
  };
}

double Sum(const Matrix& row, std::function<double(double)> f) {
  double sum = 0;
  for (const double v : row) sum += f(v);
  return sum;
}
Matrix Map(Matrix row, std::function<double(double)> f) {
  for (double& v : row) v = f(v);
  return row;
}

Matrix Softmax(const Matrix& row, const Inputs&) {
  const double max = *std::max_element(row.begin(), row.end());
  const double sum = Sum(row, [&](double v) { return std::exp(v - max); });
  return Map(row, [&](double v) { return std::exp(v - max) / sum; });
}
Matrix LogSoftmax(const Matrix& row, const Inputs& inputs) {
  return Map(Softmax(row, inputs), [](double v) { return std::log(v); });
}
Matrix LayerNorm(const Matrix& row, const Inputs&) {
  const auto n = static_cast<double>(row.size());
  const double mean = Sum(row, [](double v) { return v; }) / n;
  const double variance = Sum(row, [&](double v) { return (v - mean) * (v - mean); }) / n;
  return Map(row, [&](double v) { return (v - mean) / std::sqrt(variance + 1e-5); });
}
Matrix RmsNorm(const Matrix& row, const Inputs& inputs) {
  const double mean = Sum(row, [](double v) { return v * v; }) / static_cast<double>(row.size());
  Matrix result = Map(row, [&](double v) { return v / std::sqrt(mean + 1e-5); });
  for (size_t i = 0; i < row.size(); ++i) result[i] *= inputs.at("w")[i];
  return result;
}
Matrix L2Normalize(const Matrix& row, const Inputs&) {
  const double norm = std::sqrt(Sum(row, [](double v) { return v * v; }));
  return Map(row, [&](double v) { return v / (norm + 1e-6); });
}
Matrix Transposed(const Inputs& inputs, size_t rows, size_t cols) {
  Matrix result(rows * cols);
  for (size_t i = 0; i < rows * cols; ++i) result[i % cols * rows + i / cols] = inputs.at("x")[i];
  return result;
}

Task Named(Task task, const std::string& name, const std::string& expression) {
  task.id = TaskId("known/" + name);
  task.reference = task.reference.substr(0, task.reference.find("return")) + "return " + expression;
  return task;
}

std::vector<Known> KnownTasks() {
  const std::vector<Task> shipped = ShippedTasks();
  std::vector<Known> known = {
      {shipped[0],
       EachElement([](const auto& v) { return Gelu(1.5 * v.at("x") + 0.1) + v.at("r"); })},
      {shipped[1],
       EachElement([](const auto& v) { return v.at("g") * Sigmoid(v.at("g")) * v.at("u"); })},
      {shipped[2],
       EachElement([](const auto& v) { return (v.at("x") + v.at("bias")) * 0.5 + v.at("r"); })},
      {shipped[3], EachRow(Softmax)},
      {shipped[4], EachRow(RmsNorm)},
      {shipped[5], EachRow(L2Normalize)},
      {shipped[6], Transposed},
      {shipped[7], Transposed},
      {Named(shipped[3], "log_softmax", "torch.log_softmax(x, -1)"), EachRow(LogSoftmax)},
      {Named(shipped[3], "two_softmaxes", "torch.softmax(x, -1) - torch.softmax(2 * x, -1)"),
       EachRow([](const Matrix& row, const Inputs& inputs) {
         Matrix result = Softmax(row, inputs);
         const Matrix sharp = Softmax(Map(row, [](double v) { return 2 * v; }), inputs);
         for (size_t i = 0; i < row.size(); ++i) result[i] -= sharp[i];
         return result;
       })},
      {Named(shipped[3], "layer_norm", "torch.layer_norm(x, [cols])"), EachRow(LayerNorm)},
      {Named(
           shipped[3], "functions",
           "torch.relu(x) + torch.sigmoid(x) * torch.tanh(x) - torch.clamp(x, -1, 1) / "
           "torch.nn.functional.softplus(x) + torch.maximum(x, torch.square(x)) + "
           "torch.minimum(x, -x) + torch.nn.functional.leaky_relu(x) + torch.sqrt(torch.abs(x)) + "
           "torch.log1p(x * x) - torch.erf(x) + torch.rsqrt(torch.exp(x)) + torch.sin(x) * "
           "torch.cos(x) + torch.floor(x) + torch.ceil(x) + torch.expm1(x) - torch.log(x * x + 1) "
           "+ "
           "x ** 3 - (x - (1 - x)) - 2 / (x * x + 1) * 3 - (-x) * x + torch.reciprocal(x * x + 2)"),
       EachElement([](const auto& v) {
         const double x = v.at("x");
         return std::max(x, 0.0) + Sigmoid(x) * std::tanh(x) -
                std::clamp(x, -1.0, 1.0) / std::log1p(std::exp(x)) + std::max(x, x * x) +
                std::min(x, -x) + (x < 0 ? 0.01 * x : x) + std::sqrt(std::abs(x)) +
                std::log1p(x * x) - std::erf(x) + 1 / std::sqrt(std::exp(x)) +
                std::sin(x) * std::cos(x) + std::floor(x) + std::ceil(x) + std::expm1(x) -
                std::log(x * x + 1) + x * x * x - (x - (1 - x)) - 2 / (x * x + 1) * 3 + x * x +
                1 / (x * x + 2);
       })},
  };
  // Names that the text would use itself, and arguments by keyword.
  Task named = shipped[3];
  named.scalars = {{.name = "k", .value = 0.5}, {.name = "i", .value = 0.25}};
  named.reference =
      "def reference(x, k, i):\n    return torch.clamp(x * k, min=-i, max=i) + torch.sum(x, -1, "
      "True)";
  named.id = TaskId("known/named_like_loops");
  known.push_back({named, EachRow([](const Matrix& row, const Inputs&) {
                     const double sum = Sum(row, [](double v) { return v; });
                     return Map(row,
                                [&](double v) { return std::clamp(0.5 * v, -0.25, 0.25) + sum; });
                   })});
  named.reference = "def reference(x, k, i):\n    return x * k + i";
  named.id = TaskId("known/scaled");
  known.push_back({named, EachElement([](const auto& v) { return v.at("x") * 0.5 + 0.25; })});
  Task sums = Named(shipped[3], "row_sum", "torch.sum(x, -1)");
  sums.outputs[0].shape = {"rows"};
  known.push_back({sums, EachRow([](const Matrix& row, const Inputs&) {
                     return Matrix{Sum(row, [](double v) { return v; })};
                   })});
  return known;
}

Action Draw(const Task& task, DeviceKind kind, uint64_t seed) {
  DeviceFacts device;
  device.kind = kind;
  RandomPolicy policy(Families());
  const Observation observation{.task = task, .device = device, .seed = seed};
  auto actions = policy.Act(std::span(&observation, 1));
  EXPECT_TRUE(actions) << actions.error().message;
  return actions ? actions->at(0) : Action{};
}

// What a compiler would report of the kernel's parameters.
KernelInfo Kernel(const LaunchSpec& launch, const Task& task) {
  KernelInfo info{.name = launch.kernel, .symbol = launch.kernel};
  for (const std::string& argument : launch.args) {
    const auto named = [&](const auto& spec) { return spec.name == argument; };
    const bool buffer = std::any_of(task.inputs.begin(), task.inputs.end(), named) ||
                        std::any_of(task.outputs.begin(), task.outputs.end(), named);
    const bool scalar = std::any_of(task.scalars.begin(), task.scalars.end(), named);
    info.parameters.push_back(buffer   ? ParameterType::kPointer
                              : scalar ? ParameterType::kFloat32
                                       : ParameterType::kInt32);
  }
  return info;
}

// The outcome of a text on one case, and whether its output is right.
Outcome Try(const Known& known, const std::string& text, int64_t rows, int64_t cols) {
  const Task& task = known.task;
  const bool narrow = task.inputs[0].dtype == Dtype::kBFloat16;
  TestLane lane(2);
  lane.Dim("rows", rows).Dim("cols", cols);
  Inputs inputs;
  Random random(static_cast<uint64_t>(rows * 1000 + cols));
  for (const InputSpec& input : task.inputs) {
    Matrix& values = inputs[input.name];
    for (int64_t i = input.shape.size() == 2 ? rows * cols : cols; i > 0; --i)
      values.push_back(FromBFloat16(ToBFloat16(4 * random.Uniform() - 2)));
    if (narrow) {
      std::vector<uint16_t> bits;
      for (const double v : values) bits.push_back(ToBFloat16(v));
      lane.Input(input.name, Dtype::kBFloat16, bits);
    } else {
      lane.Floats(input.name, std::vector<float>(values.begin(), values.end()));
    }
  }
  for (const ScalarSpec& scalar : task.scalars)
    lane.Scalar(scalar.name, scalar.dtype, scalar.value);
  const Matrix expected =
      known.operation(inputs, static_cast<size_t>(rows), static_cast<size_t>(cols));
  lane.Output("y", task.outputs[0].dtype, static_cast<int64_t>(expected.size()));
  const Outcome outcome = lane.Run(text);
  if (!IsCorrect(outcome)) return outcome;
  Matrix got;
  if (narrow) {
    for (const uint16_t bits : lane.Get<uint16_t>("y")) got.push_back(FromBFloat16(bits));
  } else {
    for (const float value : lane.Floats("y")) got.push_back(value);
  }
  const double tolerance = narrow ? 1.6e-2 : 1e-4;
  double largest = 0;
  for (const double v : expected) largest = std::max(largest, std::abs(v));
  for (size_t i = 0; i < expected.size(); ++i)
    if (!(std::abs(got[i] - expected[i]) <= tolerance * (0.1 * largest + std::abs(expected[i]))))
      return WrongOutput{.report = {.output = "y",
                                    .reason = "value",
                                    .first_index = {static_cast<int64_t>(i)},
                                    .expected = expected[i],
                                    .got = got[i]}};
  EXPECT_EQ(lane.Damage(), std::nullopt);
  return outcome;
}

// Random choices and sizes: odd, divisible, a single element, rows shorter than a warp and longer
// than what registers hold.
TEST(GrammarTexts, ComputeWhatTheTaskAsksForOnTheHostDevice) {
  const std::vector<std::pair<int64_t, int64_t>> sizes = {
      {5, 37}, {6, 64}, {1, 1}, {3, 700}, {70, 8}};
  // More seeds for those who change a family.
  const char* wanted = std::getenv("WARPSMITH_GRAMMAR_SEEDS");
  const uint64_t seeds = wanted ? ParseWhole<uint64_t>(wanted).value() : 3;
  for (const Known& known : KnownTasks()) {
    int correct = 0;
    for (uint64_t seed = 0; seed < seeds; ++seed) {
      const Action action = Draw(known.task, DeviceKind::kHost, seed);
      const auto [rows, cols] = sizes[(seed * 7 + known.task.id.value().size()) % sizes.size()];
      const Outcome outcome = Try(known, action.text, rows, cols);
      correct += IsCorrect(outcome);
      // Too many threads or too much shared memory is the only way to fail.
      const bool too_much = std::holds_alternative<ResourceError>(outcome) ||
                            std::holds_alternative<Rejected>(outcome);
      EXPECT_TRUE(IsCorrect(outcome) || too_much) << known.task.id.value() << " " << rows << " x "
                                                  << cols << ": " << Describe(outcome) << "\n"
                                                  << action.text;
      if (too_much) {
        EXPECT_THAT(Describe(outcome), ::testing::HasSubstr("block")) << action.text;
      }
    }
    EXPECT_GT(correct, 0) << known.task.id.value();
  }
}

// The suite as it ships, not a test's idea of it.
TEST(GrammarTexts, FitEveryCaseOfTheStarterSuite) {
  const auto suite = LoadSuite(WARPSMITH_SUITES "/starter.yaml");
  ASSERT_TRUE(suite) << suite.error().message;
  for (const Task& task : suite->tasks)
    for (const DeviceKind kind : {DeviceKind::kHost, DeviceKind::kCuda}) {
      const Action action = Draw(task, kind, 1);
      const auto plan = ParsePlan(action.text);
      ASSERT_TRUE(plan) << plan.error().message;
      DeviceFacts device;
      device.kind = kind;
      for (const Case& one : CasesOf(task, kind)) {
        const auto resolved =
            ResolvePlan(*plan, {Kernel(plan->launches[0], task)}, task, one.dims, device);
        const auto* outcome = std::get_if<Outcome>(&resolved);
        EXPECT_TRUE(!outcome || std::holds_alternative<ResourceError>(*outcome) ||
                    Describe(*outcome).find("block") != std::string::npos)
            << Describe(*outcome);
      }
    }
}

TEST(GrammarTexts, CompileForAGpu) {
  NvrtcCompiler compiler;
  for (const Known& known : KnownTasks())
    for (uint64_t seed = 0; seed < 3; ++seed) {
      const Action action = Draw(known.task, DeviceKind::kCuda, seed);
      const CompileReply reply = compiler.Compile(
          {.text = action.text, .device_kind = DeviceKind::kCuda, .architecture = "sm_90a"});
      const auto* outcome = std::get_if<Outcome>(&reply.result);
      EXPECT_EQ(outcome, nullptr) << Describe(*outcome) << "\n" << action.text;
    }
}

}  // namespace
}  // namespace warpsmith
