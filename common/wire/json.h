// Any record as JSON, derived from its description: members by their names, enums by their words,
// a variant as an object whose one key is the alternative's name, {"correct": {...}}; durations in
// seconds, under the member's name and "_s". Numbers that are not finite become null when they are
// written. Pure.
#pragma once

#include <array>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "schema/record.h"

namespace warpsmith {

using Json = nlohmann::ordered_json;

template <typename T>
requires std::is_arithmetic_v<T> Json ToJson(T value) { return value; }
inline Json ToJson(const std::string& text) { return text; }
inline Json ToJson(const Unrecognized& unknown) { return unknown.number; }
template <RecordEnum E>
Json ToJson(E value) {
  return ToString(value);
}
template <typename Tag, typename Rep>
Json ToJson(const Id<Tag, Rep>& id) {
  return id.value();
}
template <typename T>
requires requires { RecordOf<T>::kName; }
Json ToJson(const T& record);
template <typename... Alternatives>
Json ToJson(const std::variant<Alternatives...>& variant);
template <typename T>
Json ToJson(const std::optional<T>& value);
template <typename T>
Json ToJson(const std::vector<T>& values);
template <typename T, size_t N>
Json ToJson(const std::array<T, N>& values);
template <typename T>
Json ToJson(const std::map<std::string, T>& values);

template <typename T>
requires requires { RecordOf<T>::kName; }
Json ToJson(const T& record) {
  Json json = Json::object();
  RecordOf<T>::ForEach(record, [&](const char* name, const auto& member) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Duration>) {
      json[std::string(name) + "_s"] = std::chrono::duration<double>(member).count();
    } else {
      json[name] = ToJson(member);
    }
  });
  return json;
}
template <typename... Alternatives>
Json ToJson(const std::variant<Alternatives...>& variant) {
  const char* name = UnionOf<std::variant<Alternatives...>>::kNames[variant.index()];
  return {{name, std::visit([](const auto& alternative) { return ToJson(alternative); }, variant)}};
}
template <typename T>
Json ToJson(const std::optional<T>& value) {
  return value ? ToJson(*value) : Json();
}
template <typename List>
Json ListJson(const List& values) {
  Json json = Json::array();
  for (const auto& value : values) json.push_back(ToJson(value));
  return json;
}
template <typename T>
Json ToJson(const std::vector<T>& values) {
  return ListJson(values);
}
template <typename T, size_t N>
Json ToJson(const std::array<T, N>& values) {
  return ListJson(values);
}
template <typename T>
Json ToJson(const std::map<std::string, T>& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = ToJson(value);
  return json;
}

// One line. Texts of candidates may hold bytes that are no UTF-8: those become U+FFFD.
inline std::string JsonLine(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace warpsmith
