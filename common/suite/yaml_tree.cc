#include "common/suite/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <set>
#include <streambuf>
#include <tuple>

namespace warpsmith {
namespace {

// Leaves the parser at once; caught in ParseYaml.
struct Stop {
  YamlPlace place;
  std::string text;
};

YamlPlace PlaceOf(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlLimits& limits, YamlProblems* problems)
      : limits_(limits), problems_(problems) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { NoAnchors(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { NoAnchors(mark); }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (anchor) NoAnchors(mark);
    Place(YamlNode{.kind = YamlNode::Kind::kNull, .place = PlaceOf(mark)});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (anchor) NoAnchors(mark);
    // yaml-cpp marks what was quoted or written as a block with the tag "!", and plain text with
    // "?".
    if (tag != "?" && tag != "!" && !tag.empty()) NoTags(mark);
    Place(YamlNode{.kind = YamlNode::Kind::kScalar,
                   .place = PlaceOf(mark),
                   .text = value,
                   .quoted = tag == "!"});
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;  // a map's key that waits for its value
    std::set<std::string> keys;
  };

  [[noreturn]] static void NoAnchors(const YAML::Mark& mark) {
    throw Stop{PlaceOf(mark),
               "anchors and aliases are not allowed; write the value out, or put "
               "quotes around a text that begins with & or *"};
  }
  [[noreturn]] static void NoTags(const YAML::Mark& mark) {
    throw Stop{PlaceOf(mark), "tags are not allowed; write the plain value"};
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    if (anchor) NoAnchors(mark);
    if (tag != "?" && tag != "!" && !tag.empty()) NoTags(mark);
    if (static_cast<int>(open_.size()) >= limits_.max_depth)
      throw Stop{PlaceOf(mark), fmt::format("nested more than {} deep", limits_.max_depth)};
    open_.push_back({.node = {.kind = kind, .place = PlaceOf(mark)}});
  }

  void Close() {
    YamlNode node = std::move(open_.back().node);
    open_.pop_back();
    Place(std::move(node));
  }

  // Puts a finished node where it belongs.
  void Place(YamlNode node) {
    if (open_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.is_list()) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.key) {
      if (!node.is_scalar()) throw Stop{node.place, "a key must be a plain name"};
      frame.key = std::move(node);
    } else {
      if (frame.keys.insert(frame.key->text).second)
        frame.node.entries.emplace_back(std::move(*frame.key), std::move(node));
      else
        problems_->Add(*frame.key,
                       fmt::format("`{}` stands here twice; keep one of them", frame.key->text));
      frame.key.reset();
    }
  }

  const YamlLimits limits_;
  YamlProblems* problems_;
  std::vector<Frame> open_;
};

class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // only ever read
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

void YamlProblems::Add(YamlPlace place, std::string text) {
  if (problems_.size() >= kMax) {
    ++more_;
    return;
  }
  for (char& c : text)  // what stands in a file must not move a terminal's cursor
    if ((static_cast<unsigned char>(c) < 32 && c != '\n') || c == 127) c = ' ';
  problems_.push_back({place, std::move(text)});
}

std::string YamlProblems::ToString(std::string_view file) const {
  auto sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  std::string text;
  for (const auto& p : sorted)
    text += fmt::format("{}{}:{}:{}: {}", text.empty() ? "" : "\n", file, p.place.line,
                        p.place.column, p.text);
  if (more_ > 0) text += fmt::format("\n{}: and {} more problems", file, more_);
  return text;
}

std::optional<YamlNode> ParseYaml(std::string_view text, const YamlLimits& limits,
                                  YamlProblems* problems) {
  if (text.size() > limits.max_bytes) {
    problems->Add(YamlPlace{},
                  fmt::format("{} bytes; at most {} are allowed", text.size(), limits.max_bytes));
    return std::nullopt;
  }
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const int line = static_cast<int>(std::count(text.begin(), text.begin() + nul, '\n')) + 1;
    problems->Add(YamlPlace{line, 1}, "a NUL byte; write plain text in UTF-8");
    return std::nullopt;
  }
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder builder(limits, problems);
    if (!parser.HandleNextDocument(builder)) {
      problems->Add(YamlPlace{}, "the file is empty");
      return std::nullopt;
    }
    YamlProblems ignored;
    TreeBuilder second(limits, &ignored);
    if (parser.HandleNextDocument(second)) {
      problems->Add(second.root, "a second document begins here; keep one a file");
      return std::nullopt;
    }
    return std::move(builder.root);
  } catch (const Stop& stop) {
    problems->Add(stop.place, stop.text);
  } catch (const YAML::Exception& e) {
    problems->Add(e.mark.is_null() ? YamlPlace{} : PlaceOf(e.mark), "not valid YAML: " + e.msg);
  } catch (const std::exception& e) {
    problems->Add(YamlPlace{}, fmt::format("not valid YAML: {}", e.what()));
  }
  return std::nullopt;
}

}  // namespace warpsmith
