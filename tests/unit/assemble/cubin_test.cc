// The cubin reader on what real assemblers made, and on damaged files.
#include "assemble/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "base/diagnostic.h"

namespace tilus::assemble {
namespace {

std::string ReadFile(const std::string& name) {
  std::ifstream file(std::string(TILUS_SOURCE_DIR "/tests/data/cubin/") + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

const char* const kFiles[] = {"saxpy_sm_90a_cuda_13_0.cubin", "saxpy_sm_90a_cuda_12_9.cubin",
                              "saxpy_sm_80_cuda_13_0.cubin", "two_kernels_sm_90a_cuda_13_0.cubin"};

// The numbers are those that cuobjdump -res-usage prints (shared memory less what sm_90 reserves).
TEST(CubinTest, OneKernelOfEachFormat) {
  for (const char* name : {kFiles[0], kFiles[1], kFiles[2]}) {
    const auto info = ReadCubin(ReadFile(name));
    ASSERT_TRUE(info.ok()) << info.status();
    EXPECT_EQ(info->sm, strstr(name, "sm_80") != nullptr ? 80 : 90);
    ASSERT_EQ(info->kernels.size(), 1u);
    const KernelInfo& kernel = info->kernels[0];
    EXPECT_EQ(kernel.name, "saxpy");
    EXPECT_EQ(kernel.registers, info->sm == 80 ? 12 : 10);
    EXPECT_EQ(kernel.stack_bytes, 0);
    EXPECT_EQ(kernel.static_shared_bytes, 512);
    EXPECT_EQ(kernel.parameter_bytes, 24);
    EXPECT_EQ(kernel.code_bytes % 128, 0);
    EXPECT_GE(kernel.code_bytes, 512);
    EXPECT_EQ(kernel.max_threads, 128);
  }
}

TEST(CubinTest, KernelsAreToldApart) {
  const auto info = ReadCubin(ReadFile(kFiles[3]));
  ASSERT_TRUE(info.ok()) << info.status();
  ASSERT_EQ(info->kernels.size(), 2u);
  const KernelInfo& first = info->kernels[info->kernels[0].name == "first" ? 0 : 1];
  const KernelInfo& second = info->kernels[info->kernels[0].name == "first" ? 1 : 0];
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.registers, 8);
  EXPECT_EQ(first.stack_bytes, 0);
  EXPECT_EQ(first.parameter_bytes, 8);
  EXPECT_EQ(first.max_threads, 0);
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.registers, 16);
  EXPECT_EQ(second.stack_bytes, 256);
  EXPECT_EQ(second.static_shared_bytes, 0) << "dynamic shared memory is not static";
  EXPECT_EQ(second.parameter_bytes, 12);
  EXPECT_EQ(second.max_threads, 128);
}

TEST(CubinTest, WhatIsNoCubinIsRefused) {
  std::string other = ReadFile(kFiles[0]);
  other[18] = 62;  // x86-64
  for (const std::string& bytes :
       {std::string(), std::string("\177ELF"), std::string(1000, 'x'), other}) {
    const auto info = ReadCubin(bytes);
    ASSERT_FALSE(info.ok());
    EXPECT_EQ(DiagnosticsOf(info.status())[0].id, DiagId::kCubinMalformed);
  }
}

// Copies into a buffer of exactly the size, so that a read beyond the end is seen by ASan.
bool Reads(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return ReadCubin(absl::string_view(exact.data(), exact.size())).ok();
}

TEST(CubinTest, EveryTruncationIsAnAnswer) {
  for (const char* name : kFiles) {
    const std::string cubin = ReadFile(name);
    for (size_t size = 0; size < cubin.size(); ++size) Reads(cubin.substr(0, size));
    EXPECT_FALSE(Reads(cubin.substr(0, 1000)));
  }
}

TEST(CubinTest, EveryFlippedBitOfTheTablesIsAnAnswer) {
  for (const char* name : kFiles) {
    const std::string cubin = ReadFile(name);
    int refused = 0;
    for (size_t bit = 0; bit < cubin.size() * 8; ++bit) {
      std::string damaged = cubin;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      refused += !Reads(damaged);
    }
    EXPECT_GT(refused, 100);
  }
}

TEST(CubinTest, RandomDamageIsAnAnswer) {
  std::mt19937 random(20261201);
  for (const char* name : kFiles) {
    const std::string cubin = ReadFile(name);
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = cubin.substr(0, 1 + random() % cubin.size());
      for (int i = random() % 8; i >= 0; --i) {
        // Numbers near the limits find more than random ones.
        const uint64_t values[] = {0, ~uint64_t{0}, uint64_t{1} << 63, damaged.size(), random()};
        const uint64_t value = values[random() % 5];
        const size_t at = random() % damaged.size();
        std::memcpy(&damaged[at], &value,
                    std::min<size_t>(1u << random() % 4, damaged.size() - at));
      }
      Reads(damaged);
    }
  }
}

TEST(CubinTest, OverlappingTablesCostNoMoreThanTheFile) {
  // 65,535 sections that all claim to be attributes and to span the whole file.
  constexpr size_t kCount = 65535;
  const std::string model = ReadFile(kFiles[0]);
  std::string cubin(64 + kCount * 64 + 16, '\0');
  cubin.replace(0, 64, model.substr(0, 64));
  const auto put = [&cubin](size_t at, uint64_t value, size_t bytes) {
    std::memcpy(&cubin[at], &value, bytes);
  };
  put(40, 64, 8);
  put(60, kCount, 2);
  put(62, 1, 2);
  std::memcpy(&cubin[cubin.size() - 16], ".nv.info", 9);
  for (size_t i = 0; i < kCount; ++i) {
    const size_t row = 64 + i * 64;
    put(row, i == 1 ? 0 : cubin.size() - 16, 4);
    put(row + 4, i == 0 ? 2 : 0x70000000, 4);
    put(row + 24, i == 0 ? 0 : 0, 8);
    put(row + 32, i == 0 ? 0 : cubin.size(), 8);
  }
  EXPECT_FALSE(Reads(cubin));
}

}  // namespace
}  // namespace tilus::assemble
