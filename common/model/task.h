// A suite of tasks, as a suite file says it (design: "Suite file"). Plain records; expressions are
// kept as text and evaluated by common/suite against a case's dims.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/model/dtype.h"

namespace warpsmith {

// One choice of a task's dimensions: name -> size.
using Dims = std::map<std::string, int64_t>;

enum class InitKind { kNormal, kUniform, kInteger, kIndex, kOneHot, kMask, kConstant };

// How an input's content is drawn.
//   normal    scale * N(0, 1)                       uniform   [low, high)
//   integer   whole numbers in [low, high]          index     whole numbers in [0, bound)
//   one_hot   one 1 a row of the last dimension     mask      1 with probability `value`, else 0
//   constant  `value`
struct Init {
  InitKind kind = InitKind::kNormal;
  double scale = 1;
  double low = 0;
  double high = 1;
  double value = 0;
  std::string bound;  // expression, for kIndex

  bool operator==(const Init&) const = default;
};

struct InputSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::string> shape;  // expressions over the dims
  Init init;

  bool operator==(const InputSpec&) const = default;
};

// A number handed to reference and kernel by value: a constant, or an expression over the dims.
struct ScalarSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  double value = 0;
  std::string expression;  // when not empty, used instead of `value`

  bool operator==(const ScalarSpec&) const = default;
};

enum class CompareKind {
  kValue,         // |got - expected| <= atol + rtol * |expected|, and the frozen error bounds
  kExact,         // equal bits (NaN equal to NaN where equal_nan)
  kIndexByValue,  // indices may differ where the values they point at are equal (argmax, top-k)
  kUlp,           // at most `ulps` representable numbers apart
};

struct OutputSpec {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::string> shape;
  double rtol = 0;
  std::optional<double> atol;  // default: rtol * RMS(expected)
  CompareKind compare = CompareKind::kValue;
  int ulps = 0;
  std::string index_into;   // for kIndexByValue: the input that the indices point into
  bool order_free = false;  // two runs need not agree bit for bit (atomics)
  bool equal_nan = false;

  bool operator==(const OutputSpec&) const = default;
};

// The least that any kernel must do; expressions over the dims. Empty: all inputs read, all
// outputs written, no operations counted.
struct Work {
  std::string flops;
  std::string read_bytes;
  std::string write_bytes;

  bool operator==(const Work&) const = default;
};

enum class CaseRole { kTrain, kHoldout, kEdge };

const char* ToString(CaseRole role);

struct Case {
  CaseRole role = CaseRole::kTrain;
  Dims dims;

  bool operator==(const Case&) const = default;
};

struct Task {
  TaskId id;  // "suite/task"
  std::vector<InputSpec> inputs;
  std::vector<ScalarSpec> scalars;
  std::vector<OutputSpec> outputs;
  std::string reference;    // TorchScript: def reference(...)
  std::string reference64;  // optional: overrides casting inputs to fp64
  Work work;
  std::vector<Case> cuda_cases;
  std::vector<Case> host_cases;  // also the simulated device's
  std::string starter;           // text of a correct plain candidate; may be empty

  const std::vector<Case>& cases(DeviceKind kind) const {
    return kind == DeviceKind::kCuda ? cuda_cases : host_cases;
  }
  bool operator==(const Task&) const = default;
};

struct Suite {
  std::string name;
  std::vector<Task> tasks;

  bool operator==(const Suite&) const = default;
};

}  // namespace warpsmith
