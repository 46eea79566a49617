#include "cli/kernel_arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>
#include <utility>

#include "cli/arrays.h"
#include "cli/cat.h"
#include "cli/files.h"

namespace tilus::cli {
namespace {

struct NameAndRest {
  std::string name;
  std::string rest;
};

NameAndRest SplitName(const std::string& text, const char* option, const char* form) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0) {
    Fail(Exit::kUsage, Id::kUsage, Cat(option, " takes ", form, ", not \"", text, "\""));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

constexpr char kOutForm[] = "NAME=FILE:TYPE:DIMS";

std::vector<uint64_t> ParseDims(const std::string& text) {
  std::vector<uint64_t> dims;
  const char* at = text.data();
  const char* end = at + text.size();
  for (;;) {
    uint64_t extent = 0;
    const auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || (next != end && *next != 'x')) {
      Fail(Exit::kUsage, Id::kUsage, Cat("--out: \"", text, "\" is no shape"),
           "write extents with x between them: 8x16");
    }
    dims.push_back(extent);
    if (next == end) return dims;
    at = next + 1;
  }
}

// FILE may hold colons, so the last two split.
OutputSpec ParseOutput(const std::string& text) {
  const size_t dims_at = text.rfind(':');
  const size_t type_at = dims_at == std::string::npos || dims_at == 0
                             ? std::string::npos
                             : text.rfind(':', dims_at - 1);
  if (type_at == std::string::npos || type_at == 0) {
    Fail(Exit::kUsage, Id::kUsage, Cat("--out takes ", kOutForm, ", not \"", text, "\""));
  }
  OutputSpec spec;
  spec.file = text.substr(0, type_at);
  spec.dims = ParseDims(text.substr(dims_at + 1));
  spec.type = ParseType(std::string_view(text).substr(type_at + 1, dims_at - type_at - 1));
  return spec;
}

template <typename Map, typename Value>
void Insert(Map* map, const std::string& name, Value value, const char* option) {
  if (!map->emplace(name, std::move(value)).second) {
    Fail(Exit::kUsage, Id::kArgumentName, Cat(option, " gives \"", name, "\" twice"));
  }
}

std::vector<tilus_parameter> ParametersOf(const tilus_kernel* kernel) {
  std::vector<tilus_parameter> parameters;
  for (size_t i = 0; i < tilus_kernel_parameter_count(kernel); ++i) {
    auto parameter = Sized<tilus_parameter>();
    tilus_kernel_parameter(kernel, i, &parameter);
    parameters.push_back(parameter);
  }
  return parameters;
}

// "m: i32, a: *f16"
std::string ParametersText(const std::vector<tilus_parameter>& parameters) {
  std::string text;
  for (const tilus_parameter& parameter : parameters) {
    text += Cat(text.empty() ? "" : ", ", View(parameter.name), ": ",
                parameter.kind == TILUS_PARAMETER_POINTER ? "*" : "",
                View(tilus_type_name(parameter.type)));
  }
  return text.empty() ? "none" : text;
}

void CheckNames(const tilus_kernel* kernel, const std::vector<tilus_parameter>& parameters,
                const ArgumentSpecs& specs) {
  std::set<std::string, std::less<>> known;
  for (const tilus_parameter& parameter : parameters) known.emplace(View(parameter.name));
  const std::string hint = Cat("its parameters are ", ParametersText(parameters));
  const auto check = [&](const std::string& name) {
    if (known.find(name) != known.end()) return;
    Fail(Exit::kInput, Id::kArgumentName,
         Cat("kernel ", View(tilus_kernel_name(kernel)), " has no parameter \"", name, "\""), hint);
  };
  for (const auto& [name, text] : specs.inputs) check(name);
  for (const auto& [name, spec] : specs.outputs) check(name);
  for (const tilus_parameter& parameter : parameters) {
    const std::string name(View(parameter.name));
    if (specs.inputs.count(name) + specs.outputs.count(name) > 0) continue;
    Fail(Exit::kInput, Id::kArgumentName,
         Cat("parameter \"", name, "\" of kernel ", View(tilus_kernel_name(kernel)),
             " is not given"),
         hint);
  }
}

[[noreturn]] void BadValue(const tilus_parameter& parameter, const std::string& text,
                           const char* hint = "") {
  Fail(Exit::kInput, Id::kArgumentValue,
       Cat("\"", text, "\" is no value of parameter ", View(parameter.name), ": ",
           parameter.kind == TILUS_PARAMETER_POINTER ? "*" : "",
           View(tilus_type_name(parameter.type))),
       hint);
}

// Decimal, or hexadecimal after 0x, with a sign; true and false. Whether it fits the type is for
// the launch to say, but for numbers that no argument can carry.
int64_t ParseIntegerValue(const tilus_parameter& parameter, const std::string& text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  std::string_view digits = text;
  const bool negative = digits.substr(0, 1) == "-";
  if (negative) digits.remove_prefix(1);
  const bool hexadecimal = digits.substr(0, 2) == "0x" || digits.substr(0, 2) == "0X";
  if (hexadecimal) digits.remove_prefix(2);
  uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, magnitude, hexadecimal ? 16 : 10);
  if (error != std::errc() || at != end) BadValue(parameter, text, "give an integer");
  const uint64_t limit = uint64_t{1} << 63;
  const bool is_u64 = parameter.type == TILUS_TYPE_U64;
  if (negative ? magnitude > limit || (is_u64 && magnitude > 0) : magnitude >= limit && !is_u64) {
    BadValue(parameter, text, "it is out of range");
  }
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

double ParseNumberValue(const tilus_parameter& parameter, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || std::isspace(static_cast<unsigned char>(text[0])) != 0) {
    BadValue(parameter, text, "give a number");
  }
  return value;
}

tilus_argument Scalar(const tilus_parameter& parameter, const std::string& text) {
  auto argument = Sized<tilus_argument>();
  if (static_cast<tilus_type_class>(parameter.type >> 24) == TILUS_CLASS_FLOAT) {
    argument.kind = TILUS_ARGUMENT_NUMBER;
    argument.number = ParseNumberValue(parameter, text);
  } else {
    argument.kind = TILUS_ARGUMENT_INTEGER;
    argument.integer = ParseIntegerValue(parameter, text);
  }
  return argument;
}

tilus_argument PointerTo(const Memory& memory, tilus_type type, uint64_t size) {
  auto argument = Sized<tilus_argument>();
  argument.kind = TILUS_ARGUMENT_POINTER;
  argument.type = type;
  argument.pointer = tilus_memory_address(memory.get());
  argument.size = size;
  return argument;
}

// Memory of `size` bytes, the first of which are `data` and the rest 0. An empty array has an
// address too.
Memory MemoryWith(tilus_device* device, const std::vector<uint8_t>& data, uint64_t size) {
  const uint64_t allocated = std::max<uint64_t>(size, 1);
  Memory memory = Make<Memory>(tilus_memory_create, device, static_cast<size_t>(allocated));
  void* address = tilus_memory_address(memory.get());
  if (data.size() < allocated) Check(tilus_device_fill(device, address, 0, allocated, nullptr));
  if (!data.empty()) {
    Check(tilus_device_upload(device, address, data.data(), data.size(), nullptr));
  }
  return memory;
}

// How many elements of the type an array holds, at most: its bytes may be packed.
uint64_t ElementsIn(const NpyArray& array, tilus_type type) {
  if (!IsPacked(type)) return array.elements();
  const uint64_t bytes = array.data.size();
  const uint64_t bits = tilus_type_bits(type);
  return bytes / bits * 8 + bytes % bits * 8 / bits;
}

void CheckOutputSize(const OutputSpec& spec, const NpyArray& array, const std::string& name) {
  const uint64_t need = DenseBytes(spec.type, spec.elements());
  if (need == array.data.size()) return;
  Fail(Exit::kInput, Id::kArrayShape,
       Cat(name, " goes in and out, but the array that goes in has ", array.data.size(),
           " bytes, and what comes out ", need),
       "", array.source);
}

}  // namespace

uint64_t OutputSpec::elements() const {
  uint64_t count = 1;
  const bool empty = std::find(dims.begin(), dims.end(), 0) != dims.end();
  for (const uint64_t extent : dims) {
    if (!empty && __builtin_mul_overflow(count, extent, &count)) {
      Fail(Exit::kInput, Id::kArrayShape,
           Cat("an output of shape ", NpyShapeText(dims), " has more than 2^64 elements"));
    }
  }
  return empty ? 0 : count;
}

ArgumentSpecs ParseArgumentSpecs(const std::vector<std::string>& args,
                                 const std::vector<std::string>& outs) {
  ArgumentSpecs specs;
  for (const std::string& text : args) {
    NameAndRest split = SplitName(text, "--arg", "NAME=VALUE or NAME=@FILE");
    Insert(&specs.inputs, split.name, std::move(split.rest), "--arg");
  }
  for (const std::string& text : outs) {
    const NameAndRest split = SplitName(text, "--out", kOutForm);
    Insert(&specs.outputs, split.name, ParseOutput(split.rest), "--out");
  }
  return specs;
}

KernelArguments::KernelArguments(const tilus_kernel* kernel, tilus_device* device,
                                 const ArgumentSpecs& specs)
    : device_(device) {
  const std::vector<tilus_parameter> parameters = ParametersOf(kernel);
  CheckNames(kernel, parameters, specs);
  for (const tilus_parameter& parameter : parameters) {
    const std::string name(View(parameter.name));
    if (parameter.kind == TILUS_PARAMETER_POINTER) {
      list_.push_back(Pointer(parameter, specs));
    } else if (specs.outputs.count(name) > 0) {
      Fail(Exit::kInput, Id::kArgumentValue,
           Cat("parameter \"", name, "\" is a number, and nothing comes out of it"),
           Cat("give it with --arg ", name, "=VALUE"));
    } else {
      list_.push_back(Scalar(parameter, specs.inputs.at(name)));
    }
  }
}

tilus_argument KernelArguments::Pointer(const tilus_parameter& parameter,
                                        const ArgumentSpecs& specs) {
  const std::string name(View(parameter.name));
  const auto input = specs.inputs.find(name);
  const auto output = specs.outputs.find(name);
  const bool goes_in = input != specs.inputs.end();
  const bool goes_out = output != specs.outputs.end();
  if (goes_in && input->second == "null" && !goes_out) {
    auto argument = Sized<tilus_argument>();
    argument.kind = TILUS_ARGUMENT_POINTER;
    return argument;
  }
  if (goes_in && input->second.substr(0, 1) != "@") {
    BadValue(parameter, input->second, "give an array, as @FILE.npy, or null");
  }
  const tilus_type type = goes_out ? output->second.type : parameter.type;
  NpyArray array;
  if (goes_in) {
    array = ReadNpy(input->second.substr(1));
    CheckDescr(array, type, name);
    if (goes_out) CheckOutputSize(output->second, array, name);
  }
  const uint64_t elements = goes_out ? output->second.elements() : ElementsIn(array, type);
  const uint64_t size = std::max<uint64_t>(StorageBytes(type, elements), array.data.size());
  Memory memory = MemoryWith(device_, array.data, size);
  const tilus_argument argument = PointerTo(memory, type, size);
  if (goes_out) {
    outputs_.push_back({output->second, std::move(memory)});
  } else {
    inputs_.push_back(std::move(memory));
  }
  return argument;
}

void KernelArguments::WriteOutputs() const {
  std::vector<StagedFile> files;
  files.reserve(outputs_.size());
  for (const Output& output : outputs_) {
    const OutputSpec& spec = output.spec;
    std::string bytes(static_cast<size_t>(DenseBytes(spec.type, spec.elements())), '\0');
    if (!bytes.empty()) {
      Check(tilus_device_download(device_, bytes.data(), tilus_memory_address(output.memory.get()),
                                  bytes.size(), nullptr));
    }
    // Packed elements do not fall into rows of whole bytes in general, so their shape is lost.
    const std::vector<uint64_t> shape =
        IsPacked(spec.type) ? std::vector<uint64_t>{bytes.size()} : spec.dims;
    files.emplace_back(spec.file, NpyFile(DescrOf(spec.type), shape, bytes));
  }
  for (StagedFile& file : files) file.Commit();
}

}  // namespace tilus::cli
