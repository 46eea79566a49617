// The shared memory of a block: bytes, which of their bits are defined, who touched them last, and
// what accesses cost in wavefronts of the 32 banks of 4 bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/clocks.h"
#include "simulate/report.h"

namespace tilus::simulate {

// How an access takes part in races: strong ones (atomics, ordered loads and stores) do not race
// with each other.
enum class Strength : uint8_t { kWeak, kStrong };

class SharedMemory {
 public:
  SharedMemory(uint32_t bytes, int num_warps, const Clocks* clocks, Findings* findings,
               Report* report);
  // Nothing is initialised any more.
  void Clear();

  // The offset of an access in the region; -1 and a finding when it is outside or not aligned to
  // `align` bytes.
  int64_t Locate(const Site& site, uint32_t address, int32_t add, uint32_t bytes, uint32_t align);

  // `bytes` <= 16, at an offset from Locate. `undefined` has the undefined bits of each byte.
  void Load(const Site& site, uint32_t offset, uint32_t bytes, Strength strength, void* data,
            void* undefined);
  void Store(const Site& site, uint32_t offset, uint32_t bytes, Strength strength, const void* data,
             const void* undefined);

  // An asynchronous write: between start and finish, nobody may touch the bytes.
  void StartAsync(const Site& site, uint32_t offset, uint32_t bytes);
  void FinishAsync(const Site& site, uint32_t offset, uint32_t bytes, const void* data);

  // Counts the wavefronts of one access by `lanes` at the given offsets, all of `bytes` bytes.
  void CountWavefronts(uint32_t lanes, const uint32_t* offsets, uint32_t bytes);

  uint32_t size() const { return size_; }
  uint8_t* data() { return data_.data(); }

 private:
  Stamp Now(const Site& site, Strength strength) const;
  // The sizes of accesses are 1, 2, 4, 8 and 16: each has its own loops.
  template <uint32_t kBytes>
  void LoadBytes(const Site& site, uint32_t offset, Strength strength, void* data, void* undefined);
  template <uint32_t kBytes>
  void StoreBytes(const Site& site, uint32_t offset, Strength strength, const void* data,
                  const void* undefined);
  template <uint32_t kBytes>
  void CheckWritten(const Site& site, uint32_t offset, Stamp now, const uint8_t* data);
  template <uint32_t kBytes>
  void CheckRead(const Site& site, uint32_t offset);
  template <uint32_t kBytes>
  void CheckPending(const Site& site, uint32_t offset);
  template <uint32_t kBytes>
  void NoteRead(const Site& site, uint32_t offset);
  void ReportWritten(const Site& site, uint32_t offset, uint32_t bytes, Stamp now,
                     const uint8_t* data);
  void ReportRead(const Site& site, uint32_t offset, uint32_t bytes, uint32_t warp);
  bool Ordered(Stamp before, Stamp now) const;
  void Race(const Site& site, uint32_t offset, const char* did, uint32_t warp, int lane);

  const uint32_t size_;
  const size_t num_warps_;
  const Clocks& clocks_;
  Findings& findings_;
  Report& report_;
  std::vector<uint8_t> data_;
  std::vector<uint8_t> undefined_;
  std::vector<uint8_t> pending_;  // asynchronous writes under way, per byte
  std::vector<Stamp> written_;    // the last write of each byte
  // Per warp and byte: the clock of the warp's last read, and the lane (or kSeveral) below it.
  std::vector<int32_t> read_;
};

}  // namespace tilus::simulate
