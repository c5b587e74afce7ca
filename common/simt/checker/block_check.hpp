// What a block's check is made of: for the files of this room.
#pragma once

#include <algorithm>
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
  std::uint8_t bytes;  // of the word, a bit each
};

struct BlockCheck::Word {
  std::vector<Exact> all;  // but those that others come after and stand for
  std::vector<std::pair<std::uint32_t, std::uint32_t>> told;
  bool values_differ = false;  // of writes that race
};

struct BlockCheck::Words {
  std::deque<Word> all;
  std::size_t accesses = 0;  // to all of them
  void clear() {
    if (!all.empty()) all.clear();
    accesses = 0;
  }
};

// Used again by the next block.
struct BlockCheck::Storage {
  explicit Storage(std::size_t bytes)
      : cells(groups_for(bytes / 4)), initialised(0, bytes), settled(bytes / (64 * 32) + 2) {}
  std::vector<Cells> cells;
  Initialised initialised;
  Words words;
  /// Groups of words of which no load needs to be looked at until the next barrier, a bit each, by their number.
  std::vector<std::uint64_t> settled;

  bool is_settled(std::uint64_t begin, std::uint64_t end) const {
    const std::uint64_t last = (end - 1) / kGroupBytes;
    for (std::uint64_t group = begin / kGroupBytes; group <= last;) {
      const std::uint64_t count = std::min(64 - group % 64, last - group + 1);
      if ((~settled[group / 64] >> group % 64 & low_bits(count)) != 0) return false;
      group += count;
    }
    return true;
  }
  void unsettle(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t last = (end - 1) / kGroupBytes;
    for (std::uint64_t group = begin / kGroupBytes; group <= last;) {
      const std::uint64_t count = std::min(64 - group % 64, last - group + 1);
      settled[group / 64] &= ~(low_bits(count) << group % 64);
      group += count;
    }
  }
  void unsettle() { std::fill(settled.begin(), settled.end(), 0); }

 private:
  static constexpr std::uint64_t kGroupBytes = kCellWords * 4;
  static std::uint64_t low_bits(std::uint64_t count) { return ~std::uint64_t{0} >> (64 - count); }
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
  Initialised& initialised;

  std::uint64_t address(int lane) const {
    return access.lanes.address[static_cast<std::size_t>(lane)];
  }
  unsigned thread(int lane) const { return access.warp * 32 + static_cast<unsigned>(lane); }
};

}  // namespace simt::checker
