#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "ir/parser.h"
#include "ir/suggest.h"
#include "ir/text.h"
#include "layout/layout_expression.h"

namespace tilus::ir {
namespace {

std::string Describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "the end of the text";
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kBad:
      return token.problem;
    default:
      return absl::StrCat("'", token.text, "'");
  }
}

bool IsPrimitiveName(absl::string_view word) {
  for (auto kind : {LayoutFactor::kLocal, LayoutFactor::kSpatial, LayoutFactor::kColumnLocal,
                    LayoutFactor::kColumnSpatial, LayoutFactor::kReplicated}) {
    if (word == LayoutFactorName(kind)) return true;
  }
  return false;
}

}  // namespace

bool IsReservedWord(absl::string_view word) {
  static constexpr absl::string_view kWords[] = {
      "program", "const",    "let",  "var",   "set", "for", "if",  "else", "while",
      "break",   "continue", "true", "false", "and", "or",  "not", "inf",  "nan"};
  return absl::c_linear_search(kWords, word);
}

bool IsValidName(absl::string_view name) {
  if (name.empty() || absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) return false;
  for (char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
  }
  return !IsReservedWord(name) && !IsTypeName(name);
}

Parser::Parser(absl::string_view text, const Limits& limits) : lexer_(text), limits_(limits) {
  Advance();
}

// --- Tokens and errors

void Parser::Advance() { token_ = aborted_ ? Token() : lexer_.Next(); }

Token Parser::Peek() const {
  Lexer ahead = lexer_;
  return ahead.Next();
}

bool Parser::Accept(absl::string_view word) {
  if (!token_.Is(word)) return false;
  Advance();
  return true;
}

bool Parser::Expect(absl::string_view punct, absl::string_view context) {
  return Accept(punct) || Unexpected(absl::StrCat("'", punct, "' ", context));
}

bool Parser::AtLineEnd() const {
  return token_.kind == TokenKind::kNewline || token_.kind == TokenKind::kEnd || token_.Is("}");
}

bool Parser::Fail(DiagId id, SourceSpan span, std::string message, std::string hint) {
  Diagnostic d;
  d.id = id;
  d.message = std::move(message);
  d.hint = std::move(hint);
  d.span = span;
  return Fail(MakeError(std::move(d)), span);
}

bool Parser::Fail(const absl::Status& status, SourceSpan span) {
  if (aborted_) return false;
  for (Diagnostic& d : DiagnosticsOf(status)) {
    d.span = span;
    if (span.line == token_.line) {
      d.excerpt = lexer_.LineText(token_.offset);
    } else {
      d.excerpt = lexer_.LineTextOf(span.line);
    }
    diagnostics_.Add(std::move(d));
  }
  if (diagnostics_.diagnostics().size() >= DiagnosticList::kMaxDiagnostics) Abort();
  return false;
}

bool Parser::Unexpected(absl::string_view wanted) {
  if (token_.kind == TokenKind::kBad) {
    return Fail(DiagId::kTextToken, token_.span(), token_.problem);
  }
  SourceSpan span = token_.span();
  if (token_.kind == TokenKind::kNewline) span.length = 1;
  return Fail(DiagId::kTextSyntax, span,
              absl::StrCat("expected ", wanted, ", found ", Describe(token_)));
}

bool Parser::Count(int64_t nodes) {
  nodes_ += nodes;
  if (nodes_ <= limits_.max_nodes) return true;
  Fail(DiagId::kLimitNodes, token_.span(),
       absl::StrCat("the text has more than ", limits_.max_nodes, " nodes"));
  Abort();
  return false;
}

void Parser::Abort() {
  aborted_ = true;
  token_ = Token();
}

bool Parser::SkipLine() {
  int open = 0;
  while (token_.kind != TokenKind::kEnd && token_.kind != TokenKind::kNewline) {
    if (token_.Is("{")) ++open;
    if (token_.Is("}") && --open < 0) return false;
    Advance();
  }
  return open > 0;
}

void Parser::SkipBlock() {
  int open = 1;
  while (token_.kind != TokenKind::kEnd) {
    if (token_.Is("{")) ++open;
    if (token_.Is("}") && --open == 0) break;
    Advance();
  }
  Accept("}");
}

void Parser::Recover() {
  while (SkipLine()) {
    Block dropped;
    ParseBlockBody(&dropped);
    if (!token_.Is("else")) return;
  }
}

// --- Names

const Parser::Symbol* Parser::Find(absl::string_view name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : &found->second;
}

bool Parser::FailUnknown(const Token& name) {
  return Fail(DiagId::kTextUnknownName, name.span(),
              absl::StrCat("'", name.text, "' is not defined here"), Suggest(name.text, scope_));
}

void Parser::Bind(absl::string_view name, Symbol symbol) {
  symbols_[name] = symbol;
  scope_.push_back(name);
}

void Parser::Poison(absl::string_view name) {
  if (!name.empty() && Find(name) == nullptr) Bind(name, {Symbol::kPoison, 0});
}

bool Parser::CheckNew(const Token& name) {
  if (name.kind != TokenKind::kName) return Unexpected("a name");
  if (IsReservedWord(name.text) || IsTypeName(name.text)) {
    return Fail(DiagId::kTextName, name.span(),
                absl::StrCat("'", name.text, "' is a ",
                             IsReservedWord(name.text) ? "reserved word" : "type",
                             " and cannot be a name"));
  }
  const Symbol* known = Find(name.text);
  if (known != nullptr && known->kind != Symbol::kPoison) {
    return Fail(DiagId::kTextDuplicateName, name.span(),
                absl::StrCat("'", name.text, "' is already defined here"), "take another name");
  }
  return true;
}

bool Parser::NewName(absl::string_view* name) {
  if (!CheckNew(token_)) return false;
  *name = token_.text;
  Advance();
  return true;
}

VarId Parser::AddVar(absl::string_view name, VarKind kind, DataType type) {
  const VarId id = static_cast<VarId>(program_->vars.size());
  Var& var = program_->vars.emplace_back();
  var.name = std::string(name);
  var.kind = kind;
  var.type = type;
  Bind(name, {Symbol::kVar, id});
  return id;
}

// --- Programs

Module Parser::ParseModule() {
  while (true) {
    while (token_.kind == TokenKind::kNewline) Advance();
    if (token_.kind == TokenKind::kEnd) break;
    if (token_.Is("program")) {
      if (ParseProgram()) continue;
    } else {
      Unexpected("'program'");
    }
    if (SkipLine()) SkipBlock();
    Accept("}");
  }
  if (module_.programs.empty() && !diagnostics_.has_errors()) {
    Fail(DiagId::kTextSyntax, token_.span(), "the text holds no program",
         "a program begins with 'program name(...) {'");
  }
  return std::move(module_);
}

bool Parser::ParseProgram() {
  symbols_.clear();
  scope_.clear();
  unclosed_ = false;
  Advance();
  const Token name = token_;
  absl::string_view text;
  if (!NewName(&text)) return false;
  for (const Program& other : module_.programs) {
    if (other.name != text) continue;
    return Fail(DiagId::kTextDuplicateName, name.span(),
                absl::StrCat("there already is a program '", text, "'"));
  }
  Program program;
  program.name = std::string(text);
  program.span = name.span();
  program_ = &program;
  const bool head = Count(1) && ParseParams() && ParseHeadOptions() && ParseBlock(&program.body);
  program_ = nullptr;
  if (head) module_.programs.push_back(std::move(program));
  return head;
}

bool Parser::ParseParams() {
  if (!Expect("(", "before the parameters")) return false;
  while (token_.kind == TokenKind::kNewline) Advance();
  while (!token_.Is(")")) {
    if (!ParseParam()) return false;
    if (!Accept(",")) break;
  }
  while (token_.kind == TokenKind::kNewline) Advance();
  return Expect(")", "after the parameters");
}

// m: i32 div(16)    w: *u8 align(16)
bool Parser::ParseParam() {
  absl::string_view name;
  if (!Count(1) || !NewName(&name) || !Expect(":", "before the type of the parameter"))
    return false;
  const bool is_pointer = Accept("*");
  DataType type;
  if (!ParseType(&type)) return false;
  const VarId id = AddVar(name, VarKind::kParam, type);
  program_->params.push_back(id);
  Var& var = program_->vars.back();
  var.is_pointer = is_pointer;
  while (token_.kind == TokenKind::kName) {
    const Token word = token_;
    const bool promise = word.Is("align") || word.Is("div");
    if (!promise || word.Is("align") != is_pointer) {
      return Fail(DiagId::kTextAttribute, word.span(),
                  absl::StrCat("'", word.text, "' cannot follow this parameter"),
                  is_pointer ? "pointers take align(n)" : "integers take div(n)");
    }
    Advance();
    int64_t* value = is_pointer ? &var.align : &var.divisible;
    if (!Expect("(", "before the number") || !ParseInt(value) || !Expect(")", "after the number")) {
      return false;
    }
  }
  return true;
}

bool Parser::ParseHeadOptions() {
  while (!token_.Is("{")) {
    if (Accept("warps")) {
      const SourceSpan span = token_.span();
      int64_t warps = 0;
      if (!ParseInt(&warps)) return false;
      // Program::warps is an int; the verifier judges the value.
      if (warps < INT32_MIN || warps > INT32_MAX) {
        return Fail(DiagId::kTextToken, span, "this number is out of range");
      }
      program_->warps = static_cast<int>(warps);
    } else if (Accept("target")) {
      if (token_.kind != TokenKind::kName) return Unexpected("a target, such as sm_90a, or any");
      program_->target = token_.Is("any") ? "" : std::string(token_.text);
      Advance();
    } else if (Accept("contract")) {
      program_->contract = true;
    } else if (Accept("fast")) {
      program_->fast = true;
    } else {
      return Unexpected("warps, target, contract, fast, or '{'");
    }
  }
  return true;
}

bool Parser::InHead(const Block& block) const {
  return &block == &program_->body && block.stmts.empty();
}

// const N = 1536, K: i64 = 576
bool Parser::ParseConsts() {
  Advance();
  do {
    absl::string_view name;
    if (!Count(1) || !NewName(&name)) return false;
    DataType type;
    const bool typed = Accept(":");
    if ((typed && !ParseType(&type)) || !Expect("=", "before the value")) {
      Poison(name);
      return false;
    }
    ExprPtr value = typed ? ParseExprAs(type) : ParseExpr();
    if (value == nullptr) {
      Poison(name);
      return false;
    }
    const VarId id = AddVar(name, VarKind::kConst, value->type);
    program_->vars.back().value = std::move(value);
    program_->consts.push_back(id);
  } while (Accept(","));
  return true;
}

bool Parser::ParseGrid() {
  const SourceSpan span = token_.span();
  Advance();
  if (!program_->grid.empty()) {
    return Fail(DiagId::kTextDuplicateName, span, "the grid is already given");
  }
  do {
    ExprPtr extent = ParseExpr();
    if (extent == nullptr) return false;
    program_->grid.push_back(std::move(extent));
  } while (Accept(","));
  return true;
}

bool Parser::AtLayout() const {
  return token_.Is("{") || (IsPrimitiveName(token_.text) && Peek().Is("("));
}

bool Parser::ParseLayoutAlias(absl::string_view name) {
  LayoutAlias alias;
  alias.name = std::string(name);
  if (!Count(1) || !ParseLayoutExpression(&alias.expression, &alias.layout)) {
    Poison(name);
    return false;
  }
  Bind(name, {Symbol::kLayout, static_cast<int32_t>(program_->layouts.size())});
  program_->layouts.push_back(std::move(alias));
  return true;
}

absl::StatusOr<Module> ParseText(absl::string_view text, const Limits& limits) {
  if (static_cast<int64_t>(text.size()) > limits.max_bytes) {
    return MakeError(
        DiagId::kLimitBytes,
        absl::StrCat("the text has ", text.size(), " bytes, more than ", limits.max_bytes),
        "raise the limit of bytes, if this is meant");
  }
  Parser parser(text, limits);
  Module module = parser.ParseModule();
  if (parser.diagnostics().has_errors()) return parser.diagnostics().ToStatus();
  return module;
}

}  // namespace tilus::ir
