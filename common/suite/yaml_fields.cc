#include "common/suite/yaml_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/parse.h"
#include "common/suite/expression.h"

namespace warpsmith {
namespace {

const char* KindName(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar: return "a single value";
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
  }
  return "";
}

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t up = row[j];
      row[j] = std::min({up + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = up;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Shown(std::string_view text) {
  constexpr size_t kMost = 60;
  size_t end = std::min(text.size(), kMost);
  // Not in the middle of a character of UTF-8.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  std::string shown(text.substr(0, end));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return shown + (text.size() > end ? "..." : "");
}

std::optional<std::string_view> Nearest(std::string_view word,
                                        const std::vector<std::string_view>& words) {
  std::optional<std::string_view> best;
  if (word.size() > 64) return best;
  size_t least = word.size() / 3 + 1;  // farther away is no misspelling
  for (const auto known : words) {
    const size_t distance = Distance(word, known);
    if (distance <= least) {
      if (!best || distance < least) best = known;
      least = distance;
    }
  }
  return best;
}

std::string Alternatives(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  return text;
}

Fields::Fields(const YamlNode& node, std::string what,
               std::initializer_list<std::string_view> known, YamlProblems* problems)
    : node_(node), what_(std::move(what)), problems_(problems) {
  const std::vector<std::string_view> names(known);
  if (!node.is_map()) {
    if (node.kind != YamlNode::Kind::kNull || !names.empty())
      problems_->Add(node, fmt::format("{} is {}; write a map with {}", what_, KindName(node),
                                       Alternatives(names)));
    return;
  }
  for (const auto& [key, value] : node.entries) {
    if (std::find(names.begin(), names.end(), key.text) != names.end()) continue;
    const auto nearest = Nearest(key.text, names);
    problems_->Add(key, fmt::format("{} has no field `{}`; write {}", what_, Shown(key.text),
                                    nearest ? std::string(*nearest) : Alternatives(names)));
  }
}

const YamlNode* Fields::Find(std::string_view name) const {
  for (const auto& [key, value] : node_.entries)
    if (key.text == name) return value.kind == YamlNode::Kind::kNull ? nullptr : &value;
  return nullptr;
}

const YamlNode* Fields::Require(std::string_view name, std::string_view example) const {
  const YamlNode* found = Find(name);
  if (!found && node_.is_map())
    problems_->Add(node_, fmt::format("{} lacks `{}`; write {}", what_, name, example));
  return found;
}

std::optional<double> ReadNumber(const YamlNode& node, std::string_view name,
                                 YamlProblems* problems) {
  if (!node.is_scalar()) {
    problems->Add(node, fmt::format("{} is {}; write a number", name, KindName(node)));
    return std::nullopt;
  }
  std::string_view digits = node.text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto value = ParseWhole<double>(digits);
  const bool plain = value && std::isfinite(*value);
  if (plain && !node.quoted) return value;
  if (plain && node.quoted)
    problems->Add(node, fmt::format("{} is a quoted number; write {} without quotes", name,
                                    Shown(node.text)));
  else
    problems->Add(node, fmt::format("{} is `{}`; write a finite number such as 1e-3", name,
                                    Shown(node.text)));
  return std::nullopt;
}

std::optional<double> ReadBounded(const YamlNode& node, std::string_view name, double low,
                                  double high, YamlProblems* problems) {
  const auto value = ReadNumber(node, name, problems);
  if (!value || (*value >= low && *value <= high)) return value;
  problems->Add(node,
                std::isfinite(high)
                    ? fmt::format("{} is {}; write a number from {} to {}", name, *value, low, high)
                    : fmt::format("{} is {}; write a number of at least {}", name, *value, low));
  return std::nullopt;
}

std::optional<int64_t> ReadInteger(const YamlNode& node, std::string_view name, int64_t low,
                                   int64_t high, YamlProblems* problems) {
  if (node.is_scalar() && !node.quoted) {
    const auto value = ParseWhole<int64_t>(node.text);
    if (value && *value >= low && *value <= high) return value;
  }
  problems->Add(node, fmt::format("{} is {}; write a whole number from {} to {}{}", name,
                                  node.is_scalar() ? "`" + Shown(node.text) + "`"
                                                   : std::string(KindName(node)),
                                  low, high, node.quoted ? ", without quotes" : ""));
  return std::nullopt;
}

std::optional<bool> ReadBool(const YamlNode& node, std::string_view name, YamlProblems* problems) {
  if (node.is_scalar() && !node.quoted) {
    if (node.text == "true") return true;
    if (node.text == "false") return false;
  }
  problems->Add(node, fmt::format("{} is {}; write true or false", name,
                                  node.is_scalar() ? "`" + Shown(node.text) + "`"
                                                   : std::string(KindName(node))));
  return std::nullopt;
}

std::optional<std::string> ReadText(const YamlNode& node, std::string_view name,
                                    YamlProblems* problems) {
  if (node.is_scalar()) return node.text;
  problems->Add(node, fmt::format("{} is {}; write a text", name, KindName(node)));
  return std::nullopt;
}

std::optional<std::string> ReadWord(const YamlNode& node, std::string_view name,
                                    const std::vector<std::string_view>& words,
                                    YamlProblems* problems) {
  if (node.is_scalar() && std::find(words.begin(), words.end(), node.text) != words.end())
    return node.text;
  problems->Add(node, fmt::format("{} is {}; write {}", name,
                                  node.is_scalar() ? "`" + Shown(node.text) + "`"
                                                   : std::string(KindName(node)),
                                  Alternatives(words)));
  return std::nullopt;
}

std::optional<std::vector<std::string>> ReadList(const YamlNode& node, std::string_view name,
                                                 YamlProblems* problems) {
  std::string joined;
  if (node.is_scalar()) {
    joined = node.text;
  } else if (node.is_list()) {
    for (const auto& item : node.items) {
      if (!item.is_scalar()) {
        problems->Add(
            item, fmt::format("{} holds {} inside its list; write one text, or a flat list", name,
                              KindName(item)));
        return std::nullopt;
      }
      joined += (joined.empty() ? "" : ", ") + item.text;
    }
    if (node.items.empty()) return std::vector<std::string>{};
  } else {
    problems->Add(node, fmt::format("{} is {}; write one text, or a list", name, KindName(node)));
    return std::nullopt;
  }
  auto parts = SplitList(joined);
  if (parts) return std::move(*parts);
  problems->Add(node, fmt::format("{}: {}", name, parts.error().message));
  return std::nullopt;
}

std::optional<std::string> ReadExpression(const YamlNode& node, std::string_view name,
                                          YamlProblems* problems) {
  auto text = ReadText(node, name, problems);
  if (!text) return text;
  if (const auto status = CheckExpression(*text); !status) {
    problems->Add(node, fmt::format("{}: {}", name, status.error().message));
    return std::nullopt;
  }
  return text;
}

std::optional<std::vector<std::string>> ReadExpressions(const YamlNode& node, std::string_view name,
                                                        YamlProblems* problems) {
  auto parts = ReadList(node, name, problems);
  if (!parts) return parts;
  for (const auto& part : *parts) {
    if (const auto status = CheckExpression(part); !status) {
      problems->Add(node, fmt::format("{}: {}", name, status.error().message));
      return std::nullopt;
    }
  }
  return parts;
}

}  // namespace warpsmith
