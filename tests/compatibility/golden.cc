#include "tests/compatibility/golden.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace warpsmith {
namespace {

namespace fs = std::filesystem;

std::string Whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::vector<fs::path> GoldenReleases() {
  std::vector<fs::path> releases;
  for (const auto& entry : fs::directory_iterator(WARPSMITH_COMPATIBILITY))
    if (fs::is_directory(entry.path() / "messages")) releases.push_back(entry.path());
  if (releases.empty()) throw std::runtime_error("no release has left messages");
  std::sort(releases.begin(), releases.end());
  return releases;
}

std::vector<GoldenRecord> GoldenRecords(const fs::path& release, const std::string& kind) {
  const fs::path stem = release / "messages" / kind;
  const std::string bytes = Whole(stem.string() + ".records");
  std::istringstream lines(Whole(stem.string() + ".json"));
  std::vector<GoldenRecord> records;
  for (size_t at = 0; at < bytes.size();) {
    uint32_t length = 0;
    if (bytes.size() - at < sizeof length) throw std::runtime_error(stem.string() + " is cut");
    std::memcpy(&length, bytes.data() + at, sizeof length);
    at += sizeof length;
    if (bytes.size() - at < length) throw std::runtime_error(stem.string() + " is cut");
    GoldenRecord record{bytes.substr(at, length), ""};
    if (!std::getline(lines, record.json))
      throw std::runtime_error(stem.string() + ".json has too few lines");
    records.push_back(std::move(record));
    at += length;
  }
  if (std::string more; std::getline(lines, more))
    throw std::runtime_error(stem.string() + ".json has too many lines");
  return records;
}

}  // namespace warpsmith
