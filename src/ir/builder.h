// Building programs in C++: one method an instruction, expressions by operators.
//
//     ProgramBuilder b("scale", /*warps=*/1);
//     Scalar n = b.Param("n", kI32), p = b.Pointer("p", kF16);
//     b.Grid({CeilDiv(n, 32)});
//     Scalar bi = b.BlockIndices({"bi"})[0];
//     TensorHandle g = b.GlobalView("g", p, {kF16, {n}});
//     TensorHandle x = b.LoadGlobal("x", At(g, {bi * 32}), {kF16, {32}, "spatial(32)"});
//     b.Apply(x, Opcode::kMul, {x, 2.0});               // a tensor as result: in place
//     b.StoreGlobal(x, At(g, {bi * 32}));
//     absl::StatusOr<Program> program = b.Build();
//
// No step fails by itself: the first mistake is kept and Build() returns it. Build() resolves the
// types and verifies, so what it returns is a checked program. Names are made unique by a suffix
// when taken.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/program.h"

namespace tilus::ir {

// An expression, or the error that came of making it.
class Scalar {
 public:
  Scalar(int value) : expr_(IntLiteral(value)) {}
  Scalar(int64_t value);
  Scalar(double value) : expr_(FloatLiteral(value)) {}
  Scalar(ExprPtr expr) : expr_(std::move(expr)) {}
  Scalar(absl::StatusOr<ExprPtr> made);

  const absl::Status& status() const { return status_; }
  const ExprPtr& expr() const { return expr_; }

 private:
  absl::Status status_;
  ExprPtr expr_;  // never null: a literal 0 in place of an error
};

Scalar MakeScalar(ExprOp op, std::vector<Scalar> args);
inline Scalar operator+(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kAdd, {a, b});
}
inline Scalar operator-(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kSub, {a, b});
}
inline Scalar operator*(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kMul, {a, b});
}
inline Scalar operator/(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kDiv, {a, b});
}
inline Scalar operator%(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kMod, {a, b});
}
inline Scalar operator==(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kEq, {a, b});
}
inline Scalar operator!=(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kNe, {a, b});
}
inline Scalar operator<(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kLt, {a, b});
}
inline Scalar operator<=(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kLe, {a, b});
}
inline Scalar operator>(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kGt, {a, b});
}
inline Scalar operator>=(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kGe, {a, b});
}
inline Scalar CeilDiv(const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kCeilDiv, {a, b});
}
inline Scalar Min(const Scalar& a, const Scalar& b) { return MakeScalar(ExprOp::kMin, {a, b}); }
inline Scalar Max(const Scalar& a, const Scalar& b) { return MakeScalar(ExprOp::kMax, {a, b}); }
inline Scalar And(const Scalar& a, const Scalar& b) { return MakeScalar(ExprOp::kAnd, {a, b}); }
inline Scalar Or(const Scalar& a, const Scalar& b) { return MakeScalar(ExprOp::kOr, {a, b}); }
inline Scalar Select(const Scalar& c, const Scalar& a, const Scalar& b) {
  return MakeScalar(ExprOp::kSelect, {c, a, b});
}
Scalar CastTo(DataType type, const Scalar& a);
// #dim, in the initialiser of Register.
inline Scalar IndexOf(int dim) { return Scalar(IndexRef(dim)); }

struct TensorHandle {
  TensorId id = kNoTensor;
};

// A tile of memory.
struct Tile {
  TensorHandle tensor;
  std::vector<Scalar> offsets;
  bool has_offsets = true;

  Tile(TensorHandle t, std::vector<Scalar> o) : tensor(t), offsets(std::move(o)) {}
  Tile(TensorHandle t) : tensor(t), has_offsets(false) {}  // all offsets 0
};
inline Tile At(TensorHandle tensor, std::vector<Scalar> offsets) {
  return Tile(tensor, std::move(offsets));
}

// The type annotation of a result; what is left out is derived.
struct TensorType {
  std::optional<DataType> dtype;
  std::optional<std::vector<Scalar>> shape;
  std::string layout;  // the name of a Layout(), or an expression

  TensorType() = default;
  TensorType(DataType t) : dtype(t) {}
  TensorType(DataType t, std::vector<Scalar> s, absl::string_view l = {})
      : dtype(t), shape(std::move(s)), layout(l) {}
};

// What receives the result: a new tensor of that name, or an existing one (in place).
class Result {
 public:
  Result(const char* name) : name_(name) {}
  Result(std::string name) : name_(std::move(name)) {}
  Result(TensorHandle existing) : existing_(existing) {}

  bool in_place() const { return existing_.id != kNoTensor; }
  TensorHandle existing() const { return existing_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  TensorHandle existing_;
};

// An operand of an elementwise instruction.
class Value {
 public:
  Value(TensorHandle tensor) : tensor_(tensor), scalar_(0) {}
  Value(Scalar scalar) : scalar_(std::move(scalar)) {}
  Value(int value) : scalar_(value) {}
  Value(double value) : scalar_(value) {}

  TensorHandle tensor() const { return tensor_; }
  const Scalar& scalar() const { return scalar_; }

 private:
  TensorHandle tensor_;
  Scalar scalar_;
};

struct Transfer {
  std::optional<std::vector<int>> dims;
  CacheHint cache = CacheHint::kDefault;
};

struct LoopOptions {
  Scalar step = 1;
  int64_t unroll = 1;  // kUnrollFull: all
};

enum class Workspace { kUninitialised, kClean };

class ProgramBuilder {
 public:
  ProgramBuilder(absl::string_view name, int warps);

  // The head.
  Scalar Param(absl::string_view name, DataType type, int64_t divisible = 1);
  Scalar Pointer(absl::string_view name, DataType pointee, int64_t align = 0);
  Scalar Const(absl::string_view name, const Scalar& value);
  void Grid(const std::vector<Scalar>& extents);
  void Target(absl::string_view lowest) { program_.target = std::string(lowest); }
  void AllowContraction() { program_.contract = true; }
  void AllowFastMath() { program_.fast = true; }
  void Layout(absl::string_view name, absl::string_view expression);

  // Instructions.
  std::vector<Scalar> BlockIndices(const std::vector<std::string>& names);
  TensorHandle GlobalView(absl::string_view name, const Scalar& pointer, const TensorType& type,
                          const std::vector<Scalar>& strides = {});
  TensorHandle AllocGlobal(absl::string_view name, const TensorType& type,
                           Workspace workspace = Workspace::kUninitialised);
  TensorHandle AllocShared(absl::string_view name, const TensorType& type,
                           std::optional<SharedLayoutSpec> layout = std::nullopt);
  void FreeShared(TensorHandle tensor);
  TensorHandle Register(const Result& result, const TensorType& type);
  TensorHandle Register(const Result& result, const Scalar& init, const TensorType& type = {});

  TensorHandle LoadGlobal(const Result& result, const Tile& source, const TensorType& type = {},
                          const Transfer& transfer = {});
  TensorHandle LoadShared(const Result& result, const Tile& source, const TensorType& type = {},
                          const Transfer& transfer = {});
  void StoreGlobal(TensorHandle source, const Tile& destination, const Transfer& transfer = {});
  void StoreShared(TensorHandle source, const Tile& destination, const Transfer& transfer = {});
  void CopyAsync(const Tile& source, const Tile& destination, const TensorType& tile = {},
                 const Transfer& transfer = {});
  void CommitGroup();
  void WaitGroup(int64_t unfinished);
  void WaitAll();

  // Any elementwise instruction of the table.
  TensorHandle Apply(const Result& result, Opcode opcode, const std::vector<Value>& operands,
                     const TensorType& type = {});
  TensorHandle Cast(const Result& result, TensorHandle source, const TensorType& type);
  TensorHandle View(absl::string_view name, TensorHandle source, const TensorType& type,
                    std::optional<int64_t> first_bit = std::nullopt);
  TensorHandle Dot(const Result& result, TensorHandle a, TensorHandle b, TensorHandle c);
  void Synchronize();
  void Exit();
  void Print(const Value& value, absl::string_view label = {});

  // Statements. Bodies are filled by the callback.
  using BodyFn = absl::FunctionRef<void()>;
  void For(absl::string_view name, const Scalar& begin, const Scalar& end,
           absl::FunctionRef<void(Scalar)> body, const LoopOptions& options = {});
  void If(const Scalar& condition, BodyFn then_body);
  void If(const Scalar& condition, BodyFn then_body, BodyFn else_body);
  void While(const Scalar& condition, BodyFn body);
  void Break();
  void Continue();
  Scalar Let(absl::string_view name, const Scalar& value);
  Scalar Mutable(absl::string_view name, DataType type, const Scalar& initial);
  void Assign(const Scalar& variable, const Scalar& value);

  // The program, resolved and verified. The builder is used up.
  absl::StatusOr<Program> Build(const Limits& limits = {});

 private:
  std::string Unique(absl::string_view name);
  VarId AddVar(absl::string_view name, VarKind kind, DataType type);
  ExprPtr Use(const Scalar& scalar);
  std::vector<ExprPtr> Use(const std::vector<Scalar>& scalars);
  TensorOperand Use(const Tile& tile);
  Operand Use(const Value& value);
  TensorDecl Declare(const TensorType& type);
  // Appends an instruction that defines `result` (or overwrites it).
  TensorHandle Define(const Result& result, Scope scope, TensorDecl decl, Instruction instruction);
  TensorHandle Load(Opcode opcode, const Result& result, const Tile& source, const TensorType& type,
                    const Transfer& transfer);
  void Store(Opcode opcode, const Operand& source, const Tile& destination, const TensorType& tile,
             const Transfer& transfer);
  void Append(Stmt stmt) { blocks_.back()->stmts.push_back(std::move(stmt)); }
  void Note(const absl::Status& status) { status_.Update(status); }
  Block Nest(BodyFn body);

  Program program_;
  std::vector<Block*> blocks_;
  absl::flat_hash_set<std::string> names_;
  absl::Status status_;
};

}  // namespace tilus::ir
