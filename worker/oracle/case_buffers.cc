#include "worker/oracle/case_buffers.h"

#include "worker/oracle/bounds.h"

namespace warpsmith {
namespace {

const char* RoleName(BufferRole role) {
  switch (role) {
    case BufferRole::kInput: return "input";
    case BufferRole::kOutput: return "output";
    case BufferRole::kTemp: return "temp";
  }
  return "buffer";
}

}  // namespace

BufferSet::~BufferSet() {
  for (const OracleBuffer& buffer : held_) device_.Release(buffer);
}

Status BufferSet::Allocate(Placement placement) {
  std::vector<TensorView> outputs;
  for (const BufferSpec& spec : plan_.buffers) {
    const bool input = spec.role == BufferRole::kInput;
    ASSIGN_OR_RETURN(
        const OracleBuffer buffer,
        device_.Allocate(BytesOf(spec), input ? Access::kReadOnly : Access::kReadWrite, placement));
    held_.push_back(buffer);
    if (input) inputs_.push_back({buffer.data, spec.dtype, spec.shape});
    if (spec.role == BufferRole::kOutput) outputs.push_back({buffer.data, spec.dtype, spec.shape});
  }
  outputs_ = ViewOf(outputs, device_.facts().kind, device_.facts().index);
  input_values_ = ViewOf(inputs_, device_.facts().kind, device_.facts().index);
  return {};
}

Status BufferSet::Fill(uint64_t seed, uint32_t pattern) {
  pattern_ = pattern;
  for (size_t i = 0; i < held_.size(); ++i) {
    if (BytesOf(plan_.buffers[i]) == 0) continue;
    RETURN_IF_ERROR(device_.Poison(held_[i], pattern));
    if (plan_.buffers[i].role != BufferRole::kInput) continue;
    ASSIGN_OR_RETURN(const Content content,
                     ContentOf(task_, case_.dims, plan_.buffers, i, seed, case_number_));
    RETURN_IF_ERROR(device_.Fill(held_[i], content));
  }
  return {};
}

Status BufferSet::Remember() {
  remembered_.clear();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    uint64_t digest = 0;
    if (BytesOf(plan_.buffers[i]) > 0) {
      ASSIGN_OR_RETURN(digest, device_.Digest(held_[i]));
    }
    remembered_.push_back(digest);
  }
  return {};
}

Result<std::optional<std::string>> BufferSet::InputWritten() {
  for (size_t i = 0; i < remembered_.size(); ++i) {
    if (BytesOf(plan_.buffers[i]) == 0) continue;
    ASSIGN_OR_RETURN(const uint64_t digest, device_.Digest(held_[i]));
    if (digest != remembered_[i]) return plan_.buffers[i].name;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> BufferSet::WrittenOutside() {
  for (size_t i = 0; i < held_.size(); ++i) {
    const BufferSpec& spec = plan_.buffers[i];
    if (BytesOf(spec) == 0) continue;
    ASSIGN_OR_RETURN(const auto offset, device_.FindDamage(held_[i], pattern_));
    if (!offset) continue;
    const uint64_t begin = held_[i].handle.offset, end = begin + BytesOf(spec);
    const std::string where = *offset < begin
                                  ? std::to_string(begin - *offset) + " bytes before its start"
                                  : "byte " + std::to_string(*offset - end) + " past its end";
    return std::string(RoleName(spec.role)) + " " + spec.name + ": something was written at " +
           where;
  }
  return std::nullopt;
}

Result<std::vector<uint64_t>> BufferSet::OutputDigests() {
  std::vector<uint64_t> digests;
  for (size_t i = 0; i < held_.size(); ++i) {
    if (plan_.buffers[i].role != BufferRole::kOutput) continue;
    uint64_t digest = 0;
    if (BytesOf(plan_.buffers[i]) > 0) {
      ASSIGN_OR_RETURN(digest, device_.Digest(held_[i]));
    }
    digests.push_back(digest);
  }
  return digests;
}

Status BufferSet::PoisonOutput(size_t output) {
  return device_.Poison(held_[inputs_.size() + output], pattern_);
}

BindBuffers BufferSet::binding() const {
  BindBuffers message{.set = number_, .buffers = {}};
  for (const OracleBuffer& buffer : held_) message.buffers.push_back(buffer.handle);
  return message;
}

std::vector<int> BufferSet::fds() const {
  std::vector<int> fds;
  for (const OracleBuffer& buffer : held_)
    if (buffer.fd >= 0) fds.push_back(buffer.fd);
  return fds;
}

uint64_t BufferSet::bytes() const {
  uint64_t bytes = 0;
  for (const BufferSpec& spec : plan_.buffers) bytes += BytesOf(spec);
  return bytes;
}

}  // namespace warpsmith
