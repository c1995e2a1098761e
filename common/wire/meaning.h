// What a record says, as a text that stays the same while its encoding and its schema evolve: its
// members by name, without those that are as in a fresh record. Two records say the same exactly
// when their texts are equal, and a member that a later release adds changes no text until it is
// used. For digests that decide something. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/wire/json.h"

namespace warpsmith {

template <typename T>
Json MeaningOf(const T& value) {
  if constexpr (requires { RecordOf<T>::kName; }) {
    std::vector<Json> fresh;
    const T untouched{};
    RecordOf<T>::ForEach(
        untouched, [&](const char*, const auto& member) { fresh.push_back(MeaningOf(member)); });
    Json said = Json::object();
    size_t i = 0;
    RecordOf<T>::ForEach(value, [&](const char* name, const auto& member) {
      Json meaning = MeaningOf(member);
      if (meaning != fresh[i++]) said[name] = std::move(meaning);
    });
    return said;
  } else if constexpr (requires(T list) { list.push_back(list[0]); } &&
                       !std::is_same_v<T, std::string>) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(MeaningOf(element));
    return list;
  } else if constexpr (requires { UnionOf<T>::kName; }) {
    return {{UnionOf<T>::kNames[value.index()],
             std::visit(
                 [](const auto& alternative) {
                   if constexpr (std::is_same_v<std::decay_t<decltype(alternative)>, Unrecognized>)
                     return ToJson(alternative);
                   else
                     return MeaningOf(alternative);
                 },
                 value)}};
  } else if constexpr (std::is_same_v<T, Duration>) {
    return value.count();
  } else {
    return ToJson(value);
  }
}

template <typename T>
std::string MeaningText(const T& record) {
  return JsonLine(MeaningOf(record));
}

}  // namespace warpsmith
