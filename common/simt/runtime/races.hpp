// Races between the threads of a block, per byte and barrier interval.
//
// For every word that a block touches between two barriers a cell keeps, for plain writes, plain
// reads and atomics, the smallest and the largest access in (thread, program counter) order. Two
// threads conflict if one of them writes and they are not both atomic; the set's extremes tell
// whether there is such a pair, and which one to report does not depend on who ran first.
// __syncwarp orders the lanes of its warp: it raises the warp's epoch, and accesses of one warp in
// different epochs do not conflict. Shuffles and votes order nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "common/simt/runtime/findings.hpp"

namespace simt {

enum class AccessClass : std::uint8_t { read = 0, write = 1, atomic = 2 };

// An access as one comparable number: thread (10 bits), epoch of its warp (22), program counter
// (32).
using AccessId = std::uint64_t;

inline AccessId make_access_id(unsigned thread, unsigned epoch, std::uint32_t pc) {
  return (std::uint64_t{thread} << 54) | (std::uint64_t{epoch & 0x3fffff} << 32) | pc;
}
inline unsigned access_thread(AccessId id) { return static_cast<unsigned>(id >> 54); }
inline std::uint32_t access_pc(AccessId id) { return static_cast<std::uint32_t>(id); }

// True if the two accesses are of different threads and nothing orders them within the interval.
inline bool unordered(AccessId a, AccessId b) {
  unsigned ta = access_thread(a), tb = access_thread(b);
  if (ta == tb) return false;
  if (ta >> 5 != tb >> 5) return true;
  return ((a ^ b) >> 32 & 0x3fffff) == 0;
}

// The accesses of one class to one location: extremes of a set; empty while largest is 0.
struct AccessRange {
  AccessId smallest;
  AccessId largest;
  void add(AccessId id) {
    if (id < smallest) smallest = id;
    if (id > largest) largest = id;
  }
  bool conflicts_with(AccessId id) const {
    return largest != 0 && (unordered(smallest, id) || unordered(largest, id));
  }
};

// One 4-byte word: one cache line. `init_*` belongs to the check of uninitialised shared reads and
// lives here because the same access has just fetched the line.
struct alignas(64) RaceCell {
  std::uint32_t interval = 0;  // the ranges are empty unless this is the current interval
  std::uint32_t init_block = 0;
  std::uint8_t init_mask = 0;  // bytes written since the block numbered init_block began
  std::uint8_t flags = 0;
  AccessRange by_class[3];
};

// Cells for global memory: pages of cells that are handed out as a block touches memory and all
// taken back when the interval ends, so memory use follows what a block touches and not what it
// could.
class GlobalCells {
 public:
  static constexpr std::size_t kWordsPerPage = 64;
  void reserve(std::size_t bytes);  // address range to cover
  // Cell of the word at byte `offset` of the range. Valid until the interval ends.
  RaceCell* cell(std::size_t offset, std::uint32_t interval) {
    Entry& entry = directory_[offset / (4 * kWordsPerPage)];
    if (entry.interval != interval) assign(entry, interval);
    return &pages_[entry.page][offset / 4 % kWordsPerPage];
  }
  void end_interval() { used_ = 0; }

 private:
  struct Entry {
    std::uint32_t interval;
    std::uint32_t page;
  };
  void assign(Entry& entry, std::uint32_t interval);
  Entry* directory_ = nullptr;
  std::vector<std::unique_ptr<RaceCell[]>> pages_;
  std::size_t used_ = 0;
};

class RaceDetector {
 public:
  // Records an access to the bytes `byte_mask` (bits 0-3) of the word behind `cell`.
  [[gnu::always_inline]] void access(RaceCell& cell, AccessClass kind, AccessId id,
                                     unsigned byte_mask, std::uintptr_t word_address) {
    if (cell.interval != interval) reset(cell);
    if (byte_mask != 15 || (cell.flags & kSplit)) {
      access_bytes(cell, kind, id, byte_mask, word_address);
      return;
    }
    cell.by_class[static_cast<int>(kind)].add(id);
    if (conflicts(cell, kind, id)) [[unlikely]] {
      note_conflict(cell, cell, -1, kind, id, word_address);
    }
  }

  // Compares what the thread wrote over another thread's value with that value: equal means a note.
  // Called whenever a thread stops; its own writes are then the last ones.
  void settle_writes();

  // Turns the conflicts of the interval into hazards and starts the next interval.
  // `name_of(address)` names the array.
  void end_interval(HazardTable& hazards, std::uint64_t block,
                    std::string (*name_of)(std::uintptr_t address));

  GlobalCells global;
  std::uint32_t interval = 1;

 private:
  enum Flag : std::uint8_t { kSplit = 1, kWriteWrite = 2, kValuesDiffer = 4, kOther = 8 };
  struct Conflict {
    RaceCell* word;  // the whole-word accesses
    RaceCell* cell;  // where the flags are: the word's cell or one byte's
    std::uintptr_t address;
  };
  struct Overwrite {
    RaceCell* cell;
    std::uintptr_t address;
    std::uint32_t bytes;
    std::uint32_t old_value;
  };
  void reset(RaceCell& cell) {
    cell.interval = interval;
    cell.flags = 0;
    for (AccessRange& range : cell.by_class) range = {~AccessId{0}, 0};
  }
  static bool conflicts(const RaceCell& cell, AccessClass kind, AccessId id) {
    const AccessRange* r = cell.by_class;
    switch (kind) {
      case AccessClass::read:
        return r[1].conflicts_with(id) || r[2].conflicts_with(id);
      case AccessClass::write:
        return r[0].conflicts_with(id) || r[1].conflicts_with(id) || r[2].conflicts_with(id);
      case AccessClass::atomic:
        return r[0].conflicts_with(id) || r[1].conflicts_with(id);
    }
    return false;
  }
  void access_bytes(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                    std::uintptr_t word_address);
  void note_conflict(RaceCell& word, RaceCell& cell, int byte, AccessClass kind, AccessId id,
                     std::uintptr_t word_address);

  std::unordered_map<RaceCell*, std::array<RaceCell, 4>> bytes_;  // cells of split words
  std::vector<Conflict> conflicts_;
  std::vector<Overwrite> overwrites_;
};

}  // namespace simt
