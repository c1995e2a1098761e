# Annotations that say how a field, struct or enumerant of these schemas looks in C++. The plain
# structs, their conversion, their names in JSON and their field lists are generated from the schemas
# (schema/generator); nothing else spells a record.
@0xf7c2b1a09e8d7c61;

annotation type @0x9a1c3b5d7e9f0a21 (field) :Text;
# The C++ type of a number or a text: an id of common/base/ids.h, or "Duration" (nanoseconds).

annotation init @0xb2d4f6a8c0e1f321 (field) :Text;
# The value that a fresh C++ struct has, as a C++ expression, where it is not zero or empty. It says
# nothing about what is read where the field is missing: that is the schema's own default.

annotation optional @0xc3e5a7b9d1f20431 (field) :Void;
# std::optional. A list holds one element or none; a struct is there or its pointer is null.

annotation map @0xd4f6b8cad2e31541 (field) :Void;
# A list of structs of two fields, the first a key that stands once: std::map.

annotation array @0xe5a7c9dbe3f42651 (field) :UInt32;
# A list, or Data, of exactly so many elements: std::array.

annotation bytes @0xf6b8daecf4a53761 (field) :Void;
# Data as std::vector<uint8_t>; without it, as std::string.

annotation message @0x87c9ebfda5b64871 (struct) :UInt16;
# What Encode writes and Decode reads whole, and its number in our header. Never given twice.

annotation ordered @0x98dafcaeb6c75981 (struct) :Void;
# Comparable member by member, in order.

annotation word @0xa9ebadbfc7d86a91 (enumerant) :Text;
# How logs, JSON and pages spell it, where that is not the name with underscores.

annotation retired @0xbafcbecad8e97ba1 (field, enumerant) :Void;
# No longer said, and not in C++; the number stays taken, and what old bytes hold there is not read.
