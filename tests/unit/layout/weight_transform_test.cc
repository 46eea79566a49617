// The contracts of weight_transform.h, and the transform vectors.
#include "layout/weight_transform.h"

#include "absl/strings/escaping.h"
#include "layout/bit_layout.h"
#include "layout_testing.h"
#include "layout_vectors.h"

namespace tilus {
namespace {

using testing::HasError;
using testing::L;
using testing::Vectors;

// The register layouts of the mma operands that weights are loaded in.
constexpr const char* kOperands[] = {
    "local(2,1).column_spatial(4,8).local(2,1)",  // m16n8k16 B, 16-bit
    "column_spatial(4,8).local(2,1)",             // m16n8k8 B
    "column_local(2,2).spatial(8,4).local(1,2)",  // m16n8k16 A
    "local(2,1).spatial(8,4).local(1,2)",         // m16n8k8 A
    "local(2,1).column_spatial(4,8).local(4,1)",  // m16n8k32 B, 8-bit
    "local(1,2).local(2,1).column_spatial(4,8).local(2,1)",
    "spatial(2,1).column_spatial(4,8).local(2,1)",
    "column_spatial(4,8)",
};

std::vector<uint16_t> RandomCodes(std::mt19937& random, int64_t count, int bits) {
  std::vector<uint16_t> codes(count);
  for (uint16_t& code : codes) code = random() & ((1u << bits) - 1);
  return codes;
}

TEST(WeightTransform, Vectors) {
  const nlohmann::json vectors = Vectors("transform");
  EXPECT_FALSE(vectors.empty());
  for (const nlohmann::json& v : vectors) {
    const int bits = v["bits"];
    const auto plan = PlanTransform(bits, L(v["layout"].get<std::string>()), 0);
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->bytes, L(v["u8_layout"].get<std::string>()));
    std::vector<uint16_t> codes;
    for (const nlohmann::json& row : v["codes"]) {
      for (const nlohmann::json& code : row) codes.push_back(code.get<uint16_t>());
    }
    const WeightTransform transform(*plan);
    const auto packed = transform.PackTile(codes);
    ASSERT_TRUE(packed.ok()) << packed.status();
    EXPECT_EQ(absl::BytesToHexString(std::string(packed->begin(), packed->end())),
              v["packed"].get<std::string>());
    EXPECT_EQ(*transform.UnpackTile(*packed), codes);
  }
}

// Every bit is where the definition puts it, for every width and operand.
TEST(WeightTransform, BitsAreWhereTheViewExpectsThem) {
  std::mt19937 random(8);
  for (int bits = 1; bits <= kMaxWeightBits; ++bits) {
    for (const char* operand : kOperands) {
      const TransformDescriptor plan = *PlanTransform(bits, L(operand), 0);
      const int64_t threads = plan.tile.num_threads();
      const std::vector<uint16_t> codes = RandomCodes(random, plan.tile.size(), bits);
      const std::vector<uint8_t> packed = *WeightTransform(plan).PackTile(codes);
      for (int64_t t = 0; t < threads; ++t) {
        for (int64_t p = 0; p < plan.thread_bytes * 8; ++p) {
          const int64_t j = p / 8, n1 = plan.vector_bytes;
          const uint8_t byte = packed[j / n1 * threads * n1 + t * n1 + j % n1];
          const uint16_t code = codes[plan.tile.MapLinear(t, p / bits)];
          ASSERT_EQ(byte >> p % 8 & 1, code >> p % bits & 1)
              << bits << " bits, " << operand << ", thread " << t << ", bit " << p;
        }
      }
    }
  }
}

TEST(PlanTransform, RepeatsAsLittleAsMakesWholeBytes) {
  for (int bits = 1; bits <= kMaxWeightBits; ++bits) {
    for (const char* operand : kOperands) {
      for (int k_dim : {0, 1}) {
        const RegisterLayout f = L(operand);
        const TransformDescriptor plan = *PlanTransform(bits, f, k_dim);
        int64_t r = 1;
        while (f.locals_per_thread() * bits * r % 8 != 0) r *= 2;
        ASSERT_LE(r, 8);
        EXPECT_EQ(plan.repetition, r);
        EXPECT_EQ(plan.tile.shape()[k_dim], f.shape()[k_dim] * r);
        EXPECT_EQ(plan.tile.shape()[1 - k_dim], f.shape()[1 - k_dim]);
        EXPECT_EQ(plan.thread_bytes * 8, plan.tile.locals_per_thread() * bits);
        EXPECT_EQ(CheckView(8, plan.bytes, bits, plan.tile, std::nullopt).verdict,
                  ViewVerdict::kFree);
      }
    }
  }
}

TEST(PlanTransform, TakesALargerRepetitionWhenAsked) {
  const RegisterLayout f = L("local(2,1).column_spatial(4,8).local(2,1)");
  EXPECT_EQ(PlanTransform(3, f, 0)->thread_bytes, 3);
  EXPECT_EQ(PlanTransform(3, f, 0)->repetition, 2);
  const TransformDescriptor wide = *PlanTransform(3, f, 0, 32);
  EXPECT_EQ(wide.thread_bytes, 48);
  EXPECT_EQ(wide.bytes, L("local(3).spatial(32).local(16)"));
  EXPECT_THAT(PlanTransform(3, f, 0, 1),
              HasError(DiagId::kWeightTransform, "give a thread 12 bits, not whole bytes"));
  EXPECT_THAT(PlanTransform(3, f, 0, 0), HasError(DiagId::kLayoutExtent, "extent 0"));
}

TEST(PlanTransform, RefusesWhatCannotBePacked) {
  const RegisterLayout f = L("spatial(8,4)");
  EXPECT_THAT(PlanTransform(0, f, 0), HasError(DiagId::kElementBits, "0 bits"));
  EXPECT_THAT(PlanTransform(17, f, 0), HasError(DiagId::kElementBits, "17 bits"));
  EXPECT_THAT(PlanTransform(4, f, 2), HasError(DiagId::kWeightTransform, "dimension 2"));
  EXPECT_THAT(PlanTransform(4, f, -1), HasError(DiagId::kWeightTransform, "dimension -1"));
  EXPECT_THAT(PlanTransform(4, L("replicated(2).spatial(8,4)"), 0),
              HasError(DiagId::kWeightTransform, "holds each element in 2 threads"));
  EXPECT_THAT(PlanTransform(4, L("local(65536,128)"), 0),
              HasError(DiagId::kWeightTransform, "larger than the limit"));
}

// unpack(pack(W)) = W for widths 1 to 16, every operand, both K dimensions, ragged edges; what
// sticks out is code 0.
TEST(WeightTransform, MatricesComeBack) {
  std::mt19937 random(9);
  for (int bits = 1; bits <= kMaxWeightBits; ++bits) {
    for (const char* operand : kOperands) {
      const int k_dim = random() % 2;
      const WeightTransform transform(*PlanTransform(bits, L(operand), k_dim));
      const auto shape = transform.descriptor().tile.shape();
      for (int n = 0; n < 4; ++n) {
        const int64_t rows = 1 + random() % (2 * shape[0]), columns = 1 + random() % (3 * shape[1]);
        const std::vector<uint16_t> codes = RandomCodes(random, rows * columns, bits);
        const auto packed = transform.Pack(codes, rows, columns);
        ASSERT_TRUE(packed.ok()) << packed.status();
        const auto grid = *transform.TilesOf(rows, columns);
        ASSERT_EQ(static_cast<int64_t>(packed->size()),
                  grid.rows * grid.columns * transform.descriptor().tile_bytes());
        ASSERT_EQ(*transform.Unpack(*packed, rows, columns), codes);
        const int64_t full_rows = grid.rows * shape[0], full_columns = grid.columns * shape[1];
        const auto full = *transform.Unpack(*packed, full_rows, full_columns);
        for (int64_t r = 0; r < full_rows; ++r) {
          for (int64_t c = 0; c < full_columns; ++c) {
            const bool inside = r < rows && c < columns;
            ASSERT_EQ(full[r * full_columns + c], inside ? codes[r * columns + c] : 0);
          }
        }
      }
    }
  }
}

TEST(WeightTransform, TilesAreRowMajorOverTheMatrix) {
  const WeightTransform transform(*PlanTransform(8, L("spatial(2,2)"), 0));
  const std::vector<uint16_t> codes = {0, 1, 4, 5, 2, 3, 6, 7};
  EXPECT_EQ(*transform.Pack(codes, 2, 4), (std::vector<uint8_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(WeightTransform, RefusesWrongSizesAndCodes) {
  const WeightTransform transform(*PlanTransform(3, L("spatial(2,2).local(1,8)"), 1));
  const std::vector<uint16_t> codes(32, 7);
  EXPECT_TRUE(transform.PackTile(codes).ok());
  std::vector<uint16_t> wide = codes;
  wide[5] = 8;
  EXPECT_THAT(transform.PackTile(wide),
              HasError(DiagId::kWeightTransform, "code 8 of element 5 does not fit 3 bits"));
  EXPECT_THAT(transform.Pack(wide, 2, 16), HasError(DiagId::kWeightTransform, "code 8"));
  EXPECT_THAT(transform.PackTile(std::vector<uint16_t>(31)),
              HasError(DiagId::kWeightTransform, "has 32 codes, not 31"));
  EXPECT_THAT(transform.UnpackTile(std::vector<uint8_t>(13)),
              HasError(DiagId::kWeightTransform, "has 12 bytes, not 13"));
  EXPECT_THAT(transform.Pack(codes, 4, 4), HasError(DiagId::kWeightTransform, "4 x 4"));
  EXPECT_THAT(transform.Pack(codes, -2, -16), HasError(DiagId::kWeightTransform, "-2 x -16"));
  EXPECT_THAT(transform.Pack({}, 0, 4), HasError(DiagId::kWeightTransform, "0 x 4"));
  EXPECT_THAT(transform.Unpack(std::vector<uint8_t>(12), INT64_MAX, 2),
              HasError(DiagId::kWeightTransform, "x 2"));
  EXPECT_THAT(transform.Unpack(std::vector<uint8_t>(12), int64_t{1} << 61, 1),
              HasError(DiagId::kWeightTransform, "12 bytes are not"));
  // 2^14 tiles of 2^19 bytes for 2^14 codes.
  const WeightTransform tall(*PlanTransform(1, L("local(4194304,1)"), 0));
  EXPECT_THAT(tall.Pack(std::vector<uint16_t>(1 << 14), 1, 1 << 14),
              HasError(DiagId::kWeightTransform, "exceed 4294967296 bytes"));
  const WeightTransform flat(*PlanTransform(8, L("spatial(4)"), 0));
  EXPECT_THAT(flat.Pack(std::vector<uint16_t>(4), 2, 2),
              HasError(DiagId::kWeightTransform, "rank 2"));
}

}  // namespace
}  // namespace tilus
