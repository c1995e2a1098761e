#include "schema/generator/contract.h"

#include <capnp/dynamic.h>
#include <kj/string.h>

#include <algorithm>
#include <functional>
#include <set>

#include "schema/generator/names.h"

namespace warpsmith::generator {
namespace {

namespace cs = capnp::schema;

std::string Str(capnp::Text::Reader text) { return {text.cStr(), text.size()}; }

class Reader {
 public:
  Reader(capnp::SchemaLoader& loader, cs::CodeGeneratorRequest::Reader request) : loader_(loader) {
    for (auto info : request.getSourceInfo()) info_.emplace(info.getId(), info);
  }

  Node Read(capnp::Schema schema, const std::string& name) {
    const auto proto = schema.getProto();
    place_ = name;
    Node node;
    node.name = name;
    node.comment = Comment(proto.getId());
    for (auto annotation : proto.getAnnotations()) {
      const std::string word = AnnotationName(annotation);
      if (word == "message") node.message = annotation.getValue().getUint16();
      if (word == "ordered") node.ordered = true;
    }
    switch (proto.which()) {
      case cs::Node::ENUM: ReadEnum(proto, node); break;
      case cs::Node::STRUCT: ReadStruct(schema.asStruct(), node); break;
      case cs::Node::CONST: ReadConstant(schema.asConst(), node); break;
      default: throw Refused(place_ + ": interfaces and the like cannot be records");
    }
    return node;
  }

 private:
  void ReadEnum(cs::Node::Reader proto, Node& node) {
    node.kind = Node::Kind::kEnum;
    size_t i = 0;
    for (auto enumerant : proto.getEnum().getEnumerants()) {
      Enumerant e{Str(enumerant.getName()), MemberComment(proto.getId(), i++), ""};
      e.word = Snake(e.name);
      for (auto annotation : enumerant.getAnnotations())
        if (AnnotationName(annotation) == "word")
          e.word = Str(annotation.getValue().getText());
        else if (AnnotationName(annotation) == "retired")
          e.retired = true;
      node.enumerants.push_back(std::move(e));
    }
  }

  void ReadConstant(capnp::ConstSchema schema, Node& node) {
    node.kind = Node::Kind::kConstant;
    const Type type = TypeOf(schema.getType());
    if (type.kind != Type::Kind::kScalar) throw Refused(place_ + ": only numbers can be constants");
    node.value_type = type.cpp;
    node.value = kj::str(schema.as<capnp::DynamicValue>()).cStr();
  }

  void ReadStruct(capnp::StructSchema schema, Node& node) {
    const auto proto = schema.getProto();
    const auto layout = proto.getStruct();
    if (IsUnion(schema)) {
      node.kind = Node::Kind::kUnion;
      for (auto field : schema.getUnionFields()) {
        place_ = node.name + "." + Str(field.getProto().getName());
        const auto type = field.getType();
        if (type.which() == cs::Type::VOID) continue;  // a number that is never sent
        if (type.which() != cs::Type::STRUCT)
          throw Refused(place_ + ": an alternative is a struct, so that all share one pointer");
        Field alternative = ReadField(field, proto.getId());
        alternative.number = field.getProto().getDiscriminantValue();
        node.fields.push_back(std::move(alternative));
      }
      return;
    }
    if (layout.getDiscriminantCount() > 0)
      throw Refused(place_ + ": a union stands in a struct of its own");
    std::vector<capnp::StructSchema::Field> fields;
    for (auto field : schema.getFields()) fields.push_back(field);
    std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) {
      return a.getProto().getCodeOrder() < b.getProto().getCodeOrder();
    });
    for (auto field : fields) {
      place_ = node.name + "." + Str(field.getProto().getName());
      node.fields.push_back(ReadField(field, proto.getId()));
    }
  }

  static bool IsUnion(capnp::StructSchema schema) {
    const auto layout = schema.getProto().getStruct();
    return layout.getDiscriminantCount() > 0 &&
           layout.getDiscriminantCount() == layout.getFields().size();
  }

  Field ReadField(capnp::StructSchema::Field from, uint64_t node_id) {
    const auto proto = from.getProto();
    if (!proto.isSlot()) throw Refused(place_ + ": a group; make it a struct");
    Field field;
    field.name = Str(proto.getName());
    field.comment = MemberComment(node_id, from.getIndex());
    field.number = proto.getOrdinal().getExplicit();
    field.type = TypeOf(from.getType());
    field.contract = ContractOf(field.type);

    bool bytes = false;
    std::string renamed;
    for (auto annotation : proto.getAnnotations()) {
      const std::string word = AnnotationName(annotation);
      if (word == "type") renamed = Str(annotation.getValue().getText());
      if (word == "init") field.init = Str(annotation.getValue().getText());
      if (word == "optional") field.optional = true;
      if (word == "map") field.map = true;
      if (word == "array") field.array = annotation.getValue().getUint32();
      if (word == "bytes") bytes = true;
      if (word == "retired") field.retired = true;
    }
    if (!renamed.empty()) field.type.cpp = renamed;
    field.cpp = MemberType(from.getType(), field, bytes);
    if (proto.getSlot().getHadExplicitDefault()) {
      if (field.type.kind != Type::Kind::kScalar || !field.init.empty())
        throw Refused(place_ + ": a default is of a number, and excludes init");
      const auto value = proto.getSlot().getDefaultValue();
      field.init = DefaultOf(value);
      field.contract += " = " + field.init;
    }
    return field;
  }

  static std::string ContractOf(const Type& type) {
    return type.kind == Type::Kind::kList   ? "List(" + ContractOf(type.element[0]) + ")"
           : type.kind == Type::Kind::kText ? "Text"
           : type.kind == Type::Kind::kData ? "Data"
                                            : type.cpp;
  }

  std::string DefaultOf(cs::Value::Reader value) {
    switch (value.which()) {
      case cs::Value::BOOL: return value.getBool() ? "true" : "false";
      case cs::Value::INT8: return std::to_string(value.getInt8());
      case cs::Value::INT16: return std::to_string(value.getInt16());
      case cs::Value::INT32: return std::to_string(value.getInt32());
      case cs::Value::INT64: return std::to_string(value.getInt64());
      case cs::Value::UINT8: return std::to_string(value.getUint8());
      case cs::Value::UINT16: return std::to_string(value.getUint16());
      case cs::Value::UINT32: return std::to_string(value.getUint32());
      case cs::Value::UINT64: return std::to_string(value.getUint64());
      case cs::Value::FLOAT32: return kj::str(value.getFloat32()).cStr();
      case cs::Value::FLOAT64: return kj::str(value.getFloat64()).cStr();
      default: throw Refused(place_ + ": a default of this type");
    }
  }

  std::string MemberType(capnp::Type type, const Field& field, bool bytes) {
    const int forms = field.optional + field.map + (field.array > 0) + bytes;
    if (forms > 1) throw Refused(place_ + ": one of optional, map, array, bytes");
    if (bytes) return "std::vector<uint8_t>";
    if (field.array > 0) {
      const std::string of = field.type.kind == Type::Kind::kData ? "uint8_t"
                             : type.isList()                      ? field.type.element[0].cpp
                                                                  : "";
      if (of.empty()) throw Refused(place_ + ": only lists and Data are arrays");
      return "std::array<" + of + ", " + std::to_string(field.array) + ">";
    }
    if (field.optional) {
      if (field.type.kind == Type::Kind::kList)
        return "std::optional<" + field.type.element[0].cpp + ">";
      if (field.type.kind == Type::Kind::kStruct || field.type.kind == Type::Kind::kUnion)
        return "std::optional<" + field.type.cpp + ">";
      throw Refused(place_ + ": optional is a list of one or none, or a struct");
    }
    if (field.map) {
      if (!type.isList() || !type.asList().getElementType().isStruct())
        throw Refused(place_ + ": a map is a list of structs");
      const auto pair = type.asList().getElementType().asStruct();
      if (pair.getFields().size() != 2) throw Refused(place_ + ": a map's structs have two fields");
      return "std::map<" + TypeOf(pair.getFields()[0].getType()).cpp + ", " +
             TypeOf(pair.getFields()[1].getType()).cpp + ">";
    }
    return field.type.cpp;
  }

  Type TypeOf(capnp::Type type) {
    Type result;
    const auto scalar = [&](const char* cpp) { result.cpp = cpp; };
    switch (type.which()) {
      case cs::Type::BOOL: scalar("bool"); break;
      case cs::Type::INT8: scalar("int8_t"); break;
      case cs::Type::INT16: scalar("int16_t"); break;
      case cs::Type::INT32: scalar("int32_t"); break;
      case cs::Type::INT64: scalar("int64_t"); break;
      case cs::Type::UINT8: scalar("uint8_t"); break;
      case cs::Type::UINT16: scalar("uint16_t"); break;
      case cs::Type::UINT32: scalar("uint32_t"); break;
      case cs::Type::UINT64: scalar("uint64_t"); break;
      case cs::Type::FLOAT32: scalar("float"); break;
      case cs::Type::FLOAT64: scalar("double"); break;
      case cs::Type::TEXT:
        result.kind = Type::Kind::kText;
        result.cpp = "std::string";
        break;
      case cs::Type::DATA:
        result.kind = Type::Kind::kData;
        result.cpp = "std::string";
        break;
      case cs::Type::ENUM:
        result.kind = Type::Kind::kEnum;
        result.cpp = ShortName(type.asEnum());
        result.wire = "wire::" + result.cpp;
        break;
      case cs::Type::STRUCT:
        result.kind = IsUnion(type.asStruct()) ? Type::Kind::kUnion : Type::Kind::kStruct;
        result.cpp = ShortName(type.asStruct());
        result.wire = "wire::" + result.cpp;
        break;
      case cs::Type::LIST:
        result.kind = Type::Kind::kList;
        result.element.push_back(TypeOf(type.asList().getElementType()));
        result.cpp = "std::vector<" + result.element[0].cpp + ">";
        break;
      default: throw Refused(place_ + ": a type that no record has");
    }
    return result;
  }

  static std::string ShortName(capnp::Schema schema) {
    const std::string name = schema.getShortDisplayName().cStr();
    return name;
  }

  std::string AnnotationName(cs::Annotation::Reader annotation) {
    return ShortName(loader_.get(annotation.getId()));
  }

  std::string Comment(uint64_t id) {
    const auto info = info_.find(id);
    return info == info_.end() ? "" : Str(info->second.getDocComment());
  }
  std::string MemberComment(uint64_t id, size_t index) {
    const auto info = info_.find(id);
    if (info == info_.end() || index >= info->second.getMembers().size()) return "";
    return Str(info->second.getMembers()[static_cast<unsigned>(index)].getDocComment());
  }

  capnp::SchemaLoader& loader_;
  std::map<uint64_t, cs::Node::SourceInfo::Reader> info_;
  std::string place_;
};

// Where a struct holds another, that one stands before it.
std::vector<Node> InOrder(std::vector<Node> nodes) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < nodes.size(); ++i) index[nodes[i].name] = i;
  std::vector<Node> ordered;
  std::set<size_t> done;
  const std::function<void(size_t)> place = [&](size_t i) {
    if (!done.insert(i).second) return;
    const std::function<void(const Type&)> needs = [&](const Type& type) {
      for (const Type& element : type.element) needs(element);
      if (const auto other = index.find(type.cpp); other != index.end()) place(other->second);
    };
    for (const Field& field : nodes[i].fields) needs(field.type);
    ordered.push_back(nodes[i]);
  };
  for (size_t i = 0; i < nodes.size(); ++i) place(i);
  return ordered;
}

}  // namespace

File ReadFile(capnp::SchemaLoader& loader, cs::CodeGeneratorRequest::Reader request,
              cs::CodeGeneratorRequest::RequestedFile::Reader requested) {
  const auto stem = [](std::string name) {
    name = name.substr(name.rfind('/') + 1);
    return name.substr(0, name.rfind(".capnp"));
  };
  File file;
  file.name = stem(Str(requested.getFilename()));
  for (auto import : requested.getImports()) {
    const std::string name = Str(import.getName());
    if (!name.starts_with('/') && stem(name) != "record") file.imports.push_back(stem(name));
  }
  Reader reader(loader, request);
  std::vector<Node> nodes;
  const auto proto = loader.get(requested.getId()).getProto();
  for (auto nested : proto.getNestedNodes()) {
    const auto schema = loader.get(nested.getId());
    if (!schema.getProto().isAnnotation())
      nodes.push_back(reader.Read(schema, Str(nested.getName())));
  }
  file.nodes = InOrder(std::move(nodes));
  return file;
}

}  // namespace warpsmith::generator
