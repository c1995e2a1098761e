#include "common/suite/suite_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "common/base/random.h"
#include "common/suite/plan_file.h"
#include "common/suite/task_shapes.h"
#include "common/suite/text_file.h"

namespace warpsmith {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kSuite = R"(suite: mine
tasks:
  - id: scale
    inputs: {x: {dtype: float32, shape: [rows, cols], init: normal}}
    scalars: {s: {dtype: float32, value: 0.5}, n: {dtype: int32, expression: rows * cols}}
    outputs: {y: {dtype: float32, shape: "rows, cols", rtol: 1e-3}}
    reference: |
      def reference(x: Tensor, s: float) -> Tensor:
          return x * s
    work: {flops: rows * cols}
    cases:
      gpu: {train: [{rows: 8192, cols: 4096}]}
      host: {train: [{rows: 64, cols: 512}], edge: [{rows: 0, cols: 7}]}
    starter: scale.cu
)";
constexpr const char* kStarter =
    "/* warpsmith\nlaunches: [{kernel: k, grid: 1, block: 1, args: x}]\n*/ __global__ void k() {}";

Result<Suite> Parse(std::string_view text) {
  return ParseSuite(text, "mine.yaml", [](const std::string& name) -> Result<std::string> {
    if (name == "scale.cu") return std::string(kStarter);
    return Fail(ErrorCode::kNotFound, name + ": no such file");
  });
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// What is said when `from` in the valid suite reads `to`.
std::string Problem(std::string_view from, std::string_view to) {
  const auto suite = Parse(Replaced(kSuite, from, to));
  EXPECT_FALSE(suite) << to;
  return suite ? "" : suite.error().message;
}

TEST(SuiteFile, ReadsATask) {
  const auto suite = Parse(kSuite);
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->name, "mine");
  ASSERT_THAT(suite->tasks, SizeIs(1));
  const Task& task = suite->tasks[0];
  EXPECT_EQ(task.id, TaskId("mine/scale"));
  EXPECT_EQ(task.outputs[0].rtol, 1e-3);
  EXPECT_EQ(task.scalars[1].expression, "rows * cols");
  EXPECT_EQ(task.starter, kStarter);
  ASSERT_THAT(task.cuda_cases, SizeIs(1));
  ASSERT_THAT(task.host_cases, SizeIs(2));
  EXPECT_EQ(task.host_cases[1].role, CaseRole::kEdge);
  EXPECT_EQ(task.host_cases[1].dims, (Dims{{"rows", 0}, {"cols", 7}}));
}

TEST(SuiteFile, CasesMayHoldForBothDevices) {
  auto text = Replaced(kSuite, "      gpu: {train: [{rows: 8192, cols: 4096}]}\n", "");
  text = Replaced(text, "      host: {train", "      {train");
  const auto suite = Parse(text);
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_EQ(suite->tasks[0].cuda_cases, suite->tasks[0].host_cases);
}

TEST(SuiteFile, NumbersAreNumbersInEverySpellingAndNothingElse) {
  for (const char* good : {"1e-3", "1E-3", ".001", "0.001", "+1e-3"}) {
    const auto suite = Parse(Replaced(kSuite, "rtol: 1e-3", std::string("rtol: ") + good));
    ASSERT_TRUE(suite) << suite.error().message;
    EXPECT_EQ(suite->tasks[0].outputs[0].rtol, 1e-3) << good;
  }
  EXPECT_THAT(
      Problem("rtol: 1e-3", "rtol: \"1e-3\""),
      HasSubstr("mine.yaml:6:62: output y: rtol is a quoted number; write 1e-3 without quotes"));
  for (const char* bad :
       {"1e-3f", "nan", ".nan", "inf", ".inf", "0x1p-3", "1_000", "1e999", "true"})
    EXPECT_THAT(Problem("rtol: 1e-3", std::string("rtol: ") + bad),
                HasSubstr("mine.yaml:6:62: output y: rtol is `"))
        << bad;
  EXPECT_THAT(Problem("rtol: 1e-3", "rtol: -1"),
              HasSubstr("mine.yaml:6:62: output y: rtol is -1; write a number from 0 to 1"));
  EXPECT_THAT(Problem("rows: 64", "rows: \"64\""), HasSubstr("without quotes"));
  EXPECT_THAT(Problem("rows: 64", "rows: 6.4"), HasSubstr("whole number"));
  EXPECT_THAT(Problem("rows: 64", "rows: -1"), HasSubstr("whole number from 0"));
}

TEST(SuiteFile, AllProblemsComeOutAtOnceInOrder) {
  auto text = Replaced(kSuite, "id: scale", "id: sc ale");
  text = Replaced(text, "rtol: 1e-3", "rtol: x");
  text = Replaced(text, "starter: scale.cu", "starter: none.cu");
  const auto suite = Parse(text);
  ASSERT_FALSE(suite);
  const std::string& problems = suite.error().message;
  EXPECT_EQ(suite.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(std::count(problems.begin(), problems.end(), '\n'), 2) << problems;
  EXPECT_LT(problems.find("mine.yaml:3:"), problems.find("mine.yaml:6:"));
  EXPECT_LT(problems.find("mine.yaml:6:"), problems.find("none.cu: no such file"));
}

TEST(SuiteFile, UnknownAndDuplicateNamesAreRefused) {
  EXPECT_THAT(Problem("work:", "worc:"), HasSubstr("no field `worc`; write work"));
  EXPECT_THAT(Problem("rtol: 1e-3", "rtool: 1e-3"), HasSubstr("no field `rtool`; write rtol"));
  EXPECT_THAT(Problem("rtol: 1e-3", "rtol: 1e-3, rtol: 1e-2"),
              HasSubstr("`rtol` stands here twice"));
  const std::string text(kSuite);
  const std::string task = text.substr(text.find("  - id"));
  const auto twice = Parse(text + task);
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("a task mine/scale stands here already"));
  EXPECT_THAT(Problem("s: {dtype: float32", "x: {dtype: float32"), HasSubstr("also the name of"));
  EXPECT_THAT(Problem("inputs: {x:", "inputs: {sm_count:"), HasSubstr("cannot be a name"));
}

TEST(SuiteFile, AliasBombsAreRefusedBeforeTheyGrow) {
  std::string bomb = "suite: &a0 [x]\n";
  for (int i = 1; i < 40; ++i)
    bomb += "k" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
            ", *a" + std::to_string(i - 1) + "]\n";
  const auto suite = Parse(bomb);
  ASSERT_FALSE(suite);
  EXPECT_THAT(suite.error().message,
              HasSubstr("mine.yaml:1:8: anchors and aliases are not allowed"));
}

TEST(SuiteFile, TheReferenceSpeaksOfThisTask) {
  EXPECT_THAT(Problem("s: float)", "scale: float)"),
              HasSubstr("parameter `scale` is no input, scalar or dim"));
  EXPECT_THAT(Problem("def reference(x: Tensor, ", "def reference("),
              HasSubstr("input `x` is no parameter"));
  EXPECT_THAT(Problem("def reference(", "def refer("), HasSubstr("no `def reference(`"));
  EXPECT_THAT(Problem("s: float) ->", "s: float ->"), HasSubstr("never end"));
}

TEST(SuiteFile, ExpressionsMustHoldForEveryCase) {
  EXPECT_THAT(Problem("shape: [rows, cols]", "shape: [rows, depth]"),
              HasSubstr("mine.yaml:11:5: cases: with {cols: 4096, rows: 8192}: shape of x"));
  EXPECT_THAT(Problem("flops: rows * cols", "flops: cols / rows"),
              HasSubstr("division by zero"));  // the edge case has no rows
  EXPECT_THAT(Problem("flops: rows * cols", "flops: rows *"), HasSubstr("missing"));
  EXPECT_THAT(Problem("{rows: 64, cols: 512}", "{rows: 64}"), HasSubstr("the same dims"));
  EXPECT_THAT(Problem("rows: 8192, cols: 4096", "rows: 1099511627776, cols: 4096"),
              HasSubstr("GiB"));
  EXPECT_THAT(Problem("train: [{rows: 8192, cols: 4096}]", "holdout: [{rows: 1, cols: 1}]"),
              HasSubstr("gpu cases has no train case"));
  const std::string text(kSuite);
  const auto none = Parse(text.substr(0, text.find("      gpu:")) + "      gpu:\n      host:\n");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("cases has no case; write host:"));
}

TEST(SuiteFile, InitsTakeTheirOwnNumbersOnly) {
  const auto init = [&](const std::string& text) {
    return Problem("init: normal", "init: " + text);
  };
  EXPECT_THAT(init("gaussian"), HasSubstr("write normal, uniform, integer"));
  EXPECT_THAT(init("{kind: uniform, low: 2, high: 1}"), HasSubstr("low 2 is not below high 1"));
  EXPECT_THAT(init("{kind: normal, low: 2}"), HasSubstr("normal takes scale, not low"));
  EXPECT_THAT(init("{kind: index, bound: cols}"), HasSubstr("whole-number dtype"));
  EXPECT_THAT(init("{kind: mask, value: 2}"), HasSubstr("no probability"));
  EXPECT_THAT(init("constant"), HasSubstr("value: 1"));
  for (const char* good : {"{kind: uniform, low: -1, high: 1}", "one-hot", "one_hot", "mask",
                           "{kind: constant, value: 3}", "{kind: integer, low: -2, high: 2}"})
    EXPECT_TRUE(Parse(Replaced(kSuite, "init: normal", std::string("init: ") + good))) << good;
}

// A number that its dtype cannot hold would fail every candidate, or be drawn as something else.
TEST(SuiteFile, NumbersMustFitTheirDtype) {
  const auto scalar = [&](const std::string& text) {
    return Problem("s: {dtype: float32, value: 0.5}", "s: {" + text + "}");
  };
  EXPECT_THAT(scalar("dtype: int32, value: 1.5"),
              HasSubstr("scalar s: 1.5 does not fit into int32"));
  EXPECT_THAT(scalar("dtype: int32, value: 1e300"), HasSubstr("does not fit into int32"));
  EXPECT_THAT(scalar("dtype: int64, value: 1e19"), HasSubstr("does not fit into int64"));
  EXPECT_THAT(scalar("dtype: uint8, value: -1"), HasSubstr("does not fit into uint8"));
  EXPECT_THAT(scalar("dtype: float32, value: 1e39"), HasSubstr("does not fit into float32"));
  EXPECT_THAT(scalar("dtype: float16, value: 70000"), HasSubstr("does not fit into float16"));
  EXPECT_THAT(scalar("dtype: int8, expression: rows"),
              HasSubstr("with {cols: 4096, rows: 8192}: scalar s: 8192 does not fit into int8"));
  EXPECT_THAT(scalar("dtype: float16, expression: rows * cols"),
              HasSubstr("scalar s: 33554432 does not fit into float16"));

  const auto drawn = [&](const std::string& dtype, const std::string& init) {
    return Problem("x: {dtype: float32, shape: [rows, cols], init: normal}",
                   "x: {dtype: " + dtype + ", shape: [rows, cols], init: " + init + "}");
  };
  EXPECT_THAT(drawn("uint8", "{kind: integer, low: -1, high: 3}"), HasSubstr("fit into uint8"));
  EXPECT_THAT(drawn("int8", "{kind: integer, low: 0, high: 300}"), HasSubstr("fit into int8"));
  EXPECT_THAT(drawn("int64", "{kind: integer, low: 0, high: 1e30}"), HasSubstr("too far apart"));
  EXPECT_THAT(drawn("int64", "{kind: integer, low: 1e17, high: 1e17}"), HasSubstr("too large"));
  EXPECT_THAT(drawn("int32", "{kind: constant, value: 0.5}"), HasSubstr("fit into int32"));
  EXPECT_THAT(drawn("bool", "{kind: constant, value: 2}"), HasSubstr("fit into bool"));
  EXPECT_THAT(drawn("float16", "{kind: normal, scale: 1e6}"), HasSubstr("fit into float16"));
  EXPECT_THAT(drawn("float16", "{kind: uniform, low: 0, high: 1e6}"),
              HasSubstr("fit into float16"));
  EXPECT_THAT(drawn("int8", "{kind: index, bound: cols}"),
              HasSubstr("input x: index 4095 does not fit into int8"));
  EXPECT_THAT(drawn("int64", "{kind: index, bound: cols * 1048577}"), HasSubstr("at most 2^32"));
}

TEST(SuiteFile, ComparisonsAreChecked) {
  EXPECT_THAT(Problem(", rtol: 1e-3", ""), HasSubstr("lacks `rtol`"));
  EXPECT_THAT(Problem("rtol: 1e-3", "compare: ulp(0)"), HasSubstr("ulp(1)"));
  EXPECT_THAT(Problem("rtol: 1e-3", "compare: close"), HasSubstr("write value, exact"));
  EXPECT_THAT(Problem("rtol: 1e-3", "compare: index_by_value"), HasSubstr("belong together"));
  EXPECT_THAT(Problem("rtol: 1e-3", "rtol: 1e-3, order_free: yes"), HasSubstr("true or false"));
  const auto ulps = Parse(Replaced(kSuite, "rtol: 1e-3", "compare: ulp(4)"));
  ASSERT_TRUE(ulps) << ulps.error().message;
  EXPECT_EQ(ulps->tasks[0].outputs[0].ulps, 4);
}

TEST(SuiteFile, StartersLieBesideTheSuiteAndHaveAPlan) {
  EXPECT_THAT(Problem("starter: scale.cu", "starter: ../scale.cu"), HasSubstr("beside the suite"));
  EXPECT_THAT(Problem("starter: scale.cu", "starter: /etc/hostname"),
              HasSubstr("beside the suite"));
  const auto suite =
      ParseSuite(kSuite, "mine.yaml", [](const std::string&) { return std::string("__global__"); });
  ASSERT_FALSE(suite);
  EXPECT_THAT(suite.error().message, HasSubstr("starter scale.cu: no launch plan"));
}

TEST(SuiteFile, AMissingFileIsNotFound) {
  const auto suite = LoadSuite("no/such/suite.yaml");
  ASSERT_FALSE(suite);
  EXPECT_EQ(suite.error().code, ErrorCode::kNotFound);
}

// What is no file, or no file of ours.
TEST(TextFile, TellsWhatItCannotRead) {
  char name[] = "/tmp/warpsmith-text-XXXXXX";
  ASSERT_TRUE(::mkdtemp(name));
  const std::filesystem::path folder(name);
  const auto problem = [](const std::filesystem::path& path) {
    const auto text = ReadTextFile(path, 4);
    EXPECT_FALSE(text) << path;
    return text ? "" : text.error().message;
  };
  EXPECT_THAT(problem(folder / "none"), HasSubstr("none: no such file"));
  EXPECT_THAT(problem(folder), HasSubstr("a folder; name a file in it"));
  EXPECT_THAT(problem("/dev/zero"), HasSubstr("more than 4 bytes"));
  EXPECT_THAT(problem("/proc/self/mem"), HasSubstr("cannot be read: Input/output error"));
  EXPECT_EQ(*ReadTextFile("/dev/null", 4), "");
  std::ofstream(folder / "five") << "12345";
  EXPECT_THAT(problem(folder / "five"), HasSubstr("more than 4 bytes"));
  EXPECT_EQ(*ReadTextFile(folder / "five", 5), "12345");
  std::filesystem::remove_all(folder);
}

// As `warpsmith eval suite.yaml task <(write_a_kernel)` hands one over.
class TextPipe : public testing::Test {
 protected:
  TextPipe() {
    EXPECT_TRUE(::mkdtemp(folder_));
    EXPECT_EQ(::mkfifo(pipe().c_str(), 0600), 0);
  }
  ~TextPipe() override { std::filesystem::remove_all(folder_); }
  std::string pipe() const { return std::string(folder_) + "/pipe"; }

 private:
  char folder_[32] = "/tmp/warpsmith-text-XXXXXX";
};

TEST_F(TextPipe, OneThatNobodyWritesIntoIsNotWaitedForLong) {
  const auto text = ReadTextFile(pipe(), 4, {.for_a_writer = std::chrono::milliseconds(50)});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("nothing came out of it for 0.05 s"));
}

TEST_F(TextPipe, OneIsReadUntilItsWriterCloses) {
  std::thread writer(
      [&] { std::ofstream(pipe()) << std::string(100'000, 'x') << std::flush << "end"; });
  const auto text = ReadTextFile(pipe(), 1 << 20);
  writer.join();
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->size(), 100'003u);
}

TEST_F(TextPipe, AWriterThatIsAtWorkIsWaitedFor) {
  std::fstream writer(pipe());  // as reader and writer: it opens without the other end
  std::thread work([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    writer << "text" << std::flush;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    writer.close();
  });
  const auto text = ReadTextFile(pipe(), 4, {.for_a_writer = std::chrono::milliseconds(20)});
  work.join();
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, "text");
}

TEST(SuiteFile, SurvivesSeededDamage) {
  const std::string valid = kSuite;
  const std::string special = "*&!{}[]<>\"'#|>%@`:,-?\n\t\r\0\xff 0a";
  Random random(13);
  int parsed = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = valid;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n) {
      const size_t at = random.Below(text.size());
      switch (random.Below(3)) {
        case 0: text[at] = special[random.Below(special.size())]; break;
        case 1: text.erase(at, 1 + random.Below(8)); break;
        default: text.insert(random.Below(text.size()), text.substr(at, random.Below(40))); break;
      }
    }
    const auto suite = Parse(text);
    parsed += suite.has_value();
    if (!suite) {
      EXPECT_FALSE(suite.error().message.empty());
    }
  }
  EXPECT_GT(parsed, 50);
}

// The suites that ship.
TEST(StarterSuite, HasEightTasksWithStartersAndSensibleSizes) {
  const auto suite = LoadSuite(std::filesystem::path(WARPSMITH_SUITES) / "starter.yaml");
  ASSERT_TRUE(suite) << suite.error().message;
  EXPECT_THAT(suite->tasks, SizeIs(8));
  for (const auto& task : suite->tasks) {
    SCOPED_TRACE(task.id.value());
    EXPECT_TRUE(ParsePlan(task.starter));
    bool empty_case = false;
    for (const auto* cases : {&task.cuda_cases, &task.host_cases}) {
      for (const auto& c : *cases) {
        const auto buffers = TaskBuffers(task, c.dims);
        ASSERT_TRUE(buffers);
        uint64_t bytes = 0;
        for (const auto& buffer : *buffers) bytes += BytesOf(buffer);
        const bool on_gpu = cases == &task.cuda_cases;
        if (c.role == CaseRole::kEdge) {
          empty_case = empty_case || ElementsOf(buffers->back()) == 0;
        } else if (on_gpu) {
          EXPECT_GT(bytes, 60u << 20);    // more than an L2
          EXPECT_LT(bytes, 2150u << 20);  // 500 us at 4.3 TB/s
        } else {
          EXPECT_GE(ElementsOf(buffers->back()), 30'000);
          EXPECT_LE(ElementsOf(buffers->back()), 150'000);
        }
      }
    }
    EXPECT_TRUE(empty_case);
  }
}

}  // namespace
}  // namespace warpsmith
