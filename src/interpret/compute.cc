#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "interpret/execution.h"
#include "ir/local_map.h"
#include "ir/text.h"
#include "types/arithmetic.h"
#include "types/codec.h"
#include "types/packing.h"

namespace tilus::interpret {
namespace {

int64_t RowMajor(const std::vector<int64_t>& extents, absl::Span<const int32_t> index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at = at * extents[d] + index[d];
  return at;
}

std::string FormatValue(DataType type, uint64_t code) {
  if (type.is_float()) return absl::StrFormat("%g", DecodeToDouble(type, code));
  if (type.kind() == TypeKind::kInt) return absl::StrCat(DecodeToInt64(type, code));
  return absl::StrCat(code);
}

}  // namespace

absl::Status Execution::Register(const ir::Instruction& instruction) {
  const IndexTable& table = TableOf(instruction.result);
  const DataType type = tensor(instruction.result).dtype;
  std::vector<uint64_t> codes(static_cast<size_t>(table.threads * table.locals), 0);
  if (!instruction.operands.empty()) {
    const ir::Expr& init = *ir::ScalarOf(instruction.operands[0]);
    const Converter convert(init.type, type);
    for (size_t slot = 0; slot < codes.size(); ++slot) {
      codes[slot] = convert(scalars_.Code(init, table.At(static_cast<int64_t>(slot))));
    }
  }
  value(instruction.result).codes = std::move(codes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<uint64_t>> Execution::Gather(const ir::Operand& operand,
                                                        const ir::Tensor& result, DataType type) {
  const int64_t threads = result.layout->num_threads();
  const int64_t locals = result.layout->locals_per_thread();
  if (const ir::ExprPtr& scalar = ir::ScalarOf(operand)) {
    return std::vector<uint64_t>(static_cast<size_t>(threads * locals),
                                 ConvertCode(scalar->type, type, scalars_.Code(*scalar)));
  }
  const ir::TensorId id = ir::TensorOf(operand);
  const RegisterLayout& layout = *tensor(id).layout;
  const std::vector<uint64_t>& codes = value(id).codes;
  if (layout == *result.layout) return codes;
  const std::optional<std::vector<int>> map = ir::LocalMap(*result.layout, layout);
  if (!map) {
    return Error(DiagId::kInternal, absl::StrCat("tensor ", tensor(id).name,
                                                 " has no element for each of the result's"),
                 "");
  }
  std::vector<uint64_t> gathered(static_cast<size_t>(threads * locals));
  const int64_t source_locals = layout.locals_per_thread();
  for (int64_t t = 0; t < threads; ++t) {
    for (int64_t i = 0; i < locals; ++i) {
      gathered[static_cast<size_t>(t * locals + i)] =
          codes[static_cast<size_t>(t * source_locals + (*map)[static_cast<size_t>(i)])];
    }
  }
  return gathered;
}

absl::Status Execution::Elementwise(const ir::Instruction& instruction) {
  const ir::Tensor& result = tensor(instruction.result);
  // The operands' type: that of the first register tensor that is not a condition.
  const bool is_where = instruction.opcode == ir::Opcode::kWhere;
  DataType type = result.dtype;
  if (!is_where) {
    for (const ir::Operand& operand : instruction.operands) {
      if (ir::TensorOf(operand) != ir::kNoTensor) {
        type = tensor(ir::TensorOf(operand)).dtype;
        break;
      }
    }
  }
  std::vector<std::vector<uint64_t>> args;
  for (size_t k = 0; k < instruction.operands.size(); ++k) {
    const DataType arg_type = is_where && k == 0 ? kBool : type;
    TILUS_ASSIGN_OR_RETURN(std::vector<uint64_t> arg,
                           Gather(instruction.operands[k], result, arg_type));
    args.push_back(std::move(arg));
  }
  std::vector<uint64_t> codes(args[0].size());
  if (is_where) {
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = args[0][i] != 0 ? args[1][i] : args[2][i];
  } else {
    const ScalarOp op = *ir::ScalarOpOf(instruction.opcode);
    if (args.size() == 1) {
      const UnaryFunction f = FindUnary(op, type);
      for (size_t i = 0; i < codes.size(); ++i) codes[i] = f(type, args[0][i]);
    } else if (args.size() == 2) {
      const BinaryFunction f = FindBinary(op, type);
      for (size_t i = 0; i < codes.size(); ++i) codes[i] = f(type, args[0][i], args[1][i]);
    } else {
      const TernaryFunction f = FindTernary(op, type);
      for (size_t i = 0; i < codes.size(); ++i) {
        codes[i] = f(type, args[0][i], args[1][i], args[2][i]);
      }
    }
  }
  value(instruction.result).codes = std::move(codes);
  return absl::OkStatus();
}

absl::Status Execution::Cast(const ir::Instruction& instruction) {
  const ir::Tensor& result = tensor(instruction.result);
  const DataType from = tensor(ir::TensorOf(instruction.operands[0])).dtype;
  TILUS_ASSIGN_OR_RETURN(std::vector<uint64_t> codes,
                         Gather(instruction.operands[0], result, from));
  ConverterOf(from, result.dtype).Convert(codes, absl::MakeSpan(codes));
  value(instruction.result).codes = std::move(codes);
  return absl::OkStatus();
}

const Converter& Execution::ConverterOf(DataType from, DataType to) {
  for (const std::unique_ptr<Converter>& known : converters_) {
    if (known->from() == from && known->to() == to) return *known;
  }
  converters_.push_back(std::make_unique<Converter>(from, to));
  return *converters_.back();
}

// Each thread's bits, in the order of its locals, read again at the other width.
absl::Status Execution::View(const ir::Instruction& instruction) {
  const ir::TensorId source_id = ir::TensorOf(instruction.operands[0]);
  const ir::Tensor& source = tensor(source_id);
  const ir::Tensor& result = tensor(instruction.result);
  const int64_t threads = source.layout->num_threads();
  const size_t from = static_cast<size_t>(source.layout->locals_per_thread());
  const size_t to = static_cast<size_t>(result.layout->locals_per_thread());
  const std::vector<uint64_t>& codes = value(source_id).codes;
  std::vector<uint64_t> viewed(static_cast<size_t>(threads) * to);
  std::vector<uint8_t> bytes(
      static_cast<size_t>(PackedBytes(static_cast<int64_t>(from), source.dtype.bits())));
  for (size_t t = 0; t < static_cast<size_t>(threads); ++t) {
    PackBits(absl::MakeConstSpan(&codes[t * from], from), source.dtype.bits(),
             absl::MakeSpan(bytes));
    for (size_t i = 0; i < to; ++i) {
      viewed[t * to + i] =
          ReadBits(bytes.data(),
                   instruction.bits.value_or(0) + static_cast<int64_t>(i) * result.dtype.bits(),
                   result.dtype.bits());
    }
  }
  value(instruction.result).codes = std::move(viewed);
  return absl::OkStatus();
}

std::vector<double> Execution::Dense(ir::TensorId id) {
  const IndexTable& table = TableOf(id);
  const ir::Tensor& t = tensor(id);
  std::vector<double> dense(static_cast<size_t>(Product(t.extents)));
  const std::vector<uint64_t>& codes = value(id).codes;
  for (size_t slot = 0; slot < codes.size(); ++slot) {
    const int64_t at = RowMajor(t.extents, table.At(static_cast<int64_t>(slot)));
    dense[static_cast<size_t>(at)] = DecodeToDouble(t.dtype, codes[slot]);
  }
  return dense;
}

// Floats accumulate in f64 and round once; integers are exact modulo the accumulator's width.
absl::Status Execution::Dot(const ir::Instruction& instruction) {
  const ir::TensorId a_id = ir::TensorOf(instruction.operands[0]);
  const ir::TensorId b_id = ir::TensorOf(instruction.operands[1]);
  const ir::TensorId c_id = ir::TensorOf(instruction.operands[2]);
  const size_t m = static_cast<size_t>(tensor(a_id).extents[0]);
  const size_t k = static_cast<size_t>(tensor(a_id).extents[1]);
  const size_t n = static_cast<size_t>(tensor(b_id).extents[1]);
  const std::vector<double> a = Dense(a_id), b = Dense(b_id);
  std::vector<double> c = Dense(c_id);
  for (size_t i = 0; i < m; ++i) {
    double* row = &c[i * n];
    for (size_t j = 0; j < k; ++j) {
      const double scale = a[i * k + j];
      const double* operand = &b[j * n];
      for (size_t l = 0; l < n; ++l) row[l] += scale * operand[l];
    }
  }
  const ir::Tensor& result = tensor(instruction.result);
  const IndexTable& table = TableOf(instruction.result);
  std::vector<uint64_t> codes(static_cast<size_t>(table.threads * table.locals));
  for (size_t slot = 0; slot < codes.size(); ++slot) {
    const absl::Span<const int32_t> index = table.At(static_cast<int64_t>(slot));
    const double sum = c[static_cast<size_t>(index[0]) * n + static_cast<size_t>(index[1])];
    codes[slot] = result.dtype.is_float()
                      ? EncodeFromDouble(result.dtype, sum)
                      : EncodeFromInt64(result.dtype, static_cast<int64_t>(sum));
  }
  value(instruction.result).codes = std::move(codes);
  return absl::OkStatus();
}

// "name: type[shape]", then a line a row of the last dimension; "name: type = value" for a scalar.
absl::Status Execution::Print(const ir::Instruction& instruction) {
  if (!options_.print) return absl::OkStatus();
  if (const ir::ExprPtr& scalar = ir::ScalarOf(instruction.operands[0])) {
    const std::string name =
        instruction.label.empty() ? ir::PrintExpr(program_, *scalar) : instruction.label;
    options_.print(absl::StrCat(name, ": ", scalar->type.name(), " = ",
                                FormatValue(scalar->type, scalars_.Code(*scalar))));
    return absl::OkStatus();
  }
  const ir::TensorId id = ir::TensorOf(instruction.operands[0]);
  const ir::Tensor& t = tensor(id);
  const IndexTable& table = TableOf(id);
  std::vector<uint64_t> dense(static_cast<size_t>(Product(t.extents)), 0);
  for (size_t slot = 0; slot < value(id).codes.size(); ++slot) {
    const int64_t at = RowMajor(t.extents, table.At(static_cast<int64_t>(slot)));
    dense[static_cast<size_t>(at)] = value(id).codes[slot];
  }
  options_.print(absl::StrCat(instruction.label.empty() ? t.name : instruction.label, ": ",
                              t.dtype.name(), "[", absl::StrJoin(t.extents, ", "), "]"));
  const size_t row = t.extents.empty() ? 1 : static_cast<size_t>(t.extents.back());
  for (size_t begin = 0; begin < dense.size(); begin += row) {
    std::string line;
    for (size_t i = begin; i < begin + row; ++i) {
      absl::StrAppend(&line, i > begin ? " " : "", FormatValue(t.dtype, dense[i]));
    }
    options_.print(line);
  }
  return absl::OkStatus();
}

}  // namespace tilus::interpret
