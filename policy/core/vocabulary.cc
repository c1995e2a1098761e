#include "policy/core/vocabulary.h"

#include <algorithm>

namespace warpsmith {
namespace {

// FNV-1a: not secret, only stable across builds.
uint64_t Mix(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return (hash ^ 0xff) * 0x100000001b3;
}

}  // namespace

Vocabulary::Vocabulary(std::span<const Family* const> families) {
  fingerprint_ = 0xcbf29ce484222325;
  for (const Family* family : families) {
    fingerprint_ = Mix(fingerprint_, family->name());
    first_.emplace_back();
    choices_.emplace_back();
    for (const Slot& slot : family->slots()) {
      fingerprint_ = Mix(fingerprint_, slot.name);
      for (const std::string& choice : slot.choices) fingerprint_ = Mix(fingerprint_, choice);
      first_.back().push_back(size_);
      choices_.back().push_back(static_cast<int32_t>(slot.choices.size()));
      size_ += choices_.back().back();
    }
    max_slots_ = std::max(max_slots_, family->slots().size());
  }
}

}  // namespace warpsmith
