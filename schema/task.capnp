# A suite of tasks, as a suite file says it. Expressions are kept as text and evaluated by
# common/suite against a case's dims.
@0xc7d0e1a89b3f5d21;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".Dtype;
$Cxx.namespace("warpsmith::wire");

struct NamedSize {
  name @0 :Text;
  size @1 :Int64;
}

enum InitKind {
  normal @0;
  uniform @1;
  integer @2;
  index @3;
  oneHot @4;
  mask @5;
  constant @6;
}

struct Init {
  # How an input's content is drawn.
  #   normal    scale * N(0, 1)                       uniform   [low, high)
  #   integer   whole numbers in [low, high]          index     whole numbers in [0, bound)
  #   one_hot   one 1 a row of the last dimension     mask      1 with probability `value`, else 0
  #   constant  `value`
  kind @0 :InitKind;
  scale @1 :Float64 $Record.init("1");
  low @2 :Float64;
  high @3 :Float64 $Record.init("1");
  value @4 :Float64;
  bound @5 :Text;  # expression, for kIndex
}

struct InputSpec {
  name @0 :Text;
  dtype @1 :Dtype $Record.init("Dtype::kFloat32");
  shape @2 :List(Text);  # expressions over the dims
  init @3 :Init;
}

struct ScalarSpec {
  # A number handed to reference and kernel by value: a constant, or an expression over the dims.
  name @0 :Text;
  dtype @1 :Dtype $Record.init("Dtype::kFloat32");
  value @2 :Float64;
  expression @3 :Text;  # when not empty, used instead of `value`
}

enum CompareKind {
  value @0;  # |got - expected| <= atol + rtol * |expected|, and the frozen error bounds
  exact @1;  # equal bits (NaN equal to NaN where equal_nan)
  indexByValue @2;  # indices may differ where the values they point at are equal (argmax, top-k)
  ulp @3;  # at most `ulps` representable numbers apart
}

struct OutputSpec {
  name @0 :Text;
  dtype @1 :Dtype $Record.init("Dtype::kFloat32");
  shape @2 :List(Text);
  rtol @3 :Float64;
  atol @4 :List(Float64) $Record.optional;  # default: rtol * RMS(expected)
  compare @5 :CompareKind;
  ulps @6 :Int32;
  indexInto @7 :Text;  # for kIndexByValue: the input that the indices point into
  orderFree @8 :Bool;  # two runs need not agree bit for bit (atomics)
  equalNan @9 :Bool;
}

struct Work {
  # The least that any kernel must do; expressions over the dims. Empty: all inputs read, all
  # outputs written, no operations counted.
  flops @0 :Text;
  readBytes @1 :Text;
  writeBytes @2 :Text;
}

enum CaseRole {
  train @0;
  holdout @1;
  edge @2;
}

struct Case {
  role @0 :CaseRole;
  dims @1 :List(NamedSize) $Record.map;
}

struct Task {
  id @0 :Text $Record.type("TaskId");  # "suite/task"
  inputs @1 :List(InputSpec);
  scalars @2 :List(ScalarSpec);
  outputs @3 :List(OutputSpec);
  reference @4 :Text;  # TorchScript: def reference(...)
  reference64 @5 :Text;  # optional: overrides casting inputs to fp64
  work @6 :Work;
  cudaCases @7 :List(Case);
  hostCases @8 :List(Case);  # also the simulated device's
  starter @9 :Text;  # text of a correct plain candidate; may be empty
}

struct Suite {
  name @0 :Text;
  tasks @1 :List(Task);
}
