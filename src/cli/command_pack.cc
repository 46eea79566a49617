// tilusc pack | unpack: the weight transform of a matrix of codes, and the way back.
#include <nlohmann/json.hpp>

#include "cli/api.h"
#include "cli/arrays.h"
#include "cli/cat.h"
#include "cli/files.h"
#include "cli/npy.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

struct PackOptions {
  std::string type;
  std::string layout;
  int64_t k_dim = 0;
  std::string shape;
  std::string input;
  std::string output;
};

tilus_weight_plan Describe(tilus_type type, const Layout& layout, int64_t rows, int64_t columns,
                           int64_t k_dim) {
  auto plan = Sized<tilus_weight_plan>();
  Check(tilus_weight_describe(type, layout.get(), rows, columns, k_dim, &plan));
  return plan;
}

[[noreturn]] void WrongShape(const NpyArray& array, const std::string& expected) {
  Fail(Exit::kInput, Id::kArrayShape,
       Cat("the array has shape ", NpyShapeText(array.shape), ", not ", expected), "",
       array.source);
}

void CheckUnsigned(const NpyArray& array, uint64_t max_bytes) {
  if (array.descr[1] == 'u' && array.item_bytes <= max_bytes) return;
  Fail(Exit::kInput, Id::kArrayType,
       Cat(max_bytes == 1 ? "packed weights are u1" : "codes are u1 or u2",
           ", but the array holds ", array.descr),
       max_bytes == 1 ? "" : "give the bits of each element as an unsigned number", array.source);
}

// The result is a file, so with --json the answer is how the matrix was packed.
void PrintPlan(const tilus_weight_plan& plan, int64_t rows, int64_t columns, const Tool& tool) {
  if (!tool.json) return;
  PrintJson({{"shape", {rows, columns}},
             {"repeat", plan.repeat},
             {"tile", plan.tile},
             {"tiles", plan.tiles},
             {"thread_bytes", plan.thread_bytes},
             {"tile_bytes", plan.tile_bytes},
             {"bytes", plan.bytes}});
}

std::string_view TextOf(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Pack(const PackOptions& options, Tool& tool) {
  const tilus_type type = ParseType(options.type);
  const Layout layout = ParseLayout(options.layout);
  const NpyArray codes = ReadNpy(options.input);
  CheckUnsigned(codes, 2);
  if (codes.shape.size() != 2) WrongShape(codes, "(rows, columns)");
  const int64_t rows = static_cast<int64_t>(codes.shape[0]);
  const int64_t columns = static_cast<int64_t>(codes.shape[1]);
  const tilus_weight_plan plan = Describe(type, layout, rows, columns, options.k_dim);
  std::vector<uint8_t> packed(static_cast<size_t>(plan.bytes));
  Check(tilus_weight_pack(type, layout.get(), rows, columns, options.k_dim, codes.data.data(),
                          static_cast<uint32_t>(codes.item_bytes), packed.data(), packed.size()));
  const std::vector<uint64_t> shape = {static_cast<uint64_t>(plan.tiles[0]),
                                       static_cast<uint64_t>(plan.tiles[1]),
                                       static_cast<uint64_t>(plan.tile_bytes)};
  WriteFile(options.output, NpyFile("|u1", shape, TextOf(packed)));
  PrintPlan(plan, rows, columns, tool);
}

struct Extents {
  int64_t rows;
  int64_t columns;
};

// --shape R,C; without it what whole tiles hold.
Extents ShapeOf(const PackOptions& options, const NpyArray& packed, const tilus_weight_plan& tile) {
  if (!options.shape.empty()) {
    const std::vector<int64_t> shape = ParseIntegers(options.shape, ',', "--shape");
    if (shape.size() != 2) {
      Fail(Exit::kUsage, Id::kUsage, Cat("--shape takes R,C, not \"", options.shape, "\""));
    }
    return {shape[0], shape[1]};
  }
  Extents extents = {0, 0};
  if (__builtin_mul_overflow(packed.shape[0], tile.tile[0], &extents.rows) ||
      __builtin_mul_overflow(packed.shape[1], tile.tile[1], &extents.columns)) {
    WrongShape(packed, "one of a matrix of at most 2^63 - 1 rows and columns");
  }
  return extents;
}

void Unpack(const PackOptions& options, Tool& tool) {
  const tilus_type type = ParseType(options.type);
  const Layout layout = ParseLayout(options.layout);
  const NpyArray packed = ReadNpy(options.input);
  CheckUnsigned(packed, 1);
  if (packed.shape.size() != 3) WrongShape(packed, "(tiles, tiles, bytes of a tile)");
  const tilus_weight_plan tile = Describe(type, layout, 1, 1, options.k_dim);
  const Extents extents = ShapeOf(options, packed, tile);
  const tilus_weight_plan plan =
      Describe(type, layout, extents.rows, extents.columns, options.k_dim);
  const std::vector<uint64_t> expected = {static_cast<uint64_t>(plan.tiles[0]),
                                          static_cast<uint64_t>(plan.tiles[1]),
                                          static_cast<uint64_t>(plan.tile_bytes)};
  if (packed.shape != expected) {
    WrongShape(packed, Cat(NpyShapeText(expected), ", that of a matrix of ", extents.rows, " by ",
                           extents.columns, " codes"));
  }
  const uint32_t code_bytes = tilus_type_bits(type) <= 8 ? 1 : 2;
  std::vector<uint8_t> codes(
      static_cast<size_t>(extents.rows) * static_cast<size_t>(extents.columns) * code_bytes);
  Check(tilus_weight_unpack(type, layout.get(), extents.rows, extents.columns, options.k_dim,
                            {packed.data.data(), packed.data.size()}, codes.data(), code_bytes));
  const std::vector<uint64_t> shape = {static_cast<uint64_t>(extents.rows),
                                       static_cast<uint64_t>(extents.columns)};
  WriteFile(options.output, NpyFile(code_bytes == 1 ? "|u1" : "<u2", shape, TextOf(codes)));
  PrintPlan(plan, extents.rows, extents.columns, tool);
}

CLI::App* AddCommon(CLI::App* parent, const std::shared_ptr<PackOptions>& options,
                    const std::string& name, const std::string& description,
                    const std::string& examples) {
  CLI::App* app = AddCommand(parent, name, description, examples);
  app->add_option("--type", options->type, "Type of an element of the matrix, of at most 16 bits")
      ->option_text("T")
      ->required();
  app->add_option("--layout", options->layout, "Register layout of a tile")
      ->option_text("EXPR")
      ->required();
  app->add_option("--k-dim", options->k_dim,
                  "The dimension that is summed: along it a tile is repeated where a thread's "
                  "share is not whole bytes (0)")
      ->option_text("D");
  return app;
}

}  // namespace

void AddPackCommands(CLI::App* parent, Tool* tool) {
  auto pack = std::make_shared<PackOptions>();
  CLI::App* app = AddCommon(
      parent, pack, "pack", "Lay a matrix of codes out as kernels load it",
      "  tilusc pack --type i6 --layout 'local(2,1).column_spatial(4,8).local(2,1)' w.npy "
      "packed.npy");
  app->add_option("IN", pack->input, "Codes: a .npy array of u1 or u2, [rows, columns]")
      ->required();
  app->add_option("OUT", pack->output, "The .npy array to write: u1 [tiles, tiles, tile bytes]")
      ->required();
  RunWith(tool, app, pack, Pack);

  auto unpack = std::make_shared<PackOptions>();
  app = AddCommon(
      parent, unpack, "unpack", "The way back: the codes of a packed matrix",
      "  tilusc unpack --type i6 --layout 'local(2,1).column_spatial(4,8).local(2,1)' "
      "--shape 576,1536 packed.npy w.npy");
  app->add_option("--shape", unpack->shape, "Shape of the matrix, where its edges are ragged")
      ->option_text("R,C");
  app->add_option("IN", unpack->input, "What pack wrote")->required();
  app->add_option("OUT", unpack->output, "The .npy array of codes to write")->required();
  RunWith(tool, app, unpack, Unpack);
}

}  // namespace tilus::cli
