#include <cstring>
#include <limits>

#include "handles.h"

namespace capi_test {
namespace {

Error BadLayout(const std::string& text) {
  tilus_layout* layout = nullptr;
  Error error(tilus_layout_parse(View(text), &layout));
  EXPECT_EQ(layout, nullptr) << "outputs must stay untouched on failure";
  return error;
}

TEST(ErrorTest, CarriesCodeMessageAndPlace) {
  const Error error = BadLayout("local(2).spatal(8)");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(tilus_error_code(error.get()), TILUS_INVALID_ARGUMENT);
  ASSERT_EQ(tilus_error_diagnostic_count(error.get()), 1u);
  const tilus_diagnostic d = DiagnosticOf(error.get());
  EXPECT_EQ(Text(d.id), "T0220");
  EXPECT_EQ(d.severity, TILUS_SEVERITY_ERROR);
  EXPECT_EQ(d.column, 10u);
  EXPECT_EQ(Text(d.message), tilus_error_message(error.get()));
  EXPECT_THAT(Text(d.message), testing::HasSubstr("column 10"));
  EXPECT_THAT(Text(d.excerpt), testing::HasSubstr("spatal"));
  EXPECT_THAT(Text(tilus_error_report(error.get())), testing::HasSubstr("error[T0220]: "));
  for (const tilus_string& text : {d.id, d.path, d.message, d.hint, d.excerpt, d.source}) {
    ASSERT_NE(text.data, nullptr);
    EXPECT_EQ(text.data[text.size], '\0') << "texts are NUL-terminated";
  }
}

TEST(ErrorTest, NullIsSuccess) {
  EXPECT_EQ(tilus_error_code(nullptr), TILUS_OK);
  EXPECT_STREQ(tilus_error_message(nullptr), "");
  EXPECT_EQ(Text(tilus_error_report(nullptr)), "");
  EXPECT_EQ(tilus_error_diagnostic_count(nullptr), 0u);
  tilus_diagnostic d{};
  d.struct_size = sizeof d;
  d.line = 77;
  tilus_error_diagnostic(nullptr, 0, &d);
  EXPECT_EQ(d.line, 77u) << "nothing is filled in where there is no diagnostic";
  tilus_error_destroy(nullptr);
}

TEST(ErrorTest, FillsOnlyTheFieldsThatTheCallerKnows) {
  const Error error = BadLayout("nonsense");
  tilus_diagnostic d;
  std::memset(&d, 0x5a, sizeof d);
  d.struct_size = sizeof d - 1;
  tilus_error_diagnostic(error.get(), 0, &d);
  EXPECT_EQ(d.line, 0x5a5a5a5au) << "a size below that of version 0.1 is refused";
  struct {
    tilus_diagnostic known;
    char later[16];
  } larger;
  std::memset(&larger, 0x5a, sizeof larger);
  larger.known.struct_size = sizeof larger;
  tilus_error_diagnostic(error.get(), 0, &larger.known);
  EXPECT_EQ(larger.known.struct_size, sizeof larger);
  EXPECT_EQ(Text(larger.known.id), "T0220");
  EXPECT_EQ(larger.later[0], 0x5a);
  tilus_error_diagnostic(error.get(), 0, nullptr);
  tilus_error_diagnostic(error.get(), 1, &larger.known);
}

TEST(ErrorTest, TextIsValidUtf8WhateverTheInput) {
  EXPECT_EQ(Outcome(BadLayout("local(2)\xff").release()), kInvalid);
  EXPECT_EQ(Outcome(BadLayout(std::string("local\0(2)", 9)).release()), "INVALID_ARGUMENT T0220");
  EXPECT_EQ(Outcome(BadLayout("local(\xc3\xa9)").release()), "INVALID_ARGUMENT T0220");
  // Overlong, surrogate, above U+10FFFF, cut short.
  for (const char* bad :
       {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(Outcome(BadLayout(bad).release()), kInvalid);
  }
}

TEST(ErrorTest, CodesHaveNames) {
  EXPECT_EQ(Text(tilus_code_name(TILUS_OK)), "OK");
  EXPECT_EQ(Text(tilus_code_name(TILUS_RESOURCE_EXHAUSTED)), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(Text(tilus_code_name(TILUS_INCOMPATIBLE)), "INCOMPATIBLE");
  EXPECT_EQ(Text(tilus_code_name(TILUS_HOST_EXCEPTION)), "HOST_EXCEPTION");
  EXPECT_EQ(Text(tilus_code_name(static_cast<tilus_code>(1000))), "UNKNOWN");
}

TEST(ErrorTest, CodesAreThoseOfAbsl) {
  EXPECT_EQ(TILUS_CANCELLED, 1);
  EXPECT_EQ(TILUS_INVALID_ARGUMENT, 3);
  EXPECT_EQ(TILUS_RESOURCE_EXHAUSTED, 8);
  EXPECT_EQ(TILUS_UNAVAILABLE, 14);
  EXPECT_EQ(TILUS_UNAUTHENTICATED, 16);
}

TEST(ErrorTest, MoreMemoryThanThereIsBecomesAnError) {
  const Context context = MakeContext();
  tilus_device* raw = nullptr;
  ASSERT_CALL_OK(tilus_device_open(context.get(), TILUS_DEVICE_HOST, 0, &raw));
  const Device device(raw);
  tilus_memory* memory = nullptr;
  for (size_t size : {std::numeric_limits<size_t>::max(), std::numeric_limits<size_t>::max() / 2}) {
    EXPECT_EQ(Outcome(tilus_memory_create(device.get(), size, &memory)),
              "RESOURCE_EXHAUSTED T0002");
  }
  EXPECT_EQ(memory, nullptr);
}

TEST(TextTest, VersionIsThatOfTheHeader) {
  EXPECT_EQ(tilus_version(), uint32_t{TILUS_VERSION});
  EXPECT_THAT(Text(tilus_build_info()), testing::StartsWith("tilus 0.1.0, "));
}

TEST(TextTest, StringOfCountsAndTakesNull) {
  EXPECT_EQ(tilus_string_of("abc").size, 3u);
  EXPECT_EQ(tilus_string_of(nullptr).size, 0u);
  EXPECT_STREQ(tilus_string_of(nullptr).data, "");
}

TEST(TextTest, BlobOfNullIsEmpty) {
  EXPECT_EQ(tilus_blob_size(nullptr), 0u);
  EXPECT_STREQ(static_cast<const char*>(tilus_blob_data(nullptr)), "");
  tilus_blob_destroy(nullptr);
}

// Structures as bindings see them: no padding, so that a field added later cannot hide in it.
#define EXPECT_PACKED(type, last) \
  EXPECT_EQ(offsetof(type, last) + sizeof(type::last), sizeof(type)) << #type
TEST(StructTest, HaveNoPaddingAtTheirEnd) {
  EXPECT_PACKED(tilus_diagnostic, source);
  EXPECT_PACKED(tilus_stage, microseconds);
  EXPECT_PACKED(tilus_device_info, clock_khz);
  EXPECT_PACKED(tilus_parameter, divisor);
  EXPECT_PACKED(tilus_launch_shape, clean_bytes);
  EXPECT_PACKED(tilus_argument, size);
  EXPECT_PACKED(tilus_launch_options, cancellation);
  EXPECT_PACKED(tilus_conflicts, ideal);
  EXPECT_PACKED(tilus_weight_plan, bytes);
}

// Sizes and offsets of version 0.1, frozen.
TEST(StructTest, LayoutIsThatOfVersion01) {
  EXPECT_EQ(sizeof(tilus_buffer), 16u);
  EXPECT_EQ(sizeof(tilus_string), 16u);
  EXPECT_EQ(sizeof(tilus_integers), 16u);
  EXPECT_EQ(sizeof(tilus_diagnostic), 120u);
  EXPECT_EQ(sizeof(tilus_stage), 32u);
  EXPECT_EQ(sizeof(tilus_device_info), 80u);
  EXPECT_EQ(sizeof(tilus_parameter), 48u);
  EXPECT_EQ(sizeof(tilus_launch_shape), 56u);
  EXPECT_EQ(sizeof(tilus_argument), 48u);
  EXPECT_EQ(sizeof(tilus_launch_options), 40u);
  EXPECT_EQ(sizeof(tilus_conflicts), 40u);
  EXPECT_EQ(sizeof(tilus_weight_plan), 72u);
  EXPECT_EQ(offsetof(tilus_argument, pointer), 32u);
  EXPECT_EQ(offsetof(tilus_diagnostic, id), 24u);
}

TEST(StructTest, EnumerationsAreFourBytes) {
  EXPECT_EQ(sizeof(tilus_code), 4u);
  EXPECT_EQ(sizeof(tilus_severity), 4u);
  EXPECT_EQ(sizeof(tilus_limit), 4u);
  EXPECT_EQ(sizeof(tilus_assembly), 4u);
  EXPECT_EQ(sizeof(tilus_image), 4u);
  EXPECT_EQ(sizeof(tilus_device_kind), 4u);
  EXPECT_EQ(sizeof(tilus_parameter_kind), 4u);
  EXPECT_EQ(sizeof(tilus_argument_kind), 4u);
  EXPECT_EQ(sizeof(tilus_type_class), 4u);
  EXPECT_EQ(sizeof(tilus_named_type), 4u);
  EXPECT_EQ(sizeof(tilus_layout_form), 4u);
  EXPECT_EQ(sizeof(tilus_verdict), 4u);
  EXPECT_EQ(sizeof(tilus_drawing), 4u);
}

}  // namespace
}  // namespace capi_test
