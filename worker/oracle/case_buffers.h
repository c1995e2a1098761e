// Sets of buffers for one case of one candidate: inputs, outputs and temps in the order of the
// plan, on the oracle's device, lent to the runner. Thread-compatible: the oracle's one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/model/plan.h"
#include "schema/child.h"
#include "worker/device/oracle_device.h"
#include "worker/oracle/values.h"

namespace warpsmith {

class BufferSet {
 public:
  BufferSet(OracleDevice& device, const Task& task, const Case& of, uint32_t case_number,
            const ResolvedPlan& plan, uint32_t number)
      : device_(device),
        task_(task),
        case_(of),
        case_number_(case_number),
        plan_(plan),
        number_(number) {}
  BufferSet(const BufferSet&) = delete;
  BufferSet& operator=(const BufferSet&) = delete;
  ~BufferSet();

  // kExhausted: the device's memory.
  Status Allocate(Placement placement);
  // Poison everywhere, inputs' surroundings included, then the inputs' content.
  Status Fill(uint64_t seed, uint32_t pattern);
  // Remembers what the inputs hold, for InputWritten.
  Status Remember();

  // The name of an input that changed since Remember.
  Result<std::optional<std::string>> InputWritten();
  // Where somebody wrote outside of a buffer: "output y: something was written at byte 0 past its
  // end".
  Result<std::optional<std::string>> WrittenOutside();
  // A digest an output, in order.
  Result<std::vector<uint64_t>> OutputDigests();
  // Output number `output` becomes poison again, as before the run.
  Status PoisonOutput(size_t output);

  BindBuffers binding() const;
  std::vector<int> fds() const;
  OracleDevice& device() const { return device_; }
  uint32_t number() const { return number_; }
  const std::vector<TensorView>& input_views() const { return inputs_; }
  const Values& outputs() const { return outputs_; }
  const Values& inputs() const { return input_values_; }
  uint64_t bytes() const;

 private:
  OracleDevice& device_;
  const Task& task_;
  const Case& case_;
  uint32_t case_number_;
  const ResolvedPlan& plan_;
  uint32_t number_;
  uint32_t pattern_ = 0;
  std::vector<OracleBuffer> held_;
  std::vector<TensorView> inputs_;
  Values outputs_, input_values_;
  std::vector<uint64_t> remembered_;
};

}  // namespace warpsmith
