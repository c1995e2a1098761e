// The few forms in which members travel in Cap'n Proto, for the generated conversions, which are
// the only ones that include this. Reading throws CorruptMessage, or what kj throws.
#pragma once

#include <capnp/any.h>
#include <capnp/list.h>
#include <capnp/schema.h>
#include <capnp/serialize.h>

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/wire/budget.h"
#include "schema/record.h"

namespace warpsmith {

// ---- writing

// What of a value goes into a field.
inline int64_t Plain(Duration value) { return value.count(); }
template <typename Tag, typename Rep>
const Rep& Plain(const Id<Tag, Rep>& id) {
  return id.value();
}
template <typename T>
const T& Plain(const T& value) {
  return value;
}

// Text and Data. An empty one is a null pointer.
template <typename Bytes, typename Init>
void PutBytes(const Bytes& bytes, Init init) {
  if (std::size(bytes) == 0) return;
  auto to = init(static_cast<unsigned>(std::size(bytes)));
  std::memcpy(to.begin(), std::data(bytes), std::size(bytes));
}

template <typename Values, typename Init>
void PutList(const Values& values, Init init);

template <typename List, typename T>
void PutElement(List& list, unsigned i, const T& value) {
  using Element = std::remove_cvref_t<decltype(list[i])>;
  if constexpr (std::is_arithmetic_v<Element>) {
    list.set(i, static_cast<Element>(Plain(value)));
  } else if constexpr (std::is_enum_v<Element>) {
    list.set(i, static_cast<Element>(value));
  } else if constexpr (std::is_same_v<Element, capnp::Text::Builder> ||
                       std::is_same_v<Element, capnp::Data::Builder>) {
    PutBytes(Plain(value), [&](unsigned size) { return list.init(i, size); });
  } else if constexpr (requires { list[i].size(); }) {
    PutList(value, [&](unsigned size) { return list.init(i, size); });
  } else {
    Write(list[i], value);
  }
}

template <typename Values, typename Init>
void PutList(const Values& values, Init init) {
  if (values.empty()) return;
  auto list = init(static_cast<unsigned>(values.size()));
  unsigned i = 0;
  for (const auto& value : values) PutElement(list, i++, value);
}

template <typename T, typename Init>
void PutList(const std::optional<T>& value, Init init) {
  if (!value) return;
  auto list = init(1u);
  PutElement(list, 0, *value);
}

// Pair: the record of an entry.
template <typename Pair, typename Key, typename Mapped, typename Init>
void PutMap(const std::map<Key, Mapped>& map, Init init) {
  if (map.empty()) return;
  auto list = init(static_cast<unsigned>(map.size()));
  unsigned i = 0;
  for (const auto& [key, value] : map) Write(list[i++], Pair{key, value});
}

// An alternative of a later release, as it came.
template <typename Builder>
void PutUnrecognized(Builder to, const Unrecognized& from) {
  const auto layout = capnp::Schema::from<typename Builder::Builds>().getProto().getStruct();
  capnp::AnyStruct::Builder any(std::move(to));
  std::memcpy(any.getDataSection().begin() + layout.getDiscriminantOffset() * sizeof from.number,
              &from.number, sizeof from.number);
  if (from.content.empty()) return;
  auto words = kj::heapArray<capnp::word>(from.content.size() / sizeof(capnp::word));
  std::memcpy(words.begin(), from.content.data(), words.size() * sizeof(capnp::word));
  capnp::FlatArrayMessageReader message(words);
  any.getPointerSection()[0].set(message.getRoot<capnp::AnyPointer>());
}

// ---- reading

template <typename Wire, typename T>
requires std::is_arithmetic_v<T>
void Get(Wire from, T& to, Budget&) { to = from; }

template <typename Wire, typename T>
requires std::is_enum_v<T>
void Get(Wire from, T& to, Budget&) { to = static_cast<T>(static_cast<uint16_t>(from)); }

inline void Get(int64_t from, Duration& to, Budget&) { to = Duration(from); }

template <typename Bytes>
void Get(Bytes from, std::string& to, Budget& budget) {
  budget.Take(from.size());
  to.assign(reinterpret_cast<const char*>(from.begin()), from.size());
}

inline void Get(capnp::Data::Reader from, std::vector<uint8_t>& to, Budget& budget) {
  budget.Take(from.size());
  to.assign(from.begin(), from.end());
}

template <typename Wire, typename Tag, typename Rep>
void Get(Wire from, Id<Tag, Rep>& to, Budget& budget) {
  Rep value{};
  Get(from, value, budget);
  to = Id<Tag, Rep>(std::move(value));
}

template <typename List, typename T>
requires requires(List list) { list[0]; }
void Get(List from, std::vector<T>& to, Budget& budget);

template <typename Wire, typename T>
void GetElement(Wire from, T& to, Budget& budget) {
  if constexpr (requires { Read(from, to, budget); }) {
    Read(from, to, budget);
  } else {
    Get(from, to, budget);
  }
}

template <typename List, typename T>
requires requires(List list) { list[0]; }
void Get(List from, std::vector<T>& to, Budget& budget) {
  budget.Take(from.size() * sizeof(T));
  to.resize(from.size());
  for (unsigned i = 0; i < from.size(); ++i) GetElement(from[i], to[i], budget);
}

// Lists, and Data for bytes. Missing: stays as it is in a fresh record.
template <typename List, typename T, size_t N>
void Get(List from, std::array<T, N>& to, Budget& budget) {
  if (from.size() == 0) return;
  if (from.size() != N) throw CorruptMessage("a list of another length");
  for (unsigned i = 0; i < N; ++i) Get(from[i], to[i], budget);
}

template <typename List, typename T>
void Get(List from, std::optional<T>& to, Budget& budget) {
  if (from.size() > 1) throw CorruptMessage("two where one at most may be");
  if (from.size() == 1) GetElement(from[0], to.emplace(), budget);
}

template <typename Pair, typename List, typename Key, typename Mapped>
void GetMap(List from, std::map<Key, Mapped>& to, Budget& budget) {
  constexpr size_t kNode = sizeof(std::pair<Key, Mapped>) + 4 * sizeof(void*);
  for (auto element : from) {
    budget.Take(kNode);
    Pair pair;
    Read(element, pair, budget);
    auto& [key, value] = pair;
    if (!to.emplace(std::move(key), std::move(value)).second)
      throw CorruptMessage("a name that stands twice");
  }
}

template <typename Reader>
void GetUnrecognized(Reader from, Unrecognized& to, Budget& budget) {
  to.number = static_cast<uint16_t>(from.which());
  const auto pointers = capnp::AnyStruct::Reader(from).getPointerSection();
  if (pointers.size() == 0 || pointers[0].isNull()) return;
  budget.Take(pointers[0].targetSize().wordCount * sizeof(capnp::word));
  capnp::MallocMessageBuilder copy;
  copy.setRoot(pointers[0]);
  const auto words = capnp::messageToFlatArray(copy);
  const auto bytes = words.asBytes();
  to.content.assign(reinterpret_cast<const char*>(bytes.begin()), bytes.size());
}

}  // namespace warpsmith
