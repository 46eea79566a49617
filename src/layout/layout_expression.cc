#include "layout/layout_expression.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "layout/compose.h"
#include "layout/layout_errors.h"

namespace tilus {
namespace {

struct FactorRow {
  LayoutFactor::Kind kind;
  absl::string_view name;
};

constexpr FactorRow kFactors[] = {
    {LayoutFactor::kLocal, "local"},
    {LayoutFactor::kSpatial, "spatial"},
    {LayoutFactor::kColumnLocal, "column_local"},
    {LayoutFactor::kColumnSpatial, "column_spatial"},
    {LayoutFactor::kReplicated, "replicated"},
};

// The longest piece of the text that a diagnostic quotes.
constexpr size_t kMaxExcerpt = 120;

class Reader {
 public:
  explicit Reader(absl::string_view text) : text_(text) {}

  size_t position() const { return position_; }

  void SkipSpace() {
    while (position_ < text_.size() && absl::ascii_isspace(text_[position_])) ++position_;
  }

  bool AtEnd() {
    SkipSpace();
    return position_ == text_.size();
  }

  // Reads `c` after spaces if it is next.
  bool TryRead(char c) {
    SkipSpace();
    if (position_ == text_.size() || text_[position_] != c) return false;
    ++position_;
    return true;
  }

  absl::Status Read(char c) {
    if (TryRead(c)) return absl::OkStatus();
    return Error(absl::StrCat("expected '", absl::string_view(&c, 1), "'"));
  }

  absl::string_view ReadName() {
    SkipSpace();
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (absl::ascii_isalnum(text_[position_]) || text_[position_] == '_')) {
      ++position_;
    }
    return text_.substr(begin, position_ - begin);
  }

  absl::StatusOr<int64_t> ReadInteger() {
    SkipSpace();
    const size_t begin = position_;
    if (position_ < text_.size() && text_[position_] == '-') ++position_;
    const size_t digits = position_;
    while (position_ < text_.size() && absl::ascii_isdigit(text_[position_])) ++position_;
    if (position_ == digits) return ErrorAt(begin, "expected an integer");
    int64_t value;
    if (!absl::SimpleAtoi(text_.substr(begin, position_ - begin), &value)) {
      return ErrorAt(begin, "the integer does not fit 64 bits", DiagId::kLayoutTooLarge);
    }
    return value;
  }

  // The integers up to `close`, separated by commas.
  absl::StatusOr<std::vector<int64_t>> ReadIntegers(char close, size_t limit) {
    std::vector<int64_t> values;
    if (TryRead(close)) return values;
    do {
      if (values.size() == limit) {
        return Error(absl::StrCat("more than ", limit, " integers"), DiagId::kLayoutRank);
      }
      TILUS_ASSIGN_OR_RETURN(values.emplace_back(), ReadInteger());
    } while (TryRead(','));
    TILUS_RETURN_IF_ERROR(Read(close));
    return values;
  }

  absl::Status Error(absl::string_view problem, DiagId id = DiagId::kLayoutSyntax) {
    SkipSpace();
    return ErrorAt(position_, problem, id);
  }

  absl::Status ErrorAt(size_t position, absl::string_view problem,
                       DiagId id = DiagId::kLayoutSyntax) const {
    const std::string found =
        position < text_.size() ? absl::StrCat("'", text_.substr(position, 1), "'") : "the end";
    const size_t begin = position < kMaxExcerpt / 2 ? 0 : position - kMaxExcerpt / 2;
    const absl::string_view excerpt = text_.substr(std::min(begin, text_.size()), kMaxExcerpt);
    Diagnostic diagnostic;
    diagnostic.id = id;
    diagnostic.message =
        absl::StrCat(problem, " at column ", position + 1, " of the layout, found ", found);
    diagnostic.hint =
        "a layout reads local(2,1).spatial(8,4) or "
        "{shape=[8], modes=[2, 4], spatial=[1], local=[0]}";
    diagnostic.excerpt = absl::CHexEscape(excerpt);
    diagnostic.span = {.line = 1, .column = static_cast<int>(position + 1), .length = 1};
    return MakeError(std::move(diagnostic));
  }

 private:
  absl::string_view text_;
  size_t position_ = 0;
};

absl::StatusOr<LayoutFactor> ReadFactor(Reader& reader) {
  reader.SkipSpace();
  const size_t begin = reader.position();
  const absl::string_view name = reader.ReadName();
  const FactorRow* row = std::find_if(std::begin(kFactors), std::end(kFactors),
                                      [&](const FactorRow& row) { return row.name == name; });
  if (row == std::end(kFactors)) return reader.ErrorAt(begin, "expected a layout");
  LayoutFactor factor{.kind = row->kind, .extents = {}};
  TILUS_RETURN_IF_ERROR(reader.Read('('));
  TILUS_ASSIGN_OR_RETURN(factor.extents, reader.ReadIntegers(')', kMaxLayoutRank));
  if (factor.kind == LayoutFactor::kReplicated && factor.extents.size() != 1) {
    return reader.ErrorAt(begin, "replicated takes one integer");
  }
  return factor;
}

absl::StatusOr<RegisterLayout> ReadTuple(Reader& reader) {
  constexpr absl::string_view kFields[] = {"shape", "modes", "spatial", "local"};
  std::optional<std::vector<int64_t>> values[std::size(kFields)];
  for (size_t n = 0; n < std::size(kFields); ++n) {
    if (n > 0) TILUS_RETURN_IF_ERROR(reader.Read(','));
    reader.SkipSpace();
    const size_t begin = reader.position();
    const absl::string_view name = reader.ReadName();
    const size_t field = std::find(std::begin(kFields), std::end(kFields), name) - kFields;
    if (field == std::size(kFields) || values[field].has_value()) {
      return reader.ErrorAt(begin, "expected each of shape, modes, spatial, local once");
    }
    TILUS_RETURN_IF_ERROR(reader.Read('='));
    TILUS_RETURN_IF_ERROR(reader.Read('['));
    const size_t limit = field == 0 ? kMaxLayoutRank : kMaxLayoutModes;
    TILUS_ASSIGN_OR_RETURN(values[field], reader.ReadIntegers(']', limit));
  }
  TILUS_RETURN_IF_ERROR(reader.Read('}'));
  return RegisterLayout::Create(*values[0], *values[1], *values[2], *values[3]);
}

absl::StatusOr<RegisterLayout> EvaluateFactor(const LayoutFactor& factor, int rank) {
  switch (factor.kind) {
    case LayoutFactor::kLocal:
      return RegisterLayout::Local(factor.extents);
    case LayoutFactor::kSpatial:
      return RegisterLayout::Spatial(factor.extents);
    case LayoutFactor::kColumnLocal:
      return RegisterLayout::ColumnLocal(factor.extents);
    case LayoutFactor::kColumnSpatial:
      return RegisterLayout::ColumnSpatial(factor.extents);
    case LayoutFactor::kReplicated:
      break;
  }
  if (factor.extents.size() != 1) {
    return MakeError(DiagId::kLayoutOperand, "replicated takes one integer");
  }
  return RegisterLayout::Replicated(factor.extents[0], rank);
}

}  // namespace

absl::string_view LayoutFactorName(LayoutFactor::Kind kind) {
  for (const FactorRow& row : kFactors) {
    if (row.kind == kind) return row.name;
  }
  return "unknown";
}

absl::StatusOr<RegisterLayout> LayoutExpression::Evaluate() const {
  if (tuple.has_value()) return *tuple;
  // The rank that replication takes on: that of the widest factor, or 1 when it is alone.
  int rank = factors.empty() ? 0 : -1;
  for (const LayoutFactor& factor : factors) {
    if (factor.kind == LayoutFactor::kReplicated) continue;
    TILUS_RETURN_IF_ERROR(layout_internal::CheckShape("a factor", factor.extents));
    rank = std::max(rank, static_cast<int>(factor.extents.size()));
  }
  if (rank < 0) rank = 1;
  RegisterLayout product;
  for (const LayoutFactor& factor : factors) {
    TILUS_ASSIGN_OR_RETURN(const RegisterLayout layout, EvaluateFactor(factor, rank));
    TILUS_ASSIGN_OR_RETURN(product, Compose(product, layout));
  }
  return product;
}

std::string LayoutExpression::ToString() const {
  if (tuple.has_value()) return tuple->TupleString();
  if (factors.empty()) return "local()";
  return absl::StrJoin(factors, ".", [](std::string* out, const LayoutFactor& factor) {
    absl::StrAppend(out, LayoutFactorName(factor.kind), "(", absl::StrJoin(factor.extents, ","),
                    ")");
  });
}

absl::StatusOr<LayoutExpression> ParseLayoutPrefix(absl::string_view text, size_t* consumed) {
  Reader reader(text.substr(0, kMaxLayoutTextBytes));
  LayoutExpression expression;
  if (reader.TryRead('{')) {
    TILUS_ASSIGN_OR_RETURN(expression.tuple, ReadTuple(reader));
    *consumed = reader.position();
    return expression;
  }
  do {
    if (expression.factors.size() == kMaxLayoutFactors) {
      return reader.Error(absl::StrCat("more than ", kMaxLayoutFactors, " factors"),
                          DiagId::kLayoutTooLarge);
    }
    TILUS_ASSIGN_OR_RETURN(expression.factors.emplace_back(), ReadFactor(reader));
    *consumed = reader.position();
  } while (reader.TryRead('.'));
  return expression;
}

absl::StatusOr<LayoutExpression> ParseLayoutExpression(absl::string_view text) {
  if (text.size() > kMaxLayoutTextBytes) {
    return MakeError(DiagId::kLayoutTooLarge,
                     absl::StrCat("a layout of ", text.size(),
                                  " bytes is longer than the limit of ", kMaxLayoutTextBytes));
  }
  size_t consumed = 0;
  TILUS_ASSIGN_OR_RETURN(LayoutExpression expression, ParseLayoutPrefix(text, &consumed));
  const absl::string_view rest = absl::StripAsciiWhitespace(text.substr(consumed));
  if (!rest.empty()) {
    return Reader(text).ErrorAt(rest.data() - text.data(), "expected the end");
  }
  return expression;
}

absl::StatusOr<RegisterLayout> ParseLayout(absl::string_view text) {
  TILUS_ASSIGN_OR_RETURN(const LayoutExpression expression, ParseLayoutExpression(text));
  return expression.Evaluate();
}

}  // namespace tilus
