#include "cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "ir/text.h"
#include "kernels/matmul.h"

namespace tilus::testing {
namespace {

std::vector<std::filesystem::path> TilusFiles(const std::string& root) {
  std::vector<std::filesystem::path> paths;
  for (const char* folder : {"examples", "tests/filetests"}) {
    const std::filesystem::path path = std::filesystem::path(root) / folder;
    if (!std::filesystem::exists(path)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".tilus") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

ArgumentSpec Buffer(const std::string& name, Fill fill, DataType type, std::vector<int64_t> dims) {
  ArgumentSpec spec;
  spec.name = name;
  spec.fill = fill;
  spec.type = type;
  spec.dims = std::move(dims);
  return spec;
}

absl::StatusOr<Case> MatmulCase(DataType weight, DataType activation) {
  kernels::MatmulConfig config;
  config.weight = weight;
  config.activation = activation;
  config.n = 64;
  config.k = 128;
  config.group = 64;
  config.warps = 2;
  constexpr int64_t kM = 19;
  Case c;
  TILUS_ASSIGN_OR_RETURN(ir::Program program, kernels::MatmulProgram(config));
  c.name = program.name;
  c.module.programs.push_back(std::move(program));
  ArgumentSpec m;
  m.name = "m";
  m.number = static_cast<double>(kM);
  c.spec.arguments = {
      m,
      Buffer("a", Fill::kRandom, activation, {kM, config.k}),
      // Finite codes: at 8 bits the packed bytes are the codes in another order.
      Buffer("w", Fill::kRandom, weight, {config.k * config.n}),
      Buffer("scales", Fill::kRandom, activation, {config.k / config.group, config.n}),
      Buffer("c", Fill::kPoison, activation, {kM, config.n})};
  c.spec.tolerance = activation == kF16 ? 1e-3 : 8e-3;
  return c;
}

}  // namespace

absl::StatusOr<std::vector<Case>> ProgramCases(const std::string& root) {
  std::vector<Case> cases;
  for (const std::filesystem::path& path : TilusFiles(root)) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    TILUS_ASSIGN_OR_RETURN(const std::vector<RunSpec> specs, ParseRunSpecs(text.str()));
    if (specs.empty()) continue;
    const std::string name = std::filesystem::relative(path, root).string();
    absl::StatusOr<ir::Module> module = ir::LoadText(text.str(), ir::Limits{});
    if (!module.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": ", module.status().ToString()));
    }
    for (const RunSpec& spec : specs) {
      cases.push_back({spec.kernel.empty() ? name : absl::StrCat(name, ":", spec.kernel), *module,
                       spec});
    }
  }
  return cases;
}

absl::StatusOr<std::vector<Case>> MatmulCases() {
  std::vector<DataType> weights;
  for (int bits = 1; bits <= 8; ++bits) weights.push_back(DataType::UInt(bits));
  for (int bits = 2; bits <= 8; ++bits) weights.push_back(DataType::Int(bits));
  for (const char* name : {"f3e1m1", "f4e2m1", "f5e2m2", "f6e3m2", "f6e2m3", "f7e3m3", "f8e4m3", "f8e5m2"}) {
    TILUS_ASSIGN_OR_RETURN(const DataType type, ParseDataType(name));
    weights.push_back(type);
  }
  std::vector<Case> cases;
  for (DataType activation : {kF16, kBF16}) {
    for (DataType weight : weights) {
      TILUS_ASSIGN_OR_RETURN(Case c, MatmulCase(weight, activation));
      cases.push_back(std::move(c));
    }
  }
  return cases;
}

}  // namespace tilus::testing
