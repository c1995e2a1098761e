// References, comparison by tensors, and the semantic lint, on plain memory.
#include "worker/oracle/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/base/random.h"
#include "common/suite/scalar_bits.h"
#include "common/suite/task_shapes.h"
#include "tests/support/fake_oracle_device.h"
#include "worker/oracle/bounds.h"
#include "worker/oracle/comparator.h"
#include "worker/oracle/lint.h"
#include "worker/oracle/testing_tasks.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;

Result<Values> RunOn(const Task& task, const Dims& dims, std::vector<std::vector<float>>& inputs) {
  ASSIGN_OR_RETURN(const auto reference, Reference::Compile(task, DeviceKind::kHost, 0));
  ASSIGN_OR_RETURN(const auto buffers, TaskBuffers(task, dims));
  std::vector<TensorView> views;
  for (size_t i = 0; i < inputs.size(); ++i)
    views.push_back({inputs[i].data(), Dtype::kFloat32, buffers[i].shape});
  return reference.Run(dims, views, buffers);
}

std::string WhyNot(const Task& task) {
  std::vector<std::vector<float>> inputs(task.inputs.size(), std::vector<float>(16 * 64, 1.5f));
  const auto result = RunOn(task, task.host_cases[0].dims, inputs);
  return result ? "" : result.error().message;
}

std::string LintOf(const Task& task) {
  FakeOracleDevice device;
  const auto reference = Reference::Compile(task, DeviceKind::kHost, 0);
  if (!reference) return reference.error().message;
  const auto status = LintTask(task, *reference, device);
  EXPECT_EQ(device.held(), 0u) << "buffers were left behind";
  return status ? "" : status.error().message;
}

// ---- references that do not work

TEST(Reference, ABrokenOneNamesItsTaskAndItsLine) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.softmacks(x)\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("test/softmax_rows"));
  EXPECT_THAT(WhyNot(task), HasSubstr("softmacks"));
  task.reference = "def something(x: Tensor) -> Tensor:\n    return x\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("no function `reference`"));
  task.reference = "this is no script";
  EXPECT_NE(WhyNot(task), "");
}

TEST(Reference, AParameterThatIsNothingOfTheTasksIsNamed) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor, depth: int) -> Tensor:\n    return x * depth\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("`depth`"));
  task.reference = "def reference(x: Tensor, rows) -> Tensor:\n    return x * rows\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("write `rows: int`"));
}

TEST(Reference, OutputsMustBeWhatTheTaskSays) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.sum(x, -1)\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("shape [16]"));
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return (x * 2).to(torch.float16)\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("float32"));
  task.reference = "def reference(x: Tensor):\n    return x * 2, x * 3\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("returns 2 tensors"));
  task.reference = "def reference(x: Tensor) -> int:\n    return 3\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("something else than tensors"));
}

TEST(Reference, ABaselineMustDoTheWork) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return x.view(-1).view(16, 64)\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("part of its input"));
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return (x * 2).view(64, 16).t()\n";
  EXPECT_THAT(WhyNot(task), HasSubstr(".contiguous()"));
}

TEST(Reference, FailsAtRunTimeInItsOwnWords) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.softmax(x, 7)\n";
  EXPECT_THAT(WhyNot(task), HasSubstr("Dimension out of range"));
}

// ---- references that work

TEST(Reference, DtypeNamesBecomeNumbers) {
  EXPECT_EQ(NumberDtypes("x.to(torch.float32)"), "x.to(6)");
  EXPECT_EQ(NumberDtypes("torch.zeros([2], dtype=torch.bfloat16)"), "torch.zeros([2], dtype=15)");
  EXPECT_EQ(NumberDtypes("torch.int8, torch.int64"), "1, 4");
  EXPECT_EQ(NumberDtypes("torch.float_power(x)"), "torch.float_power(x)");
}

TEST(Reference, KnowsInputsScalarsAndDimsByName) {
  Task task = SoftmaxTask();
  task.scalars = {{.name = "a", .value = 0.1}, {.name = "n", .dtype = Dtype::kInt32, .value = 3}};
  task.reference =
      "def reference(n: int, x: Tensor, cols: int, a: float) -> Tensor:\n"
      "    return x * a + n * cols\n";
  std::vector<std::vector<float>> inputs{std::vector<float>(16 * 64, 2.0f)};
  const auto result = RunOn(task, task.host_cases[0].dims, inputs);
  ASSERT_TRUE(result) << result.error().message;
  // The scalar is the float32 that a kernel gets.
  EXPECT_FLOAT_EQ(static_cast<float>(SummaryOf(*result, 0).mean), 2 * 0.1f + 3 * 64);
}

TEST(Reference, ExactIsInDoubleAndBeyondRangeIsInfinite) {
  Task task = SoftmaxTask();
  task.inputs[0].dtype = task.outputs[0].dtype = Dtype::kFloat16;
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return x * x\n";
  const auto reference = Reference::Compile(task, DeviceKind::kHost, 0);
  ASSERT_TRUE(reference);
  const Dims dims{{"rows", 1}, {"cols", 2}};
  const auto buffers = TaskBuffers(task, dims);
  std::vector<uint16_t> halves{0x7BFF, 0x3C01};  // 65504 and 1 + 2^-10
  const TensorView view{halves.data(), Dtype::kFloat16, {1, 2}};
  const auto exact = reference->RunExact(dims, {&view, 1}, *buffers);
  ASSERT_TRUE(exact) << exact.error().message;
  const Summary finite = SummaryOf(*exact, 0);
  EXPECT_EQ(finite.most, (1 + 0x1p-10) * (1 + 0x1p-10)) << "more bits than a half has";
  EXPECT_EQ(finite.least, finite.most) << "65504 squared is infinite in a half";
}

TEST(Reference, Reference64Overrides) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.softmax(x, -1)\n";
  task.reference64 = "def reference(x: Tensor) -> Tensor:\n    return x * 0 + 7\n";
  const auto reference = Reference::Compile(task, DeviceKind::kHost, 0);
  const Dims& dims = task.host_cases[0].dims;
  const auto buffers = TaskBuffers(task, dims);
  std::vector<float> x(16 * 64, 1);
  const TensorView view{x.data(), Dtype::kFloat32, {16, 64}};
  const auto exact = reference->RunExact(dims, {&view, 1}, *buffers);
  ASSERT_TRUE(exact);
  EXPECT_EQ(SummaryOf(*exact, 0).mean, 7);
}

TEST(Reference, ASingleRowNeedsNoOtherLayoutAndIsCopiedAllTheSame) {
  Task task = SoftmaxTask();
  task.outputs = {FloatOutput("y", {"cols", "rows"})};
  task.reference =
      "def reference(x: Tensor) -> Tensor:\n"
      "    return torch.transpose(x, 0, 1).contiguous()\n";
  for (const Dims& dims : {Dims{{"rows", 1}, {"cols", 5}}, Dims{{"rows", 1}, {"cols", 1}}}) {
    std::vector<std::vector<float>> inputs = {{1, 2, 3, 4, 5}};
    const auto result = RunOn(task, dims, inputs);
    ASSERT_TRUE(result) << result.error().message;
    const double mean = SummaryOf(*result, 0).mean;
    inputs[0].assign(5, 9);
    EXPECT_EQ(SummaryOf(*result, 0).mean, mean) << "it has memory of its own";
  }
}

TEST(Reference, ACaseWithoutElementsRuns) {
  Task task = SoftmaxTask();
  const auto reference = Reference::Compile(task, DeviceKind::kHost, 0);
  const Dims& dims = task.host_cases[2].dims;
  const auto buffers = TaskBuffers(task, dims);
  const TensorView view{nullptr, Dtype::kFloat32, {0, 7}};
  EXPECT_TRUE(reference->RunExact(dims, {&view, 1}, *buffers));
}

// ---- the quick pass of a GPU says what the definition says

TEST(Comparator, QuickPassAgreesWithTheDefinition) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, 1.0f, -1.0f,  1.00005f, 3.5f,
                           kInf, -kInf, kNan, 1e-42f, 1e30f};
  Random random(5);
  int passed = 0;
  for (int round = 0; round < 4000; ++round) {
    std::vector<float> expected, got;
    const size_t n = 1 + random.Below(4);
    for (size_t i = 0; i < n; ++i) {
      expected.push_back(special[random.Below(std::size(special))]);
      got.push_back(random.Chance(0.8) ? expected[i] : special[random.Below(std::size(special))]);
    }
    OutputSpec spec{.name = "y", .rtol = 1e-4, .equal_nan = random.Chance(0.5)};
    const CompareKind kinds[] = {CompareKind::kValue, CompareKind::kExact, CompareKind::kUlp};
    spec.compare = kinds[random.Below(3)];
    if (random.Chance(0.3)) spec.atol = 10;
    const ErrorStats baseline{n, 1e-8, random.Chance(0.5) ? 1e-4 : 0};
    const std::vector<int64_t> shape{static_cast<int64_t>(n)};
    const TensorView views[] = {{expected.data(), Dtype::kFloat32, shape},
                                {got.data(), Dtype::kFloat32, shape}};
    const Values values = ViewOf(views, DeviceKind::kHost, 0);
    const Comparand c{.spec = &spec,
                      .timed_case = {},
                      .rule = MakeRule(spec, 1, baseline),
                      .expected = &values,
                      .got = &values,
                      .expected_index = 0,
                      .got_index = 1};
    const auto quick = PassesByTensors(c);
    const auto report = Report(c);
    ASSERT_TRUE(quick && report);
    EXPECT_EQ(*quick, !report->has_value())
        << "kind " << static_cast<int>(spec.compare) << ", expected "
        << testing::PrintToString(expected) << ", got " << testing::PrintToString(got);
    passed += *quick ? 1 : 0;
  }
  EXPECT_GT(passed, 400) << "both answers must occur";
  EXPECT_LT(passed, 3600);
}

// A value as a dtype's bytes hold it.
std::vector<char> BytesOf(Dtype dtype, const std::vector<double>& values) {
  std::vector<char> bytes(values.size() * SizeOf(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    char* at = bytes.data() + i * SizeOf(dtype);
    const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
    switch (dtype) {
      case Dtype::kFloat64: put(values[i]); break;
      case Dtype::kFloat32: put(static_cast<float>(values[i])); break;
      case Dtype::kFloat16: put(ToHalfBits(values[i])); break;
      default: put(ToBFloat16Bits(values[i])); break;
    }
  }
  return bytes;
}

TEST(Comparator, EveryQuickPassAgreesWithTheDefinitionInEveryDtype) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double special[] = {0.0,   -0.0,   1.0,    -1.0,      1.01,  3.5,    kInf,
                            -kInf, kNan,   1.001,  1.0000001, 6e-8,  -1e-40, 1e-310,
                            1e-39, 6.1e-5, 3.0e38, 65504.,    1e308, -1e308};
  const Dtype dtypes[] = {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16};
  FakeOracleDevice device;
  Random random(11);
  int passed = 0;
  constexpr int kRounds = 8000;
  for (int round = 0; round < kRounds; ++round) {
    const Dtype dtype = dtypes[random.Below(4)];
    const Dtype expected_dtype = random.Chance(0.5) ? dtype : dtypes[random.Below(4)];
    const size_t n = random.Chance(0.2) ? random.Below(40) : random.Below(3);
    std::vector<double> expected, got;
    for (size_t i = 0; i < n; ++i) {
      expected.push_back(special[random.Below(std::size(special))]);
      got.push_back(random.Chance(0.85) ? expected[i] : special[random.Below(std::size(special))]);
    }
    if (random.Chance(0.1)) std::fill(got.begin(), got.end(), 0.0);
    const auto expected_bytes = BytesOf(expected_dtype, expected);
    const auto got_bytes = BytesOf(dtype, got);
    OutputSpec spec{.name = "y", .dtype = dtype, .rtol = 1e-2};
    spec.equal_nan = random.Chance(0.7);
    const bool by_value = random.Chance(0.6);
    if (!by_value) spec.compare = random.Chance(0.5) ? CompareKind::kExact : CompareKind::kUlp;
    spec.ulps = static_cast<int>(random.Below(3));
    if (random.Chance(0.3)) spec.atol = random.Chance(0.5) ? 10 : 0;
    const ErrorStats baseline{n, 1e-8, random.Chance(0.5) ? 1e-4 : 0};
    const std::vector<int64_t> shape{static_cast<int64_t>(n)};
    const TensorView views[] = {{const_cast<char*>(expected_bytes.data()), expected_dtype, shape},
                                {const_cast<char*>(got_bytes.data()), dtype, shape}};
    const Values values = ViewOf(views, DeviceKind::kHost, 0);
    const Comparand c{.spec = &spec,
                      .timed_case = {},
                      .rule = MakeRule(spec, 1, baseline),
                      .expected = &values,
                      .got = &values,
                      .expected_index = 0,
                      .got_index = 1,
                      .device = &device};
    const auto quick = by_value ? Passes(c) : PassesByTensors(c);
    const auto report = Report(c);
    ASSERT_TRUE(quick && report);
    ASSERT_EQ(*quick, !report->has_value())
        << "kind " << static_cast<int>(spec.compare) << ", " << ToString(dtype) << " against "
        << ToString(expected_dtype) << ", expected " << testing::PrintToString(expected) << ", got "
        << testing::PrintToString(got);
    passed += *quick ? 1 : 0;
  }
  EXPECT_GT(passed, kRounds / 10) << "both answers must occur";
  EXPECT_LT(passed, kRounds * 9 / 10);
}

TEST(Comparator, IndicesAreJudgedByWhatTheyPointAt) {
  std::vector<float> x{5, 9, 9, 1, 2, 3};
  std::vector<int64_t> expected{1, 2}, tie{2, 2}, wrong{0, 2}, outside{7, 2};
  const OutputSpec spec{.name = "i", .dtype = Dtype::kInt64, .compare = CompareKind::kIndexByValue};
  for (auto* got : {&tie, &wrong, &outside}) {
    const TensorView views[] = {{expected.data(), Dtype::kInt64, {2}},
                                {got->data(), Dtype::kInt64, {2}},
                                {x.data(), Dtype::kFloat32, {2, 3}}};
    const Values values = ViewOf(views, DeviceKind::kHost, 0);
    const Comparand c{.spec = &spec,
                      .timed_case = {},
                      .rule = MakeRule(spec, 1, {}),
                      .expected = &values,
                      .got = &values,
                      .expected_index = 0,
                      .got_index = 1,
                      .pointed = &values,
                      .pointed_index = 2};
    EXPECT_EQ(*Passes(c), got == &tie);
    EXPECT_EQ(*PassesByTensors(c), got == &tie);
  }
}

TEST(Comparator, TopKMustNotNameAnIndexTwice) {
  std::vector<float> x{9, 9, 1, 2};
  std::vector<int64_t> expected{0, 1}, swapped{1, 0}, twice{0, 0};
  const OutputSpec spec{.name = "i", .dtype = Dtype::kInt64, .compare = CompareKind::kIndexByValue};
  for (auto* got : {&swapped, &twice}) {
    const TensorView views[] = {{expected.data(), Dtype::kInt64, {1, 2}},
                                {got->data(), Dtype::kInt64, {1, 2}},
                                {x.data(), Dtype::kFloat32, {1, 4}}};
    const Values values = ViewOf(views, DeviceKind::kHost, 0);
    const Comparand c{.spec = &spec,
                      .timed_case = {},
                      .rule = MakeRule(spec, 1, {}),
                      .expected = &values,
                      .got = &values,
                      .expected_index = 0,
                      .got_index = 1,
                      .pointed = &values,
                      .pointed_index = 2};
    EXPECT_EQ(*Passes(c), got == &swapped);
  }
}

// ---- tasks that cannot be trusted

TEST(Lint, AcceptsAnHonestTask) { EXPECT_EQ(LintOf(SoftmaxTask()), ""); }

TEST(Lint, RefusesToleranceWiderThanTheValues) {
  Task task = SoftmaxTask();
  task.host_cases = {{CaseRole::kTrain, {{"rows", 4}, {"cols", 4096}}}};
  task.outputs[0].rtol = 1e-2;
  task.outputs[0].atol = 1e-2;
  EXPECT_THAT(LintOf(task), HasSubstr("would pass as output `y`"));
  EXPECT_THAT(LintOf(task), HasSubstr("test/softmax_rows"));
}

TEST(Lint, RefusesATaskWhoseOutputIsNearlyConstant) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return 100 + x * 1e-4\n";
  task.outputs[0].rtol = 1e-3;
  EXPECT_THAT(LintOf(task), HasSubstr("mean"));
}

TEST(Lint, AcceptsASumThatNobodyCanKnowBeforehand) {
  Task task = SoftmaxTask();
  task.outputs[0] = FloatOutput("y", {"1"});
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.sum(x).reshape([1])\n";
  EXPECT_EQ(LintOf(task), "");
  task.inputs[0].init = {.kind = InitKind::kUniform, .low = 1, .high = 1.00001};
  EXPECT_THAT(LintOf(task), HasSubstr("mean")) << "all content has the same sum";
}

TEST(Lint, RefusesATaskThatACopySolves) {
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return x * (1 + 1e-6)\n";
  EXPECT_THAT(LintOf(task), HasSubstr("a copy of input `x`"));
}

TEST(Lint, RefusesATaskThatIgnoresAnInput) {
  Task task = SoftmaxTask();
  task.inputs.push_back(FloatInput("bias", {"cols"}));
  task.reference =
      "def reference(x: Tensor, bias: Tensor) -> Tensor:\n"
      "    return torch.softmax(x + torch.sum(bias) * 0, -1)\n";
  EXPECT_THAT(LintOf(task), HasSubstr("do not depend on input `bias`"));
}

TEST(Lint, RefusesATaskWithoutACaseForTheDevice) {
  Task task = SoftmaxTask();
  task.host_cases.clear();
  EXPECT_THAT(LintOf(task), HasSubstr("no case for device host"));
}

TEST(Bounds, ComeFromTheStrictBaseline) {
  FakeOracleDevice device;
  Task task = SoftmaxTask();
  task.reference = "def reference(x: Tensor) -> Tensor:\n    return torch.cumsum(x, -1)\n";
  const auto reference = Reference::Compile(task, DeviceKind::kHost, 0);
  const auto bounds = MeasureBounds(task, 0, *reference, device);
  ASSERT_TRUE(bounds) << bounds.error().message;
  EXPECT_EQ(bounds->errors[0].elements, uint64_t{16 * 64 * kBoundSeeds});
  EXPECT_GT(bounds->errors[0].max_abs, 1e-8) << "float32 is not exact";
  EXPECT_LT(bounds->errors[0].max_abs, 1e-3);
  EXPECT_NEAR(bounds->expected_rms[0], std::sqrt(64.0 / 2), 2);
}

}  // namespace
}  // namespace warpsmith
