// What the generated records share: their descriptions, which JSON, logs and tests walk, and what
// stands for a word that this release does not know. Pure.
//
//   RecordOf<T>::ForEach(record, [](const char* name, auto& member) { ... })   a struct's members
//   UnionOf<V>::kNames                                                         a variant's
//   alternatives EnumWords<E>::kWords                                                     an enum's
//   words
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpsmith {

// An alternative that a later release sent. Its content is kept as it came, so that what is read
// here and written again loses nothing; nobody may take it for any of the known ones. It is also
// what a fresh variant holds, and what is read where the variant is missing.
struct Unrecognized {
  static constexpr uint16_t kNone = 0xffff;
  uint16_t number = kNone;  // in the schema's union
  std::string content;      // a Cap'n Proto message; empty: none
  bool operator==(const Unrecognized&) const = default;
};

// Specialised in the generated headers.
template <typename T>
struct RecordOf;
template <typename Variant>
struct UnionOf;
template <typename Enum>
struct EnumWords;

template <typename E>
concept RecordEnum = requires {
  EnumWords<E>::kWords;
};

// The value is one of the schema of this release. Another is carried as it came.
template <RecordEnum E>
constexpr bool IsKnown(E value) {
  const auto number = static_cast<size_t>(value);
  return number < EnumWords<E>::kWords.size() && EnumWords<E>::kWords[number] != nullptr;
}

template <RecordEnum E>
constexpr const char* ToString(E value) {
  return IsKnown(value) ? EnumWords<E>::kWords[static_cast<size_t>(value)] : "unrecognized";
}

template <RecordEnum E>
constexpr std::optional<E> ParseWord(std::string_view word) {
  for (size_t i = 0; i < EnumWords<E>::kWords.size(); ++i)
    if (IsKnown(static_cast<E>(i)) && word == EnumWords<E>::kWords[i]) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace warpsmith
