#include "tools/warpsmith/arguments.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/parse.h"
#include "common/model/device_kind.h"
#include "tools/warpsmith/commands.h"

namespace warpsmith {
namespace {

using Action = std::function<Result<int>()>;

constexpr const char* kExitStatus =
    "Exit status: 0 fine; 1 the candidate is not correct, or the run failed; 2 bad input; 3 this\n"
    "machine lacks something; 4 a server is away, or late; 5 disk, memory or a port is used up;\n"
    "6 corrupt bytes; 70 internal.";
// Those of a command that asks a coordinator.
constexpr const char* kAsking =
    "0 fine; 2 bad input, or no such run; 4 the coordinator is away;\n5 its disk, or this one, is "
    "full; 6 corrupt bytes; 70 internal.";

// A subcommand whose options live as long as the parser does.
template <typename Options>
struct Subcommand {
  CLI::App* app;
  std::shared_ptr<Options> options = std::make_shared<Options>();
};

template <typename Options>
Subcommand<Options> Add(CLI::App* app, Action* action, const char* name, const char* summary,
                        const char* example, const char* exit_status,
                        Result<int> (*run)(const Options&)) {
  Subcommand<Options> command{app->add_subcommand(name, summary)};
  command.app->footer(std::string("Example:\n  ") + example + "\n\nExit status: " + exit_status);
  command.app->callback([action, run, options = command.options] {
    *action = [run, options] { return run(*options); };
  });
  return command;
}

std::vector<std::string> Texts(const std::vector<std::string_view>& words) {
  return {words.begin(), words.end()};
}

// A run's number in decimal; CLI11 itself reads "-1" as 2^64 - 1, and "010" as 8.
CLI::Validator RunNumber() {
  return {[](std::string& text) -> std::string {
            const auto number = ParseWhole<uint64_t>(text);
            if (!number) return "'" + text + "' is no number of a run";
            text = std::to_string(*number);
            return "";
          },
          ""};
}

void AddCoordinator(CLI::App* app, std::string* address) {
  app->add_option("--coordinator", *address,
                  "address of the coordinator (default: WARPSMITH_COORDINATOR, then "
                  "runs/current/address)");
}

void AddJudging(CLI::App* app, Action* action) {
  auto lint = Add<LintOptions>(
      app, action, "lint", "check suites: every problem with its place",
      "warpsmith lint suites/starter.yaml",
      "0 every suite is fine; 2 one is not; 3 this machine lacks something; 4 the\nreferences took "
      "too long; 5 disk or memory is used up; 70 internal.",
      RunLint);
  lint.app->add_option("suite", lint.options->suites, "suite files")->required();
  lint.app->add_flag("--static", lint.options->only_static,
                     "read the texts only: run no reference to see whether a task can be cheated");

  auto eval = Add<EvalOptions>(
      app, action, "eval", "judge one candidate of a task",
      "warpsmith eval suites/starter.yaml softmax_rows suites/starter/softmax_rows.cu --device "
      "host",
      "0 correct; 1 any other outcome that is the candidate's; 2 bad input; 3 this machine\nlacks "
      "something (a GPU, a driver, a compiler); 4 a device or a server is away, or noisy; 5 "
      "disk\nor "
      "memory is used up; 6 corrupt bytes; 70 internal.",
      RunEval);
  auto& o = *eval.options;
  eval.app->add_option("suite", o.suite, "suite file")->required();
  eval.app->add_option("task", o.task, "id of a task in it")->required();
  eval.app->add_option("file", o.file, "the candidate: CUDA device code with its plan")->required();
  eval.app->add_option("--device", o.device, "where to run it")
      ->check(CLI::IsMember(Texts(RealDeviceWords())))
      ->capture_default_str();
  eval.app->add_option("--depth", o.depth, "how deep to go: each does all that stands before it")
      ->check(CLI::IsMember({"verify", "screen", "measure", "confirm"}))
      ->capture_default_str();
  eval.app->add_flag("--json", o.json, "print the record as one line of JSON");
  eval.app->add_option("--coordinator", o.coordinator,
                       "let this coordinator's workers judge it, instead of this machine");

  auto doctor = Add<DoctorOptions>(
      app, action, "doctor", "what this machine has, and what to do about what it lacks",
      "warpsmith doctor", "0 ready; 2 bad input; 3 this machine lacks something.", RunDoctor);
  AddCoordinator(doctor.app, &doctor.options->coordinator);
}

void AddServing(CLI::App* app, Action* action) {
  auto up = Add<UpOptions>(
      app, action, "up", "start everything on this machine, and keep it alive until Ctrl-C",
      "warpsmith up --directory runs/mine --device host\n\n"
      "Settings of a process are read from DIRECTORY/coordinator.toml, "
      "worker.toml and\nlearner.toml where they are; `warpsmith-worker "
      "--help` names a worker's, and so on.",
      "0 ended by Ctrl-C; 2 bad input; 3 this machine lacks something; 4 a "
      "server did\nnot start in time; 5 disk, a port or the directory is taken; "
      "70 internal.",
      RunUp);
  auto& o = *up.options;
  up.app
      ->add_option("--directory", o.directory,
                   "state, logs and the address file; reused, it "
                   "resumes what was there")
      ->capture_default_str();
  up.app->add_option("--device", o.device, "what the workers run candidates on")
      ->check(CLI::IsMember(Texts(DeviceWords())))
      ->capture_default_str();
  up.app->add_option("--listen", o.listen, "address of the coordinator")->capture_default_str();
  up.app->add_option("--workers", o.workers, "worker processes")
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  up.app->add_option("--capacity", o.capacity, "jobs that a worker holds at once (0: its default)")
      ->check(CLI::Range(0, 1024));
}

void AddRuns(CLI::App* app, Action* action) {
  auto run = Add<RunOptions>(
      app, action, "run", "submit a run and follow it; Ctrl-C detaches",
      "warpsmith run suites/runs/grammar.yaml\n  warpsmith run --follow 1",
      "0 complete, or detached; 1 failed or cancelled; 2 bad input, or no such run; "
      "4 the\ncoordinator is away; 5 its disk is full; 6 corrupt bytes; 70 internal.",
      RunRun);
  auto* file = run.app->add_option("file", run.options->file, "run file");
  auto* follow = run.app->add_option("--follow", run.options->follow, "follow this run again")
                     ->transform(RunNumber());
  file->excludes(follow);
  run.app->add_flag("--detach", run.options->detach, "submit only");
  AddCoordinator(run.app, &run.options->coordinator);

  auto cancel = Add<CancelOptions>(app, action, "cancel", "end a run", "warpsmith cancel 1",
                                   kAsking, RunCancel);
  cancel.app->add_option("run", cancel.options->run, "number of the run")
      ->required()
      ->transform(RunNumber());
  AddCoordinator(cancel.app, &cancel.options->coordinator);

  auto status = Add<StatusOptions>(app, action, "status", "runs, workers and servers; or one run",
                                   "warpsmith status\n  warpsmith status 1 --json", kAsking,
                                   RunStatusCommand);
  status.app->add_option("run", status.options->run, "number of a run")->transform(RunNumber());
  status.app->add_flag("--json", status.options->json, "one line of JSON, for scripts");
  AddCoordinator(status.app, &status.options->coordinator);

  auto best = Add<BestOptions>(app, action, "best", "the best kernels of a run",
                               "warpsmith best --export kernels", kAsking, RunBest);
  best.app->add_option("run", best.options->run, "number of the run (default: the newest)")
      ->transform(RunNumber());
  best.app->add_option("--export", best.options->export_directory,
                       "write the kernels and their records here");
  AddCoordinator(best.app, &best.options->coordinator);

  auto report =
      Add<ReportOptions>(app, action, "report", "one HTML page with pictures of runs",
                         "warpsmith report -o report.html",
                         "0 fine; 2 bad input, no such run, or a page that cannot be "
                         "written; 3 no Python\nwith matplotlib; 4 the coordinator is away; "
                         "5 disk is full; 70 internal.",
                         RunReport);
  report.app
      ->add_option("run", report.options->runs,
                   "numbers of runs (default: the newest that learns, and the newest random)")
      ->transform(RunNumber());
  report.app->add_option("-o,--output", report.options->output, "the page")->capture_default_str();
  AddCoordinator(report.app, &report.options->coordinator);
}

}  // namespace

std::variant<Action, int> ParseArguments(int argc, const char* const* argv) {
  Action action;
  CLI::App app("Writes CUDA kernels by reinforcement learning, and judges them honestly.",
               "warpsmith");
  app.set_version_flag("--version", "warpsmith " WARPSMITH_VERSION);
  app.require_subcommand(0, 1);
  app.allow_extras();  // and refused below, in the order of the command line
  app.footer(kExitStatus);
  AddJudging(&app, &action);
  AddServing(&app, &action);
  AddRuns(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    std::ostringstream answer, complaint;
    const bool answered = app.exit(e, answer, complaint) == 0;  // help, or what is wrong
    fmt::print("{}", answer.str());  // main sees whether somebody took it
    fmt::print(stderr, "{}", complaint.str());
    return answered ? 0 : ExitStatus(ErrorCode::kInvalidInput);
  }
  if (const auto extra = app.remaining(true); !extra.empty())
    fmt::print(stderr, "Not understood: {}\nRun with --help for more information.\n",
               fmt::join(extra, " "));
  else if (action)
    return action;
  else
    fmt::print(stderr, "{}\nName a subcommand.\n", app.help());
  return ExitStatus(ErrorCode::kInvalidInput);
}

}  // namespace warpsmith
