// What bytes cost: Encode and Decode of what travels most, with two peers in the same run.
//
//   codec/<record>/encode         a record to bytes
//   codec/<record>/encode/capnp   Cap'n Proto alone: copies a message with the same content, checks
//                                 included, and writes the copy out
//   codec/<record>/encode/json    nlohmann::json: a tree with the same content to text
//   codec/<record>/decode         bytes to a record
//   codec/<record>/decode/capnp   Cap'n Proto alone, and a floor: opens the bytes and walks every
//                                 pointer with its checks, and takes nothing out
//   codec/<record>/decode/json    that text to a tree
// The peers make and read no record of ours, which favours them.
//
// Counter `bytes`: how long what is written or read is.
#include <benchmark/benchmark.h>
#include <capnp/compat/json.h>
#include <capnp/serialize.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/fixtures.h"
#include "common/base/check.h"
#include "common/wire/codec.h"
#include "schema/coordinator.capnp.h"
#include "schema/coordinator.h"
#include "schema/outcome.capnp.h"
#include "schema/run.capnp.h"
#include "schema/trajectory.capnp.h"

namespace warpsmith {
namespace {

constexpr size_t kHeaderBytes = 8;  // ours, before the Cap'n Proto bytes (schema/README.md)

// One record in every form. `Struct` is its type in the schema.
template <typename Message, typename Struct>
struct Subject {
  explicit Subject(Message what) : record(std::move(what)), bytes(Encode(record)) {
    auto decoded = Decode<Message>(bytes);
    CHECK(decoded.has_value(), decoded.error().message);
    CHECK(*decoded == record, "what is measured comes back whole");

    words = kj::heapArray<capnp::word>((bytes.size() - kHeaderBytes) / sizeof(capnp::word));
    std::memcpy(words.begin(), bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes);
    reader = std::make_unique<capnp::FlatArrayMessageReader>(words, Options());

    text = capnp::JsonCodec().encode(reader->getRoot<Struct>()).cStr();
    tree = nlohmann::json::parse(text);
    text = tree.dump();
  }

  static capnp::ReaderOptions Options() {
    capnp::ReaderOptions options;
    options.traversalLimitInWords = UINT64_MAX;  // one reader is read many times here
    return options;
  }

  Message record;
  std::string bytes;
  kj::Array<capnp::word> words;
  std::unique_ptr<capnp::FlatArrayMessageReader> reader;
  nlohmann::json tree;
  std::string text;
};

void CountBytes(benchmark::State& state, size_t bytes) {
  state.counters["bytes"] = static_cast<double>(bytes);
}

template <typename Message, typename Struct>
void Register(const std::string& name, Message message) {
  auto subject = std::make_shared<const Subject<Message, Struct>>(std::move(message));
  const auto add = [&](const std::string& what, size_t bytes, auto once) {
    benchmark::RegisterBenchmark(("codec/" + name + "/" + what).c_str(),
                                 [=](benchmark::State& state) {
                                   for (auto _ : state) once(*subject);
                                   CountBytes(state, bytes);
                                 });
  };
  add("encode", subject->bytes.size(),
      [](const auto& it) { benchmark::DoNotOptimize(Encode(it.record)); });
  add("encode/capnp", subject->bytes.size() - kHeaderBytes, [](const auto& it) {
    capnp::MallocMessageBuilder builder;
    builder.setRoot(it.reader->template getRoot<Struct>());
    std::string out(capnp::computeSerializedSizeInWords(builder) * sizeof(capnp::word), '\0');
    kj::ArrayOutputStream stream(kj::arrayPtr(reinterpret_cast<kj::byte*>(out.data()), out.size()));
    capnp::writeMessage(stream, builder);
    benchmark::DoNotOptimize(out);
  });
  add("encode/json", subject->text.size(),
      [](const auto& it) { benchmark::DoNotOptimize(it.tree.dump()); });

  add("decode", subject->bytes.size(),
      [](const auto& it) { benchmark::DoNotOptimize(Decode<Message>(it.bytes)); });
  add("decode/capnp", subject->bytes.size() - kHeaderBytes, [](const auto& it) {
    capnp::FlatArrayMessageReader reader(it.words, it.Options());
    benchmark::DoNotOptimize(reader.getRoot<Struct>().totalSize());
  });
  add("decode/json", subject->text.size(),
      [](const auto& it) { benchmark::DoNotOptimize(nlohmann::json::parse(it.text)); });
}

FromCoordinator Assignment() {
  RolloutJob body;
  body.run = RunId(1);
  body.group = GroupId(40);
  body.task = StarterTask();
  body.policy = "grammar";
  for (uint32_t episode = 0; episode < 16; ++episode) body.episodes.push_back(episode);
  body.turns = 4;
  body.seed = 0x9e3779b97f4a7c15;
  body.min_version = {2, 140};
  return CoordinatorToWorker(AssignJob{
      JobId(41), {3, 1}, 0, std::chrono::seconds(30), std::chrono::minutes(30), std::move(body)});
}

void RegisterAll() {
  Register<Trajectory, wire::Trajectory>(
      "trajectory", GpuTrajectory({RunId(1), GroupId(40), 7}, StarterTask(), 4, {2, 140}));
  Register<Evaluation, wire::Evaluation>("evaluation", GpuEvaluation(StarterTask(), 1));
  Register<FromCoordinator, wire::FromCoordinator>("assign_job", Assignment());
  Register<RunSpec, wire::RunSpec>("run_spec", StarterRun("grammar"));
  Register<ToCoordinator, wire::ToCoordinator>("heartbeat", WorkerMessage(Heartbeat{}));
}

}  // namespace
}  // namespace warpsmith

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  warpsmith::RegisterAll();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
