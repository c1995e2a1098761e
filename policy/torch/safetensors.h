// Files of named tensors in the safetensors format, as other tools read and write them: 8 bytes
// with the length of a JSON header (little endian), the header, the data. Here: float32 only.
//
//   {"__metadata__": {"key": "text", ...},
//    "trunk.weight": {"dtype": "F32", "shape": [64, 231], "data_offsets": [begin, end]}, ...}
//
// Files are checked in full: they may be torn, or written by somebody else. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"

namespace warpsmith {

struct NamedTensor {
  std::vector<int64_t> shape;
  std::vector<float> values;  // row-major; as many as the shape says

  bool operator==(const NamedTensor&) const = default;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, NamedTensor> tensors;

  bool operator==(const TensorFile&) const = default;
};

constexpr uint64_t kMaxTensorFileBytes = 1ull << 30;

// The same file, the same bytes.
std::string EncodeTensors(const TensorFile& file);
// kCorrupt says what is wrong.
Result<TensorFile> DecodeTensors(std::string_view bytes);

// kNotFound, kCorrupt, and what common/runtime/files.h says.
Result<TensorFile> ReadTensors(const std::filesystem::path& path);
// Whole or not at all.
Status WriteTensors(const std::filesystem::path& path, const TensorFile& file);

}  // namespace warpsmith
