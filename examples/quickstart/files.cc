#include "files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace quickstart {
namespace {

Error CannotRead(const std::string& path, const std::string& reason) {
  return Error{"Cannot read " + path + ": " + reason};
}

Error CannotWrite(const std::string& path, const std::string& reason) {
  return Error{"Cannot write " + path + ": " + reason};
}

}  // namespace

Result<std::vector<uint8_t>> ReadFile(const std::string& path) {
  std::error_code code;
  const uintmax_t size = std::filesystem::file_size(path, code);
  if (code) return CannotRead(path, code.message());
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return CannotRead(path, std::strerror(errno));
  std::vector<uint8_t> bytes(size);
  stream.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (!stream) return CannotRead(path, "it ended early");
  return bytes;
}

Status WriteFile(const std::string& path, std::span<const uint8_t> bytes) {
  std::error_code code;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, code);
  if (code) return CannotWrite(path, code.message());
  const std::string partial = path + ".partial";
  {
    std::ofstream stream(partial, std::ios::binary);
    if (!stream) return CannotWrite(path, std::strerror(errno));
    stream.write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    stream.flush();
    if (!stream) {
      const std::string reason = std::strerror(errno);
      std::filesystem::remove(partial, code);
      return CannotWrite(path, reason);
    }
  }
  std::filesystem::rename(partial, path, code);
  if (!code) return Done{};
  const std::string reason = code.message();
  std::filesystem::remove(partial, code);
  return CannotWrite(path, reason);
}

}  // namespace quickstart
