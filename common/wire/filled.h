// Test support: records filled with random content, by the same lists of members that everything
// else is generated from.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/random.h"
#include "schema/record.h"

namespace warpsmith {

class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  template <typename T>
  T Make() {
    T value{};
    Fill(value);
    return value;
  }

 private:
  template <typename T>
  requires std::is_arithmetic_v<T>
  void Fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = random_.Chance(0.5);
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(random_.Uniform() - 0.5);
    } else {
      value = static_cast<T>(random_.Bits64());
    }
  }
  template <RecordEnum E>
  void Fill(E& value) {
    do {
      value = static_cast<E>(random_.Below(EnumWords<E>::kWords.size()));
    } while (!IsKnown(value));
  }
  void Fill(Duration& value) { value = Duration(static_cast<int64_t>(random_.Bits64())); }
  void Fill(std::string& value) {
    value.resize(random_.Below(12));
    for (char& c : value) c = static_cast<char>(random_.Bits());  // NUL and all
  }
  template <typename Tag, typename Rep>
  void Fill(Id<Tag, Rep>& id) {
    id = Id<Tag, Rep>(Make<Rep>());
  }
  template <typename T>
  void Fill(std::vector<T>& values) {
    values.resize(random_.Below(3));
    for (T& value : values) Fill(value);
  }
  template <typename T, size_t N>
  void Fill(std::array<T, N>& values) {
    for (T& value : values) Fill(value);
  }
  template <typename T>
  void Fill(std::optional<T>& value) {
    if (random_.Chance(0.5)) value = Make<T>();
  }
  template <typename Key, typename Mapped>
  void Fill(std::map<Key, Mapped>& map) {
    for (uint64_t i = random_.Below(3); i > 0; --i) map.emplace(Make<Key>(), Make<Mapped>());
  }
  // One of the known alternatives.
  template <typename... Known>
  void Fill(std::variant<Unrecognized, Known...>& variant) {
    uint64_t wanted = random_.Below(sizeof...(Known));
    ((wanted-- == 0 ? static_cast<void>(variant = Make<Known>()) : void()), ...);
  }
  template <typename T>
  requires requires { RecordOf<T>::kName; }
  void Fill(T& record) {
    RecordOf<T>::ForEach(record, [&](const char*, auto& member) { Fill(member); });
  }

  Random random_;
};

}  // namespace warpsmith
