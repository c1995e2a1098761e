#include "common/suite/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "common/suite/plan_file.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

// y[rows, cols] = x[rows, cols] * scale, as a task, on a device like an H200.
class Resolving : public testing::Test {
 protected:
  Resolving() {
    task.id = TaskId("suite/scale");
    task.inputs = {{.name = "x", .shape = {"rows", "cols"}}};
    task.scalars = {{.name = "scale", .value = 1.5},
                    {.name = "half", .value = 0.5},
                    {.name = "count", .dtype = Dtype::kInt32, .expression = "rows * cols"}};
    task.outputs = {{.name = "y", .shape = {"rows", "cols"}}};
    device.kind = DeviceKind::kCuda;
    device.architecture = "sm_90a";
    device.sm_count = 132;
    device.max_shared_bytes = 232448;
    kernels = {{.name = "scale_rows",
                .parameters = {ParameterType::kPointer, ParameterType::kPointer,
                               ParameterType::kFloat32, ParameterType::kInt32}}};
    plan.launches = {{.kernel = "scale_rows",
                      .grid = {"ceil_div(rows * cols, 256)"},
                      .block = {"256"},
                      .args = {"x", "y", "scale", "count"}}};
  }

  LaunchSpec& launch() { return plan.launches[0]; }

  ResolvedPlan Resolved() {
    auto result = ResolvePlan(plan, kernels, task, dims, device);
    if (const auto* outcome = std::get_if<Outcome>(&result)) {
      ADD_FAILURE() << Describe(*outcome);
      return {};
    }
    return std::get<ResolvedPlan>(result);
  }

  // How it is refused, in one line.
  std::string Refused() {
    const auto result = ResolvePlan(plan, kernels, task, dims, device);
    const auto* outcome = std::get_if<Outcome>(&result);
    EXPECT_TRUE(outcome);
    return outcome ? Describe(*outcome) : "";
  }

  Task task;
  Dims dims{{"rows", 100}, {"cols", 7}};
  DeviceFacts device;
  std::vector<KernelInfo> kernels;
  Plan plan;
};

TEST_F(Resolving, GivesNumbersForOneCase) {
  plan.let = {{"per_block", "2 * warp_size"},
              {"blocks", "min(sm_count, ceil_div(rows, per_block))"}};
  plan.temps = {{.name = "partial", .shape = {"blocks", "2"}}};
  plan.zero = {"partial"};
  launch().grid = {"blocks", "3"};
  const auto resolved = Resolved();
  ASSERT_THAT(resolved.buffers, SizeIs(3));
  EXPECT_EQ(resolved.buffers[0].role, BufferRole::kInput);
  EXPECT_EQ(resolved.buffers[2].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_TRUE(resolved.buffers[2].zero);
  ASSERT_THAT(resolved.launches, SizeIs(1));
  const auto& out = resolved.launches[0];
  EXPECT_EQ(out.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_EQ(out.block, (std::array<uint32_t, 3>{256, 1, 1}));
  EXPECT_EQ(out.arguments[0].buffer, 0);
  EXPECT_EQ(out.arguments[1].buffer, 1);
  float scale = 0;
  int32_t count = 0;
  std::memcpy(&scale, out.arguments[2].bits.data(), 4);
  std::memcpy(&count, out.arguments[3].bits.data(), 4);
  EXPECT_EQ(scale, 1.5f);
  EXPECT_EQ(count, 700);
}

TEST_F(Resolving, ACaseOfZeroElementsLaunchesNothing) {
  dims["rows"] = 0;
  EXPECT_THAT(Resolved().launches, SizeIs(0));
  launch().block = {"min(rows, 32)"};  // nobody misses a block that is never launched
  EXPECT_THAT(Resolved().launches, SizeIs(0));
  launch().grid = {"1"};
  EXPECT_THAT(Refused(), HasSubstr("block: x is 0; at least 1"));
}

TEST_F(Resolving, ArgumentsMustFitTheKernel) {
  launch().args = {"x", "y", "scale"};
  EXPECT_EQ(Refused(), "rejected: launch 1 (scale_rows): args: 3 arguments; the kernel takes 4");
  launch().args = {"x", "7", "scale", "count"};
  EXPECT_THAT(Refused(), HasSubstr("args: argument 2 (`7`): the kernel takes a pointer here; write "
                                   "one of x, y"));
  launch().args = {"x", "y", "y", "count"};
  EXPECT_THAT(Refused(),
              HasSubstr("argument 3 (`y`): is a buffer, but the kernel takes a number of "
                        "type float32"));
  launch().args = {"x", "y", "scale", "half"};
  EXPECT_THAT(Refused(), HasSubstr("argument 4 (`half`): 0.5 does not fit into int32"));
  launch().args = {"x", "y", "scale", "rows * 1000000000"};
  EXPECT_THAT(Refused(), HasSubstr("100000000000 does not fit into int32"));
  launch().args = {"x", "y", "scale", "scale * 2"};
  EXPECT_THAT(Refused(), HasSubstr("`scale` is not known here"));
  launch().args = {"x", "y", "rows", "count"};  // a whole number becomes a float
  Resolved();
  kernels[0].parameters[3] = ParameterType::kUnsupported;
  EXPECT_THAT(Refused(), HasSubstr("no argument fits"));
}

TEST_F(Resolving, UnknownKernelsAndNamesAreRejected) {
  launch().kernel = "scale_row";
  EXPECT_EQ(Refused(), "rejected: launch 1 (scale_row): kernel: the text defines no such kernel");
  launch().kernel = "scale_rows";
  launch().grid = {"depth"};
  EXPECT_THAT(Refused(),
              HasSubstr("launch 1 (scale_rows): grid: in `depth`: `depth` is not known"));
  launch().grid = {"1"};
  plan.let = {{"later", "sooner"}, {"sooner", "1"}};
  EXPECT_THAT(Refused(), HasSubstr("let later: "));
  plan.let = {{"rows", "1"}};
  EXPECT_THAT(Refused(), HasSubstr("taken already"));
  plan.let = {{"x", "1"}};
  EXPECT_THAT(Refused(), HasSubstr("taken already"));
  plan.let = {};
  plan.temps = {{.name = "y", .shape = {"1"}}};
  EXPECT_THAT(Refused(), HasSubstr("temp y: the name is taken"));
  plan.temps = {};
  plan.zero = {"x"};
  EXPECT_THAT(Refused(), HasSubstr("zero x: an input"));
  plan.zero = {"z"};
  EXPECT_THAT(Refused(), HasSubstr("zero z: there is no such"));
}

// Refused before any launch, with the limit in the text.
TEST_F(Resolving, LimitsOfCudaAreRejected) {
  const auto with = [&](std::vector<std::string> grid, std::vector<std::string> block) {
    launch().grid = std::move(grid);
    launch().block = std::move(block);
  };
  with({"2147483647", "65535", "65535"}, {"1024"});
  Resolved();
  with({"2147483648"}, {"1"});
  EXPECT_THAT(Refused(),
              StartsWith("rejected: launch 1 (scale_rows): grid: x is 2147483648; at most"));
  with({"1", "65536"}, {"1"});
  EXPECT_THAT(Refused(), HasSubstr("grid: y is 65536; at most 65535"));
  with({"1"}, {"2048", "1", "1"});
  EXPECT_THAT(Refused(),
              StartsWith("rejected: launch 1 (scale_rows): block: x is 2048; at most 1024"));
  with({"1"}, {"33", "32"});
  EXPECT_THAT(Refused(), HasSubstr("block: 1056 threads; at most 1024"));
  with({"1"}, {"1", "1", "65"});
  EXPECT_THAT(Refused(), HasSubstr("block: z is 65; at most 64"));
  with({"rows - 200"}, {"1"});
  EXPECT_THAT(Refused(), HasSubstr("grid: x is -100, below zero"));
  with({"9223372036854775807 * rows"}, {"1"});
  EXPECT_THAT(Refused(), HasSubstr("64 bits"));
  with({"rows / (cols - 7)"}, {"1"});
  EXPECT_THAT(Refused(), HasSubstr("division by zero"));
}

TEST_F(Resolving, LimitsOfThisDeviceAreResourceErrors) {
  launch().shared = "49152";
  kernels[0].static_shared_bytes = 4;
  EXPECT_EQ(Resolved().launches[0].shared_bytes, 49152u);
  launch().shared = "232448 - 4";
  EXPECT_EQ(Resolved().launches[0].shared_bytes, 232444u);
  launch().shared = "232449 - 4";
  EXPECT_THAT(Refused(),
              StartsWith("resource_error: launch 1 (scale_rows): shared: 232445 bytes and 4 "
                         "of the kernel's own; a block on this device has 232448"));
  launch().shared = "9223372036854775807";
  EXPECT_THAT(Refused(), StartsWith("resource_error"));
  launch().shared = "-1";
  EXPECT_THAT(Refused(), StartsWith("rejected"));
  launch().shared = "max_shared - 4";
  Resolved();
  device.max_shared_bytes = 65536;
  launch().shared = "100000";
  EXPECT_THAT(Refused(), HasSubstr("a block on this device has 65536"));

  launch().shared = "0";
  launch().block = {"512"};
  kernels[0].max_threads_per_block = 256;
  EXPECT_THAT(Refused(),
              StartsWith("resource_error: launch 1 (scale_rows): block: 512 threads; this "
                         "kernel as compiled takes 256"));
  kernels[0].max_threads_per_block = -1;
  device.max_threads_per_block = 256;
  EXPECT_THAT(Refused(), HasSubstr("this device takes 256"));
}

TEST_F(Resolving, TempsAreBoundedByTheTask) {
  plan.temps = {{.name = "t", .dtype = Dtype::kUint8, .shape = {"64 * 1024 * 1024"}}};
  Resolved();
  plan.temps.push_back({.name = "u", .dtype = Dtype::kUint8, .shape = {"1"}});
  EXPECT_THAT(Refused(), StartsWith("resource_error: temp u: shape: temps take 67108865 bytes"));
  plan.temps = {{.name = "t", .shape = {"1000000000", "1000000000", "1000000000"}}};
  EXPECT_THAT(Refused(), StartsWith("rejected: temp t: shape: "));
  plan.temps = {{.name = "t", .shape = {"1000000000", "1000000000", "1000000000", "0"}}};
  EXPECT_THAT(Refused(), StartsWith("rejected: temp t: shape: "));
  plan.temps = {{.name = "t", .shape = {"0", "1000"}}};
  EXPECT_EQ(BytesOf(Resolved().buffers[2]), 0u);
  plan.temps = {{.name = "t", .shape = {"rows - 101"}}};
  EXPECT_THAT(Refused(), HasSubstr("below zero"));
}

TEST_F(Resolving, ClustersNeedADeviceThatHasThem) {
  launch().grid = {"8"};
  launch().cluster = {"4"};
  EXPECT_EQ(Resolved().launches[0].cluster[0], 4u);
  launch().cluster = {"3"};
  EXPECT_THAT(Refused(),
              StartsWith("rejected: launch 1 (scale_rows): cluster: grid x is 8, not a"));
  launch().cluster = {"8", "2"};
  EXPECT_THAT(Refused(), StartsWith("rejected"));
  launch().cluster = {"2"};
  device.architecture = "sm_86";
  EXPECT_THAT(Refused(), StartsWith("resource_error: launch 1 (scale_rows): cluster: sm_86"));
  device.kind = DeviceKind::kHost;
  EXPECT_THAT(Refused(), StartsWith("resource_error"));
  launch().cluster = {"1"};
  Resolved();
}

TEST_F(Resolving, ForeignDimsAreNobodysCandidatesFault) {
  dims.erase("cols");
  EXPECT_THAT(Refused(), StartsWith("infrastructure"));
}

TEST(ComputeCapability, IsReadFromANameAndFromNothingElse) {
  EXPECT_EQ(ComputeCapability("sm_90"), 90);
  EXPECT_EQ(ComputeCapability("sm_90a"), 90);
  EXPECT_EQ(ComputeCapability("sm_120f"), 120);
  for (const char* name :
       {"", "sm_", "sm_a", "x86_64", "native", "sm_90ab", "sm_90 ", "compute_90"})
    EXPECT_EQ(ComputeCapability(name), std::nullopt) << name;
}

}  // namespace
}  // namespace warpsmith
