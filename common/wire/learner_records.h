// How the learner's conversations travel: each record's fields beside their names in
// schema/learner.capnp.
#pragma once

#include "common/model/learner_protocol.h"
#include "common/wire/worker_records.h"

namespace warpsmith::wire_io {

WIRE_ENUM(Fate, kDropped)

WIRE_RECORD(TrainingWatermark, r) {
  FIELD(r.below, Below);
  FIELD(r.exceptions, Exceptions);
}

WIRE_RECORD(LearnerRunState, r) {
  FIELD(r.run, Run);
  FIELD(r.watermark, Watermark);
  FIELD(r.version, Version);
}

WIRE_RECORD(RegisterLearner, r) {
  FIELD(r.protocol_version, ProtocolVersion);
  FIELD(r.name, Name);
  FIELD(r.runs, Runs);
}

WIRE_RECORD(ConsumedTrajectory, r) {
  FIELD(r.publish_seq, PublishSeq);
  FIELD(r.fate, Fate);
}

WIRE_RECORD(StepReport, r) {
  FIELD(r.step, Step);
  FIELD(r.episodes, Episodes);
  FIELD(r.turns, Turns);
  FIELD(r.mean_reward, MeanReward);
  FIELD(r.pass_rate, PassRate);
  FIELD(r.mean_speedup, MeanSpeedup);
  FIELD(r.loss, Loss);
  FIELD(r.entropy, Entropy);
  FIELD(r.approx_kl, ApproxKl);
  FIELD(r.clip_fraction, ClipFraction);
  FIELD(r.mean_staleness, MeanStaleness);
  FIELD(r.seconds, Seconds);
}

WIRE_RECORD(CheckpointDurable, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.parent, Parent);
  FIELD(r.consumed, Consumed);
  FIELD(r.watermark, Watermark);
  FIELD(r.report, Report);
}

WIRE_RECORD(RunTrained, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
}

WIRE_RECORD(RunRefused, r) {
  FIELD(r.run, Run);
  FIELD(r.why, Why);
}

WIRE_RECORD(WelcomeLearner, r) {
  FIELD(r.epoch, Epoch);
  FIELD(r.incarnation, Incarnation);
  FIELD(r.heartbeat, Heartbeat);
  FIELD(r.redis, Redis);
}

WIRE_RECORD(TrainRun, r) {
  FIELD(r.run, Run);
  FIELD(r.spec, Spec);
  FIELD(r.stream, Stream);
}

WIRE_RECORD(CloseRun, r) {
  FIELD(r.run, Run);
  FIELD(r.end_seq, EndSeq);
}

WIRE_RECORD(AckCheckpoint, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
}

WIRE_RECORD(ForgetRun, r) { FIELD(r.run, Run); }

WIRE_RECORD(ChunkRequest, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.offset, Offset);
  FIELD(r.bytes, Bytes);
}

WIRE_RECORD(Chunk, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
  FIELD(r.offset, Offset);
  FIELD(r.bytes, Bytes);
  FIELD(r.sha256, Sha256);
}

WIRE_RECORD(ChunkGone, r) {
  FIELD(r.run, Run);
  FIELD(r.version, Version);
}

WIRE_UNION(LearnerMessage, r) {
  ALTERNATIVE(RegisterLearner);
  ALTERNATIVE(Heartbeat);
  ALTERNATIVE(WeightsAnnouncement);
  ALTERNATIVE(CheckpointDurable);
  ALTERNATIVE(RunTrained);
  ALTERNATIVE(RunRefused);
}

WIRE_UNION(CoordinatorToLearner, r) {
  ALTERNATIVE(WelcomeLearner);
  ALTERNATIVE(Refused);
  ALTERNATIVE(Unknown);
  ALTERNATIVE(HeartbeatReply);
  ALTERNATIVE(TrainRun);
  ALTERNATIVE(CloseRun);
  ALTERNATIVE(AckCheckpoint);
  ALTERNATIVE(ForgetRun);
}

WIRE_UNION(WeightsRequest, r) { ALTERNATIVE(ChunkRequest); }

WIRE_UNION(WeightsReply, r) {
  ALTERNATIVE(Chunk);
  ALTERNATIVE(ChunkGone);
}

}  // namespace warpsmith::wire_io
