#include "common/suite/text_file.h"

#include <fmt/format.h>

#include <fstream>

namespace warpsmith {

Result<std::string> ReadTextFile(const std::filesystem::path& path, size_t max_bytes) {
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::directory)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: a folder; name a file in it", path.string()));
  if (type == std::filesystem::file_type::not_found)
    return Fail(ErrorCode::kNotFound, fmt::format("{}: no such file", path.string()));
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: cannot be read; check its permissions", path.string()));
  // One byte more than allowed tells a file that is too long, also one that grows meanwhile.
  std::string text(max_bytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(stream.gcount()));
  if (text.size() > max_bytes)
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: more than {} bytes", path.string(), max_bytes));
  return text;
}

}  // namespace warpsmith
