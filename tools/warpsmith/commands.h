// The subcommands of `warpsmith`, one source each. Options come from the command line
// (arguments.h); each returns the exit status, or the error that main prints and turns into one:
//   0   fine                                  4   a server is away, or did not answer in time
//   1   the candidate is not correct, or the  5   something is used up: disk, memory, a port
//       run failed or was cancelled           6   bytes that fail their check
//   2   bad input                             70  a bug, or a library or the system failed
//   3   this machine lacks something
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct LintOptions {
  std::vector<std::string> suites;
  bool only_static = false;  // read the texts only; run no reference
};
Result<int> RunLint(const LintOptions& options);

struct EvalOptions {
  std::string suite;
  std::string task;
  std::string file;
  std::string device = "auto";
  std::string depth = "measure";
  std::string coordinator;  // empty: judged here
  bool json = false;
};
Result<int> RunEval(const EvalOptions& options);

struct DoctorOptions {
  std::string coordinator;
};
Result<int> RunDoctor(const DoctorOptions& options);

struct UpOptions {
  std::string directory = "runs/default";
  std::string device = "auto";
  std::string listen = "tcp://127.0.0.1:*";
  int workers = 1;
  int capacity = 0;  // jobs a worker holds at once; 0: its own default
};
Result<int> RunUp(const UpOptions& options);

struct RunOptions {
  std::string file;                // submit this one and follow it,
  std::optional<uint64_t> follow;  // or follow a run that was submitted before
  bool detach = false;             // submit only
  std::string coordinator;
};
Result<int> RunRun(const RunOptions& options);

struct CancelOptions {
  uint64_t run = 0;
  std::string coordinator;
};
Result<int> RunCancel(const CancelOptions& options);

struct StatusOptions {
  std::optional<uint64_t> run;
  bool json = false;
  std::string coordinator;
};
Result<int> RunStatusCommand(const StatusOptions& options);

struct BestOptions {
  std::optional<uint64_t> run;  // none: the newest
  std::string export_directory;
  std::string coordinator;
};
Result<int> RunBest(const BestOptions& options);

struct ReportOptions {
  std::vector<uint64_t> runs;  // none: the newest that learns, and the newest random one
  std::string output = "report.html";
  std::string coordinator;
};
Result<int> RunReport(const ReportOptions& options);

}  // namespace warpsmith
