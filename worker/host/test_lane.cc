#include "worker/host/test_lane.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/suite/resolve.h"

namespace warpsmith {

TestLane& TestLane::Dim(const std::string& name, int64_t value) {
  dims_[name] = value;
  return *this;
}

TestLane& TestLane::AddInput(const std::string& name, Dtype dtype, std::string bytes) {
  task_.inputs.push_back({name, dtype, {std::to_string(bytes.size() / SizeOf(dtype))}, {}});
  inputs_[name] = std::move(bytes);
  return *this;
}

TestLane& TestLane::Scalar(const std::string& name, Dtype dtype, double value) {
  ScalarSpec scalar;
  scalar.name = name;
  scalar.dtype = dtype;
  scalar.value = value;
  task_.scalars.push_back(scalar);
  return *this;
}

TestLane& TestLane::Output(const std::string& name, Dtype dtype, int64_t elements) {
  OutputSpec output;
  output.name = name;
  output.dtype = dtype;
  output.shape = {std::to_string(elements)};
  task_.outputs.push_back(output);
  return *this;
}

Outcome TestLane::Run(const std::string& text, int runs) {
  HostCompiler compiler;
  CompileRequest request;
  request.text = text;
  CompileReply reply = compiler.Compile(request);
  if (auto* outcome = std::get_if<Outcome>(&reply.result)) return *outcome;
  auto& candidate = std::get<CompiledCandidate>(reply.result);

  HostOracleDevice oracle;
  auto resolved = ResolvePlan(candidate.plan, candidate.kernels, task_, dims_, oracle.facts());
  if (auto* outcome = std::get_if<Outcome>(&resolved)) return *outcome;
  const auto& plan = std::get<ResolvedPlan>(resolved);

  HostRunnerDevice runner(options_);
  auto loaded = runner.Load({candidate.binary, candidate.kernels, plan});
  if (auto* failed = std::get_if<Failed>(&loaded)) return failed->outcome;

  std::vector<OracleBuffer> buffers;
  BindBuffers bind;
  std::vector<int> fds;
  for (const BufferSpec& spec : plan.buffers) {
    auto buffer = oracle.Allocate(
        BytesOf(spec), spec.role == BufferRole::kInput ? Access::kReadOnly : Access::kReadWrite,
        placement_);
    EXPECT_TRUE(buffer) << (buffer ? "" : buffer.error().message);
    if (spec.role == BufferRole::kInput && BytesOf(spec) > 0)
      std::memcpy(buffer->data, inputs_[spec.name].data(), BytesOf(spec));
    bind.buffers.push_back(buffer->handle);
    if (buffer->fd >= 0) fds.push_back(dup(buffer->fd));
    buffers.push_back(*buffer);
  }
  auto bound = runner.Bind(bind, fds);
  if (auto* failed = std::get_if<Failed>(&bound)) return failed->outcome;

  for (int i = 0; i < runs; ++i) {
    const auto pattern = static_cast<uint32_t>(7 + i);
    for (size_t b = 0; b < buffers.size(); ++b)
      if (plan.buffers[b].role != BufferRole::kInput) {
        EXPECT_TRUE(oracle.Poison(buffers[b], pattern));
      }
    auto ran = runner.Run({{0}, false, true});
    if (auto* failed = std::get_if<Failed>(&ran)) {
      printed_ += failed->output;
      return failed->outcome;
    }
    printed_ += std::get<Done>(ran).output;
    for (size_t b = 0; b < buffers.size(); ++b) {
      const BufferSpec& spec = plan.buffers[b];
      if (spec.role == BufferRole::kInput) continue;
      if (const auto at = oracle.FindDamage(buffers[b], pattern).value())
        damage_ =
            fmt::format("{}{:+}", spec.name, static_cast<int64_t>(*at - buffers[b].handle.offset));
      outputs_[spec.name] = std::string(static_cast<const char*>(buffers[b].data), BytesOf(spec));
    }
  }
  return Correct{};
}

std::string Candidate(const std::string& kernel, const std::string& grid, const std::string& block,
                      const std::string& args, const std::string& code, const std::string& shared) {
  return fmt::format(
      "/* warpsmith\nlaunches:\n  - kernel: {}\n    grid: \"{}\"\n    block: \"{}\"\n    shared: "
      "\"{}\"\n"
      "    args: \"{}\"\n*/\n{}",
      kernel, grid, block, shared, args, code);
}

Outcome CompileOutcome(const std::string& text) {
  HostCompiler compiler;
  CompileRequest request;
  request.text = text;
  auto reply = compiler.Compile(request);
  if (auto* outcome = std::get_if<Outcome>(&reply.result)) return *outcome;
  return Correct{};
}

CompiledCandidate MustCompile(const std::string& text) {
  HostCompiler compiler;
  CompileRequest request;
  request.text = text;
  auto reply = compiler.Compile(request);
  if (auto* outcome = std::get_if<Outcome>(&reply.result)) {
    ADD_FAILURE() << Describe(*outcome);
    return {};
  }
  return std::get<CompiledCandidate>(reply.result);
}

}  // namespace warpsmith
