#include "benchmarks/fixtures.h"

#include "common/base/check.h"
#include "common/base/random.h"
#include "common/suite/suite_file.h"

namespace warpsmith {
namespace {

constexpr int kBlocks = 12;  // of a timed case at screen depth
constexpr int kSlots = 6;    // of the grammar's row family

Measurement GpuMeasurement(const Case& timed_case, Random& random) {
  Measurement measurement;
  measurement.timed_case = timed_case;
  measurement.device_kind = DeviceKind::kCuda;
  measurement.candidate_us = 84 + random.Uniform();
  measurement.baseline_us = 205 + random.Uniform();
  measurement.speedup = measurement.baseline_us / measurement.candidate_us;
  measurement.speedup_low = measurement.speedup * 0.99;
  measurement.speedup_high = measurement.speedup * 1.01;
  measurement.noise = 0.003 + 0.001 * random.Uniform();
  measurement.comparison = Comparison::kFaster;
  measurement.floor_us = 55.8 + random.Uniform();
  measurement.sm_clock_mhz = 1980;
  for (int block = 0; block < kBlocks; ++block) {
    measurement.candidate_block_us.push_back(84 + random.Uniform());
    measurement.baseline_block_us.push_back(205 + random.Uniform());
  }
  return measurement;
}

}  // namespace

const Suite& StarterSuite() {
  static const Suite suite = [] {
    auto loaded = LoadSuite(WARPSMITH_SUITES "/starter.yaml");
    CHECK(loaded.has_value(), loaded.error().message);
    return std::move(*loaded);
  }();
  return suite;
}

const Task& StarterTask() {
  for (const Task& task : StarterSuite().tasks)
    if (task.id == TaskId("starter/softmax_rows")) return task;
  CHECK(false, "the starter suite has softmax_rows");
}

DeviceFacts GpuFacts() {
  DeviceFacts facts;
  facts.kind = DeviceKind::kCuda;
  facts.name = "NVIDIA H200";
  facts.uuid = "GPU-6f1c8a7e-52d3-9b04-c6e1-08d7f4a3b259";
  facts.architecture = "sm_90a";
  facts.sm_count = 132;
  facts.max_shared_bytes = 232'448;
  facts.reserved_shared_bytes = 1024;
  facts.memory_bytes = 150'109'880'320;
  facts.l2_bytes = 62'914'560;
  facts.peak_bandwidth_bytes_per_s = 4.8e12;
  facts.peak_flops_per_s = 6.69e13;
  facts.driver = "580.65.06";
  facts.toolkit = "13.0.88";
  return facts;
}

Evaluation GpuEvaluation(const Task& task, uint64_t seed) {
  Random random(seed);
  Correct correct;
  for (const Case& timed_case : task.cuda_cases)
    if (timed_case.role == CaseRole::kTrain)
      correct.measurements.push_back(GpuMeasurement(timed_case, random));
  CHECK(!correct.measurements.empty(), "a task of the starter suite has a train case for GPUs");
  correct.speedup = correct.measurements[0].speedup;

  Evaluation evaluation;
  for (int digit = 0; digit < 64; ++digit)
    evaluation.candidate_hash += "0123456789abcdef"[random.Below(16)];
  evaluation.task = task.id;
  evaluation.outcome = std::move(correct);
  evaluation.device = GpuFacts();
  for (Stage stage : {Stage::kAdmit, Stage::kCompile, Stage::kLoad, Stage::kVerify, Stage::kScreen})
    evaluation.stages.push_back({stage, 60 * random.Uniform()});
  KernelInfo kernel;
  kernel.name = "softmax_rows";
  kernel.symbol = "_Z12softmax_rowsPKfPfii";
  kernel.parameters = {ParameterType::kPointer, ParameterType::kPointer, ParameterType::kInt32,
                       ParameterType::kInt32};
  kernel.registers = 32;
  kernel.spill_bytes = 0;
  kernel.static_shared_bytes = 132;
  kernel.local_bytes = 0;
  kernel.max_threads_per_block = 1024;
  evaluation.kernels = {kernel};
  return evaluation;
}

Trajectory GpuTrajectory(const TrajectoryId& id, const Task& task, int turns,
                         PolicyVersion version) {
  Trajectory trajectory;
  trajectory.id = id;
  trajectory.task = task.id;
  trajectory.device = GpuFacts();
  trajectory.finished_at_ms = 1'764'547'200'000;
  for (int i = 0; i < turns; ++i) {
    const uint64_t seed = MixSeed({id.group.value(), id.episode, static_cast<uint64_t>(i)});
    Random random(seed);
    Turn turn;
    for (int slot = 0; slot < kSlots; ++slot) {
      turn.action.ids.push_back(static_cast<int32_t>(random.Below(5)));
      turn.action.log_probs.push_back(static_cast<float>(-2 * random.Uniform()));
      turn.action.mask.push_back(1);
    }
    turn.action.version = version;
    turn.action.text = task.starter;
    turn.evaluation = GpuEvaluation(task, seed);
    turn.reward = 1 + 0.25 * random.Uniform();
    trajectory.turns.push_back(std::move(turn));
  }
  return trajectory;
}

RunSpec StarterRun(const std::string& policy) {
  RunSpec spec;
  spec.name = "benchmark";
  spec.suites = {StarterSuite()};
  spec.policy = policy;
  spec.algorithm.turns = 4;
  spec.algorithm.group = 16;
  spec.budget_evaluations = 1'000'000'000;
  return spec;
}

}  // namespace warpsmith
