#include "policy/torch/safetensors.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "common/base/random.h"
#include "common/runtime/files.h"

namespace warpsmith {
namespace {

using ::testing::HasSubstr;

TensorFile Small() {
  return {.metadata = {{"step", "7"}, {"name", "a \"quoted\" one"}},
          .tensors = {{"a.weight", {.shape = {2, 3}, .values = {1, -2, 3.5f, 0, 1e-30f, 6}}},
                      {"b", {.shape = {}, .values = {9}}},
                      {"empty", {.shape = {0, 4}, .values = {}}}}};
}

std::string WithHeader(const std::string& header, const std::string& data) {
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string Problem(const std::string& bytes) {
  const auto file = DecodeTensors(bytes);
  if (file) return "none";
  EXPECT_EQ(file.error().code, ErrorCode::kCorrupt);
  return file.error().message;
}

TEST(Safetensors, RefusesATornFileAtEveryByte) {
  const std::string whole = EncodeTensors(Small());
  ASSERT_TRUE(DecodeTensors(whole));
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(Problem(whole.substr(0, size)), "none") << size;
  EXPECT_NE(Problem(whole + "x"), "none");
}

TEST(Safetensors, RefusesHeadersThatLie) {
  const std::string data(8, '\0');
  EXPECT_THAT(Problem(WithHeader("[1]", data)), HasSubstr("no JSON object"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F16","shape":[4],"data_offsets":[0,8]}})", data)),
      HasSubstr("F32"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", data)),
      HasSubstr("fit"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})", data)),
      HasSubstr("fit"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", data)),
      HasSubstr("fit"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", data)),
      HasSubstr("shape"));
  EXPECT_THAT(
      Problem(WithHeader(
          R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})", data)),
      HasSubstr("shape"));
  EXPECT_THAT(
      Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data)),
      HasSubstr("not what the header describes"));
  EXPECT_THAT(Problem(std::string(8, '\xff')), HasSubstr("beyond the file"));
  // Two tensors over the first half, and nothing over the second.
  EXPECT_THAT(Problem(WithHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                                 R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                                 data)),
              HasSubstr("shares its data"));
  EXPECT_THAT(Problem(WithHeader(std::string(2 << 20, '['), data)), HasSubstr("1 MiB"));
}

TEST(Safetensors, NoMutationCrashes) {
  const std::string whole = EncodeTensors(Small());
  Random random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (uint64_t n = 1 + random.Below(4); n > 0; --n)
      bytes[random.Below(bytes.size())] = static_cast<char>(random.Bits());
    (void)DecodeTensors(bytes);
  }
}

TEST(Safetensors, ComesBackAsItWas) {
  const auto temp = TempDirectory::Make("safetensors");
  ASSERT_TRUE(temp);
  const auto path = temp->path() / "weights.safetensors";
  EXPECT_EQ(ReadTensors(path).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(WriteTensors(path, Small()));
  const auto back = ReadTensors(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, Small());
  // The data starts aligned for those who map the file.
  uint64_t length = 0;
  std::memcpy(&length, EncodeTensors(Small()).data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

}  // namespace
}  // namespace warpsmith
