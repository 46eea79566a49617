// Layout inference.
//
// Layouts flow along instructions that keep an element in its thread (elementwise, cast, in-place
// results, view) until nothing changes; then the next instruction that can choose one does, and its
// choice flows on. Chosen in this order: dots (mma fragments), views (the bytes a thread holds),
// then whatever is left in program order (the coalesced default). Each tensor is set once, and each
// time only the instructions that touch it are looked at again: the cost is linear.
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "ir/walk.h"
#include "layout/auto_layout.h"
#include "layout/compose.h"
#include "layout/reduce.h"
#include "passes/dot_layouts.h"
#include "passes/passes.h"

namespace tilus::passes {
namespace {

class Inference {
 public:
  explicit Inference(ir::Program* program)
      : program_(*program), users_(program->tensors.size()) {
    ir::WalkInstructions(program_, [this](const ir::Instruction& instruction, const ir::StmtPath&) {
      instructions_.push_back(&instruction);
      ForEachRegisterTensor(instruction, [this, &instruction](ir::TensorId id) {
        users_[static_cast<size_t>(id)].push_back(&instruction);
      });
    });
  }

  absl::Status Run() {
    for (ir::TensorId id = 0; id < static_cast<ir::TensorId>(program_.tensors.size()); ++id) {
      if (IsRegister(id) && At(id).layout) pending_.push_back(id);
    }
    Propagate();
    for (const ir::Instruction* instruction : instructions_) {
      if (instruction->opcode == ir::Opcode::kDot) ChooseForDot(*instruction);
    }
    for (const ir::Instruction* instruction : instructions_) {
      if (instruction->opcode == ir::Opcode::kView) ChooseForView(*instruction);
    }
    for (const ir::Instruction* instruction : instructions_) {
      absl::Status status;
      ForEachRegisterTensor(*instruction, [this, &status](ir::TensorId id) {
        if (status.ok() && !At(id).layout) status = ChooseDefault(id);
      });
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  ir::Tensor& At(ir::TensorId id) { return program_.tensors[static_cast<size_t>(id)]; }
  bool IsRegister(ir::TensorId id) { return At(id).scope == ir::Scope::kRegister; }

  template <typename Visit>
  void ForEachRegisterTensor(const ir::Instruction& instruction, Visit visit) {
    for (const ir::Operand& operand : instruction.operands) {
      const ir::TensorId id = ir::TensorOf(operand);
      if (id != ir::kNoTensor && IsRegister(id)) visit(id);
    }
    if (instruction.result != ir::kNoTensor && IsRegister(instruction.result)) {
      visit(instruction.result);
    }
  }

  // Sets a layout that is not set yet, when it fits the tensor and the block.
  void Set(ir::TensorId id, const RegisterLayout& layout) {
    ir::Tensor& tensor = At(id);
    if (tensor.layout || !Fits(tensor, layout)) return;
    tensor.layout = layout;
    tensor.decl.layout = ir::LayoutSpec{"", LayoutExpression{{}, layout.Canonical()}, layout};
    if (absl::StatusOr<LayoutExpression> spelled = ParseLayoutExpression(layout.ToString());
        spelled.ok()) {
      tensor.decl.layout->expression = *std::move(spelled);
    }
    pending_.push_back(id);
  }

  bool Fits(const ir::Tensor& tensor, const RegisterLayout& layout) const {
    return layout.num_threads() == program_.num_threads() &&
           layout.shape() == absl::MakeConstSpan(tensor.extents);
  }

  void Propagate() {
    while (!pending_.empty()) {
      const ir::TensorId id = pending_.back();
      pending_.pop_back();
      for (const ir::Instruction* instruction : users_[static_cast<size_t>(id)]) {
        Flow(*instruction, id);
      }
    }
  }

  // `from` has just got its layout: what follows for the other tensors of the instruction?
  void Flow(const ir::Instruction& instruction, ir::TensorId from) {
    const ir::InstructionInfo& info = ir::InfoOf(instruction.opcode);
    const bool keeps_thread = (info.traits & ir::kElementwise) != 0 ||
                              instruction.opcode == ir::Opcode::kCast;
    if (keeps_thread) {
      const RegisterLayout layout = *At(from).layout;
      ForEachRegisterTensor(instruction, [&](ir::TensorId id) { FlowElement(layout, from, id); });
    } else if (instruction.opcode == ir::Opcode::kView) {
      FlowView(instruction, from);
    } else if (instruction.opcode == ir::Opcode::kDot) {
      FlowDot(instruction, from);
    }
  }

  // Equal shapes share a layout; an operand with extents of 1 gets the reduced one.
  void FlowElement(const RegisterLayout& layout, ir::TensorId from, ir::TensorId to) {
    if (At(to).layout || !At(to).resolved) return;
    const std::vector<int64_t>& wide = At(from).extents;
    const std::vector<int64_t>& extents = At(to).extents;
    if (extents == wide) return Set(to, layout);
    if (extents.size() != wide.size()) return;
    std::vector<int64_t> reduced;
    for (size_t d = 0; d < extents.size(); ++d) {
      if (extents[d] == wide[d]) continue;
      if (extents[d] != 1) return;
      reduced.push_back(static_cast<int64_t>(d));
    }
    if (absl::StatusOr<RegisterLayout> r = Reduce(layout, reduced); r.ok()) Set(to, *r);
  }

  // Between equal shapes and widths a view keeps the layout.
  void FlowView(const ir::Instruction& instruction, ir::TensorId from) {
    const ir::TensorId source = ir::TensorOf(instruction.operands[0]);
    if (instruction.bits || At(source).dtype.bits() != At(instruction.result).dtype.bits()) return;
    FlowElement(*At(from).layout, from, from == source ? instruction.result : source);
  }

  // The result of a dot has the accumulator's layout.
  void FlowDot(const ir::Instruction& instruction, ir::TensorId from) {
    const ir::TensorId c = ir::TensorOf(instruction.operands[2]);
    if (from == c) FlowElement(*At(from).layout, from, instruction.result);
    if (from == instruction.result) FlowElement(*At(from).layout, from, c);
  }

  void ChooseForDot(const ir::Instruction& instruction) {
    const ir::TensorId a = ir::TensorOf(instruction.operands[0]);
    const ir::TensorId b = ir::TensorOf(instruction.operands[1]);
    const ir::TensorId c = ir::TensorOf(instruction.operands[2]);
    if (At(a).layout && At(b).layout && At(c).layout) return;
    if (At(a).extents.size() != 2 || At(b).extents.size() != 2) return;
    const std::optional<DotLayouts> layouts =
        DefaultDotLayouts(At(a).extents[0], At(b).extents[1], At(a).extents[1], At(a).dtype,
                          program_.warps);
    if (!layouts) return;
    Set(a, layouts->a);
    Set(b, layouts->b);
    Set(c, layouts->c);
    Propagate();
  }

  // The bytes of each thread, as the weight transform writes them: local(n2).spatial(T).local(n1).
  void ChooseForView(const ir::Instruction& instruction) {
    const ir::TensorId source = ir::TensorOf(instruction.operands[0]);
    ChooseBytes(source, instruction.result);
    ChooseBytes(instruction.result, source);
    Propagate();
  }

  // Gives `bytes`, when it is a vector of whole bytes without a layout, the one that makes a view
  // of `other` legal.
  void ChooseBytes(ir::TensorId bytes, ir::TensorId other) {
    constexpr int64_t kVectorBits = 128;
    const ir::Tensor& target = At(bytes);
    if (target.layout || !At(other).layout || target.extents.size() != 1) return;
    const int64_t width = target.dtype.bits();
    const int64_t bits = At(other).layout->locals_per_thread() * At(other).dtype.bits();
    if (width % 8 != 0 || bits % width != 0) return;
    const int64_t count = bits / width;
    const int64_t inner = std::gcd(count, kVectorBits / width);
    const auto outer = RegisterLayout::Local({count / inner});
    const auto threads = RegisterLayout::Spatial({program_.num_threads()});
    const auto vector = RegisterLayout::Local({inner});
    if (!outer.ok() || !threads.ok() || !vector.ok()) return;
    absl::StatusOr<RegisterLayout> layout = Compose(*outer, *threads);
    if (layout.ok()) layout = Compose(*layout, *vector);
    if (layout.ok()) Set(bytes, *layout);
  }

  absl::Status ChooseDefault(ir::TensorId id) {
    absl::StatusOr<RegisterLayout> layout = AutoLayout(At(id).extents, program_.num_threads());
    if (!layout.ok()) return PrefixPath(layout.status(), program_.name);
    Set(id, *layout);
    Propagate();
    if (At(id).layout) return absl::OkStatus();
    return MakeError(DiagId::kInternal,
                     absl::StrCat("no layout was found for tensor ", At(id).name), "",
                     program_.name);
  }

  ir::Program& program_;
  std::vector<std::vector<const ir::Instruction*>> users_;  // by TensorId
  std::vector<const ir::Instruction*> instructions_;
  std::vector<ir::TensorId> pending_;
};

}  // namespace

absl::Status InferLayouts(ir::Program* program, const ir::Limits&) {
  return Inference(program).Run();
}

}  // namespace tilus::passes
