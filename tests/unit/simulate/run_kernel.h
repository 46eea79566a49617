// Helpers of the simulator's tests: kernels in a few lines, and what their run leaves.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "machine/builder.h"
#include "machine/kernel.h"
#include "machine/verify.h"
#include "simulate/simulate.h"

namespace tilus::simulate {

using machine::Builder;
using machine::Compare;
using machine::ImmF32;
using machine::ImmS32;
using machine::ImmS64;
using machine::ImmU32;
using machine::Kernel;
using machine::Op;
using machine::Operand;
using machine::Reg;
using machine::RegClass;
using machine::Special;
using machine::Type;
using machine::Unless;
using machine::When;

inline void PrintTo(Fault fault, std::ostream* os) { *os << FaultName(fault); }

// A kernel with pointer parameters, and the buffers behind them.
class TestKernel {
 public:
  explicit TestKernel(uint32_t num_threads = 32, uint32_t shared_bytes = 0) {
    kernel_.name = "test";
    kernel_.num_threads = num_threads;
    kernel_.shared_bytes = shared_bytes;
    builder_ = std::make_unique<Builder>(&kernel_);
  }

  Builder& b() { return *builder_; }
  Kernel& kernel() { return kernel_; }
  Options& options() { return options_; }

  // A pointer parameter for `data`, which outlives the run; its address as a register.
  template <typename T>
  Operand Buffer(std::vector<T>* data) {
    const int64_t bytes = static_cast<int64_t>(data->size() * sizeof(T));
    return Pointer(data->data(), bytes);
  }
  Operand Pointer(void* data, int64_t bytes) {
    machine::Param param;
    param.name = absl::StrCat("p", kernel_.params.size());
    param.type = Type::kB64;
    param.size = param.align = 8;
    param.is_pointer = true;
    kernel_.params.push_back(param);
    arguments_.push_back({reinterpret_cast<uint64_t>(data), bytes});
    return b().LdParam(static_cast<uint32_t>(kernel_.params.size() - 1));
  }
  Operand Scalar(Type type, uint64_t bits) {
    machine::Param param;
    param.name = absl::StrCat("p", kernel_.params.size());
    param.type = type;
    param.size = param.align = static_cast<uint32_t>(BitsOf(type) / 8);
    kernel_.params.push_back(param);
    arguments_.push_back({bits, -1});
    return b().LdParam(static_cast<uint32_t>(kernel_.params.size() - 1));
  }

  Operand Tid() {
    if (!tid_.is_reg()) tid_ = b().Read(Special::kTidX);
    return tid_;
  }
  // base + index * bytes, for a global base.
  Operand At(Operand base, Operand index, uint32_t bytes) {
    return b().MadWideU32(index, ImmU32(bytes), base);
  }
  // The shared region's base + index * bytes.
  Operand SharedAt(Operand index, uint32_t bytes) {
    const Reg base = b().Copy(RegClass::kB32, Operand::SharedBase());
    return b().AddS32(base, b().MulLoS32(index, ImmU32(bytes)));
  }
  // out[tid] = value (b32 or b64).
  void StoreByTid(Operand out, Operand value, Type type = Type::kB32) {
    b().StGlobal(At(out, Tid(), static_cast<uint32_t>(BitsOf(type) / 8)), type, {value});
  }
  Reg LoadShared(Operand address, Type type = Type::kB32) {
    const Reg r = b().NewReg(ClassOf(type));
    b().LdShared({r}, type, address);
    return r;
  }
  Reg LoadGlobal(Operand address, Type type = Type::kB32) {
    const Reg r = b().NewReg(ClassOf(type));
    b().LdGlobal({r}, type, address);
    return r;
  }

  // Runs the kernel. `verify` is off for kernels that read unwritten registers on purpose.
  Report Run(std::array<int64_t, 3> grid = {1, 1, 1}, bool verify = true) {
    if (verify) {
      EXPECT_TRUE(machine::Verify(kernel_).ok()) << machine::Verify(kernel_);
    }
    auto report = simulate::Run(kernel_, grid, arguments_, options_);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : Report{};
  }
  Report RunUnverified() { return Run({1, 1, 1}, /*verify=*/false); }
  void RunClean(std::array<int64_t, 3> grid = {1, 1, 1}) {
    const Report report = Run(grid);
    for (const Finding& f : report.findings)
      ADD_FAILURE() << FaultName(f.fault) << ": " << f.message;
  }
  absl::Span<const Argument> arguments() const { return arguments_; }

 private:
  Kernel kernel_;
  std::unique_ptr<Builder> builder_;
  std::vector<Argument> arguments_;
  Options options_;
  Operand tid_;
};

// The kinds of the findings, in order.
inline std::vector<Fault> Faults(const Report& report) {
  std::vector<Fault> faults;
  for (const Finding& f : report.findings) faults.push_back(f.fault);
  return faults;
}

inline std::string Messages(const Report& report) {
  std::string all;
  for (const Finding& f : report.findings)
    absl::StrAppend(&all, FaultName(f.fault), ": ", f.message, "\n");
  return all;
}

}  // namespace tilus::simulate
