// The records of common/model that many messages carry. Each is much code to write and read:
// model_codec.cc compiles it once, and not every codec's source again.
#pragma once

#include "common/wire/model_records.h"
#include "schema/model.capnp.h"

#define WIRE_MODEL_RECORDS(X) \
  X(Action)                   \
  X(CompiledCandidate)        \
  X(DeviceFacts)              \
  X(Evaluation)               \
  X(JobBody)                  \
  X(Outcome)                  \
  X(RunSpec)                  \
  X(Task)                     \
  X(Trajectory)               \
  X(Turn)

#define WIRE_COMPILED_ONCE(prefix, Type)                                       \
  prefix template void Value<Type>::WriteTo(wire::Type::Builder, const Type&); \
  prefix template Type Value<Type>::Read(wire::Type::Reader);
#define WIRE_ELSEWHERE(Type) WIRE_COMPILED_ONCE(extern, Type)
#define WIRE_HERE(Type) WIRE_COMPILED_ONCE(, Type)

namespace warpsmith::wire_io {

WIRE_MODEL_RECORDS(WIRE_ELSEWHERE)

}  // namespace warpsmith::wire_io
