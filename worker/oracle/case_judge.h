// One task, as an oracle knows it: its compiled reference, its cases' bounds, and what outputs are
// held to. Kept between evaluations, for all that does not depend on the candidate.
// Thread-compatible: the oracle's one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/model/outcome.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/bounds.h"
#include "worker/oracle/case_buffers.h"
#include "worker/oracle/reference.h"

namespace warpsmith {

// How an evaluation ends early; nothing: it goes on.
using Ending = std::optional<Outcome>;

// An operating error of the oracle's own, as an outcome: never the candidate's fault.
Outcome InfrastructureFrom(const Error& error);

// A candidate's outputs in one buffer set, against what they should be.
class CaseJudge {
 public:
  CaseJudge(const Task& task, const Case& judged, const CaseBounds& bounds);

  // Against fp64 truth; `native` (the reference's results in its own dtypes) serves outputs that
  // are compared bit by bit or by what they point at. Reports destroy the output's content.
  Ending AgainstExact(BufferSet& set, const Values& exact, const Values& native) const;
  // Against the alternating baseline's results on the same content.
  Ending AgainstBaseline(BufferSet& set, const Values& baseline) const;
  // Whether some output needs `native`.
  bool needs_native() const;

 private:
  Ending Against(BufferSet& set, size_t output, const Values& expected,
                 const ElementRule& rule) const;

  const Task& task_;
  const Case& case_;
  std::vector<ElementRule> exact_rules_, paired_rules_;
};

class KnownTask {
 public:
  // Compiles the reference and lints the task. kInvalidInput: the task cannot be used, and why.
  static Result<std::unique_ptr<KnownTask>> Make(const Task& task, OracleDevice& device);

  const Task& task() const { return task_; }
  const Reference& reference() const { return reference_; }
  // Measured at first use.
  Result<const CaseBounds*> Bounds(size_t case_index, OracleDevice& device);

 private:
  KnownTask(const Task& task, Reference reference)
      : task_(task), reference_(std::move(reference)) {}

  Task task_;
  Reference reference_;
  std::map<size_t, CaseBounds> bounds_;
};

}  // namespace warpsmith
