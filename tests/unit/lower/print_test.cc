// print: the text of generated code is that of the interpreter.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "lower_testing.h"

namespace tilus::lower {
namespace {

TEST(Print, TensorsOfEveryKind) {
  std::mt19937 random(1);
  for (const char* type : {"u1", "i3", "u6", "bool", "i8", "u16", "i32", "u64", "i64", "f4e2m1",
                           "f8e4m3", "f16", "bf16", "f32", "f64"}) {
    const std::string text = absl::StrCat(
        "program f(x: *", type, ") warps 1 target any {\n  grid 1\n  gx = global_view x : ", type,
        "[8, 8]\n  t = load_global gx : ", type,
        "[8, 8] local(2,1).spatial(4,4).replicated(2).local(1,2)\n  print t\n",
        "  print t label=\"50% of t\"\n}\n");
    std::vector<uint8_t> bytes = RandomBytes(&random, 512);
    if (absl::string_view(type) == "bool") {
      for (uint8_t& byte : bytes) byte &= 1;
    }
    ExpectExecutionsAgree(text, {Argument::Buffer(bytes)});
  }
}

TEST(Print, ScalarsInOrder) {
  const char* text = R"(program f(n: i32, u: u8, x: f32, s: i64) warps 2 target any {
  grid 2
  bi = block_indices
  print n
  print n + bi * 2
  print u label="u"
  print x * 2.0
  print s
  print n > 3
  t = register #0 : i32[4] replicated(16).spatial(4)
  print t
  for k in 0 .. 2 {
    print k
    r = register 1.5 : f32[1, 3]
    print r
  }
}
)";
  ExpectExecutionsAgree(text, {Argument::Scalar(7), Argument::Scalar(200),
                               Argument::Scalar(0x3fc00000), Argument::Scalar(~uint64_t{4})});
}

}  // namespace
}  // namespace tilus::lower
