// An OracleDevice in plain memory, without a cold cache, an unmapped page or a driver: buffers are
// memfds with 64 bytes of poison on either side. For tests of the oracle alone.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "worker/device/oracle_device.h"

namespace warpsmith {

class FakeOracleDevice : public OracleDevice {
 public:
  FakeOracleDevice();
  ~FakeOracleDevice() override;

  const DeviceFacts& facts() const override { return facts_; }
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

  DeviceFacts facts_;              // tests may change what it says of itself
  uint64_t memory_left = 1 << 30;  // beyond it Allocate says kExhausted
  double time_us = 0;              // what Time says of each run; 0: what it took
  size_t held() const { return mappings_.size(); }

 private:
  struct Mapping {
    void* address;
    uint64_t bytes;
    int fd;
  };
  std::map<int, Mapping> mappings_;
  int next_id_ = 0;
};

}  // namespace warpsmith
