// The blocks of a thread block cluster: whose turn it is to run, their barrier, and what they do in
// each other's shared memory.
//
// Each block of a cluster runs on a worker of its own, where its shared arrays lie; one at a time, in
// the order of their ranks, until it can only wait for the others. So what is recorded here needs no
// locks, and is the same on any number of threads.
//
// Only the cluster's barrier orders accesses of different blocks. It has two halves: what a thread did
// before it arrives comes before what any thread does after it has waited. An access therefore carries
// the number of times that its thread has arrived before it; it comes before another block's access if
// that one's thread has waited more often (a relaxed arrival is passed over: it orders nothing). For each word of shared memory that the cluster touches, a
// cell keeps of each class of access the one that arrived latest, and the latest of any other block: if
// none of these two is in conflict with an access, no earlier one is.
//
// Stores that arrive at a barrier in shared memory are ordered by that barrier alone (mbarrier.hpp): until a
// thread has waited for one, its words are marked.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/simt/runtime/findings.hpp"
#include "common/simt/runtime/mbarrier.hpp"
#include "common/simt/runtime/races.hpp"

namespace simt {

inline constexpr unsigned kMostClusterBlocks = 16;
inline constexpr unsigned kPortableClusterBlocks = 8;  // unless the program asks for more

// How the blocks of a grid form clusters, and an order in which the blocks of each follow one another.
// Without clusters it is the order of the grid.
class ClusterOrder {
 public:
  ClusterOrder() = default;
  // Extents of the grid and, in blocks, of a cluster, which divide them.
  ClusterOrder(const unsigned grid[3], const unsigned cluster[3]);
  unsigned size() const { return size_; }
  std::uint64_t clusters() const { return clusters_; }
  // Linear index in the grid of the block of this rank.
  std::uint64_t block(std::uint64_t cluster, unsigned rank) const;
  std::uint64_t cluster_of(std::uint64_t block) const;
  // Position in the order, and back.
  std::uint64_t position(std::uint64_t block) const;
  std::uint64_t at(std::uint64_t position) const {
    return size_ == 1 ? position : block(position / size_, static_cast<unsigned>(position % size_));
  }

 private:
  std::uint64_t grid_[3] = {1, 1, 1};
  std::uint64_t cluster_[3] = {1, 1, 1};
  unsigned size_ = 1;
  std::uint64_t clusters_ = 1;
};

// A word of shared memory, as all blocks of a cluster have touched it. What a block reads of its own is in
// the first cache line.
struct alignas(64) ClusterCell {
  struct Access {
    AccessId id = 0;  // 0: none
    std::uint32_t arrives = 0;
    std::uint32_t waits = 0;
    std::uint32_t interval = 0;  // of its block
    std::uint32_t rank = 0;
  };
  static constexpr std::uint8_t kNobody = 0xff, kSeveral = 0xfe;
  // Which cluster touched it: the rest is empty unless it is the present one.
  std::uint32_t cluster = 0;
  bool split = false;           // single bytes have cells of their own
  std::uint8_t rank = kNobody;  // which block of it
  bool awaits = false;          // a store is on its way that arrives at a barrier
  bool is_barrier = false;      // it is part of one
  std::uint32_t value = 0;      // of global memory: what was last written
  Access by_class[3][2];
};

// Shared memory of one block, where its worker has it.
struct ClusterWindow {
  std::uintptr_t tls_begin = 0;
  RaceCell* tls_cells = nullptr;
  ClusterCell* tls_words = nullptr;
  std::uintptr_t dynamic_begin = 0;
  RaceCell* dynamic_cells = nullptr;
  ClusterCell* dynamic_words = nullptr;
  std::uint32_t block_number = 0;  // Hot::block_number of its worker
  std::uint64_t block = 0;         // linear index in the grid
};

class Cluster {
 public:
  explicit Cluster(unsigned size) : size_(size) {}
  unsigned size() const { return size_; }

  // ---- turns; called by the worker whose turn it is, but for wait_for_turn ----
  void wait_for_turn(unsigned rank);
  void give_turn(unsigned rank);
  // Rank 0, before the others: all of them run cluster `number` now, of so many threads a block. None:
  // there is no more.
  void begin(std::uint64_t number, unsigned threads_of_block);
  void end() { number_ = kNone; }
  static constexpr std::uint64_t kNone = UINT64_MAX;
  std::uint64_t number() const { return number_; }
  // Gives the others their turns and returns with its own. `blocked`: there is nothing to do before the
  // barrier's next phase, or one of a barrier in the block's shared memory (`waits_in_memory`). False if nobody in
  // the cluster can go on.
  bool yield(unsigned rank, bool blocked, bool waits_in_memory = false);
  // Nobody can go on but by giving up one of its waits for a barrier in shared memory: that of the block, now.
  bool take_time_out(unsigned rank) { return std::exchange(timed_out_[rank], false); }
  bool is_stuck() const { return stuck_; }
  void end_block(unsigned rank, bool stopping);
  void stop() { stopping_ = true; }  // nobody waits any more
  std::uint64_t steps() const { return steps_; }
  void note_progress() { ++steps_; }

  // ---- the barrier ----
  std::uint32_t phase() const { return phase_; }  // how often it was complete
  void arrive(unsigned rank, unsigned thread, std::uint32_t pc, HazardTable* hazards);
  // The thread has arrived so often before, and now does so without ordering what it did.
  void note_relaxed(unsigned rank, unsigned thread, std::uint32_t arrives) {
    relaxed_.emplace(rank, thread, arrives);
  }
  // True if what the thread did before so many arrivals comes before what follows so many waits.
  bool comes_before(unsigned rank, unsigned thread, std::uint32_t arrives,
                    std::uint32_t waits) const;
  // The thread has arrived so often and ends. `returned`: by itself.
  void end_thread(unsigned rank, unsigned thread, std::uint32_t arrives, bool returned,
                  HazardTable* hazards);

  // ---- shared memory; `rank` is the running block's ----
  std::array<ClusterWindow, kMostClusterBlocks> windows{};
  // The other block whose shared memory is at or near the address; size() if there is none.
  unsigned owner_near(std::uintptr_t address, unsigned rank) const;
  // An access to the bytes `byte_mask` of the word behind `cell`, which lies at `address`. `from` says whose and
  // when.
  void access(ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from,
              unsigned byte_mask, std::uintptr_t address, HazardTable& hazards);
  // The same for a whole word that no other block has touched yet, which there is nothing to find in. False if
  // access() has to look at it.
  [[gnu::always_inline]] bool access_simply(ClusterCell& cell, AccessClass kind,
                                            const ClusterCell::Access& from) const {
    if (cell.cluster != serial_ || cell.rank != from.rank || cell.split) return false;
    if (cell.awaits || cell.is_barrier) return false;
    ClusterCell::Access& latest = cell.by_class[static_cast<int>(kind)][0];
    if (!latest.id || latest.arrives < from.arrives) latest = from;
    return true;
  }
  // The same of global memory, for what a block did with a word in an interval: its threads had arrived so often
  // at least, and waited so often at most. `offset` is that of the race checks.
  void enter_global(std::size_t offset, const WordUse& use, std::uint32_t interval, unsigned rank,
                    std::uint32_t arrives, std::uint32_t waits, HazardTable& hazards);
  TouchedCells<ClusterCell>* global = nullptr;
  LaunchRaces* launch = nullptr;  // knows what is handed on by fences; or null
  // An access to the memory of block `owner`: it must have begun and not have ended. `arrives_later`: it is a store
  // that the block waits for, by a barrier in its memory.
  void reach(unsigned owner, AccessClass kind, AccessId id, std::uintptr_t address, unsigned rank,
             std::uint32_t arrives, std::uint32_t waits, bool arrives_later, HazardTable& hazards);
  // No thread of the block runs any more; its threads have waited so often at most.
  void leave(unsigned rank, std::uint32_t waits, HazardTable& hazards);

  // ---- barriers in shared memory, by address ----
  std::map<std::uintptr_t, Mbarrier> mbarriers;
  // The words of one: nothing else is to touch them.
  void mark_barrier(ClusterCell& cell) {
    if (cell.cluster != serial_) reset(cell);
    cell.is_barrier = true;
  }
  // A word of a store that arrives at one: it is on its way from the running block, and it has arrived at it.
  void send(ClusterCell& cell, const ClusterCell::Access& from, std::uintptr_t address,
            HazardTable& hazards);
  void land(ClusterCell& cell, const ClusterCell::Access& from);
  // An arrival, of a thread or of bytes, may have completed the phase.
  void complete_if_due(Mbarrier& barrier);

 private:
  bool can_run(unsigned rank) const {
    return !ended_[rank] && (stopping_ || !blocked_[rank] || blocked_in_[rank] < phase_);
  }
  void complete(HazardTable* hazards);
  void look_at_marks(const ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from,
                     std::uintptr_t address, HazardTable& hazards);
  void look(const ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from,
            std::uintptr_t address, HazardTable& hazards);
  bool ordered(const ClusterCell::Access& a, const ClusterCell::Access& b, std::uintptr_t word);
  void reset(ClusterCell& cell) const {
    cell = {};
    cell.cluster = serial_;
  }

  const unsigned size_;
  std::mutex mutex_;
  std::condition_variable turns_[kMostClusterBlocks];
  unsigned turn_ = 0;

  std::uint64_t number_ = kNone;
  std::uint32_t serial_ = 0;  // of the cluster in progress
  bool ended_[kMostClusterBlocks] = {};
  bool blocked_[kMostClusterBlocks] = {};
  std::uint32_t blocked_in_[kMostClusterBlocks] = {};
  bool waits_in_memory_[kMostClusterBlocks] = {};
  bool timed_out_[kMostClusterBlocks] = {};
  std::uint64_t steps_at_time_out_ = 0;
  unsigned time_outs_ = 0;  // since somebody got on
  bool stuck_ = false;
  bool stopping_ = false;
  std::uint64_t steps_ = 0;

  std::uint32_t phase_ = 0;
  std::uint64_t live_ = 0;     // threads
  std::uint64_t arrived_ = 0;  // of them, in this phase
  struct Waiter {
    unsigned rank = 0, thread = 0;
    std::uint32_t pc = 0;
  };
  Waiter first_;  // to arrive in this phase
  std::set<std::tuple<unsigned, unsigned, std::uint32_t>>
      relaxed_;  // rank, thread, arrivals before
  struct Gone {
    bool found = false;
    unsigned rank = 0, thread = 0;
    std::uint32_t arrives = 0;
  };
  Gone gone_;  // a thread that has returned, of those that arrived least often

  std::unordered_map<std::uintptr_t, ClusterCell> bytes_;  // of split words, by address
  // The accesses to a block's memory by place, each the one that arrived latest: until the block ends.
  struct Reach {
    AccessId id = 0;
    std::uint32_t arrives = 0;
    std::uintptr_t address = 0;
    AccessClass kind{};
  };
  std::map<std::pair<unsigned, std::uint32_t>, Reach> reaches_[kMostClusterBlocks];
  struct {
    unsigned owner = kMostClusterBlocks;
    std::uint32_t pc = 0, arrives = 0;
  } latest_[kMostClusterBlocks];
  std::uint32_t waits_at_end_[kMostClusterBlocks] = {};
};

}  // namespace simt
