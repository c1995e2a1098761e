# What a candidate file says, and what it becomes for one case on one device once its expressions
# are evaluated.
@0xd94a1b7c3e6f8a31;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "device.capnp".DeviceKind;
using import "device.capnp".Dtype;
$Cxx.namespace("warpsmith::wire");

struct NamedText {
  name @0 :Text;
  text @1 :Text;
}

struct LaunchSpec {
  kernel @0 :Text;  # name expression: softmax_rows<8>
  grid @1 :List(Text);  # one to three expressions
  block @2 :List(Text);  # one to three
  shared @3 :Text $Record.init("\"0\"");  # dynamic shared memory, bytes
  cluster @4 :List(Text);  # empty: none
  args @5 :List(Text);  # buffer names or expressions
}

struct TempSpec {
  name @0 :Text;
  dtype @1 :Dtype $Record.init("Dtype::kFloat32");
  shape @2 :List(Text);
}

struct Plan {
  let @0 :List(NamedText);  # in order: later ones may use earlier
  launches @1 :List(LaunchSpec);
  temps @2 :List(TempSpec);
  zero @3 :List(Text);  # outputs or temps zero-filled before the launches
}

enum ParameterType {
  # A kernel parameter's type, from the kernel's function type as the compiler saw it.
  pointer @0;
  int8 @1;
  uint8 @2;
  int16 @3;
  uint16 @4;
  int32 @5;
  uint32 @6;
  int64 @7;
  uint64 @8;
  float32 @9;
  float64 @10;
  float16 @11;
  bFloat16 @12 $Record.word("bfloat16");
  bool @13;
  unsupported @14;
}

struct KernelInfo {
  name @0 :Text;  # as the plan writes it
  symbol @1 :Text;  # lowered name in the binary
  parameters @2 :List(ParameterType);
  registers @3 :Int32 $Record.init("-1");
  # From the compiler's report; -1 where the device kind has no such thing.
  spillBytes @4 :Int32 $Record.init("-1");
  staticSharedBytes @5 :Int32 $Record.init("-1");
  localBytes @6 :Int32 $Record.init("-1");
  maxThreadsPerBlock @7 :Int32 $Record.init("-1");
}

struct CompiledCandidate {
  # What a compiler child returns for a candidate that compiles.
  deviceKind @0 :DeviceKind $Record.init("DeviceKind::kHost");
  architecture @1 :Text;  # "sm_90a"; "x86_64" on the host device
  plan @2 :Plan;
  kernels @3 :List(KernelInfo);
  binary @4 :Data;  # cubin, or the host device's executable
  log @5 :Text;  # warnings
}

enum BufferRole {
  # A buffer that a candidate sees.
  input @0;
  output @1;
  temp @2;
}

struct BufferSpec {
  name @0 :Text;
  role @1 :BufferRole;
  dtype @2 :Dtype $Record.init("Dtype::kFloat32");
  shape @3 :List(Int64);
  zero @4 :Bool;
}

struct ResolvedArgument {
  buffer @0 :Int32 $Record.init("-1");  # index into ResolvedPlan::buffers, or -1 for a scalar
  type @1 :ParameterType;
  bits @2 :Data $Record.array(8);  # the scalar's bytes, little endian, SizeOf(type) of them used
}

struct ResolvedLaunch {
  kernel @0 :Int32;  # index into CompiledCandidate::kernels
  grid @1 :List(UInt32) $Record.array(3) $Record.init("1, 1, 1");
  block @2 :List(UInt32) $Record.array(3) $Record.init("1, 1, 1");
  cluster @3 :List(UInt32) $Record.array(3) $Record.init("1, 1, 1");
  sharedBytes @4 :UInt32;
  arguments @5 :List(ResolvedArgument);
}

struct ResolvedPlan {
  # A plan for one case on one device. Buffers: the task's inputs, its outputs, then the temps. A
  # launch whose grid is empty (a case of zero elements) is left out.
  buffers @0 :List(BufferSpec);
  launches @1 :List(ResolvedLaunch);
}
