#include "common/runtime/child_flags.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace warpsmith {
namespace {

using testing::HasSubstr;

Result<ChildFlags> Read(std::vector<const char*> words) {
  words.insert(words.begin(), "program");
  return ChildFlags::Read(static_cast<int>(words.size()), words.data(),
                          {"--device", "--index", "--fd"}, {"--announce"});
}

std::string WhyNot(const std::vector<const char*>& words) {
  const auto flags = Read(words);
  if (!flags) return flags.error().message;
  const auto index = flags->Whole("--index");
  return index ? "" : index.error().message;
}

TEST(ChildFlags, RubbishIsNamedAndNeverTakenForZero) {
  for (const char* value : {"x", "1x", "-1", "", "+1", " 1", "0x1", "99999999999"})
    EXPECT_THAT(WhyNot({"--index", value}), HasSubstr("--index")) << value;
  EXPECT_THAT(WhyNot({}), HasSubstr("--index is missing"));
  EXPECT_THAT(WhyNot({"--index"}), HasSubstr("--index: 1 required value missing"));
  EXPECT_THAT(WhyNot({"--index", "1", "--index", "2"}), HasSubstr("--index: At Most 1"));
  EXPECT_THAT(WhyNot({"--announce", "--announce"}), HasSubstr("--announce: At Most 1"));
  EXPECT_THAT(WhyNot({"--indx", "1"}), HasSubstr("'--indx' is no flag"));
  EXPECT_THAT(WhyNot({"1"}), HasSubstr("'1' is no flag"));
  EXPECT_THAT(WhyNot({"--help"}), HasSubstr("'--help' is no flag"));
}

TEST(ChildFlags, ADeviceIsOneThatThereIs) {
  EXPECT_EQ(Read({"--device", "cuda"})->Device("--device").value(), DeviceKind::kCuda);
  EXPECT_THAT(Read({"--device", "gpu"})->Device("--device").error().message, HasSubstr("'gpu'"));
}

TEST(ChildFlags, ADescriptorMustBeOpenAndIsTakenOver) {
  const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const std::string text = std::to_string(fd);
  const auto flags = Read({"--fd", text.c_str()});
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->Descriptor("--fd").value().get(), fd);
  const auto again = flags->Descriptor("--fd");
  ASSERT_FALSE(again) << "the first one was closed with its owner";
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidInput);
  EXPECT_THAT(again.error().message, HasSubstr("not open"));
}

TEST(ChildFlags, ReadsWhatASupervisorWrites) {
  const auto flags = Read({"--device", "host", "--index", "0", "--announce"});
  ASSERT_TRUE(flags);
  EXPECT_EQ(flags->Whole("--index").value(), 0);
  EXPECT_TRUE(flags->Has("--announce"));
  EXPECT_FALSE(flags->Has("--quiet"));
}

}  // namespace
}  // namespace warpsmith
