// A value, or one sentence that says what is wrong. The example stands on the standard library
// and tilus.h alone, so it brings its own.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace quickstart {

struct Error {
  std::string message;  // one sentence, no trailing period
};

template <class T>
class [[nodiscard]] Result {
 public:
  // Both implicit, so that functions return either.
  Result(T value) : value_(std::move(value)) {}
  Result(Error error) : error_(std::move(error.message)) {}

  bool ok() const { return value_.has_value(); }
  // Only when !ok().
  const std::string& message() const { return error_; }
  Error error() const { return {error_}; }
  // Only when ok().
  const T& operator*() const& { return *value_; }
  T& operator*() & { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  const T* operator->() const { return &*value_; }
  T* operator->() { return &*value_; }

 private:
  std::optional<T> value_;
  std::string error_;
};

// Success, or an error: of functions that give nothing back.
struct Done {};
using Status = Result<Done>;

}  // namespace quickstart
