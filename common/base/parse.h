// Numbers read from text, strictly.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>

namespace warpsmith {

// The number that the whole text is, in decimal; nothing where anything stands before or behind it
// (a blank, a '+', "0x"), where there is no text, or where the number does not fit T. A double may
// be "inf" or "nan". Pure.
template <typename T>
requires(std::integral<T> ||
         std::floating_point<T>) std::optional<T> ParseWhole(std::string_view text) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

}  // namespace warpsmith
