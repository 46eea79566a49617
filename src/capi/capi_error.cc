#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "capi/error.h"
#include "capi/guard.h"
#include "capi/text.h"

namespace tilus::capi {
namespace {

constexpr char kCodeUrl[] = "tilus.code";
constexpr char kOutOfMemoryMessage[] = "memory could not be allocated";
constexpr char kOutOfMemoryReport[] = "error[T0002]: memory could not be allocated\n";

// Where the error of OutOfMemory() would be: an address, never read as an object.
alignas(tilus_error) unsigned char out_of_memory_place[sizeof(tilus_error)];

// Ids whose code is not the one that their absl code maps to.
struct CodeOverride {
  DiagId id;
  tilus_code code;
};
constexpr CodeOverride kOverrides[] = {
    {DiagId::kWireVersion, TILUS_INCOMPATIBLE},
    {DiagId::kWireUnknownField, TILUS_INCOMPATIBLE},
    {DiagId::kWireUnknownEnum, TILUS_INCOMPATIBLE},
    {DiagId::kModuleVersion, TILUS_INCOMPATIBLE},
    {DiagId::kNoImageForDevice, TILUS_INCOMPATIBLE},
};

// The code that a callback answered with, when the status is of StoppedByCallback.
std::optional<tilus_code> CallbackCode(const absl::Status& status) {
  const auto payload = status.GetPayload(kCodeUrl);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return std::nullopt;
  return static_cast<tilus_code>(code);
}

std::unique_ptr<tilus_error> BuildError(const absl::Status& status, absl::string_view source) {
  auto error = std::make_unique<tilus_error>();
  error->code = CodeOf(status);
  error->source = ValidUtf8(source);
  for (Diagnostic& d : DiagnosticsOf(status)) {
    for (std::string* text : {&d.path, &d.message, &d.hint, &d.excerpt}) *text = ValidUtf8(*text);
    absl::StrAppend(&error->report, FormatDiagnostic(d, error->source), "\n");
    std::string id = DiagIdText(d.id);
    error->entries.push_back({std::move(d), std::move(id)});
  }
  // The first entry is what the message and the code are of.
  const auto first = std::find_if(error->entries.begin(), error->entries.end(), [](const auto& e) {
    return e.diagnostic.severity == Severity::kError;
  });
  if (first != error->entries.end()) std::rotate(error->entries.begin(), first, first + 1);
  return error;
}

}  // namespace

tilus_error* OutOfMemory() noexcept { return reinterpret_cast<tilus_error*>(out_of_memory_place); }

tilus_code CodeOf(const absl::Status& status) {
  if (status.ok()) return TILUS_OK;
  if (const auto code = CallbackCode(status)) return *code;
  for (const Diagnostic& d : DiagnosticsOf(status)) {
    if (d.severity != Severity::kError) continue;
    for (const CodeOverride& row : kOverrides) {
      if (row.id == d.id) return row.code;
    }
    break;
  }
  return static_cast<tilus_code>(status.code());
}

tilus_error* ErrorOf(const absl::Status& status, absl::string_view source) noexcept {
  if (status.ok()) return nullptr;
  try {
    return BuildError(status, source).release();
  } catch (...) {
    return OutOfMemory();
  }
}

absl::Status StoppedByCallback(tilus_code code, absl::string_view callback) {
  absl::Status status =
      MakeError(DiagId::kStoppedByCallback,
                absl::StrCat("the ", callback, " callback answered ",
                             ToView(tilus_code_name(code)), " (", static_cast<int>(code), ")"));
  status.SetPayload(kCodeUrl, absl::Cord(absl::StrCat(static_cast<int>(code))));
  return status;
}

}  // namespace tilus::capi

using tilus::capi::OutOfMemory;
using tilus::capi::ToString;

tilus_code tilus_error_code(const tilus_error* error) {
  if (error == nullptr) return TILUS_OK;
  return error == OutOfMemory() ? TILUS_RESOURCE_EXHAUSTED : error->code;
}

const char* tilus_error_message(const tilus_error* error) {
  if (error == nullptr) return "";
  if (error == OutOfMemory()) return tilus::capi::kOutOfMemoryMessage;
  return error->entries.front().diagnostic.message.c_str();
}

tilus_string tilus_error_report(const tilus_error* error) {
  if (error == nullptr) return tilus_string_of("");
  if (error == OutOfMemory()) return tilus_string_of(tilus::capi::kOutOfMemoryReport);
  return ToString(error->report);
}

size_t tilus_error_diagnostic_count(const tilus_error* error) {
  if (error == nullptr) return 0;
  return error == OutOfMemory() ? 1 : error->entries.size();
}

void tilus_error_diagnostic(const tilus_error* error, size_t index, tilus_diagnostic* out) {
  if (index >= tilus_error_diagnostic_count(error)) return;
  tilus_diagnostic entry{};
  const tilus_string empty = tilus_string_of("");
  entry.path = entry.hint = entry.excerpt = entry.source = empty;
  if (error == OutOfMemory()) {
    entry.id = tilus_string_of("T0002");
    entry.message = tilus_string_of(tilus::capi::kOutOfMemoryMessage);
  } else {
    entry = tilus::capi::DiagnosticView(error->entries[index].diagnostic, error->entries[index].id,
                                        error->source);
  }
  tilus::capi::FillIfRoom(out, entry);
}

void tilus_error_destroy(tilus_error* error) {
  if (error != OutOfMemory()) delete error;
}

tilus_string tilus_code_name(tilus_code code) {
  static constexpr const char* kNames[] = {
      "OK",           "CANCELLED",           "UNKNOWN",           "INVALID_ARGUMENT",
      "DEADLINE_EXCEEDED", "NOT_FOUND",      "ALREADY_EXISTS",    "PERMISSION_DENIED",
      "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",     "OUT_OF_RANGE",
      "UNIMPLEMENTED", "INTERNAL",           "UNAVAILABLE",       "DATA_LOSS",
      "UNAUTHENTICATED", "INCOMPATIBLE",     "HOST_EXCEPTION"};
  static_assert(sizeof(kNames) / sizeof(kNames[0]) == TILUS_HOST_EXCEPTION + 1);
  const auto index = static_cast<uint32_t>(code);
  return tilus_string_of(index <= TILUS_HOST_EXCEPTION ? kNames[index] : "UNKNOWN");
}
