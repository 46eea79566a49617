// Cubins kept on disk, shared by processes.
//
// An entry is a file named by the content that it was made of: PTX, target, and version of the
// assembler. It appears whole (written beside and renamed) and carries a checksum; a file that is
// damaged counts as absent and is replaced.
#pragma once

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace tilus::capi {

class CubinCache {
 public:
  // `folder`, or where it is empty that of the environment: $TILUS_CACHE_DIR, else
  // $XDG_CACHE_HOME/tilus, else ~/.cache/tilus. Without any of these there is no cache.
  explicit CubinCache(absl::string_view folder);

  // The name of an entry.
  static std::string Key(absl::string_view ptx, absl::string_view target,
                         absl::string_view assembler);

  std::optional<std::string> Find(const std::string& key) const;
  // Errors are those of the file system; the cache stays as it was.
  absl::Status Insert(const std::string& key, absl::string_view cubin) const;

 private:
  std::string PathOf(const std::string& key) const;

  std::string folder_;  // empty: none
};

}  // namespace tilus::capi
