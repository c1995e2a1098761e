#include "tests/support/fake_oracle_device.h"

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "common/suite/scalar_bits.h"
#include "worker/device/buffer_content.h"

namespace warpsmith {
namespace {

constexpr uint64_t kGuard = 64;

void Store(char* at, Dtype dtype, double value) {
  const auto put = [&](auto typed) { std::memcpy(at, &typed, sizeof typed); };
  switch (dtype) {
    case Dtype::kFloat64: return put(value);
    case Dtype::kFloat32: return put(static_cast<float>(value));
    case Dtype::kFloat16: return put(ToHalfBits(value));
    case Dtype::kBFloat16: return put(ToBFloat16Bits(value));
    case Dtype::kInt64: return put(static_cast<int64_t>(value));
    case Dtype::kInt32: return put(static_cast<int32_t>(value));
    case Dtype::kInt16: return put(static_cast<int16_t>(value));
    case Dtype::kInt8: return put(static_cast<int8_t>(value));
    case Dtype::kUint8:
    case Dtype::kBool: return put(static_cast<uint8_t>(value));
  }
}

}  // namespace

FakeOracleDevice::FakeOracleDevice() {
  facts_.kind = DeviceKind::kHost;
  facts_.name = "fake";
  facts_.architecture = "x86_64";
}

FakeOracleDevice::~FakeOracleDevice() {
  for (const auto& [id, mapping] : mappings_) {
    ::munmap(mapping.address, mapping.bytes);
    ::close(mapping.fd);
  }
}

Result<OracleBuffer> FakeOracleDevice::Allocate(uint64_t bytes, Access access, Placement) {
  OracleBuffer buffer;
  buffer.id = next_id_++;
  buffer.handle.access = access;
  if (bytes == 0) return buffer;
  if (bytes > memory_left) return Fail(ErrorCode::kExhausted, "the fake device is full");
  const uint64_t whole = bytes + 2 * kGuard;
  const int fd = ::memfd_create("fake", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(whole)) != 0)
    return Fail(ErrorCode::kExhausted, "no memfd");
  void* address = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (address == MAP_FAILED) return Fail(ErrorCode::kExhausted, "no mapping");
  mappings_[buffer.id] = {address, whole, fd};
  memory_left -= bytes;
  buffer.fd = fd;
  buffer.mapping = address;
  buffer.data = static_cast<char*>(address) + kGuard;
  buffer.handle = {whole, kGuard, bytes, access};
  return buffer;
}

void FakeOracleDevice::Release(const OracleBuffer& buffer) {
  const auto mapping = mappings_.find(buffer.id);
  if (mapping == mappings_.end()) return;
  ::munmap(mapping->second.address, mapping->second.bytes);
  ::close(mapping->second.fd);
  memory_left += buffer.handle.size;
  mappings_.erase(mapping);
}

Status FakeOracleDevice::Fill(const OracleBuffer& buffer, const Content& content) {
  const ContentNumbers numbers = NumbersOf(content);
  const size_t size = SizeOf(content.dtype);
  for (int64_t i = 0; i < content.elements; ++i)
    Store(static_cast<char*>(buffer.data) + static_cast<size_t>(i) * size, content.dtype,
          ContentValue(numbers, static_cast<unsigned long long>(i)));
  return {};
}

Status FakeOracleDevice::Poison(const OracleBuffer& buffer, uint32_t pattern) {
  const uint32_t word = PoisonWord(pattern);
  auto* bytes = static_cast<char*>(buffer.mapping);
  for (uint64_t i = 0; i < buffer.handle.mapping_bytes; ++i)
    bytes[i] = static_cast<char>(word >> (8 * (i % 4)));
  return {};
}

Status FakeOracleDevice::Zero(const OracleBuffer& buffer) {
  std::memset(buffer.data, 0, buffer.handle.size);
  return {};
}

Result<std::optional<uint64_t>> FakeOracleDevice::FindDamage(const OracleBuffer& buffer,
                                                             uint32_t pattern) {
  const uint32_t word = PoisonWord(pattern);
  const auto* bytes = static_cast<const char*>(buffer.mapping);
  const uint64_t begin = buffer.handle.offset, end = begin + buffer.handle.size;
  for (uint64_t i = 0; i < buffer.handle.mapping_bytes; ++i)
    if ((i < begin || i >= end) && bytes[i] != static_cast<char>(word >> (8 * (i % 4)))) return i;
  return std::nullopt;
}

Result<uint64_t> FakeOracleDevice::Digest(const OracleBuffer& buffer) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  const auto* bytes = static_cast<const unsigned char*>(buffer.data);
  for (uint64_t i = 0; i < buffer.handle.size; ++i) hash = (hash ^ bytes[i]) * 0x100000001B3;
  return hash;
}

Result<std::vector<double>> FakeOracleDevice::Time(size_t count,
                                                   const std::function<void(size_t)>& run) {
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) {
    const auto began = std::chrono::steady_clock::now();
    run(i);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    times.push_back(time_us > 0 ? time_us : took.count());
  }
  return times;
}

}  // namespace warpsmith
