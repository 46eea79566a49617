// Compile latency, program bytes -> PTX on one core, for each .tilus file of a folder and for the
// matmul template; threads compile side by side to show how it scales.
//
//   compile_bench [FOLDER] [--benchmark_...]      FOLDER defaults to examples
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "ir/text.h"
#include "kernels/matmul.h"
#include "wire/wire.h"

namespace {

using tilus::compile::CompileBytes;
using tilus::compile::PipelineOptions;

void Compile(benchmark::State& state, const std::string& bytes) {
  PipelineOptions options;
  options.targets = {"sm_90a"};
  size_t ptx = 0;
  for (auto _ : state) {
    const auto result = CompileBytes(bytes, options);
    if (!result.ok()) {
      state.SkipWithError(result.status().ToString().c_str());
      return;
    }
    ptx = result->targets[0].ptx.size();
  }
  state.counters["program_bytes"] = static_cast<double>(bytes.size());
  state.counters["ptx_bytes"] = static_cast<double>(ptx);
}

void Register(const std::string& name, const std::string& bytes) {
  for (int threads : {1, 2}) {
    benchmark::RegisterBenchmark(name.c_str(), Compile, bytes)
        ->Unit(benchmark::kMillisecond)
        ->Threads(threads)
        ->UseRealTime();
  }
}

bool RegisterFolder(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".tilus") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    const auto module = tilus::ir::ParseText(text.str(), {});
    if (!module.ok()) return false;
    Register(path.filename().string(), tilus::wire::Encode(*module));
  }
  return !paths.empty();
}

bool RegisterTemplates() {
  tilus::kernels::MatmulConfig config;
  config.weight = tilus::DataType::UInt(4);
  config.n = 57344;
  config.k = 8192;
  config.group = 128;
  for (int unroll : {1, 4, 16}) {
    config.unroll = unroll;
    const auto program = tilus::kernels::MatmulProgram(config);
    if (!program.ok()) return false;
    tilus::ir::Module module;
    module.programs.push_back(*program);
    Register("matmul_u4_f16/unroll=" + std::to_string(unroll), tilus::wire::Encode(module));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const std::string folder = argc > 1 ? argv[1] : "examples";
  if (!std::filesystem::is_directory(folder) || !RegisterFolder(folder) || !RegisterTemplates()) {
    std::fprintf(stderr, "compile_bench: no programs in %s\n", folder.c_str());
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
