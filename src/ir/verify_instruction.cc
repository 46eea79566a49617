// The rules of single instructions.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "ir/local_map.h"
#include "ir/structure.h"
#include "ir/text.h"
#include "ir/verify_state.h"
#include "layout/bit_layout.h"

namespace tilus::ir {
namespace {

constexpr int64_t kRegisterFileBits = 255 * 32;  // of one thread

std::string LayoutText(const Tensor& tensor) {
  if (!tensor.layout) return "no layout";
  if (tensor.decl.layout && !tensor.decl.layout->alias.empty()) {
    return absl::StrCat(tensor.decl.layout->alias, " = ", tensor.layout->ToString());
  }
  return tensor.layout->ToString();
}

// "24 bits are 4 elements of a 6-bit type": what a view of `bits` bits a thread could be.
std::string ViewHint(int64_t bits, int64_t wanted_elements, int wanted_bits) {
  if (bits % wanted_elements == 0 && bits / wanted_elements <= kMaxElementBits) {
    return absl::StrCat(bits, " bits are ", wanted_elements, " elements of a ",
                        bits / wanted_elements, "-bit type");
  }
  if (bits % wanted_bits == 0) {
    return absl::StrCat(bits, " bits are ", bits / wanted_bits, " elements of ", wanted_bits,
                        " bits a thread");
  }
  return "elements times bits must be the same for every thread";
}

}  // namespace

std::string Verification::Quoted(const Tensor& tensor) const {
  return absl::StrCat("'", tensor.name, "' (", PrintTensorType(program_, tensor), ")");
}

void Verification::CheckInstruction(const Instruction& in) {
  if (absl::Status structure = CheckStructure(program_, in); !structure.ok()) {
    reporter_.Report(structure);
    return;
  }
  const bool uses = CheckUses(in);
  const bool results = DefineResults(in);
  if (!uses || !results || !IsResolved(in)) return;
  if (in.result == kNoTensor || CheckResultType(in)) CheckRules(in);
}

// That everything the instruction mentions is defined and visible.
bool Verification::CheckUses(const Instruction& in) {
  bool ok = true;
  for (const Operand& operand : in.operands) {
    if (const ExprPtr& scalar = ScalarOf(operand)) {
      const bool init = in.opcode == Opcode::kRegister;
      const Allow allow = init                               ? Allow::kIndices
                          : in.opcode == Opcode::kGlobalView ? Allow::kPointer
                                                             : Allow::kScalars;
      const Tensor* result = init ? &At(in.result) : nullptr;
      CheckExpr(scalar, allow,
                result == nullptr || !result->resolved ? options_.limits.max_rank : result->rank());
      continue;
    }
    const TensorOperand& tile = std::get<TensorOperand>(operand);
    const TensorState& state = tensors_[static_cast<size_t>(tile.tensor)];
    const std::string& name = At(tile.tensor).name;
    for (const ExprPtr& offset : tile.offsets) CheckExpr(offset);
    if (!state.visible) {
      reporter_.Report(DiagId::kUndefined,
                       absl::StrCat("'", name, "' is ",
                                    state.defined ? "used outside the block that defines it"
                                                  : "used before it is defined"));
      ok = false;
    } else if (state.freed) {
      reporter_.Report(DiagId::kSharedFreed, absl::StrCat("'", name, "' was freed"),
                       "free it after its last use");
      ok = false;
    }
  }
  for (const ExprPtr& extent : in.tile_shape) CheckExpr(extent);
  return ok;
}

bool Verification::DefineResults(const Instruction& in) {
  for (VarId id : in.index_results) DefineVar(id);
  if (in.result == kNoTensor) return true;
  if (!in.in_place) {
    const TensorDecl& decl = At(in.result).decl;
    if (decl.shape) {
      for (const ExprPtr& extent : *decl.shape) CheckExpr(extent);
    }
    for (const ExprPtr& stride : decl.strides) CheckExpr(stride);
    DefineTensor(in.result);
    return true;
  }
  if (tensors_[static_cast<size_t>(in.result)].visible) return true;
  reporter_.Report(DiagId::kUndefined, absl::StrCat("'", At(in.result).name,
                                                    "' is overwritten where it is not defined"));
  return false;
}

bool Verification::IsResolved(const Instruction& in) {
  bool resolved = in.result == kNoTensor || At(in.result).resolved;
  for (const Operand& operand : in.operands) {
    const TensorId id = TensorOf(operand);
    resolved = resolved && (id == kNoTensor || At(id).resolved);
  }
  saw_unresolved_ = saw_unresolved_ || !resolved;
  return resolved;
}

// That the result is what the rules make of the operands, and that its layout fits it.
bool Verification::CheckResultType(const Instruction& in) {
  const Tensor& result = At(in.result);
  const absl::StatusOr<ResultType> type = types_.Of(in);
  bool same = type.ok();
  if (!same) {
    reporter_.Report(type.status());
  } else if (type->dtype != result.dtype || types_.Extents(type->shape) != result.extents) {
    same = false;
    Tensor found;
    found.dtype = type->dtype;
    found.shape = type->shape;
    reporter_.Report(
        in.in_place ? DiagId::kInPlaceType : DiagId::kDeclaredType,
        absl::StrCat(Quoted(result), " gets a value of type ", PrintTensorType(program_, found)));
  }
  if (in.in_place) return same;
  const absl::Status shape = types_.CheckShape(result.scope, result.name, result.shape);
  reporter_.Report(shape);
  if (result.scope == Scope::kRegister) CheckRegisters(result);
  return same && shape.ok();
}

void Verification::CheckRegisters(const Tensor& tensor) {
  const std::optional<int64_t> elements = CheckedProduct(tensor.extents);
  if (!elements) return;  // reported as beyond the limit
  const int threads = std::max(1, program_.num_threads());
  int64_t locals = CeilDiv(*elements, threads);
  if (!tensor.layout) {
    if (options_.layouts_required) {
      reporter_.Report(DiagId::kLayoutMissing, absl::StrCat(Quoted(tensor), " has no layout"),
                       "give it one in the program");
    }
  } else if (tensor.layout->shape() != absl::MakeConstSpan(tensor.extents)) {
    reporter_.Report(
        DiagId::kLayoutShape,
        absl::StrCat("the layout ", LayoutText(tensor), " is of shape [",
                     absl::StrJoin(tensor.layout->shape(), ", "), "], and '", tensor.name, "' is ",
                     tensor.dtype.name(), "[", absl::StrJoin(tensor.extents, ", "), "]"));
    return;
  } else if (tensor.layout->num_threads() != threads) {
    reporter_.Report(
        DiagId::kLayoutThreads,
        absl::StrCat("the layout ", LayoutText(tensor), " of '", tensor.name, "' is for ",
                     tensor.layout->num_threads(), " threads, and the program has ", threads, " (",
                     program_.warps, program_.warps == 1 ? " warp)" : " warps)"),
        "spread it over all threads, with replicated(k) where they share elements");
    return;
  } else {
    locals = tensor.layout->locals_per_thread();
  }
  const std::optional<int64_t> bits = CheckedMul(locals, tensor.dtype.bits());
  if (!bits || *bits > kRegisterFileBits) {
    reporter_.Report(
        DiagId::kRegisterFile,
        absl::StrCat(Quoted(tensor), " takes ", bits ? CeilDiv(*bits, 32) : INT64_MAX / 32,
                     " registers of each thread, more than the 255 there are"),
        "make the tile smaller, or use more warps");
    return;
  }
  const size_t id = static_cast<size_t>(&tensor - program_.tensors.data());
  tensors_[id].layout_ok = tensor.layout.has_value();
}

void Verification::CheckRules(const Instruction& in) {
  if ((InfoOf(in.opcode).traits & kElementwise) != 0) return CheckElementwise(in);
  switch (in.opcode) {
    case Opcode::kBlockIndices:
      return CheckIndices(in);
    case Opcode::kGlobalView:
      return CheckGlobalView(in);
    case Opcode::kAllocGlobal:
      return CheckAllocGlobal(in);
    case Opcode::kAllocShared:
      return CheckAllocShared(in);
    case Opcode::kFreeShared:
      return CheckFree(in);
    case Opcode::kLoadGlobal:
    case Opcode::kLoadShared:
      return CheckLoad(in);
    case Opcode::kStoreGlobal:
    case Opcode::kStoreShared:
      return CheckStore(in);
    case Opcode::kCopyAsync:
      return CheckCopy(in);
    case Opcode::kWaitGroup:
      return CheckWait(in);
    case Opcode::kCast:
      return CheckCast(in);
    case Opcode::kView:
      return CheckView(in);
    default:
      return;
  }
}

void Verification::CheckIndices(const Instruction& in) {
  if (in.index_results.size() != program_.grid.size()) {
    reporter_.Report(DiagId::kBlockIndexCount,
                     absl::StrCat("the grid has ", program_.grid.size(),
                                  " dimensions, and 'block_indices' gives ",
                                  in.index_results.size(), " values"));
  }
  for (VarId id : in.index_results) {
    if (VarAt(id).type == kI32 && VarAt(id).kind == VarKind::kBlockIndex) continue;
    reporter_.Report(DiagId::kResultKind,
                     absl::StrCat("the block index '", VarAt(id).name, "' is an i32"));
  }
}

void Verification::CheckGlobalView(const Instruction& in) {
  const Tensor& view = At(in.result);
  const size_t count = view.decl.strides.size();
  if (count != 0 && count != view.shape.size()) {
    reporter_.Report(DiagId::kGlobalStrides,
                     absl::StrCat("'", view.name, "' has ", view.shape.size(), " dimensions and ",
                                  count, " strides"));
  }
  for (const ExprPtr& stride : view.decl.strides) {
    if (!IsInteger(*stride)) {
      reporter_.Report(DiagId::kGlobalStrides,
                       absl::StrCat("the stride ", PrintExpr(program_, *stride), " is of type ",
                                    stride->type.name(), ", not an integer"));
    } else if (constants_.Int(*stride).value_or(0) < 0) {
      reporter_.Report(DiagId::kGlobalStrides,
                       absl::StrCat("the stride ", PrintExpr(program_, *stride), " is negative"));
    }
  }
}

// A workspace is sized before the launch, once for all blocks.
void Verification::CheckAllocGlobal(const Instruction& in) {
  for (const ExprPtr& extent : At(in.result).shape) {
    if (KnownAtLaunch(*extent)) continue;
    reporter_.Report(
        DiagId::kShapeNotConstant,
        absl::StrCat("the extent ", PrintExpr(program_, *extent), " of the workspace '",
                     At(in.result).name, "' is not known before the launch"),
        "use parameters and constants");
  }
}

void Verification::CheckAllocShared(const Instruction& in) {
  const Tensor& tensor = At(in.result);
  if (tensor.shared_layout &&
      tensor.shared_layout->shape() != absl::MakeConstSpan(tensor.extents)) {
    reporter_.Report(DiagId::kLayoutShape,
                     absl::StrCat("the shared layout of ", Quoted(tensor), " has another shape"));
  }
}

void Verification::CheckFree(const Instruction& in) {
  const TensorId id = TensorOf(in.operands[0]);
  TensorState& state = tensors_[static_cast<size_t>(id)];
  if (state.block != block_) {
    reporter_.Report(DiagId::kSharedFreed, absl::StrCat("'", At(id).name,
                                                        "' is freed in another block than it is "
                                                        "allocated in"));
  }
  state.freed = true;
}

// --- Layouts of register operands

void Verification::CheckCorrespondence(const Instruction& in, const Tensor& operand) {
  const Tensor& result = At(in.result);
  const auto fits = [&](const Tensor& tensor) {
    return tensors_[static_cast<size_t>(&tensor - program_.tensors.data())].layout_ok;
  };
  if (!fits(result) || !fits(operand)) return;
  if (LocalMap(*result.layout, *operand.layout)) return;
  reporter_.Report(
      DiagId::kLayoutMismatch,
      absl::StrCat("threads of '", result.name, "' do not hold the elements of '", operand.name,
                   "' that they need: ", LayoutText(result), " from ", LayoutText(operand)),
      "give both tensors one layout, or go through shared memory");
}

void Verification::CheckElementwise(const Instruction& in) {
  for (const Operand& operand : in.operands) {
    const TensorId id = TensorOf(operand);
    if (id != kNoTensor) {
      CheckCorrespondence(in, At(id));
      continue;
    }
    const bool divides = in.opcode == Opcode::kDiv || in.opcode == Opcode::kMod;
    const Expr& scalar = *ScalarOf(operand);
    if (divides && &operand != &in.operands[0] && constants_.Int(scalar) == 0) {
      reporter_.Report(DiagId::kConstantDivision,
                       absl::StrCat("'", InfoOf(in.opcode).name, "' divides by the constant 0"));
    }
  }
}

void Verification::CheckCast(const Instruction& in) {
  CheckCorrespondence(in, At(TensorOf(in.operands[0])));
}

void Verification::CheckView(const Instruction& in) {
  const TensorId source_id = TensorOf(in.operands[0]);
  const Tensor& source = At(source_id);
  const Tensor& result = At(in.result);
  if (!tensors_[static_cast<size_t>(source_id)].layout_ok ||
      !tensors_[static_cast<size_t>(in.result)].layout_ok) {
    return;
  }
  const ViewCheck check = tilus::CheckView(source.dtype.bits(), *source.layout, result.dtype.bits(),
                                           *result.layout, in.bits);
  if (check.legal()) return;
  const int64_t has = source.layout->locals_per_thread() * source.dtype.bits();
  const int64_t wants = result.layout->locals_per_thread() * result.dtype.bits();
  if (in.bits || has == wants) {
    reporter_.Report(ViewStatus(check));
    return;
  }
  reporter_.Report(DiagId::kViewIllegal,
                   absl::StrCat("view changes the bits per thread: ", has, " (",
                                PrintTensorType(program_, source), ") to ", wants, " (",
                                PrintTensorType(program_, result), ")"),
                   ViewHint(has, result.layout->locals_per_thread(), result.dtype.bits()));
}

// --- Memory

bool Verification::CheckDims(const std::vector<int>& dims, size_t tile_rank, const Tensor& memory) {
  const auto fail = [&](absl::string_view problem) {
    reporter_.Report(DiagId::kDims,
                     absl::StrCat("dims=[", absl::StrJoin(dims, ", "), "] ", problem));
    return false;
  };
  if (dims.size() != tile_rank) {
    return fail(absl::StrCat("names ", dims.size(), " dimensions, and the tile has ", tile_rank));
  }
  std::vector<bool> seen(memory.shape.size());
  for (int dim : dims) {
    if (dim < 0 || dim >= memory.rank()) {
      return fail(
          absl::StrCat("is beyond the ", memory.rank(), " dimensions of '", memory.name, "'"));
    }
    if (seen[static_cast<size_t>(dim)]) return fail("names a dimension twice");
    seen[static_cast<size_t>(dim)] = true;
  }
  return true;
}

void Verification::CheckTile(const Operand& operand, const std::optional<std::vector<int>>& dims,
                             absl::string_view tile_name, const std::vector<int64_t>& extents) {
  const TensorOperand& tile = std::get<TensorOperand>(operand);
  const Tensor& memory = At(tile.tensor);
  if (tile.has_offsets && tile.offsets.size() != memory.shape.size()) {
    reporter_.Report(DiagId::kOffsetCount,
                     absl::StrCat("'", memory.name, "' has ", memory.shape.size(),
                                  " dimensions and is given ", tile.offsets.size(), " offsets"),
                     "give one offset a dimension, or none at all");
  }
  for (const ExprPtr& offset : tile.offsets) {
    if (IsInteger(*offset)) continue;
    reporter_.Report(DiagId::kScalarTypes,
                     absl::StrCat("the offset ", PrintExpr(program_, *offset), " is of type ",
                                  offset->type.name(), ", not an integer"));
  }
  if (extents.size() > memory.shape.size()) {
    reporter_.Report(DiagId::kTileRank, absl::StrCat("the tile ", tile_name, " has ",
                                                     extents.size(), " dimensions, and ",
                                                     Quoted(memory), " has ", memory.shape.size()));
    return;
  }
  if (dims && !CheckDims(*dims, extents.size(), memory)) return;
  if (memory.scope != Scope::kShared) return;
  const size_t lead = memory.extents.size() - extents.size();
  for (size_t d = 0; d < extents.size(); ++d) {
    const size_t dim = dims ? static_cast<size_t>((*dims)[d]) : lead + d;
    if (extents[d] <= memory.extents[dim]) continue;
    reporter_.Report(DiagId::kTensorShapes,
                     absl::StrCat("dimension ", d, " of the tile ", tile_name, " is ", extents[d],
                                  ", larger than ", memory.extents[dim], " in ", Quoted(memory)),
                     "allocate the shared tensor as large as the tile");
  }
}

void Verification::CheckLoad(const Instruction& in) {
  const Tensor& result = At(in.result);
  CheckTile(in.operands[0], in.dims, Quoted(result), result.extents);
}

void Verification::CheckStore(const Instruction& in) {
  const Tensor& source = At(TensorOf(in.operands[0]));
  const Tensor& memory = At(TensorOf(in.operands[1]));
  CheckTile(in.operands[1], in.dims, Quoted(source), source.extents);
  if (source.dtype == memory.dtype) return;
  reporter_.Report(DiagId::kTensorTypes,
                   absl::StrCat(Quoted(source), " cannot be stored into ", Quoted(memory)),
                   absl::StrCat("cast or view it as ", memory.dtype.name(), " first"));
}

void Verification::CheckCopy(const Instruction& in) {
  const Tensor& source = At(TensorOf(in.operands[0]));
  const Tensor& target = At(TensorOf(in.operands[1]));
  if (source.dtype != target.dtype || (in.tile_dtype && *in.tile_dtype != target.dtype)) {
    reporter_.Report(
        DiagId::kTensorTypes,
        absl::StrCat("'copy_async' keeps the type of elements, and ", Quoted(source), " and ",
                     Quoted(target), " differ",
                     in.tile_dtype ? absl::StrCat(" from ", in.tile_dtype->name()) : ""));
    return;
  }
  std::vector<int64_t> extents = target.extents;
  if (!in.tile_shape.empty()) {
    if (absl::Status shape = types_.CheckShape(Scope::kShared, "the tile", in.tile_shape);
        !shape.ok()) {
      reporter_.Report(shape);
      return;
    }
    extents = types_.Extents(in.tile_shape);
  }
  const std::string tile = absl::StrCat("[", absl::StrJoin(extents, ", "), "]");
  CheckTile(in.operands[0], in.dims, tile, extents);
  CheckTile(in.operands[1], std::nullopt, tile, extents);
  if (extents.back() * target.dtype.bits() % 8 == 0) return;
  reporter_.Report(DiagId::kCopyBytes,
                   absl::StrCat("a row of the tile is ", extents.back(), " elements of ",
                                target.dtype.bits(), " bits, not whole bytes"),
                   "copy as u8, and view the registers after load_shared");
}

void Verification::CheckWait(const Instruction& in) {
  const Expr& count = *ScalarOf(in.operands[0]);
  const std::optional<int64_t> value = constants_.Int(count);
  if (value && *value >= 0) return;
  reporter_.Report(DiagId::kWaitCount,
                   absl::StrCat("'wait_group' takes a constant of at least 0, not ",
                                PrintExpr(program_, count)));
}

}  // namespace tilus::ir
