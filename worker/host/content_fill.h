// Content as worker/device/content_value.h defines it, drawn quickly on a CPU: batches whose loops
// vectorise. Whole numbers, uniform numbers and masks are the same bits; a normal's logarithm and
// cosine are polynomials here, right to about 1e-14, so that they too are the same on every CPU.
// Pure.
#pragma once

#include "worker/device/oracle_device.h"

namespace warpsmith {

// Writes content.elements elements of content.dtype at `data`.
void FillContent(void* data, const Content& content);

}  // namespace warpsmith
