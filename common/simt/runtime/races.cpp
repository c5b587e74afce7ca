#include "common/simt/runtime/races.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace simt {

void GlobalCells::reserve(std::size_t bytes) {
  if (directory_) return;
  std::size_t entries = bytes / (4 * kWordsPerPage) + 1;
  void* memory = mmap(nullptr, entries * sizeof(Entry), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    std::fprintf(stderr,
                 "simt: cannot reserve %zu MB of addresses for the race check; raise the limit of "
                 "virtual memory (ulimit -v) or set SIMT_CHECKS=counters,bounds,uninitialized\n",
                 entries * sizeof(Entry) >> 20);
    std::_Exit(2);
  }
  directory_ = static_cast<Entry*>(memory);
}

void GlobalCells::assign(Entry& entry, std::uint32_t interval) {
  if (used_ == pages_.size()) pages_.push_back(std::make_unique<RaceCell[]>(kWordsPerPage));
  entry.interval = interval;
  entry.page = static_cast<std::uint32_t>(used_++);
}

void RaceDetector::access_bytes(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                                std::uintptr_t word_address) {
  cell.split = true;
  auto& bytes = bytes_[&cell];
  for (RaceCell& byte : bytes) {
    if (byte.interval != interval) reset(byte);
  }
  const bool whole_word = byte_mask == 15;
  for (unsigned b = 0; b < 4; ++b) {
    if (!(byte_mask >> b & 1)) continue;
    if (conflicts(cell, kind, id) || conflicts(bytes[b], kind, id)) {
      note_conflict(cell, bytes[b], b, 1, kind, id, word_address);
    }
    if (!whole_word) bytes[b].by_class[static_cast<int>(kind)].add(id, *clock);
  }
  if (whole_word) cell.by_class[static_cast<int>(kind)].add(id, *clock);
}

void RaceDetector::note_conflict(RaceCell& word, RaceCell& cell, unsigned byte, unsigned bytes,
                                 AccessClass kind, AccessId id, std::uintptr_t word_address) {
  Conflict& conflict = conflicts_[&cell];
  conflict.address = word_address + byte;
  auto against = [&](AccessClass other, auto report) {
    const int k = static_cast<int>(other);
    word.by_class[k].for_each_conflict(id, *clock, report);
    if (&cell != &word) cell.by_class[k].for_each_conflict(id, *clock, report);
  };
  bool overwrites = false;
  switch (kind) {
    case AccessClass::read:
      against(AccessClass::write, [&](AccessId w) { conflict.write_read.keep_smaller(w, id); });
      against(AccessClass::atomic, [&](AccessId a) { conflict.atomic_plain.keep_smaller(a, id); });
      break;
    case AccessClass::write:
      against(AccessClass::read, [&](AccessId r) { conflict.write_read.keep_smaller(id, r); });
      against(AccessClass::atomic, [&](AccessId a) { conflict.atomic_plain.keep_smaller(a, id); });
      against(AccessClass::write, [&](AccessId w) {
        conflict.write_write.keep_smaller(std::min(w, id), std::max(w, id));
        overwrites = true;
      });
      break;
    case AccessClass::atomic:
      against(AccessClass::read, [&](AccessId r) { conflict.atomic_plain.keep_smaller(id, r); });
      against(AccessClass::write, [&](AccessId w) { conflict.atomic_plain.keep_smaller(id, w); });
      break;
  }
  if (!overwrites) return;
  // The store has not happened yet: memory still holds the other thread's value.
  Overwrite overwrite{&cell, conflict.address, bytes, 0};
  std::memcpy(&overwrite.old_value, reinterpret_cast<const void*>(overwrite.address), bytes);
  overwrites_.push_back(overwrite);
}

void RaceDetector::settle_writes() {
  for (const Overwrite& o : overwrites_) {
    std::uint32_t now = 0;
    std::memcpy(&now, reinterpret_cast<const void*>(o.address), o.bytes);
    if (now != o.old_value) conflicts_[o.cell].values_differ = true;
  }
  overwrites_.clear();
}

void RaceDetector::end_interval(HazardTable& hazards, std::uint64_t block,
                                std::string (*name_of)(std::uintptr_t address)) {
  settle_writes();
  for (const auto& [cell, conflict] : conflicts_) {
    const std::string array = name_of(conflict.address);
    auto report = [&](Hazard hazard, const Pair& pair, const char* verb, const char* relation) {
      if (!pair.found()) return;
      HazardKey key{hazard, access_pc(pair.first), access_pc(pair.second), array,
                    verb + array + ", which"};
      hazards[key].add(block, access_thread(pair.first), access_thread(pair.second), relation);
    };
    if (conflict.values_differ) {
      report(Hazard::race, conflict.write_write, "writes ",
             "is also written, without a barrier between, by");
    } else {
      report(Hazard::same_value_write, conflict.write_write, "writes ", "is also written by");
    }
    report(Hazard::race, conflict.write_read, "writes ", "is read, without a barrier between, by");
    report(Hazard::race, conflict.atomic_plain, "updates atomically ",
           "is accessed without an atomic, and without a barrier between, by");
  }
  conflicts_.clear();
  if (!bytes_.empty()) bytes_.clear();
  global.end_interval();
  ++interval;
}

}  // namespace simt
