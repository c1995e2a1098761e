# Everything that arrives at, or leaves, the coordinator's one address.
@0x81a916be2d42a7be;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("warpsmith::wire");
using Worker = import "worker.capnp";
using Learner = import "learner.capnp";
using Client = import "client.capnp";

struct ClientCall {
  id @0 :UInt64;
  request @1 :Client.ClientRequest;
}

struct ClientAnswer {
  id @0 :UInt64;
  reply @1 :Client.ClientReply;
}

struct ToCoordinator {
  union {
    workerMessage @0 :Worker.WorkerMessage;
    learnerMessage @1 :Learner.LearnerMessage;
    clientCall @2 :ClientCall;
  }
}

struct FromCoordinator {
  union {
    coordinatorToWorker @0 :Worker.CoordinatorToWorker;
    coordinatorToLearner @1 :Learner.CoordinatorToLearner;
    clientAnswer @2 :ClientAnswer;
  }
}
