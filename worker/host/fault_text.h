// What a candidate's death means, in words: "write to a read-only buffer: argument 0 (x), byte
// offset 0, block (0,0,0) thread (0,0,0)". The report is the candidate's process's own, so every
// number in it is checked against the plan. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/model/outcome.h"
#include "common/model/plan.h"
#include "worker/host/candidate_process.h"

namespace warpsmith {

// DeviceFault, or Timeout where the process was killed at its limit.
Outcome DescribeDeath(const CandidateDeath& death, const ResolvedPlan& plan,
                      const std::vector<KernelInfo>& kernels);

}  // namespace warpsmith
