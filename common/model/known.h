// Whether a record holds only words and alternatives that this release knows. Decode carries others
// as they came; whoever is about to act on a record (run a task, talk to a child of the same
// release) asks here first. Pure.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/base/result.h"
#include "schema/record.h"

namespace warpsmith {

namespace known {

// Each answers with the place of the first that is not known ("inputs[2].dtype"), or with "".
template <typename T>
std::string UnknownIn(const T&) {
  return "";  // numbers, texts, ids
}
template <RecordEnum E>
std::string UnknownIn(const E& value) {
  return IsKnown(value) ? "" : " (value " + std::to_string(static_cast<unsigned>(value)) + ")";
}
template <typename T>
requires requires { RecordOf<T>::kName; }
std::string UnknownIn(const T& record);
template <typename T>
std::string UnknownIn(const std::optional<T>& value);
template <typename T>
std::string UnknownIn(const std::vector<T>& values);
template <typename Key, typename T>
std::string UnknownIn(const std::map<Key, T>& values);

template <typename... Alternatives>
std::string UnknownIn(const std::variant<Alternatives...>& variant) {
  using Names = UnionOf<std::variant<Alternatives...>>;
  return std::visit(
      [&](const auto& alternative) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(alternative)>, Unrecognized>) {
          return alternative.number == Unrecognized::kNone
                     ? " (missing)"
                     : " (alternative " + std::to_string(alternative.number) + ")";
        } else {
          const std::string inner = UnknownIn(alternative);
          return inner.empty() ? "" : "." + std::string(Names::kNames[variant.index()]) + inner;
        }
      },
      variant);
}

template <typename T>
requires requires { RecordOf<T>::kName; }
std::string UnknownIn(const T& record) {
  std::string place;
  RecordOf<T>::ForEach(record, [&](const char* name, const auto& member) {
    if (!place.empty()) return;
    const std::string inner = UnknownIn(member);
    if (!inner.empty()) place = "." + std::string(name) + inner;
  });
  return place;
}
template <typename T>
std::string UnknownIn(const std::optional<T>& value) {
  return value ? UnknownIn(*value) : "";
}
template <typename T>
std::string UnknownIn(const std::vector<T>& values) {
  if constexpr (!std::is_arithmetic_v<T>) {
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string inner = UnknownIn(values[i]);
      if (!inner.empty()) return "[" + std::to_string(i) + "]" + inner;
    }
  }
  return "";
}
template <typename Key, typename T>
std::string UnknownIn(const std::map<Key, T>& values) {
  for (const auto& [key, value] : values) {
    const std::string inner = UnknownIn(value);
    if (!inner.empty()) return inner;
  }
  return "";
}

}  // namespace known

// kInvalidInput names the place: "task.inputs[2].dtype (value 17) is of a later release".
template <typename T>
Status CheckKnown(const T& record) {
  std::string place = known::UnknownIn(record);
  if (place.empty()) return {};
  if (place.starts_with('.')) place.erase(0, 1);
  return Fail(ErrorCode::kInvalidInput,
              place + " is of a later release; bring this program to that release");
}

}  // namespace warpsmith
