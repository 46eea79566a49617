// The readable form of programs (.tilus): reading and printing. GRAMMAR.md has the grammar.
//
//     bytes --ParseText--> Module --ResolveTypes, Verify--> checked program
//                            |
//                            `---PrintText--> the same text, in one canonical spelling
//
// Reading keeps what the author spelled (names, constants, layouts, which types were given) and
// derives nothing; printing writes only that. Comments and blank lines are not kept.
// @post PrintText(ParseText(t)) == PrintText(ParseText(PrintText(ParseText(t))))
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "ir/program.h"

namespace tilus::ir {

// Reads a file of programs. Errors: every syntax, name and scalar-type error that can be told apart
// (reading resumes at the next line after one), each with line, column, the source line as excerpt
// and the length of the faulty token. Time and memory are linear in the text; nesting beyond
// `limits.max_depth` is an error, never deep recursion.
absl::StatusOr<Module> ParseText(absl::string_view text, const Limits& limits);

// ParseText, then ResolveAndVerify of every program, with all of its errors.
absl::StatusOr<Module> LoadText(absl::string_view text, const Limits& limits);

// The canonical text. Programs need not be well typed; ids must be in range.
std::string PrintText(const Module& module);
std::string PrintText(const Program& program);

// One line without indentation or line end: "acc = dot xa, xb, acc".
std::string PrintInstruction(const Program& program, const Instruction& instruction);
// The first line of a statement: an instruction, "for k in 0 .. 4 {", "if x < 3 {", "break".
std::string PrintStatementHead(const Program& program, const Stmt& stmt);
std::string PrintExpr(const Program& program, const Expr& expr);

// The type as derived, "f16[16, 8] local(2,1).spatial(8,4).local(1,2)"; layouts where known,
// aliases by their name. For messages.
std::string PrintTensorType(const Program& program, const Tensor& tensor);

// Whether `name` can name a program, variable, tensor or layout: an identifier that is neither a
// reserved word nor a type.
bool IsValidName(absl::string_view name);

}  // namespace tilus::ir
