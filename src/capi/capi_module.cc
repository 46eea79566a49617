#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/compiler.h"
#include "capi/guard.h"
#include "capi/module_file.h"
#include "capi/module_handle.h"
#include "capi/program_json.h"
#include "ir/text.h"
#include "machine/print.h"
#include "wire/wire.h"

namespace tilus::capi {
namespace {

bool IsOfTarget(tilus_image image) {
  return image == TILUS_IMAGE_PTX || image == TILUS_IMAGE_CUBIN ||
         image == TILUS_IMAGE_THREAD_LEVEL;
}

absl::StatusOr<std::string> TargetImage(const tilus_module& handle, tilus_image image,
                                        size_t target) {
  const ModuleState& module = *handle.state;
  const compile::TargetCode& code = module.code().targets[target];
  if (image == TILUS_IMAGE_PTX) return code.ptx;
  if (image == TILUS_IMAGE_CUBIN) return module.Cubin(*handle.context, target);
  std::string text;
  for (const machine::Kernel& kernel : code.kernels.kernels) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", machine::Print(kernel));
  }
  return text;
}

absl::StatusOr<std::string> Image(const tilus_module& handle, tilus_image image,
                                  absl::string_view target) {
  const ModuleState& module = *handle.state;
  if (IsOfTarget(image)) {
    TILUS_ASSIGN_OR_RETURN(const size_t index, module.FindTarget(target));
    return TargetImage(handle, image, index);
  }
  const ir::Module& source = module.code().source;
  switch (image) {
    case TILUS_IMAGE_TEXT: return ir::PrintText(source);
    case TILUS_IMAGE_PROTOBUF: return wire::Encode(source);
    case TILUS_IMAGE_JSON: return ProgramJson(wire::Encode(source));
    default:
      return BadArgument("image", absl::StrCat(static_cast<uint32_t>(image), " names no image"));
  }
}

SavedModule Saved(const ModuleState& module) {
  SavedModule saved;
  saved.program = wire::Encode(module.code().source);
  saved.contract = module.contract();
  for (size_t i = 0; i < module.code().targets.size(); ++i) {
    const compile::TargetCode& code = module.code().targets[i];
    saved.targets.push_back({code.target.name, code.ptx, module.CubinIfMade(i)});
  }
  return saved;
}

absl::StatusOr<std::shared_ptr<const ModuleState>> Restore(const tilus_context& context,
                                                           SavedModule saved) {
  CompileSettings settings;
  settings.contract = saved.contract;
  for (const SavedTarget& target : saved.targets) settings.targets.push_back(target.name);
  TILUS_ASSIGN_OR_RETURN(auto module, CompileBytes(context.state, saved.program, settings));
  for (size_t i = 0; i < saved.targets.size(); ++i) {
    SavedTarget& target = saved.targets[i];
    if (module->code().targets[i].ptx == target.ptx) module->SetCubin(i, std::move(target.cubin));
  }
  return module;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_module_image(const tilus_module* module, tilus_image image, tilus_string target,
                                tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(module, "module"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view name, TextOf(target, "target"));
    TILUS_ASSIGN_OR_RETURN(std::string bytes, Image(*module, image, name));
    GiveBlob(std::move(bytes), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_module_save(const tilus_module* module, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(module, "module"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    GiveBlob(WriteModuleFile(Saved(*module->state)), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_module_restore(tilus_context* context, tilus_buffer bytes, tilus_module** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(bytes.data, "bytes"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view view, BytesOf(bytes, "bytes"));
    TILUS_ASSIGN_OR_RETURN(SavedModule saved, ReadModuleFile(view));
    TILUS_ASSIGN_OR_RETURN(auto state, Restore(*context, std::move(saved)));
    *out = new tilus_module{context->state, std::move(state)};
    return absl::OkStatus();
  });
}

size_t tilus_module_kernel_count(const tilus_module* module) {
  return module == nullptr ? 0 : module->state->code().source.programs.size();
}

tilus_string tilus_module_kernel_name(const tilus_module* module, size_t index) {
  if (index >= tilus_module_kernel_count(module)) return tilus_string_of("");
  return ToString(module->state->code().source.programs[index].name);
}

size_t tilus_module_target_count(const tilus_module* module) {
  return module == nullptr ? 0 : module->state->code().targets.size();
}

tilus_string tilus_module_target_name(const tilus_module* module, size_t index) {
  if (index >= tilus_module_target_count(module)) return tilus_string_of("");
  return tilus_string_of(module->state->code().targets[index].target.name);
}

size_t tilus_module_stage_count(const tilus_module* module) {
  if (module == nullptr) return 0;
  const ModuleState& state = *module->state;
  return state.code().stages.size() + (state.assembly_microseconds() > 0 ? 1 : 0);
}

void tilus_module_stage(const tilus_module* module, size_t index, tilus_stage* out) {
  if (index >= tilus_module_stage_count(module)) return;
  const ModuleState& state = *module->state;
  tilus_stage stage{};
  if (index < state.code().stages.size()) {
    stage.name = tilus_string_of(state.code().stages[index].name);
    stage.microseconds = state.code().stages[index].microseconds;
  } else {
    stage.name = tilus_string_of("cubin");
    stage.microseconds = state.assembly_microseconds();
  }
  FillIfRoom(out, stage);
}

void tilus_module_destroy(tilus_module* module) { delete module; }
