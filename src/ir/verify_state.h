// The state of one verification, shared by verifier.cc (programs, statements, expressions) and
// verify_instruction.cc.
#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/analysis.h"
#include "ir/report.h"
#include "ir/result_type.h"
#include "ir/verifier.h"

namespace tilus::ir {

class Verification {
 public:
  Verification(const Program& program, const VerifyOptions& options, DiagnosticList* diagnostics);

  void Run();

 private:
  // --- The program (verifier.cc)
  void CheckHead();
  void CheckTarget();
  void CheckParams();
  void CheckConsts();
  void CheckLayoutNames();
  void CheckGrid();

  // --- Statements (verifier.cc)
  struct Loops {
    int depth = 0;
    int64_t unroll = 1;  // copies that the loops around make
  };
  void CheckBlock(const Block& block, StmtPath path, const Loops& loops);
  void CheckStmt(const Stmt& stmt, const StmtPath& path, const Loops& loops);
  void CheckFor(const ForStmt& loop, const StmtPath& path, const Loops& loops);
  int64_t UnrollCopies(const ForStmt& loop);
  void CheckCondition(const Expr& condition);
  void CheckDefine(const DefineStmt& define);
  void CheckAssign(const AssignStmt& assign);

  // --- Names (verifier.cc). Names are visible from their definition to the end of their block, and
  // never hide each other.
  void DefineName(const std::string& name);
  void DefineVar(VarId id);
  void DefineTensor(TensorId id);
  bool IsVisible(const std::string& name, const void* thing) const;

  // --- Expressions (verifier.cc)
  // What may stand in an expression beside scalars.
  enum class Allow { kScalars, kPointer, kIndices };
  void CheckExpr(const ExprPtr& expr, Allow allow = Allow::kScalars, int index_rank = 0);
  void CheckNode(const Expr& e, Allow allow, int index_rank);
  bool IsInteger(const Expr& e) const { return e.type.is_integer() && !e.is_pointer; }
  bool KnownAtLaunch(const Expr& e) const;

  // --- Instructions (verify_instruction.cc)
  void CheckInstruction(const Instruction& in);
  bool CheckUses(const Instruction& in);
  bool DefineResults(const Instruction& in);
  bool IsResolved(const Instruction& in);
  bool CheckResultType(const Instruction& in);
  void CheckRegisters(const Tensor& tensor);
  void CheckRules(const Instruction& in);
  void CheckIndices(const Instruction& in);
  void CheckGlobalView(const Instruction& in);
  void CheckAllocGlobal(const Instruction& in);
  void CheckAllocShared(const Instruction& in);
  void CheckFree(const Instruction& in);
  void CheckElementwise(const Instruction& in);
  void CheckCast(const Instruction& in);
  void CheckView(const Instruction& in);
  void CheckLoad(const Instruction& in);
  void CheckStore(const Instruction& in);
  void CheckCopy(const Instruction& in);
  void CheckWait(const Instruction& in);
  void CheckCorrespondence(const Instruction& in, const Tensor& operand);
  // A tile of `extents` in the memory operand.
  void CheckTile(const Operand& operand, const std::optional<std::vector<int>>& dims,
                 absl::string_view tile_name, const std::vector<int64_t>& extents);
  bool CheckDims(const std::vector<int>& dims, size_t tile_rank, const Tensor& memory);

  const Tensor& At(TensorId id) const { return program_.tensors[static_cast<size_t>(id)]; }
  const Var& VarAt(VarId id) const { return program_.vars[static_cast<size_t>(id)]; }
  std::string Quoted(const Tensor& tensor) const;

  const Program& program_;
  const VerifyOptions& options_;
  DiagnosticList* diagnostics_;
  Reporter reporter_;
  Constants constants_;
  ResultTypes types_;

  struct TensorState {
    bool defined = false;  // ever
    bool visible = false;
    bool freed = false;
    bool layout_ok = false;  // it has one, and it fits
    const Block* block = nullptr;
  };
  std::vector<TensorState> tensors_;  // by TensorId
  std::vector<bool> var_visible_;     // by VarId
  absl::flat_hash_map<absl::string_view, int> names_;
  // What leaving the block takes back.
  struct Binding {
    absl::string_view name;
    TensorId tensor = kNoTensor;
    VarId var = kNoVar;
  };
  std::vector<Binding> bindings_;
  const Block* block_ = nullptr;
  bool saw_unresolved_ = false;
};

}  // namespace tilus::ir
