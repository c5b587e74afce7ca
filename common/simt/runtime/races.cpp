#include "common/simt/runtime/races.hpp"

#include <sys/mman.h>

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
  cell.flags |= kSplit;
  auto& bytes = bytes_[&cell];
  for (RaceCell& byte : bytes) {
    if (byte.interval != interval) reset(byte);
  }
  const bool whole_word = byte_mask == 15;
  if (whole_word) cell.by_class[static_cast<int>(kind)].add(id);
  for (int b = 0; b < 4; ++b) {
    if (!(byte_mask >> b & 1)) continue;
    if (!whole_word) bytes[b].by_class[static_cast<int>(kind)].add(id);
    if (conflicts(cell, kind, id) || conflicts(bytes[b], kind, id)) {
      note_conflict(cell, bytes[b], b, kind, id, word_address);
    }
  }
}

void RaceDetector::note_conflict(RaceCell& word, RaceCell& cell, int byte, AccessClass kind,
                                 AccessId id, std::uintptr_t word_address) {
  if (!(cell.flags & (kWriteWrite | kOther))) {
    conflicts_.push_back({&word, &cell, word_address + (byte > 0 ? byte : 0)});
  }
  const bool write_write = kind == AccessClass::write && (word.by_class[1].conflicts_with(id) ||
                                                          cell.by_class[1].conflicts_with(id));
  if (!write_write) {
    cell.flags |= kOther;
    return;
  }
  cell.flags |= kWriteWrite;
  if (cell.by_class[0].conflicts_with(id) || word.by_class[0].conflicts_with(id)) {
    cell.flags |= kOther;
  }
  // The store has not happened yet: memory still holds the other thread's value.
  Overwrite overwrite{&cell, word_address + (byte > 0 ? byte : 0),
                      static_cast<std::uint32_t>(byte < 0 ? 4 : 1), 0};
  std::memcpy(&overwrite.old_value, reinterpret_cast<const void*>(overwrite.address),
              overwrite.bytes);
  overwrites_.push_back(overwrite);
}

void RaceDetector::settle_writes() {
  for (const Overwrite& o : overwrites_) {
    std::uint32_t now = 0;
    std::memcpy(&now, reinterpret_cast<const void*>(o.address), o.bytes);
    if (now != o.old_value) o.cell->flags |= kValuesDiffer;
  }
  overwrites_.clear();
}

void RaceDetector::end_interval(HazardTable& hazards, std::uint64_t block,
                                std::string (*name_of)(std::uintptr_t address)) {
  settle_writes();
  for (const Conflict& c : conflicts_) {
    AccessRange merged[3];
    for (int k = 0; k < 3; ++k) {
      merged[k] = c.word->by_class[k];
      if (c.cell != c.word && c.cell->by_class[k].largest) {
        merged[k].add(c.cell->by_class[k].smallest);
        merged[k].add(c.cell->by_class[k].largest);
      }
    }
    const std::string array = name_of(c.address);
    auto report = [&](Hazard hazard, AccessId a, AccessId b, const char* what) {
      HazardKey key{hazard, access_pc(a), access_pc(b), array, what + array + ", which"};
      hazards[key].add(block, access_thread(a), access_thread(b),
                       what[0] == 'w' && hazard == Hazard::same_value_write
                           ? "is also written by"
                           : "is used without a barrier between by");
    };
    // The first unordered pair in a fixed order of candidates.
    auto first_pair = [](const AccessRange& x, const AccessRange& y, AccessId& a, AccessId& b) {
      if (!x.largest || !y.largest) return false;
      for (AccessId i : {x.smallest, x.largest}) {
        for (AccessId j : {y.smallest, y.largest}) {
          if (unordered(i, j)) {
            a = i;
            b = j;
            return true;
          }
        }
      }
      return false;
    };
    AccessId a = 0, b = 0;
    bool reported = false;
    if ((c.cell->flags & kWriteWrite) && first_pair(merged[1], merged[1], a, b)) {
      report(c.cell->flags & kValuesDiffer ? Hazard::race : Hazard::same_value_write, a, b,
             "writes ");
      reported = true;
    }
    if (c.cell->flags & kOther) {
      if (first_pair(merged[1], merged[0], a, b)) {
        report(Hazard::race, a, b, "writes ");
        reported = true;
      }
      if (first_pair(merged[2], merged[1], a, b) || first_pair(merged[2], merged[0], a, b)) {
        report(Hazard::race, a, b, "updates atomically ");
        reported = true;
      }
    }
    if (!reported) {  // the pair was hidden between the extremes; report what is left of it
      const AccessRange& first = merged[1].largest ? merged[1] : merged[2];
      const AccessRange& second = merged[0].largest ? merged[0] : merged[1];
      report(Hazard::race, first.smallest, second.largest, "writes ");
    }
  }
  conflicts_.clear();
  if (!bytes_.empty()) bytes_.clear();
  global.end_interval();
  ++interval;
}

}  // namespace simt
