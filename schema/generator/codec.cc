// The conversion of a schema file's records: straight lines, one a field, over the few forms that
// common/wire/convert.h knows.
#include "schema/generator/names.h"
#include "schema/generator/output.h"

namespace warpsmith::generator {
namespace {

using Kind = Type::Kind;

std::string Signature(const Node& node, bool write) {
  const std::string unused = node.fields.empty() ? "[[maybe_unused]] " : "";
  return write ? "void Write(" + unused + "wire::" + node.name + "::Builder to, " + unused +
                     "const " + node.name + "& from)"
               : "void Read(" + unused + "wire::" + node.name + "::Reader from, " + unused +
                     node.name + "& to, " + unused + "Budget& budget)";
}

std::string WriteField(const Field& f) {
  const std::string name = Capital(f.name), member = "from." + Snake(f.name);
  const std::string init = "[&](auto n) { return to.init" + name + "(n); }";
  if (f.optional && f.type.kind != Kind::kList)
    return "  if (" + member + ") Write(to.init" + name + "(), *" + member + ");\n";
  if (f.map) return "  PutMap<" + f.type.element[0].cpp + ">(" + member + ", " + init + ");\n";
  switch (f.type.kind) {
    case Kind::kScalar: return "  to.set" + name + "(Plain(" + member + "));\n";
    case Kind::kEnum:
      return "  to.set" + name + "(static_cast<" + f.type.wire + ">(" + member + "));\n";
    case Kind::kText:
    case Kind::kData: return "  PutBytes(Plain(" + member + "), " + init + ");\n";
    // Always there: a release that does not take a missing struct for a fresh one reads it too.
    case Kind::kStruct:
    case Kind::kUnion: return "  Write(to.init" + name + "(), " + member + ");\n";
    case Kind::kList: return "  PutList(" + member + ", " + init + ");\n";
  }
  return "";
}

std::string ReadField(const Field& f) {
  const std::string name = Capital(f.name), member = "to." + Snake(f.name);
  const bool one = f.type.kind == Kind::kStruct || f.type.kind == Kind::kUnion;
  if (f.optional && one)
    return "  if (from.has" + name + "()) Read(from.get" + name + "(), " + member +
           ".emplace(), budget);\n";
  if (one)
    return "  if (from.has" + name + "()) Read(from.get" + name + "(), " + member + ", budget);\n";
  if (f.map)
    return "  GetMap<" + f.type.element[0].cpp + ">(from.get" + name + "(), " + member +
           ", budget);\n";
  return "  Get(from.get" + name + "(), " + member + ", budget);\n";
}

std::string RecordSource(const Node& node) {
  std::string write, read;
  for (const Field& f : node.fields) {
    if (f.retired) continue;
    write += WriteField(f);
    read += ReadField(f);
  }
  return Signature(node, true) + " {\n" + write + "}\n\n" + Signature(node, false) + " {\n" + read +
         "}\n\n";
}

std::string UnionSource(const Node& node) {
  std::string write, read;
  size_t index = 1;
  for (const Field& f : node.fields) {
    const std::string name = Capital(f.name);
    write += "    case " + std::to_string(index) + ": return Write(to.init" + name +
             "(), std::get<" + std::to_string(index) + ">(from));\n";
    read += "    case " + std::to_string(f.number) + ": return Read(from.get" + name +
            "(), to.emplace<" + std::to_string(index) + ">(), budget);\n";
    ++index;
  }
  return Signature(node, true) + " {\n  switch (from.index()) {\n" + write +
         "    default: return PutUnrecognized(to, std::get<0>(from));\n  }\n}\n\n" +
         Signature(node, false) + " {\n  switch (static_cast<uint16_t>(from.which())) {\n" + read +
         "    default: return GetUnrecognized(from, to.emplace<0>(), budget);\n  }\n}\n\n";
}

std::string Include(const std::string& header) { return "#include \"" + header + "\"\n"; }

}  // namespace

std::string CodecHeader(const File& file) {
  std::string text = "// Generated from schema/" + file.name +
                     ".capnp. Not to be edited.\n#pragma once\n\n" +
                     Include("common/wire/budget.h") + Include("schema/" + file.name + ".capnp.h") +
                     Include("schema/" + file.name + ".h") + "\nnamespace warpsmith {\n\n";
  for (const Node& node : file.nodes)
    if (node.kind == Node::Kind::kRecord || node.kind == Node::Kind::kUnion)
      text += Signature(node, true) + ";\n" + Signature(node, false) + ";\n";
  return text + "\n}  // namespace warpsmith\n";
}

std::string CodecSource(const File& file) {
  std::string text = "// Generated from schema/" + file.name + ".capnp. Not to be edited.\n" +
                     Include("schema/" + file.name + ".codec.h") + "\n" +
                     Include("common/wire/convert.h") + Include("common/wire/message.h");
  for (const std::string& import : file.imports) text += Include("schema/" + import + ".codec.h");
  text += "\nnamespace warpsmith {\n\n";
  for (const Node& node : file.nodes) {
    if (node.kind == Node::Kind::kRecord) text += RecordSource(node);
    if (node.kind == Node::Kind::kUnion) text += UnionSource(node);
    if (node.message > 0)
      text += "template <>\nstd::string Encode(const " + node.name +
              "& message) {\n  return EncodeMessage<wire::" + node.name + ">(" +
              std::to_string(node.message) + ", message);\n}\n\ntemplate <>\nResult<" + node.name +
              "> Decode(std::string_view bytes) {\n  return DecodeMessage<wire::" + node.name +
              ", " + node.name + ">(" + std::to_string(node.message) + ", \"" + node.name +
              "\", bytes);\n}\n\n";
  }
  return text + "}  // namespace warpsmith\n";
}

}  // namespace warpsmith::generator
