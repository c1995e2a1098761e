// The texts that are generated for one schema file.
#pragma once

#include <string>

#include "schema/generator/contract.h"

namespace warpsmith::generator {

std::string HeaderText(const File& file);    // schema/<name>.h: records, their descriptions
std::string CodecHeader(const File& file);   // schema/<name>.codec.h: their conversion, declared
std::string CodecSource(const File& file);   // schema/<name>.codec.cc
std::string ContractText(const File& file);  // what may never change, a line each

}  // namespace warpsmith::generator
