#include "learner/shell/checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/base/parse.h"
#include "common/model/trajectory.h"
#include "common/runtime/files.h"
#include "common/runtime/sha256.h"
#include "common/wire/codec.h"

namespace warpsmith {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kManifestFormat = 1;
constexpr char kFinished[] = "finished";

std::optional<PolicyVersion> ParseVersion(std::string_view text) {
  const size_t dot = std::min(text.find('.'), text.size());
  const auto incarnation = ParseWhole<uint64_t>(text.substr(0, dot));
  const auto step = ParseWhole<uint64_t>(text.substr(std::min(dot + 1, text.size())));
  if (!incarnation || !step) return std::nullopt;
  return PolicyVersion{*incarnation, *step};
}

std::string ToManifest(const Checkpoint& checkpoint) {
  json ancestors = json::array();
  for (const PolicyVersion& version : checkpoint.ancestors) ancestors.push_back(ToString(version));
  const json manifest = {
      {"format", kManifestFormat},
      {"run", checkpoint.run.value()},
      {"version", ToString(checkpoint.version)},
      {"parent", ToString(checkpoint.parent)},
      {"ancestors", ancestors},
      {"watermark",
       {{"below", checkpoint.watermark.below}, {"exceptions", checkpoint.watermark.exceptions}}},
      {"spec_digest", checkpoint.spec_digest},
      {"weights_sha256", checkpoint.sha256},
      {"weights_bytes", checkpoint.size_bytes},
  };
  return manifest.dump(2) + "\n";
}

// Throws: json's exceptions, or runtime_error.
Checkpoint ParseManifest(const std::string& text) {
  const json manifest = json::parse(text);
  const auto version_of = [](const json& value) {
    const auto version = ParseVersion(value.get<std::string>());
    if (!version) throw std::runtime_error("no version: " + value.dump());
    return *version;
  };
  if (manifest.at("format") != kManifestFormat) throw std::runtime_error("another format");
  Checkpoint checkpoint;
  checkpoint.run = RunId(manifest.at("run").get<uint64_t>());
  checkpoint.version = version_of(manifest.at("version"));
  checkpoint.parent = version_of(manifest.at("parent"));
  for (const json& ancestor : manifest.at("ancestors"))
    checkpoint.ancestors.push_back(version_of(ancestor));
  checkpoint.watermark.below = manifest.at("watermark").at("below");
  checkpoint.watermark.exceptions =
      manifest.at("watermark").at("exceptions").get<std::vector<uint64_t>>();
  checkpoint.spec_digest = manifest.value("spec_digest", "");
  checkpoint.sha256 = manifest.at("weights_sha256");
  checkpoint.size_bytes = manifest.at("weights_bytes");
  return checkpoint;
}

}  // namespace

std::vector<fs::path> CheckpointFolder::OpenRuns(const fs::path& directory) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    const bool is_run =
        name.starts_with("run-") && name.find_first_not_of("0123456789", 4) == std::string::npos;
    if (is_run && !fs::exists(entry.path() / kFinished, error)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Result<CheckpointFolder> CheckpointFolder::Open(const fs::path& folder) {
  CheckpointFolder opened;
  opened.folder_ = folder;
  RETURN_IF_ERROR(MakeDirectories(folder));
  std::vector<PolicyVersion> found;
  std::vector<std::pair<PolicyVersion, fs::path>> parts;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path& path = entry.path();
    if (path.filename().string().find(".tmp") != std::string::npos) {
      fs::remove(path, error);  // of a crash
    } else if (const auto version = ParseVersion(path.stem().string())) {
      if (path.extension() == ".json") found.push_back(*version);
      if (path.extension() == ".safetensors" || path.extension() == ".report")
        parts.emplace_back(*version, path);
    }
  }
  std::sort(found.begin(), found.end());
  for (const auto& [version, path] : parts)  // a crash came before the manifest
    if (!std::binary_search(found.begin(), found.end(), version)) fs::remove(path, error);
  // Older ones are checked when they become the newest: reading them all would take long.
  while (!found.empty() && !opened.newest_) {
    auto checkpoint = opened.Check(found.back());
    if (checkpoint) {
      opened.newest_ = std::move(*checkpoint);
      break;
    }
    opened.broken_.push_back(checkpoint.error().message);
    for (const char* extension : {".json", ".safetensors", ".report"}) {
      const fs::path path = opened.Path(found.back(), extension);
      fs::rename(path, path.string() + ".broken", error);
    }
    found.pop_back();
  }
  opened.versions_ = std::move(found);
  return opened;
}

Result<Checkpoint> CheckpointFolder::Check(const PolicyVersion& version) const {
  const fs::path path = Path(version, ".json");
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  Checkpoint checkpoint;
  try {
    checkpoint = ParseManifest(text);
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kCorrupt, path.string() + ": " + error.what());
  }
  ASSIGN_OR_RETURN(const std::string weights, ReadFile(WeightsPath(version), uint64_t{1} << 34));
  if (checkpoint.version != version || weights.size() != checkpoint.size_bytes ||
      Sha256Hex(weights) != checkpoint.sha256)
    return Fail(ErrorCode::kCorrupt,
                WeightsPath(version).string() + " is not what its manifest says");
  return checkpoint;
}

fs::path CheckpointFolder::Path(const PolicyVersion& version, const char* extension) const {
  return folder_ / (ToString(version) + extension);
}

fs::path CheckpointFolder::WeightsPath(const PolicyVersion& version) const {
  return Path(version, ".safetensors");
}

bool CheckpointFolder::finished() const {
  std::error_code ignored;
  return fs::exists(folder_ / kFinished, ignored);
}

Status CheckpointFolder::Write(Checkpoint checkpoint,
                               const std::function<Status(const std::string& path)>& save,
                               const std::optional<CheckpointDurable>& report) {
  const PolicyVersion version = checkpoint.version;
  const fs::path temporary = Path(version, ".safetensors.tmp");
  const auto write = [&]() -> Status {
    RETURN_IF_ERROR(save(temporary));
    ASSIGN_OR_RETURN(const std::string weights, ReadFile(temporary, uint64_t{1} << 34));
    checkpoint.sha256 = Sha256Hex(weights);
    checkpoint.size_bytes = weights.size();
    RETURN_IF_ERROR(CommitFile(temporary, WeightsPath(version)));
    if (report) RETURN_IF_ERROR(WriteFileAtomically(Path(version, ".report"), Encode(*report)));
    return WriteFileAtomically(Path(version, ".json"), ToManifest(checkpoint));
  };
  if (auto status = write(); !status) {
    std::error_code ignored;
    fs::remove(temporary, ignored);  // room for another attempt
    return status;
  }
  versions_.push_back(version);
  newest_ = std::move(checkpoint);
  return {};
}

Status CheckpointFolder::Fork(PolicyVersion version, std::vector<PolicyVersion> ancestors) {
  Checkpoint checkpoint = *newest_;
  const fs::path weights = WeightsPath(checkpoint.version);
  checkpoint.parent = std::exchange(checkpoint.version, version);
  checkpoint.ancestors = std::move(ancestors);
  const auto link = [&](const std::string& path) -> Status {
    std::error_code error;
    fs::create_hard_link(weights, path, error);
    if (error) fs::copy_file(weights, path, fs::copy_options::overwrite_existing, error);
    if (error)
      return Fail(ErrorCode::kInternal, "copy " + weights.string() + ": " + error.message());
    return {};
  };
  return Write(std::move(checkpoint), link, std::nullopt);
}

std::vector<CheckpointDurable> CheckpointFolder::Unacknowledged() const {
  std::vector<CheckpointDurable> reports;
  for (const PolicyVersion& version : versions_) {
    auto bytes = ReadFile(Path(version, ".report"));
    if (!bytes) continue;
    if (auto report = Decode<CheckpointDurable>(*bytes)) reports.push_back(std::move(*report));
  }
  return reports;
}

void CheckpointFolder::Acknowledged(const PolicyVersion& version) const {
  std::error_code ignored;  // told once more after a restart, which is harmless
  fs::remove(Path(version, ".report"), ignored);
}

void CheckpointFolder::Prune(size_t keep) {
  std::error_code ignored;
  const size_t removed = versions_.size() - std::min(keep, versions_.size());
  std::vector<PolicyVersion> kept(versions_.begin() + static_cast<ptrdiff_t>(removed),
                                  versions_.end());
  for (size_t i = 0; i < removed; ++i) {
    // What is not acknowledged stays to be told; it is small without its weights.
    if (fs::exists(Path(versions_[i], ".report")))
      kept.push_back(versions_[i]);
    else
      fs::remove(Path(versions_[i], ".json"), ignored);
    fs::remove(WeightsPath(versions_[i]), ignored);
  }
  std::sort(kept.begin(), kept.end());
  versions_ = std::move(kept);
}

Status CheckpointFolder::MarkFinished() { return WriteFileAtomically(folder_ / kFinished, ""); }

Status CheckpointFolder::SetAside() {
  std::error_code error;
  for (int i = 1;; ++i) {
    const fs::path away = folder_.string() + ".old-" + std::to_string(i);
    if (fs::exists(away)) continue;
    fs::rename(folder_, away, error);
    if (error)
      return Fail(ErrorCode::kInternal, "rename " + folder_.string() + ": " + error.message());
    return {};
  }
}

}  // namespace warpsmith
