// Early return on error: TILUS_RETURN_IF_ERROR(expr); TILUS_ASSIGN_OR_RETURN(auto x, expr);
#pragma once

#include <utility>

#include "absl/status/status.h"

#define TILUS_RETURN_IF_ERROR(expr)                         \
  do {                                                      \
    if (absl::Status tilus_status_ = (expr); !tilus_status_.ok()) return tilus_status_; \
  } while (false)

#define TILUS_ASSIGN_OR_RETURN(lhs, expr) \
  TILUS_ASSIGN_OR_RETURN_IMPL_(TILUS_CONCAT_(tilus_result_, __LINE__), lhs, expr)
#define TILUS_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr) \
  auto result = (expr);                                 \
  if (!result.ok()) return std::move(result).status();  \
  lhs = *std::move(result)
#define TILUS_CONCAT_(a, b) TILUS_CONCAT_IMPL_(a, b)
#define TILUS_CONCAT_IMPL_(a, b) a##b
