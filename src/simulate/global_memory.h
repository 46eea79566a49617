// Global memory is the host's: addresses are host pointers. Buffers of known size are checked, and
// the last writer and readers of each word remembered, to find races within a block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "simulate/clocks.h"
#include "simulate/report.h"
#include "simulate/shared_memory.h"

namespace tilus::simulate {

class GlobalMemory {
 public:
  GlobalMemory(const machine::Kernel& kernel, absl::Span<const Argument> arguments,
               const Clocks* clocks, Findings* findings);

  // False, with a finding, when an access of `bytes` (0 = none) at `address` is outside the
  // buffers or not aligned.
  bool Check(const Site& site, uint64_t address, uint32_t bytes, uint32_t align);

  // For accesses that Check allowed. They only look for races; the caller moves the bytes,
  // afterwards. Two threads that write the same value do not race.
  void NoteRead(const Site& site, uint64_t address, uint32_t bytes, Strength strength);
  void NoteWrite(const Site& site, uint64_t address, uint32_t bytes, Strength strength,
                 const void* data);
  // A read that promises that nothing writes the data while the kernel runs.
  void NoteNonCoherentRead(const Site& site, uint64_t address, uint32_t bytes);

 private:
  struct Buffer {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint32_t param = 0;
  };
  // Of a 4-byte word: its last write, and up to two reads by different warps since. Of accesses to
  // different bytes of a word only the last is kept.
  struct Word {
    Stamp write;
    Stamp reads[2];
  };
  static constexpr uint64_t kPageBytes = 4096;
  struct Page {
    Word words[kPageBytes / 4];
  };

  Page* FindPage(uint64_t address, bool create);
  Stamp Now(const Site& site, Strength strength) const;
  bool Ordered(Stamp before, Stamp now) const;
  void Race(const Site& site, uint64_t address, const char* did, Stamp other);
  // Calls visit(word, mask of its bytes, address of the word) for the words of an access.
  template <typename Visit>
  void ForEachWord(uint64_t address, uint32_t bytes, bool create, const Visit& visit);
  std::string Place(uint64_t address) const;
  void ReportOutside(const Site& site, uint64_t address, uint32_t bytes);

  const machine::Kernel& kernel_;
  const Clocks& clocks_;
  Findings& findings_;
  std::vector<Buffer> buffers_;  // by begin
  bool all_known_ = true;        // every pointer argument has a size
  size_t last_ = 0;              // of buffers_: hit last
  absl::flat_hash_map<uint64_t, std::unique_ptr<Page>> pages_;
  uint64_t last_page_ = ~uint64_t{0};
  Page* last_page_data_ = nullptr;
};

}  // namespace tilus::simulate
