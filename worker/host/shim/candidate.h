// Host device: everything that stands before a candidate's text. The CUDA and standard headers that
// a candidate may include are empty here, for their content is already in place.
#pragma once

#include "groups.h"

#include "prelude.cuh"
