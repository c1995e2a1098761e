# Everything that arrives at, or leaves, the coordinator's one address.
@0x81a916be2d42a7be;

using Cxx = import "/capnp/c++.capnp";
using Record = import "record.capnp";
using import "worker.capnp".CoordinatorToWorker;
using import "worker.capnp".WorkerMessage;
using import "learner.capnp".CoordinatorToLearner;
using import "learner.capnp".LearnerMessage;
using import "client.capnp".ClientReply;
using import "client.capnp".ClientRequest;
$Cxx.namespace("warpsmith::wire");

struct ClientCall {
  # A client's request with a number of its own, and the answer with the same number.
  id @0 :UInt64;
  request @1 :ClientRequest;
}

struct ClientAnswer {
  id @0 :UInt64;
  reply @1 :ClientReply;
}

struct ToCoordinator $Record.message(1) {
  union {
    workerMessage @0 :WorkerMessage;
    learnerMessage @1 :LearnerMessage;
    clientCall @2 :ClientCall;
  }
}

struct FromCoordinator $Record.message(2) {
  union {
    coordinatorToWorker @0 :CoordinatorToWorker;
    coordinatorToLearner @1 :CoordinatorToLearner;
    clientAnswer @2 :ClientAnswer;
  }
}
