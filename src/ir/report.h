// Diagnostics about statements: with path, position and the statement itself as excerpt.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "ir/program.h"
#include "ir/walk.h"

namespace tilus::ir {

class Reporter {
 public:
  Reporter(const Program& program, DiagnosticList* diagnostics)
      : program_(program), diagnostics_(diagnostics) {}

  // What the next reports are about; null for the head of the program. The path must outlive them.
  void Enter(const Stmt* stmt, const StmtPath* path) {
    stmt_ = stmt;
    path_ = path;
  }

  void Report(DiagId id, absl::string_view message, absl::string_view hint = {});
  // Every diagnostic of a status, placed here unless it has a place; nothing when OK.
  void Report(const absl::Status& status);

  bool full() const {
    return diagnostics_->diagnostics().size() >= DiagnosticList::kMaxDiagnostics;
  }

 private:
  void Add(Diagnostic diagnostic);

  const Program& program_;
  DiagnosticList* diagnostics_;
  const Stmt* stmt_ = nullptr;
  const StmtPath* path_ = nullptr;
};

}  // namespace tilus::ir
