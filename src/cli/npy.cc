#include "cli/npy.h"

#include <charconv>
#include <optional>
#include <utility>

#include "cli/cat.h"
#include "cli/failure.h"
#include "cli/files.h"

namespace tilus::cli {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxRank = 64;  // numpy's own bound

[[noreturn]] void Malformed(const std::string& source, const std::string& what) {
  Fail(Exit::kInput, Id::kNpyFormat, Cat("it is no .npy array that can be read: ", what),
       "write it with numpy.save", source);
}

// The header is the text of a Python dict: {'descr': '<f4', 'fortran_order': False,
// 'shape': (3, 4), }. This reads dicts of strings, booleans and tuples of integers, no more.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, const std::string& source) : rest_(text), source_(source) {}

  void ReadInto(NpyArray* array) {
    bool has_order = false, has_shape = false;
    Expect('{');
    while (!Accept('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr" && array->descr.empty()) {
        array->descr = String();
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        fortran_order_ = Boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        array->shape = Tuple();
      } else {
        Malformed(source_, Cat("its header has an unexpected \"", key, "\""));
      }
      if (!Accept(',')) {
        Expect('}');
        break;
      }
    }
    SkipBlanks();
    if (!rest_.empty()) Malformed(source_, "its header has more than one value");
    if (array->descr.empty() || !has_order || !has_shape) {
      Malformed(source_, "its header lacks descr, fortran_order or shape");
    }
  }

  bool fortran_order() const { return fortran_order_; }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool Accept(char c) {
    SkipBlanks();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Malformed(source_, Cat("its header has no '", c, "' where one is due"));
  }
  std::string String() {
    SkipBlanks();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) {
      Malformed(source_, "its elements are records, or its header has no text where one is due");
    }
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) Malformed(source_, "its header has an open text");
    std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool Boolean() {
    SkipBlanks();
    for (const auto& [name, value] : {std::pair("True", true), std::pair("False", false)}) {
      const std::string_view word = name;
      if (rest_.substr(0, word.size()) == word) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    Malformed(source_, "its fortran_order is neither True nor False");
  }
  std::vector<uint64_t> Tuple() {
    std::vector<uint64_t> values;
    Expect('(');
    while (!Accept(')')) {
      SkipBlanks();
      uint64_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      if (error != std::errc()) Malformed(source_, "its shape is no tuple of integers");
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      values.push_back(value);
      if (values.size() > kMaxRank) Malformed(source_, "it has more than 64 dimensions");
      if (!Accept(',')) {
        Expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view rest_;
  const std::string& source_;
  bool fortran_order_ = false;
};

// Bytes of an element: the number after the kind in "<f4"; nothing for what is not supported.
std::optional<uint64_t> ItemBytes(std::string_view descr) {
  if (descr.size() < 3 || std::string_view("<|=").find(descr[0]) == std::string_view::npos ||
      std::string_view("biuf").find(descr[1]) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view digits = descr.substr(2);
  for (const std::string_view known : {"1", "2", "4", "8"}) {
    if (digits == known) return known[0] - '0';
  }
  return std::nullopt;
}

uint64_t LittleEndian(const std::vector<uint8_t>& bytes, size_t from, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i) value |= uint64_t{bytes[from + i]} << (8 * i);
  return value;
}

// product(shape) * item_bytes; nothing when it overflows.
std::optional<uint64_t> TotalBytes(const NpyArray& array) {
  uint64_t total = array.item_bytes;
  for (const uint64_t extent : array.shape) {
    if (__builtin_mul_overflow(total, extent, &total)) return std::nullopt;
  }
  return total;
}

}  // namespace

NpyArray ParseNpy(std::vector<uint8_t> bytes, const std::string& source) {
  const size_t prefix = kMagic.size() + 2;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic || bytes.size() < prefix) {
    Malformed(source, "it does not begin with \\x93NUMPY");
  }
  const unsigned version = bytes[kMagic.size()];
  if (version < 1 || version > 3) {
    Malformed(source, Cat("its format has version ", version, ", not 1 to 3"));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < prefix + length_bytes) Malformed(source, "it ends within its header");
  const uint64_t header_bytes = LittleEndian(bytes, prefix, length_bytes);
  const size_t header = prefix + length_bytes;
  if (header_bytes > bytes.size() - header) Malformed(source, "it ends within its header");

  NpyArray array;
  array.source = source;
  HeaderReader reader(text.substr(header, header_bytes), source);
  reader.ReadInto(&array);
  const std::optional<uint64_t> item_bytes = ItemBytes(array.descr);
  if (!item_bytes) {
    Malformed(source, Cat("its elements are \"", array.descr,
                          "\", not little-endian integers, floats or booleans of 1 to 8 bytes"));
  }
  array.item_bytes = *item_bytes;
  if (reader.fortran_order() && array.shape.size() > 1) {
    Malformed(source, "it is in Fortran order; numpy.ascontiguousarray makes it C order");
  }
  const uint64_t have = bytes.size() - header - header_bytes;
  const std::optional<uint64_t> need = TotalBytes(array);
  if (!need || *need != have) {
    Malformed(source, Cat("shape ", NpyShapeText(array.shape), " of ", array.descr, " needs ",
                          need ? Cat(*need) : "more than 2^64",
                          " bytes, and after the header there are ", have));
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(header + header_bytes));
  array.data = std::move(bytes);
  return array;
}

NpyArray ReadNpy(const std::string& path) { return ParseNpy(ReadFile(path), SourceName(path)); }

std::string NpyShapeText(const std::vector<uint64_t>& shape) {
  std::string text = "(";
  for (size_t d = 0; d < shape.size(); ++d) {
    text += Cat(d > 0 ? ", " : "", shape[d]);
  }
  text += shape.size() == 1 ? ",)" : ")";
  return text;
}

std::string NpyFile(std::string_view descr, const std::vector<uint64_t>& shape,
                    std::string_view data) {
  constexpr size_t kAlignment = 64;  // of the data, as numpy has it
  std::string header = Cat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ",
                           NpyShapeText(shape), ", }");
  const size_t prefix = kMagic.size() + 4;
  header.append(kAlignment - 1 - (prefix + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string file(kMagic);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(header.size() & 0xff);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file += data;
  return file;
}

}  // namespace tilus::cli
