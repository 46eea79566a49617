#include "interpret/interpret.h"

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "interpret/execution.h"
#include "interpret/scalar.h"

namespace tilus::interpret {
namespace {

constexpr int64_t kMaxGrid[3] = {(int64_t{1} << 31) - 1, 65535, 65535};

absl::StatusOr<Scalars> WithArguments(const ir::Program& program,
                                      absl::Span<const Argument> arguments) {
  if (arguments.size() != program.params.size()) {
    return MakeError(DiagId::kInvalidArgument,
                     absl::StrCat("program ", program.name, " has ", program.params.size(),
                                  " parameters, ", arguments.size(), " arguments were given"),
                     "pass one argument for each parameter, in order");
  }
  Scalars scalars(program);
  for (size_t i = 0; i < arguments.size(); ++i) scalars.Set(program.params[i], arguments[i].value);
  return scalars;
}

}  // namespace

absl::StatusOr<std::array<int64_t, 3>> EvaluateGrid(const ir::Program& program,
                                                    absl::Span<const Argument> arguments) {
  TILUS_ASSIGN_OR_RETURN(const Scalars scalars, WithArguments(program, arguments));
  std::array<int64_t, 3> grid = {1, 1, 1};
  for (size_t d = 0; d < program.grid.size(); ++d) {
    grid[d] = scalars.Int(*program.grid[d]);
    if (grid[d] < 0 || grid[d] > kMaxGrid[d]) {
      return MakeError(DiagId::kGrid,
                       absl::StrCat("extent ", d, " of the grid is ", grid[d],
                                    ", allowed is 0 to ", kMaxGrid[d]),
                       "check the arguments that the grid is computed from", program.name);
    }
  }
  return grid;
}

absl::StatusOr<Workspace> EvaluateWorkspace(const ir::Program& program,
                                            absl::Span<const Argument> arguments) {
  TILUS_ASSIGN_OR_RETURN(const Scalars scalars, WithArguments(program, arguments));
  Workspace workspace;
  if (program.workspace_bytes) workspace.bytes = scalars.Int(*program.workspace_bytes);
  if (program.clean_workspace_bytes) {
    workspace.clean_bytes = scalars.Int(*program.clean_workspace_bytes);
  }
  if (workspace.bytes < 0) {
    return MakeError(DiagId::kGrid,
                     absl::StrCat("the workspace has ", workspace.bytes, " bytes"),
                     "check the arguments that its shape is computed from", program.name);
  }
  return workspace;
}

absl::Status Run(const ir::Program& program, absl::Span<const Argument> arguments,
                 const Options& options) {
  TILUS_ASSIGN_OR_RETURN(const auto grid, EvaluateGrid(program, arguments));
  TILUS_ASSIGN_OR_RETURN(const Workspace workspace, EvaluateWorkspace(program, arguments));
  if (workspace.bytes > 0 && options.workspace == nullptr) {
    return MakeError(DiagId::kInvalidArgument,
                     absl::StrCat("the program needs ", workspace.bytes, " bytes of workspace"),
                     "query the size and pass a buffer", program.name);
  }
  Execution execution(program, arguments, options);
  for (int64_t z = 0; z < grid[2]; ++z) {
    for (int64_t y = 0; y < grid[1]; ++y) {
      for (int64_t x = 0; x < grid[0]; ++x) {
        TILUS_RETURN_IF_ERROR(execution.RunBlock({x, y, z}));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace tilus::interpret
