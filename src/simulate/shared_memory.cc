#include "simulate/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace tilus::simulate {
namespace {

// Entries of read_: clock << 6 | lane.
constexpr int32_t kSeveral = 63;
constexpr int kLaneBits = 6;

// Calls visit(constant) with the size of an access as a constant.
template <typename Visit>
void WithSize(uint32_t bytes, const Visit& visit) {
  switch (bytes) {
    case 1:
      return visit(std::integral_constant<uint32_t, 1>());
    case 2:
      return visit(std::integral_constant<uint32_t, 2>());
    case 4:
      return visit(std::integral_constant<uint32_t, 4>());
    case 8:
      return visit(std::integral_constant<uint32_t, 8>());
    default:
      return visit(std::integral_constant<uint32_t, 16>());
  }
}

// Most distinct words in one bank, and distinct words, of up to 32 accesses of one pass.
struct PassCost {
  int wavefronts = 0;
  int words = 0;
};

PassCost CostOf(absl::Span<const uint32_t> words) {
  uint32_t first_of_bank[32], others[kLanes];
  uint8_t count_of_bank[32];
  uint32_t seen_banks = 0;
  int num_others = 0;
  PassCost cost;
  for (const uint32_t word : words) {
    const uint32_t bank = word % 32;
    if ((seen_banks >> bank & 1) == 0) {
      seen_banks |= 1u << bank;
      first_of_bank[bank] = word;
      count_of_bank[bank] = 0;
    } else {
      if (first_of_bank[bank] == word) continue;
      if (std::find(others, others + num_others, word) != others + num_others) continue;
      others[num_others++] = word;
    }
    ++cost.words;
    cost.wavefronts = std::max<int>(cost.wavefronts, ++count_of_bank[bank]);
  }
  return cost;
}

}  // namespace

SharedMemory::SharedMemory(uint32_t bytes, int num_warps, const Clocks* clocks, Findings* findings,
                           Report* report)
    : size_(bytes),
      num_warps_(static_cast<size_t>(num_warps)),
      clocks_(*clocks),
      findings_(*findings),
      report_(*report) {
  data_.resize(bytes);
  undefined_.resize(bytes);
  pending_.resize(bytes);
  written_.resize(bytes);
  read_.resize(bytes * num_warps_);
}

void SharedMemory::Clear() {
  std::fill(data_.begin(), data_.end(), uint8_t{0xcd});
  std::fill(undefined_.begin(), undefined_.end(), uint8_t{0xff});
  std::fill(pending_.begin(), pending_.end(), uint8_t{0});
  // Stamps of earlier blocks are known to all; clocks fit the 25 bits of a read entry only for so
  // long.
  if (clocks_.now(0) >= uint32_t{1} << 24) {
    std::fill(written_.begin(), written_.end(), Stamp());
    std::fill(read_.begin(), read_.end(), 0);
  }
}

int64_t SharedMemory::Locate(const Site& site, uint32_t address, int32_t add, uint32_t bytes,
                             uint32_t align) {
  const int64_t offset = int64_t{address} + add - kSharedBase;
  if (offset < 0 || offset + bytes > size_) {
    if (findings_.IsNew(Fault::kOutOfBounds, site.inst)) {
      findings_.Add(Fault::kOutOfBounds, site,
                    absl::StrCat("an access of ", bytes, " bytes at shared offset ", offset,
                                 " is outside the ", size_, " bytes of the block"));
    }
    return -1;
  }
  if (offset % align != 0) {
    if (findings_.IsNew(Fault::kMisaligned, site.inst)) {
      findings_.Add(Fault::kMisaligned, site,
                    absl::StrCat("an access of ", bytes, " bytes at shared offset ", offset,
                                 " is not aligned to ", align, " bytes"));
    }
    return -1;
  }
  return offset;
}

Stamp SharedMemory::Now(const Site& site, Strength strength) const {
  return Stamp::Of(clocks_.now(site.warp.index),
                   site.warp.index * kLanes + static_cast<uint32_t>(site.lane),
                   strength == Strength::kStrong, site.warp.issued);
}

void SharedMemory::Race(const Site& site, uint32_t offset, const char* did, uint32_t warp,
                        int lane) {
  if (!findings_.IsNew(Fault::kRace, site.inst)) return;
  const std::string other = warp != site.warp.index ? absl::StrCat("warp ", warp)
                            : lane >= 0             ? absl::StrCat("lane ", lane)
                                                    : "another lane";
  findings_.Add(Fault::kRace, site,
                absl::StrCat("the byte at shared offset ", offset, " was ", did, " by ", other,
                             " and no barrier stands between"));
}

bool SharedMemory::Ordered(Stamp before, Stamp now) const {
  return before.none() || before.thread() == now.thread() ||
         clocks_.Knows(now.warp(), before.warp(), before.clock()) ||
         (before.strong() && now.strong());
}

// The last writes of the bytes must lie before the access at `now`, or be strong as it is. `data`
// is what a write is about to write.
template <uint32_t kBytes>
void SharedMemory::CheckWritten(const Site& site, uint32_t offset, Stamp now, const uint8_t* data) {
  const Stamp* stamps = written_.data() + offset;
  // Most often all bytes were written together.
  const Stamp first = stamps[0];
  bool same = true;
  for (uint32_t i = 1; i < kBytes; ++i) same &= stamps[i] == first;
  if (same && Ordered(first, now)) [[likely]]
    return;
  ReportWritten(site, offset, kBytes, now, data);
}

void SharedMemory::ReportWritten(const Site& site, uint32_t offset, uint32_t bytes, Stamp now,
                                 const uint8_t* data) {
  for (uint32_t i = 0; i < bytes; ++i) {
    const Stamp s = written_[offset + i];
    // Threads may write the same value to a byte.
    if (Ordered(s, now) || (data != nullptr && data_[offset + i] == data[i])) continue;
    if (!s.SameIssue(now)) {
      return Race(site, offset + i, "written", s.warp(), static_cast<int>(s.lane()));
    }
    if (findings_.IsNew(Fault::kRace, site.inst)) {
      findings_.Add(Fault::kRace, site,
                    absl::StrCat("lane ", s.lane(),
                                 " of the same store writes another value to "
                                 "the byte at shared offset ",
                                 offset + i));
    }
    return;
  }
}

// The last reads of the bytes must lie before a write.
template <uint32_t kBytes>
void SharedMemory::CheckRead(const Site& site, uint32_t offset) {
  const Knowledge& known = clocks_.known(site.warp.index);
  for (size_t w = 0; w < num_warps_; ++w) {
    const int32_t* row = read_.data() + w * size_ + offset;
    // The greatest entry of that warp that is known.
    const int32_t bound = static_cast<int32_t>(known[w]) << kLaneBits | kSeveral;
    bool later = false;
    for (uint32_t i = 0; i < kBytes; ++i) later |= row[i] > bound;
    if (later) [[unlikely]]
      ReportRead(site, offset, kBytes, static_cast<uint32_t>(w));
  }
}

void SharedMemory::ReportRead(const Site& site, uint32_t offset, uint32_t bytes, uint32_t warp) {
  const int32_t known = static_cast<int32_t>(clocks_.known(site.warp.index)[warp]);
  for (uint32_t i = 0; i < bytes; ++i) {
    const int32_t entry = read_[size_t{warp} * size_ + offset + i];
    const int32_t lane = entry & kSeveral;
    if (entry >> kLaneBits <= known) continue;
    if (warp == site.warp.index && lane == site.lane) continue;
    return Race(site, offset + i, "read", warp, lane == kSeveral ? -1 : lane);
  }
}

template <uint32_t kBytes>
void SharedMemory::CheckPending(const Site& site, uint32_t offset) {
  uint8_t any = 0;
  for (uint32_t i = 0; i < kBytes; ++i) any |= pending_[offset + i];
  if (any == 0 || !findings_.IsNew(Fault::kRace, site.inst)) [[likely]]
    return;
  findings_.Add(Fault::kRace, site,
                absl::StrCat("an asynchronous copy to the ", kBytes, " bytes at shared offset ",
                             offset, " was started and not waited for"));
}

template <uint32_t kBytes>
void SharedMemory::NoteRead(const Site& site, uint32_t offset) {
  int32_t* row = read_.data() + size_t{site.warp.index} * size_ + offset;
  const int32_t clock = static_cast<int32_t>(clocks_.now(site.warp.index)) << kLaneBits;
  const int32_t mine = clock | site.lane, several = clock | kSeveral;
  for (uint32_t i = 0; i < kBytes; ++i) {
    const bool other_lane = (row[i] >= clock) & (row[i] != mine);
    row[i] = other_lane ? several : mine;
  }
}

template <uint32_t kBytes>
void SharedMemory::LoadBytes(const Site& site, uint32_t offset, Strength strength, void* data,
                             void* undefined) {
  CheckPending<kBytes>(site, offset);
  CheckWritten<kBytes>(site, offset, Now(site, strength), nullptr);
  if (strength == Strength::kWeak) NoteRead<kBytes>(site, offset);
  std::memcpy(data, data_.data() + offset, kBytes);
  std::memcpy(undefined, undefined_.data() + offset, kBytes);
}

template <uint32_t kBytes>
void SharedMemory::StoreBytes(const Site& site, uint32_t offset, Strength strength,
                              const void* data, const void* undefined) {
  const Stamp now = Now(site, strength);
  CheckPending<kBytes>(site, offset);
  CheckWritten<kBytes>(site, offset, now, static_cast<const uint8_t*>(data));
  CheckRead<kBytes>(site, offset);
  std::fill_n(written_.data() + offset, kBytes, now);
  std::memcpy(data_.data() + offset, data, kBytes);
  std::memcpy(undefined_.data() + offset, undefined, kBytes);
}

void SharedMemory::Load(const Site& site, uint32_t offset, uint32_t bytes, Strength strength,
                        void* data, void* undefined) {
  WithSize(bytes, [&](auto size) { LoadBytes<size()>(site, offset, strength, data, undefined); });
}

void SharedMemory::Store(const Site& site, uint32_t offset, uint32_t bytes, Strength strength,
                         const void* data, const void* undefined) {
  WithSize(bytes, [&](auto size) { StoreBytes<size()>(site, offset, strength, data, undefined); });
}

void SharedMemory::StartAsync(const Site& site, uint32_t offset, uint32_t bytes) {
  WithSize(bytes, [&](auto size) {
    CheckPending<size()>(site, offset);
    CheckWritten<size()>(site, offset, Now(site, Strength::kWeak), nullptr);
    CheckRead<size()>(site, offset);
  });
  for (uint32_t i = 0; i < bytes; ++i) ++pending_[offset + i];
}

void SharedMemory::FinishAsync(const Site& site, uint32_t offset, uint32_t bytes,
                               const void* data) {
  for (uint32_t i = 0; i < bytes; ++i) --pending_[offset + i];
  std::fill_n(written_.data() + offset, bytes, Now(site, Strength::kWeak));
  std::memcpy(data_.data() + offset, data, bytes);
  std::memset(undefined_.data() + offset, 0, bytes);
}

void SharedMemory::CountWavefronts(uint32_t lanes, const uint32_t* offsets, uint32_t bytes) {
  // Words of more than 4 bytes go by halves or quarters of the warp.
  const int lanes_per_pass = bytes <= 4 ? kLanes : bytes == 8 ? kLanes / 2 : kLanes / 4;
  const uint32_t words_per_lane = bytes <= 4 ? 1 : bytes / 4;
  for (int first = 0; first < kLanes; first += lanes_per_pass) {
    uint32_t words[kLanes];
    size_t n = 0;
    for (int lane = first; lane < first + lanes_per_pass; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      for (uint32_t w = 0; w < words_per_lane; ++w) words[n++] = offsets[lane] / 4 + w;
    }
    if (n == 0) continue;
    const PassCost cost = CostOf(absl::MakeConstSpan(words, n));
    report_.shared_wavefronts += cost.wavefronts;
    report_.bank_conflicts += cost.wavefronts - (cost.words + 31) / 32;
  }
}

}  // namespace tilus::simulate
