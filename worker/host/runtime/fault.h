// How a candidate's process dies: with a report in the shared page, for the runner to read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "worker/host/runtime/protocol.h"

namespace warpsmith::host {

// One buffer as it lies in this process, with the unmapped space around it.
struct Region {
  const char* reserved = nullptr;
  size_t reserved_bytes = 0;
  const char* data = nullptr;
};

// The shared page; set once before any kernel runs.
void SetControl(Control* control);
Control* GetControl();

// Which launch of the program runs and where its buffers lie. Set by the main thread between
// launches.
void SetRunning(uint32_t launch, const Region* regions, uint32_t count);

// Installs the handlers; every worker thread then calls GiveSignalStack.
void InstallFaultHandlers();
void GiveSignalStack();

[[noreturn]] void Die(FaultKind kind, const char* text);

}  // namespace warpsmith::host
