# Element types, kinds of device, and what is known of one device.
@0xb31c6f0a5d2e4f11;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
$Cxx.namespace("warpsmith::wire");

enum Dtype {
  float64 @0;
  float32 @1;
  float16 @2;
  bFloat16 @3 $Record.word("bfloat16");
  int64 @4;
  int32 @5;
  int16 @6;
  int8 @7;
  uint8 @8;
  bool @9;
}

enum DeviceKind {
  # Where a candidate runs. Every record names it; figures of two kinds are never compared.
  cuda @0;
  host @1;
  simulated @2;
}

enum ClockMode {
  locked @0;
  observed @1;
}

struct DeviceFacts {
  kind @0 :DeviceKind $Record.init("DeviceKind::kHost");
  index @1 :Int32;  # ordinal on its host
  name @2 :Text;  # "NVIDIA H200", "AMD EPYC ..."
  uuid @3 :Text;  # empty where the device kind has none
  architecture @4 :Text;  # "sm_90a", "x86_64"
  smCount @5 :Int32 $Record.init("1");  # host: cores of the lane
  warpSize @6 :Int32 $Record.init("32");
  maxThreadsPerBlock @7 :Int32 $Record.init("1024");
  maxSharedBytes @8 :Int64 $Record.init("48 * 1024");  # opt-in limit of one block
  reservedSharedBytes @9 :Int64;  # taken by the system from each block
  memoryBytes @10 :Int64;
  l2Bytes @11 :Int64;
  peakBandwidthBytesPerS @12 :Float64;  # by clock and bus width; 0: unknown
  peakFlopsPerS @13 :Float64;  # 0: unknown
  clockMode @14 :ClockMode $Record.init("ClockMode::kObserved");
  driver @15 :Text;  # version texts, for the record
  toolkit @16 :Text;
}
