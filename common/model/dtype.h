// What follows from an element type.
#pragma once

#include <cstddef>

#include "schema/device.h"

namespace warpsmith {

size_t SizeOf(Dtype dtype);  // bytes
bool IsFloating(Dtype dtype);

}  // namespace warpsmith
