// What the host device refuses, and how it says so.
#include "worker/host/host_compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>

#include "common/runtime/files.h"
#include "common/runtime/install.h"
#include "worker/host/host_text.h"
#include "worker/host/object_file.h"
#include "worker/host/test_lane.h"

namespace warpsmith {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string WhyRejected(const Outcome& outcome) {
  const auto* rejected = std::get_if<Rejected>(&outcome);
  return rejected == nullptr ? "not rejected: " + Describe(outcome) : rejected->why;
}

// A kernel with this text before it and this body.
std::string With(const std::string& before, const std::string& body = "y[0] = 1;") {
  return Candidate("k", "1", "32", "y",
                   before + "\n__global__ void k(float* y) {\n" + body + "\n}\n");
}

TEST(HostCompiler, SaysWhatACpuCannotDo) {
  EXPECT_THAT(WhyRejected(CompileOutcome(With("", "asm volatile(\"membar.gl;\");"))),
              StartsWith("unsupported on the host device: inline PTX (line 11)"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("#include <mma.h>"))),
              StartsWith("unsupported on the host device: wmma"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("using namespace nvcuda;"))),
              StartsWith("unsupported on the host device: wmma"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("#include <cub/block/block_reduce.cuh>"))),
              HasSubstr("device: CUB"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("#include <cuda/std/array>"))),
              HasSubstr("device: libcu++"));
  EXPECT_THAT(
      WhyRejected(CompileOutcome(With("", "auto g = cooperative_groups::this_grid(); g.sync();"))),
      HasSubstr("device: grid-wide groups"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("", "y[0] = __shfl_down(y[0], 1);"))),
              HasSubstr("device: shuffles without _sync"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("", "y = new float[4]; y[0] = 1;"))),
              HasSubstr("device: memory from the device heap"));
}

TEST(HostCompiler, RefusesLaunchesAndHostCode) {
  EXPECT_THAT(WhyRejected(CompileOutcome(With("__global__ void c();", "c<<<1, 1>>>();"))),
              HasSubstr("launches from code"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("int main() { return 0; }"))),
              AllOf(HasSubstr("host code is not allowed: main (line 9)"),
                    HasSubstr("mark helper functions __device__")));
  EXPECT_THAT(WhyRejected(CompileOutcome(
                  With("__device__ float f(float);\nfloat f(float x) { return x; }"))),
              HasSubstr("host code is not allowed: f (line 10)"));
  EXPECT_THAT(
      WhyRejected(CompileOutcome(With("}\nint f() { return 1; }\nnamespace {"))),
      HasSubstr("host code is not allowed: what follows the brace that closes more than was "
                "opened (line 9)"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("__host__ void g() {}"))),
              HasSubstr("host code is not allowed: g"));
}

TEST(HostCompiler, RefusesCodeThatWouldRunBeforeTheKernels) {
  EXPECT_THAT(
      WhyRejected(CompileOutcome(With("struct S { int v; __device__ S() : "
                                      "v(__builtin_popcount(clock())) {} };\n__device__ S s;",
                                      "y[0] = s.v;"))),
      HasSubstr("runs before the kernels"));
  EXPECT_THAT(
      WhyRejected(CompileOutcome(With(
          "__attribute__((constructor)) __device__ void early() { warpsmith_trap(\"early\"); }"))),
      HasSubstr("runs before the kernels"));
  EXPECT_THAT(WhyRejected(CompileOutcome(
                  With("__attribute__((section(\".init\"), used)) __device__ void early() {}"))),
              HasSubstr("section .init is not allowed"));
}

TEST(HostCompiler, RefusesFunctionsOfTheSystem) {
  EXPECT_THAT(WhyRejected(CompileOutcome(
                  With("extern \"C\" int system(const char*);", "y[0] = system(\"id\");"))),
              StartsWith("unsupported on the host device: system"));
  EXPECT_THAT(WhyRejected(CompileOutcome(With("", "y[0] = *(float*)__builtin_malloc(clock());"))),
              StartsWith("unsupported on the host device: malloc"));
}

TEST(HostCompiler, ANameOfLibcsInTheTextIsTheCandidatesOwn) {
  TestLane lane;
  lane.Output("y", Dtype::kFloat32, 1);
  const Outcome outcome = lane.Run(Candidate("write", "1", "1", "y", R"(
extern "C" __device__ int mmap() { return 3; }
extern "C" __global__ void write(float* y) { y[0] = mmap(); })"));
  EXPECT_TRUE(IsCorrect(outcome)) << Describe(outcome);
  EXPECT_EQ(lane.Floats("y")[0], 3.0f);
}

TEST(HostCompiler, NoWayOfWritingAnIncludeReachesAFile) {
  for (const char* text :
       {"#include \"/etc/passwd\"", "#include <../../secret>", "#inc\\\nlude \"/etc/passwd\"",
        "%:include \"/etc/passwd\"", "#define F \"/etc/passwd\"\n#include F",
        "#include_next <cuda_fp16.h>", "#import \"/etc/passwd\"", "#embed \"/etc/passwd\"",
        "#if __has_include(\"/etc/passwd\")\n#endif", "#line 1 \"/etc/passwd\"",
        "# 1 \"/etc/passwd\"", "#pragma GCC dependency \"/etc/passwd\"",
        "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")",
        "_Pragma(\" GCC dependency \\\"/etc/passwd\\\"\")", "#include <vector>",
        "#define NEVER 1'g'/*'\n#include \"/etc/passwd\"\n/* */",
        "const char* s = \"a\\ \n\" \"/*\";\n#include \"/etc/passwd\"\n/* */"}) {
    const std::string why = WhyRejected(CompileOutcome(With(text)));
    EXPECT_THAT(why, AllOf(Not(HasSubstr("not rejected")), Not(HasSubstr("root:")))) << text;
  }
}

TEST(HostCompiler, AssemblyPastedFromPiecesIsNoAssembly) {
  const Outcome outcome =
      CompileOutcome(With("#define P(a, b) a##b", "P(as, m)(\".incbin \\\"/etc/passwd\\\"\");"));
  EXPECT_TRUE(std::holds_alternative<CompileError>(outcome)) << Describe(outcome);
}

TEST(HostCompiler, EveryHeaderOfTheListIsThere) {
  std::string includes;
  for (const std::string& name : HostHeaders()) includes += "#include <" + name + ">\n";
  const Outcome outcome = CompileOutcome(With(includes));
  EXPECT_TRUE(IsCorrect(outcome)) << Describe(outcome);
}

TEST(HostCompiler, MessagesNameTheAuthorsLines) {
  const Outcome outcome = CompileOutcome(With("", "  y[0] = undeclared;"));
  const auto* error = std::get_if<CompileError>(&outcome);
  ASSERT_NE(error, nullptr) << Describe(outcome);
  EXPECT_THAT(
      error->log,
      AllOf(HasSubstr("candidate.cu:11:10: error: 'undeclared' was not declared"),
            HasSubstr("y[0] = undeclared;"), Not(HasSubstr("unit.cc")), Not(HasSubstr("/"))));
  const auto warned = MustCompile(With("", "  int a; y[0] = a;"));
  EXPECT_THAT(warned.log, HasSubstr("candidate.cu:11:"));
}

TEST(HostCompiler, AKernelOfThePlanThatIsNotInTheText) {
  const Outcome outcome =
      CompileOutcome(Candidate("other<4>", "1", "1", "y", "__global__ void k(float* y) {}\n"));
  const auto* error = std::get_if<CompileError>(&outcome);
  ASSERT_NE(error, nullptr) << Describe(outcome);
  EXPECT_THAT(error->log, AllOf(HasSubstr("launch plan"), HasSubstr("other")));
}

TEST(HostCompiler, ReadsTheParametersOfTemplatesAndPlainKernels) {
  const auto compiled = MustCompile(R"(/* warpsmith
launches:
  - {kernel: "k<float, 3>", grid: "1", block: "1", args: "y, 1, 2, 3, 4"}
  - {kernel: ns::plain, grid: "1", block: "1", args: "y"}
  - {kernel: "k<float, 3>", grid: "1", block: "1", args: "y, 1, 2, 3, 4"}
*/
struct Big { float a[4]; };
template <typename T, int N>
__global__ void k(T* y, const T a, unsigned char b, __nv_bfloat16 c, bool d) { y[N] = a; }
namespace ns { __global__ void plain(Big b) { __shared__ Big s[2]; s[0] = b; } }
)");
  ASSERT_EQ(compiled.kernels.size(), 2u);
  EXPECT_EQ(compiled.kernels[0].name, "k<float, 3>");
  EXPECT_EQ(compiled.kernels[0].parameters,
            (std::vector{ParameterType::kPointer, ParameterType::kFloat32, ParameterType::kUint8,
                         ParameterType::kBFloat16, ParameterType::kBool}));
  EXPECT_EQ(compiled.kernels[1].parameters, std::vector{ParameterType::kUnsupported});
  EXPECT_EQ(compiled.device_kind, DeviceKind::kHost);
}

TEST(HostCompiler, LimitsOfMemoryAreToldBeforeARun) {
  EXPECT_THAT(WhyRejected(CompileOutcome(With("__device__ float big[20000];",
                                              "big[clock() % 20000] = 1; y[0] = big[3];"))),
              HasSubstr("writable __device__ data of 80"));
  const Outcome outcome = CompileOutcome(
      With("", "__shared__ float s[100000]; s[clock() % 9] = 1; __syncthreads(); y[0] = s[3];"));
  const auto* error = std::get_if<ResourceError>(&outcome);
  ASSERT_NE(error, nullptr) << Describe(outcome);
  EXPECT_THAT(error->limit, HasSubstr("400000 bytes; the limit is 101376"));
}

TEST(HostCompiler, LineEndingsAndAByteOrderMarkDoNoHarm) {
  std::string text = With("#define TWICE(a) \\\n  (2 * (a))", "y[0] = TWICE(2);");
  std::string crlf = "\xef\xbb\xbf";
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_TRUE(IsCorrect(CompileOutcome(crlf))) << Describe(CompileOutcome(crlf));
  EXPECT_THAT(WhyRejected(CompileOutcome(text + std::string(1, '\0'))),
              Not(HasSubstr("not rejected")));
  EXPECT_THAT(WhyRejected(CompileOutcome("__global__ void k() {}")),
              Not(HasSubstr("not rejected")));
}

TEST(HostCompiler, ABombEndsAtTheLimit) {
  HostCompilerOptions options;
  options.limit = std::chrono::milliseconds(500);
  HostCompiler compiler(options);
  CompileRequest request;
  request.text = With(
      "template <int N, unsigned M> struct T { static constexpr unsigned v = T<N - 1, M * 2>::v + "
      "T<N - 1, M * 2 + 1>::v; };\n"
      "template <unsigned M> struct T<0, M> { static constexpr unsigned v = M; };",
      "y[0] = T<25, 1>::v;");
  const auto reply = compiler.Compile(request);
  const auto* outcome = std::get_if<Outcome>(&reply.result);
  ASSERT_NE(outcome, nullptr);
  EXPECT_TRUE(std::holds_alternative<Timeout>(*outcome)) << Describe(*outcome);
}

TEST(HostCompiler, ABinaryBeyondTheLimitOfFilesIsNoMistakeInTheText) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{64 << 20, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome outcome = CompileOutcome(
      With("__device__ __align__(1 << 28) float far[4];", "far[clock() % 4] = 1; y[0] = far[3];"));
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(std::holds_alternative<ResourceError>(outcome)) << Describe(outcome);
}

TEST(HostCompiler, LeavesNothingBehind) {
  auto folder = TempDirectory::Make("host-compiler-test-").value();
  const char* before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "/tmp" : before;
  setenv("TMPDIR", folder.path().c_str(), 1);
  EXPECT_TRUE(IsCorrect(CompileOutcome(With(""))));
  EXPECT_FALSE(IsCorrect(CompileOutcome(With("", "syntax error"))));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  setenv("TMPDIR", saved.c_str(), 1);
}

TEST(HostCompiler, SaysWhatIsMissing) {
  HostCompilerOptions options;
  options.share = "/nonexistent";
  CompileRequest request;
  request.text = With("");
  const auto reply = HostCompiler(options).Compile(request);
  EXPECT_THAT(Describe(std::get<Outcome>(reply.result)), HasSubstr("no shim in /nonexistent"));
  request.device_kind = DeviceKind::kCuda;
  EXPECT_TRUE(IsInfrastructure(std::get<Outcome>(HostCompiler().Compile(request).result)));
}

std::string HostFunction(std::string_view text) {
  const auto stripped = std::get<StrippedText>(StripText(text));
  return FindHostFunction(stripped).value_or("none");
}

TEST(FindHostFunction, KnowsWhatIsDeviceCode) {
  for (const char* text :
       {"__device__ int f(int a) { if (a) { return 1; } return 2; }",
        "template <typename T, int N = (3 > 2)> __global__ void __launch_bounds__(256) k(T* p) {}",
        "#define DEV __device__ __forceinline__\nDEV float f() { return 1; }",
        "#define KERNEL(name) __global__ void name(float* y)\nKERNEL(k) { y[0] = 1; }",
        "namespace a { namespace b { static __device__ void f() {} } }",
        "extern \"C\" { __global__ void k() {} }",
        "struct alignas(16) V { float v[4]; __device__ float& operator[](int i) { return v[i]; } "
        "};",
        "struct __align__(8) P { float a, b; };\n__device__ P make(float a) { return {a, a}; }",
        "__constant__ float t[2] = {1, 2}; enum class E : int { a = (1), b };",
        "constexpr int up(int a) { return a + 1; }",
        "template <> struct S<int> { static constexpr int v = 3; };",
        "// int main() {}\nconst char* s = \"int main() {\";",
        "__device__ auto f(int a) -> decltype(a) { return a; }", "int broken() {"})
    EXPECT_EQ(HostFunction(text), "none") << text;
}

TEST(FindHostFunction, WalksAsDeepAsATextGoes) {
  std::string deep, end;
  for (int i = 0; i < 100'000; ++i) deep += "extern{", end += '}';
  EXPECT_EQ(HostFunction(deep + end), "none");
  EXPECT_EQ(HostFunction(deep + "int f() { return 1; }" + end), "f (line 1)");
}

TEST(FindHostFunction, KnowsHostCode) {
  EXPECT_EQ(HostFunction("#include <x>\n\nvoid launch(float* y) { }"), "launch (line 3)");
  EXPECT_EQ(HostFunction("namespace a {\nstatic inline int f() { return 1; }\n}"), "f (line 2)");
  EXPECT_EQ(HostFunction("template <typename T> T g(T a) { return a; }"), "g (line 1)");
  EXPECT_EQ(HostFunction("struct S {\n  int get() const { return 1; }\n};"), "get (line 2)");
  EXPECT_EQ(HostFunction("__device__ void ok() {}\nint main(int argc, char** argv) { return 0; }"),
            "main (line 2)");
}

TEST(ObjectFile, RefusesBytesThatAreNoObject) {
  EXPECT_FALSE(ReadObject("not an object"));
  std::string object = MakeSharedMemoryObject({"a", "b"}, 64);
  const auto read = ReadObject(object);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->symbols.size(), 2u);
  for (size_t cut = 0; cut < object.size(); cut += 7)
    (void)ReadObject(std::string_view(object).substr(0, cut));
  for (size_t i = 0; i < object.size(); ++i) {
    std::string damaged = object;
    damaged[i] = static_cast<char>(~damaged[i]);
    (void)ReadObject(damaged);
  }
}

}  // namespace
}  // namespace warpsmith
