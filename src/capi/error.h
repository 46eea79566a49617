// The error object of the C ABI, made from an absl::Status and its diagnostics.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/diagnostic.h"
#include "tilus.h"

// Everything an accessor gives out is made when the error is, so that accessors only read.
struct tilus_error {
  struct Entry {
    tilus::Diagnostic diagnostic;
    std::string id;  // "T0230"
  };
  tilus_code code = TILUS_UNKNOWN;
  std::vector<Entry> entries;  // at least one
  std::string source;          // what diagnostics call the input, or empty
  std::string report;
};

namespace tilus::capi {

// NULL for OK, else an error that the caller of the ABI owns; that of OutOfMemory() when memory
// runs out. Texts are made valid UTF-8. `source` names the file or text at fault.
tilus_error* ErrorOf(const absl::Status& status, absl::string_view source = {}) noexcept;

// The one error that needs no memory; destroying it does nothing.
tilus_error* OutOfMemory() noexcept;

// The failure of an operation that a callback stopped with `code` (not TILUS_OK). The code is what
// the error will have, whatever it is. `callback` says which: "print".
absl::Status StoppedByCallback(tilus_code code, absl::string_view callback);

// The code that the ABI gives a status.
tilus_code CodeOf(const absl::Status& status);

}  // namespace tilus::capi
