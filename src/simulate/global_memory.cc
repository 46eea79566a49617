#include "simulate/global_memory.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace tilus::simulate {
namespace {

// No host buffer lies below: such an address is a null pointer with an offset.
constexpr uint64_t kLowestAddress = 4096;

}  // namespace

GlobalMemory::GlobalMemory(const machine::Kernel& kernel, absl::Span<const Argument> arguments,
                           const Clocks* clocks, Findings* findings)
    : kernel_(kernel), clocks_(*clocks), findings_(*findings) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!kernel.params[i].is_pointer) continue;
    if (arguments[i].bytes < 0) {
      all_known_ = false;
      continue;
    }
    const uint64_t begin = arguments[i].value;
    buffers_.push_back(
        {begin, begin + static_cast<uint64_t>(arguments[i].bytes), static_cast<uint32_t>(i)});
  }
  std::stable_sort(buffers_.begin(), buffers_.end(),
                   [](const Buffer& a, const Buffer& b) { return a.begin < b.begin; });
}

std::string GlobalMemory::Place(uint64_t address) const {
  // The buffer that the address is in, or else the one it is closest behind or before.
  const Buffer* nearest = nullptr;
  uint64_t least = ~uint64_t{0};
  for (const Buffer& b : buffers_) {
    const uint64_t distance = address < b.begin  ? b.begin - address
                              : address >= b.end ? address - b.end + 1
                                                 : 0;
    if (distance < least) {
      least = distance;
      nearest = &b;
    }
  }
  if (nearest == nullptr) return absl::StrCat("address 0x", absl::Hex(address));
  return absl::StrCat("offset ", static_cast<int64_t>(address - nearest->begin), " of ",
                      kernel_.params[nearest->param].name, " (", nearest->end - nearest->begin,
                      " bytes)");
}

void GlobalMemory::ReportOutside(const Site& site, uint64_t address, uint32_t bytes) {
  if (!findings_.IsNew(Fault::kOutOfBounds, site.inst)) return;
  findings_.Add(Fault::kOutOfBounds, site,
                absl::StrCat("an access of ", bytes, " bytes at ", Place(address),
                             " is outside every buffer"));
}

bool GlobalMemory::Check(const Site& site, uint64_t address, uint32_t bytes, uint32_t align) {
  if (address % align != 0) {
    if (findings_.IsNew(Fault::kMisaligned, site.inst)) {
      findings_.Add(Fault::kMisaligned, site,
                    absl::StrCat("an access of ", bytes, " bytes at address 0x", absl::Hex(address),
                                 ", ", Place(address), ", is not aligned to ", align, " bytes"));
    }
    return false;
  }
  if (bytes == 0) return true;
  const uint64_t end = address + bytes;
  const auto holds = [&](const Buffer& b) { return address >= b.begin && end <= b.end; };
  if (last_ < buffers_.size() && holds(buffers_[last_])) return true;
  bool touches = false;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (holds(buffers_[i])) {
      last_ = i;
      return true;
    }
    touches |= address < buffers_[i].end && end > buffers_[i].begin;
  }
  if (!all_known_ && !touches && address >= kLowestAddress && end > address) return true;
  ReportOutside(site, address, bytes);
  return false;
}

GlobalMemory::Page* GlobalMemory::FindPage(uint64_t address, bool create) {
  const uint64_t number = address / kPageBytes;
  if (number == last_page_) return last_page_data_;
  auto it = pages_.find(number);
  if (it == pages_.end()) {
    if (!create) return nullptr;
    it = pages_.emplace(number, std::make_unique<Page>()).first;
  }
  last_page_ = number;
  last_page_data_ = it->second.get();
  return last_page_data_;
}

Stamp GlobalMemory::Now(const Site& site, Strength strength) const {
  return Stamp::Of(clocks_.now(site.warp.index),
                   site.warp.index * kLanes + static_cast<uint32_t>(site.lane),
                   strength == Strength::kStrong, site.warp.issued);
}

bool GlobalMemory::Ordered(Stamp before, Stamp now) const {
  return before.none() || before.thread() == now.thread() ||
         clocks_.Knows(now.warp(), before.warp(), before.clock()) ||
         (before.strong() && now.strong());
}

void GlobalMemory::Race(const Site& site, uint64_t address, const char* did, Stamp other) {
  if (!findings_.IsNew(Fault::kRace, site.inst)) return;
  findings_.Add(
      Fault::kRace, site,
      absl::StrCat("the word at ", Place(address), " was ", did, " by warp ", other.warp(),
                   ", lane ", other.lane(), " and no barrier stands between"));
}

// An access of at most 16 bytes that is aligned does not cross pages.
template <typename Visit>
void GlobalMemory::ForEachWord(uint64_t address, uint32_t bytes, bool create, const Visit& visit) {
  Page* page = FindPage(address, create);
  if (page == nullptr) return;
  const uint64_t end = address + bytes;
  for (uint64_t word = address & ~uint64_t{3}; word < end; word += 4) {
    const uint64_t low = std::max(word, address) - word, high = std::min(word + 4, end) - word;
    visit(page->words[word % kPageBytes / 4], (1u << high) - (1u << low), word);
  }
}

void GlobalMemory::NoteRead(const Site& site, uint64_t address, uint32_t bytes, Strength strength) {
  const Stamp now = Now(site, strength);
  ForEachWord(address, bytes, /*create=*/true, [&](Word& word, uint32_t mask, uint64_t at) {
    if ((word.write.bytes() & mask) != 0 && !Ordered(word.write, now)) {
      Race(site, at, "written", word.write);
    }
    if (strength == Strength::kStrong) return;
    // The entry of this warp, or one that nobody needs any more.
    const bool second =
        !word.reads[0].none() && word.reads[0].warp() != now.warp() && !Ordered(word.reads[0], now);
    word.reads[second] = now.WithBytes(mask);
  });
}

void GlobalMemory::NoteWrite(const Site& site, uint64_t address, uint32_t bytes, Strength strength,
                             const void* data) {
  const Stamp now = Now(site, strength);
  const auto changes = [&](uint64_t at) {
    const uint64_t begin = std::max(at, address), end = std::min(at + 4, address + bytes);
    return std::memcmp(reinterpret_cast<const void*>(begin),
                       static_cast<const uint8_t*>(data) + (begin - address), end - begin) != 0;
  };
  ForEachWord(address, bytes, /*create=*/true, [&](Word& word, uint32_t mask, uint64_t at) {
    if ((word.write.bytes() & mask) != 0 && !Ordered(word.write, now) && changes(at)) {
      Race(site, at, "written", word.write);
    }
    for (const Stamp read : word.reads) {
      if ((read.bytes() & mask) != 0 && !Ordered(read, now)) Race(site, at, "read", read);
    }
    word.write = now.WithBytes(mask);
  });
}

void GlobalMemory::NoteNonCoherentRead(const Site& site, uint64_t address, uint32_t bytes) {
  ForEachWord(address, bytes, /*create=*/false, [&](Word& word, uint32_t mask, uint64_t at) {
    if ((word.write.bytes() & mask) == 0 || !findings_.IsNew(Fault::kRace, site.inst)) return;
    findings_.Add(Fault::kRace, site,
                  absl::StrCat("a non-coherent load reads the word at ", Place(at),
                               ", which the kernel writes"));
  });
}

}  // namespace tilus::simulate
