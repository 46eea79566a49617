#include "capi/guard.h"

#include <exception>

#include "absl/strings/str_cat.h"

namespace tilus::capi {
namespace {

absl::Status ArgumentError(absl::StatusCode code, absl::string_view name,
                           absl::string_view problem, absl::string_view hint) {
  const DiagId id =
      code == absl::StatusCode::kOutOfRange ? DiagId::kOutOfRange : DiagId::kInvalidArgument;
  return MakeError(id, absl::StrCat("argument `", name, "`: ", problem), hint);
}

absl::Status InternalError(absl::string_view what) {
  return MakeError(DiagId::kInternal, absl::StrCat("internal error: ", what),
                   "this is a fault of the library; please report it with the input");
}

}  // namespace

tilus_error* ErrorOfException() noexcept {
  try {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      return OutOfMemory();
    } catch (const std::length_error&) {  // a container asked for more than there can be
      return OutOfMemory();
    } catch (const std::exception& e) {
      return ErrorOf(InternalError(e.what()));
    } catch (...) {
      return ErrorOf(InternalError("an exception of unknown type"));
    }
  } catch (...) {  // making the message failed
    return OutOfMemory();
  }
}

absl::Status NotNull(const void* pointer, absl::string_view name) {
  if (pointer != nullptr) return absl::OkStatus();
  return MakeError(DiagId::kNullArgument, absl::StrCat("argument `", name, "` is NULL"));
}

absl::Status BadArgument(absl::string_view name, absl::string_view problem,
                         absl::string_view hint) {
  return ArgumentError(absl::StatusCode::kInvalidArgument, name, problem, hint);
}

absl::Status OutOfRange(absl::string_view name, absl::string_view problem,
                        absl::string_view hint) {
  return ArgumentError(absl::StatusCode::kOutOfRange, name, problem, hint);
}

absl::StatusOr<absl::string_view> BytesOf(tilus_buffer bytes, absl::string_view name) {
  if (bytes.size != 0) TILUS_RETURN_IF_ERROR(NotNull(bytes.data, name));
  return absl::string_view(static_cast<const char*>(bytes.data), bytes.size);
}

absl::StatusOr<absl::string_view> TextOf(tilus_string text, absl::string_view name) {
  if (text.size != 0) TILUS_RETURN_IF_ERROR(NotNull(text.data, name));
  const absl::string_view view(text.data, text.size);
  if (!IsValidUtf8(view)) return BadArgument(name, "the text is not valid UTF-8");
  return view;
}

absl::string_view SourceName(tilus_string name) noexcept {
  const absl::string_view view(name.data, name.data == nullptr ? 0 : name.size);
  return IsValidUtf8(view) ? view : absl::string_view();
}

absl::StatusOr<absl::Span<const int64_t>> ListOf(const int64_t* data, size_t count,
                                                 absl::string_view name) {
  if (count != 0) TILUS_RETURN_IF_ERROR(NotNull(data, name));
  if (count > kMaxListCount) {
    return BadArgument(name, absl::StrCat("a list of ", count, " integers is too long"));
  }
  return absl::Span<const int64_t>(data, count);
}

absl::Status BadStructSize(absl::string_view name, size_t given, size_t least) {
  return BadArgument(name, absl::StrCat("struct_size is ", given, ", less than ", least),
                     "set struct_size to the sizeof of the structure before the call");
}

tilus_diagnostic DiagnosticView(const Diagnostic& diagnostic, const std::string& id,
                                const std::string& source) {
  tilus_diagnostic view{};
  view.struct_size = sizeof(view);
  view.severity = static_cast<tilus_severity>(diagnostic.severity);
  view.line = static_cast<uint32_t>(std::max(diagnostic.span.line, 0));
  view.column = static_cast<uint32_t>(std::max(diagnostic.span.column, 0));
  view.length = static_cast<uint32_t>(std::max(diagnostic.span.length, 0));
  view.id = ToString(id);
  view.path = ToString(diagnostic.path);
  view.message = ToString(diagnostic.message);
  view.hint = ToString(diagnostic.hint);
  view.excerpt = ToString(diagnostic.excerpt);
  view.source = ToString(source);
  return view;
}

}  // namespace tilus::capi
