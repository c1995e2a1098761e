// How values travel in Cap'n Proto messages. Each record has one table of its fields (the
// *_records.h beside this), which writing, reading and tests all walk:
//
//   WIRE_RECORD(Turn, r) {              // struct Turn of common/model, struct Turn of the schema
//     FIELD(r.action, Action);          // member, the schema's field with a capital
//     FIELD(r.reward, Reward);
//   }
//   WIRE_UNION(JobBody, r) {            // a std::variant; members are named as their types
//     ALTERNATIVE(RolloutJob);
//     ALTERNATIVE(EvaluationJob);
//   }
//   WIRE_ENUM(Stage, kProfile)          // by value; the last one is the range check
//
// Reading throws Corrupt, or what kj throws; codec_impl.h catches both. Only *_records.h and the
// codec's own .cc files include this.
#pragma once

#include <capnp/any.h>
#include <capnp/message.h>
#include <capnp/schema.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/check.h"
#include "common/base/clock.h"
#include "common/base/ids.h"

namespace warpsmith::wire_io {

struct Corrupt : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Specialised by the macros.
template <typename T>
struct Record;
template <typename Enum>
struct EnumRange;

// How a T is written into a slot (a field or a list's element) and read from what a getter returns.
template <typename T>
struct Value;

// ---- slots

template <typename Builder, typename SetField, typename InitField>
struct FieldSlot {
  template <typename V>
  void Set(V value) {
    set(message, value);
  }
  template <typename... Size>
  auto Init(Size... size) {
    return init(message, size...);
  }

  Builder message;
  SetField set;
  InitField init;
};

template <typename List>
struct ElementSlot {
  template <typename V>
  void Set(V value) {
    list.set(index, static_cast<std::remove_cvref_t<decltype(list[index])>>(value));
  }
  auto Init() { return list[index]; }
  auto Init(size_t size) { return list.init(index, static_cast<unsigned>(size)); }

  List list;
  unsigned index;
};

// ---- walking a record

template <typename Builder>
struct Writer {
  template <typename T, typename SetField, typename InitField, typename Get>
  void Field(const T& value, SetField set, InitField init, Get) {
    Value<T>::Write(FieldSlot<Builder, SetField, InitField>{message, set, init}, value);
  }
  template <typename T, typename Variant, typename Is, typename InitField, typename Get>
  void Alternative(const Variant& variant, Is, InitField init, Get) {
    const T* value = std::get_if<T>(&variant);
    if (!value) return;
    Value<T>::Write(FieldSlot<Builder, int, InitField>{message, 0, init}, *value);
    matched = true;
  }

  Builder message;
  bool matched = false;
};

template <typename Reader>
struct ReaderWalk {
  template <typename T, typename SetField, typename InitField, typename Get>
  void Field(T& value, SetField, InitField, Get get) {
    value = Value<T>::Read(get(message));
  }
  template <typename T, typename Variant, typename Is, typename InitField, typename Get>
  void Alternative(Variant& variant, Is is, InitField, Get get) {
    if (!is(message)) return;
    variant = Value<T>::Read(get(message));
    matched = true;
  }

  Reader message;
  bool matched = false;
};

// A peer of this format version writes every struct in full. Anything smaller (a null pointer, a
// list of empty elements) would let a few bytes become much memory here.
template <typename Reader>
void RequireWhole(Reader reader) {
  static const auto layout = capnp::Schema::from<typename Reader::Reads>().getProto().getStruct();
  static const size_t data_bytes = layout.getDataWordCount() * sizeof(capnp::word);
  static const size_t pointers = layout.getPointerCount();
  const capnp::AnyStruct::Reader any(reader);
  if (any.getDataSection().size() < data_bytes || any.getPointerSection().size() < pointers)
    throw Corrupt("a struct that is not whole");
}

// Records and variants: a struct of the schema.
template <typename T>
struct Value {
  static_assert(std::is_class_v<T>, "a record has a WIRE_RECORD or WIRE_UNION");

  template <typename Slot>
  static void Write(Slot slot, const T& record) {
    WriteTo(slot.Init(), record);
  }
  // Not inline, so that model_codec.cc can compile the large ones for all.
  template <typename Builder>
  static void WriteTo(Builder message, const T& record);
  template <typename Reader>
  static T Read(Reader message);
};

template <typename T>
template <typename Builder>
void Value<T>::WriteTo(Builder message, const T& record) {
  Writer<Builder> walk{message};
  Record<T>::Fields(walk, record);
  CHECK(walk.matched || !Record<T>::kUnion, "every alternative is in the union's table");
}

template <typename T>
template <typename Reader>
T Value<T>::Read(Reader message) {
  RequireWhole(message);
  T record{};
  ReaderWalk<Reader> walk{message};
  Record<T>::Fields(walk, record);
  if (Record<T>::kUnion && !walk.matched) throw Corrupt("an alternative that is not known");
  return record;
}

// ---- numbers, enums, ids, texts

template <typename T>
requires std::is_arithmetic_v<T>
struct Value<T> {
  template <typename Slot>
  static void Write(Slot slot, T value) {
    slot.Set(value);
  }
  static T Read(T value) { return value; }
};

template <typename T>
requires std::is_enum_v<T>
struct Value<T> {
  template <typename Slot>
  static void Write(Slot slot, T value) {
    slot.Set(static_cast<uint16_t>(value));
  }
  template <typename Wire>
  static T Read(Wire value) {
    if (static_cast<uint16_t>(value) > static_cast<uint16_t>(EnumRange<T>::kLast))
      throw Corrupt("a word that is not known");
    return static_cast<T>(static_cast<uint16_t>(value));
  }
};

template <>
struct Value<Duration> {
  template <typename Slot>
  static void Write(Slot slot, Duration value) {
    slot.Set(int64_t{value.count()});
  }
  static Duration Read(int64_t nanoseconds) { return Duration(nanoseconds); }
};

// Text and Data alike.
template <>
struct Value<std::string> {
  template <typename Slot>
  static void Write(Slot slot, const std::string& value) {
    auto to = slot.Init(static_cast<unsigned>(value.size()));
    if (!value.empty()) std::memcpy(to.begin(), value.data(), value.size());
  }
  template <typename Bytes>
  static std::string Read(Bytes bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
  }
};

template <typename Tag, typename Rep>
struct Value<Id<Tag, Rep>> {
  template <typename Slot>
  static void Write(Slot slot, const Id<Tag, Rep>& id) {
    Value<Rep>::Write(slot, id.value());
  }
  template <typename Wire>
  static Id<Tag, Rep> Read(Wire value) {
    return Id<Tag, Rep>(Value<Rep>::Read(value));
  }
};

// ---- lists

template <typename T>
struct Value<std::vector<T>> {
  template <typename Slot>
  static void Write(Slot slot, const std::vector<T>& values) {
    auto list = slot.Init(static_cast<unsigned>(values.size()));
    for (unsigned i = 0; i < values.size(); ++i)
      Value<T>::Write(ElementSlot<decltype(list)>{list, i}, values[i]);
  }
  template <typename List>
  static std::vector<T> Read(List list) {
    std::vector<T> values;
    // Grows with elements that proved to be whole, not with what a pointer claims.
    values.reserve(std::min<size_t>(list.size(), 1024));
    for (auto element : list) values.push_back(Value<T>::Read(element));
    return values;
  }
};

// Bytes travel as Data.
template <>
struct Value<std::vector<uint8_t>> {
  template <typename Slot>
  static void Write(Slot slot, const std::vector<uint8_t>& values) {
    auto to = slot.Init(static_cast<unsigned>(values.size()));
    std::copy(values.begin(), values.end(), to.begin());
  }
  static std::vector<uint8_t> Read(capnp::Data::Reader bytes) {
    return {bytes.begin(), bytes.end()};
  }
};

template <typename T, size_t N>
struct Value<std::array<T, N>> {
  template <typename Slot>
  static void Write(Slot slot, const std::array<T, N>& values) {
    Value<std::vector<T>>::Write(slot, std::vector<T>(values.begin(), values.end()));
  }
  template <typename List>
  static std::array<T, N> Read(List list) {
    if (list.size() != N) throw Corrupt("a list of another length");
    const std::vector<T> values = Value<std::vector<T>>::Read(list);
    std::array<T, N> result;
    std::copy(values.begin(), values.end(), result.begin());
    return result;
  }
};

// A list of one or none.
template <typename T>
struct Value<std::optional<T>> {
  template <typename Slot>
  static void Write(Slot slot, const std::optional<T>& value) {
    Value<std::vector<T>>::Write(slot, value ? std::vector<T>{*value} : std::vector<T>{});
  }
  template <typename List>
  static std::optional<T> Read(List list) {
    if (list.size() > 1) throw Corrupt("two where one at most may be");
    if (list.size() == 0) return std::nullopt;
    return Value<T>::Read(list[0]);
  }
};

// A list of pairs with different keys.
template <typename Key, typename Mapped>
struct Value<std::map<Key, Mapped>> {
  using Pairs = std::vector<std::pair<Key, Mapped>>;
  template <typename Slot>
  static void Write(Slot slot, const std::map<Key, Mapped>& map) {
    Value<Pairs>::Write(slot, Pairs(map.begin(), map.end()));
  }
  template <typename List>
  static std::map<Key, Mapped> Read(List list) {
    std::map<Key, Mapped> map;
    for (auto& pair : Value<Pairs>::Read(list))
      if (!map.insert(std::move(pair)).second) throw Corrupt("a name that stands twice");
    return map;
  }
};

}  // namespace warpsmith::wire_io

#define WIRE_TABLE(Type, r, is_union)        \
  template <>                                \
  struct Record<Type> {                      \
    static constexpr bool kUnion = is_union; \
    template <typename Walk, typename R>     \
    static void Fields(Walk& walk, R& r);    \
  };                                         \
  template <typename Walk, typename R>       \
  void Record<Type>::Fields([[maybe_unused]] Walk& walk, [[maybe_unused]] R& r)

#define WIRE_RECORD(Type, r) WIRE_TABLE(Type, r, false)
#define WIRE_UNION(Type, r) WIRE_TABLE(Type, r, true)

#define WIRE_ENUM(Enum, last)                 \
  template <>                                 \
  struct EnumRange<Enum> {                    \
    static constexpr Enum kLast = Enum::last; \
  };

#define FIELD(member, Name)                                                                        \
  walk.Field(                                                                                      \
      member,                                                                                      \
      [](auto message, auto value) {                                                               \
        message.set##Name(static_cast<std::remove_cvref_t<decltype(message.get##Name())>>(value)); \
      },                                                                                           \
      [](auto message, auto... size) { return message.init##Name(size...); },                      \
      [](auto message) { return message.get##Name(); })

#define ALTERNATIVE(Type)                                                     \
  walk.template Alternative<Type>(                                            \
      r, [](auto message) { return message.is##Type(); },                     \
      [](auto message, auto... size) { return message.init##Type(size...); }, \
      [](auto message) { return message.get##Type(); })
