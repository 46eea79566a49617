// Which .npy array holds elements of which type.
//
// Types that numpy has travel as they are; bf16 as u2 and tf32 as f4; 8-bit floats as u1; types
// that are not whole bytes as u1 arrays of their packed bytes.
#pragma once

#include <tilus.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/npy.h"

namespace tilus::cli {

// "<f2" for f16, "|u1" for i6.
std::string DescrOf(tilus_type type);
// Whether elements of the type are packed: not whole bytes.
bool IsPacked(tilus_type type);
// Throws unless the array may hold elements of the type. Of two types of one width and kind the
// array cannot tell which it holds; only a bool may also come as u1.
void CheckDescr(const NpyArray& array, tilus_type type, const std::string& what);

// Dense bytes of `count` elements: ceil(count * bits / 8).
uint64_t DenseBytes(tilus_type type, uint64_t count);
// Bytes to allocate for them.
uint64_t StorageBytes(tilus_type type, uint64_t count);

}  // namespace tilus::cli
