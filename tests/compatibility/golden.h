// What earlier releases wrote: the folders beside this file, one a release (README.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpsmith {

// The folders of all releases, oldest first. Never empty.
std::vector<std::filesystem::path> GoldenReleases();

struct GoldenRecord {
  std::string bytes;  // as the release encoded it, our header and all
  std::string json;   // the same record by its schema's field names
};

// All records of one kind of message that a release left; throws std::runtime_error where the files
// are not whole.
std::vector<GoldenRecord> GoldenRecords(const std::filesystem::path& release,
                                        const std::string& kind);

}  // namespace warpsmith
