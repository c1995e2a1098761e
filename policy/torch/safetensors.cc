#include "policy/torch/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/check.h"
#include "common/runtime/files.h"

namespace warpsmith {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the data of the format is little endian");

using Json = nlohmann::json;

constexpr size_t kLengthBytes = 8;
// Ours have a few KiB; parsing takes a multiple of a header's size.
constexpr uint64_t kMaxHeaderBytes = 1 << 20;

tl::unexpected<Error> Corrupt(const std::string& what) {
  return Fail(ErrorCode::kCorrupt, "safetensors: " + what);
}

// Elements of a shape from the header; nothing where it is none, or more than any file holds.
std::optional<uint64_t> Elements(const Json& shape) {
  if (!shape.is_array() || shape.size() > 8) return std::nullopt;
  uint64_t elements = 1;
  for (const Json& size : shape) {
    if (!size.is_number_unsigned()) return std::nullopt;
    const uint64_t n = size.get<uint64_t>();
    if (n > kMaxTensorFileBytes || elements * n > kMaxTensorFileBytes) return std::nullopt;
    elements *= n;
  }
  return elements;
}

}  // namespace

std::string EncodeTensors(const TensorFile& file) {
  Json header = Json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const uint64_t end = offset + tensor.values.size() * sizeof(float);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // data starts aligned
  std::string bytes(kLengthBytes, '\0');
  const uint64_t length = text.size();
  std::memcpy(bytes.data(), &length, kLengthBytes);
  bytes += text;
  for (const auto& [name, tensor] : file.tensors)
    bytes.append(reinterpret_cast<const char*>(tensor.values.data()),
                 tensor.values.size() * sizeof(float));
  return bytes;
}

Result<TensorFile> DecodeTensors(std::string_view bytes) {
  if (bytes.size() < kLengthBytes) return Corrupt("shorter than its length");
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  bytes.remove_prefix(kLengthBytes);
  if (length > bytes.size()) return Corrupt("the header goes beyond the file");
  if (length > kMaxHeaderBytes) return Corrupt("a header of more than 1 MiB");
  const Json header = Json::parse(bytes.substr(0, length), nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) return Corrupt("the header is no JSON object");
  const std::string_view data = bytes.substr(length);

  TensorFile file;
  std::map<uint64_t, uint64_t> ranges;  // of the data that tensors have: begin -> end
  for (const auto& [name, entry] : header.items()) {
    if (!entry.is_object()) return Corrupt(fmt::format("`{}` is no object", name));
    if (name == "__metadata__") {
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) return Corrupt(fmt::format("metadata `{}` is no text", key));
        file.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    const auto dtype = entry.find("dtype"), shape = entry.find("shape"),
               offsets = entry.find("data_offsets");
    if (dtype == entry.end() || *dtype != "F32")
      return Corrupt(fmt::format("`{}` is not of dtype F32", name));
    const auto elements = shape == entry.end() ? std::nullopt : Elements(*shape);
    if (!elements) return Corrupt(fmt::format("`{}` has no usable shape", name));
    if (offsets == entry.end() || !offsets->is_array() || offsets->size() != 2 ||
        !(*offsets)[0].is_number_unsigned() || !(*offsets)[1].is_number_unsigned())
      return Corrupt(fmt::format("`{}` has no data_offsets", name));
    const auto begin = (*offsets)[0].get<uint64_t>(), end = (*offsets)[1].get<uint64_t>();
    if (begin > end || end > data.size() || end - begin != *elements * sizeof(float))
      return Corrupt(fmt::format("the data of `{}` does not fit its shape or the file", name));
    NamedTensor tensor{.shape = shape->get<std::vector<int64_t>>()};
    tensor.values.resize(*elements);
    if (*elements > 0) std::memcpy(tensor.values.data(), data.data() + begin, end - begin);
    if (*elements > 0 && !ranges.emplace(begin, end).second)
      return Corrupt(fmt::format("`{}` shares its data with another tensor", name));
    file.tensors.emplace(name, std::move(tensor));
  }
  // No overlaps and no holes, as the format says.
  uint64_t next = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != next) break;
    next = end;
  }
  if (next != data.size()) return Corrupt("the data is not what the header describes");
  return file;
}

Result<TensorFile> ReadTensors(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxTensorFileBytes));
  auto file = DecodeTensors(bytes);
  if (!file) return Wrap(file.error(), path.string());
  return file;
}

Status WriteTensors(const std::filesystem::path& path, const TensorFile& file) {
  return WriteFileAtomically(path, EncodeTensors(file));
}

}  // namespace warpsmith
