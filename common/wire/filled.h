// Test support: records filled with random content by the same tables that the codec walks, and a
// check that a table names every member.
#pragma once

#include "common/base/random.h"
#include "common/wire/fields.h"

namespace warpsmith::wire_io {

class Filler {
 public:
  explicit Filler(uint64_t seed) : random_(seed) {}

  template <typename T>
  T Make() {
    T value{};
    Fill(value);
    return value;
  }

  // Called by Record<T>::Fields.
  template <typename T, typename... Accessors>
  void Field(T& member, Accessors...) {
    Fill(member);
  }
  template <typename T, typename Variant, typename... Accessors>
  void Alternative(Variant& variant, Accessors...) {
    if (alternative_++ == wanted_) variant = Make<T>();
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
  template <typename T>
  requires std::is_enum_v<T>
  void Fill(T& value) {
    value = static_cast<T>(random_.Below(static_cast<uint64_t>(EnumRange<T>::kLast) + 1));
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
  template <typename T>
  requires requires { Record<T>::kUnion; }
  void Fill(T& record) {
    const auto saved = std::pair(alternative_, wanted_);
    alternative_ = 0;
    if constexpr (Record<T>::kUnion) wanted_ = random_.Below(std::variant_size_v<T>);
    Record<T>::Fields(*this, record);
    std::tie(alternative_, wanted_) = saved;
  }

  Random random_;
  uint64_t alternative_ = 0;
  uint64_t wanted_ = 0;
};

// Counts what a table names.
struct Counter {
  template <typename... Arguments>
  void Field(Arguments&&...) {
    ++count;
  }
  template <typename T, typename... Arguments>
  void Alternative(Arguments&&...) {
    ++count;
  }
  size_t count = 0;
};

template <typename T>
size_t FieldsInTable() {
  T record{};
  Counter counter;
  Record<T>::Fields(counter, record);
  return counter.count;
}

// Converts to anything, so that aggregate initialisation tells how many members a struct has.
struct AnyMember {
  template <typename T>
  operator T() const;
};

template <typename T, size_t... I>
constexpr bool TakesMembers(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyMember{})...}; };
}

template <typename T, size_t N = 40>
constexpr size_t MembersOf() {
  if constexpr (TakesMembers<T>(std::make_index_sequence<N>())) {
    return N;
  } else {
    static_assert(N > 0);
    return MembersOf<T, N - 1>();
  }
}

}  // namespace warpsmith::wire_io
