// A schema file as the generator needs it: Cap'n Proto's own description with our annotations read
// and checked. What cannot become a record is refused with the name of its place.
#pragma once

#include <capnp/schema-loader.h>
#include <capnp/schema.capnp.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpsmith::generator {

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Type {
  enum class Kind { kScalar, kEnum, kText, kData, kStruct, kUnion, kList };
  Kind kind = Kind::kScalar;
  std::string cpp;            // the type of the value in C++
  std::string wire;           // enums and structs: the type that capnpc made
  std::vector<Type> element;  // kList: one
};

struct Field {
  std::string name;  // as the schema writes it
  std::string comment;
  uint16_t number = 0;  // its ordinal; of an alternative: its number in the union
  Type type;
  std::string cpp;   // the member's type
  std::string init;  // the member's initialiser, without braces
  bool optional = false;
  bool map = false;
  size_t array = 0;      // 0: none
  bool retired = false;  // only the contract knows it
  std::string contract;  // one line of what may never change: type and default
};

struct Enumerant {
  std::string name, comment, word;
  bool retired = false;
};

// One struct, union (a struct that is nothing but one), enum or constant.
struct Node {
  enum class Kind { kRecord, kUnion, kEnum, kConstant };
  Kind kind = Kind::kRecord;
  std::string name, comment;
  std::vector<Field> fields;  // in the order of the text; a union's by number
  std::vector<Enumerant> enumerants;
  std::string value, value_type;  // kConstant
  uint16_t message = 0;           // 0: none
  bool ordered = false;
};

struct File {
  std::string name;                  // "task"
  std::vector<std::string> imports;  // other schemas of ours
  std::vector<Node> nodes;           // each after those that it holds
};

// Throws Refused, and what kj throws.
File ReadFile(capnp::SchemaLoader& loader, capnp::schema::CodeGeneratorRequest::Reader request,
              capnp::schema::CodeGeneratorRequest::RequestedFile::Reader file);

}  // namespace warpsmith::generator
