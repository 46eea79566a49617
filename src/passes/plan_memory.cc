// Memory planning: layouts and places of shared tensors, places of workspace tensors.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "ir/walk.h"
#include "passes/passes.h"
#include "types/packing.h"

namespace tilus::passes {
namespace {

constexpr int64_t kSharedAlignment = 128;
constexpr int64_t kWorkspaceAlignment = 256;

// What the program spells, or row-major with the swizzle that keeps rows out of each other's banks.
absl::StatusOr<SharedLayout> LayoutOf(const ir::Tensor& tensor) {
  const std::vector<int64_t>& shape = tensor.extents;
  if (tensor.decl.shared_layout) {
    const ir::SharedLayoutSpec& spec = *tensor.decl.shared_layout;
    return spec.strides.empty() ? SharedLayout::RowMajor(shape, spec.swizzle)
                                : SharedLayout::Strided(shape, spec.strides, spec.swizzle);
  }
  std::optional<Swizzle> swizzle;
  if (shape.size() >= 2) {
    swizzle = DefaultSwizzle(shape.back() * tensor.dtype.bits() / 8, tensor.dtype.bits());
  }
  // A swizzle pads a tensor to its period; a small tensor goes without.
  TILUS_ASSIGN_OR_RETURN(SharedLayout plain, SharedLayout::RowMajor(shape));
  if (!swizzle) return plain;
  TILUS_ASSIGN_OR_RETURN(SharedLayout swizzled, SharedLayout::RowMajor(shape, swizzle));
  return swizzled.Size() == plain.Size() ? swizzled : plain;
}

// Live ranges of shared tensors, in statements of the program counted in order.
struct Lifetime {
  ir::TensorId tensor = ir::kNoTensor;
  int64_t begin = 0;
  int64_t end = 0;  // past the last statement
  int64_t bytes = 0;
  int64_t address = 0;
};

class SharedPlan {
 public:
  explicit SharedPlan(ir::Program* program) : program_(*program) {}

  absl::Status Run() {
    TILUS_RETURN_IF_ERROR(FindLifetimes());
    for (size_t i = 0; i < lifetimes_.size(); ++i) {
      TILUS_RETURN_IF_ERROR(Place(i));
    }
    program_.shared_bytes = total_;
    return absl::OkStatus();
  }

 private:
  // A free in the block of its allocation ends the life there; one in a nested block (which may run
  // again, or not at all) does not shorten it.
  absl::Status FindLifetimes() {
    int64_t now = 0;
    absl::Status status;
    std::vector<int> depth(program_.tensors.size(), 0);
    std::vector<size_t> index(program_.tensors.size(), 0);
    ir::WalkInstructions(program_, [&](const ir::Instruction& instruction,
                                       const ir::StmtPath& path) {
      ++now;
      if (!status.ok()) return;
      if (instruction.opcode == ir::Opcode::kAllocShared) {
        const size_t id = static_cast<size_t>(instruction.result);
        depth[id] = path.depth();
        index[id] = lifetimes_.size();
        status = Begin(instruction.result, now, path);
      } else if (instruction.opcode == ir::Opcode::kFreeShared) {
        const size_t id = static_cast<size_t>(ir::TensorOf(instruction.operands[0]));
        if (depth[id] == path.depth()) lifetimes_[index[id]].end = now;
      }
    });
    if (!status.ok()) return status;
    for (Lifetime& lifetime : lifetimes_) {
      if (lifetime.end == 0) lifetime.end = now + 1;
    }
    return absl::OkStatus();
  }

  absl::Status Begin(ir::TensorId id, int64_t now, const ir::StmtPath& path) {
    ir::Tensor& tensor = program_.tensors[static_cast<size_t>(id)];
    absl::StatusOr<SharedLayout> layout = LayoutOf(tensor);
    if (!layout.ok()) return PrefixPath(layout.status(), path.ToString(program_.name));
    tensor.shared_layout = *std::move(layout);
    // Whole words: elements that share a word are written by atomics on all of it.
    const int64_t bytes =
        RoundUp(PackedBytes(tensor.shared_layout->Size(), tensor.dtype.bits()), 4);
    lifetimes_.push_back({id, now, 0, bytes, 0});
    return absl::OkStatus();
  }

  // First fit among the tensors that are alive with it.
  absl::Status Place(size_t i) {
    Lifetime& lifetime = lifetimes_[i];
    // A swizzle works on address bits: the tensor starts at a multiple of its period.
    int64_t alignment = kSharedAlignment;
    const ir::Tensor& tensor = program_.tensors[static_cast<size_t>(lifetime.tensor)];
    if (const std::optional<Swizzle>& s = tensor.shared_layout->swizzle()) {
      const int64_t period = (int64_t{1} << (s->bits + s->base + s->shift)) * tensor.dtype.bits() / 8;
      alignment = std::max(alignment, std::min<int64_t>(period, 1024));
    }
    std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end) of addresses
    for (size_t j = 0; j < i; ++j) {
      const Lifetime& other = lifetimes_[j];
      if (other.end <= lifetime.begin || lifetime.end <= other.begin) continue;
      taken.push_back({other.address, other.address + other.bytes});
    }
    std::sort(taken.begin(), taken.end());
    int64_t address = 0;
    for (const auto& [begin, end] : taken) {
      if (address + lifetime.bytes <= begin) break;
      address = std::max(address, RoundUp(end, alignment));
    }
    lifetime.address = address;
    total_ = std::max(total_, address + lifetime.bytes);
    if (total_ >= kMaxLayoutElements) {
      return MakeError(DiagId::kTargetSharedMemory,
                       absl::StrCat("the program needs ", total_, " bytes of shared memory"),
                       "use smaller tiles or fewer stages", program_.name);
    }
    program_.tensors[static_cast<size_t>(lifetime.tensor)].shared_address = address;
    return absl::OkStatus();
  }

  ir::Program& program_;
  std::vector<Lifetime> lifetimes_;
  int64_t total_ = 0;
};

// ---- The workspace: sizes are expressions of the parameters.

absl::StatusOr<ir::ExprPtr> Op(ir::ExprOp op, ir::ExprPtr a, ir::ExprPtr b) {
  return ir::MakeOp(op, {std::move(a), std::move(b)});
}

// The bytes of a tensor, rounded up to the alignment of the next one.
absl::StatusOr<ir::ExprPtr> BytesOf(const ir::Tensor& tensor) {
  ir::ExprPtr bits = ir::IntLiteral(tensor.dtype.bits(), kI64);
  for (const ir::ExprPtr& extent : tensor.shape) {
    TILUS_ASSIGN_OR_RETURN(ir::ExprPtr wide, ir::MakeCast(kI64, extent));
    TILUS_ASSIGN_OR_RETURN(bits, Op(ir::ExprOp::kMul, std::move(bits), std::move(wide)));
  }
  TILUS_ASSIGN_OR_RETURN(ir::ExprPtr units,
                         Op(ir::ExprOp::kCeilDiv, std::move(bits),
                            ir::IntLiteral(8 * kWorkspaceAlignment, kI64)));
  return Op(ir::ExprOp::kMul, std::move(units), ir::IntLiteral(kWorkspaceAlignment, kI64));
}

absl::Status PlanWorkspace(ir::Program* program) {
  std::vector<ir::TensorId> clean, other;
  ir::WalkInstructions(*program, [&](const ir::Instruction& instruction, const ir::StmtPath&) {
    if (instruction.opcode != ir::Opcode::kAllocGlobal) return;
    const bool is_clean = program->tensors[static_cast<size_t>(instruction.result)].decl.clean;
    (is_clean ? clean : other).push_back(instruction.result);
  });
  program->workspace_bytes = program->clean_workspace_bytes = nullptr;
  if (clean.empty() && other.empty()) return absl::OkStatus();
  ir::ExprPtr end = ir::IntLiteral(0, kI64);
  const auto place = [program, &end](const std::vector<ir::TensorId>& ids) -> absl::Status {
    for (ir::TensorId id : ids) {
      ir::Tensor& tensor = program->tensors[static_cast<size_t>(id)];
      tensor.workspace_offset = end;
      TILUS_ASSIGN_OR_RETURN(ir::ExprPtr bytes, BytesOf(tensor));
      TILUS_ASSIGN_OR_RETURN(end, Op(ir::ExprOp::kAdd, end, std::move(bytes)));
    }
    return absl::OkStatus();
  };
  TILUS_RETURN_IF_ERROR(place(clean));
  if (!clean.empty()) program->clean_workspace_bytes = end;
  TILUS_RETURN_IF_ERROR(place(other));
  program->workspace_bytes = end;
  return absl::OkStatus();
}

}  // namespace

absl::Status PlanMemory(ir::Program* program, const ir::Limits&) {
  TILUS_RETURN_IF_ERROR(SharedPlan(program).Run());
  return PlanWorkspace(program);
}

}  // namespace tilus::passes
