// What happens to the coordinator's core and what it wants done.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/core.h"
#include "coordinator/core/record.h"
#include "schema/coordinator.h"

namespace warpsmith {

// ---- events

struct WorkerSaid {
  WorkerId worker;
  WorkerMessage message;
};
struct LearnerSaid {
  std::string peer;  // routing id, unique for one process of a learner
  LearnerMessage message;
};
struct ClientAsked {
  ClientId client;
  ClientCall call;
};
// This batch, and every earlier one, is durable.
struct Stored {
  uint64_t batch = 0;
};
// The store cannot write now (disk full) or can again. It keeps what it was given, and retries.
struct StoreHealth {
  bool ok = true;
  std::string problem;
};
struct RedisHealth {
  bool ok = true;
  std::string problem;
};
// TimePassed comes after the messages that came first: a coordinator that was asleep does not take
// its own silence for that of others.
using Event = std::variant<WorkerSaid, LearnerSaid, ClientAsked, Stored, StoreHealth, RedisHealth,
                           TimePassed>;

// ---- effects, to be done in this order

struct StoreRecords {
  uint64_t batch = 0;  // dense, ascending
  std::vector<Record> records;
};
struct SendWorker {
  WorkerId worker;
  CoordinatorToWorker message;
};
struct SendLearner {
  std::string peer;
  CoordinatorToLearner message;
};
struct AnswerClient {
  ClientId client;
  ClientAnswer answer;
};
// The store answers this call: GetBest, GetHistory (with `status` filled in) or GetJob of an old
// job.
struct QueryStore {
  ClientId client;
  ClientCall call;
  RunStatus status;
  std::string job_state;  // of a job that the core still holds; empty: the store knows
  std::string job_problem;
};
// From now on the run's stream has this name; trajectories in [base, end) are stored and some of
// them not consumed: publish them in order.
struct OpenStream {
  RunId run;
  std::string stream;
  uint64_t base = 0;
  uint64_t end = 0;
};
// Everything below `end` is stored and may be published.
struct ExtendStream {
  RunId run;
  uint64_t end = 0;
};
// Everything below is consumed for good.
struct TrimStream {
  RunId run;
  uint64_t below = 0;
};
struct CloseStream {
  RunId run;
};

using Effect = std::variant<StoreRecords, SendWorker, SendLearner, AnswerClient, QueryStore,
                            OpenStream, ExtendStream, TrimStream, CloseStream, LogLine>;
using Effects = std::vector<Effect>;

}  // namespace warpsmith
