#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "capi/compiler.h"
#include "capi/guard.h"
#include "capi/module_handle.h"
#include "capi/program_handle.h"
#include "compile/compile.h"

namespace tilus::capi {
namespace {

template <typename Body>
tilus_error* SetOption(tilus_compile_options* options, Body&& body) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(options, "options"));
    return body();
  });
}

absl::Status CheckTarget(absl::string_view name) {
  if (ptx::FindTarget(name)) return absl::OkStatus();
  return MakeError(DiagId::kUnknownTarget, absl::StrCat("there is no target \"", name, "\""),
                   absl::StrCat("the targets are ",
                                absl::StrJoin(ptx::Targets(), ", ",
                                              [](std::string* out, const ptx::Target& target) {
                                                absl::StrAppend(out, target.name);
                                              })));
}

absl::Status CheckPass(absl::string_view name) {
  const std::vector<std::string>& passes = PassNames();
  if (name == kAllPasses || std::find(passes.begin(), passes.end(), name) != passes.end()) {
    return absl::OkStatus();
  }
  return MakeError(DiagId::kNoSuchPass, absl::StrCat("there is no pass \"", name, "\""),
                   absl::StrCat("the passes are ", absl::StrJoin(passes, ", "), "; or all"));
}

absl::Status CompileInto(const tilus_context& context, tilus_buffer program,
                         const CompileSettings& settings, tilus_module** out) {
  TILUS_RETURN_IF_ERROR(NotNull(program.data, "program"));
  TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
  TILUS_ASSIGN_OR_RETURN(const absl::string_view bytes, BytesOf(program, "program"));
  TILUS_ASSIGN_OR_RETURN(auto module, CompileBytes(context.state, bytes, settings));
  *out = new tilus_module{context.state, std::move(module)};
  return absl::OkStatus();
}

const CompileSettings& SettingsOf(const tilus_compile_options* options,
                                  const CompileSettings& defaults) {
  return options == nullptr ? defaults : options->settings;
}

}  // namespace
}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_compile(tilus_context* context, tilus_buffer program, tilus_module** out) {
  return tilus_compile_with(context, program, nullptr, out);
}

tilus_error* tilus_compile_with(tilus_context* context, tilus_buffer program,
                                const tilus_compile_options* options, tilus_module** out) {
  const absl::string_view source =
      options == nullptr ? absl::string_view() : options->settings.source;
  return GuardSource(source, [&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    const CompileSettings defaults;
    return CompileInto(*context, program, SettingsOf(options, defaults), out);
  });
}

tilus_error* tilus_program_compile(const tilus_program* program,
                                   const tilus_compile_options* options, tilus_module** out) {
  return GuardSource(program == nullptr ? absl::string_view() : program->source,
                     [&]() -> absl::Status {
                       TILUS_RETURN_IF_ERROR(NotNull(program, "program"));
                       TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
                       const CompileSettings defaults;
                       TILUS_ASSIGN_OR_RETURN(
                           auto module,
                           CompileProgram(*program, SettingsOf(options, defaults)));
                       *out = new tilus_module{program->context, std::move(module)};
                       return absl::OkStatus();
                     });
}

tilus_error* tilus_compile_options_create(tilus_compile_options** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    *out = new tilus_compile_options;
    return absl::OkStatus();
  });
}

void tilus_compile_options_destroy(tilus_compile_options* options) { delete options; }

tilus_error* tilus_compile_options_add_target(tilus_compile_options* options,
                                              tilus_string target) {
  return SetOption(options, [&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const absl::string_view name, TextOf(target, "target"));
    TILUS_RETURN_IF_ERROR(CheckTarget(name));
    std::vector<std::string>& targets = options->settings.targets;
    if (std::find(targets.begin(), targets.end(), name) == targets.end()) {
      targets.emplace_back(name);
    }
    return absl::OkStatus();
  });
}

tilus_error* tilus_compile_options_set_source_name(tilus_compile_options* options,
                                                   tilus_string name) {
  return SetOption(options, [&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const absl::string_view source, TextOf(name, "name"));
    options->settings.source = std::string(source);
    return absl::OkStatus();
  });
}

tilus_error* tilus_compile_options_set_cancellation(tilus_compile_options* options,
                                                    tilus_cancellation* cancellation) {
  return SetOption(options, [&]() -> absl::Status {
    options->settings.cancelled = cancellation == nullptr ? nullptr : cancellation->requested;
    return absl::OkStatus();
  });
}

tilus_error* tilus_compile_options_set_dump(tilus_compile_options* options, tilus_string pass,
                                            tilus_dump_fn dump, void* user,
                                            tilus_release_fn release) {
  return SetOption(options, [&]() -> absl::Status {
    TILUS_ASSIGN_OR_RETURN(const absl::string_view name, TextOf(pass, "pass"));
    if (dump != nullptr) TILUS_RETURN_IF_ERROR(CheckPass(name));
    std::string copy(name);
    SetCallback(dump, user, release, &options->settings.dump);
    options->settings.dump_pass = std::move(copy);
    return absl::OkStatus();
  });
}

tilus_error* tilus_compile_options_allow_contraction(tilus_compile_options* options) {
  return SetOption(options, [&]() -> absl::Status {
    options->settings.contract = true;
    return absl::OkStatus();
  });
}

tilus_error* tilus_compile_options_set_assembly(tilus_compile_options* options,
                                                tilus_assembly assembly) {
  return SetOption(options, [&]() -> absl::Status {
    if (assembly != TILUS_ASSEMBLY_LAZY && assembly != TILUS_ASSEMBLY_NOW) {
      return BadArgument("assembly",
                         absl::StrCat(static_cast<uint32_t>(assembly), " names no assembly"));
    }
    options->settings.assembly = assembly;
    return absl::OkStatus();
  });
}

size_t tilus_pass_count(void) {
  try {
    return PassNames().size();
  } catch (...) {
    return 0;
  }
}

tilus_string tilus_pass_name(size_t index) {
  try {
    const std::vector<std::string>& names = PassNames();
    if (index < names.size()) return ToString(names[index]);
  } catch (...) {  // no memory for the list
  }
  return tilus_string_of("");
}
