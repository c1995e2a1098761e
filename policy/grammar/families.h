// The program's table of families, in the order in which they are asked.
#pragma once

#include <span>

#include "policy/core/family.h"

namespace warpsmith {

std::span<const Family* const> Families();

}  // namespace warpsmith
