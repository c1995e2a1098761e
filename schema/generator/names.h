// Names as Cap'n Proto writes them, in the spelling of C++ and of JSON.
#pragma once

#include <string>
#include <string_view>

namespace warpsmith::generator {

std::string Snake(std::string_view camel);    // peakFlopsPerS -> peak_flops_per_s
std::string Capital(std::string_view camel);  // peakFlopsPerS -> PeakFlopsPerS

}  // namespace warpsmith::generator
