// Compiled modules kept in memory, least recently used first out.
//
// The key is the content of a program: its canonical serialized form, with the targets and options
// of the compile. The bytes of an input lead to it by a second, quicker way: equal bytes are an
// equal program, unequal ones may be too, and then the canonical form tells.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace tilus::capi {

class ModuleState;

// XXH3-128 of a text, as 16 bytes.
std::string Digest128(absl::string_view bytes);

class ModuleCache {
 public:
  explicit ModuleCache(uint64_t capacity_bytes) : capacity_(capacity_bytes) {}

  bool enabled() const { return capacity_ > 0; }
  // NULL where there is none. A found module becomes the most recently used.
  std::shared_ptr<const ModuleState> Find(const std::string& key);
  // Keeps `module` (of about `bytes`) under `key`, with `alias` as another way to it.
  void Insert(const std::string& key, const std::string& alias,
              std::shared_ptr<const ModuleState> module, uint64_t bytes);

 private:
  struct Entry {
    std::string key;
    std::string alias;
    std::shared_ptr<const ModuleState> module;
    uint64_t bytes;
  };
  using List = std::list<Entry>;

  const uint64_t capacity_;
  std::mutex mutex_;
  List entries_;  // most recently used first
  absl::flat_hash_map<std::string, List::iterator> index_;
  uint64_t bytes_ = 0;
};

}  // namespace tilus::capi
