// The barrier that every entry of the ABI stands behind, and the checks of its arguments.
//
//   tilus_error* tilus_thing_make(tilus_string name, tilus_thing** out) {
//     return Guard([&]() -> absl::Status {
//       TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
//       TILUS_ASSIGN_OR_RETURN(const absl::string_view text, TextOf(name, "name"));
//       TILUS_ASSIGN_OR_RETURN(Thing thing, MakeThing(text));
//       *out = new tilus_thing{std::move(thing)};
//       return absl::OkStatus();
//     });
//   }
//
// Outputs are written last, so that a failure leaves them alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "capi/error.h"
#include "capi/text.h"
#include "tilus.h"

namespace tilus::capi {

// The error for the exception in flight: the only use of exceptions in the library is to turn those
// of the standard library and of others into errors here.
tilus_error* ErrorOfException() noexcept;

// Runs `body`, a callable that returns absl::Status; nothing that it throws gets out.
template <typename Body>
tilus_error* Guard(Body&& body) noexcept {
  try {
    return ErrorOf(body());
  } catch (...) {
    return ErrorOfException();
  }
}

// The same for an input that diagnostics call `source`.
template <typename Body>
tilus_error* GuardSource(absl::string_view source, Body&& body) noexcept {
  try {
    return ErrorOf(body(), source);
  } catch (...) {
    return ErrorOfException();
  }
}

absl::Status NotNull(const void* pointer, absl::string_view name);
// INVALID_ARGUMENT: "argument `name`: problem".
absl::Status BadArgument(absl::string_view name, absl::string_view problem,
                         absl::string_view hint = {});
absl::Status OutOfRange(absl::string_view name, absl::string_view problem,
                        absl::string_view hint = {});

// The input as a view; it must not be NULL with a size.
absl::StatusOr<absl::string_view> BytesOf(tilus_buffer bytes, absl::string_view name);
// Likewise, and it must be valid UTF-8.
absl::StatusOr<absl::string_view> TextOf(tilus_string text, absl::string_view name);
// The name of an input for its diagnostics; empty when it is not text, which TextOf refuses.
absl::string_view SourceName(tilus_string name) noexcept;
// A list that the caller has counted: NULL only when `count` is 0, at most kMaxListCount long.
inline constexpr size_t kMaxListCount = 1 << 16;
absl::StatusOr<absl::Span<const int64_t>> ListOf(const int64_t* data, size_t count,
                                                 absl::string_view name);

// The blob that holds `bytes`.
inline void GiveBlob(std::string bytes, tilus_blob** out) {
  *out = new tilus_blob{std::move(bytes)};
}

// The size of `T` in version 0.1; specialised below its growth when a structure grows.
template <typename T>
inline constexpr size_t kFirstSize = sizeof(T);

// Writes `value` to a structure of the caller, who may know fewer of its fields; its struct_size
// stays.
template <typename T>
bool FillIfRoom(T* out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (out == nullptr || out->struct_size < kFirstSize<T>) return false;
  const size_t size = std::min(out->struct_size, sizeof(T));
  constexpr size_t kHead = sizeof(out->struct_size);
  std::memcpy(reinterpret_cast<char*>(out) + kHead, reinterpret_cast<const char*>(&value) + kHead,
              size - kHead);
  return true;
}

absl::Status BadStructSize(absl::string_view name, size_t given, size_t least);

// The check that FillIfRoom will succeed, to be made before any work.
template <typename T>
absl::Status HasRoom(const T* out, absl::string_view name) {
  TILUS_RETURN_IF_ERROR(NotNull(out, name));
  if (out->struct_size >= kFirstSize<T>) return absl::OkStatus();
  return BadStructSize(name, out->struct_size, kFirstSize<T>);
}

// A structure of the caller, who may know fewer of its fields (these are then 0) or more (these
// must then be 0).
template <typename T>
absl::StatusOr<T> ReadStruct(const T* in, absl::string_view name) {
  TILUS_RETURN_IF_ERROR(HasRoom(in, name));
  T value{};
  const char* bytes = reinterpret_cast<const char*>(in);
  std::memcpy(&value, bytes, std::min(in->struct_size, sizeof(T)));
  for (size_t i = sizeof(T); i < in->struct_size; ++i) {
    if (bytes[i] != 0) return BadArgument(name, "it has fields that this version does not know");
  }
  return value;
}

// A diagnostic as the ABI shows it; the texts are those of the arguments.
tilus_diagnostic DiagnosticView(const Diagnostic& diagnostic, const std::string& id,
                                const std::string& source);

}  // namespace tilus::capi
