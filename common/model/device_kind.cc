#include "common/model/device_kind.h"

#include <algorithm>

#include "common/base/check.h"

namespace warpsmith {
namespace {

constexpr DeviceTraits kKinds[] = {
    {.kind = DeviceKind::kCuda,
     .noun = "GPU",
     .cores_noun = "SMs",
     .cases = CaseList::kGpu,
     .memory = BufferMemory::kDevice,
     .cold_cache = ColdCache::kByRotation,
     .nodes = {.prefix = "nvidia", .visible = "CUDA_VISIBLE_DEVICES"}},
    {.kind = DeviceKind::kHost,
     .noun = "CPU",
     .cores_noun = "cores",
     .cases = CaseList::kHost,
     .memory = BufferMemory::kHost,
     .cold_cache = ColdCache::kByFlush,
     .shares_host_cores = true},
    // Tasks need no cases of their own for a model: the small ones do.
    {.kind = DeviceKind::kSimulated,
     .noun = "model",
     .cores_noun = "cores",
     .cases = CaseList::kHost,
     .modelled = true},
};

std::vector<std::string_view> Words(bool modelled_too) {
  std::vector<std::string_view> words = {"auto"};
  for (const DeviceTraits& traits : kKinds)
    if (modelled_too || !traits.modelled) words.emplace_back(ToString(traits.kind));
  return words;
}

}  // namespace

std::span<const DeviceTraits> AllDeviceTraits() { return kKinds; }

const DeviceTraits& TraitsOf(DeviceKind kind) {
  const auto found = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const DeviceTraits& traits) { return traits.kind == kind; });
  CHECK(found != std::end(kKinds), "every kind of device has an entry");
  return *found;
}

std::vector<std::string_view> DeviceWords() { return Words(true); }
std::vector<std::string_view> RealDeviceWords() { return Words(false); }

}  // namespace warpsmith
