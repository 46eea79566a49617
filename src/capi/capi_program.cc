#include <utility>

#include "absl/strings/str_cat.h"
#include "capi/guard.h"
#include "capi/program_handle.h"
#include "capi/program_json.h"
#include "ir/text.h"
#include "ir/verifier.h"
#include "wire/wire.h"

namespace tilus::capi {
namespace {

absl::Status CheckBytes(absl::string_view bytes, const ir::Limits& limits) {
  if (bytes.size() <= static_cast<uint64_t>(limits.max_bytes)) return absl::OkStatus();
  return MakeError(DiagId::kLimitBytes,
                   absl::StrCat("the input has ", bytes.size(), " bytes, the limit is ",
                                limits.max_bytes),
                   "raise the context's byte limit if the program is trusted");
}

enum class Form { kText, kProtobuf };

absl::Status ReadProgram(const tilus_context& context, absl::string_view bytes, Form form,
                         absl::string_view source, tilus_program** out) {
  const ir::Limits& limits = context.state->limits;
  TILUS_RETURN_IF_ERROR(CheckBytes(bytes, limits));
  auto program = std::make_unique<tilus_program>();
  program->context = context.state;
  program->source = std::string(source);
  if (form == Form::kText) {
    TILUS_ASSIGN_OR_RETURN(program->module, ir::ParseText(bytes, limits));
    program->text = std::string(bytes);
  } else {
    TILUS_ASSIGN_OR_RETURN(program->module, wire::Decode(bytes, limits));
  }
  *out = program.release();
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ir::Module> VerifiedModule(const tilus_program& program) {
  const ir::Limits& limits = program.context->limits;
  if (!program.text.empty()) return ir::LoadText(program.text, limits);
  ir::Module module = program.module;
  ir::VerifyOptions options;
  options.limits = limits;
  TILUS_RETURN_IF_ERROR(ir::ResolveAndVerify(&module, options));
  return module;
}

}  // namespace tilus::capi

using namespace tilus::capi;  // the entries below are in the global namespace

tilus_error* tilus_program_parse(tilus_context* context, tilus_string text,
                                 tilus_string source_name, tilus_program** out) {
  return GuardSource(SourceName(source_name), [&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(text.data, "text"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view source, TextOf(source_name, "source_name"));
    return ReadProgram(*context, ToView(text), Form::kText, source, out);
  });
}

tilus_error* tilus_program_decode(tilus_context* context, tilus_buffer bytes,
                                  tilus_program** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(bytes.data, "bytes"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view view, BytesOf(bytes, "bytes"));
    return ReadProgram(*context, view, Form::kProtobuf, {}, out);
  });
}

tilus_error* tilus_program_read(tilus_context* context, tilus_buffer bytes,
                                tilus_string source_name, tilus_program** out) {
  return GuardSource(SourceName(source_name), [&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(context, "context"));
    TILUS_RETURN_IF_ERROR(NotNull(bytes.data, "bytes"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view view, BytesOf(bytes, "bytes"));
    TILUS_ASSIGN_OR_RETURN(const absl::string_view source, TextOf(source_name, "source_name"));
    const Form form = tilus::wire::LooksSerialized(view) ? Form::kProtobuf : Form::kText;
    return ReadProgram(*context, view, form, source, out);
  });
}

tilus_error* tilus_program_verify(const tilus_program* program) {
  return GuardSource(program == nullptr ? absl::string_view() : program->source,
                     [&]() -> absl::Status {
                       TILUS_RETURN_IF_ERROR(NotNull(program, "program"));
                       return VerifiedModule(*program).status();
                     });
}

tilus_error* tilus_program_print(const tilus_program* program, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(program, "program"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    GiveBlob(tilus::ir::PrintText(program->module), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_program_encode(const tilus_program* program, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(program, "program"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    GiveBlob(tilus::wire::Encode(program->module), out);
    return absl::OkStatus();
  });
}

tilus_error* tilus_program_json(const tilus_program* program, tilus_blob** out) {
  return Guard([&]() -> absl::Status {
    TILUS_RETURN_IF_ERROR(NotNull(program, "program"));
    TILUS_RETURN_IF_ERROR(NotNull(out, "out"));
    TILUS_ASSIGN_OR_RETURN(std::string json, ProgramJson(tilus::wire::Encode(program->module)));
    GiveBlob(std::move(json), out);
    return absl::OkStatus();
  });
}

size_t tilus_program_kernel_count(const tilus_program* program) {
  return program == nullptr ? 0 : program->module.programs.size();
}

tilus_string tilus_program_kernel_name(const tilus_program* program, size_t index) {
  if (index >= tilus_program_kernel_count(program)) return tilus_string_of("");
  return ToString(program->module.programs[index].name);
}

void tilus_program_destroy(tilus_program* program) { delete program; }
