// How an evaluation ended (design: "Evaluation: what an outcome is worth"). An outcome is data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/model/measurement.h"
#include "common/model/plan.h"

namespace warpsmith {

enum class Stage { kAdmit, kCompile, kLoad, kVerify, kScreen, kMeasure, kConfirm, kProfile };

const char* ToString(Stage stage);

// Where and how an output is wrong, for people and policies.
struct WrongOutputReport {
  std::string output;
  Case failed_case;
  std::string reason;  // "value", "nan_mismatch", "inf_mismatch", "error_bound"
  uint64_t wrong_elements = 0;
  uint64_t elements = 0;
  std::vector<int64_t> first_index;  // in every dimension
  double expected = 0;
  double got = 0;
  std::vector<int64_t> worst_index;
  double worst_expected = 0;
  double worst_got = 0;
  double max_abs_error = 0;
  double max_rel_error = 0;
  double rms_error = 0;
  std::string pattern;  // "last column", "all zero", "never written"; may be empty

  bool operator==(const WrongOutputReport&) const = default;
};

// The candidate's fault: each becomes a reward.
struct Rejected {
  std::string why;
  bool operator==(const Rejected&) const = default;
};
struct CompileError {
  std::string log;
  bool operator==(const CompileError&) const = default;
};
struct ResourceError {
  std::string limit;
  bool operator==(const ResourceError&) const = default;
};
struct LaunchError {
  std::string code;
  bool operator==(const LaunchError&) const = default;
};
struct WrongOutput {
  WrongOutputReport report;
  bool operator==(const WrongOutput&) const = default;
};
struct Nondeterministic {
  std::string output;
  bool operator==(const Nondeterministic&) const = default;
};
struct Timeout {
  Stage stage = Stage::kVerify;
  bool operator==(const Timeout&) const = default;
};
struct DeviceFault {
  std::string code;
  bool operator==(const DeviceFault&) const = default;
};

enum class ViolationKind {
  kInputModified,
  kOutOfBounds,
  kUneven,
  kTimeForged,
  kImplausible,
  kDisturbs
};
const char* ToString(ViolationKind kind);
struct Violation {
  ViolationKind kind = ViolationKind::kInputModified;
  std::string detail;
  bool operator==(const Violation&) const = default;
};

struct Correct {
  std::vector<Measurement> measurements;  // one a timed case; empty when only verified
  double speedup = 0;  // geometric mean over valid measurements; ties count 1; 0: not measured
  bool operator==(const Correct&) const = default;
};

// Nobody's fault that may be rewarded: tried again elsewhere, then masked and counted.
enum class InfrastructureKind {
  kWorkerLost,
  kDeviceLost,
  kDeviceSick,
  kDriver,
  kDisk,
  kClocksUnverified,
  kTooNoisy,
  kUnsupportedArchitecture,
  kOutOfMemory,
  kInternal
};
const char* ToString(InfrastructureKind kind);
struct Infrastructure {
  InfrastructureKind kind = InfrastructureKind::kInternal;
  std::string detail;
  bool operator==(const Infrastructure&) const = default;
};

using Outcome =
    std::variant<Rejected, CompileError, ResourceError, LaunchError, WrongOutput, Nondeterministic,
                 Timeout, DeviceFault, Violation, Correct, Infrastructure>;

const char* OutcomeName(const Outcome& outcome);  // "wrong_output"
// The word with its argument, one line: "violation(input_modified)", "timeout(verify)".
std::string OutcomeLabel(const Outcome& outcome);
// One line for a policy or a person: label, and the most useful detail.
std::string Describe(const Outcome& outcome);

inline bool IsCorrect(const Outcome& o) { return std::holds_alternative<Correct>(o); }
inline bool IsInfrastructure(const Outcome& o) { return std::holds_alternative<Infrastructure>(o); }
// Whether the outcome may become a reward.
inline bool IsRewarded(const Outcome& o) { return !IsInfrastructure(o); }
// 0 when not correct or not measured.
double SpeedupOf(const Outcome& outcome);

struct StageTime {
  Stage stage = Stage::kAdmit;
  double ms = 0;
  bool operator==(const StageTime&) const = default;
};

// How deep an evaluation goes. Each depth does all that stands before it.
enum class Depth { kVerify, kScreen, kMeasure, kConfirm };
const char* ToString(Depth depth);

// The record of one evaluation.
struct Evaluation {
  std::string candidate_hash;  // SHA-256 of the text, hex
  TaskId task;
  Outcome outcome = Infrastructure{};
  DeviceFacts device;
  Depth depth = Depth::kScreen;
  std::vector<StageTime> stages;
  std::vector<KernelInfo> kernels;  // resources as the compiler reported them
  std::string log;                  // compiler's or program's output, cut at a cap

  bool operator==(const Evaluation&) const = default;
};

}  // namespace warpsmith
