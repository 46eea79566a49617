// The state of one lowering, shared by the family files.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/analysis.h"
#include "ir/program.h"
#include "ir/walk.h"
#include "lower/lower.h"
#include "machine/builder.h"

namespace tilus::lower {

using machine::Operand;
using machine::Reg;

// The registers of a register tensor: a bit string of N * bits bits, little-endian in 32-bit words
// (layouts.md). Unused high bits of the last word are undefined.
struct RegisterFile {
  std::vector<Reg> words;
};

// How a scalar or one element is held while it is computed with. A value of a type is widened to
// its compute type: integers of at most 32 bits to a sign- or zero-extended 32-bit register, 64-bit
// integers to a 64-bit one, floats of at most 32 bits to f32 (exact), f64 to f64, bool to a
// 32-bit 0 or 1.
enum class ComputeType : uint8_t { kS32, kU32, kS64, kU64, kF32, kF64, kBool };
ComputeType ComputeTypeOf(DataType type);
machine::RegClass ClassOf(ComputeType type);

class Context {
 public:
  Context(const ir::Program& program, const LowerOptions& options, machine::Kernel* kernel);

  const ir::Program& program() const { return program_; }
  const LowerOptions& options() const { return options_; }
  const ir::Facts& facts() const { return facts_; }
  machine::Builder& b() { return builder_; }

  const ir::Tensor& tensor(ir::TensorId id) const {
    return program_.tensors[static_cast<size_t>(id)];
  }

  // ---- Scalars (scalar.cc).
  // The value of an expression in its compute type.
  Operand Scalar(const ir::Expr& expr);
  // An integer expression as a 64-bit (sign- or zero-extended) or a 32-bit (truncated) value.
  Operand Scalar64(const ir::Expr& expr);
  Operand Scalar32(const ir::Expr& expr);
  // A bool expression as a predicate register.
  Reg Condition(const ir::Expr& expr);
  // In the initialiser of `register`: the coordinates that #d stands for (s32), while it is set.
  void SetIndexValues(absl::Span<const Operand> coordinates);
  // let, block index, unrolled loop variable: `value` must not be a variable's register (Snapshot).
  void Define(ir::VarId var, Operand value);
  // var, loop variable: a register of its own, to be written in place.
  Reg DefineVariable(ir::VarId var, Operand value);
  Reg VariableRegister(ir::VarId var) const;
  // `value`, copied where it is a variable's register, which may change later.
  Operand Snapshot(const ir::Expr& expr, Operand value);

  // ---- Register tensors.
  // The words of a tensor that has been defined.
  const RegisterFile& Words(ir::TensorId id) const;
  // Fresh words for `instruction`'s result; for an in-place result they become the tensor's words
  // only in CommitResult, so operands may be read until then whatever they alias.
  RegisterFile NewWords(const ir::Tensor& tensor);
  // Makes `file` the value of the result: the definition, or moves into the existing words.
  void CommitResult(const ir::Instruction& instruction, const RegisterFile& file);
  // Whether some instruction overwrites the tensor in place: then its words are variables, and
  // another tensor must not alias them.
  bool IsOverwritten(ir::TensorId id) const { return overwritten_[static_cast<size_t>(id)]; }

  // ---- The thread.
  Operand ThreadIndex();  // s32, 0 .. num_threads - 1
  // SpatialPart of the thread in `layout`, one s32 value a dimension. Computed once per layout, at
  // the start of the kernel.
  std::vector<Operand> ThreadCoordinates(const RegisterLayout& layout);

  // ---- Pointers.
  // The 64-bit address of a global tensor's first element (view or workspace).
  Operand GlobalBase(ir::TensorId id);
  // What the base address is known to be a multiple of, in bytes.
  int64_t GlobalBaseAlignment(ir::TensorId id) const;
  void BindGlobal(ir::TensorId id, Operand base, int64_t alignment);

  // ---- Errors: a diagnostic with the path and text of the instruction being lowered.
  absl::Status Error(DiagId id, absl::string_view message, absl::string_view hint) const;
  // Names the statement that what follows comes from.
  void EnterStatement(const ir::Stmt& stmt, const ir::StmtPath& path);

 private:
  struct Coordinates {
    RegisterLayout layout;
    std::vector<Operand> values;
  };
  struct GlobalBinding {
    Operand base;
    int64_t alignment = 1;
  };

  void LoadParameters();
  void FindOverwritten();
  void FindCoordinates();

  const ir::Program& program_;
  const LowerOptions& options_;
  ir::Facts facts_;
  machine::Kernel& kernel_;
  machine::Builder builder_;
  std::vector<Operand> scalars_;              // by VarId
  std::vector<RegisterFile> files_;           // by TensorId
  std::vector<std::optional<GlobalBinding>> globals_;  // by TensorId
  std::vector<bool> overwritten_;             // by TensorId
  std::vector<Operand> index_values_;
  std::vector<Coordinates> coordinates_;
  Operand thread_index_;
  const ir::Stmt* statement_ = nullptr;
  absl::flat_hash_map<const ir::Stmt*, uint32_t> path_ids_;
};

}  // namespace tilus::lower
