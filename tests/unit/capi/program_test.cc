#include "programs.h"

namespace capi_test {
namespace {

using Write = tilus_error* (*)(const tilus_program*, tilus_blob**);

Program ParseProgram(const Context& context, const std::string& text) {
  tilus_program* program = nullptr;
  EXPECT_CALL_OK(
      tilus_program_parse(context.get(), View(text), tilus_string_of("a.tilus"), &program));
  return Program(program);
}

std::string Written(Write write, const Program& program) {
  tilus_blob* blob = nullptr;
  EXPECT_CALL_OK(write(program.get(), &blob));
  return Text(Blob(blob).get());
}

TEST(ProgramTest, TextAndProtobufAreTwoFormsOfOneThing) {
  const Context context = MakeContext();
  for (const char* text : {kAddOne, kTwo}) {
    const Program program = ParseProgram(context, text);
    const std::string printed = Written(tilus_program_print, program);
    const std::string bytes = Written(tilus_program_encode, program);
    EXPECT_EQ(Written(tilus_program_print, ParseProgram(context, printed)), printed);
    tilus_program* raw = nullptr;
    ASSERT_CALL_OK(tilus_program_decode(context.get(), Bytes(bytes), &raw));
    const Program decoded(raw);
    EXPECT_EQ(Written(tilus_program_print, decoded), printed);
    EXPECT_EQ(Written(tilus_program_encode, decoded), bytes);
    EXPECT_CALL_OK(tilus_program_verify(decoded.get()));
    EXPECT_CALL_OK(tilus_program_verify(program.get()));
  }
}

TEST(ProgramTest, ReadTellsTheFormsApart) {
  const Context context = MakeContext();
  const std::string bytes = Written(tilus_program_encode, ParseProgram(context, kTwo));
  for (const std::string& input : {std::string(kTwo), bytes}) {
    tilus_program* raw = nullptr;
    ASSERT_CALL_OK(
        tilus_program_read(context.get(), Bytes(input), tilus_string_of("x"), &raw));
    const Program program(raw);
    ASSERT_EQ(tilus_program_kernel_count(program.get()), 2u);
    EXPECT_EQ(Text(tilus_program_kernel_name(program.get(), 0)), "first");
    EXPECT_EQ(Text(tilus_program_kernel_name(program.get(), 1)), "second");
    EXPECT_EQ(Text(tilus_program_kernel_name(program.get(), 2)), "");
  }
}

TEST(ProgramTest, JsonNamesWhatTheSchemaNames) {
  const Context context = MakeContext();
  const std::string json = Written(tilus_program_json, ParseProgram(context, kAddOne));
  for (const char* part : {"\"version\": 1", "\"name\": \"add_one\"", "\"OPCODE_LOAD_GLOBAL\"",
                           "\"CEIL_DIV\"", "\"kind\": \"PARAM\"", "\"pointer\": true"}) {
    EXPECT_THAT(json, testing::HasSubstr(part));
  }
  int depth = 0;
  for (char c : json) {
    depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
}

TEST(ProgramTest, ErrorsSayWhereInWhichFile) {
  const Context context = MakeContext();
  const std::string text = "program f() warps 1 {\n  grid 1\n  x = nonsense 3\n}\n";
  tilus_program* program = nullptr;
  const Error error(
      tilus_program_parse(context.get(), View(text), tilus_string_of("bad.tilus"), &program));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(program, nullptr);
  const tilus_diagnostic d = DiagnosticOf(error.get());
  EXPECT_EQ(d.line, 3u);
  EXPECT_EQ(Text(d.source), "bad.tilus");
  EXPECT_THAT(Text(tilus_error_report(error.get())), testing::HasSubstr("bad.tilus:3:"));
}

TEST(ProgramTest, VerifyReportsEveryFault) {
  const Context context = MakeContext();
  // Two views of unequal bits.
  const std::string text = R"(program f(x: *u8) warps 1 {
  grid 1
  gx = global_view x : u8[96]
  a = load_global gx[0] : u8[96] local(3).spatial(32)
  b = view a : i8[16, 8] local(2,1).column_spatial(4,8).local(2,1)
  c = view a : u16[32] spatial(32)
}
)";
  const Program program = ParseProgram(context, text);
  const Error error(tilus_program_verify(program.get()));
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(tilus_error_code(error.get()), TILUS_INVALID_ARGUMENT);
  EXPECT_GE(tilus_error_diagnostic_count(error.get()), 2u);
  EXPECT_EQ(Text(DiagnosticOf(error.get()).source), "a.tilus");
  EXPECT_NE(DiagnosticOf(error.get()).path.size, 0u);
}

TEST(ProgramTest, LimitsOfTheContextHold) {
  tilus_context_options* raw = nullptr;
  ASSERT_CALL_OK(tilus_context_options_create(&raw));
  const Options options(raw);
  ASSERT_CALL_OK(tilus_context_options_set_limit(options.get(), TILUS_LIMIT_BYTES, 100));
  const Context small = MakeContext(options.get());
  tilus_program* program = nullptr;
  EXPECT_EQ(Outcome(tilus_program_read(small.get(), Bytes(kAddOne), tilus_string_of(""), &program)),
            "RESOURCE_EXHAUSTED T0010");
  tilus_module* module = nullptr;
  EXPECT_EQ(Outcome(tilus_compile(small.get(), Bytes(kAddOne), &module)),
            "RESOURCE_EXHAUSTED T0010");
}

TEST(ProgramTest, NewerSchemasAreIncompatible) {
  const Context context = MakeContext();
  std::string bytes = Written(tilus_program_encode, ParseProgram(context, kTwo));
  tilus_program* program = nullptr;
  std::string newer = bytes;
  ASSERT_EQ(newer[0], '\x08') << "the version is the first field";
  newer[1] = 99;
  EXPECT_EQ(Outcome(tilus_program_decode(context.get(), Bytes(newer), &program)),
            "INCOMPATIBLE T0402");
  const std::string unknown_field = bytes + std::string("\xf8\x07\x01", 3);
  EXPECT_EQ(Outcome(tilus_program_decode(context.get(), Bytes(unknown_field), &program)),
            "INCOMPATIBLE T0403");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string cut = bytes.substr(0, size);
    tilus_program* part = nullptr;
    Outcome(tilus_program_decode(context.get(), Bytes(cut), &part));
    tilus_program_destroy(part);
  }
}

TEST(ProgramTest, NullArgumentsAreErrors) {
  const Context context = MakeContext();
  const Program program = ParseProgram(context, kTwo);
  tilus_program* none = nullptr;
  const tilus_string name = tilus_string_of("");
  EXPECT_EQ(Outcome(tilus_program_parse(nullptr, View(kTwo), name, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_program_parse(context.get(), {nullptr, 0}, name, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_program_parse(context.get(), View(kTwo), {nullptr, 1}, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_program_parse(context.get(), View(kTwo), {"\xff", 1}, &none)), kInvalid);
  EXPECT_EQ(Outcome(tilus_program_parse(context.get(), View(kTwo), name, nullptr)), kNull);
  EXPECT_EQ(Outcome(tilus_program_decode(context.get(), {nullptr, 0}, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_program_read(context.get(), {nullptr, 0}, name, &none)), kNull);
  EXPECT_EQ(Outcome(tilus_program_verify(nullptr)), kNull);
  for (Write write : {tilus_program_print, tilus_program_encode, tilus_program_json}) {
    tilus_blob* blob = nullptr;
    EXPECT_EQ(Outcome(write(nullptr, &blob)), kNull);
    EXPECT_EQ(Outcome(write(program.get(), nullptr)), kNull);
  }
  EXPECT_EQ(tilus_program_kernel_count(nullptr), 0u);
  tilus_program_destroy(nullptr);
}

}  // namespace
}  // namespace capi_test
