// tilusc layout view: may registers be viewed as another type and layout, and at what cost?
#include <nlohmann/json.hpp>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/tool.h"

namespace tilus::cli {
namespace {

struct ViewOptions {
  std::string source_type;
  std::string source_layout;
  std::string target_type;
  std::string target_layout;
  std::string bits;
  std::string at;
};

const char* VerdictName(tilus_verdict verdict) {
  switch (verdict) {
    case TILUS_VIEW_FREE: return "free";
    case TILUS_VIEW_COSTS: return "costs";
    default: return "illegal";
  }
}

struct Side {
  tilus_type type;
  Layout layout;
};

// [index, bit]: which bit of which element is bit `bit` of a thread.
Json Located(const Side& side, int64_t thread, int64_t bit) {
  std::vector<int64_t> index(tilus_layout_shape(side.layout.get()).size);
  int64_t element_bit = 0;
  Check(tilus_layout_locate(side.layout.get(), side.type, thread, bit, index.data(), &element_bit));
  return {index, element_bit};
}

// --bits O: -1 where it is not given.
int64_t OffsetOf(const std::string& text) {
  if (text.empty()) return -1;
  const int64_t offset = ParseInteger(text, "--bits");
  if (offset < 0) Fail(Exit::kUsage, Id::kUsage, Cat("--bits: the first bit is 0, not ", text));
  return offset;
}

struct Place {
  int64_t thread = 0;
  int64_t bit = 0;
};

Place PlaceOf(const std::string& text) {
  const std::vector<int64_t> values = ParseIntegers(text, ',', "--at");
  if (values.size() != 2) {
    Fail(Exit::kUsage, Id::kUsage, Cat("--at takes THREAD,BIT, not \"", text, "\""));
  }
  return {values[0], values[1]};
}

void PrintViewText(const Json& answer) {
  std::string line = answer["verdict"].get<std::string>();
  if (answer["verdict"] == "costs") {
    line += Cat(" ", answer["instructions"].get<int64_t>(), " instructions a thread");
  }
  PrintLine(Cat(line, ": ", answer["reason"].get<std::string>()));
  if (answer.contains("source")) {
    PrintLine(Cat("source [index, bit]: ", JsonText(answer["source"])));
    PrintLine(Cat("target [index, bit]: ", JsonText(answer["target"])));
  }
}

void CheckView(const ViewOptions& options, Tool& tool) {
  const int64_t offset = OffsetOf(options.bits);
  const Place place = options.at.empty() ? Place() : PlaceOf(options.at);
  const Side source = {ParseType(options.source_type), ParseLayout(options.source_layout)};
  const Side target = {ParseType(options.target_type), ParseLayout(options.target_layout)};
  const ViewAnswer view = Make<ViewAnswer>(tilus_view_check, source.type, source.layout.get(),
                                           target.type, target.layout.get(), offset);
  const tilus_verdict verdict = tilus_view_verdict(view.get());
  const bool legal = verdict != TILUS_VIEW_ILLEGAL;
  Json answer = {{"legal", legal}, {"verdict", VerdictName(verdict)}};
  answer["instructions"] = legal ? Json(tilus_view_instructions(view.get())) : Json(nullptr);
  answer["reason"] = View(tilus_view_reason(view.get()));
  if (!options.at.empty()) {
    // An illegal view relates no bits.
    const int64_t first = offset < 0 ? 0 : offset;
    answer["source"] = legal ? Located(source, place.thread, first + place.bit) : Json(nullptr);
    answer["target"] = legal ? Located(target, place.thread, place.bit) : Json(nullptr);
  }
  if (tool.json) {
    PrintJson(answer);
  } else {
    PrintViewText(answer);
  }
}

}  // namespace

void AddViewCommand(CLI::App* layout, Tool* tool) {
  auto options = std::make_shared<ViewOptions>();
  CLI::App* app = AddCommand(
      layout, "view", "Tell whether registers may be viewed as another type and layout",
      "  tilusc layout view u8 'local(3).spatial(32)' i6 "
      "'local(2,1).column_spatial(4,8).local(2,1)'\n"
      "  tilusc layout view u32 'spatial(32).local(2)' f16 'spatial(32).local(2)' --bits 32\n"
      "  tilusc layout view u8 'local(3).spatial(32)' i6 'spatial(32).local(4)' --at 5,7 --json");
  app->add_option("TYPE1", options->source_type, "Element type of the registers")->required();
  app->add_option("EXPR1", options->source_layout, "Their layout")->required();
  app->add_option("TYPE2", options->target_type, "Element type of the view")->required();
  app->add_option("EXPR2", options->target_layout, "Layout of the view")->required();
  app->add_option("--bits", options->bits, "View the bits of each thread from bit O on")
      ->option_text("O");
  app->add_option("--at", options->at, "Also tell what bit BIT of thread THREAD is on both sides")
      ->option_text("THREAD,BIT");
  RunWith(tool, app, options, CheckView);
}

}  // namespace tilus::cli
