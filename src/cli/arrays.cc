#include "cli/arrays.h"

#include "cli/api.h"
#include "cli/cat.h"

namespace tilus::cli {

bool IsPacked(tilus_type type) { return tilus_type_bits(type) % 8 != 0; }

std::string DescrOf(tilus_type type) {
  const uint32_t bits = tilus_type_bits(type);
  if (IsPacked(type)) return "|u1";
  const uint32_t bytes = bits / 8;
  const char* order = bits == 8 ? "|" : "<";
  switch (static_cast<tilus_type_class>(type >> 24)) {
    case TILUS_CLASS_BOOL: return "|b1";
    case TILUS_CLASS_SIGNED: return Cat(order, "i", bytes);
    case TILUS_CLASS_FLOAT:
      return Cat(order, bits == 8 || type == TILUS_TYPE_BF16 ? "u" : "f", bytes);
    default: return Cat(order, "u", bytes);
  }
}

void CheckDescr(const NpyArray& array, tilus_type type, const std::string& what) {
  const std::string descr = DescrOf(type);
  // What follows the byte order: "f4" of "<f4" and "=f4".
  const std::string kind = array.descr.substr(1);
  if (kind == descr.substr(1) || (type == TILUS_TYPE_BOOL && kind == "u1")) return;
  Fail(Exit::kInput, Id::kArrayType,
       Cat(what, " has elements of type ", View(tilus_type_name(type)), ", which travel as ", descr,
           ", but the array holds ", array.descr),
       IsPacked(type) ? "give the packed bytes of the elements as an array of u1" : "",
       array.source);
}

uint64_t DenseBytes(tilus_type type, uint64_t count) {
  const uint64_t bits = tilus_type_bits(type);
  // Eight elements are `bits` bytes, so no product overflows that the result does not.
  return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

uint64_t StorageBytes(tilus_type type, uint64_t count) {
  uint64_t bytes = 0;
  Check(tilus_type_storage(type, count, &bytes));
  return bytes;
}

}  // namespace tilus::cli
