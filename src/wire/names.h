// The correspondence of the schema's enums and the in-memory ones, as tables.
#pragma once

#include <optional>

#include "ir/program.h"
#include "layout/layout_expression.h"
#include "tilus/v1/layout.pb.h"
#include "tilus/v1/program.pb.h"

namespace tilus::wire {

template <typename Wire, typename Ir>
struct NamePair {
  Wire wire;
  Ir ir;
};

inline constexpr NamePair<v1::Var::Kind, ir::VarKind> kVarKinds[] = {
    {v1::Var::PARAM, ir::VarKind::kParam},
    {v1::Var::CONST, ir::VarKind::kConst},
    {v1::Var::BLOCK_INDEX, ir::VarKind::kBlockIndex},
    {v1::Var::LOOP, ir::VarKind::kLoop},
    {v1::Var::LET, ir::VarKind::kLet},
    {v1::Var::MUTABLE, ir::VarKind::kMutable},
};

inline constexpr NamePair<v1::Tensor::Scope, ir::Scope> kScopes[] = {
    {v1::Tensor::GLOBAL, ir::Scope::kGlobal},
    {v1::Tensor::SHARED, ir::Scope::kShared},
    {v1::Tensor::REGISTER, ir::Scope::kRegister},
};

inline constexpr NamePair<v1::Instruction::Cache, ir::CacheHint> kCacheHints[] = {
    {v1::Instruction::CACHE_DEFAULT, ir::CacheHint::kDefault},
    {v1::Instruction::STREAMING, ir::CacheHint::kStreaming},
    {v1::Instruction::LAST_USE, ir::CacheHint::kLastUse},
    {v1::Instruction::NO_L1, ir::CacheHint::kNoL1},
};

inline constexpr NamePair<v1::LayoutFactor::Kind, LayoutFactor::Kind> kFactorKinds[] = {
    {v1::LayoutFactor::LOCAL, LayoutFactor::kLocal},
    {v1::LayoutFactor::SPATIAL, LayoutFactor::kSpatial},
    {v1::LayoutFactor::COLUMN_LOCAL, LayoutFactor::kColumnLocal},
    {v1::LayoutFactor::COLUMN_SPATIAL, LayoutFactor::kColumnSpatial},
    {v1::LayoutFactor::REPLICATED, LayoutFactor::kReplicated},
};

template <typename Wire, typename Ir, size_t kCount>
std::optional<Ir> FromWire(const NamePair<Wire, Ir> (&pairs)[kCount], Wire wire) {
  for (const auto& pair : pairs) {
    if (pair.wire == wire) return pair.ir;
  }
  return std::nullopt;
}

template <typename Wire, typename Ir, size_t kCount>
Wire ToWire(const NamePair<Wire, Ir> (&pairs)[kCount], Ir ir) {
  for (const auto& pair : pairs) {
    if (pair.ir == ir) return pair.wire;
  }
  return pairs[0].wire;
}

}  // namespace tilus::wire
