// tilusc layout show | divide | compose | equal | draw
#include <nlohmann/json.hpp>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/files.h"
#include "cli/layout_json.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

struct ShowOptions {
  std::string layout;
};

void Show(const ShowOptions& options, Tool& tool) {
  PrintLayout(ParseLayout(options.layout).get(), tool.json ? As::kJson : As::kText);
}

void AddShow(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* app = AddCommand(
      parent, "show", "Print the canonical form of a layout and its table",
      "  tilusc layout show 'local(2,1).spatial(8,4).local(1,2)'\n"
      "  tilusc layout show '{shape=[16,8], modes=[2,8,4,2], spatial=[1,2], local=[0,3]}' --json");
  app->add_option("EXPR", options->layout, "A layout, as a product or a tuple")->required();
  RunWith(tool, app, options, Show);
}

struct PairOptions {
  std::string first;
  std::string second;
  bool left = false;
};

void Divide(const PairOptions& options, Tool& tool) {
  const Layout whole = ParseLayout(options.first);
  const Layout divisor = ParseLayout(options.second);
  const auto divide = options.left ? tilus_layout_left_divide : tilus_layout_divide;
  const Layout quotient = Make<Layout>(divide, whole.get(), divisor.get());
  PrintLayout(quotient.get(), tool.json ? As::kJson : As::kText);
}

void Compose(const PairOptions& options, Tool& tool) {
  const Layout outer = ParseLayout(options.first);
  const Layout inner = ParseLayout(options.second);
  const Layout product = Make<Layout>(tilus_layout_compose, outer.get(), inner.get());
  PrintLayout(product.get(), tool.json ? As::kJson : As::kText);
}

std::string Difference(const tilus_layout* a, const tilus_layout* b) {
  if (List(tilus_layout_shape(a)) != List(tilus_layout_shape(b))) {
    return Cat("their shapes are ", ExtentsText(tilus_layout_shape(a)), " and ",
               ExtentsText(tilus_layout_shape(b)));
  }
  if (tilus_layout_threads(a) != tilus_layout_threads(b)) {
    return Cat("they have ", tilus_layout_threads(a), " and ", tilus_layout_threads(b),
               " threads");
  }
  return FirstDifferentElement(a, b);
}

void Equal(const PairOptions& options, Tool& tool) {
  const Layout a = ParseLayout(options.first);
  const Layout b = ParseLayout(options.second);
  const bool equal = tilus_layout_equal(a.get(), b.get()) != 0;
  if (tool.json) {
    PrintJson({{"equal", equal}});
  } else if (equal) {
    PrintLine("equal");
  }
  if (!equal) {
    Fail(Exit::kInput, Id::kLayoutsDiffer,
         Cat(LayoutText(a.get()), " and ", LayoutText(b.get()), " differ: ",
             Difference(a.get(), b.get())));
  }
}

void AddDivide(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<PairOptions>();
  CLI::App* app = AddCommand(
      parent, "divide", "Print the F of H = F . G, or with --left the F of H = G . F",
      "  tilusc layout divide 'local(2,1).spatial(8,4).local(1,2)' 'spatial(8,4).local(1,2)'\n"
      "  tilusc layout divide 'local(2).spatial(8)' 'local(2)' --left --json");
  app->add_option("H", options->first, "The layout to divide")->required();
  app->add_option("G", options->second, "The divisor: the right factor")->required();
  app->add_flag("--left", options->left, "G is the left factor");
  RunWith(tool, app, options, Divide);
}

void AddCompose(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<PairOptions>();
  CLI::App* app = AddCommand(parent, "compose", "Print the product F . G",
                             "  tilusc layout compose 'local(2,1)' 'spatial(8,4)'");
  app->add_option("F", options->first, "The outer layout")->required();
  app->add_option("G", options->second, "The inner layout")->required();
  RunWith(tool, app, options, Compose);
}

void AddEqual(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<PairOptions>();
  CLI::App* app =
      AddCommand(parent, "equal", "Tell whether two layouts are the same function (exit 0) or not",
                 "  tilusc layout equal 'spatial(4).spatial(8)' 'spatial(32)'");
  app->add_option("A", options->first, "A layout")->required();
  app->add_option("B", options->second, "A layout")->required();
  RunWith(tool, app, options, Equal);
}

struct DrawOptions {
  std::string layout;
  std::string type;
  std::string svg;
};

void Draw(const DrawOptions& options, Tool& tool) {
  const Layout layout = ParseLayout(options.layout);
  tilus_type type = TILUS_TYPE_NONE;
  if (!options.type.empty()) type = ParseType(options.type);
  tilus_drawing drawing = TILUS_DRAWING_TEXT;
  if (!options.svg.empty()) {
    drawing = TILUS_DRAWING_SVG;
  } else if (!tool.json && WantsColor(Stream::kAnswer)) {
    drawing = TILUS_DRAWING_ANSI;
  }
  const Blob picture = Make<Blob>(tilus_layout_draw, layout.get(), type, drawing);
  if (!options.svg.empty()) {
    WriteFile(options.svg, View(picture));
  } else if (tool.json) {
    PrintJson({{"drawing", View(picture)}});
  } else {
    Print(View(picture));
  }
}

void AddDraw(CLI::App* parent, Tool* tool) {
  auto options = std::make_shared<DrawOptions>();
  CLI::App* app = AddCommand(
      parent, "draw", "Draw which thread holds what",
      "  tilusc layout draw 'local(2,1).spatial(8,4).local(1,2)'\n"
      "  tilusc layout draw 'local(2,1).column_spatial(4,8).local(2,1)' --type i6 --svg b.svg");
  app->add_option("EXPR", options->layout, "A layout")->required();
  app->add_option("--type", options->type, "Draw the bits of a thread too, for elements of TYPE")
      ->option_text("TYPE");
  app->add_option("--svg", options->svg, "Write an SVG file instead of text (- for stdout)")
      ->option_text("FILE");
  RunWith(tool, app, options, Draw);
}

}  // namespace

void AddLayoutCommands(CLI::App* layout, Tool* tool) {
  AddShow(layout, tool);
  AddDivide(layout, tool);
  AddCompose(layout, tool);
  AddEqual(layout, tool);
  AddDraw(layout, tool);
}

}  // namespace tilus::cli
