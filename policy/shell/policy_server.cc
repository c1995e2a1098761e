#include "policy/shell/policy_server.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/check.h"
#include "common/runtime/log.h"
#include "common/wire/known.h"

namespace warpsmith {
namespace {

constexpr Duration kForever = std::chrono::hours(24);
constexpr Duration kSendLimit = std::chrono::seconds(30);

std::string UnknownKind(const std::string& kind) {
  return fmt::format("there is no policy `{}` in this program: write grammar or random", kind);
}

}  // namespace

PolicyServer::Entry* PolicyServer::Find(RunId run, const std::string& kind) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.run == run && entry.kind == kind;
  });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return &entries_.front();
  }
  std::unique_ptr<Policy> policy = make_(kind);
  if (!policy) return nullptr;
  entries_.push_front({.run = run, .kind = kind, .policy = std::move(policy)});
  while (entries_.size() > max_runs_) {
    const Entry& oldest = entries_.back();
    if (oldest.loaded) forgotten_.emplace(oldest.run, oldest.kind);
    entries_.pop_back();
  }
  return &entries_.front();
}

Result<FromPolicy> PolicyServer::Act(const ActRequest& request) {
  if (forgotten_.contains({request.run, request.policy}))
    return Fail(ErrorCode::kExhausted,
                fmt::format("the weights of run {} made room for others: load them again",
                            request.run.value()));
  ActReply reply{.id = request.id};
  Entry* entry = Find(request.run, request.policy);
  if (!entry) {
    reply.problem = UnknownKind(request.policy);
    return reply;
  }
  std::vector<Observation> observations;
  for (const Episode& episode : request.episodes)
    observations.push_back({.task = request.task,
                            .device = request.device,
                            .turns = episode.turns,
                            .seed = episode.seed});
  auto actions = entry->policy->Act(observations);
  if (actions) {
    CHECK(actions->size() == request.episodes.size(), "one action an episode");
    reply.actions = std::move(*actions);
  } else if (actions.error().code == ErrorCode::kInvalidInput) {
    reply.problem = actions.error().message;
  } else {
    return tl::unexpected(actions.error());
  }
  return reply;
}

Result<FromPolicy> PolicyServer::Load(const LoadWeights& request) {
  WeightsLoaded reply{.id = request.id, .run = request.run, .version = request.version};
  Entry* entry = Find(request.run, request.policy);
  if (!entry) {
    reply.problem = UnknownKind(request.policy);
    return reply;
  }
  if (const Status loaded = entry->policy->Load(request.path, request.version); !loaded) {
    reply.problem = loaded.error().message;
    LogWarn("weights_refused", {{"run", request.run}, {"why", reply.problem}});
    return reply;
  }
  entry->loaded = true;
  forgotten_.erase({request.run, request.policy});
  LogInfo("weights_in_use", {{"run", request.run}, {"version", ToString(request.version)}});
  return reply;
}

Result<FromPolicy> PolicyServer::Answer(const ToPolicy& question) {
  if (const auto* act = std::get_if<ActRequest>(&question)) return Act(*act);
  return Load(std::get<LoadWeights>(question));
}

Status PolicyServer::Serve(FrameSocket& parent) {
  for (;;) {
    const auto frame = parent.Receive(kForever);
    if (!frame) {
      if (frame.error().code == ErrorCode::kUnavailable) return {};
      if (frame.error().code == ErrorCode::kTimeout) continue;
      return Wrap(frame.error(), "question");
    }
    ASSIGN_OR_RETURN(const ToPolicy question, DecodeKnown<ToPolicy>(frame->bytes));
    ASSIGN_OR_RETURN(const FromPolicy answer, Answer(question));
    const Status sent = parent.Send(Encode(answer), {}, kSendLimit);
    if (!sent && sent.error().code == ErrorCode::kUnavailable) return {};
    RETURN_IF_ERROR(sent);
  }
}

}  // namespace warpsmith
