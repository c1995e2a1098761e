#include "coordinator/shell/stream_publisher.h"

#include <algorithm>

#include "common/runtime/log.h"

namespace warpsmith {
namespace {

auto Now() { return std::chrono::steady_clock::now(); }

}  // namespace

StreamPublisher::StreamPublisher(std::unique_ptr<TrajectoryQueue> queue,
                                 std::unique_ptr<StreamReader> reader,
                                 std::function<void(RedisHealth)> health,
                                 StreamPublisherOptions options)
    : queue_(std::move(queue)),
      reader_(std::move(reader)),
      health_(std::move(health)),
      options_(options),
      thread_([this] { Loop(); }) {}

StreamPublisher::~StreamPublisher() { commands_.Close(); }

Duration StreamPublisher::NextWait() const {
  if (!healthy_) return std::max<Duration>(retry_at_ - Now(), Duration{});
  return options_.check;
}

void StreamPublisher::Loop() {
  for (;;) {
    auto command = commands_.PopFor(NextWait());
    if (!command && commands_.closed()) return;
    for (; command; command = commands_.TryPop())
      std::visit([&](auto& what) { Apply(what); }, *command);
    if (!healthy_ && Now() < retry_at_) continue;
    const Status status = Work();
    if (status) {
      if (!healthy_) health_({true, ""});
      healthy_ = true;
      backoff_ = {};
      continue;
    }
    backoff_ = backoff_ == Duration{} ? options_.backoff
                                      : std::min<Duration>(backoff_ * 2, options_.backoff_cap);
    retry_at_ = Now() + backoff_;
    if (healthy_) health_({false, status.error().message});
    healthy_ = false;
  }
}

void StreamPublisher::Apply(OpenStream& command) {
  Stream& stream = streams_[command.run];
  if (!stream.name.empty() && stream.name != command.stream) drops_.insert(stream.name);
  drops_.erase(command.stream);
  stream = {command.stream, command.base, command.end, command.base, 0, {}, Now()};
}

void StreamPublisher::Apply(ExtendStream& command) {
  const auto stream = streams_.find(command.run);
  if (stream == streams_.end()) return;  // no learner yet: the stream's opening will tell the end
  stream->second.end = std::max(stream->second.end, command.end);
  stream->second.moved = Now();
}

void StreamPublisher::Apply(TrimStream& command) {
  const auto found = streams_.find(command.run);
  if (found == streams_.end()) return;
  Stream& stream = found->second;
  stream.base = std::max(stream.base, command.below);
  stream.next = std::max(stream.next, stream.base);
  stream.moved = Now();
}

void StreamPublisher::Apply(CloseStream& command) {
  const auto stream = streams_.find(command.run);
  if (stream == streams_.end()) return;
  drops_.insert(stream->second.name);
  streams_.erase(stream);
}

Status StreamPublisher::Work() {
  while (!drops_.empty()) {
    RETURN_IF_ERROR(queue_->Drop(*drops_.begin()));
    drops_.erase(drops_.begin());
  }
  for (auto& [run, stream] : streams_) RETURN_IF_ERROR(Serve(run, stream));
  // With nothing to publish nobody else would notice that Redis is away.
  if (streams_.empty()) return queue_->Ping();
  return {};
}

Status StreamPublisher::Serve(RunId run, Stream& stream) {
  if (Now() - stream.checked >= options_.check || !healthy_) {
    ASSIGN_OR_RETURN(const uint64_t held, queue_->End(stream.name));
    if (held < stream.next && stream.base < stream.next) {
      LogWarn("stream_lost", {{"run", run}, {"held", held}, {"published", stream.next}});
      stream.next = stream.base;
    }
    stream.checked = Now();
  }
  if (stream.next == stream.end && stream.base < stream.end &&
      Now() - stream.moved >= options_.stalled) {
    // A loss that the end does not show: a wipe between two publications.
    stream.next = stream.base;
    stream.moved = Now();
  }
  while (stream.next < stream.end) {
    const size_t limit = std::min<uint64_t>(options_.batch, stream.end - stream.next);
    ASSIGN_OR_RETURN(auto entries, reader_->Read(run, stream.next, limit));
    if (entries.empty())
      return Fail(ErrorCode::kInternal, "the store lacks a trajectory to publish");
    std::vector<QueuedTrajectory> batch;
    for (StreamEntry& entry : entries)
      batch.push_back({"", entry.publish_seq, std::move(entry.payload)});
    const uint64_t next = batch.back().publish_seq + 1;
    RETURN_IF_ERROR(queue_->Publish(stream.name, batch));
    stream.next = next;
  }
  if (stream.trimmed < stream.base) {
    RETURN_IF_ERROR(queue_->Trim(stream.name, stream.base));
    stream.trimmed = stream.base;
  }
  return {};
}

}  // namespace warpsmith
