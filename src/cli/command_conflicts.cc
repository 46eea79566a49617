// tilusc layout conflicts: what it costs to bring a tile through shared memory.
#include <nlohmann/json.hpp>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

struct ConflictsOptions {
  std::string layout;
  std::string type;
  std::string strides;
  std::string swizzle;
};

SharedLayout SharedOf(const ConflictsOptions& options, tilus_integers shape, tilus_type type) {
  if (options.strides.empty() && options.swizzle.empty()) {
    return Make<SharedLayout>(tilus_shared_layout_auto, shape.data, shape.size, type);
  }
  std::vector<int64_t> strides;
  if (!options.strides.empty()) strides = ParseIntegers(options.strides, ',', "--strides");
  if (!strides.empty() && strides.size() != shape.size) {
    Fail(Exit::kUsage, Id::kUsage,
         Cat("--strides: ", strides.size(), " strides for ", shape.size, " dimensions"));
  }
  std::vector<int64_t> swizzle = {0, 0, 0};
  if (!options.swizzle.empty()) swizzle = ParseIntegers(options.swizzle, ',', "--swizzle");
  if (swizzle.size() != 3) Fail(Exit::kUsage, Id::kUsage, "--swizzle takes BASE,BITS,SHIFT");
  return Make<SharedLayout>(tilus_shared_layout_create, shape.data,
                            strides.empty() ? nullptr : strides.data(), shape.size, swizzle[0],
                            swizzle[1], swizzle[2]);
}

void Conflicts(const ConflictsOptions& options, Tool& tool) {
  const Layout layout = ParseLayout(options.layout);
  const tilus_type type = ParseType(options.type);
  const SharedLayout shared = SharedOf(options, tilus_layout_shape(layout.get()), type);
  auto cost = Sized<tilus_conflicts>();
  Check(tilus_shared_layout_conflicts(shared.get(), layout.get(), type, &cost));
  const Blob text = Make<Blob>(tilus_shared_layout_text, shared.get());
  if (tool.json) {
    PrintJson({{"shared_layout", View(text)},
               {"vector_bytes", cost.vector_bytes},
               {"instructions", cost.instructions},
               {"wavefronts", cost.wavefronts},
               {"ideal", cost.ideal}});
    return;
  }
  PrintLine(View(text));
  PrintLine(Cat(cost.instructions, " accesses of ", cost.vector_bytes, " bytes a thread: ",
                cost.wavefronts, " wavefronts, ", cost.ideal, " without conflicts"));
}

}  // namespace

void AddConflictsCommand(CLI::App* layout, Tool* tool) {
  auto options = std::make_shared<ConflictsOptions>();
  CLI::App* app = AddCommand(
      layout, "conflicts", "Count the bank conflicts of a tile read from shared memory",
      "  tilusc layout conflicts f16 'local(2,1).spatial(8,4).local(1,2)'\n"
      "  tilusc layout conflicts f16 'column_spatial(16,2).local(1,8)' --strides 16,1 --json");
  app->add_option("TYPE", options->type, "Element type")->required();
  app->add_option("EXPR", options->layout, "The register layout that reads or writes")->required();
  app->add_option("--strides", options->strides,
                  "Of the shared tensor, in elements; by default row-major, and without either "
                  "option the swizzle that the compiler chooses")
      ->option_text("S,...");
  app->add_option("--swizzle", options->swizzle,
                  "XOR the BITS bits of an element's offset from BASE+SHIFT onto those from BASE")
      ->option_text("BASE,BITS,SHIFT");
  RunWith(tool, app, options, Conflicts);
}

}  // namespace tilus::cli
