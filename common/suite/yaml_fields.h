// Typed, strict reading of a YAML tree: every reader reports what is wrong and what to write
// instead, and returns nothing, so that a file's problems come out all at once. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/suite/yaml_tree.h"

namespace warpsmith {

// The entries of one map. Construction reports unknown fields (with the nearest known one) and,
// where the node is no map, that.
class Fields {
 public:
  // `what` names the map in messages: "task", "input x".
  Fields(const YamlNode& node, std::string what, std::initializer_list<std::string_view> known,
         YamlProblems* problems);

  // Null where the field is not there, or holds nothing.
  const YamlNode* Find(std::string_view name) const;
  // As Find, and reports a missing field; `example` is what to write, as "rtol: 1e-4".
  const YamlNode* Require(std::string_view name, std::string_view example) const;

  const YamlNode& node() const { return node_; }
  const std::string& what() const { return what_; }
  YamlProblems* problems() const { return problems_; }

 private:
  const YamlNode& node_;
  const std::string what_;
  YamlProblems* problems_;
};

// A finite number written plainly: 1e-3, 1E-3, .001; never quoted, never nan, inf or 1e-3f.
std::optional<double> ReadNumber(const YamlNode& node, std::string_view name,
                                 YamlProblems* problems);
std::optional<int64_t> ReadInteger(const YamlNode& node, std::string_view name, int64_t low,
                                   int64_t high, YamlProblems* problems);
// As ReadNumber, and inside [low, high].
std::optional<double> ReadBounded(const YamlNode& node, std::string_view name, double low,
                                  double high, YamlProblems* problems);
// true or false, unquoted.
std::optional<bool> ReadBool(const YamlNode& node, std::string_view name, YamlProblems* problems);
// Any scalar's text, quoted or not.
std::optional<std::string> ReadText(const YamlNode& node, std::string_view name,
                                    YamlProblems* problems);
// One of a few words.
std::optional<std::string> ReadWord(const YamlNode& node, std::string_view name,
                                    const std::vector<std::string_view>& words,
                                    YamlProblems* problems);
// One string, or a list of scalars: joined by commas and split again outside brackets.
std::optional<std::vector<std::string>> ReadList(const YamlNode& node, std::string_view name,
                                                 YamlProblems* problems);
// An expression's text, with its grammar checked.
std::optional<std::string> ReadExpression(const YamlNode& node, std::string_view name,
                                          YamlProblems* problems);
// As ReadList, each part an expression.
std::optional<std::vector<std::string>> ReadExpressions(const YamlNode& node, std::string_view name,
                                                        YamlProblems* problems);

// The beginning of a text as a message may show it: short, without control characters.
std::string Shown(std::string_view text);

// The word of `words` nearest to `word`, if it is near at all.
std::optional<std::string_view> Nearest(std::string_view word,
                                        const std::vector<std::string_view>& words);

// "a, b or c".
std::string Alternatives(const std::vector<std::string_view>& words);

}  // namespace warpsmith
