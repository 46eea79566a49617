// tilusc bench compile: how long each stage of a compile takes.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/cat.h"
#include "cli/program_input.h"

namespace tilus::cli {
namespace {

struct BenchOptions {
  std::string program;
  std::vector<std::string> targets;
  int runs = 51;
};

using Clock = std::chrono::steady_clock;
double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// In the order of the answer; "total_to_ptx" and "cubin" are measured around the calls.
constexpr const char* kStages[] = {"decode", "verify", "passes", "lower", "ptx"};
constexpr char kTotal[] = "total_to_ptx";
constexpr char kCubin[] = "cubin";

using Samples = std::map<std::string, std::vector<double>>;

void MeasureCompile(const Session& session, const ProgramInput& input,
                    const CompileOptions& options, Samples* samples) {
  const Clock::time_point start = Clock::now();
  const Module module = ModuleOf(session, input, options);
  (*samples)[kTotal].push_back(MillisecondsSince(start));
  for (size_t i = 0; i < tilus_module_stage_count(module.get()); ++i) {
    auto stage = Sized<tilus_stage>();
    tilus_module_stage(module.get(), i, &stage);
    (*samples)[std::string(View(stage.name))].push_back(stage.microseconds / 1000.0);
  }
}

// Of a module whose cubins have not been made yet.
void MeasureCubins(const Session& session, const ProgramInput& input,
                   const CompileOptions& options, Samples* samples) {
  const Module module = ModuleOf(session, input, options);
  const Clock::time_point start = Clock::now();
  for (const std::string& target : TargetNames(module.get())) {
    ImageOf(module.get(), TILUS_IMAGE_CUBIN, target);
  }
  (*samples)[kCubin].push_back(MillisecondsSince(start));
}

// Whole nanoseconds, so that no digits are printed that mean nothing.
double Rounded(double milliseconds) { return std::round(milliseconds * 1e6) / 1e6; }

// null where a stage was not timed.
Json Median(Samples& samples, const char* stage) {
  std::vector<double>& values = samples[stage];
  if (values.empty()) return nullptr;
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  return Rounded(values.size() % 2 == 1 ? values[middle]
                                        : (values[middle - 1] + values[middle]) / 2);
}

std::string Row(const std::string& stage, const Json& milliseconds) {
  char line[64];
  if (milliseconds.is_null()) {
    std::snprintf(line, sizeof line, "%-13s        -", stage.c_str());
  } else {
    std::snprintf(line, sizeof line, "%-13s%9.3f", stage.c_str(), milliseconds.get<double>());
  }
  return line;
}

void BenchCompile(const BenchOptions& options, Tool& tool) {
  constexpr int kMaxCubinRuns = 9;
  const Session session(tool);
  const ProgramInput input =
      ReadProgramOnly(session, options.program, "and there is nothing to compile");
  const CompileOptions compile_options = OptionsFor(input, options.targets);
  Samples samples;
  for (int i = 0; i < options.runs; ++i) MeasureCompile(session, input, compile_options, &samples);
  if (tilus_context_assembler(session.context()).size != 0) {
    const int runs = std::min(options.runs, kMaxCubinRuns);
    for (int i = 0; i < runs; ++i) MeasureCubins(session, input, compile_options, &samples);
  } else {
    samples.erase(kCubin);
  }
  Json answer;
  for (const char* stage : kStages) answer[stage] = Median(samples, stage);
  answer[kTotal] = Median(samples, kTotal);
  answer[kCubin] = Median(samples, kCubin);
  if (tool.json) {
    PrintJson(answer);
    return;
  }
  PrintLine(Cat("median milliseconds of ", options.runs, " runs"));
  for (const auto& [stage, milliseconds] : answer.items()) PrintLine(Row(stage, milliseconds));
}

}  // namespace

void AddBenchCommands(CLI::App* bench, Tool* tool) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* app = AddCommand(bench, "compile",
                             "Print the median milliseconds of each stage of a compile, without "
                             "caches; cubin only where there is an assembler",
                             "  tilusc bench compile matmul.tilus --json\n"
                             "  tilusc bench compile matmul.tilus --target sm_90a --runs 201");
  app->add_option("P", options->program, "A program, text or protobuf; - for stdin")->required();
  AddTargetOption(app, &options->targets);
  app->add_option("--runs", options->runs, "How often to compile (51)")
      ->option_text("N")
      ->check(CLI::Range(1, 100000));
  RunWith(tool, app, options, BenchCompile);
}

}  // namespace tilus::cli
