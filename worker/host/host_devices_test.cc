// The two halves of the host device against each other: what the oracle lends, what the runner may
// do.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fstream>
#include <thread>

#include "common/base/random.h"
#include "worker/device/content_value.h"
#include "worker/host/cpu_facts.h"
#include "worker/host/lane_clock.h"
#include "worker/host/test_lane.h"

namespace warpsmith {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;

template <typename T>
std::vector<T> Values(const OracleBuffer& buffer) {
  std::vector<T> values(buffer.handle.size / sizeof(T));
  std::memcpy(values.data(), buffer.data, buffer.handle.size);
  return values;
}

Content Drawn(Dtype dtype, int64_t elements, InitKind kind) {
  Content content;
  content.dtype = dtype;
  content.elements = elements;
  content.init.kind = kind;
  content.seed = 0x123456789abcdef0;
  content.case_number = 3;
  content.tensor_number = 2;
  return content;
}

TEST(HostOracleDevice, DrawsTheBitsThatTheContractSays) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(1000 * 4, Access::kReadOnly, Placement::kEndsAtGuard).value();
  ASSERT_TRUE(device.Fill(buffer, Drawn(Dtype::kFloat32, 1000, InitKind::kNormal)));
  const auto values = Values<float>(buffer);
  for (uint32_t i : {0u, 1u, 999u}) {
    const auto words = Philox4x32({i, 0, 2, 3}, {0x9abcdef0, 0x12345678});
    const double u0 = (words[0] + 0.5) / 4294967296.0, u1 = words[1] / 4294967296.0;
    EXPECT_FLOAT_EQ(values[i],
                    static_cast<float>(std::sqrt(-2 * std::log(u0)) * std::cos(2 * M_PI * u1)));
  }
  double mean = 0, square = 0;
  for (const float v : values) mean += v / 1000, square += v * v / 1000;
  EXPECT_NEAR(mean, 0, 0.15);
  EXPECT_NEAR(square, 1, 0.2);
}

TEST(HostOracleDevice, EveryDtypeTakesEveryKindOfContent) {
  HostOracleDevice device;
  for (const Dtype dtype :
       {Dtype::kFloat64, Dtype::kFloat32, Dtype::kFloat16, Dtype::kBFloat16, Dtype::kInt64,
        Dtype::kInt32, Dtype::kInt16, Dtype::kInt8, Dtype::kUint8, Dtype::kBool})
    for (const InitKind kind :
         {InitKind::kNormal, InitKind::kUniform, InitKind::kInteger, InitKind::kIndex,
          InitKind::kOneHot, InitKind::kMask, InitKind::kConstant}) {
      const auto buffer =
          device.Allocate(64 * SizeOf(dtype), Access::kReadOnly, Placement::kAligned256).value();
      Content content = Drawn(dtype, 64, kind);
      content.last_dim = 8;
      content.bound = 5;
      content.init.value = 1;
      ASSERT_TRUE(device.Poison(buffer, 4));
      ASSERT_TRUE(device.Fill(buffer, content));
      EXPECT_EQ(device.FindDamage(buffer, 4).value(), std::nullopt);
      if (kind == InitKind::kOneHot && dtype == Dtype::kUint8) {
        const auto values = Values<uint8_t>(buffer);
        for (int row = 0; row < 8; ++row) {
          int ones = 0;
          for (int c = 0; c < 8; ++c) ones += values[row * 8 + c];
          EXPECT_EQ(ones, 1);
        }
      }
      device.Release(buffer);
    }
}

TEST(HostOracleDevice, DrawsWhatTheSharedTextDraws) {
  HostOracleDevice device;
  for (const InitKind kind : {InitKind::kNormal, InitKind::kUniform, InitKind::kInteger,
                              InitKind::kIndex, InitKind::kOneHot, InitKind::kMask}) {
    Content content = Drawn(Dtype::kFloat64, 5000, kind);
    content.last_dim = 10;
    content.bound = 1000;
    content.init.value = 0.25;
    content.init.scale = 3;
    content.init.low = -2;
    content.init.high = 9;
    const auto buffer = device.Allocate(40000, Access::kReadOnly, Placement::kAligned256).value();
    ASSERT_TRUE(device.Fill(buffer, content));
    const auto values = Values<double>(buffer);
    const ContentNumbers numbers{content.seed, 3, 2,   static_cast<int>(kind), 0, 10, 1000, 3,
                                 -2,           9, 0.25};
    for (uint64_t i = 0; i < 5000; ++i) {
      const double expected = ContentValue(numbers, i);
      ASSERT_NEAR(values[i], expected, kind == InitKind::kNormal ? 1e-12 : 0) << "element " << i;
    }
  }
}

TEST(HostOracleDevice, BFloat16IsRoundedFromFloat32) {
  HostOracleDevice device;
  const auto wide = device.Allocate(400, Access::kReadOnly, Placement::kAligned256).value();
  const auto narrow = device.Allocate(200, Access::kReadOnly, Placement::kAligned256).value();
  ASSERT_TRUE(device.Fill(wide, Drawn(Dtype::kFloat32, 100, InitKind::kUniform)));
  ASSERT_TRUE(device.Fill(narrow, Drawn(Dtype::kBFloat16, 100, InitKind::kUniform)));
  const auto from = Values<float>(wide);
  const auto to = Values<uint16_t>(narrow);
  for (int i = 0; i < 100; ++i) {
    const float back = std::bit_cast<float>(static_cast<uint32_t>(to[i]) << 16);
    EXPECT_LE(std::fabs(back - from[i]), std::fabs(from[i]) / 256);
  }
}

TEST(HostOracleDevice, PoisonIsNotANumberAndDiffersByPattern) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(800, Access::kReadWrite, Placement::kStartsAtGuard).value();
  ASSERT_TRUE(device.Poison(buffer, 1));
  const auto first = Values<uint32_t>(buffer);
  for (const float v : Values<float>(buffer)) EXPECT_TRUE(std::isnan(v));
  for (const double v : Values<double>(buffer)) EXPECT_TRUE(std::isnan(v));
  for (const uint16_t h : Values<uint16_t>(buffer))
    EXPECT_GT(h & 0x7fff, 0x7f80);  // bfloat16's NaNs
  ASSERT_TRUE(device.Poison(buffer, 2));
  EXPECT_NE(Values<uint32_t>(buffer)[0], first[0]);
}

TEST(HostOracleDevice, DamageIsFoundOnBothSidesAndNotInside) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(1000, Access::kReadWrite, Placement::kAligned256).value();
  ASSERT_TRUE(device.Poison(buffer, 9));
  std::memset(buffer.data, 0, 1000);
  EXPECT_EQ(device.FindDamage(buffer, 9).value(), std::nullopt);
  static_cast<char*>(buffer.data)[1000] = 1;
  EXPECT_EQ(device.FindDamage(buffer, 9).value(), buffer.handle.offset + 1000);
  static_cast<char*>(buffer.data)[-1] = 1;
  EXPECT_EQ(device.FindDamage(buffer, 9).value(), buffer.handle.offset - 1);
}

TEST(HostOracleDevice, ADigestChangesWithAnyByte) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(101, Access::kReadOnly, Placement::kEndsAtGuard).value();
  ASSERT_TRUE(device.Zero(buffer));
  const auto before = device.Digest(buffer).value();
  for (const int at : {0, 31, 32, 95, 96, 100}) {
    static_cast<char*>(buffer.data)[at] ^= 4;
    EXPECT_NE(device.Digest(buffer).value(), before) << at;
    static_cast<char*>(buffer.data)[at] ^= 4;
  }
  EXPECT_EQ(device.Digest(buffer).value(), before);
}

TEST(HostOracleDevice, NobodyMapsAReadOnlyBufferForWriting) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(4096, Access::kReadOnly, Placement::kEndsAtGuard).value();
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, buffer.fd, 0), MAP_FAILED);
  EXPECT_EQ(pwrite(buffer.fd, "x", 1, 0), -1);
  EXPECT_EQ(ftruncate(buffer.fd, 0), -1);
  ASSERT_TRUE(device.Zero(buffer));  // the oracle's own mapping stays writable
}

TEST(HostOracleDevice, MemoryThatIsNotThereIsExhausted) {
  HostOracleDevice device;
  const auto buffer =
      device.Allocate(uint64_t{1} << 50, Access::kReadWrite, Placement::kEndsAtGuard);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().code, ErrorCode::kExhausted);
}

TEST(HostOracleDevice, AnEmptyBufferHasNoDescriptor) {
  HostOracleDevice device;
  const auto buffer = device.Allocate(0, Access::kReadWrite, Placement::kAligned256).value();
  EXPECT_EQ(buffer.fd, -1);
  EXPECT_TRUE(device.Poison(buffer, 1));
  EXPECT_EQ(device.FindDamage(buffer, 1).value(), std::nullopt);
}

TEST(HostOracleDevice, TimesEachCall) {
  HostOracleDevice device;
  std::vector<size_t> calls;
  const auto times = device.Time(5, [&](size_t i) { calls.push_back(i); }).value();
  EXPECT_EQ(calls, (std::vector<size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(times.size(), 5u);
}

TEST(HostFactsOf, ThisMachine) {
  const DeviceFacts facts = HostFacts();
  EXPECT_EQ(facts.kind, DeviceKind::kHost);
  EXPECT_GE(facts.sm_count, 1);
  EXPECT_FALSE(facts.name.empty());
  EXPECT_GT(facts.memory_bytes, 0);
}

// A runner with `y[i] = x[i] + 1` loaded, and buffers to bind.
class HostRunner : public testing::Test {
 protected:
  void SetUp() override {
    compiled_ = MustCompile(Candidate("k", "1", "1", "x, y", R"(
__device__ int runs;
__global__ void k(const float* x, float* y) {
  for (int i = 0; i < 1000; ++i) y[i] = x[i] + 1 + 0 * runs++;
})"));
    module_ = {compiled_.binary, compiled_.kernels, {}};
    module_.plan.buffers = {{"x", BufferRole::kInput, Dtype::kFloat32, {1000}, false},
                            {"y", BufferRole::kOutput, Dtype::kFloat32, {1000}, false}};
    ResolvedLaunch launch;
    launch.arguments.resize(2);
    launch.arguments[0].buffer = 0;
    launch.arguments[1].buffer = 1;
    module_.plan.launches = {launch};
  }

  struct Bound {
    OracleBuffer x, y;
  };
  Bound Bind(uint32_t set) {
    Bound b{device_.Allocate(4000, Access::kReadOnly, Placement::kAligned256).value(),
            device_.Allocate(4000, Access::kReadWrite, Placement::kAligned256).value()};
    Content content = Drawn(Dtype::kFloat32, 1000, InitKind::kConstant);
    content.init.value = set;
    EXPECT_TRUE(device_.Fill(b.x, content));
    const int fds[] = {dup(b.x.fd), dup(b.y.fd)};
    EXPECT_TRUE(std::holds_alternative<Done>(runner_.Bind({set, {b.x.handle, b.y.handle}}, fds)));
    return b;
  }
  static std::string Why(const RunnerDevice::Reply& reply) {
    const auto* failed = std::get_if<Failed>(&reply);
    return failed == nullptr ? "done" : Describe(failed->outcome);
  }

  CompiledCandidate compiled_;
  LoadModule module_;
  HostOracleDevice device_;
  HostRunnerDevice runner_;
};

TEST_F(HostRunner, RunsOnManySetsAndTimesEach) {
  ASSERT_EQ(Why(runner_.Load(module_)), "done");
  std::vector<Bound> bound;
  for (uint32_t set = 0; set < 8; ++set) bound.push_back(Bind(set));
  const auto reply = runner_.Run({{7, 0, 3, 3}, true, false});
  ASSERT_EQ(Why(reply), "done");
  EXPECT_EQ(std::get<Done>(reply).run_us.size(), 4u);
  EXPECT_THAT(std::get<Done>(reply).run_us, Each(Gt(0.0)));
  EXPECT_THAT(Values<float>(bound[7].y), Each(8.0f));
  EXPECT_THAT(Values<float>(bound[3].y), Each(4.0f));
  EXPECT_EQ(Values<float>(bound[5].y)[0], 0.0f);
}

TEST_F(HostRunner, AnEmptyTimedRunTakesLittleAndIsPositive) {
  module_.plan.launches.clear();
  ASSERT_EQ(Why(runner_.Load(module_)), "done");
  Bind(0);
  const auto reply = runner_.Run({{0, 0, 0}, true, false});
  ASSERT_EQ(Why(reply), "done");
  EXPECT_THAT(std::get<Done>(reply).run_us, Each(Gt(0.0)));
}

TEST_F(HostRunner, LoadForgetsWhatWasBound) {
  ASSERT_EQ(Why(runner_.Load(module_)), "done");
  Bind(0);
  ASSERT_EQ(Why(runner_.Run({{0}, false, false})), "done");
  ASSERT_EQ(Why(runner_.Load(module_)), "done");
  EXPECT_THAT(Why(runner_.Run({{0}, false, false})), HasSubstr("not bound"));
}

TEST_F(HostRunner, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(Why(runner_.Run({{0}, false, false})), HasSubstr("no module"));
  auto bad = module_;
  bad.plan.launches[0].block = {2048, 1, 1};
  EXPECT_THAT(Why(runner_.Load(bad)), HasSubstr("invalid configuration"));
  bad = module_;
  bad.plan.launches[0].kernel = 1;
  EXPECT_THAT(Why(runner_.Load(bad)), HasSubstr("names no kernel"));
  bad = module_;
  bad.binary = "#!/bin/sh\necho no\n";
  EXPECT_THAT(Why(runner_.Load(bad)), HasSubstr("did not start"));
  ASSERT_EQ(Why(runner_.Load(module_)), "done");
  EXPECT_THAT(Why(runner_.Bind({0, {}}, {})), HasSubstr("another number of buffers"));
  EXPECT_THAT(Why(runner_.Run({{99}, false, false})), HasSubstr("not that many sets"));
}

TEST_F(HostRunner, AnExecutableThatAsksForMoreThanItMayIsEnded) {
  // The system's own shell stands for a binary that a compiler child taken over has made.
  std::string shell;
  for (const char* path : {"/bin/dash", "/bin/sh"})
    if (FILE* file = fopen(path, "rb"); file != nullptr && shell.empty()) {
      char part[65536];
      for (size_t got; (got = fread(part, 1, sizeof(part), file)) > 0;) shell.append(part, got);
      fclose(file);
    }
  ASSERT_FALSE(shell.empty());
  auto bad = module_;
  bad.binary = shell;
  EXPECT_THAT(Why(runner_.Load(bad)), HasSubstr("did not start"));
}

// What /proc says of a limit that the kernel holds a process to.
uint64_t LimitOf(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/limits");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()));
  return 0;
}

TEST(CandidateProcess, LimitsGrowWithTheWorkersThatShareThem) {
  const auto compiled = MustCompile(
      Candidate("k", "1", "1024", "y", "__global__ void k(float* y) { __syncthreads(); *y = 1; }"));
  for (const uint32_t workers : {1u, 100u}) {
    host::Program program;
    program.workers = workers;
    const auto process = CandidateProcess::Start(compiled.binary, program);
    ASSERT_TRUE(process) << process.error().message;
    const pid_t pid = (*process)->pid();
    EXPECT_GE(LimitOf(pid, "Max cpu time"), 60u * workers) << "a minute each";
    EXPECT_GE(LimitOf(pid, "Max data size"), (uint64_t{64} << 20) * workers + (uint64_t{1} << 30))
        << "stacks of 64 KiB for 1,024 threads each, and something to work with";
  }
}

TEST(LaneClock, OnOneCoreWaitingIsNotWork) {
  const LaneClock cpu(1), wall(2);
  const double cpu_before = cpu.Now(), wall_before = wall.Now();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_GE(wall.Now() - wall_before, 50'000);
  EXPECT_LT(cpu.Now() - cpu_before, 25'000) << "another process could have had the core meanwhile";
  const double start = cpu.Now();
  while (cpu.Now() - start < 1000) {
  }
  EXPECT_GT(wall.Now() - wall_before, 51'000) << "work takes time by either clock";
}

TEST(LaneClock, AnotherProcessIsChargedForItsOwnWork) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const LaneClock theirs(1, child), mine(1);
  const double before = theirs.Now(), start = mine.Now();
  while (mine.Now() - start < 20'000) {
  }
  EXPECT_LT(theirs.Now() - before, 10'000) << "it waited while this process worked";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace warpsmith
