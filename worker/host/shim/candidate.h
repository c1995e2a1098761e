// Host device: everything that stands before a candidate's text. The CUDA and standard headers that
// a candidate may include are empty here, for their content is already in place.
#pragma once

#include "groups.h"
#include "prelude.cuh"

// The text's own words are looked for before; these stand against words that macros put together.
#define asm warpsmith_no_assembly
#define __asm warpsmith_no_assembly
#define __asm__ warpsmith_no_assembly
