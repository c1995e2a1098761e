#include "tests/simulation/sim_worker.h"

namespace warpsmith::sim {

using std::chrono::milliseconds;

namespace {

// What the real supervisor allows, to the scale of this world's leases.
constexpr Duration kLongestAnswer = std::chrono::seconds(20);

}  // namespace

SimWorker::SimWorker(WorkerWorld& world, std::string host, uint32_t capacity)
    : world_(world), host_(std::move(host)), capacity_(capacity), alarm_(world.clockwork, [this] {
        if (up()) Step(TimePassed{});
      }) {}

void SimWorker::Boot() {
  id_ = WorkerId(host_ + "-" + std::to_string(++life_));
  WorkerCoreOptions options;
  options.name = host_;
  DeviceFacts device;
  device.kind = DeviceKind::kSimulated;
  options.devices = {device};
  options.policies = {"random", "grammar"};
  options.capacity = capacity_;
  options.longest_answer = kLongestAnswer;
  core_ = std::make_unique<WorkerCore>(options);
  policy_.clear();
  Step(Started{});
}

void SimWorker::Crash() { core_.reset(); }

void SimWorker::Hear(const WorkerId& to, CoordinatorToWorker message) {
  if (up() && to == id_) Step(Heard{std::move(message)});
}

void SimWorker::Step(WorkerEvent event) {
  for (WorkerEffect& effect : core_->Step(world_.clockwork.now(), std::move(event))) {
    if (!up()) return;
    std::visit([&](auto& what) { Do(what); }, effect);
  }
  if (up()) alarm_.Set(core_->NextDeadline());
}

void SimWorker::Later(Duration low, Duration high, std::function<void()> what) {
  const auto spread = static_cast<uint64_t>((high - low).count()) + 1;
  world_.clockwork.After(low + Duration(static_cast<int64_t>(world_.random.Below(spread))),
                         [this, life = life_, what = std::move(what)] {
                           if (up() && life == life_) what();
                         });
}

void SimWorker::Do(SendMessage& effect) { world_.send(host_, id_, std::move(effect.message)); }

void SimWorker::Do(Evaluate& effect) {
  if (hangs_) return;
  Later(world_.evaluation + milliseconds(10), world_.evaluation + milliseconds(300),
        [this, order = std::move(effect)] {
          Step(Evaluated{order.id, Judge(order), 0});
        });
}

Evaluation SimWorker::Judge(const Evaluate& order) {
  Evaluation evaluation;
  evaluation.task = order.task.id;
  evaluation.depth = order.depth;
  const double luck = world_.random.Uniform();
  const bool sick = world_.clockwork.now() < sick_until_;
  if (luck < (sick ? 0.3 : 0.005) && !healthy_) {
    evaluation.outcome = Infrastructure{InfrastructureKind::kDeviceLost, "pretended"};
  } else if (luck < (sick ? 0.9 : 0.05) && !healthy_) {
    evaluation.outcome = Infrastructure{InfrastructureKind::kTooNoisy, "pretended"};
  } else if (luck < 0.5) {
    evaluation.outcome = CompileError{"pretended"};
  } else {
    evaluation.outcome = Correct{{}, 0.5 + 2 * world_.random.Uniform()};
  }
  return evaluation;
}

void SimWorker::Do(AskPolicy& effect) {
  Later(milliseconds(2), milliseconds(50), [this, ask = std::move(effect.message)] {
    if (const auto* load = std::get_if<LoadWeights>(&ask)) {
      policy_[load->run] = load->version;
      world_.invariants.Loaded(id_, load->run, load->version);
      Step(PolicyReplied{WeightsLoaded{load->id, load->run, load->version, ""}});
      return;
    }
    const auto& act = std::get<ActRequest>(ask);
    ActReply reply{act.id, {}, ""};
    for (size_t i = 0; i < act.episodes.size(); ++i)
      reply.actions.push_back({{1}, {-0.5F}, {1}, policy_[act.run], "candidate"});
    Step(PolicyReplied{std::move(reply)});
  });
}

void SimWorker::Do(PullWeights& effect) {
  Later(milliseconds(5), milliseconds(400), [this, what = std::move(effect.announcement)] {
    if (world_.can_pull(what))
      Step(WeightsPulled{what.run, what.version, "weights"});
    else
      Step(WeightsPullFailed{what.run, what.version, "the learner is away"});
  });
}

void SimWorker::Do(Exit&) {
  Crash();
  world_.clockwork.After(milliseconds(500), [this] {
    if (!up()) Boot();
  });
}

}  // namespace warpsmith::sim
