#include "tools/warpsmith/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/warpsmith/json.h"
#include "tools/warpsmith/progress.h"
#include "tools/warpsmith/table.h"

namespace warpsmith {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

Evaluation Judged(Outcome outcome) {
  Evaluation evaluation;
  evaluation.task = TaskId("starter/softmax_rows");
  evaluation.outcome = std::move(outcome);
  evaluation.device.name = "a CPU";
  evaluation.depth = Depth::kMeasure;
  evaluation.stages = {{Stage::kCompile, 50}, {Stage::kVerify, 20}, {Stage::kVerify, 5}};
  evaluation.kernels = {{.name = "softmax_rows<8>", .registers = 32}};
  return evaluation;
}

Measurement Timed(double speedup) {
  Measurement m;
  m.timed_case = {CaseRole::kHoldout, {{"rows", 64}, {"cols", 512}}};
  m.candidate_us = 10;
  m.baseline_us = 10 * speedup;
  m.speedup = speedup;
  return m;
}

TEST(Table, AlignsByCharactersNotBytes) {
  Table table({"name", ">µs"});
  table.Add({"ü", "1"});
  table.Add({"long one", "12.5"});
  EXPECT_EQ(table.ToString(),
            "name        µs\n"
            "ü            1\n"
            "long one  12.5\n");
}

TEST(Progress, ShowsWhatMattersAndGuessesTheRest) {
  RunStatus status{.run = RunId(1), .device = "host", .budget_evaluations = 320};
  ProgressLine progress;
  const TimePoint start{};
  EXPECT_THAT(progress.Text(status, start, 160), Not(HasSubstr("left")));
  status.finished_evaluations = 80;
  status.infrastructure_evaluations = 16;
  status.correct_evaluations = 32;
  status.best_speedup = 1.5;
  status.best_task = TaskId("starter/swiglu");
  EXPECT_EQ(
      progress.Text(status, start + seconds(20), 160),
      "[#####---------------]  25%  80/320 evaluations  pass 50%  best 1.50x starter/swiglu  1 "
      "min 00 s left  on host");
  EXPECT_EQ(progress.Text(status, start + seconds(20), 30).size(), 30u);
  status.state = RunState::kFinishing;
  EXPECT_THAT(progress.Text(status, start + seconds(20), 160), HasSubstr("last batch"));
}

TEST(Progress, SurvivesOddNumbers) {
  RunStatus status;  // no budget, nothing finished
  ProgressLine progress;
  EXPECT_THAT(progress.Text(status, TimePoint{}, 100), HasSubstr("0/0"));
  status.finished_evaluations = 9;  // more than admitted
  EXPECT_THAT(progress.Text(status, TimePoint{}, 100), HasSubstr("100%"));
}

TEST(Progress, TimesForPeople) {
  EXPECT_EQ(ForPeople(seconds(59)), "59 s");
  EXPECT_EQ(ForPeople(seconds(200)), "3 min 20 s");
  EXPECT_EQ(ForPeople(seconds(7500)), "2 h 05 min");
}

TEST(Json, HasWhatScriptsReadFromAnEvaluation) {
  const auto json = nlohmann::json::parse(EvaluationJson(Judged(Correct{{Timed(1.25)}, 1.25})));
  for (const char* key : {"outcome", "label", "describe", "task", "device", "speedup", "stages",
                          "kernels", "log", "candidate_hash", "depth"})
    EXPECT_TRUE(json.contains(key)) << key;
  const auto& correct = json["outcome"]["correct"];
  EXPECT_EQ(json["speedup"], 1.25);
  EXPECT_EQ(json["device"]["kind"], "host");
  EXPECT_EQ(correct["measurements"][0]["timed_case"]["dims"]["rows"], 64);
  EXPECT_EQ(json["stages"][1]["stage"], "verify");
}

TEST(Json, HostileTextStaysText) {
  auto evaluation = Judged(CompileError{"\"}]\n{\"outcome\": \"correct\"} \xff"});
  evaluation.log = std::string("\0\x01", 2);
  const std::string text = EvaluationJson(evaluation);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(text)["outcome"].contains("compile_error"));
}

TEST(Json, ARunForTheReport) {
  History history;
  history.evaluations = {{TaskId("a/b"), "correct", 1.5, 1.58, 3, 1}};
  history.steps = {{.step = 1, .entropy = 2.5}};
  BestTable best{RunId(1),
                 {{TaskId("a/b"), {{"correct", 2}}, "text", Judged(Correct{{Timed(2)}, 2})},
                  {TaskId("a/c"), {}, "", {}}}};
  const auto json = nlohmann::json::parse(RunJson(history, best));
  EXPECT_EQ(json["evaluations"][0]["reward"], 1.58);
  EXPECT_EQ(json["steps"][0]["entropy"], 2.5);
  EXPECT_EQ(json["best"][0]["evaluation"]["outcome"]["correct"]["speedup"], 2);
  EXPECT_EQ(json["best"][1]["candidate"], "");
}

TEST(Show, AnEvaluationNamesItsDeviceKindAndItsCases) {
  const auto text = ShowEvaluation(Judged(Correct{{Timed(1.25)}, 1.25}));
  EXPECT_THAT(text, HasSubstr("device a CPU (host)"));
  EXPECT_THAT(text, HasSubstr("holdout  cols=512 rows=64"));
  EXPECT_THAT(text, HasSubstr("1.250x"));
  EXPECT_THAT(text, HasSubstr("softmax_rows<8>"));
}

TEST(Show, WordsOfStrangersDoNotDriveTheTerminal) {
  EXPECT_EQ(Printable("a\tb\nc\x1b[2J\r\x7f ü \xc2\x9b"
                      "31m"),
            "a\tb\nc?[2J?? ü ??31m");
  auto evaluation = Judged(CompileError{"error: \x1b]0;title\a"});
  evaluation.log = "\x1b[31mred";
  EXPECT_THAT(ShowEvaluation(evaluation), Not(HasSubstr("\x1b")));
  RunStatus run{.run = RunId(1), .name = "\x1b[2J", .problem = "\x1b[2J"};
  EXPECT_THAT(Summary(run), Not(HasSubstr("\x1b")));
  EXPECT_THAT(ProgressLine().Text(run, TimePoint{}, 160), Not(HasSubstr("\x1b")));
  ClusterStatus cluster;
  cluster.runs = {run};
  EXPECT_THAT(ShowCluster(cluster), Not(HasSubstr("\x1b")));
}

TEST(Show, ExitStatusTellsCandidateFromMachine) {
  EXPECT_EQ(EvaluationStatus(Correct{}), 0);
  EXPECT_EQ(EvaluationStatus(WrongOutput{}), 1);
  EXPECT_EQ(EvaluationStatus(Rejected{}), 1);
  EXPECT_EQ(EvaluationStatus(Infrastructure{InfrastructureKind::kDriver, ""}), 3);
  EXPECT_EQ(EvaluationStatus(Infrastructure{InfrastructureKind::kWorkerLost, ""}), 4);
  EXPECT_EQ(EvaluationStatus(Infrastructure{InfrastructureKind::kDisk, ""}), 5);
}

TEST(Show, TheBestTableHasARowForEachTaskAlsoWithoutAKernel) {
  BestTable best{RunId(1),
                 {{TaskId("a/b"),
                   {{"correct", 2}, {"infrastructure", 5}},
                   "text",
                   Judged(Correct{{Timed(2)}, 2})},
                  {TaskId("a/c"), {{"rejected", 3}}, "", {}}}};
  const auto text = ShowBest(best);
  EXPECT_THAT(text, HasSubstr("a/b     2.000x"));
  EXPECT_THAT(text, HasSubstr("a/c"));
  EXPECT_THAT(text, HasSubstr("a CPU (host)"));
}

}  // namespace
}  // namespace warpsmith
