// Verification of one case: is the candidate right, does it keep to its buffers, does it say the
// same twice (docs/design.md, "Buffers", and "Rules", 1 to 4).
#pragma once

#include "worker/oracle/bench.h"

namespace warpsmith {

// Nothing: the candidate is right on this case. Two runs on one content, drawn from the bench's
// secret stream: buffers end at an unmapped page, then start at one; each with poison of its own in
// outputs, temps and all around, and rubbish in shared memory.
Ending VerifyCase(Bench& bench, size_t case_index);

}  // namespace warpsmith
