// A plugin of the `capnp` tool: reads what it says of the schemas, writes for each file the plain
// C++ records and their conversion into the current folder, and for all of them contract.txt.
//
//   capnp compile -o path/to/capnpc-records:OUTPUT_FOLDER --src-prefix=schema schema/*.capnp
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>

#include "schema/generator/output.h"

namespace {

void WriteFile(const std::string& name, const std::string& text) {
  std::ofstream out(name, std::ios::binary);
  out << text;
  if (!out.flush()) throw warpsmith::generator::Refused("cannot write " + name);
}

void Generate() {
  using namespace warpsmith::generator;
  capnp::ReaderOptions options;
  options.traversalLimitInWords = 1 << 30;  // our own schemas
  capnp::StreamFdMessageReader message(STDIN_FILENO, options);
  const auto request = message.getRoot<capnp::schema::CodeGeneratorRequest>();
  capnp::SchemaLoader loader;
  for (auto node : request.getNodes()) loader.load(node);
  std::string contract;
  for (auto requested : request.getRequestedFiles()) {
    const File file = ReadFile(loader, request, requested);
    if (file.nodes.empty()) continue;  // annotations only
    WriteFile(file.name + ".h", HeaderText(file));
    WriteFile(file.name + ".codec.h", CodecHeader(file));
    WriteFile(file.name + ".codec.cc", CodecSource(file));
    contract += ContractText(file);
  }
  WriteFile("contract.txt", contract);
}

}  // namespace

int main() {
  try {
    Generate();
    return 0;
  } catch (const kj::Exception& error) {
    std::fprintf(stderr, "capnpc-records: %s\n", error.getDescription().cStr());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "capnpc-records: %s\n", error.what());
  }
  return 1;
}
