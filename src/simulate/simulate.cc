#include "simulate/simulate.h"

#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/diagnostic.h"
#include "simulate/code.h"
#include "simulate/thread_block.h"

namespace tilus::simulate {
namespace {

absl::Status CheckArguments(const machine::Kernel& kernel, std::array<int64_t, 3> grid,
                            absl::Span<const Argument> arguments) {
  if (arguments.size() != kernel.params.size()) {
    return MakeError(DiagId::kInvalidArgument,
                     absl::StrCat("kernel ", kernel.name, " takes ", kernel.params.size(),
                                  " arguments and was given ", arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (kernel.params[i].size > sizeof(Argument::value)) {
      return MakeError(DiagId::kInvalidArgument,
                       absl::StrCat("parameter ", kernel.params[i].name, " has ",
                                    kernel.params[i].size, " bytes and the simulator takes 8"));
    }
  }
  for (const int64_t extent : grid) {
    if (extent < 0) {
      return MakeError(DiagId::kGrid, absl::StrCat("a grid of ", grid[0], " x ", grid[1], " x ",
                                                   grid[2], " blocks has a negative extent"));
    }
  }
  if (!CheckedProduct(grid)) {
    return MakeError(DiagId::kGrid, absl::StrCat("a grid of ", grid[0], " x ", grid[1], " x ",
                                                 grid[2], " blocks is too large"));
  }
  return absl::OkStatus();
}

// The n-th of `count` blocks: in order, or by a step that is coprime to the count.
int64_t BlockAt(int64_t n, int64_t count, int64_t first, int64_t step) {
  return static_cast<int64_t>((static_cast<__int128>(n) * step + first) %
                              static_cast<__int128>(count));
}

}  // namespace

absl::StatusOr<Report> Run(const machine::Kernel& kernel, std::array<int64_t, 3> grid,
                           absl::Span<const Argument> arguments, const Options& options) {
  if (absl::Status status = CheckArguments(kernel, grid, arguments); !status.ok()) return status;
  Report report;
  const int64_t count = *CheckedProduct(grid);
  if (count == 0) return report;
  int64_t first = 0, step = 1;
  if (options.schedule_seed != 0 && count > 1) {
    Random random(options.schedule_seed);
    first = static_cast<int64_t>(random.Below(static_cast<uint64_t>(count)));
    do {
      step = 1 + static_cast<int64_t>(random.Below(static_cast<uint64_t>(count)));
    } while (std::gcd(step, count) != 1);
  }
  const Code code = Decode(kernel, arguments);
  ThreadBlock block(code, arguments, options, &report);
  for (int64_t n = 0; n < count && !block.stopped(); ++n) {
    const int64_t at = BlockAt(n, count, first, step);
    const std::array<int64_t, 3> index = {at % grid[0], at / grid[0] % grid[1],
                                          at / grid[0] / grid[1]};
    if (!block.Run(index, grid)) {
      return MakeError(DiagId::kCancelled,
                       absl::StrCat("the run of ", kernel.name, " was cancelled"));
    }
  }
  return report;
}

}  // namespace tilus::simulate
