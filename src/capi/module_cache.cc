#include "capi/module_cache.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tilus::capi {

std::string Digest128(absl::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return std::string(reinterpret_cast<const char*>(canonical.digest), sizeof canonical.digest);
}

std::shared_ptr<const ModuleState> ModuleCache::Find(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->module;
}

void ModuleCache::Insert(const std::string& key, const std::string& alias,
                         std::shared_ptr<const ModuleState> module, uint64_t bytes) {
  List dropped;  // modules are destroyed outside the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > capacity_ || index_.contains(key)) return;
  entries_.push_front({key, alias, std::move(module), bytes});
  index_[key] = entries_.begin();
  if (!alias.empty()) index_[alias] = entries_.begin();
  bytes_ += bytes;
  while (bytes_ > capacity_) {
    const auto last = std::prev(entries_.end());
    for (const std::string* name : {&last->key, &last->alias}) {
      const auto found = index_.find(*name);
      if (found != index_.end() && found->second == last) index_.erase(found);
    }
    bytes_ -= last->bytes;
    dropped.splice(dropped.begin(), entries_, last);
  }
}

}  // namespace tilus::capi
