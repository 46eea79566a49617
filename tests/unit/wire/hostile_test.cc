#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "ir/text.h"
#include "programs.h"
#include "tilus/v1/program.pb.h"
#include "wire/scan.h"
#include "wire/wire.h"

namespace tilus::wire {
namespace {

const ir::Limits kLimits;

DiagId IdOf(const absl::Status& status) { return DiagnosticsOf(status).at(0).id; }

DiagId DecodeId(const std::string& bytes, const ir::Limits& limits = kLimits) {
  const auto decoded = Decode(bytes, limits);
  return decoded.ok() ? DiagId{} : IdOf(decoded.status());
}

v1::Module MinimalModule() {
  v1::Module module;
  module.set_version(1);
  v1::Program* program = module.add_programs();
  program->set_name("f");
  program->set_warps(1);
  program->add_grid()->mutable_literal()->set_type("i32");
  program->mutable_grid(0)->mutable_literal()->set_code(1);
  return module;
}

// A real program, to damage.
std::string Sample() {
  const std::vector<ProgramFile> files = ProgramFiles();
  return Encode(*ir::ParseText(files.front().text, kLimits));
}

// The field numbers and names of the table are those of the .proto files, message by message.
TEST(WireScanTest, SchemaIsThatOfTheProtoFiles) {
  std::string found;
  for (const char* name : {"program", "layout"}) {
    std::ifstream in(absl::StrCat(TILUS_SOURCE_DIR, "/proto/tilus/v1/", name, ".proto"));
    ASSERT_TRUE(in.good());
    std::vector<std::string> open;
    for (std::string line; std::getline(in, line);) {
      line = line.substr(0, line.find("//"));
      std::istringstream words(line);
      std::string word, second;
      words >> word >> second;
      if (word == "message" || word == "enum" || word == "oneof") {
        if (line.find('}') == std::string::npos) open.push_back(word == "message" ? second : word);
      } else if (word == "}") {
        if (!open.empty()) open.pop_back();
      } else if (!open.empty() && open.back() != "enum" && line.find('=') != std::string::npos) {
        std::string owner = open.back() == "oneof" ? open[open.size() - 2] : open.back();
        // "optional T name = n" or, in a oneof, "T name = n".
        std::string field = second, equals;
        if (open.back() != "oneof") words >> field;
        int number = 0;
        words >> equals >> number;
        absl::StrAppend(&found, owner, ".", field, "=", number, "\n");
      }
    }
  }
  std::vector<std::string> expected, actual;
  std::istringstream lines(found);
  for (std::string line; std::getline(lines, line);) actual.push_back(line);
  for (const FieldInfo& field : Schema()) {
    expected.push_back(absl::StrCat(MessageName(field.message), ".", field.name, "=", field.number));
  }
  std::sort(expected.begin(), expected.end());
  std::sort(actual.begin(), actual.end());
  EXPECT_EQ(actual, expected);
}

// Every instruction of the table has its value in the Opcode enum, and the other way round.
TEST(WireScanTest, OpcodesAreThoseOfTheTable) {
  int count = 0;
  for (const ir::InstructionInfo& info : ir::AllInstructions()) {
    ASSERT_TRUE(v1::Opcode_IsValid(info.wire)) << info.name;
    std::string name = absl::StrCat("OPCODE_", info.name);
    for (char& c : name) c = static_cast<char>(toupper(c));
    EXPECT_EQ(v1::Opcode_Name(static_cast<v1::Opcode>(info.wire)), name);
    ++count;
  }
  int values = 0;
  for (int i = v1::Opcode_MIN; i <= v1::Opcode_MAX; ++i) values += v1::Opcode_IsValid(i);
  EXPECT_EQ(values, count + 1);  // and OPCODE_UNSPECIFIED
}

TEST(WireHostileTest, MinimalModuleDecodes) {
  EXPECT_TRUE(Decode(MinimalModule().SerializeAsString(), kLimits).ok());
}

TEST(WireHostileTest, Versions) {
  v1::Module module = MinimalModule();
  module.set_version(2);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireVersion);
  module.set_version(0);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireVersion);
  module.clear_version();
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireNoVersion);
  EXPECT_EQ(DecodeId(""), DiagId::kWireNoVersion);
  // A newer program gets the version as the answer, whatever else this library does not know.
  const std::string newer = std::string("\x92\x06\x03" "abc", 6) + std::string("\x08\x07", 2);
  EXPECT_EQ(DecodeId(newer), DiagId::kWireVersion);
}

TEST(WireHostileTest, UnknownFieldsAreRefusedWhereverTheyAre) {
  const std::string unknown("\x92\x06\x03" "abc", 6);  // field 98, bytes
  EXPECT_EQ(DecodeId(MinimalModule().SerializeAsString() + unknown), DiagId::kWireUnknownField);
  v1::Module module = MinimalModule();
  module.mutable_programs(0)->mutable_unknown_fields()->append(unknown);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireUnknownField);
  module = MinimalModule();
  module.mutable_programs(0)->mutable_grid(0)->mutable_literal()->mutable_unknown_fields()->append(
      unknown);
  const auto decoded = Decode(module.SerializeAsString(), kLimits);
  EXPECT_EQ(IdOf(decoded.status()), DiagId::kWireUnknownField);
  EXPECT_EQ(DiagnosticsOf(decoded.status())[0].path, "programs.grid.literal");
}

TEST(WireHostileTest, UnknownEnumAndOneofValuesAreRefused) {
  v1::Module module = MinimalModule();
  module.mutable_programs(0)
      ->mutable_body()
      ->add_statements()
      ->mutable_instruction()
      ->mutable_unknown_fields()
      ->append("\x08\xc8\x01");  // opcode = 200
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireUnknownEnum);
  module = MinimalModule();
  module.mutable_programs(0)->mutable_body()->add_statements();
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireMissing);
  module = MinimalModule();
  module.mutable_programs(0)->mutable_grid(0)->clear_literal();
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireMissing);
}

TEST(WireHostileTest, ReferencesOutOfRange) {
  v1::Module module = MinimalModule();
  module.mutable_programs(0)->mutable_grid(0)->set_var(7);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireReference);
  module = MinimalModule();
  v1::Instruction* load = module.mutable_programs(0)->mutable_body()->add_statements()->mutable_instruction();
  load->set_opcode(v1::OPCODE_NEG);
  load->add_operands()->set_tensor(0);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireReference);
  // Constants cannot refer to themselves.
  module = MinimalModule();
  v1::Var* var = module.mutable_programs(0)->add_vars();
  var->set_name("n");
  var->set_kind(v1::Var::CONST);
  var->set_type("i32");
  var->mutable_value()->set_var(0);
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireReference);
}

TEST(WireHostileTest, NamesAreIdentifiers) {
  for (const char* name : {"", "a b", "1a", "\xff\xfe", "a\"b"}) {
    v1::Module module = MinimalModule();
    module.mutable_programs(0)->set_name(name);
    EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kWireValue) << name;
  }
}

TEST(WireHostileTest, LimitsComeBeforeTheParse) {
  ir::Limits limits;
  limits.max_bytes = 10;
  EXPECT_EQ(DecodeId(MinimalModule().SerializeAsString(), limits), DiagId::kLimitBytes);

  // Two bytes a node: refused by their count.
  std::string body;
  for (int i = 0; i < 2000000; ++i) body += std::string("\x0a\x00", 2);  // an empty Statement
  v1::Module module = MinimalModule();
  module.mutable_programs(0)->mutable_body();
  std::string bytes("\x08\x01\x12", 3);
  const auto varint = [](size_t n) {
    std::string out;
    for (; n >= 0x80; n >>= 7) out.push_back(static_cast<char>(n | 0x80));
    out.push_back(static_cast<char>(n));
    return out;
  };
  const std::string program = std::string("\x52") + varint(body.size()) + body;
  bytes += varint(program.size()) + program;
  EXPECT_EQ(DecodeId(bytes), DiagId::kLimitNodes);

  // Nesting beyond the limit, statements and expressions.
  module = MinimalModule();
  v1::Block* block = module.mutable_programs(0)->mutable_body();
  for (int i = 0; i < 100; ++i) {
    block = block->add_statements()->mutable_while_loop()->mutable_body();
  }
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kLimitDepth);
  module = MinimalModule();
  v1::Expr* e = module.mutable_programs(0)->mutable_grid(0);
  for (int i = 0; i < 100; ++i) {
    e->mutable_operation()->set_op(v1::Operation::NEG);
    e = e->mutable_operation()->add_args();
  }
  EXPECT_EQ(DecodeId(module.SerializeAsString()), DiagId::kLimitDepth);
}

TEST(WireHostileTest, EveryTruncationIsAnError) {
  const std::string bytes = Sample();
  const std::string whole = ir::PrintText(*Decode(bytes, kLimits));
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = Decode(bytes.substr(0, size), kLimits);
    // A cut at the end of a program leaves a shorter module, never a different one.
    if (decoded.ok()) {
      EXPECT_NE(ir::PrintText(*decoded), whole);
    }
  }
}

TEST(WireHostileTest, DamagedAndRandomBytesNeverCrash) {
  std::mt19937 random(7);
  const std::string sample = Sample();
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = sample;
    const int damage = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < damage; ++i) {
      const size_t at = random() % bytes.size();
      switch (random() % 3) {
        case 0: bytes[at] = static_cast<char>(random()); break;
        case 1: bytes.erase(at, 1 + random() % 3); break;
        default: bytes.insert(at, 1, static_cast<char>(random())); break;
      }
      if (bytes.empty()) break;
    }
    if (const auto decoded = Decode(bytes, kLimits); decoded.ok()) {
      // What decodes can be printed and encoded.
      EXPECT_FALSE(Encode(*decoded).empty());
      EXPECT_FALSE(ir::PrintText(*decoded).empty());
    }
  }
  for (int round = 0; round < 5000; ++round) {
    std::string bytes("\x08\x01", 2);
    for (size_t n = random() % 64; n > 0; --n) bytes.push_back(static_cast<char>(random()));
    (void)Decode(bytes, kLimits);
  }
}

}  // namespace
}  // namespace tilus::wire
