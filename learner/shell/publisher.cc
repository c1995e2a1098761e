#include "learner/shell/publisher.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/unique_fd.h"
#include "common/runtime/log.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"

namespace warpsmith {

WeightsReply AnswerChunkRequest(const WeightsTable& weights, const ChunkRequest& request) {
  const ChunkGone gone{request.run, request.version};
  const auto path = weights.Find(request.run, request.version);
  if (!path) return gone;
  const UniqueFd file(::open(path->c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return gone;  // pruned

  Chunk chunk{.run = request.run, .version = request.version, .offset = request.offset};
  chunk.bytes.resize(std::min(request.bytes, kChunkBytes));
  const ssize_t n = ::pread(file.get(), chunk.bytes.data(), chunk.bytes.size(),
                            static_cast<off_t>(request.offset));
  if (n < 0) return gone;
  chunk.bytes.resize(static_cast<size_t>(n));  // empty beyond the end
  chunk.sha256 = Sha256Hex(chunk.bytes);
  return chunk;
}

Publisher::Publisher(std::unique_ptr<Transport> router, const WeightsTable& weights)
    : router_(std::move(router)),
      weights_(weights),
      thread_([this](std::stop_token stop) { Serve(stop); }) {}

Publisher::~Publisher() {
  thread_.request_stop();
  router_->Wake();
}

void Publisher::Serve(std::stop_token stop) {
  pthread_setname_np(pthread_self(), "publisher");
  while (!stop.stop_requested()) {
    const auto envelope = router_->Receive(std::chrono::seconds(10));
    if (!envelope) continue;
    const auto request = Decode<WeightsRequest>(envelope->bytes);
    if (!request) {
      LogDebug("weights_request_refused", {{"why", request.error().message}});
      continue;
    }
    const auto& chunk = std::get<ChunkRequest>(*request);
    // A worker that is gone, or slow, asks again when it is back.
    (void)router_->Send({envelope->peer, Encode(AnswerChunkRequest(weights_, chunk))});
  }
}

}  // namespace warpsmith
