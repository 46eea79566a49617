#include "capi/cubin_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "capi/module_cache.h"

namespace tilus::capi {
namespace {

constexpr absl::string_view kMagic = "TILUSCUB";
constexpr size_t kHeaderBytes = 8 + 16;  // magic, digest of the rest

std::string EnvironmentFolder() {
  const auto value = [](const char* name) {
    const char* text = getenv(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string own = value("TILUS_CACHE_DIR"); !own.empty()) return own;
  if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty()) return cache + "/tilus";
  if (const std::string home = value("HOME"); !home.empty()) return home + "/.cache/tilus";
  return "";
}

absl::Status FileError(absl::string_view what, const std::string& path) {
  return MakeError(DiagId::kCacheFile,
                   absl::StrCat(what, " ", path, ": ", std::string(strerror(errno))),
                   "the cubin is made anew each time; name a folder that can be written");
}

// Makes the folder and those above it that are missing.
absl::Status MakeFolder(const std::string& folder) {
  for (size_t i = 1; i <= folder.size(); ++i) {
    if (i < folder.size() && folder[i] != '/') continue;
    const std::string part = folder.substr(0, i);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST) return FileError("cannot make", part);
  }
  return absl::OkStatus();
}

bool WriteAll(int file, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

CubinCache::CubinCache(absl::string_view folder)
    : folder_(folder.empty() ? EnvironmentFolder() : std::string(folder)) {}

std::string CubinCache::Key(absl::string_view ptx, absl::string_view target,
                            absl::string_view assembler) {
  return absl::BytesToHexString(
      Digest128(absl::StrCat(target, "\n", assembler, "\n", ptx.size(), "\n", ptx)));
}

std::string CubinCache::PathOf(const std::string& key) const {
  return absl::StrCat(folder_, "/", key, ".cubin");
}

std::optional<std::string> CubinCache::Find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  FILE* file = fopen(PathOf(key).c_str(), "rbe");
  if (file == nullptr) return std::nullopt;
  std::string bytes;
  char part[1 << 14];
  for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;) bytes.append(part, n);
  const bool failed = ferror(file) != 0;
  fclose(file);
  const absl::string_view view = bytes;
  if (failed || view.size() <= kHeaderBytes || view.substr(0, kMagic.size()) != kMagic) {
    return std::nullopt;
  }
  const absl::string_view cubin = view.substr(kHeaderBytes);
  if (view.substr(kMagic.size(), 16) != Digest128(cubin)) return std::nullopt;
  return std::string(cubin);
}

absl::Status CubinCache::Insert(const std::string& key, absl::string_view cubin) const {
  if (folder_.empty()) return absl::OkStatus();
  TILUS_RETURN_IF_ERROR(MakeFolder(folder_));
  std::string temporary = PathOf(key) + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return FileError("cannot write", temporary);
  const bool written = WriteAll(file, absl::StrCat(kMagic, Digest128(cubin), cubin));
  const bool closed = close(file) == 0;
  if (written && closed && rename(temporary.c_str(), PathOf(key).c_str()) == 0) {
    return absl::OkStatus();
  }
  const absl::Status status = FileError("cannot write", PathOf(key));
  unlink(temporary.c_str());
  return status;
}

}  // namespace tilus::capi
