// Serves weights to workers that pull them: one thread, one ROUTER, chunks on request. It keeps no
// state of a worker: one that asks again is answered again.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "common/base/result.h"
#include "common/net/transport.h"
#include "learner/shell/weights_table.h"
#include "schema/learner.h"

namespace warpsmith {

constexpr uint32_t kChunkBytes = 1 << 20;

// The answer to one request: the chunk, at most kChunkBytes of it, or that it is gone.
WeightsReply AnswerChunkRequest(const WeightsTable& weights, const ChunkRequest& request);

class Publisher {
 public:
  // `weights` must outlive it.
  Publisher(std::unique_ptr<Transport> router, const WeightsTable& weights);
  ~Publisher();

 private:
  void Serve(std::stop_token stop);

  std::unique_ptr<Transport> router_;
  const WeightsTable& weights_;
  std::jthread thread_;
};

}  // namespace warpsmith
