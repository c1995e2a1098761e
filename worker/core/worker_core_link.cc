#include <utility>

#include "worker/core/worker_core_impl.h"

namespace warpsmith {

void WorkerCore::Impl::Register() {
  RegisterWorker message{.name = options.name,
                         .devices = options.devices,
                         .policies = options.policies,
                         .capacity = options.capacity};
  offered.clear();
  for (const auto& [id, job] : jobs) {
    message.held.push_back({id, job.fence, job.device_index});
    offered.insert(id);
  }
  Send(std::move(message));
  link.RegistrationSent(now);
}

void WorkerCore::Impl::BeginRegistering() {
  link.BeginRegistering();
  Register();
}

void WorkerCore::Impl::On(const WelcomeWorker& welcome) {
  const bool was_registering = link.Welcomed(now, welcome);
  for (const HeldLease& adopted : welcome.adopted) {
    if (WorkerJob* job = Find(adopted.job); job && adopted.fence >= job->fence) {
      job->fence = adopted.fence;
      spool.Refence(job->id, job->fence);
    }
    offered.erase(adopted.job);
  }
  if (was_registering) {
    for (JobId id : std::exchange(offered, {})) Drop(id, "not adopted by the coordinator");
    spool.SendAllAgain(now);
    for (const WeightsInUse& in_use : weights.InUse()) Send(in_use);
    for (const WeightsRefused& refused : weights.Refused()) Send(refused);
    if (drain_deadline) Send(Leaving{});
    Say("registered",
        {{"epoch", std::to_string(link.epoch())}, {"jobs", std::to_string(jobs.size())}});
  }
}

void WorkerCore::Impl::On(const Refused& refused) {
  End(2, "the coordinator refuses this worker: " + refused.why);
}

void WorkerCore::Impl::On(const Unknown&) {
  if (link.registered()) BeginRegistering();
}

// Of a later release; what this worker must know, its coordinator says in words of this one.
void WorkerCore::Impl::On(const Unrecognized& message) {
  Say("message_unrecognized", {{"number", std::to_string(message.number)}});
}

void WorkerCore::Impl::On(const HeartbeatReply& reply) {
  if (link.registered() && reply.epoch != link.epoch()) BeginRegistering();
}

void WorkerCore::Impl::PollLink() {
  if (link.RegisterDue(now)) Register();
  if (link.Fenced(now, !jobs.empty())) {
    Say("fenced", {{"jobs", std::to_string(jobs.size())},
                   {"why", "no word from the coordinator for a lease time"}});
    while (!jobs.empty()) Drop(jobs.begin()->first, "fenced");
    if (link.registered()) BeginRegistering();
  }
  if (link.TakeHeartbeat(now)) Send(Heartbeat{});
}

}  // namespace warpsmith
