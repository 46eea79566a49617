// The main job of the library on real weights: one feed-forward projection of SmolLM2-135M, its
// 4-bit weights kept exactly, and the same weights requantised to 6 bits, each multiplied with
// activations of a real sentence by a .tilus program that is compiled here. See --help.

#include <algorithm>
#include <cstdio>
#include <string>

#include "excerpt.h"
#include "files.h"
#include "layer.h"
#include "prompt.h"
#include "reference.h"
#include "run_program.h"
#include "tensor_data.h"
#include "tiles.h"

namespace quickstart {
namespace {

constexpr double kErrorBound = 1e-3;
constexpr tilus_type kI6 = TILUS_CLASS_SIGNED << 24 | 6 << 16;
// The sizes that the programs are written for.
constexpr int kInputs = 576, kOutputs = 1536;

constexpr char kUsage[] =
    "usage: quickstart [--gguf FILE] [--examples FOLDER] [--out FOLDER] [--device best|host|cuda]\n"
    "       quickstart --gguf FILE --write-excerpt FILE\n"
    "\n"
    "  --gguf FILE           SmolLM2-135M-Instruct as a Q4_1 GGUF file; without it the excerpt of\n"
    "                        it in FOLDER/data serves\n"
    "  --examples FOLDER     where matmul_q4_1.tilus and matmul_i6.tilus are (default: examples)\n"
    "  --out FOLDER          where the compiled modules go (default: build/quickstart)\n"
    "  --device NAME         best (default): a GPU if there is one, else the host device\n"
    "  --write-excerpt FILE  only write the tensors of the example to a GGUF file of their own\n"
    "  --help                print this\n"
    "\n"
    "Exit status: 0 both errors are within their bound; 1 they are not, or something failed;\n"
    "2 usage.\n";

struct Options {
  std::string gguf;
  std::string examples = "examples";
  std::string out = "build/quickstart";
  std::string write_excerpt;
  DeviceChoice device = DeviceChoice::kBest;
  bool help = false;
};

Result<Options> ParseOptions(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (name != "--gguf" && name != "--examples" && name != "--out" && name != "--device" &&
        name != "--write-excerpt") {
      return Error{"unknown option " + Quote(name)};
    }
    if (++i == count) return Error{std::string(name) + " needs a value"};
    const std::string value = arguments[i];
    if (name == "--gguf") options.gguf = value;
    if (name == "--examples") options.examples = value;
    if (name == "--out") options.out = value;
    if (name == "--write-excerpt") options.write_excerpt = value;
    if (name != "--device") continue;
    if (value == "host") {
      options.device = DeviceChoice::kHost;
    } else if (value == "cuda") {
      options.device = DeviceChoice::kCuda;
    } else if (value != "best") {
      return Error{"--device is best, host or cuda, not " + Quote(value)};
    }
  }
  if (!options.write_excerpt.empty() && options.gguf.empty()) {
    return Error{"--write-excerpt needs --gguf"};
  }
  return options;
}

// Weights and activations, both quantisations, and the products that the kernels are held against.
struct Problem {
  HalfMatrix activations;
  Q41Layer q41;
  I6Layer i6;
  Matrix q41_product;
  Matrix i6_product;
};

Result<Problem> ReadProblem(const GgufFile& file) {
  Result<Q41Layer> layer = ReadQ41Layer(file, kWeightName);
  if (!layer.ok()) return layer.error();
  Result<HalfMatrix> activations = ReadActivations(file);
  if (!activations.ok()) return activations.error();
  if (layer->k != kInputs || layer->n != kOutputs || activations->columns != kInputs) {
    return Error{"The tensors of the GGUF file have other sizes than those of SmolLM2-135M"};
  }
  Problem problem;
  problem.activations = std::move(*activations);
  problem.q41 = std::move(*layer);
  const Matrix a = Values(problem.activations), w = Values(problem.q41);
  problem.i6 = QuantizeI6(w);
  problem.q41_product = Multiply(a, w);
  problem.i6_product = Multiply(a, Values(problem.i6));
  return problem;
}

struct Outcome {
  double error = 0;  // relative, of the kernel's product
  double run_ms = 0;
};

// A program's output against `reference`.
Result<double> ErrorOf(const Session& session, const Memory& output, const Matrix& reference) {
  Result<std::vector<uint16_t>> halves = DownloadHalves(session, output);
  if (!halves.ok()) return halves.error();
  return RelativeError(Values(HalfMatrix{reference.rows, reference.columns, std::move(*halves)}),
                       reference);
}

// matmul_q4_1(m: i32, a: *f16, w: *u8, scales: *f16, minima: *f16, c: *f16): a f16[m, K],
// w u8[K/16, N/8, 64] as PackTiles makes it, scales and minima f16[K/32, N], c f16[m, N].
Result<Outcome> RunQ41(const Session& session, const Program& program, const Problem& problem) {
  const Q41Layer& layer = problem.q41;
  const Result<Memory> a = Upload(session, problem.activations.values);
  const Result<Memory> w = Upload(session, PackTiles(layer.codes, layer.k, layer.n, 4));
  const Result<Memory> scales = Upload(session, layer.scales);
  const Result<Memory> minima = Upload(session, layer.minima);
  const Result<Memory> c = Allocate(session, problem.q41_product.values.size() * 2);
  for (const auto* memory : {&a, &w, &scales, &minima, &c}) {
    if (!memory->ok()) return memory->error();
  }
  const tilus_argument arguments[] = {
      Argument(problem.activations.rows),  Argument(*a, TILUS_TYPE_F16),
      Argument(*w, TILUS_TYPE_U8),         Argument(*scales, TILUS_TYPE_F16),
      Argument(*minima, TILUS_TYPE_F16),   Argument(*c, TILUS_TYPE_F16)};
  const Result<double> run_ms = Launch(session, program, "matmul_q4_1", arguments);
  if (!run_ms.ok()) return run_ms.error();
  const Result<double> error = ErrorOf(session, *c, problem.q41_product);
  if (!error.ok()) return error.error();
  return Outcome{*error, *run_ms};
}

// The weight transform pack_i6(w: *i6, packed: *u8): w i6[K, N] dense, packed u8[K/16, N/8, 96].
// An error when its bytes are not those that the host's own packing gives.
Result<Memory> PackI6(const Session& session, const Program& program, const I6Layer& layer) {
  const std::vector<uint8_t> codes(layer.codes.begin(), layer.codes.end());
  const std::vector<uint8_t> expected = PackTiles(codes, layer.k, layer.n, 6);
  const Result<Memory> dense = Upload(session, PackDense(codes, 6));
  if (!dense.ok()) return dense.error();
  Result<Memory> packed = Allocate(session, expected.size());
  if (!packed.ok()) return packed;
  const tilus_argument arguments[] = {Argument(*dense, kI6), Argument(*packed, TILUS_TYPE_U8)};
  const Result<double> run_ms = Launch(session, program, "pack_i6", arguments);
  if (!run_ms.ok()) return run_ms.error();
  const Result<std::vector<uint8_t>> bytes = Download(session, *packed);
  if (!bytes.ok()) return bytes.error();
  if (*bytes != expected) return Error{"pack_i6 packs the weights otherwise than the host does"};
  return packed;
}

// matmul_i6(m: i32, a: *f16, w: *u8, scales: *f16, c: *f16), with w as pack_i6 makes it.
Result<Outcome> RunI6(const Session& session, const Program& program, const Problem& problem) {
  const Result<Memory> a = Upload(session, problem.activations.values);
  const Result<Memory> w = PackI6(session, program, problem.i6);
  const Result<Memory> scales = Upload(session, problem.i6.scales);
  const Result<Memory> c = Allocate(session, problem.i6_product.values.size() * 2);
  for (const auto* memory : {&a, &w, &scales, &c}) {
    if (!memory->ok()) return memory->error();
  }
  const tilus_argument arguments[] = {Argument(problem.activations.rows),
                                      Argument(*a, TILUS_TYPE_F16), Argument(*w, TILUS_TYPE_U8),
                                      Argument(*scales, TILUS_TYPE_F16),
                                      Argument(*c, TILUS_TYPE_F16)};
  const Result<double> run_ms = Launch(session, program, "matmul_i6", arguments);
  if (!run_ms.ok()) return run_ms.error();
  const Result<double> error = ErrorOf(session, *c, problem.i6_product);
  if (!error.ok()) return error.error();
  return Outcome{*error, *run_ms};
}

// Compiles examples/NAME.tilus, says what that took, and saves the module.
Result<Program> Prepare(const Session& session, const Options& options, const std::string& name) {
  const std::string source = options.examples + "/" + name + ".tilus";
  Result<Program> program = CompileFile(session, source);
  if (!program.ok()) return program;
  const std::string artifact = options.out + "/" + name + ".tilusmod";
  const Result<std::vector<uint8_t>> saved = SaveModule(*program);
  if (!saved.ok()) return saved.error();
  const Status written = WriteFile(artifact, *saved);
  if (!written.ok()) return written.error();
  std::printf("%s\n", source.c_str());
  std::printf("  bytes to PTX  %.2f ms (median of %d; the first took %.2f ms)\n",
              program->median_ms, kCompiles, program->first_ms);
  std::printf("  PTX           %zu bytes for %s\n", program->ptx_bytes, program->target.c_str());
  if (program->cubin_bytes) {
    std::printf("  cubin         %zu bytes by %s\n", *program->cubin_bytes,
                program->assembler.c_str());
  } else {
    std::printf("  cubin         none: no assembler (nvJitLink) was found\n");
  }
  std::printf("  module        %s (%zu bytes)\n", artifact.c_str(), saved->size());
  return program;
}

void PrintOutcome(const Outcome& outcome) {
  std::printf("  ran in        %.2f ms\n", outcome.run_ms);
  std::printf("  error         %.2e against fp64 products of the same weights (bound %.0e)\n",
              outcome.error, kErrorBound);
}

Status WriteExcerpt(const GgufFile& file, const std::string& path) {
  const Result<std::vector<uint8_t>> bytes = MakeExcerpt(file);
  if (!bytes.ok()) return bytes.error();
  const Status written = WriteFile(path, *bytes);
  if (written.ok()) std::printf("wrote %s (%zu bytes)\n", path.c_str(), bytes->size());
  return written;
}

// Everything but the exit status. The result says whether both errors are within the bound.
Result<bool> Run(const Options& options) {
  const bool whole = !options.gguf.empty();
  const std::string path = whole ? options.gguf : options.examples + "/data/smollm2_ffn_up.gguf";
  const Result<std::vector<uint8_t>> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.error();
  const Result<GgufFile> file = GgufFile::Parse(*bytes);
  if (!file.ok()) return Error{path + ": " + file.message()};
  if (!options.write_excerpt.empty()) {
    const Status written = WriteExcerpt(*file, options.write_excerpt);
    if (!written.ok()) return written.error();
    return true;
  }
  const Result<Problem> problem = ReadProblem(*file);
  if (!problem.ok()) return Error{path + ": " + problem.message()};
  const Result<Session> session = OpenSession(options.device);
  if (!session.ok()) return session.error();

  std::printf("weights       %s, %d x %d in Q4_1, from %s\n", std::string(kWeightName).c_str(),
              problem->q41.n, problem->q41.k, path.c_str());
  if (!whole) {
    std::printf("              (an excerpt of the model's file, since --gguf does not name it)\n");
  }
  std::printf("activations   %d tokens of \"%s\"\n", problem->activations.rows, kSentence);
  std::printf("device        %s (%s)\n", session->name.c_str(), session->description.c_str());

  const Result<Program> q41 = Prepare(*session, options, "matmul_q4_1");
  if (!q41.ok()) return q41.error();
  const Result<Outcome> q41_outcome = RunQ41(*session, *q41, *problem);
  if (!q41_outcome.ok()) return q41_outcome.error();
  PrintOutcome(*q41_outcome);

  const Result<Program> i6 = Prepare(*session, options, "matmul_i6");
  if (!i6.ok()) return i6.error();
  const Result<Outcome> i6_outcome = RunI6(*session, *i6, *problem);
  if (!i6_outcome.ok()) return i6_outcome.error();
  PrintOutcome(*i6_outcome);
  std::printf("  for scale     %.2e is what requantising Q4_1 to i6 changed in the product\n",
              RelativeError(problem->i6_product, problem->q41_product));

  const bool good = q41_outcome->error <= kErrorBound && i6_outcome->error <= kErrorBound;
  std::printf("quickstart: %s device=%s q4_1_error=%.3e i6_error=%.3e compile_ms=%.3f\n",
              good ? "ok" : "failed", session->name.c_str(), q41_outcome->error,
              i6_outcome->error, std::max(q41->median_ms, i6->median_ms));
  return good;
}

int Main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // in a pipe too, lines come as they are made
  const Result<Options> options = ParseOptions(count, arguments);
  if (!options.ok()) {
    std::fprintf(stderr, "quickstart: %s\n%s", options.message().c_str(), kUsage);
    return 2;
  }
  if (options->help) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const Result<bool> good = Run(*options);
  if (!good.ok()) std::fprintf(stderr, "quickstart: %s\n", good.message().c_str());
  return good.ok() && *good ? 0 : 1;
}

}  // namespace
}  // namespace quickstart

int main(int count, char** arguments) { return quickstart::Main(count, arguments); }
