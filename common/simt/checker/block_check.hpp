// What a block's check is made of: for the files of this room.
#pragma once

#include <algorithm>
#include <cstring>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "common/simt/checker/checker.hpp"

namespace simt::checker {

inline constexpr std::uint32_t kNoSite = kSiteMask;

// As cells keep it.
inline std::uint32_t cell_site(std::int32_t site) {
  return std::min(static_cast<std::uint32_t>(site), kNoSite);
}

// So that the cell of a word that is kept exactly says of which launch or block it is.
inline std::int32_t kept_mark(std::int32_t number) {
  return number | std::numeric_limits<std::int32_t>::min();
}

inline bool has(std::uint32_t mask, int lane) { return (mask >> lane & 1) != 0; }

// The i-th of equal parts of a word, a bit a byte.
inline unsigned part_of(int i, int parts) {
  const int bytes = 4 / parts;
  return ((1u << bytes) - 1) << i * bytes;
}

inline std::uint64_t address_of(const Access& access, int lane) {
  return access.lanes.address[static_cast<std::size_t>(lane)];
}

// One access to a word that is kept exactly.
struct BlockCheck::Exact {
  std::int32_t block;  // its id
  unsigned thread;     // kNoThread: one of the block that is not known
  std::int32_t moment;
  std::uint32_t site;
  Act act;
  std::uint8_t bytes;      // of the word, a bit each
  bool is_before = false;  // the access that is judged
};

struct BlockCheck::Word {
  std::vector<Exact> all;     // but those that others come after and stand for
  std::int32_t meetings = 0;  // of the cluster before the last access
  std::int32_t since = 0;     // of the block: what lies before has been taken out
  std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
  bool values_differ = false;  // of writes that race
  bool is_updated = false;     // one of them is an atomic, or was
  /// All are atomics that race with no other; beyond so many some are of threads that have a later one.
  bool is_of_atomics = false;
  bool is_of_loads = false;
  std::size_t tidy = 0;
};

// What an access meets in a word. Each is the first in the order of the grid.
struct BlockCheck::Met {
  std::array<const Exact*, 3> conflict{};  // by Act
  const Exact* lacks_acquire = nullptr;
  const Exact* unfenced = nullptr;  // made too early in its critical section
  const Exact* mixed = nullptr;     // a strong store, as the access is, that nothing orders
  const Exact* old = nullptr;  // a volatile store whose value it may miss, and which is no flag
  bool lacks_fence = false;    // with one, none would conflict
  std::size_t before = 0;      // how many come before the access, at most

  bool is_told() const {
    return conflict != std::array<const Exact*, 3>{} || lacks_acquire != nullptr ||
           unfenced != nullptr || mixed != nullptr || old != nullptr;
  }
};

struct BlockCheck::Words {
  std::size_t accesses = 0;  // to all of them

  Word& operator[](std::size_t i) { return all_[i]; }
  std::size_t size() const { return size_; }
  void add(const Word& word) {
    if (size_ == all_.size()) all_.emplace_back();
    all_[size_++] = word;
  }
  /// Words have room for as many accesses as those before them had, unless they were very many.
  void clear() {
    constexpr std::size_t kMost = std::size_t{1} << 14;
    if (all_.size() > kMost) all_.clear();
    size_ = accesses = 0;
  }

 private:
  std::deque<Word> all_;
  std::size_t size_ = 0;
};

struct BlockCheck::Written {
  std::int32_t block = 0, place = 0, site = -1;  // block 0: there is none
  bool operator==(const Written&) const = default;
};

// What the async proxy sees.
struct BlockCheck::Async {
  /// A fence between the proxies, and what came before it.
  struct Fence {
    std::int32_t moment, since, warp_since;
    Clock known;
    unsigned of;
  };
  struct Wait {
    std::int32_t moment;
    unsigned warp;
    std::uint32_t lanes;
  };
  /// What is read until it has been waited for, by one of the waits.
  struct Reading {
    std::vector<Piece> pieces;
    std::int32_t site;
    unsigned warp;
    int lane;  // -1: the four warps from this one on
    std::uint32_t group;
    std::int32_t copy;  // 0: one with a group
    std::vector<Wait> waits;
  };
  std::vector<Written> written;
  std::vector<std::vector<Fence>> fences;  // by thread
  std::vector<Reading> readings;
  /// What was stored before this moment lies before some fence, by what that is of; and that one before the last barrier.
  std::array<std::int32_t, kOfAll + 1> fenced_before{}, clean_before{};

  Async(std::size_t bytes, std::size_t threads) : written(bytes / 4 + 1), fences(threads) {}
  void forget() {
    std::fill(written.begin(), written.end(), Written{});
    for (auto& one : fences) one.clear();
    readings.clear();
    fenced_before = clean_before = {};
  }
};

// What threads have written in their own memory, one thread's behind the other's.
struct BlockCheck::Own {
  std::size_t bytes;  // of all
  Initialised initialised{0, bytes};
  std::unordered_map<std::uint64_t, std::uint32_t> left_at;  // by words: what nobody wrote
  std::vector<std::uint64_t>
      marked;  // of 64 bytes each, by their number: all in which something is

  void mark(std::uint64_t at, std::size_t count) {
    for (std::uint64_t piece = at / 64; piece * 64 < at + count; ++piece) {
      if (initialised.bits(piece * 64, 64) == 0) marked.push_back(piece);
    }
    initialised.mark(at, count);
  }
  /// Costs as much as was marked: of a large array little may be.
  void clear() {
    for (const std::uint64_t piece : marked) initialised.put(piece * 64, 0);
    marked.clear();
    left_at.clear();
  }
};

// Used again by the next block.
struct BlockCheck::Storage {
  explicit Storage(std::size_t bytes)
      : cells(groups_for(bytes / 4)), initialised(0, bytes), settled(bytes / kGroupBytes + 1) {}
  std::vector<Cells> cells;
  Initialised initialised;
  Words words;
  Word passing;  // while it is looked at whether it is to be kept
  // A lane's copy that has come, as the access that it is for others.
  struct Landing {
    std::array<std::uint64_t, 32> addresses{};
    std::array<std::byte, 32 * 16> values{};
  } landing;
  /// Of groups of words, by their number: no load of theirs needs to be looked at until the next barrier: kByAll: nobody's;
  /// another: none of the warp with the number before it until its next __syncwarp.
  std::vector<std::uint8_t> settled;
  static constexpr std::uint8_t kByAll = 255;
  static constexpr std::uint64_t kGroupBytes = kCellWords * 4;

  /// Of a quick launch: which words the block itself has touched that no barrier of the cluster has put behind it, a bit
  /// each; and those that it has touched since a thread has arrived at the next one.
  struct Touched {
    std::vector<std::uint64_t> all, since_arrival;
    void clear(std::size_t words);
    void mark(std::uint64_t begin, std::uint64_t end, bool has_arrived);
    bool has(std::size_t word) const { return (all[word / 64] >> word % 64 & 1) != 0; }
  };
  Touched loaded, stored;
  std::unique_ptr<Own> own;
  // The block's own while there is one, empty without: memory for them is asked for once.
  std::vector<Filling> filling;
  std::vector<std::vector<Source>> sources;

  bool is_settled(std::uint64_t group, unsigned warp) const {
    return settled[group] == kByAll || settled[group] == warp + 1;
  }
  void unsettle(std::uint64_t begin, std::uint64_t end) {
    std::memset(&settled[begin / kGroupBytes], 0,
                (end - 1) / kGroupBytes - begin / kGroupBytes + 1);
  }
  void unsettle() { std::fill(settled.begin(), settled.end(), 0); }
};

// An access while it is looked at.
struct BlockCheck::Doing {
  const Access& access;
  const Site& site;
  Who who;
  std::uint32_t cell_site;
  bool is_shared;
  bool is_narrow;  // an atomic that is none for other blocks
  bool reads, writes;
  bool hands_on;  // a strong store or atomic
  Initialised& initialised;
  BlockCheck& memory;  // of shared memory: whose it is

  std::uint64_t address(int lane) const {
    return access.lanes.address[static_cast<std::size_t>(lane)];
  }
  unsigned thread(int lane) const { return access.warp * 32 + static_cast<unsigned>(lane); }
};

}  // namespace simt::checker
