// The plain structs of a schema file, with its comments, and what JSON, logs and tests walk.
#include <sstream>

#include "schema/generator/names.h"
#include "schema/generator/output.h"

namespace warpsmith::generator {
namespace {

std::string Comment(const std::string& text, const std::string& indent) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);)
    result += indent + (line.empty() ? "//" : "// " + line) + "\n";
  return result;
}

// A member with its comment: behind it where there is room, else before it.
std::string Member(const std::string& line, const std::string& comment) {
  const bool one_line = !comment.empty() && comment.find('\n') == comment.size() - 1;
  if (one_line && line.size() + comment.size() < 96) return line + "  // " + comment;
  return Comment(comment, "  ") + line + "\n";
}

std::string WordsOf(const Node& node) {
  std::string words;
  for (const Enumerant& e : node.enumerants)
    words += e.retired ? "      nullptr,\n" : "      \"" + e.word + "\",\n";
  return "template <>\nstruct EnumWords<" + node.name +
         "> {\n  static constexpr std::array<const char*, " +
         std::to_string(node.enumerants.size()) + "> kWords{\n" + words + "  };\n};\n\n";
}

std::string EnumText(const Node& node) {
  std::string text = Comment(node.comment, "") + "enum class " + node.name + " : uint16_t {\n";
  for (size_t i = 0; i < node.enumerants.size(); ++i) {
    const Enumerant& e = node.enumerants[i];
    if (!e.retired)
      text += Member("  k" + Capital(e.name) + " = " + std::to_string(i) + ",", e.comment);
  }
  return text + "};\n\n" + WordsOf(node);
}

std::string UnionText(const Node& node) {
  std::string types = "Unrecognized", names = "\"unrecognized\"", numbers = "Unrecognized::kNone";
  for (const Field& f : node.fields) {
    types += ",\n                           " + f.type.cpp;
    names += ", \"" + Snake(f.name) + "\"";
    numbers += ", " + std::to_string(f.number);
  }
  const std::string count = std::to_string(node.fields.size() + 1);
  return Comment(node.comment, "") + "using " + node.name + " = std::variant<" + types +
         ">;\n\ntemplate <>\nstruct UnionOf<" + node.name +
         "> {\n  static constexpr const char* kName = \"" + node.name +
         "\";\n  static constexpr std::array<const char*, " + count + "> kNames{" + names +
         "};\n};\n\n";
}

std::string RecordText(const Node& node) {
  std::string text = Comment(node.comment, "") + "struct " + node.name + " {\n";
  std::string visits;
  for (const Field& f : node.fields) {
    if (f.retired) continue;
    const std::string member = Snake(f.name);
    text += Member("  " + f.cpp + " " + member + "{" + f.init + "};", f.comment);
    visits += "    visit(\"" + member + "\", record." + member + ");\n";
  }
  if (!node.fields.empty()) text += "\n";
  text += node.ordered ? "  auto operator<=>(const " + node.name + "&) const = default;\n"
                       : "  bool operator==(const " + node.name + "&) const = default;\n";
  text += "};\n\ntemplate <>\nstruct RecordOf<" + node.name +
          "> {\n  static constexpr const char* kName = \"" + node.name +
          "\";\n  template <typename R, typename Visit>\n"
          "  static void ForEach([[maybe_unused]] R& record, [[maybe_unused]] Visit&& visit) {\n" +
          visits + "  }\n};\n\n";
  return text;
}

}  // namespace

std::string HeaderText(const File& file) {
  std::string text =
      "// Generated from schema/" + file.name +
      ".capnp, which says what it means. Not to be edited.\n#pragma once\n\n"
      "#include <array>\n#include <compare>\n#include <cstdint>\n#include <map>\n"
      "#include <optional>\n#include <string>\n#include <utility>\n#include <variant>\n"
      "#include <vector>\n\n#include \"common/base/clock.h\"\n#include \"common/base/ids.h\"\n"
      "#include \"schema/record.h\"\n";
  for (const std::string& import : file.imports) text += "#include \"schema/" + import + ".h\"\n";
  text += "\nnamespace warpsmith {\n\n";
  for (const Node& node : file.nodes) {
    switch (node.kind) {
      case Node::Kind::kEnum: text += EnumText(node); break;
      case Node::Kind::kUnion: text += UnionText(node); break;
      case Node::Kind::kRecord: text += RecordText(node); break;
      case Node::Kind::kConstant:
        text += Comment(node.comment, "") + "constexpr " + node.value_type + " k" +
                Capital(node.name) + " = " + node.value + ";\n\n";
        break;
    }
  }
  return text + "}  // namespace warpsmith\n";
}

std::string ContractText(const File& file) {
  std::string text;
  for (const Node& node : file.nodes) {
    if (node.message > 0)
      text += "message " + std::to_string(node.message) + " " + node.name + "\n";
    for (size_t i = 0; i < node.enumerants.size(); ++i)
      text += "enum " + node.name + " @" + std::to_string(i) + " " + node.enumerants[i].word + "\n";
    for (const Field& f : node.fields)
      text += (node.kind == Node::Kind::kUnion ? "union " : "field ") + node.name + " @" +
              std::to_string(f.number) + " " + f.name + " :" + f.contract +
              (f.retired ? " retired\n" : "\n");
  }
  return text;
}

}  // namespace warpsmith::generator
