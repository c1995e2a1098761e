// Stands in for compiler, oracle, runner and policy in tests of the supervisor: a link to it named
// after one of them plays that part. The candidate's text says how to misbehave.
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/parse.h"
#include "common/net/frame_socket.h"
#include "common/runtime/files.h"
#include "common/wire/codec.h"
#include "schema/child.h"

namespace warpsmith {
namespace {

using namespace std::chrono_literals;

constexpr const char* kElf =
    "\x7f"
    "ELF";

[[noreturn]] void Hang() {
  for (;;) pause();
}

// True once, and then false, whatever child of this supervisor asks.
bool FirstOfTwo() {
  std::filesystem::path mark =
      std::filesystem::temp_directory_path() / ("fake-" + std::to_string(getppid()));
  if (std::filesystem::create_directory(mark)) return true;
  std::filesystem::remove(mark);
  return false;
}

CompileReply Compiled(const CompileRequest& request, int uses) {
  CompiledCandidate compiled{.device_kind = request.device_kind,
                             .architecture = request.architecture};
  compiled.plan.launches = {{.kernel = "k", .grid = {"1"}, .block = {"1"}}};
  compiled.kernels = {{.name = "k", .symbol = "k"}};
  compiled.binary = kElf + request.text;
  compiled.log = "pid=" + std::to_string(getpid()) + " uses=" + std::to_string(uses);

  return {.id = request.id, .result = compiled};
}

int BeCompiler(FrameSocket& parent) {
  for (int uses = 1;; ++uses) {
    Result<Frame> frame = parent.Receive(1h);
    if (!frame) return 0;
    CompileRequest request = *Decode<CompileRequest>(frame->bytes);
    const std::string& text = request.text;
    CompileReply reply = Compiled(request, uses);
    if (text == "hang") Hang();
    if (text == "hang with a child" && fork() >= 0) Hang();
    if (text == "crash") abort();
    if (text == "lie: another request") ++reply.id;
    if (text == "lie: another device") {
      std::get<CompiledCandidate>(reply.result).device_kind = DeviceKind::kCuda;
    }
    if (text == "lie: other kernels") {
      std::get<CompiledCandidate>(reply.result).kernels[0].name = "j";
    }
    if (text == "lie: correct") reply.result = Outcome(Correct{.speedup = 100});
    if (text == "error") reply.result = Outcome(CompileError{std::string(1 << 20, 'e')});
    if (text == "crash once" && FirstOfTwo()) abort();
    if (text == "lie: no binary" || (text == "lie once: no binary" && FirstOfTwo())) {
      std::get<CompiledCandidate>(reply.result).binary.clear();
    }
    std::string bytes = text == "lie: rubbish" ? std::string(100, 'x') : Encode(reply);
    if (!parent.Send(bytes, {}, 10s)) return 0;
  }
}

struct FakeOracle {
  FrameSocket& parent;
  FrameSocket runner;
  uint64_t runner_number = 0;

  void Say(const FromOracle& message) {
    if (!parent.Send(Encode(message), {}, 10s)) _exit(0);
  }
  void Discard(const char* why) {
    Say(DiscardRunner{runner_number, why});
    runner = FrameSocket();
    Next();
  }
  // Handles one message of the supervisor's.
  void Next() {
    Result<Frame> frame = parent.Receive(1h);
    if (!frame) _exit(0);
    ToOracle message = *Decode<ToOracle>(frame->bytes);
    if (auto* attached = std::get_if<RunnerAttached>(&message)) {
      runner = FrameSocket(std::move(frame->fds.at(0)));
      runner_number = attached->runner;
      if (!runner.Receive(10s)) Say(OracleFailed{InfrastructureKind::kInternal, "no ready runner"});
      return;
    }
    Judge(std::get<EvaluateRequest>(message));
  }
  void Judge(const EvaluateRequest& request) {
    std::string_view text = std::string_view(request.compiled.binary).substr(4);
    EvaluateReply reply{.id = request.id, .outcome = Correct{.speedup = 2}};
    reply.log = "runner=" + std::to_string(runner_number);
    if (text == "runner is late") {
      Say(StageBegan{request.id, Stage::kVerify, runner_number, 100ms});
      if (runner.Receive(20s).error().code != ErrorCode::kUnavailable) _exit(9);
      Discard("late");
      reply.outcome = Timeout{Stage::kVerify};
    }
    if (text == "oracle is slow between stages") {
      Say(StageBegan{request.id, Stage::kVerify, runner_number, 500ms});
      Say(StageEnded{request.id});
      usleep(900'000);
    }
    if (text == "runner faults") {
      Discard("faulted");
      reply.outcome = DeviceFault{"700"};
    }
    if (text == "oracle dies") _exit(1);
    if (text == "oracle is silent") Hang();
    if (text == "device is lost") Say(OracleFailed{InfrastructureKind::kDeviceLost, "xid 79"});
    Say(reply);
  }
};

int BeOracle(FrameSocket& parent) {
  FakeOracle oracle{.parent = parent};
  if (std::getenv("FAKE_NO_DEVICE")) {
    oracle.Say(OracleFailed{InfrastructureKind::kDriver, "no such device here"});
    return 0;
  }
  oracle.Say(OracleReady{DeviceFacts{.kind = DeviceKind::kHost, .architecture = "x86_64"}});
  for (;;) oracle.Next();
}

// Writes a candidate that the simulated device finds correct; its weights' file must be there, and
// not begin with "bad".
int BePolicy(FrameSocket& parent) {
  PolicyVersion loaded;
  for (;;) {
    Result<Frame> frame = parent.Receive(1h);
    if (!frame) return 0;
    ToPolicy message = *Decode<ToPolicy>(frame->bytes);
    FromPolicy reply;
    if (auto* load = std::get_if<LoadWeights>(&message)) {
      WeightsLoaded done{.id = load->id, .run = load->run, .version = load->version};
      Result<std::string> weights = ReadFile(load->path);
      if (!weights) {
        done.problem = weights.error().message;
      } else if (weights->starts_with("bad")) {
        done.problem = "bad weights";
      } else {
        loaded = load->version;
      }
      reply = done;
    } else {
      const auto& act = std::get<ActRequest>(message);
      ActReply acted{.id = act.id};
      for (const Episode& episode : act.episodes) {
        acted.actions.push_back({.version = loaded,
                                 .text = "/* warpsmith\nlaunches:\n  - {kernel: k, grid: \"1\", "
                                         "block: \"128\", args: \"y\"}\n*/\n"
                                         "__global__ void k(float* y) {}\n// " +
                                         std::to_string(episode.seed)});
      }
      reply = acted;
    }
    if (!parent.Send(Encode(reply), {}, 10s)) return 0;
  }
}

int BeRunner(FrameSocket& oracle) {
  if (!oracle.Send(Encode(FromRunner(RunnerReady{})), {}, 10s)) return 0;
  while (oracle.Receive(1h)) {
  }
  return 0;
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  std::string part = std::filesystem::path(argv[0]).filename();
  std::optional<int> fd;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--fd") fd = warpsmith::ParseWhole<int>(argv[i + 1]);
  }
  if (!fd) return 2;
  warpsmith::FrameSocket socket((warpsmith::UniqueFd(*fd)));
  if (part == "compiler") return warpsmith::BeCompiler(socket);
  if (part == "policy") return warpsmith::BePolicy(socket);
  if (part == "oracle") return warpsmith::BeOracle(socket);
  return warpsmith::BeRunner(socket);
}
