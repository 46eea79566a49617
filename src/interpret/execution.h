// One thread block after the other through the statements of a program.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "interpret/interpret.h"
#include "interpret/machine_state.h"
#include "interpret/scalar.h"
#include "interpret/tile_access.h"
#include "ir/program.h"
#include "ir/walk.h"
#include "types/codec.h"

namespace tilus::interpret {

class Execution {
 public:
  Execution(const ir::Program& program, absl::Span<const Argument> arguments,
            const Options& options);

  absl::Status RunBlock(std::array<int64_t, 3> block);

 private:
  enum class Flow { kNext, kBreak, kContinue, kExit };
  // The statement that runs, for messages.
  struct Position {
    const ir::Stmt* statement = nullptr;
    const ir::StmtPath* path = nullptr;
  };

  // ---- control.cc
  absl::StatusOr<Flow> RunStatements(const ir::Block& block, const ir::StmtPath* parent,
                                     const char* owner, const char* name);
  absl::StatusOr<Flow> Run(const ir::Instruction& instruction);
  absl::StatusOr<Flow> Run(const ir::ForStmt& loop);
  absl::StatusOr<Flow> Run(const ir::IfStmt& branch);
  absl::StatusOr<Flow> Run(const ir::WhileStmt& loop);
  absl::StatusOr<Flow> Run(const ir::DefineStmt& define);
  absl::StatusOr<Flow> Run(const ir::AssignStmt& assign);
  absl::StatusOr<Flow> Run(const ir::BreakStmt&) { return Flow::kBreak; }
  absl::StatusOr<Flow> Run(const ir::ContinueStmt&) { return Flow::kContinue; }
  absl::Status CountStep();

  // ---- memory.cc
  absl::Status GlobalView(const ir::Instruction& instruction);
  absl::Status AllocGlobal(const ir::Instruction& instruction);
  absl::Status AllocShared(const ir::Instruction& instruction);
  absl::Status Load(const ir::Instruction& instruction);
  absl::Status Store(const ir::Instruction& instruction);
  absl::Status CopyAsync(const ir::Instruction& instruction);
  Tile TileOf(const ir::Operand& operand, const std::optional<std::vector<int>>& dims,
              size_t tile_rank);
  absl::Status OutOfBuffer(const ir::Instruction& instruction, ir::TensorId tensor,
                           absl::Span<const int32_t> index, int64_t bit_offset) const;

  // ---- compute.cc
  absl::Status Register(const ir::Instruction& instruction);
  absl::Status Elementwise(const ir::Instruction& instruction);
  absl::Status Cast(const ir::Instruction& instruction);
  absl::Status View(const ir::Instruction& instruction);
  absl::Status Dot(const ir::Instruction& instruction);
  absl::Status Print(const ir::Instruction& instruction);
  // The operand's code for each (thread, local) of the result.
  absl::StatusOr<std::vector<uint64_t>> Gather(const ir::Operand& operand, const ir::Tensor& result,
                                               DataType type);
  // A register tensor as row-major values.
  std::vector<double> Dense(ir::TensorId id);

  const ir::Tensor& tensor(ir::TensorId id) const {
    return program_.tensors[static_cast<size_t>(id)];
  }
  TensorValue& value(ir::TensorId id) { return values_[static_cast<size_t>(id)]; }
  const IndexTable& TableOf(ir::TensorId id);
  const Converter& ConverterOf(DataType from, DataType to);
  absl::Status Error(DiagId id, absl::string_view message, absl::string_view hint) const;

  const ir::Program& program_;
  const Options& options_;
  absl::Span<const Argument> arguments_;
  Scalars scalars_;
  std::array<int64_t, 3> block_{};
  std::vector<TensorValue> values_;
  std::vector<std::vector<uint8_t>> shared_storage_;  // by TensorId
  std::vector<std::unique_ptr<IndexTable>> tables_;  // by TensorId, made on first use
  std::vector<std::unique_ptr<Converter>> converters_;
  int64_t steps_ = 0;
  Position position_;
};

}  // namespace tilus::interpret
