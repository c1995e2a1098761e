// Fetches announced weights from the learner, chunk by chunk with a window, checks each chunk and
// the whole, and leaves them as a file. Its own thread owns the connection and the folder.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "common/net/transport.h"
#include "common/runtime/bounded_queue.h"
#include "worker/core/worker_core.h"

namespace warpsmith {

class WeightsPuller {
 public:
  struct Options {
    std::filesystem::path directory;              // emptied at start: weights are pulled anew
    int window = 4;                               // chunks asked for at once
    Duration repeat = std::chrono::seconds(2);    // a chunk that did not come is asked for again
    Duration silence = std::chrono::seconds(20);  // no chunk for so long: the pull fails
    uint64_t most_bytes = 8ull << 30;
    size_t runs_kept = 64;  // files of runs pulled for longer ago are removed
  };

  // `tell` gets WeightsPulled or WeightsPullFailed for each Pull, on this object's thread.
  WeightsPuller(Options options, std::function<void(WorkerEvent)> tell);
  ~WeightsPuller();

  void Pull(WeightsAnnouncement announcement);  // thread-safe

 private:
  void Run();
  Result<std::filesystem::path> Fetch(const WeightsAnnouncement& announcement);
  std::filesystem::path PathOf(const WeightsAnnouncement& announcement) const;
  std::filesystem::path PartOf(const WeightsAnnouncement& announcement) const;
  Status Connect(const std::string& endpoint);
  // Keeps the run's newest two files (the older one may be loading at this moment), and the folders
  // of so many runs.
  void Prune(const std::filesystem::path& newest);

  const Options options_;
  const std::function<void(WorkerEvent)> tell_;
  BoundedQueue<WeightsAnnouncement> pulls_;
  std::atomic<bool> stopping_ = false;
  std::string endpoint_;
  std::unique_ptr<Transport> transport_;
  std::jthread thread_;
};

}  // namespace warpsmith
