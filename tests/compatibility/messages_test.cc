// Every record that an earlier release encoded is decoded by this one, and means what it meant:
// encoded again, each field that the earlier release knew has the value it had, and each field that
// it did not know has its default.
#include <capnp/compat/json.h>
#include <capnp/dynamic.h>
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "common/wire/codec.h"
#include "schema/child.capnp.h"
#include "schema/child.h"
#include "schema/coordinator.capnp.h"
#include "schema/coordinator.h"
#include "schema/learner.capnp.h"
#include "schema/outcome.capnp.h"
#include "schema/run.capnp.h"
#include "schema/trajectory.capnp.h"
#include "tests/compatibility/golden.h"

namespace warpsmith {
namespace {

using capnp::DynamicValue;

constexpr size_t kHeaderBytes = 8;  // of ours, before Cap'n Proto's

template <typename Message>
struct Kind;
#define KIND(Message)                              \
  template <>                                      \
  struct Kind<Message> {                           \
    using Struct = wire::Message;                  \
    static constexpr const char* kName = #Message; \
  };
KIND(ToCoordinator)
KIND(FromCoordinator)
KIND(WeightsRequest)
KIND(WeightsReply)
KIND(CompileRequest)
KIND(CompileReply)
KIND(ToOracle)
KIND(FromOracle)
KIND(ToRunner)
KIND(FromRunner)
KIND(ToPolicy)
KIND(FromPolicy)
KIND(Trajectory)
KIND(RunSpec)
KIND(JobBody)
KIND(Evaluation)
KIND(CheckpointDurable)
#undef KIND

// Where two structs of one schema differ in what they say, or nothing. A null pointer says the same
// as an empty text, an empty list or a struct of defaults.
std::string Difference(const DynamicValue::Reader& expected, const DynamicValue::Reader& found);

bool IsRetired(capnp::StructSchema::Field field) {
  constexpr uint64_t kRetired = 0xbafcbecad8e97ba1;  // schema/record.capnp
  for (const auto annotation : field.getProto().getAnnotations())
    if (annotation.getId() == kRetired) return true;
  return false;
}

std::string StructDifference(const capnp::DynamicStruct::Reader& expected,
                             const capnp::DynamicStruct::Reader& found) {
  const auto of_field = [&](capnp::StructSchema::Field field) -> std::string {
    if (IsRetired(field)) return "";  // what old bytes hold there is not read
    const std::string difference = Difference(expected.get(field), found.get(field));
    return difference.empty() ? "" : "." + std::string(field.getProto().getName()) + difference;
  };
  for (const auto field : expected.getSchema().getNonUnionFields())
    if (std::string difference = of_field(field); !difference.empty()) return difference;
  if (expected.getSchema().getUnionFields().size() == 0) return "";
  const auto alternative = [](const capnp::DynamicStruct::Reader& reader) -> std::string {
    KJ_IF_MAYBE (field, reader.which()) {
      return std::string(field->getProto().getName());
    }
    return "an alternative that the schema does not know";
  };
  if (alternative(expected) != alternative(found))
    return ": " + alternative(found) + ", not " + alternative(expected);
  KJ_IF_MAYBE (field, expected.which()) {
    return of_field(*field);
  }
  return ": an alternative that the schema does not know";
}

template <typename Value>
std::string Unless(bool same, const Value& expected, const Value& found) {
  return same ? "" : kj::str(": ", found, ", not ", expected).cStr();
}

std::string Difference(const DynamicValue::Reader& expected, const DynamicValue::Reader& found) {
  switch (expected.getType()) {
    case DynamicValue::VOID: return "";
    case DynamicValue::BOOL:
      return Unless(expected.as<bool>() == found.as<bool>(), expected, found);
    case DynamicValue::INT:
      return Unless(expected.as<int64_t>() == found.as<int64_t>(), expected, found);
    case DynamicValue::UINT:
      return Unless(expected.as<uint64_t>() == found.as<uint64_t>(), expected, found);
    case DynamicValue::FLOAT: {
      const double a = expected.as<double>();
      const double b = found.as<double>();
      const bool same = std::isnan(a) ? std::isnan(b) : std::memcmp(&a, &b, sizeof a) == 0;
      return Unless(same, expected, found);
    }
    case DynamicValue::ENUM: {
      const uint16_t a = expected.as<capnp::DynamicEnum>().getRaw();
      const uint16_t b = found.as<capnp::DynamicEnum>().getRaw();
      return Unless(a == b, a, b);
    }
    case DynamicValue::TEXT:
      return Unless(expected.as<capnp::Text>() == found.as<capnp::Text>(), expected, found);
    case DynamicValue::DATA:
      return Unless(expected.as<capnp::Data>() == found.as<capnp::Data>(), expected, found);
    case DynamicValue::LIST: {
      const auto a = expected.as<capnp::DynamicList>();
      const auto b = found.as<capnp::DynamicList>();
      if (a.size() != b.size()) return Unless(false, a.size(), b.size()) + " elements";
      for (unsigned i = 0; i < a.size(); ++i)
        if (const auto difference = Difference(a[i], b[i]); !difference.empty())
          return "[" + std::to_string(i) + "]" + difference;
      return "";
    }
    case DynamicValue::STRUCT:
      return StructDifference(expected.as<capnp::DynamicStruct>(),
                              found.as<capnp::DynamicStruct>());
    default: return ": a type that no record has";
  }
}

// The golden JSON under this release's schema. A field that this schema does not know throws.
template <typename Message>
void ReadJson(const std::string& json, capnp::MallocMessageBuilder& message) {
  capnp::JsonCodec codec;
  codec.setRejectUnknownFields(true);
  codec.decode(kj::arrayPtr(json.data(), json.size()),
               message.initRoot<typename Kind<Message>::Struct>());
}

// What bytes say, header and all, against golden JSON.
template <typename Message>
std::string Compare(const std::string& json, const std::string& bytes) {
  using Struct = typename Kind<Message>::Struct;
  capnp::MallocMessageBuilder golden;
  ReadJson<Message>(json, golden);
  auto words = kj::heapArray<capnp::word>((bytes.size() - kHeaderBytes) / sizeof(capnp::word));
  std::memcpy(words.begin(), bytes.data() + kHeaderBytes, words.size() * sizeof(capnp::word));
  capnp::FlatArrayMessageReader reader(words);
  return StructDifference(golden.getRoot<Struct>().asReader(),
                          capnp::DynamicStruct::Reader(reader.getRoot<Struct>()));
}

template <typename Message>
class Messages : public testing::Test {};
using Kinds =
    testing::Types<ToCoordinator, FromCoordinator, WeightsRequest, WeightsReply, CompileRequest,
                   CompileReply, ToOracle, FromOracle, ToRunner, FromRunner, ToPolicy, FromPolicy,
                   Trajectory, RunSpec, JobBody, Evaluation, CheckpointDurable>;
TYPED_TEST_SUITE(Messages, Kinds);

TYPED_TEST(Messages, OfEarlierReleasesMeanWhatTheyMeant) {
  for (const auto& release : GoldenReleases()) {
    const auto records = GoldenRecords(release, Kind<TypeParam>::kName);
    ASSERT_FALSE(records.empty());
    for (size_t i = 0; i < records.size(); ++i) {
      SCOPED_TRACE(release.filename().string() + " " + Kind<TypeParam>::kName + ", record " +
                   std::to_string(i));
      ASSERT_EQ(Compare<TypeParam>(records[i].json, records[i].bytes), "")
          << "this release's schema reads the old bytes otherwise";
      const auto message = Decode<TypeParam>(records[i].bytes);
      ASSERT_TRUE(message) << message.error().message;
      ASSERT_EQ(Compare<TypeParam>(records[i].json, Encode(*message)), "")
          << "decoded and encoded again, the record says something else";
    }
  }
}

// The comparison itself: no two records of a kind are the same, and it must see that.
TYPED_TEST(Messages, ThatDifferAreToldApart) {
  for (const auto& release : GoldenReleases()) {
    const auto records = GoldenRecords(release, Kind<TypeParam>::kName);
    for (size_t i = 1; i < records.size(); ++i)
      ASSERT_NE(Compare<TypeParam>(records[i].json, records[i - 1].bytes), "") << i;
  }
}

}  // namespace
}  // namespace warpsmith
