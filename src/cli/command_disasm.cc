// tilusc disasm: the machine code of a program, by NVIDIA's disassembler.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/cat.h"
#include "cli/files.h"
#include "cli/program_input.h"

extern char** environ;

namespace tilus::cli {
namespace {

struct DisasmOptions {
  std::string program;
  std::vector<std::string> targets;
};

struct Disassembler {
  std::string path;
  bool is_cuobjdump = false;
};

bool IsExecutable(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

// The first `name` in the folders of $PATH; empty where there is none.
std::string FindInPath(std::string_view name) {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string path = Cat(folders.substr(0, end), "/", name);
    if (end > 0 && IsExecutable(path)) return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

Disassembler FindDisassembler() {
  if (const char* chosen = std::getenv("TILUS_NVDISASM"); chosen != nullptr && *chosen != '\0') {
    if (IsExecutable(chosen)) {
      return {chosen, std::string_view(chosen).find("cuobjdump") != std::string_view::npos};
    }
    Fail(Exit::kEnvironment, Id::kNoDisassembler,
         Cat("TILUS_NVDISASM names ", chosen, ", which cannot be run"));
  }
  for (const char* name : {"nvdisasm", "cuobjdump"}) {
    const std::string path = FindInPath(name);
    if (!path.empty()) return {path, std::string_view(name) == "cuobjdump"};
  }
  Fail(Exit::kEnvironment, Id::kNoDisassembler,
       "neither nvdisasm nor cuobjdump was found, so machine code cannot be shown",
       "put one on PATH, or its path into TILUS_NVDISASM");
}

bool IsElf(const ProgramInput& input) {
  return input.bytes.size() >= 4 && std::memcmp(input.bytes.data(), "\x7f" "ELF", 4) == 0;
}

std::string CubinOf(const DisasmOptions& options, Tool& tool) {
  const Session session(tool);
  const ProgramInput input = ReadProgramInput(session, options.program);
  if (IsElf(input)) return std::string(input.bytes.begin(), input.bytes.end());
  const Module module = ModuleOf(session, input, OptionsFor(input, options.targets));
  const std::vector<std::string> targets =
      options.targets.empty() ? TargetNames(module.get()) : options.targets;
  if (targets.size() != 1) {
    Fail(Exit::kUsage, Id::kUsage, Cat("there are ", targets.size(), " targets"),
         "name one with --target");
  }
  return ImageOf(module.get(), TILUS_IMAGE_CUBIN, targets[0]);
}

// A file that is removed when it goes.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    const char* folder = std::getenv("TMPDIR");
    path_ = Cat(folder == nullptr || *folder == '\0' ? "/tmp" : folder, "/tilusc.XXXXXX");
    const int file = ::mkostemp(path_.data(), O_CLOEXEC);
    const ssize_t size = static_cast<ssize_t>(bytes.size());
    const bool written = file >= 0 && ::write(file, bytes.data(), bytes.size()) == size;
    const int error = errno;
    if (file >= 0) ::close(file);
    if (!written) {
      if (file >= 0) ::unlink(path_.c_str());
      Fail(Exit::kEnvironment, Id::kFileWrite, Cat("cannot write it: ", std::strerror(error)), "",
           path_);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs the disassembler, which prints to this process's stdout.
void RunDisassembler(const Disassembler& tool, const std::string& path) {
  std::vector<std::string> words = {tool.path};
  words.push_back(tool.is_cuobjdump ? "-sass" : "-c");  // code, without data and debug sections
  words.push_back(path);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  const int error =
      ::posix_spawn(&child, tool.path.c_str(), nullptr, nullptr, arguments.data(), environ);
  if (error != 0) {
    Fail(Exit::kEnvironment, Id::kDisassemblerFailed,
         Cat("cannot run ", tool.path, ": ", std::strerror(error)));
  }
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    Fail(Exit::kEnvironment, Id::kDisassemblerFailed,
         Cat(tool.path, WIFEXITED(status) ? " failed with status " : " was ended by signal ",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
  }
}

void Disassemble(const DisasmOptions& options, Tool& tool) {
  const Disassembler disassembler = FindDisassembler();
  const TemporaryFile cubin(CubinOf(options, tool));
  RunDisassembler(disassembler, cubin.path());
}

}  // namespace

void AddDisasmCommand(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<DisasmOptions>();
  CLI::App* app =
      AddCommand(parent, "disasm", "Print the machine code (needs nvdisasm or cuobjdump)",
                 "  tilusc disasm matmul.tilus --target sm_90a\n  tilusc disasm matmul.cubin");
  app->add_option("P", options->program, "A program, a module or a cubin; - for stdin")
      ->required();
  AddTargetOption(app, &options->targets);
  RunWith(tool, app, options, Disassemble);
}

}  // namespace tilus::cli
