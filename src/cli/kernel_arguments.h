// The arguments of `tilusc run`: from NAME=VALUE, NAME=@file.npy and NAME=file.npy:TYPE:DIMS to
// what a launch takes, and from the device's memory to files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/api.h"
#include "cli/npy.h"

namespace tilus::cli {

// --out NAME=FILE:TYPE:DIMS
struct OutputSpec {
  std::string file;
  tilus_type type = TILUS_TYPE_NONE;
  std::vector<uint64_t> dims;

  uint64_t elements() const;
};

// By name of the parameter.
struct ArgumentSpecs {
  std::map<std::string, std::string> inputs;  // VALUE or @FILE, as given
  std::map<std::string, OutputSpec> outputs;
};

// Reads the two options. Throws Exit::kUsage for what does not have their form, Exit::kInput for a
// type that does not exist.
ArgumentSpecs ParseArgumentSpecs(const std::vector<std::string>& args,
                                 const std::vector<std::string>& outs);

// Arguments in the order of a kernel's parameters, with the memory that they point to.
class KernelArguments {
 public:
  // Reads the files, allocates memory and uploads. Throws Exit::kInput where names, values or
  // arrays do not fit the parameters.
  KernelArguments(const tilus_kernel* kernel, tilus_device* device, const ArgumentSpecs& specs);

  const std::vector<tilus_argument>& list() const { return list_; }

  // Downloads and writes every output, all or none.
  void WriteOutputs() const;

 private:
  struct Output {
    OutputSpec spec;
    Memory memory;
  };

  tilus_argument Pointer(const tilus_parameter& parameter, const ArgumentSpecs& specs);

  tilus_device* device_;
  std::vector<tilus_argument> list_;
  std::vector<Memory> inputs_;
  std::vector<Output> outputs_;
};

}  // namespace tilus::cli
