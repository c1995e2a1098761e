#include "worker/shell/weights_puller.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>
#include <vector>

#include "common/model/trajectory.h"
#include "common/net/zmq_transport.h"
#include "common/runtime/files.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"
#include "schema/learner.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxWaiting = 256;
constexpr uint32_t kLeastChunk = 1024;
constexpr uint32_t kMostChunk = 32u << 20;
constexpr Duration kLook = std::chrono::milliseconds(50);  // how often a wait looks at the clock

TimePoint Now() { return SystemClock().Now(); }

// Chunks on their way into a file: which to ask for, and what came.
class Assembly {
 public:
  Assembly(const WeightsAnnouncement& announcement, const fs::path& path, int window)
      : announcement_(announcement),
        window_(static_cast<size_t>(window)),
        file_(path, std::ios::binary | std::ios::trunc) {}

  bool Complete() const { return asked_.empty() && next_ >= announcement_.size_bytes; }

  // Offsets to ask for now.
  std::vector<uint64_t> Wanted(TimePoint now, Duration repeat) {
    while (asked_.size() < window_ && next_ < announcement_.size_bytes) {
      asked_[next_] = TimePoint::min();
      next_ += announcement_.chunk_bytes;
    }
    std::vector<uint64_t> wanted;
    for (const auto& [offset, when] : asked_) {
      if (when <= now - repeat) wanted.push_back(offset);
    }
    return wanted;
  }
  void Asked(uint64_t offset, TimePoint now) { asked_[offset] = now; }
  uint32_t SizeAt(uint64_t offset) const {
    return static_cast<uint32_t>(
        std::min<uint64_t>(announcement_.chunk_bytes, announcement_.size_bytes - offset));
  }

  // False: not one that was asked for (a late copy, or another version's).
  Result<bool> Take(const Chunk& chunk) {
    if (chunk.run != announcement_.run || chunk.version != announcement_.version) return false;
    auto it = asked_.find(chunk.offset);
    if (it == asked_.end()) return false;
    if (chunk.bytes.size() != SizeAt(chunk.offset) || Sha256Hex(chunk.bytes) != chunk.sha256) {
      return Fail(ErrorCode::kCorrupt, "a chunk does not match its digest");
    }
    file_.seekp(static_cast<std::streamoff>(chunk.offset));
    file_.write(chunk.bytes.data(), static_cast<std::streamsize>(chunk.bytes.size()));
    if (!file_) return Fail(ErrorCode::kExhausted, "the weights cannot be written: disk full?");
    asked_.erase(it);
    return true;
  }
  Status Close() {
    file_.close();
    if (!file_) return Fail(ErrorCode::kExhausted, "the weights cannot be written: disk full?");
    return {};
  }

 private:
  const WeightsAnnouncement& announcement_;
  const size_t window_;
  std::ofstream file_;
  uint64_t next_ = 0;
  std::map<uint64_t, TimePoint> asked_;  // offset -> when
};

// Removes all in `folder` but `kept` and those that changed last, `most` together.
void KeepNewest(const fs::path& folder, const fs::path& kept, size_t most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> others;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path() != kept) others.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  std::sort(others.rbegin(), others.rend());
  for (size_t i = most - 1; i < others.size(); ++i) fs::remove_all(others[i].second, ignored);
}

Result<std::string> DigestOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  Sha256 digest;
  std::string block(1 << 20, '\0');
  while (file.read(block.data(), static_cast<std::streamsize>(block.size())) || file.gcount() > 0) {
    digest.Update(std::string_view(block).substr(0, static_cast<size_t>(file.gcount())));
  }
  if (file.bad()) return Fail(ErrorCode::kInternal, "the weights cannot be read again");
  return digest.Finish();
}

}  // namespace

WeightsPuller::WeightsPuller(Options options, std::function<void(WorkerEvent)> tell)
    : options_(std::move(options)),
      tell_(std::move(tell)),
      pulls_(kMaxWaiting),
      thread_([this] { Run(); }) {}

WeightsPuller::~WeightsPuller() {
  stopping_ = true;
  pulls_.Close();
  thread_.join();
}

void WeightsPuller::Pull(WeightsAnnouncement announcement) { pulls_.Push(std::move(announcement)); }

void WeightsPuller::Run() {
  std::error_code ignored;
  fs::remove_all(options_.directory, ignored);
  while (std::optional<WeightsAnnouncement> next = pulls_.Pop()) {
    if (stopping_) break;
    Result<fs::path> file = Fetch(*next);
    if (file) {
      Prune(*file);
      tell_(WeightsPulled{next->run, next->version, file->string()});
    } else {
      transport_.reset();  // the next pull begins with a fresh connection
      fs::remove(PartOf(*next), ignored);
      tell_(WeightsPullFailed{next->run, next->version, file.error().message});
    }
  }
}

fs::path WeightsPuller::PathOf(const WeightsAnnouncement& announcement) const {
  return options_.directory / ("run-" + std::to_string(announcement.run.value())) /
         (ToString(announcement.version) + ".safetensors");
}

fs::path WeightsPuller::PartOf(const WeightsAnnouncement& announcement) const {
  return PathOf(announcement).string() + ".part";
}

Status WeightsPuller::Connect(const std::string& endpoint) {
  if (transport_ && endpoint_ == endpoint) return {};
  ASSIGN_OR_RETURN(transport_, DealerTransport::Connect(endpoint, MakeRoutingId("weights")));
  endpoint_ = endpoint;
  return {};
}

Result<fs::path> WeightsPuller::Fetch(const WeightsAnnouncement& announcement) {
  if (announcement.size_bytes == 0 || announcement.size_bytes > options_.most_bytes ||
      announcement.chunk_bytes < kLeastChunk || announcement.chunk_bytes > kMostChunk) {
    return Fail(ErrorCode::kCorrupt, "an announcement with impossible sizes");
  }
  RETURN_IF_ERROR(Connect(announcement.endpoint));
  const fs::path path = PathOf(announcement), partial = PartOf(announcement);
  RETURN_IF_ERROR(MakeDirectories(path.parent_path()));

  Assembly assembly(announcement, partial, options_.window);
  TimePoint last_chunk = Now();
  while (!assembly.Complete()) {
    if (stopping_) return Fail(ErrorCode::kUnavailable, "the worker stops");
    if (Now() - last_chunk > options_.silence) {
      return Fail(ErrorCode::kTimeout, "the learner at " + announcement.endpoint + " is silent");
    }
    for (uint64_t offset : assembly.Wanted(Now(), options_.repeat)) {
      ChunkRequest request{announcement.run, announcement.version, offset, assembly.SizeAt(offset)};
      // Refused while the connection comes up: asked for again at the next look.
      if (!transport_->Send({"", Encode(WeightsRequest(request))})) break;
      assembly.Asked(offset, Now());
    }
    std::optional<Envelope> envelope = transport_->Receive(std::min(kLook, options_.repeat));
    if (!envelope) continue;
    Result<WeightsReply> reply = Decode<WeightsReply>(envelope->bytes);
    if (!reply) return tl::unexpected(reply.error());
    if (auto* gone = std::get_if<ChunkGone>(&*reply)) {
      if (gone->run != announcement.run || gone->version != announcement.version) continue;
      return Fail(ErrorCode::kNotFound, "the learner no longer keeps these weights");
    }
    ASSIGN_OR_RETURN(bool taken, assembly.Take(std::get<Chunk>(*reply)));
    if (taken) last_chunk = Now();
  }
  RETURN_IF_ERROR(assembly.Close());
  ASSIGN_OR_RETURN(std::string digest, DigestOf(partial));
  if (digest != announcement.sha256) {
    return Fail(ErrorCode::kCorrupt, "the weights do not match their digest");
  }
  RETURN_IF_ERROR(CommitFile(partial, path));
  return path;
}

void WeightsPuller::Prune(const fs::path& newest) {
  KeepNewest(newest.parent_path(), newest, 2);
  KeepNewest(options_.directory, newest.parent_path(), options_.runs_kept);
}

}  // namespace warpsmith
