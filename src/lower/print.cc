// print: name, type and shape, then rows of values, the text that the interpreter prints.
//
// One thread prints a scalar. A tensor's elements are printed in row-major order by the threads
// that hold them, in a loop with a barrier between elements, so that the pieces arrive in order.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/checked.h"
#include "ir/text.h"
#include "lower/arithmetic.h"
#include "lower/context.h"
#include "lower/elements.h"
#include "lower/families.h"

namespace tilus::lower {
namespace {

using machine::Builder;
using machine::Compare;
using machine::ImmU32;
using machine::RegClass;

// A name as part of a format.
std::string Escaped(absl::string_view text) {
  std::string escaped;
  for (char c : text) {
    escaped += c;
    if (c == '%') escaped += c;
  }
  return escaped;
}

struct Printable {
  const char* format;
  Operand value;  // 64 bits
};

Printable MakePrintable(Builder& b, const ArithmeticOptions& options, DataType type,
                        Operand value) {
  if (type.is_float()) return {"%g", EmitConvert(b, options, type, kF64, value)};
  if (type.is_signed()) return {"%lld", EmitConvert(b, options, type, kI64, value)};
  return {"%llu", EmitConvert(b, options, type, kU64, value)};
}

void PrintValue(Builder& b, absl::string_view before, const Printable& printable,
                absl::string_view after) {
  const Reg value = b.Materialize(RegClass::kB64, printable.value);
  b.Printf(absl::StrCat(before, printable.format, after), {value});
}

void BeginThread(Context& ctx, Operand thread) {
  Builder& b = ctx.b();
  const Operand is_it = b.SetpU32(Compare::kEq, ctx.ThreadIndex(), thread);
  b.BeginIf(machine::When(b.Materialize(RegClass::kPred, is_it)));
}

// The thread and local that hold the element at a run-time coordinate: of several threads the last.
struct Holder {
  Operand thread = ImmU32(0), local = ImmU32(0);
};

Holder HolderOf(Builder& b, const RegisterLayout& layout, absl::Span<const Operand> coordinate) {
  Holder holder;
  const auto sum = [&](absl::Span<const Digit> digits, Operand* place) {
    for (const Digit& digit : digits) {
      Operand value = ImmU32(static_cast<uint32_t>(digit.extent - 1));
      if (!digit.replicated()) {
        value = b.DivU32(coordinate[static_cast<size_t>(digit.dim)],
                         ImmU32(static_cast<uint32_t>(digit.stride)));
        value = b.RemU32(value, ImmU32(static_cast<uint32_t>(digit.extent)));
      }
      *place = b.AddS32(*place, b.MulLoS32(value, ImmU32(static_cast<uint32_t>(digit.divisor))));
    }
  };
  sum(layout.thread_digits(), &holder.thread);
  sum(layout.local_digits(), &holder.local);
  return holder;
}

// The code of the element at a run-time local.
Operand SelectElement(Builder& b, const ElementReader& reader, DataType type, int64_t count,
                      Operand local) {
  Operand code = reader.Code(0);
  for (int64_t i = 1; i < count; ++i) {
    const Operand is_it = b.SetpU32(Compare::kEq, local, ImmU32(static_cast<uint32_t>(i)));
    const Reg chosen = b.Materialize(RegClass::kPred, is_it);
    code = type.bits() > 32 ? b.SelpB64(reader.Code(i), code, chosen)
                            : b.SelpB32(reader.Code(i), code, chosen);
  }
  return code;
}

void PrintTensor(Context& ctx, const ir::Instruction& instruction) {
  Builder& b = ctx.b();
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  const ir::TensorId id = ir::TensorOf(instruction.operands[0]);
  const ir::Tensor& tensor = ctx.tensor(id);
  const RegisterLayout& layout = *tensor.layout;
  b.SyncThreads();
  BeginThread(ctx, ImmU32(0));
  b.Printf(absl::StrCat(Escaped(instruction.label.empty() ? tensor.name : instruction.label), ": ",
                        tensor.dtype.name(), "[", absl::StrJoin(tensor.extents, ", "), "]\n"),
           {});
  b.EndIf();
  b.SyncThreads();

  const int64_t count = Product(tensor.extents);
  const Reg element = b.BeginFor(ImmU32(0), ImmU32(static_cast<uint32_t>(count)), 1);
  std::vector<Operand> coordinate(tensor.extents.size());
  Operand rest = element;
  for (size_t d = coordinate.size(); d-- > 0;) {
    const Operand extent = ImmU32(static_cast<uint32_t>(tensor.extents[d]));
    coordinate[d] = b.RemU32(rest, extent);
    rest = b.DivU32(rest, extent);
  }
  const Holder holder = HolderOf(b, layout, coordinate);
  BeginThread(ctx, holder.thread);
  const ElementReader reader(b, ctx.Words(id), tensor.dtype);
  const Operand code =
      SelectElement(b, reader, tensor.dtype, layout.locals_per_thread(), holder.local);
  const Printable printable =
      MakePrintable(b, options, tensor.dtype, CodeToCompute(b, options, tensor.dtype, code));
  if (tensor.extents.empty()) {
    PrintValue(b, "", printable, "\n");
  } else {
    const Operand is_last = b.SetpU32(Compare::kEq, coordinate.back(),
                                      ImmU32(static_cast<uint32_t>(tensor.extents.back() - 1)));
    b.BeginIf(machine::When(b.Materialize(RegClass::kPred, is_last)));
    PrintValue(b, "", printable, "\n");
    b.BeginElse();
    PrintValue(b, "", printable, " ");
    b.EndIf();
  }
  b.EndIf();
  b.SyncThreads();
  b.EndFor();
}

void PrintScalar(Context& ctx, const ir::Instruction& instruction, const ir::Expr& scalar) {
  Builder& b = ctx.b();
  const ArithmeticOptions options{ctx.options().sm, ctx.program().fast};
  const std::string name =
      instruction.label.empty() ? ir::PrintExpr(ctx.program(), scalar) : instruction.label;
  BeginThread(ctx, ImmU32(0));
  const Printable printable = MakePrintable(b, options, scalar.type, ctx.Scalar(scalar));
  PrintValue(b, absl::StrCat(Escaped(name), ": ", scalar.type.name(), " = "), printable, "\n");
  b.EndIf();
}

}  // namespace

absl::Status LowerPrint(Context& ctx, const ir::Instruction& instruction) {
  if (const ir::ExprPtr& scalar = ir::ScalarOf(instruction.operands[0])) {
    PrintScalar(ctx, instruction, *scalar);
  } else {
    PrintTensor(ctx, instruction);
  }
  return absl::OkStatus();
}

}  // namespace tilus::lower
