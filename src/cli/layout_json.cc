#include "cli/layout_json.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/api.h"
#include "cli/cat.h"
#include "cli/output.h"

namespace tilus::cli {
namespace {

constexpr int64_t kMaxTableIntegers = int64_t{1} << 24;
constexpr int64_t kMaxTextElements = 4096;

// f(t, i) for all t and i, as one array.
struct Table {
  int64_t threads = 0;
  int64_t locals = 0;
  int64_t rank = 0;
  std::vector<int64_t> values;
  const int64_t* At(int64_t thread, int64_t local) const {
    return values.data() + (thread * locals + local) * rank;
  }
};

// How many integers a table has. Threads and locals are below 2^31, so the first product fits.
int64_t TableIntegers(const tilus_layout* layout) {
  const int64_t elements = tilus_layout_threads(layout) * tilus_layout_locals(layout);
  const int64_t rank = static_cast<int64_t>(tilus_layout_shape(layout).size);
  return elements > kMaxTableIntegers ? elements : elements * rank;
}

Table TableOf(const tilus_layout* layout) {
  Table table;
  table.threads = tilus_layout_threads(layout);
  table.locals = tilus_layout_locals(layout);
  table.rank = static_cast<int64_t>(tilus_layout_shape(layout).size);
  table.values.resize(static_cast<size_t>(table.threads * table.locals * table.rank));
  Check(tilus_layout_table(layout, table.values.data(), table.values.size()));
  return table;
}

void Append(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// "0,8" of an index.
void AppendIndex(std::string& out, const int64_t* index, int64_t rank) {
  for (int64_t d = 0; d < rank; ++d) {
    if (d > 0) out += ',';
    Append(out, index[d]);
  }
}

// Written row by row: as a JSON value in memory a table would take fifty times its text.
void PrintTableJson(const Table& table) {
  std::string row;
  Print("[");
  for (int64_t t = 0; t < table.threads; ++t) {
    row = t > 0 ? ",[" : "[";
    for (int64_t i = 0; i < table.locals; ++i) {
      row += i > 0 ? ",[" : "[";
      AppendIndex(row, table.At(t, i), table.rank);
      row += ']';
    }
    row += ']';
    Print(row);
  }
  Print("]");
}

void PrintLayoutJson(const tilus_layout* layout) {
  if (TableIntegers(layout) > kMaxTableIntegers) {
    Fail(Exit::kInput, Id::kTooLargeToPrint,
         Cat("the table of ", LayoutText(layout), " has ", TableIntegers(layout),
             " entries or more, and at most ", kMaxTableIntegers, " are printed"),
         "leave --json out to see the layout without its table");
  }
  const Table table = TableOf(layout);
  const Json head = {{"shape", List(tilus_layout_shape(layout))},
                     {"mode_shape", List(tilus_layout_modes(layout))},
                     {"spatial_modes", List(tilus_layout_spatial_modes(layout))},
                     {"local_modes", List(tilus_layout_local_modes(layout))},
                     {"threads", table.threads},
                     {"locals", table.locals}};
  std::string text = JsonText(head);
  text.pop_back();
  Print(Cat(text, ",\"table\":"));
  PrintTableJson(table);
  Print("}\n");
}

std::string IndexText(const int64_t* index, int64_t rank) {
  std::string text = "(";
  AppendIndex(text, index, rank);
  text += ')';
  return text;
}

void PrintLayoutText(const tilus_layout* layout) {
  const Blob tuple = Make<Blob>(tilus_layout_text, layout, TILUS_LAYOUT_TUPLE);
  const int64_t threads = tilus_layout_threads(layout);
  const int64_t locals = tilus_layout_locals(layout);
  PrintLine(LayoutText(layout));
  PrintLine(View(tuple));
  PrintLine(Cat("shape ", ExtentsText(tilus_layout_shape(layout)), ", ", threads, " threads, ",
                locals, " elements each"));
  if (threads * locals > kMaxTextElements) return;
  const Table table = TableOf(layout);
  for (int64_t t = 0; t < table.threads; ++t) {
    std::string row = Cat("thread ", t, ":");
    for (int64_t i = 0; i < table.locals; ++i) {
      row += ' ';
      row += IndexText(table.At(t, i), table.rank);
    }
    PrintLine(row);
  }
}

}  // namespace

void PrintLayout(const tilus_layout* layout, As as) {
  const Layout canonical = Make<Layout>(tilus_layout_canonical, layout);
  if (as == As::kJson) {
    PrintLayoutJson(canonical.get());
  } else {
    PrintLayoutText(canonical.get());
  }
}

std::string LayoutText(const tilus_layout* layout) {
  return std::string(View(Make<Blob>(tilus_layout_text, layout, TILUS_LAYOUT_PRODUCT)));
}

std::string ExtentsText(tilus_integers extents) {
  std::string text;
  for (size_t d = 0; d < extents.size; ++d) {
    if (d > 0) text += 'x';
    Append(text, extents.data[d]);
  }
  return text;
}

std::string FirstDifferentElement(const tilus_layout* a, const tilus_layout* b) {
  const int64_t rank = static_cast<int64_t>(tilus_layout_shape(a).size);
  const int64_t locals_a = tilus_layout_locals(a);
  const int64_t locals_b = tilus_layout_locals(b);
  if (locals_a != locals_b) {
    return Cat("their threads hold ", locals_a, " and ", locals_b, " elements");
  }
  std::vector<int64_t> index_a(static_cast<size_t>(rank));
  std::vector<int64_t> index_b(static_cast<size_t>(rank));
  for (int64_t t = 0; t < tilus_layout_threads(a); ++t) {
    for (int64_t i = 0; i < locals_a; ++i) {
      Check(tilus_layout_map(a, t, i, index_a.data()));
      Check(tilus_layout_map(b, t, i, index_b.data()));
      if (index_a == index_b) continue;
      return Cat("element ", i, " of thread ", t, " is ", IndexText(index_a.data(), rank), " and ",
                 IndexText(index_b.data(), rank));
    }
  }
  return "they are written differently";  // not reached for layouts that are not equal
}

}  // namespace tilus::cli
