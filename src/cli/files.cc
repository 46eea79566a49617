#include "cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/cat.h"
#include "cli/failure.h"
#include "cli/output.h"

namespace tilus::cli {
namespace {

[[noreturn]] void FailToRead(const std::string& path, int error) {
  Fail(Exit::kEnvironment, Id::kFileRead, Cat("cannot read it: ", std::strerror(error)),
       error == ENOENT ? "check the path; - stands for the standard input" : "", SourceName(path));
}

[[noreturn]] void FailToWrite(const std::string& path, int error) {
  Fail(Exit::kEnvironment, Id::kFileWrite, Cat("cannot write it: ", std::strerror(error)),
       error == ENOENT ? "the folder does not exist" : "", path);
}

// Closes a descriptor when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }
  int number() const { return number_; }
  // 0, or the error of the close.
  int Close() {
    if (number_ < 0) return 0;
    const int status = ::close(std::exchange(number_, -1));
    return status == 0 ? 0 : errno;
  }

 private:
  int number_;
};

// 0, or the error.
int WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

std::string WithoutLinks(const std::string& path) {
  char resolved[PATH_MAX];
  return ::realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : path;
}

// The mode that open would give a new file; the one place to learn the mask is to set it.
mode_t NewFileMode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

std::string SourceName(const std::string& path) { return path == "-" ? "<stdin>" : path; }

std::vector<uint8_t> ReadFile(const std::string& path, size_t limit) {
  constexpr size_t kStep = size_t{1} << 16;
  const int number =
      path == "-" ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) FailToRead(path, errno);
  const Descriptor file(number);
  std::vector<uint8_t> bytes;
  struct stat status = {};
  if (::fstat(number, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    bytes.reserve(std::min(static_cast<size_t>(status.st_size), limit) + 1);
  }
  while (bytes.size() <= limit) {
    const size_t have = bytes.size();
    const size_t room = bytes.capacity() > have ? bytes.capacity() - have : kStep;
    bytes.resize(have + std::min(room, limit + 1 - have));
    const ssize_t got = ::read(number, bytes.data() + have, bytes.size() - have);
    bytes.resize(have + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) FailToRead(path, errno);
    if (got == 0) break;
  }
  return bytes;
}

StagedFile::StagedFile(std::string path, std::string_view bytes)
    : path_(std::move(path)), target_(WithoutLinks(path_)) {
  struct stat status = {};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) FailToWrite(path_, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    in_place_ = bytes;
    return;
  }
  // A rename needs no right to write the file it replaces; who made it read-only meant it.
  if (exists && ::access(target_.c_str(), W_OK) != 0) FailToWrite(path_, errno);
  std::string name = Cat(target_, ".XXXXXX");
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.number() < 0) FailToWrite(path_, errno);
  temporary_ = name;
  int error = ::fchmod(file.number(), exists ? status.st_mode & 07777 : NewFileMode()) == 0
                  ? WriteAll(file.number(), bytes)
                  : errno;
  if (error == 0) error = file.Close();
  if (error != 0) {
    ::unlink(temporary_.c_str());
    FailToWrite(path_, error);
  }
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      in_place_(std::move(other.in_place_)) {}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void StagedFile::Commit() {
  if (temporary_.empty()) {
    Descriptor file(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    int error = file.number() < 0 ? errno : WriteAll(file.number(), in_place_);
    if (error == 0) error = file.Close();
    if (error != 0) FailToWrite(path_, error);
    return;
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) FailToWrite(path_, errno);
  temporary_.clear();
}

void WriteFile(const std::string& path, std::string_view bytes) {
  if (path == "-") {
    Print(bytes);
  } else {
    StagedFile(path, bytes).Commit();
  }
}

}  // namespace tilus::cli
