#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "driver/module.h"

namespace tilus::driver {
namespace {

constexpr uint32_t kMaxGrid[3] = {2147483647u, 65535u, 65535u};
constexpr int kInvalidValue = 1;  // CUDA_ERROR_INVALID_VALUE

struct Shape {
  const std::array<uint32_t, 3>& grid;
  uint32_t threads;
  uint32_t shared_bytes;
};

// "kernel "f", grid 4 x 1 x 1, 128 threads a block, 0 bytes of dynamic shared memory"
std::string Describe(const Function& function, const Shape& shape) {
  return absl::StrCat("kernel \"", function.name(), "\", grid ", shape.grid[0], " x ",
                      shape.grid[1], " x ", shape.grid[2], ", ", shape.threads,
                      " threads a block, ", shape.shared_bytes, " bytes of dynamic shared memory");
}

absl::Status Refused(const Function& function, const Shape& shape, absl::string_view reason) {
  return MakeError(
      DiagId::kLaunchRefused,
      absl::StrCat("the launch is not valid, ", Describe(function, shape), ": ", reason),
      "the grid is at most 2147483647 x 65535 x 65535, a block 1 to 1024 threads");
}

absl::Status CheckShape(const Function& function, const Shape& shape) {
  if (shape.threads == 0) return Refused(function, shape, "a block needs a thread");
  for (size_t i = 0; i < shape.grid.size(); ++i) {
    if (shape.grid[i] > kMaxGrid[i]) {
      return Refused(function, shape, absl::StrCat("grid extent ", i, " is above ", kMaxGrid[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Launch(const Function& function, const std::array<uint32_t, 3>& grid,
                    uint32_t block_threads, uint32_t dynamic_shared_bytes, Stream stream,
                    void* const* arguments) {
  const Shape shape{grid, block_threads, dynamic_shared_bytes};
  TILUS_RETURN_IF_ERROR(CheckShape(function, shape));
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return absl::OkStatus();
  ScopedCurrent current(function.context());
  TILUS_RETURN_IF_ERROR(current.status());
  const CudaApi& api = current.api();
  if (api.cuLaunchKernel == nullptr) return MissingSymbol(api, "cuLaunchKernel");
  const int code =
      api.cuLaunchKernel(function.handle(), grid[0], grid[1], grid[2], block_threads, 1, 1,
                         dynamic_shared_bytes, stream, const_cast<void**>(arguments), nullptr);
  if (code == 0) return absl::OkStatus();
  if (code == kInvalidValue) {
    return Refused(function, shape, "cuLaunchKernel gave CUDA_ERROR_INVALID_VALUE");
  }
  return CudaError(api, code, "cuLaunchKernel", Describe(function, shape));
}

}  // namespace tilus::driver
