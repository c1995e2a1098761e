#include "worker/host/host_oracle_device.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "common/base/check.h"
#include "common/base/unique_fd.h"
#include "worker/device/buffer_content.h"
#include "worker/host/content_fill.h"
#include "worker/host/cpu_facts.h"

namespace warpsmith {
namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kEndAlignment = 16;
constexpr uint64_t kTimedAlignment = 256;

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

int64_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("MemAvailable:")) return std::stoll(line.substr(13)) * 1024;
  return INT64_MAX;
}

// The first byte of [begin, end) of the mapping that is not the pattern's.
std::optional<uint64_t> FirstOther(const uint8_t* mapping, uint64_t begin, uint64_t end,
                                   uint32_t word) {
  uint8_t bytes[sizeof(word)];
  std::memcpy(bytes, &word, sizeof(word));
  for (uint64_t i = begin; i < end; ++i)
    if (mapping[i] != bytes[i % sizeof(word)]) return i;
  return std::nullopt;
}

}  // namespace

HostOracleDevice::HostOracleDevice(int index)
    : facts_(HostFacts(index)), flusher_(PrivateCacheBytes()), clock_(LaneCores()) {}

HostOracleDevice::~HostOracleDevice() {
  while (!buffers_.empty()) Release(OracleBuffer(buffers_.begin()->second));
}

Result<OracleBuffer> HostOracleDevice::Allocate(uint64_t bytes, Access access,
                                                Placement placement) {
  OracleBuffer buffer;
  buffer.id = next_id_++;
  buffer.handle.size = bytes;
  buffer.handle.access = access;
  if (bytes == 0) return buffer;

  // A timed buffer has poison on both sides of it; in verification one side is the guard.
  const uint64_t margin = placement == Placement::kAligned256 ? kTimedAlignment : 0;
  const uint64_t mapping_bytes =
      RoundUp(margin + RoundUp(bytes, kEndAlignment) + margin, kPageBytes);
  const auto exhausted = [&](const char* what) {
    return Fail(ErrorCode::kExhausted, fmt::format("{} bytes of memory: {}", mapping_bytes, what));
  };
  if (mapping_bytes > static_cast<uint64_t>(AvailableBytes()))
    return exhausted("the machine has less left");
  UniqueFd fd(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return exhausted(std::strerror(errno));
  if (ftruncate(fd.get(), static_cast<off_t>(mapping_bytes)) != 0 ||
      fallocate(fd.get(), 0, 0, static_cast<off_t>(mapping_bytes)) != 0)
    return exhausted(std::strerror(errno));
  void* mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapping == MAP_FAILED) return exhausted(std::strerror(errno));
  // The mapping above stays writable; later ones of a read-only buffer cannot be.
  const int seals =
      F_SEAL_SHRINK | F_SEAL_GROW | (access == Access::kReadOnly ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(fd.get(), F_ADD_SEALS, seals | F_SEAL_SEAL) != 0) {
    const int error = errno;
    munmap(mapping, mapping_bytes);
    return Fail(ErrorCode::kMissing,
                fmt::format("sealing memory: {}: the host device needs Linux 5.1 or newer",
                            std::strerror(error)));
  }
  buffer.handle.mapping_bytes = mapping_bytes;
  buffer.handle.offset =
      placement == Placement::kEndsAtGuard ? mapping_bytes - RoundUp(bytes, kEndAlignment) : margin;
  buffer.mapping = mapping;
  buffer.data = static_cast<char*>(mapping) + buffer.handle.offset;
  buffer.fd = fd.Release();
  buffers_.emplace(buffer.id, buffer);
  return buffer;
}

void HostOracleDevice::Release(const OracleBuffer& buffer) {
  const auto found = buffers_.find(buffer.id);
  if (found == buffers_.end()) return;
  munmap(found->second.mapping, found->second.handle.mapping_bytes);
  close(found->second.fd);
  buffers_.erase(found);
}

Status HostOracleDevice::Fill(const OracleBuffer& buffer, const Content& content) {
  CHECK(content.elements >= 0 &&
            static_cast<uint64_t>(content.elements) * SizeOf(content.dtype) <= buffer.handle.size,
        "the content fits its buffer");
  if (content.elements > 0) FillContent(buffer.data, content);
  return {};
}

Status HostOracleDevice::Poison(const OracleBuffer& buffer, uint32_t pattern) {
  auto* words = static_cast<uint32_t*>(buffer.mapping);
  if (words != nullptr)
    std::fill_n(words, buffer.handle.mapping_bytes / sizeof(*words), PoisonWord(pattern));
  return {};
}

Status HostOracleDevice::Zero(const OracleBuffer& buffer) {
  if (buffer.data != nullptr) std::memset(buffer.data, 0, buffer.handle.size);
  return {};
}

Result<std::optional<uint64_t>> HostOracleDevice::FindDamage(const OracleBuffer& buffer,
                                                             uint32_t pattern) {
  if (buffer.mapping == nullptr) return std::nullopt;
  const auto* mapping = static_cast<const uint8_t*>(buffer.mapping);
  const uint32_t word = PoisonWord(pattern);
  const BufferHandle& handle = buffer.handle;
  if (const auto before = FirstOther(mapping, 0, handle.offset, word)) return before;
  return FirstOther(mapping, handle.offset + handle.size, handle.mapping_bytes, word);
}

Result<uint64_t> HostOracleDevice::Digest(const OracleBuffer& buffer) {
  // Four chains of multiply and rotate, mixed at the end; not for adversaries, who cannot write
  // here.
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  uint64_t lanes[4] = {1, 2, 3, 4};
  const auto* data = static_cast<const char*>(buffer.data);
  uint64_t at = 0;
  for (; at + 32 <= buffer.handle.size; at += 32)
    for (int i = 0; i < 4; ++i) {
      uint64_t word;
      std::memcpy(&word, data + at + 8 * i, sizeof(word));
      lanes[i] = std::rotl((lanes[i] ^ word) * kMultiplier, 29);
    }
  for (; at < buffer.handle.size; ++at)
    lanes[at % 4] = std::rotl((lanes[at % 4] ^ static_cast<uint8_t>(data[at])) * kMultiplier, 29);
  uint64_t digest = buffer.handle.size;
  for (const uint64_t lane : lanes) digest = std::rotl((digest ^ lane) * kMultiplier, 31);
  return digest;
}

Result<std::vector<double>> HostOracleDevice::Time(size_t count,
                                                   const std::function<void(size_t)>& run) {
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) {
    flusher_.Flush();
    const double start = clock_.Now();
    run(i);
    times.push_back(clock_.Now() - start);
  }
  return times;
}

}  // namespace warpsmith
