#include "worker/shell/compile_cache.h"

#include "common/model/dtype.h"

namespace warpsmith {
namespace {

constexpr size_t kEntryBytes = 1024;  // what the bookkeeping of one takes, generously

size_t SizeOf(const SharedCompileResult& result) {
  if (const auto* compiled = std::get_if<std::shared_ptr<const CompiledCandidate>>(&result)) {
    return kEntryBytes + (*compiled)->binary.size() + (*compiled)->log.size();
  }
  return kEntryBytes + Describe(std::get<Outcome>(result)).size();
}

}  // namespace

std::optional<SharedCompileResult> CompileCache::Find(const std::string& key) {
  std::lock_guard lock(mutex_);
  auto it = by_key_.find(key);
  if (it == by_key_.end()) return std::nullopt;
  entries_.splice(entries_.begin(), entries_, it->second);
  return it->second->result;
}

void CompileCache::Add(const std::string& key, SharedCompileResult result) {
  size_t bytes = SizeOf(result);
  std::lock_guard lock(mutex_);
  if (auto it = by_key_.find(key); it != by_key_.end()) {
    bytes_ -= it->second->bytes;
    entries_.erase(it->second);
    by_key_.erase(it);
  }
  if (bytes > limit_) return;
  entries_.push_front({key, std::move(result), bytes});
  by_key_[key] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > limit_) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

size_t CompileCache::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace warpsmith
