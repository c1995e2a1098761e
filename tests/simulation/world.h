// The cluster of a simulation and its faults.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coordinator/core/coordinator.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/invariants.h"
#include "tests/simulation/network.h"
#include "tests/simulation/sim_learner.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/simulation.h"

namespace warpsmith::sim {

class World {
 public:
  explicit World(SimulationOptions options);
  SimulationResult Play();

 private:
  // Submissions of one client, repeated until answered.
  struct Submission {
    std::string key;
    RunSpec spec;
    std::optional<RunId> run;
    bool cancel = false;
    bool cancelled = false;  // the answer has come
  };
  struct EvaluationSubmission {
    std::string key;
    EvaluationJob body;
    std::optional<JobId> job;
  };
  struct Stream {
    std::string name;
    uint64_t base = 0;
    uint64_t end = 0;
  };

  // Coordinator.
  void BootCoordinator();
  void CrashCoordinator();
  void ToCoordinator(Event event);
  void Thaw();
  void Step(Event event);
  void Do(StoreRecords& effect) { disk_.Write(std::move(effect)); }
  void Do(SendWorker& effect);
  void Do(SendLearner& effect);
  void Do(AnswerClient& effect);
  void Do(QueryStore& effect);
  void Do(OpenStream& effect);
  void Do(ExtendStream& effect);
  void Do(TrimStream& effect);
  void Do(CloseStream& effect);
  void Do(LogLine& effect);

  // Redis and the way to it.
  void Publish();
  void SetRedis(bool away);

  // Clients.
  RunSpec DrawSpec();
  void PlanSubmissions();
  void Ask(const std::string& client, ClientRequest request);
  void Answered(const std::string& client, const ClientReply& reply);
  void Submit(size_t index);
  void Cancel(size_t index);
  void SubmitEvaluationJob(size_t index);

  // Faults.
  void Plan(Duration mean, void (World::*fault)());
  void CoordinatorFault();
  void FreezeFault();
  void WorkerFault();
  void DeviceFault();
  void LearnerFault();
  void PartitionFault();
  void DiskFault();
  void RedisAwayFault();
  void RedisWipeFault();
  void Heal();

  // The end.
  bool Finished() const;
  void CheckLiveness();
  void CheckTraining();

  void Tell(const std::string& what);

  SimulationOptions options_;
  Clockwork clockwork_;
  Random random_;
  Network network_;
  Disk disk_;
  Invariants invariants_;
  SimulationResult result_;

  CoordinatorSettings settings_;
  std::unique_ptr<Coordinator> core_;
  uint64_t life_ = 0;
  bool frozen_ = false;
  std::vector<Event> unheard_;  // while it is frozen
  Alarm alarm_;

  Streams redis_;
  bool redis_away_ = false;
  std::map<RunId, Stream> streams_;

  WorkerWorld worker_world_;
  std::vector<std::unique_ptr<SimWorker>> workers_;
  LearnerWorld learner_world_;
  SimLearner learner_;

  std::vector<Submission> submissions_;
  std::vector<EvaluationSubmission> evaluations_;
  bool chaos_ = true;
};

}  // namespace warpsmith::sim
