#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/suggest.h"
#include "ir/text.h"
#include "layout/layout_expression.h"
#include "layout/shared_layout.h"

namespace tilus::ir {
namespace {

struct AttrName {
  Attr attr;
  const char* name;
};
constexpr AttrName kAttrNames[] = {
    {kAttrStrides, "strides"}, {kAttrClean, "clean"}, {kAttrDims, "dims"},
    {kAttrCache, "cache"},     {kAttrBits, "bits"},   {kAttrLabel, "label"},
};

const AttrName* FindAttr(const Token& token) {
  for (const AttrName& row : kAttrNames) {
    if (token.Is(row.name)) return &row;
  }
  return nullptr;
}

std::string AttrList(uint32_t attributes) {
  std::string list;
  for (const AttrName& row : kAttrNames) {
    if ((attributes & row.attr) != 0) absl::StrAppend(&list, list.empty() ? "" : ", ", row.name);
  }
  return list.empty() ? "it takes none" : absl::StrCat("it takes ", list);
}

Scope ScopeOf(ResultKind kind) {
  switch (kind) {
    case ResultKind::kGlobal:
      return Scope::kGlobal;
    case ResultKind::kShared:
      return Scope::kShared;
    default:
      return Scope::kRegister;
  }
}

std::string SuggestInstruction(absl::string_view name) {
  std::vector<absl::string_view> names;
  for (const InstructionInfo& info : AllInstructions()) names.push_back(info.name);
  return Suggest(name, names);
}

}  // namespace

// results = opcode operands attributes : type
bool Parser::ParseInstruction(Block* block) {
  std::vector<Token> names;
  Stmt stmt;
  TensorDecl decl;
  Instruction in;
  SourceSpan annotation;
  const bool ok = [&] {
    if (!ParseResults(&names)) return false;
    const Token opcode = token_;
    if (opcode.kind != TokenKind::kName) return Unexpected("the name of an instruction");
    const InstructionInfo* info = FindInstruction(opcode.text);
    if (info == nullptr) {
      return Fail(DiagId::kTextUnknownInstruction, opcode.span(),
                  absl::StrCat("there is no instruction '", opcode.text, "'"),
                  SuggestInstruction(opcode.text));
    }
    Advance();
    stmt.span = opcode.span();
    in.opcode = info->opcode;
    uint32_t seen = 0;
    if (!ParseOperands(*info, &in, &decl, &seen) || !ParseAttributes(*info, &in, &decl, &seen)) {
      return false;
    }
    if (token_.Is(":")) {
      annotation = token_.span();
      const bool has_result =
          info->result != ResultKind::kNone && info->result != ResultKind::kIndices;
      if (has_result ? !ParseAnnotation(ScopeOf(info->result), &decl) : !ParseTileAnnotation(&in)) {
        return false;
      }
    }
    if (!AtLineEnd()) return Unexpected("the end of the line");
    return DefineResults(names, *info, &in, std::move(decl), annotation);
  }();
  if (!ok) {
    for (const Token& name : names) Poison(name.text);
    return false;
  }
  stmt.node = std::move(in);
  block->stmts.push_back(std::move(stmt));
  return true;
}

bool Parser::ParseResults(std::vector<Token>* names) {
  const Token ahead = Peek();
  if (!ahead.Is("=") && !ahead.Is(",")) return true;
  do {
    if (token_.kind != TokenKind::kName) return Unexpected("a name");
    if (!Count(1)) return false;
    names->push_back(token_);
    Advance();
  } while (Accept(","));
  return Expect("=", "after the results");
}

bool Parser::ParseOperands(const InstructionInfo& info, Instruction* in, TensorDecl* decl,
                           uint32_t* seen) {
  bool first = true;
  bool optional = false;
  for (const char* letter = info.operands; *letter != '\0'; ++letter) {
    if (*letter == '?') {
      optional = true;
    } else if (*letter == '>') {
      // Attributes may follow the source, which they are about in a copy, or the destination.
      if (!ParseAttributes(info, in, decl, seen) || !Expect("->", "before the destination")) {
        return false;
      }
      first = true;
    } else {
      if (optional && (AtLineEnd() || token_.Is(":") || FindAttr(token_) != nullptr)) return true;
      if (!first && !AtLineEnd() && !token_.Is(":") && !Expect(",", "before the next operand")) {
        return false;
      }
      if (AtLineEnd() || token_.Is(":")) {
        return Fail(DiagId::kTextOperand, token_.span(),
                    absl::StrCat("'", info.name, "' takes another operand here"), info.summary);
      }
      if (!Count(1) || !ParseOperand(*letter, in)) return false;
      first = false;
    }
  }
  if (!token_.Is(",")) return true;
  return Fail(DiagId::kTextOperand, token_.span(),
              absl::StrCat("'", info.name, "' takes no further operand"), info.summary);
}

bool Parser::ParseOperand(char letter, Instruction* in) {
  const bool takes_tensor = letter == 'r' || letter == 'x' || letter == 'a';
  const bool is_memory = letter == 'g' || letter == 's' || letter == 'S';
  if (takes_tensor || is_memory) {
    const Symbol* symbol = token_.kind == TokenKind::kName ? Find(token_.text) : nullptr;
    if (symbol != nullptr && symbol->kind == Symbol::kPoison) return false;
    if (symbol != nullptr && symbol->kind == Symbol::kTensor) return ParseMemoryOperand(in);
    if (letter != 'x' && letter != 'a') {
      if (token_.kind == TokenKind::kName && symbol == nullptr) {
        return FailUnknown(token_);
      }
      if (symbol == nullptr) return Unexpected("the name of a tensor");
      return Fail(DiagId::kTextOperand, token_.span(),
                  absl::StrCat("'", token_.text, "' is not a tensor"));
    }
  }
  const SourceSpan span = token_.span();
  const Parsed parsed = ParseFlexible();
  if (!parsed) return false;
  // An elementwise operand takes its type from the tensors beside it, an initialiser from the
  // annotation that follows: both are settled later.
  ExprPtr expr = letter == 'x' || letter == 'e' ? parsed.expr : Settle(parsed, span);
  if (letter == 'e') initialiser_ = parsed;
  if (expr == nullptr) return false;
  in->operands.push_back(std::move(expr));
  return true;
}

// A tensor, with offsets in brackets where it is a tile of memory.
bool Parser::ParseMemoryOperand(Instruction* in) {
  TensorOperand operand;
  operand.tensor = Find(token_.text)->id;
  Advance();
  if (Accept("[")) {
    operand.has_offsets = true;
    if (!ParseList("]", &operand.offsets)) return false;
  }
  in->operands.push_back(std::move(operand));
  return true;
}

bool Parser::ParseAttributes(const InstructionInfo& info, Instruction* in, TensorDecl* decl,
                             uint32_t* seen) {
  while (token_.kind == TokenKind::kName) {
    const Token name = token_;
    const AttrName* row = FindAttr(name);
    if (row == nullptr) return Unexpected("an attribute, ':' or the end of the line");
    if ((info.attributes & row->attr) == 0) {
      return Fail(DiagId::kTextAttribute, name.span(),
                  absl::StrCat("'", info.name, "' has no attribute '", name.text, "'"),
                  AttrList(info.attributes));
    }
    if ((*seen & row->attr) != 0) {
      return Fail(DiagId::kTextAttribute, name.span(),
                  absl::StrCat("'", name.text, "' is given twice"));
    }
    *seen |= row->attr;
    Advance();
    if (row->attr != kAttrClean && !Expect("=", "before the value of the attribute")) return false;
    if (!ParseAttribute(row->attr, in, decl)) return false;
  }
  return true;
}

bool Parser::ParseAttribute(Attr attr, Instruction* in, TensorDecl* decl) {
  switch (attr) {
    case kAttrClean:
      decl->clean = true;
      return true;
    case kAttrStrides:
      return Expect("[", "before the strides") && ParseList("]", &decl->strides);
    case kAttrDims:
      in->dims.emplace();
      return Expect("[", "before the dimensions") && ParseIntList("]", &*in->dims);
    case kAttrBits: {
      int64_t bits = 0;
      if (!ParseInt(&bits)) return false;
      in->bits = bits;
      return true;
    }
    case kAttrLabel:
      if (token_.kind != TokenKind::kString) return Unexpected("a string");
      in->label = token_.string;
      Advance();
      return true;
    case kAttrCache: {
      const auto names = AllCacheHints();
      const auto found = std::find_if(names.begin(), names.end(),
                                      [&](const char* name) { return token_.Is(name); });
      if (found == names.end()) {
        return Fail(DiagId::kTextAttribute, token_.span(),
                    absl::StrCat("there is no cache hint '", token_.text, "'"),
                    absl::StrCat("hints are ", absl::StrJoin(names, ", ")));
      }
      in->cache = static_cast<CacheHint>(found - names.begin());
      Advance();
      return true;
    }
    default:
      return Unexpected("an attribute");
  }
}

// : type[shape] of an instruction without result
bool Parser::ParseTileAnnotation(Instruction* in) {
  const SourceSpan span = token_.span();
  if ((InfoOf(in->opcode).attributes & kAttrTile) == 0) {
    return Fail(DiagId::kTextAttribute, span,
                absl::StrCat("'", InfoOf(in->opcode).name, "' has no result to annotate"));
  }
  TensorDecl decl;
  if (!ParseAnnotation(Scope::kGlobal, &decl)) return false;
  in->tile_dtype = decl.dtype;
  if (decl.shape) in->tile_shape = *std::move(decl.shape);
  return true;
}

// : dtype [shape] layout, each optional
bool Parser::ParseAnnotation(Scope scope, TensorDecl* decl) {
  Advance();
  if (AtLineEnd()) return Unexpected("a type, a shape or a layout");
  if (token_.kind == TokenKind::kName && (IsTypeName(token_.text) || Peek().Is("["))) {
    DataType type;
    if (!ParseType(&type)) return false;
    decl->dtype = type;
  }
  if (Accept("[")) {
    decl->shape.emplace();
    if (!ParseList("]", &*decl->shape)) return false;
  }
  if (AtLineEnd()) return true;
  switch (scope) {
    case Scope::kRegister:
      return ParseLayoutSpec(&decl->layout.emplace());
    case Scope::kShared:
      return ParseSharedLayout(decl);
    case Scope::kGlobal:
      return Unexpected("the end of the line");
  }
  return false;
}

// strides(72, 1) swizzle(3, 3, 3), either or both
bool Parser::ParseSharedLayout(TensorDecl* decl) {
  SharedLayoutSpec& spec = decl->shared_layout.emplace();
  if (Accept("strides")) {
    if (!Expect("(", "before the strides") || !ParseIntList(")", &spec.strides)) return false;
    if (AtLineEnd()) return true;
  }
  const SourceSpan span = token_.span();
  if (!Accept("swizzle")) return Unexpected("strides(...) or swizzle(bits, base, shift)");
  std::vector<int> numbers;
  if (!Expect("(", "before the numbers") || !ParseIntList(")", &numbers)) return false;
  if (numbers.size() != 3) {
    return Fail(DiagId::kTextSyntax, span,
                absl::StrCat("a swizzle has three numbers, not ", numbers.size()),
                "write swizzle(bits, base, shift)");
  }
  spec.swizzle = Swizzle{.bits = numbers[0], .base = numbers[1], .shift = numbers[2]};
  return true;
}

bool Parser::ParseLayoutSpec(LayoutSpec* spec) {
  if (!Count(1)) return false;
  if (AtLayout()) return ParseLayoutExpression(&spec->expression, &spec->layout);
  if (token_.kind != TokenKind::kName) return Unexpected("a layout");
  const Symbol* symbol = Find(token_.text);
  if (symbol != nullptr && symbol->kind == Symbol::kPoison) return false;
  if (symbol == nullptr || symbol->kind != Symbol::kLayout) {
    return Fail(DiagId::kUnknownLayout, token_.span(),
                absl::StrCat("there is no layout '", token_.text, "'"),
                "name layouts at the head of the program: let name = local(...).spatial(...)");
  }
  spec->alias = std::string(token_.text);
  spec->layout = program_->layouts[static_cast<size_t>(symbol->id)].layout;
  Advance();
  return true;
}

bool Parser::ParseLayoutExpression(LayoutExpression* expression, RegisterLayout* layout) {
  if (!AtLayout()) return Unexpected("a layout");
  const SourceSpan start = token_.span();
  size_t consumed = 0;
  absl::StatusOr<LayoutExpression> parsed =
      ParseLayoutPrefix(lexer_.RestOfLine(token_.offset), &consumed);
  if (!parsed.ok()) {
    SourceSpan span = start;
    const std::vector<Diagnostic> diagnostics = DiagnosticsOf(parsed.status());
    if (!diagnostics.empty() && diagnostics[0].span.column > 0) {
      span.column += diagnostics[0].span.column - 1;
      span.length = std::max(1, diagnostics[0].span.length);
    }
    return Fail(parsed.status(), span);
  }
  lexer_.SkipTo(token_.offset + consumed);
  absl::StatusOr<RegisterLayout> value = parsed->Evaluate();
  if (!value.ok()) {
    return Fail(value.status(), {start.line, start.column, static_cast<int>(consumed)});
  }
  *expression = *std::move(parsed);
  *layout = *std::move(value);
  Advance();
  return true;
}

bool Parser::DefineResults(const std::vector<Token>& names, const InstructionInfo& info,
                           Instruction* in, TensorDecl decl, SourceSpan annotation) {
  if (info.result == ResultKind::kIndices) return DefineIndices(names, in);
  if (info.result == ResultKind::kNone) {
    if (names.empty()) return true;
    return Fail(DiagId::kResultKind, names[0].span(),
                absl::StrCat("'", info.name, "' has no result"));
  }
  if (names.size() != 1) {
    return Fail(DiagId::kResultKind, names.empty() ? token_.span() : names[1].span(),
                absl::StrCat("'", info.name, "' has one result, not ", names.size()),
                absl::StrCat("write name = ", info.name, " ..."));
  }
  const Symbol* known = Find(names[0].text);
  if (known != nullptr && known->kind == Symbol::kPoison) return false;
  if (known != nullptr && known->kind == Symbol::kTensor && (info.traits & kInPlace) != 0) {
    return OverwriteTensor(names[0], info, known->id, decl, annotation, in);
  }
  if (!CheckNew(names[0])) return false;
  // Without a type beside it, an initialiser settles its own.
  if (in->opcode == Opcode::kRegister && !decl.dtype && !in->operands.empty()) {
    ExprPtr settled = Settle(initialiser_, names[0].span());
    if (settled == nullptr) return false;
    in->operands[0] = std::move(settled);
  }
  in->result = static_cast<TensorId>(program_->tensors.size());
  Tensor& tensor = program_->tensors.emplace_back();
  tensor.name = std::string(names[0].text);
  tensor.scope = ScopeOf(info.result);
  tensor.decl = std::move(decl);
  Bind(names[0].text, {Symbol::kTensor, in->result});
  return true;
}

bool Parser::DefineIndices(const std::vector<Token>& names, Instruction* in) {
  if (names.empty()) {
    return Fail(DiagId::kResultKind, token_.span(), "'block_indices' has one to three results",
                "write bi, bj = block_indices");
  }
  for (const Token& name : names) {
    if (!CheckNew(name)) return false;
    in->index_results.push_back(AddVar(name.text, VarKind::kBlockIndex, kI32));
  }
  return true;
}

// An annotation of an in-place result may only repeat what the tensor was declared with.
bool Parser::OverwriteTensor(const Token& name, const InstructionInfo& info, TensorId id,
                             const TensorDecl& decl, SourceSpan annotation, Instruction* in) {
  const Tensor& tensor = program_->tensors[static_cast<size_t>(id)];
  if (tensor.scope != Scope::kRegister) {
    return Fail(
        DiagId::kTextDuplicateName, name.span(),
        absl::StrCat("'", name.text, "' is a tensor in memory and cannot be the result of '",
                     info.name, "'"),
        "take another name");
  }
  if (annotation.line > 0 && !SameDeclaration(decl, tensor.decl)) {
    return Fail(DiagId::kInPlaceType, annotation,
                absl::StrCat("'", name.text, "' is overwritten in place and keeps its type"),
                "leave the type away, or take another name");
  }
  in->result = id;
  in->in_place = true;
  return true;
}

bool Parser::SameDeclaration(const TensorDecl& given, const TensorDecl& known) const {
  if (given.dtype && given.dtype != known.dtype) return false;
  if (given.shape) {
    if (!known.shape || given.shape->size() != known.shape->size()) return false;
    for (size_t i = 0; i < given.shape->size(); ++i) {
      if (!SameExpr(*(*given.shape)[i], *(*known.shape)[i])) return false;
    }
  }
  return !given.layout || (known.layout && given.layout->layout == known.layout->layout);
}

}  // namespace tilus::ir
