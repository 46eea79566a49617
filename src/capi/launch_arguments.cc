// What a launch checks before anything runs.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "capi/executable.h"
#include "capi/guard.h"
#include "capi/type_code.h"
#include "interpret/scalar.h"
#include "types/codec.h"
#include "types/packing.h"

namespace tilus::capi {
namespace {

constexpr int64_t kDefaultAlignment = 16;

const char* KindName(tilus_argument_kind kind) {
  switch (kind) {
    case TILUS_ARGUMENT_INTEGER: return "an integer";
    case TILUS_ARGUMENT_NUMBER: return "a number";
    case TILUS_ARGUMENT_POINTER: return "a pointer";
    default: return "of no known kind";
  }
}

tilus_argument_kind KindOf(const ir::Var& parameter) {
  if (parameter.is_pointer) return TILUS_ARGUMENT_POINTER;
  return parameter.type.is_float() ? TILUS_ARGUMENT_NUMBER : TILUS_ARGUMENT_INTEGER;
}

// "argument 2, `m: i32` of matmul"
std::string Describe(const ir::Program& program, size_t index) {
  const ir::Var& parameter = program.vars[static_cast<size_t>(program.params[index])];
  return absl::StrCat("argument ", index, ", `", parameter.name, ": ",
                      parameter.is_pointer ? "*" : "", parameter.type.name(), "` of ",
                      program.name);
}

absl::Status ArgumentError(DiagId id, const ir::Program& program, size_t index,
                           absl::string_view problem, absl::string_view hint = {}) {
  return MakeError(id, absl::StrCat(Describe(program, index), ": ", problem), hint);
}

// Reads argument `index` of a list whose elements have the size that the first one states.
absl::StatusOr<tilus_argument> ReadArgument(const tilus_argument* args, size_t index) {
  const size_t stride = args->struct_size;
  const auto* bytes = reinterpret_cast<const char*>(args) + index * stride;
  TILUS_ASSIGN_OR_RETURN(
      const tilus_argument argument,
      ReadStruct(reinterpret_cast<const tilus_argument*>(bytes), "args"));
  if (argument.struct_size != stride) {
    return BadArgument("args", absl::StrCat("element ", index, " has struct_size ",
                                            argument.struct_size, ", the first ", stride));
  }
  return argument;
}

absl::StatusOr<uint64_t> IntegerCode(const ir::Program& program, size_t index, DataType type,
                                     int64_t value) {
  const int bits = type.is_bool() ? 1 : type.bits();
  const auto out_of = [&](absl::string_view range) {
    return ArgumentError(DiagId::kArgumentRange, program, index,
                         absl::StrCat(value, " is not ", range));
  };
  if (bits < 64 && type.kind() == TypeKind::kInt) {
    const int64_t least = -(int64_t{1} << (bits - 1));
    if (value < least || value > -least - 1) {
      return out_of(absl::StrCat("from ", least, " to ", -least - 1));
    }
  } else if (bits < 64 && (value < 0 || value >= int64_t{1} << bits)) {
    return out_of(absl::StrCat("from 0 to ", (int64_t{1} << bits) - 1));
  }
  return static_cast<uint64_t>(value) & CodeMask(type);
}

absl::StatusOr<interpret::Argument> ScalarArgument(const ir::Program& program, size_t index,
                                                   const ir::Var& parameter,
                                                   const tilus_argument& argument) {
  interpret::Argument result;
  if (argument.kind == TILUS_ARGUMENT_NUMBER) {
    result.value = EncodeFromDouble(parameter.type, argument.number);
    return result;
  }
  TILUS_ASSIGN_OR_RETURN(result.value,
                         IntegerCode(program, index, parameter.type, argument.integer));
  if (parameter.divisible > 1 && argument.integer % parameter.divisible != 0) {
    return ArgumentError(DiagId::kArgumentDivisor, program, index,
                         absl::StrCat(argument.integer, " is not a multiple of ",
                                      parameter.divisible, ", which the program asks for"));
  }
  return result;
}

absl::StatusOr<interpret::Argument> PointerArgument(const ir::Program& program, size_t index,
                                                    const ir::Var& parameter,
                                                    const tilus_argument& argument) {
  interpret::Argument result;
  result.value = reinterpret_cast<uint64_t>(argument.pointer);
  if (argument.size != 0) {
    result.bytes = static_cast<int64_t>(std::min<uint64_t>(argument.size, INT64_MAX));
  }
  const int64_t alignment = parameter.align == 0 ? kDefaultAlignment : parameter.align;
  if (result.value % static_cast<uint64_t>(alignment) != 0) {
    return ArgumentError(DiagId::kArgumentAlignment, program, index,
                         absl::StrCat("the address is not a multiple of ", alignment),
                         "align the memory, or give the parameter align(n) in the program");
  }
  return result;
}

absl::StatusOr<interpret::Argument> ConvertArgument(const ir::Program& program, size_t index,
                                                    const tilus_argument& argument) {
  const ir::Var& parameter = program.vars[static_cast<size_t>(program.params[index])];
  const tilus_argument_kind kind = KindOf(parameter);
  if (argument.kind != kind) {
    return ArgumentError(DiagId::kArgumentKind, program, index,
                         absl::StrCat("it is ", KindName(argument.kind), ", not ", KindName(kind)));
  }
  if (argument.type != TILUS_TYPE_NONE && argument.type != TypeCode(parameter.type)) {
    TILUS_ASSIGN_OR_RETURN(const DataType type, TypeOf(argument.type, "args"));
    return ArgumentError(DiagId::kArgumentType, program, index,
                         absl::StrCat("its type is ", type.name()));
  }
  return kind == TILUS_ARGUMENT_POINTER ? PointerArgument(program, index, parameter, argument)
                                        : ScalarArgument(program, index, parameter, argument);
}

// Bytes from the base of a view to the end of its last element; 0 when it has none, nullopt when
// they cannot be counted.
std::optional<int64_t> ViewBytes(const ir::Tensor& tensor, const interpret::Scalars& scalars) {
  std::vector<int64_t> extents;
  for (const ir::ExprPtr& extent : tensor.shape) extents.push_back(scalars.Int(*extent));
  int64_t last = 0;
  int64_t row_major = 1;
  for (size_t d = extents.size(); d-- > 0;) {
    if (extents[d] <= 0) return 0;
    const bool strided = !tensor.decl.strides.empty();
    const int64_t stride = strided ? scalars.Int(*tensor.decl.strides[d]) : row_major;
    const auto step = CheckedMul(extents[d] - 1, stride);
    const auto sum = step ? CheckedAdd(last, *step) : std::nullopt;
    const auto size = CheckedMul(row_major, extents[d]);
    if (!sum || !size) return std::nullopt;
    last = *sum;
    row_major = *size;
  }
  if (last < 0 || last >= INT64_MAX / 64) return std::nullopt;
  return PackedBytes(last + 1, tensor.dtype.bits());
}

absl::Status CheckMemory(const KernelState& kernel, const PreparedLaunch& launch) {
  const ir::Program& program = kernel.program();
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const ir::Var& parameter = program.vars[static_cast<size_t>(program.params[i])];
    if (parameter.is_pointer && launch.arguments[i].value == 0) {
      return ArgumentError(DiagId::kArgumentNull, program, i, "the pointer is NULL");
    }
  }
  interpret::Scalars scalars(program);
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    scalars.Set(program.params[i], launch.arguments[i].value);
  }
  for (const ParameterView& view : kernel.views()) {
    const int64_t given = launch.arguments[view.parameter].bytes;
    if (given < 0) continue;
    const ir::Tensor& tensor = program.tensors[static_cast<size_t>(view.tensor)];
    const std::optional<int64_t> needed = ViewBytes(tensor, scalars);
    if (needed && *needed <= given) continue;
    return ArgumentError(
        DiagId::kArgumentSize, program, view.parameter,
        absl::StrCat("it has ", given, " bytes, tensor ", tensor.name, " needs ",
                     needed ? absl::StrCat(*needed) : std::string("more than can be counted")));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PreparedLaunch> PrepareLaunch(const KernelState& kernel, const tilus_argument* args,
                                             size_t count) {
  const ir::Program& program = kernel.program();
  if (count != program.params.size()) {
    return MakeError(DiagId::kArgumentCount,
                     absl::StrCat(program.name, " has ", program.params.size(), " parameters, ",
                                  count, " arguments were given"));
  }
  if (count != 0) TILUS_RETURN_IF_ERROR(HasRoom(args, "args"));
  PreparedLaunch launch;
  launch.arguments.reserve(count + 1);
  for (size_t i = 0; i < count; ++i) {
    TILUS_ASSIGN_OR_RETURN(const tilus_argument argument, ReadArgument(args, i));
    TILUS_ASSIGN_OR_RETURN(const interpret::Argument value, ConvertArgument(program, i, argument));
    launch.arguments.push_back(value);
  }
  TILUS_ASSIGN_OR_RETURN(launch.grid, interpret::EvaluateGrid(program, launch.arguments));
  TILUS_ASSIGN_OR_RETURN(launch.workspace,
                         interpret::EvaluateWorkspace(program, launch.arguments));
  if (!launch.empty()) TILUS_RETURN_IF_ERROR(CheckMemory(kernel, launch));
  return launch;
}

}  // namespace tilus::capi
