// The host device's OracleDevice: buffers are sealed memfds, content is
// worker/device/content_value.h's, and timing is HostRunnerDevice's form without the hand-over:
// cold caches, then this process's clock.
#pragma once

#include <map>

#include "worker/device/oracle_device.h"
#include "worker/host/cache_flush.h"
#include "worker/host/lane_clock.h"

namespace warpsmith {

// Not movable: buffers belong to it. Destroying it releases what is left.
class HostOracleDevice : public OracleDevice {
 public:
  explicit HostOracleDevice(int index = 0);
  HostOracleDevice(const HostOracleDevice&) = delete;
  HostOracleDevice& operator=(const HostOracleDevice&) = delete;
  ~HostOracleDevice() override;

  const DeviceFacts& facts() const override { return facts_; }

  // A read-only buffer's memory cannot be mapped writable again through its descriptor, whoever
  // holds it.
  Result<OracleBuffer> Allocate(uint64_t bytes, Access access, Placement placement) override;
  void Release(const OracleBuffer& buffer) override;
  Status Fill(const OracleBuffer& buffer, const Content& content) override;
  Status Poison(const OracleBuffer& buffer, uint32_t pattern) override;
  Status Zero(const OracleBuffer& buffer) override;
  Result<std::optional<uint64_t>> FindDamage(const OracleBuffer& buffer, uint32_t pattern) override;
  Result<uint64_t> Digest(const OracleBuffer& buffer) override;
  Result<ValueSums> CompareValues(const FloatingView& got, const FloatingView& expected,
                                  const ValueRule& rule) override {
    return CompareOnHost(got, expected, rule);
  }
  Status Synchronize() override { return {}; }
  Result<std::vector<double>> Time(size_t count, const std::function<void(size_t)>& run) override;

 private:
  DeviceFacts facts_;
  CacheFlusher flusher_;
  LaneClock clock_;
  std::map<int, OracleBuffer> buffers_;
  int next_id_ = 0;
};

}  // namespace warpsmith
