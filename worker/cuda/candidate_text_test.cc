#include "worker/cuda/candidate_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpsmith {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string WhyRejected(std::string_view text) {
  const auto result = CheckDeviceText(text);
  const auto* rejected = std::get_if<Rejected>(&result);
  return rejected == nullptr ? "" : rejected->why;
}

std::vector<std::string> Includes(std::string_view text) {
  const auto result = CheckDeviceText(text);
  const auto* includes = std::get_if<std::vector<std::string>>(&result);
  return includes == nullptr ? std::vector<std::string>{"rejected: " + WhyRejected(text)}
                             : *includes;
}

TEST(CandidateText, NoWayOfWritingAnIncludeReachesAHostFile) {
  for (const char* text : {"#include \"/etc/passwd\"\n",
                           "#include </etc/passwd>\n",
                           "#include \"../secret.h\"\n",
                           "#include \"cuda/../../../etc/passwd\"\n",
                           " \t# \t include \"/etc/passwd\"\n",
                           "#inc\\\nlude \"/etc/passwd\"\n",
                           "#include \\\n\"/etc/passwd\"\n",
                           "/* a */ # /* b */ include /* \"cuda_fp16.h\" */ \"/etc/passwd\"\n",
                           "%:include \"/etc/passwd\"\n",
                           "?\?=include \"/etc/passwd\"\n",
                           "#define F \"/etc/passwd\"\n#include F\n",
                           "#include_next <cuda_fp16.h>\n",
                           "#import \"/etc/passwd\"\n",
                           "#embed \"/etc/passwd\"\n",
                           "// hidden\r#include \"/etc/passwd\"\n",
                           "#if __has_include(\"/etc/passwd\")\n#endif\n",
                           "#include <cuda_fp16.h/*\n*/>\n",
                           "const char* s = \"//\";\n#include \"/etc/passwd\"\n",
                           "int x = '\"';\n#include \"/etc/passwd\"\n",
                           "int n = 1'000;\n#include \"/etc/passwd\"\n//'\n",
                           "#include </**//etc/passwd>\n",
                           "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
                           "#include <vector>\n"})
    EXPECT_NE(WhyRejected(text), "") << text;
}

TEST(CandidateText, NamesTheLineOfARefusedInclude) {
  EXPECT_THAT(WhyRejected("// one\n\n#include <torch/extension.h>\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("torch/extension.h"), HasSubstr("cuda_fp16.h")));
}

TEST(CandidateText, AllowsTheToolkitsDeviceHeadersAndStandardNames) {
  EXPECT_THAT(
      Includes("#include <cuda_fp16.h>\n#include \"mma.h\"\n# include <cstdint> // why\n"
               "#include <cooperative_groups/reduce.h>\n#include <cub/block/block_reduce.cuh>\n"),
      ElementsAre("cuda_fp16.h", "mma.h", "cstdint", "cooperative_groups/reduce.h",
                  "cub/block/block_reduce.cuh"));
}

TEST(CandidateText, WhatIsOnlyACommentOrAStringIsNoDirective) {
  EXPECT_THAT(
      Includes("// #include <torch/extension.h>\n/*\n#include \"/etc/passwd\"\n a<<<1, 1>>>() */\n"
               "__device__ const char* s = \"#include <x> <<<\";\n"),
      ElementsAre());
}

TEST(CandidateText, RefusesLaunchesFromCode) {
  EXPECT_THAT(WhyRejected("__global__ void p() {\n  c<<<1, 1>>>();\n}\n"),
              HasSubstr("line 2: launches"));
  EXPECT_EQ(WhyRejected("__device__ int f(int a) { return a << 3; }\n"), "");
}

TEST(CandidateText, RefusesRawStringsThatWouldHideDirectives) {
  EXPECT_THAT(WhyRejected("const char* s = R\"(\n#include \"x\")\";\n"), HasSubstr("raw string"));
}

}  // namespace
}  // namespace warpsmith
