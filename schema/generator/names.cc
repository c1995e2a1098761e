#include "schema/generator/names.h"

#include <cctype>

namespace warpsmith::generator {

std::string Snake(std::string_view camel) {
  std::string snake;
  for (size_t i = 0; i < camel.size(); ++i) {
    const auto c = static_cast<unsigned char>(camel[i]);
    if (std::isupper(c) && i > 0) snake += '_';
    snake += static_cast<char>(std::tolower(c));
  }
  return snake;
}

std::string Capital(std::string_view camel) {
  std::string text(camel);
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace warpsmith::generator
