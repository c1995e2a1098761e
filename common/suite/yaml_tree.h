// YAML as suites, runs and plans use it: a tree of plain values with places, and nothing clever.
// Anchors, aliases, tags, duplicate keys, more than one document, and texts that are too big or too
// deep are refused, so that no file can mean more than what a reader sees. Pure; yaml-cpp and its
// exceptions stay inside.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct YamlPlace {
  int line = 1;    // from 1
  int column = 1;  // from 1, bytes
};

struct YamlNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  YamlPlace place;
  std::string text;     // of a scalar
  bool quoted = false;  // the scalar was written in quotes, or as a block
  std::vector<YamlNode> items;
  std::vector<std::pair<YamlNode, YamlNode>> entries;  // of a map, in order; keys are scalars

  bool is_map() const { return kind == Kind::kMap; }
  bool is_list() const { return kind == Kind::kList; }
  bool is_scalar() const { return kind == Kind::kScalar; }
};

struct YamlLimits {
  size_t max_bytes = 1 << 20;
  int max_depth = 16;
};

struct YamlProblem {
  YamlPlace place;
  std::string text;
};

// All that is wrong with one file; at most kMax are kept, the rest is counted.
class YamlProblems {
 public:
  static constexpr size_t kMax = 100;

  void Add(YamlPlace place, std::string text);
  void Add(const YamlNode& node, std::string text) { Add(node.place, std::move(text)); }
  bool empty() const { return problems_.empty(); }
  const std::vector<YamlProblem>& list() const { return problems_; }
  // "file:line:column: text" a line, in the order of the file.
  std::string ToString(std::string_view file) const;

 private:
  std::vector<YamlProblem> problems_;
  size_t more_ = 0;
};

// The tree, or nothing and a problem. Duplicate keys are problems, but the tree is still returned
// (the first one counts), so that everything else can be checked too.
std::optional<YamlNode> ParseYaml(std::string_view text, const YamlLimits& limits,
                                  YamlProblems* problems);

}  // namespace warpsmith
