// Content of cases and the error bounds that a strict baseline sets for them.
#pragma once

#include <span>
#include <vector>

#include "common/base/result.h"
#include "common/model/plan.h"
#include "common/model/task.h"
#include "worker/device/oracle_device.h"
#include "worker/judgement/verdict.h"
#include "worker/oracle/reference.h"

namespace warpsmith {

constexpr int kBoundSeeds = 8;

// How an input of a case is drawn. `buffers` are the task's for these dims.
Result<Content> ContentOf(const Task& task, const Dims& dims, std::span<const BufferSpec> buffers,
                          size_t input, uint64_t seed, uint32_t case_number);

// One set of a case's inputs, filled: released when it goes out of scope.
class DrawnInputs {
 public:
  DrawnInputs(OracleDevice& device, const Task& task, const Dims& dims,
              std::span<const BufferSpec> buffers)
      : device_(device), task_(task), dims_(dims), buffers_(buffers.begin(), buffers.end()) {}
  DrawnInputs(const DrawnInputs&) = delete;
  DrawnInputs& operator=(const DrawnInputs&) = delete;
  ~DrawnInputs();

  Status Allocate();
  Status Fill(uint64_t seed, uint32_t case_number);
  // Another content for one input alone.
  Status Refill(size_t input, uint64_t seed, uint32_t case_number);
  const std::vector<TensorView>& views() const { return views_; }

 private:
  OracleDevice& device_;
  const Task& task_;
  const Dims& dims_;
  std::vector<BufferSpec> buffers_;
  std::vector<OracleBuffer> held_;
  std::vector<TensorView> views_;
};

// What a case's outputs are held to, one entry an output, from kBoundSeeds contents that depend on
// nothing but the case's place in the task.
struct CaseBounds {
  std::vector<ErrorStats> errors;    // of the strict baseline, against fp64
  std::vector<double> expected_rms;  // of the exact values
  double baseline_us = 0;            // wall time of one call, roughly
};
Result<CaseBounds> MeasureBounds(const Task& task, size_t case_index, const Reference& reference,
                                 OracleDevice& device);

}  // namespace warpsmith
