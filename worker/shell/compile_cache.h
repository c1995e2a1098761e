// What was compiled before, by a key that the supervisor computes. In memory, bounded by bytes, the
// least recently used goes first. Thread-safe.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include "common/model/outcome.h"

namespace warpsmith {

using SharedCompileResult = std::variant<std::shared_ptr<const CompiledCandidate>, Outcome>;

class CompileCache {
 public:
  explicit CompileCache(size_t bytes) : limit_(bytes) {}

  std::optional<SharedCompileResult> Find(const std::string& key);
  // An entry larger than the whole cache is not kept.
  void Add(const std::string& key, SharedCompileResult result);
  size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    SharedCompileResult result;
    size_t bytes = 0;
  };

  const size_t limit_;
  mutable std::mutex mutex_;
  size_t bytes_ = 0;
  std::list<Entry> entries_;  // the most recently used first
  std::map<std::string, std::list<Entry>::iterator> by_key_;
};

}  // namespace warpsmith
