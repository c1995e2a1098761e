// The tables of the store, with their version.
#pragma once

#include <iterator>

namespace warpsmith {

// Raised with every change of a table. A file of an earlier format is brought to this one when it
// is opened (kMigrations), one of a later format is refused; neither is ever misread.
constexpr int kSchemaVersion = 2;

// Ids and places are 64-bit integers; states and fates are the numbers of their enums; payload,
// spec, body and evaluation are wire-encoded records. `ord` is the order of acceptance.
constexpr const char* kSchema = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE runs (
  run INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, spec BLOB NOT NULL,
  started_at_ms INTEGER NOT NULL, state INTEGER NOT NULL, device TEXT NOT NULL,
  admitted_evaluations INTEGER NOT NULL, next_group INTEGER NOT NULL, ended_at_ms INTEGER NOT NULL,
  problem TEXT NOT NULL);

-- A rollout job has run, grp, task, episodes, turns; an evaluation job has key, device, body.
CREATE TABLE jobs (
  job INTEGER PRIMARY KEY, run INTEGER, grp INTEGER, task TEXT, episodes INTEGER, turns INTEGER,
  key TEXT UNIQUE, device TEXT, body BLOB,
  state INTEGER NOT NULL, attempt INTEGER NOT NULL, failures INTEGER NOT NULL,
  masked_evaluations INTEGER NOT NULL, problem TEXT NOT NULL);
CREATE INDEX jobs_unfinished ON jobs (job) WHERE state < 2;

-- The first accepted record of each episode. `trained_at_*`: the checkpoint that consumed it.
CREATE TABLE trajectories (
  ord INTEGER PRIMARY KEY, run INTEGER NOT NULL, grp INTEGER NOT NULL, episode INTEGER NOT NULL,
  job INTEGER NOT NULL, publish_seq INTEGER, oldest_incarnation INTEGER NOT NULL,
  oldest_step INTEGER NOT NULL, rewarded INTEGER NOT NULL,
  consumed INTEGER NOT NULL DEFAULT 0, fate INTEGER, trained_at_incarnation INTEGER,
  trained_at_step INTEGER, payload BLOB NOT NULL,
  UNIQUE (run, grp, episode));
CREATE UNIQUE INDEX trajectories_stream ON trajectories (run, publish_seq)
  WHERE publish_seq IS NOT NULL;

-- One row a judged candidate: of a run's turns (run, turn, reward, step) or of an evaluation job
-- (job, place).
CREATE TABLE evaluations (
  ord INTEGER PRIMARY KEY, run INTEGER, publish_seq INTEGER, job INTEGER NOT NULL, place INTEGER,
  task TEXT NOT NULL, outcome TEXT NOT NULL, speedup REAL NOT NULL, reward REAL NOT NULL,
  step INTEGER NOT NULL, turn INTEGER NOT NULL, candidate TEXT NOT NULL, evaluation BLOB NOT NULL,
  reward_version INTEGER NOT NULL DEFAULT 1);
CREATE INDEX evaluations_of_run ON evaluations (run, task, outcome, speedup) WHERE run IS NOT NULL;
CREATE UNIQUE INDEX evaluations_of_job ON evaluations (job, place) WHERE place IS NOT NULL;

CREATE TABLE learners (
  incarnation INTEGER PRIMARY KEY, peer TEXT NOT NULL UNIQUE, took_over INTEGER NOT NULL);
CREATE TABLE forks (
  run INTEGER NOT NULL, incarnation INTEGER NOT NULL, from_incarnation INTEGER NOT NULL,
  from_step INTEGER NOT NULL, PRIMARY KEY (run, incarnation)) WITHOUT ROWID;
CREATE TABLE checkpoints (
  run INTEGER NOT NULL, incarnation INTEGER NOT NULL, step INTEGER NOT NULL, payload BLOB NOT NULL,
  PRIMARY KEY (run, incarnation, step)) WITHOUT ROWID;
)sql";

// What brings a file from the format of its place, counted from 1, to the next one.
constexpr const char* kMigrations[] = {
    // Every reward had the first formula.
    "ALTER TABLE evaluations ADD COLUMN reward_version INTEGER NOT NULL DEFAULT 1",
};
static_assert(std::size(kMigrations) == kSchemaVersion - 1);

}  // namespace warpsmith
