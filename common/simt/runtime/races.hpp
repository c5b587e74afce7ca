// Races between the threads of a block, per byte and barrier interval.
//
// For every word that a block touches between two barriers a cell keeps, for plain writes, plain
// reads and atomics, the smallest and the largest access in (thread, program counter) order. Two
// threads conflict if one of them writes and they are not both atomic; the set's extremes tell
// whether there is such a pair, and which one to report does not depend on who ran first.
// __syncwarp orders the lanes that its mask names: each lane has an epoch, which the operation raises,
// and a clock, which says up to which epoch of every other lane it has waited for (a vector clock).
// Shuffles and votes order nothing.
//
// Threads that hand data on without a barrier do it by a fence and a variable: what a thread did before
// its fence comes before its next atomic or volatile store to the variable, and that before whatever
// another thread does after it has read the variable by an atomic or a volatile load. (The reader's own
// fence is not asked for.) The variable itself is free of races then; without the fence it is not.
//
// A plain read beside the atomics of others is what a compare-and-swap loop begins with, and what spares
// a thread an atomic that would change nothing: a test, if that place of the code is seen to read what
// the same thread then updates. If it reads what the thread has just updated it wants the result, and is
// a race. Any other is a note in global memory, where relaxations read so, and a race in shared memory,
// where a barrier is missing.
//
// An asynchronous copy touches its words at no known moment between its start and its thread's wait:
// it is a flight on the cell of each of those words, on both sides. The cell is marked, so that only
// accesses to such words leave the fast path. Flights that are still under way when an interval ends
// are marked again in the next: a barrier does not complete a copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/simt/runtime/findings.hpp"
#include "common/simt/runtime/reserve.hpp"

namespace simt {

enum class AccessClass : std::uint8_t { read = 0, write = 1, atomic = 2 };

// An access as one comparable number: thread (10 bits), epoch of its warp (22), program counter
// (32).
using AccessId = std::uint64_t;

inline AccessId make_access_id(unsigned thread, unsigned epoch, std::uint32_t pc) {
  return (std::uint64_t{thread} << 54) | (std::uint64_t{epoch & 0x3fffff} << 32) | pc;
}
inline unsigned access_thread(AccessId id) { return static_cast<unsigned>(id >> 54); }
inline unsigned access_epoch(AccessId id) { return static_cast<unsigned>(id >> 32 & 0x3fffff); }
// The program counter has two bits to spare (no program is that long): a volatile access, and a
// volatile store of a thread that has fenced.
inline constexpr AccessId kVolatile = AccessId{1} << 31;
inline constexpr AccessId kAfterFence = AccessId{1} << 30;
inline std::uint32_t access_pc(AccessId id) { return static_cast<std::uint32_t>(id) & 0x3fffffff; }

// What is ordered before the running lane's next access.
struct LaneClock {
  std::array<std::uint32_t, 32> warp{};  // of each lane of its warp: up to this epoch
  std::vector<std::uint32_t> block;  // of each thread of the block; empty: of other warps nothing
  std::uint32_t of(unsigned own, unsigned thread) const {
    if (own >> 5 == thread >> 5) return warp[thread & 31];
    return block.empty() ? 0 : block[thread];
  }
  // Adds what the lane of thread `own` knows to what is known, by thread of its block; and the other way round, true
  // if that is news.
  void tell(unsigned own, std::vector<std::uint32_t>& known) const {
    for (unsigned t = 0; t < known.size(); ++t) known[t] = std::max(known[t], of(own, t));
  }
  bool learn(unsigned own, const std::vector<std::uint32_t>& known) {
    bool news = false;
    if (!known.empty()) block.resize(known.size());
    for (unsigned t = 0; t < known.size(); ++t) {
      std::uint32_t& mine = t >> 5 == own >> 5 ? warp[t & 31] : block[t];
      if (known[t] <= mine || t == own) continue;
      mine = known[t];
      news = true;
    }
    return news;
  }
};

// True if the access `id` of the running lane and an earlier one are of different threads and nothing
// orders them within the interval.
inline bool unordered(AccessId earlier, AccessId id, const LaneClock& clock) {
  const unsigned a = access_thread(earlier), b = access_thread(id);
  return a != b && access_epoch(earlier) > clock.of(b, a);
}

// The accesses of one class to one location: extremes of a set; empty while largest is 0.
struct AccessRange {
  AccessId smallest;
  AccessId largest;
  void add(AccessId id, const LaneClock& clock) {
    // Older accesses that are ordered before the new one say nothing that it does not say: whatever
    // comes after it comes after them.
    if (access_epoch(id) > 1 && largest != 0 && !unordered(smallest, id, clock) &&
        !unordered(largest, id, clock)) {
      smallest = largest = id;
      return;
    }
    if (id < smallest) smallest = id;
    if (id > largest) largest = id;
  }
  // The accesses at the extremes that conflict with `id`: calls report(access) for each.
  template <class F>
  void for_each_conflict(AccessId id, const LaneClock& clock, F report) const {
    if (largest == 0) return;
    if (unordered(smallest, id, clock)) report(smallest);
    if (largest != smallest && unordered(largest, id, clock)) report(largest);
  }
  bool conflicts_with(AccessId id, const LaneClock& clock) const {
    return largest != 0 && (unordered(smallest, id, clock) || unordered(largest, id, clock));
  }
};

// One 4-byte word: one cache line. `init_*` belongs to the check of uninitialised shared reads and
// lives here because the same access has just fetched the line.
struct alignas(64) RaceCell {
  std::uint32_t interval = 0;  // the ranges are empty unless this is the current interval
  std::uint32_t init_block = 0;
  std::uint8_t init_mask = 0;  // bytes written since the block numbered init_block began
  std::uint8_t marks = 0;      // kSplit, kInFlight, kFilled: not for the fast path
  std::uint32_t flight = 0;    // with kInFlight: its newest flight, an index of the detector's
  AccessRange by_class[3];

  static constexpr std::uint8_t kSplit = 1;  // single bytes have cells of their own
  static constexpr std::uint8_t kInFlight = 2;
  static constexpr std::uint8_t kFilled = 4;  // by a flight, or one: else its flights only read it
};
static_assert(sizeof(RaceCell) == 64);

// Cells for global memory: pages of cells that are handed out as a block touches memory and all
// taken back when the interval ends, so memory use follows what a block touches and not what it
// could.
template <class Cell>
class TouchedCells {
 public:
  static constexpr std::size_t kWordsPerPage = 64;
  void reserve(std::size_t bytes) {  // address range to cover
    if (directory_) return;
    const std::size_t entries = bytes / (4 * kWordsPerPage) + 1;
    directory_ = static_cast<Entry*>(reserve_addresses(entries * sizeof(Entry), "the race check"));
  }
  // Cell of the word at byte `offset` of the range. Valid until the interval ends.
  Cell* cell(std::size_t offset, std::uint32_t interval) {
    Entry& entry = directory_[offset / (4 * kWordsPerPage)];
    if (entry.interval != interval) assign(entry, interval);
    return &pages_[entry.page][offset / 4 % kWordsPerPage];
  }
  // The same, or null if its page was not touched in this interval yet.
  Cell* find(std::size_t offset, std::uint32_t interval) {
    const Entry& entry = directory_[offset / (4 * kWordsPerPage)];
    if (entry.interval != interval) return nullptr;
    return &pages_[entry.page][offset / 4 % kWordsPerPage];
  }
  void end_interval() { used_ = 0; }

  // Remembers that the interval touches the word. Its page must have been asked for in the interval.
  void touch(std::size_t offset) {
    const Entry& entry = directory_[offset / (4 * kWordsPerPage)];
    touched_[entry.page] |= std::uint64_t{1} << (offset / 4 % kWordsPerPage);
  }
  // Calls f(offset of the first word, cells, words touched) for each page of the interval.
  template <class F>
  void for_each_page(F f) const {
    for (std::size_t p = 0; p < used_; ++p) f(offsets_[p], pages_[p].get(), touched_[p]);
  }

 private:
  struct Entry {
    std::uint32_t interval;
    std::uint32_t page;
  };
  void assign(Entry& entry, std::uint32_t interval) {
    if (used_ == pages_.size()) {
      pages_.push_back(std::make_unique<Cell[]>(kWordsPerPage));
      offsets_.push_back(0);
      touched_.push_back(0);
    }
    offsets_[used_] = static_cast<std::size_t>(&entry - directory_) * 4 * kWordsPerPage;
    touched_[used_] = 0;
    entry.interval = interval;
    entry.page = static_cast<std::uint32_t>(used_++);
  }
  Entry* directory_ = nullptr;
  std::vector<std::unique_ptr<Cell[]>> pages_;
  std::size_t used_ = 0;
  std::vector<std::size_t> offsets_;    // of each page in use
  std::vector<std::uint64_t> touched_;  // a bit for each word
};
using GlobalCells = TouchedCells<RaceCell>;

// Decides on what hazards say of plain reads beside atomics: none where such a read is a test, a race
// where it wants the result. Both are sets of program counters, of all blocks of the launch.
void settle_reads_beside_atomics(HazardTable& hazards, const std::set<std::uint32_t>& tests,
                                 const std::set<std::uint32_t>& results);

// True if two accesses to a word are meant to meet: a flag that one sets and the other waits for.
bool hands_on(AccessClass a_class, AccessId a, AccessClass b_class, AccessId b);

class Cluster;
class LaunchRaces;

// What a block did with a word in an interval: the smallest access of each class, 0 if there is none, and the
// bytes it touched.
struct WordUse {
  AccessId first[3];
  std::uint8_t bytes[3];
};

class RaceDetector {
 public:
  // Records an access to the bytes `byte_mask` (bits 0-3) of the word behind `cell`.
  [[gnu::always_inline]] void access(RaceCell& cell, AccessClass kind, AccessId id,
                                     unsigned byte_mask, std::uintptr_t word_address) {
    if (cell.interval != interval) reset(cell);
    if (kind == AccessClass::atomic && cell.by_class[0].largest) [[unlikely]] {
      note_tests(word_address);
    }
    if (kind == AccessClass::read && cell.by_class[2].largest) [[unlikely]] {
      const AccessRange& updates = cell.by_class[2];
      if (access_thread(updates.smallest) == access_thread(id) ||
          access_thread(updates.largest) == access_thread(id)) {
        results_.insert(access_pc(id));
      }
    }
    if (byte_mask != 15 || cell.marks) {
      access_marked(cell, kind, id, byte_mask, word_address);
      return;
    }
    if (conflicts(cell, kind, id)) [[unlikely]] {
      note_conflict(cell, cell, 0, 4, kind, id, word_address);
    }
    cell.by_class[static_cast<int>(kind)].add(id, *clock);
  }

  // The same for a whole word in the common case: no __syncwarp yet, no sub-word access, nobody else's
  // access that this one could conflict with. False, and nothing lost, if access() has to decide.
  [[gnu::always_inline]] bool access_simply(RaceCell& cell, AccessClass kind, AccessId id) {
    if (access_epoch(id) > 1) return false;
    AccessRange* r = cell.by_class;
    if (cell.interval != interval) {
      reset(cell);
    } else if (cell.marks || r[1].largest || r[2].largest ||
               (kind != AccessClass::read && r[0].largest)) {
      return false;
    }
    AccessRange& range = r[static_cast<int>(kind)];
    if (id < range.smallest) range.smallest = id;
    if (id > range.largest) range.largest = id;
    return true;
  }

  // A store of the running lane that comes to a whole word of its own block later, and that arrive() will put there
  // for the lane that has waited for it: what the block did before must be ordered before it.
  void meet(RaceCell& cell, AccessId id, std::uintptr_t word_address) {
    if (cell.interval == interval && conflicts(cell, AccessClass::write, id)) {
      note_conflict(cell, cell, 0, 4, AccessClass::write, id, word_address);
    }
  }
  void arrive(RaceCell& cell, AccessId id) {
    if (cell.interval != interval) reset(cell);
    cell.by_class[static_cast<int>(AccessClass::write)].add(id, *clock);
  }

  // Compares what the thread wrote over another thread's value with that value: equal means a note.
  // Called whenever a thread stops; its own writes are then the last ones.
  void settle_writes();

  // The same for what access() met since the last call, when the value is not in memory yet: an
  // asynchronous copy brings `incoming` to `destination`.
  void settle_copy(const void* incoming, std::uintptr_t destination);

  // The running lane's asynchronous copy reads (`writes` false) or fills a word from now on. `offset`
  // is that of global cells, kShared for shared memory, where cells stay in place. `value` is what
  // the word will hold. Call after access(). Returns a number by which land() knows the copy's word.
  static constexpr std::size_t kShared = SIZE_MAX;
  std::uint32_t start_flight(RaceCell& cell, AccessId id, bool writes, std::size_t offset,
                             std::uintptr_t word_address, std::uint32_t value);
  // The running lane has waited for it. `id` is the copy's, with the lane's present epoch.
  void land(std::uint32_t number, AccessId id);

  // The running lane, of a block of `threads`, has fenced in its epoch `fenced` and now stores to the
  // word by an atomic or a volatile access.
  void release(std::uintptr_t word, AccessId id, unsigned fenced, unsigned threads);
  // The running lane reads the word in that way: adds what comes before that to its clock. True if that
  // was anything.
  bool acquire(std::uintptr_t word, AccessId id, LaneClock& own);

  // `launch` is told what each interval touched in global memory; null: nobody asks.
  void begin_launch(LaunchRaces* launch) {
    launch_ = launch;
    tests_.clear();
    results_.clear();
  }
  // `position` is the block's in the launch, as `launch` knows it.
  void begin_block(std::uint64_t position) {
    interval_of_block = 0;
    position_ = position;
  }
  std::uint64_t position() const { return position_; }
  // Program counters of plain reads in this launch, see above.
  const std::set<std::uint32_t>& tests() const { return tests_; }
  const std::set<std::uint32_t>& results() const { return results_; }
  // Turns the conflicts of the interval into hazards and starts the next interval, of the same block
  // or (`block_ends`) of another. `name_of(address)` names the array. Plain reads beside atomics are
  // not settled yet.
  void end_interval(HazardTable& hazards, std::uint64_t block, bool block_ends,
                    std::string (*name_of)(std::uintptr_t address));

  // Of global memory; and from `others_shared` on, of the shared memory of the other blocks of a cluster.
  GlobalCells global;
  std::size_t others_shared = SIZE_MAX;
  std::uint32_t interval = 1;
  std::uint32_t interval_of_block = 0;
  const LaneClock* clock = nullptr;  // of the running lane
  // The block's cluster, or null; and how often its threads had arrived at least when the interval began, and
  // have waited at most when it ends.
  struct {
    Cluster* cluster = nullptr;
    unsigned rank = 0;
    std::uint32_t arrives = 0, waits = 0;
  } in_cluster;

 private:
  // What is to be reported of a location: for each kind of pair the smallest one that was met, so that
  // the order in which the threads ran does not show.
  struct Pair {
    AccessId first = ~AccessId{0};
    AccessId second = ~AccessId{0};
    bool found() const { return first != ~AccessId{0}; }
    void keep_smaller(AccessId a, AccessId b) {
      if (std::pair(a, b) < std::pair(first, second)) first = a, second = b;
    }
  };
  struct Conflict {
    std::uintptr_t address = 0;
    Pair write_write, write_read, atomic_read, atomic_write;
    Pair early_read, early_write, early_source_write;  // during a copy: the access, then the copy
    bool values_differ = false;
  };
  struct Overwrite {
    RaceCell* cell;  // where the conflict is kept
    std::uintptr_t address;
    std::uint32_t bytes;
    std::uint32_t old_value;
  };
  void reset(RaceCell& cell) {
    cell.interval = interval;
    cell.marks = 0;
    for (AccessRange& range : cell.by_class) range = {~AccessId{0}, 0};
  }
  bool conflicts(const RaceCell& cell, AccessClass kind, AccessId id) const {
    const AccessRange* r = cell.by_class;
    switch (kind) {
      case AccessClass::read:
        return r[1].conflicts_with(id, *clock) || r[2].conflicts_with(id, *clock);
      case AccessClass::write:
        return r[0].conflicts_with(id, *clock) || r[1].conflicts_with(id, *clock) ||
               r[2].conflicts_with(id, *clock);
      case AccessClass::atomic:
        return r[0].conflicts_with(id, *clock) || r[1].conflicts_with(id, *clock);
    }
    return false;
  }
  // A word under an asynchronous copy, see above.
  struct Flight {
    RaceCell* cell;
    std::size_t offset;
    std::uintptr_t address;
    AccessId id;           // of the copy; once it has landed, of the wait
    std::uint32_t number;  // for land()
    std::uint32_t next;    // an older flight on the same cell, or kNone
    std::uint32_t value;
    bool writes;
    bool carried;  // started before this interval
    bool landed;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  static constexpr std::size_t kFewFlights = 1 << 14;
  void mark(std::uint32_t index);
  // The newest flight on a cell or an older one, from `index` on, that still says something: once it
  // has landed in the interval in which it started, recorded accesses stand for it.
  std::uint32_t telling(const RaceCell& cell, std::uint32_t index) const;
  void forget_landed();
  void meet_flights(RaceCell& cell, AccessClass kind, AccessId id, std::uintptr_t word_address);
  void carry_flights();

  // The running lane is about to update the word: a plain read of it not long ago was a test.
  void note_tests(std::uintptr_t word_address);

  void tell_launch();
  void tell_cluster(HazardTable& hazards);
  WordUse use_of(const RaceCell& cell) const;

  // Not a whole word, or a word that is marked.
  void access_marked(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                     std::uintptr_t word_address);
  void access_whole(RaceCell& cell, AccessClass kind, AccessId id, std::uintptr_t word_address);
  void access_bytes(RaceCell& cell, AccessClass kind, AccessId id, unsigned byte_mask,
                    std::uintptr_t word_address);
  // `word` holds the whole-word accesses, `cell` those to the bytes from `byte` on (the same cell, or
  // one byte's).
  void note_conflict(RaceCell& word, RaceCell& cell, unsigned byte, unsigned bytes,
                     AccessClass kind, AccessId id, std::uintptr_t word_address);

  std::unordered_map<RaceCell*, std::array<RaceCell, 4>> bytes_;  // cells of split words
  std::unordered_map<RaceCell*, Conflict> conflicts_;
  std::vector<Overwrite> overwrites_;
  // What comes before the stores to variables that hand data on, by thread: up to this epoch.
  std::unordered_map<std::uintptr_t, std::vector<std::uint32_t>> released_;
  static constexpr std::uintptr_t kAnyWord = 0;
  std::set<std::uint32_t> tests_, results_;
  LaunchRaces* launch_ = nullptr;
  std::uint64_t position_ = 0;
  std::vector<Flight> flights_;  // of this interval, in the order of their numbers
  std::uint32_t flights_started_ = 0;
  std::size_t flights_limit_ = kFewFlights;  // that many are looked through for what can go
};

}  // namespace simt
