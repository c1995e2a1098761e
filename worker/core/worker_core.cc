#include "worker/core/worker_core.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/check.h"
#include "common/model/known.h"
#include "worker/core/worker_job.h"
#include "worker/core/worker_spool.h"
#include "worker/core/worker_weights.h"

namespace warpsmith {
namespace {

// How long a draining worker waits for acknowledgements after its last job.
constexpr Duration kLinger = std::chrono::seconds(3);
constexpr int kMaxRegisterDelayFactor = 16;
// Whatever the coordinator asks for.
constexpr Duration kLeastHeartbeat = std::chrono::milliseconds(5);
// Jobs above the capacity that are still taken: a grant may cross a result on the wire.
constexpr size_t kCapacitySlack = 2;

}  // namespace

struct WorkerCore::Impl {
  explicit Impl(WorkerCoreOptions o)
      : options(std::move(o)),
        spool(options.resend_after, options.resend_burst),
        weights(options.weights_retry, options.runs_remembered) {}

  // ---- state

  enum class Link { kDown, kRegistering, kRegistered };

  struct OpenEvaluation {
    std::optional<JobId> job;  // nothing once the job is gone: the lane is still busy with it
    size_t index = 0;          // of the episode in its work, or of the candidate
    int device_index = 0;
  };
  struct OpenAsk {
    uint64_t id = 0;
    std::optional<JobId> job;  // an act; nothing once the job is gone
    std::vector<size_t> episodes;
    std::optional<LoadWeights> load;
    TimePoint since{};
  };

  WorkerCoreOptions options;
  TimePoint now{};
  WorkerEffects effects;

  Link link = Link::kDown;
  TimePoint register_at{};
  Duration register_delay{};
  TimePoint heartbeat_at{};
  TimePoint last_heard{};
  uint64_t epoch = 0;
  Duration heartbeat{};
  Duration lease{};
  std::set<JobId> offered;  // named in the last RegisterWorker

  std::map<JobId, WorkerJob> jobs;
  std::map<uint64_t, OpenEvaluation> evaluations;
  std::optional<OpenAsk> ask;
  JobId last_asked;
  std::map<int, JobId> last_started;    // by lane
  std::map<int, TimePoint> lane_moved;  // its last answer, or since when it is busy
  uint64_t last_id = 0;
  ResultSpool spool;
  WeightsBook weights;

  int sick_in_a_row = 0;
  std::optional<TimePoint> drain_deadline;
  bool handed_back = false;
  std::optional<Exit> exit_after_drain;
  bool ended = false;

  // ---- small verbs

  void Send(WorkerMessage message) { effects.push_back(SendMessage{std::move(message)}); }
  void Say(std::string event, std::vector<std::pair<std::string, std::string>> fields) {
    effects.push_back(Note{std::move(event), std::move(fields)});
  }
  void SayJob(const char* event, const WorkerJob& job, const std::string& why = {}) {
    Say(event, {{"job", std::to_string(job.id.value())},
                {"attempt", std::to_string(job.fence.attempt)},
                {"why", why}});
  }
  void SayWeights(const char* event, RunId run, PolicyVersion version,
                  const std::string& why = {}) {
    Say(event,
        {{"run", std::to_string(run.value())}, {"version", ToString(version)}, {"why", why}});
  }

  WorkerJob* Find(JobId id) {
    auto it = jobs.find(id);
    return it == jobs.end() ? nullptr : &it->second;
  }

  void End(int status, std::string why) {
    if (ended) return;
    ended = true;
    effects.push_back(Exit{status, std::move(why)});
  }

  // ---- registration

  void Register() {
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
    register_at = now + register_delay;
    register_delay = std::min(register_delay * 2, options.register_retry * kMaxRegisterDelayFactor);
  }

  void BeginRegistering() {
    link = Link::kRegistering;
    register_delay = options.register_retry;
    Register();
  }

  void On(const WelcomeWorker& welcome) {
    bool was_registering = link == Link::kRegistering;
    link = Link::kRegistered;
    epoch = welcome.epoch;
    heartbeat = welcome.heartbeat;
    lease = welcome.lease;
    heartbeat_at = now + std::max<Duration>(heartbeat / 2, kLeastHeartbeat);
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
      Say("registered", {{"epoch", std::to_string(epoch)}, {"jobs", std::to_string(jobs.size())}});
    }
  }

  void On(const Refused& refused) { End(2, "the coordinator refuses this worker: " + refused.why); }

  // Of a later release; what this worker must know, its coordinator says in words of this one.
  void On(const Unrecognized& message) {
    Say("message_unrecognized", {{"number", std::to_string(message.number)}});
  }

  void On(const Unknown&) {
    if (link == Link::kRegistered) BeginRegistering();
  }

  void On(const HeartbeatReply& reply) {
    if (link == Link::kRegistered && reply.epoch != epoch) BeginRegistering();
  }

  // ---- jobs

  void On(AssignJob assign) {
    // Before it is welcomed again the worker cannot know whether this grant still stands: its lease
    // ends, and the job goes out again.
    if (link != Link::kRegistered) return;
    if (WorkerJob* held = Find(assign.job)) {
      if (assign.fence <= held->fence) return;  // a copy of a grant
      Drop(assign.job, "granted again under another fence");
    }
    auto refuse = [&](InfrastructureKind kind, std::string why) {
      Send(JobFailed{assign.job, assign.fence, kind, std::move(why)});
    };
    if (const Status known = CheckKnown(assign.body); !known)
      return refuse(InfrastructureKind::kInternal, known.error().message);
    if (drain_deadline) return refuse(InfrastructureKind::kWorkerLost, "the worker is leaving");
    if (jobs.size() >= options.capacity + kCapacitySlack) {
      return refuse(InfrastructureKind::kInternal, "the worker holds all the jobs it can");
    }
    if (assign.device_index < 0 ||
        static_cast<size_t>(assign.device_index) >= options.devices.size()) {
      return refuse(InfrastructureKind::kDeviceLost, "the worker has no such lane");
    }
    WorkerJob job{.id = assign.job,
                  .fence = assign.fence,
                  .device_index = assign.device_index,
                  .deadline = now + assign.total_deadline,
                  .progress_at = now,
                  .renew_at = now + RenewInterval()};
    if (auto* rollout = std::get_if<RolloutJob>(&assign.body)) {
      if (std::find(options.policies.begin(), options.policies.end(), rollout->policy) ==
          options.policies.end()) {
        return refuse(InfrastructureKind::kInternal,
                      "the worker runs no policy " + rollout->policy);
      }
      weights.KnowPolicy(rollout->run, rollout->policy);
      RolloutWork work{.job = std::move(*rollout)};
      for (uint32_t number : work.job.episodes) {
        // A result that still waits here need not be made again: it goes out once more.
        if (spool.Holds(TrajectoryId{work.job.run, work.job.group, number})) continue;
        work.episodes.emplace_back(number, work.job.seed, work.job.turns, work.job.reward);
      }
      job.work = std::move(work);
    } else {
      EvaluationWork work{.job = std::move(std::get<EvaluationJob>(assign.body))};
      work.tries.resize(work.job.candidates.size());
      for (size_t index = 0; index < work.job.candidates.size(); ++index) {
        if (!spool.HoldsVerdict(std::pair(assign.job, static_cast<uint32_t>(index)))) {
          job.ready.push_back(index);
        }
      }
      work.left = job.ready.size();
      job.work = std::move(work);
    }
    spool.Refence(job.id, job.fence);
    SayJob("job_began", job);
    jobs.emplace(job.id, std::move(job));
    Retire(assign.job);
  }

  void On(const CancelJob& cancel) {
    WorkerJob* job = Find(cancel.job);
    if (job && job->fence == cancel.fence) Drop(cancel.job, "cancelled");
  }

  // Stops working on it; results in the spool stay there.
  void Drop(JobId id, const std::string& why) {
    WorkerJob* job = Find(id);
    if (!job) return;
    if (!job->Finished()) SayJob("job_dropped", *job, why);
    if (ask && ask->job == id) ask->job.reset();
    for (auto& [number, open] : evaluations) {
      if (open.job == id) open.job.reset();
    }
    jobs.erase(id);
  }

  void Fail(JobId id, InfrastructureKind kind, const std::string& detail,
            bool policy_refuses = false) {
    WorkerJob* job = Find(id);
    if (!job) return;
    FlushSpool();  // what it finished goes out before the word that it failed
    SayJob("job_failed", *job, detail);
    Send(JobFailed{id, job->fence, kind, detail, policy_refuses});
    Drop(id, "failed");
  }

  // Forgets a job whose results are all acknowledged.
  void Retire(JobId id) {
    WorkerJob* job = Find(id);
    if (job && job->Finished() && spool.Of(id) == 0) jobs.erase(id);
  }

  void Moved(WorkerJob& job) { job.moved = true; }

  Duration RenewInterval() const { return std::max(lease / 3, options.progress_interval); }

  bool Busy(int lane) const {
    return std::any_of(evaluations.begin(), evaluations.end(),
                       [&](const auto& item) { return item.second.device_index == lane; });
  }

  // Whether something of the job is with its lane or with the policy, or next in line there, and
  // the supervisor's limits for an answer have not passed.
  bool Stands(const WorkerJob& job) const {
    if (job.Finished()) return false;
    const auto within = [&](TimePoint since) { return now - since < options.longest_answer; };
    const bool at_lane = !job.ready.empty() ||
                         std::any_of(evaluations.begin(), evaluations.end(),
                                     [&](const auto& item) { return item.second.job == job.id; });
    if (at_lane && Busy(job.device_index) && within(lane_moved.at(job.device_index))) return true;
    const auto* work = std::get_if<RolloutWork>(&job.work);
    if (!work || !ask || !within(ask->since)) return false;
    if (ask->load && ask->load->run == work->job.run) return true;
    if (weights.loaded(work->job.run) < work->job.min_version) return false;
    return std::any_of(work->episodes.begin(), work->episodes.end(), [](const EpisodeRun& episode) {
      return episode.state() == EpisodeRun::State::kActing ||
             episode.state() == EpisodeRun::State::kWaiting;
    });
  }

  // ---- results

  void On(const AckTrajectory& ack) { Acknowledged(ack.id); }
  void On(const AckEvaluation& ack) { Acknowledged(std::pair(ack.job, ack.index)); }

  void Acknowledged(const ResultKey& key) {
    if (!spool.Acknowledge(key)) return;
    std::vector<JobId> held;
    for (const auto& [id, job] : jobs) held.push_back(id);
    for (JobId id : held) Retire(id);
  }

  // ---- evaluations

  void Start(WorkerJob& job, size_t index) {
    uint64_t id = ++last_id;
    if (!Busy(job.device_index)) lane_moved[job.device_index] = now;
    evaluations[id] = {job.id, index, job.device_index};
    Evaluate effect{.id = id, .device_index = job.device_index};
    if (auto* rollout = std::get_if<RolloutWork>(&job.work)) {
      effect.task = rollout->job.task;
      effect.candidate = rollout->episodes[index].candidate();
      effect.depth = Depth::kScreen;
    } else {
      const auto& list = std::get<EvaluationWork>(job.work);
      effect.task = list.job.task;
      effect.candidate = list.job.candidates[index];
      effect.depth = list.job.depth;
    }
    effects.push_back(std::move(effect));
  }

  void On(Evaluated event) {
    auto it = evaluations.find(event.id);
    if (it == evaluations.end()) return;
    OpenEvaluation open = it->second;
    evaluations.erase(it);
    lane_moved[open.device_index] = now;
    if (!open.job) return;  // of work that was dropped
    WorkerJob& job = *Find(*open.job);
    ++job.evaluations;
    Moved(job);
    if (!IsInfrastructure(event.evaluation.outcome)) sick_in_a_row = 0;
    if (std::holds_alternative<RolloutWork>(job.work)) {
      EpisodeEvaluated(job, open.index, std::move(event));
    } else {
      CandidateEvaluated(job, open.index, std::move(event));
    }
  }

  void EpisodeEvaluated(WorkerJob& job, size_t index, Evaluated event) {
    auto& work = std::get<RolloutWork>(job.work);
    EpisodeRun& episode = work.episodes[index];
    std::string label = OutcomeLabel(event.evaluation.outcome);
    switch (episode.Evaluated(std::move(event.evaluation))) {
      case EpisodeRun::Next::kTryAgain: return job.ready.push_front(index);
      case EpisodeRun::Next::kTurn: return;
      case EpisodeRun::Next::kDeviceGone: return DeviceGone(job, label);
      case EpisodeRun::Next::kEnded: break;
    }
    Trajectory trajectory{.id = {work.job.run, work.job.group, episode.number()},
                          .task = work.job.task.id,
                          .turns = episode.turns(),
                          .device = options.devices[static_cast<size_t>(job.device_index)],
                          .finished_at_ms = event.wall_clock_ms};
    TrajectoryId id = trajectory.id;
    spool.Add(now, id, TrajectoryResult{job.id, job.fence, std::move(trajectory)});
  }

  void CandidateEvaluated(WorkerJob& job, size_t index, Evaluated event) {
    auto& work = std::get<EvaluationWork>(job.work);
    if (const auto* trouble = std::get_if<Infrastructure>(&event.evaluation.outcome)) {
      if (++work.tries[index] < 2) return job.ready.push_front(index);
      if (MeansDeviceGone(trouble->kind)) {
        return DeviceGone(job, OutcomeLabel(event.evaluation.outcome));
      }
    }
    --work.left;
    uint32_t number = static_cast<uint32_t>(index);
    spool.Add(now, std::pair(job.id, number),
              EvaluationResult{job.id, job.fence, number, std::move(event.evaluation)});
  }

  // The job is lost to its device. A worker that loses job after job must not go on drawing them.
  void DeviceGone(WorkerJob& job, const std::string& label) {
    Fail(job.id, InfrastructureKind::kDeviceSick, "the device cannot judge: " + label);
    if (++sick_in_a_row < options.sick_jobs || drain_deadline) return;
    exit_after_drain =
        Exit{3, "its device failed " + std::to_string(sick_in_a_row) + " jobs in a row: " + label};
    BeginDrain(Duration::zero());
  }

  // ---- the policy

  void On(const PolicyReplied& event) {
    std::visit([&](const auto& reply) { Replied(reply); }, event.message);
  }

  void Replied(const ActReply& reply) {
    if (!ask || ask->load || ask->id != reply.id) return;
    OpenAsk answered = *std::exchange(ask, std::nullopt);
    WorkerJob* job = answered.job ? Find(*answered.job) : nullptr;
    if (!job) return;
    auto& work = std::get<RolloutWork>(job->work);
    if (!reply.problem.empty())
      return Fail(job->id, InfrastructureKind::kInternal, "the policy cannot act: " + reply.problem,
                  true);
    if (reply.actions.size() != answered.episodes.size())
      return Fail(job->id, InfrastructureKind::kInternal,
                  "the policy gave a wrong number of actions");
    bool outdated = std::any_of(reply.actions.begin(), reply.actions.end(),
                                [&](const Action& a) { return a.version < work.job.min_version; });
    if (outdated) {
      // The child has forgotten the run's weights: they are loaded again before it is asked again.
      weights.Unloaded(work.job.run);
      return ActFailed(*job, answered.episodes, "the policy acted with weights older than asked");
    }
    Moved(*job);
    for (size_t i = 0; i < answered.episodes.size(); ++i) {
      work.episodes[answered.episodes[i]].Acted(reply.actions[i]);
      job->ready.push_back(answered.episodes[i]);
    }
  }

  void Replied(const Unrecognized&) {}  // the shell lets none through

  void Replied(const WeightsLoaded& reply) {
    if (!ask || !ask->load || ask->id != reply.id) return;
    LoadWeights load = *std::exchange(ask, std::nullopt)->load;
    if (!reply.problem.empty()) {
      SayWeights("weights_not_loaded", load.run, load.version, reply.problem);
      if (weights.LoadFailed(now, load, reply.problem)) Refuse(load);
      return;
    }
    weights.Loaded(load.run, load.version);
    SayWeights("weights_in_use", load.run, load.version);
    Send(WeightsInUse{load.run, weights.loaded(load.run)});
  }

  void On(const PolicyLost& event) {
    weights.Unloaded();
    if (!ask) return;
    OpenAsk lost = *std::exchange(ask, std::nullopt);
    if (lost.load && weights.LoadDied(*lost.load, "the policy process dies of them: " + event.why))
      Refuse(*lost.load);
    if (WorkerJob* job = lost.job ? Find(*lost.job) : nullptr) {
      ActFailed(*job, lost.episodes, "the policy process died: " + event.why);
    }
  }

  void ActFailed(WorkerJob& job, const std::vector<size_t>& episodes, const std::string& why) {
    auto& work = std::get<RolloutWork>(job.work);
    for (size_t index : episodes) work.episodes[index].ActFailed();
    if (++job.policy_failures >= options.policy_failures) {
      Fail(job.id, InfrastructureKind::kInternal, why);
    }
  }

  void Refuse(const LoadWeights& load) {
    SayWeights("weights_refused", load.run, load.version);
    SendRefused(load.run);
  }

  void SendRefused(RunId run) {
    for (WeightsRefused& refused : weights.Refused()) {
      if (refused.run == run) Send(std::move(refused));
    }
  }

  void On(const WeightsAnnouncement& announcement) {
    bool in_use_already = weights.Announce(announcement);
    if (weights.Refuses(announcement.run, announcement.version)) {
      return SendRefused(announcement.run);  // what was said before may be lost
    }
    if (!in_use_already) return;
    for (const WeightsInUse& in_use : weights.InUse()) {
      if (in_use.run == announcement.run) Send(in_use);
    }
  }

  void On(const WeightsPulled& event) {
    if (weights.Pulled(event.run, event.version, event.path)) {
      Send(WeightsInUse{event.run, event.version});
    }
  }

  void On(const WeightsPullFailed& event) {
    SayWeights("weights_pull_failed", event.run, event.version, event.why);
    weights.PullFailed(now, event.run);
  }

  bool AskForLoad() {
    std::optional<LoadWeights> load = weights.NextLoad();
    if (!load) return false;
    load->id = ++last_id;
    ask = OpenAsk{.id = load->id, .load = *load, .since = now};
    effects.push_back(AskPolicy{*std::move(load)});
    return true;
  }

  bool AskForActions(WorkerJob& job) {
    auto* work = std::get_if<RolloutWork>(&job.work);
    if (!work || weights.loaded(work->job.run) < work->job.min_version) return false;
    ActRequest request{.run = work->job.run,
                       .policy = work->job.policy,
                       .task = work->job.task,
                       .device = options.devices[static_cast<size_t>(job.device_index)]};
    OpenAsk open{.job = job.id, .since = now};
    for (size_t i = 0; i < work->episodes.size(); ++i) {
      EpisodeRun& episode = work->episodes[i];
      if (episode.state() != EpisodeRun::State::kWaiting) continue;
      request.episodes.push_back(episode.Observe());
      episode.BeginAct();
      open.episodes.push_back(i);
    }
    if (open.episodes.empty()) return false;
    request.id = open.id = ++last_id;
    ask = std::move(open);
    last_asked = job.id;
    effects.push_back(AskPolicy{std::move(request)});
    return true;
  }

  // ---- draining

  void On(const DrainRequested& event) { BeginDrain(event.grace); }

  void BeginDrain(Duration grace) {
    if (!drain_deadline) {
      Say("draining", {{"jobs", std::to_string(jobs.size())}});
      Send(Leaving{});
    }
    TimePoint deadline = now + grace;
    drain_deadline = drain_deadline ? std::min(*drain_deadline, deadline) : deadline;
  }

  void PollDrain() {
    if (!drain_deadline) return;
    if (now >= *drain_deadline && !handed_back) {
      handed_back = true;
      std::vector<JobId> unfinished;
      for (const auto& [id, job] : jobs) {
        if (!job.Finished()) unfinished.push_back(id);
      }
      for (JobId id : unfinished) Fail(id, InfrastructureKind::kWorkerLost, "the worker stops");
    }
    bool working = std::any_of(jobs.begin(), jobs.end(),
                               [](const auto& item) { return !item.second.Finished(); });
    if (working || (spool.size() > 0 && now < *drain_deadline + kLinger)) return;
    if (exit_after_drain) return End(exit_after_drain->status, exit_after_drain->why);
    End(0,
        spool.size() == 0 ? "drained" : "drained, unacknowledged=" + std::to_string(spool.size()));
  }

  // ---- what is due, after every event

  void On(const Started&) { BeginRegistering(); }
  void On(const Tick&) {}
  void On(Heard event) {
    last_heard = now;
    std::visit([&](auto& message) { On(std::move(message)); }, event.message);
  }

  void PollLink() {
    if (link == Link::kRegistering && now >= register_at) Register();
    if (link != Link::kDown && lease > Duration::zero() && now - last_heard >= lease &&
        (link == Link::kRegistered || !jobs.empty())) {
      Say("fenced", {{"jobs", std::to_string(jobs.size())},
                     {"why", "no word from the coordinator for a lease time"}});
      while (!jobs.empty()) Drop(jobs.begin()->first, "fenced");
      if (link == Link::kRegistered) BeginRegistering();
    }
    if (link == Link::kRegistered && now >= heartbeat_at) {
      Send(Heartbeat{});
      heartbeat_at = now + std::max<Duration>(heartbeat / 2, kLeastHeartbeat);
    }
  }

  // Jobs whose weights this worker's policy will not take: another worker's may.
  void FailHopeless() {
    std::vector<std::pair<JobId, std::string>> hopeless;
    for (const auto& [id, job] : jobs) {
      const auto* work = std::get_if<RolloutWork>(&job.work);
      if (!work || job.Finished()) continue;
      if (auto why = weights.Hopeless(work->job.run, work->job.min_version))
        hopeless.emplace_back(id, *std::move(why));
    }
    for (const auto& [id, why] : hopeless) Fail(id, InfrastructureKind::kInternal, why);
  }

  void PollJobs() {
    std::vector<JobId> late;
    for (const auto& [id, job] : jobs) {
      if (now >= job.deadline && !job.Finished()) late.push_back(id);
    }
    for (JobId id : late) Fail(id, InfrastructureKind::kInternal, "its total deadline passed");
    FailHopeless();
    for (auto& [id, job] : jobs) {
      if (link != Link::kRegistered) continue;
      if (job.moved ? now >= job.progress_at : now >= job.renew_at && Stands(job)) {
        job.moved = false;
        job.progress_at = now + options.progress_interval;
        job.renew_at = now + RenewInterval();
        Send(Progress{id, job.fence, job.evaluations});
      }
    }
  }

  // The job whose turn it is at a lane: the first after the one that was served last.
  WorkerJob* NextFor(int device_index) {
    auto waits = [&](const auto& item) {
      return item.second.device_index == device_index && !item.second.ready.empty();
    };
    auto after = jobs.upper_bound(last_started[device_index]);
    auto it = std::find_if(after, jobs.end(), waits);
    if (it == jobs.end()) it = std::find_if(jobs.begin(), after, waits);
    return it == jobs.end() || !waits(*it) ? nullptr : &it->second;
  }

  void PollLanes() {
    std::map<int, size_t> busy;
    for (const auto& [id, open] : evaluations) ++busy[open.device_index];
    for (int lane = 0; lane < static_cast<int>(options.devices.size()); ++lane) {
      while (busy[lane] < options.lane_window && !SpoolFull()) {
        WorkerJob* job = NextFor(lane);
        if (!job) break;
        size_t index = job->ready.front();
        job->ready.pop_front();
        last_started[lane] = job->id;
        ++busy[lane];
        Start(*job, index);
      }
    }
  }

  bool SpoolFull() const { return spool.size() >= options.spool_limit; }

  void PollPolicy() {
    if (ask || AskForLoad() || SpoolFull()) return;
    // In turn: the first job after the one asked for last.
    for (auto it = jobs.upper_bound(last_asked); it != jobs.end(); ++it) {
      if (AskForActions(it->second)) return;
    }
    for (auto& [id, job] : jobs) {
      if (AskForActions(job)) return;
    }
  }

  void FlushSpool() {
    if (link != Link::kRegistered) return;
    for (WorkerMessage& message : spool.Due(now)) Send(std::move(message));
  }

  void Poll() {
    PollLink();
    PollJobs();
    PollLanes();
    PollPolicy();
    while (std::optional<WeightsAnnouncement> next = weights.NextPull(now)) {
      effects.push_back(PullWeights{*std::move(next)});
    }
    FlushSpool();
    PollDrain();
  }

  std::optional<TimePoint> NextDeadline() const {
    std::optional<TimePoint> next;
    auto due = [&](std::optional<TimePoint> when) {
      if (when) next = next ? std::min(*next, *when) : *when;
    };
    if (ended) return next;
    if (link == Link::kRegistering) due(register_at);
    if (link == Link::kRegistered) {
      due(heartbeat_at);
      due(spool.NextDue());
    }
    if (lease > Duration::zero() && (link == Link::kRegistered || !jobs.empty())) {
      due(last_heard + lease);
    }
    for (const auto& [id, job] : jobs) {
      if (!job.Finished()) due(job.deadline);
      if (link != Link::kRegistered) continue;
      if (job.moved)
        due(job.progress_at);
      else if (Stands(job))
        due(job.renew_at);
    }
    due(weights.NextDeadline());
    if (drain_deadline) due(handed_back ? *drain_deadline + kLinger : *drain_deadline);
    return next;
  }
};

WorkerCore::WorkerCore(WorkerCoreOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
WorkerCore::~WorkerCore() = default;

WorkerEffects WorkerCore::Step(TimePoint now, WorkerEvent event) {
  CHECK(now >= impl_->now, "time does not go back");
  impl_->now = now;
  if (impl_->ended) return {};
  std::visit([&](auto& e) { impl_->On(std::move(e)); }, event);
  if (!impl_->ended) impl_->Poll();
  return std::exchange(impl_->effects, {});
}

std::optional<TimePoint> WorkerCore::NextDeadline() const { return impl_->NextDeadline(); }

bool WorkerCore::registered() const { return impl_->link == Impl::Link::kRegistered; }
size_t WorkerCore::jobs() const { return impl_->jobs.size(); }
size_t WorkerCore::spooled() const { return impl_->spool.size(); }

}  // namespace warpsmith
