// What predictions are written with: who asks for which cells, how often, and a tally of what that
// costs. A prediction walks a kernel's warps as the algorithm lays them out; it runs no kernel and
// looks at no data.
//
//   Tally tally;
//   for (const Cells warp : Cells{0, W}.pieces(kWarpSize)) {
//     tally.load(warp, every(H * W, N * C));  // from each of N * C planes, H * W cells apart
//     tally.shared_store(warp, N * C);        // 32 neighbours on chip: one wavefront
//   }
//   tally.barriers(N * C);
//   tally.launch(N * C, kThreads, W * sizeof(float));  // how many blocks, and what each takes of an SM
//   return tally.cost();
//
// A cell is a float, numbered from the start of its array, and arrays begin on a sector. How requests,
// sectors, wavefronts and conflicts are counted is told in docs/simulator.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "common/harness/kernel.h"
#include "common/harness/traffic/cost.hpp"
#include "common/simt/simt.hpp"

namespace halo {

// Lanes at one distance from each other, 32 a request from the first on.
struct Run {
  std::int64_t first = 0;   // the first lane's cell
  std::int64_t lanes = 0;   // none: no request
  std::int64_t stride = 1;  // cells from one lane's to the next one's
  int width = 1;            // neighbouring cells that a lane takes at once: 1, 2 or 4
  int first_lane = 0;       // 0 ... 31: where in its warp the first one is

  std::int64_t requests() const {
    return lanes <= 0 ? 0 : (first_lane + lanes + kWarpSize - 1) / kWarpSize;
  }
};

// Neighbouring cells [begin, end), or whatever else is numbered: threads, outputs, rows. Empty if
// end <= begin. Asked for, they are a run of a lane each.
struct Cells {
  std::int64_t begin;
  std::int64_t end;

  bool empty() const { return end <= begin; }
  std::int64_t size() const { return empty() ? 0 : end - begin; }
  bool contains(std::int64_t cell) const { return begin <= cell && cell < end; }
  bool contains(Cells cells) const { return begin <= cells.begin && cells.end <= end; }
  Cells shifted(std::int64_t by) const { return {begin + by, end + by}; }
  Cells within(Cells other) const {
    return {begin > other.begin ? begin : other.begin, end < other.end ? end : other.end};
  }
  operator Run() const { return {.first = begin, .lanes = size()}; }

  /// One behind the other, `size` > 0 cells each, of which the last may have fewer:
  /// for (const Cells warp : cells.pieces(kWarpSize)) ...
  struct Pieces;
  Pieces pieces(std::int64_t size) const;
};

struct Cells::Pieces {
  struct Iterator {
    Cells rest;
    std::int64_t size;

    Cells operator*() const { return rest.within({rest.begin, rest.begin + size}); }
    Iterator& operator++() {
      rest.begin += size;
      return *this;
    }
    bool operator!=(const Iterator&) const { return !rest.empty(); }
  };

  Cells all;
  std::int64_t size;

  Iterator begin() const { return {all, size}; }
  Iterator end() const { return {all, size}; }
  std::int64_t count() const { return (all.size() + size - 1) / size; }
};

inline Cells::Pieces Cells::pieces(std::int64_t size) const { return {*this, size}; }

/// Every stride-th cell, from `first` on.
Run strided(std::int64_t first, std::int64_t lanes, std::int64_t stride);
/// One cell, for however many lanes of a warp.
Run one(std::int64_t cell);
/// Two and four neighbours a lane with one instruction, 8 and 16 bytes. Throws std::invalid_argument
/// if the cells are not whole pairs or quads.
Run pairs(Cells cells);
Run quads(Cells cells);
/// Neighbours of which the first goes to this lane of its warp, or to this thread.
Run from_lane(std::int64_t lane, Cells cells);

// One request whose lanes have any cells, or none: where a row ends, or a cell is a ghost.
class Lanes {
 public:
  explicit Lanes(int width = 1) : width_(width) { cells_.fill(-1); }

  /// 0 <= lane < 32; the first of the lane's `width` cells, -1 for none.
  void set(int lane, std::int64_t cell) { cells_[static_cast<std::size_t>(lane)] = cell; }
  bool empty() const;

  /// Sectors of one request for the cells so far behind its own.
  std::uint64_t sectors(std::int64_t behind = 0) const;

  // Passes through the banks, and how many of them width and lanes need without conflicts.
  struct Wavefronts {
    std::uint64_t taken = 0;
    std::uint64_t needed = 0;
  };
  Wavefronts load_wavefronts() const;
  Wavefronts store_wavefronts() const;

  // Of an asynchronous copy from the cells so far behind these, to those: docs/simulator_reference.md says by which rules.
  // Whether lanes without a cell here take part, and fill in zeros.
  struct Copied {
    std::uint64_t sectors = 0;
    std::uint64_t wavefronts = 0;
    std::uint64_t conflicts = 0;
  };
  Copied copied_to(const Lanes& to, bool or_zero, std::int64_t behind) const;
  bool is_past_cache() const { return width_ == 4; }  // if it is copied

 private:
  bool neighbours_agree(int distance) const;
  Wavefronts wavefronts(int lanes_per_phase) const;
  Wavefronts passes_of_banks(const Lanes& to, bool or_zero) const;
  std::uint64_t passes_of_lines(const Lanes& to, std::int64_t behind) const;

  std::array<std::int64_t, kWarpSize> cells_;
  int width_;
};

/// The lanes of up to 32 threads, or of what they are numbered by: lane i has the `width` cells from
/// cell_of(first + i) on, or none where that is kNoCell. Throws std::invalid_argument for more.
constexpr std::int64_t kNoCell = -1;
void require_one_warp(Cells threads);
template <class CellOf>
Lanes wide_lanes(int width, Cells threads, CellOf cell_of) {
  require_one_warp(threads);
  Lanes made(width);
  int lane = 0;
  for (std::int64_t i = threads.begin; i < threads.end; ++i) made.set(lane++, cell_of(i));
  return made;
}
template <class CellOf>
Lanes lanes(Cells threads, CellOf cell_of) {
  return wide_lanes(1, threads, cell_of);
}

// How often a request is made, and how far behind the cells that it names: its sectors depend on where in a sector it
// begins, a copy's passes on where in a line. Of all that begin alike one is looked at, so that many cost no time.
class Times {
 public:
  /// So often, for the cells that the request names.
  Times(std::int64_t times = 1) { begins_[0] = static_cast<std::uint64_t>(times); }
  /// So often also for the cells `behind` them.
  void add(std::int64_t behind, std::int64_t times = 1);

  /// How many of them are 0 ... 31 cells, and any multiple of 32, behind.
  std::uint64_t operator[](int behind) const { return begins_[static_cast<std::size_t>(behind)]; }
  std::uint64_t total() const;
  static constexpr int kSector = 8, kLine = 32;
  /// visit(behind, times) of all that differ where what is so many cells further begins alike, a sector or a line.
  template <class Visit>
  void each(int period, Visit visit) const {
    for (int behind = 0; behind < std::min(used_, period); ++behind) {
      std::uint64_t times = 0;
      for (int at = behind; at < used_; at += period) times += (*this)[at];
      if (times > 0) visit(behind, times);
    }
  }
  /// What all of them together touch if one that is so far behind touches sectors(behind).
  template <class Sectors>
  std::uint64_t sum(Sectors sectors) const {
    std::uint64_t sum = 0;
    each(kSector, [&](int behind, std::uint64_t times) { sum += times * sectors(behind); });
    return sum;
  }

  /// The one and the other.
  friend Times operator+(const Times& a, const Times& b);
  /// Each of the one with each of the other: rows of planes, taps of filters.
  friend Times operator*(const Times& a, const Times& b);

 private:
  std::array<std::uint64_t, kLine> begins_{};
  int used_ = 1;  // none begins so many cells behind, or more
};

/// Once, for the cells so far behind those that the request names.
inline Times behind(std::int64_t cells) {
  Times times(0);
  times.add(cells);
  return times;
}

/// Once for the cells themselves, once for those `pitch` cells behind, and so on, `count` times.
Times every(std::int64_t pitch, std::int64_t count);

// How often a warp is met again in later parts, each `parts` of them behind the one before.
struct Again {
  std::int64_t parts;
  std::int64_t times;

  /// For cells that are so far apart from one part to the next.
  Times every(std::int64_t pitch) const { return halo::every(parts * pitch, times); }
};

/// Threads are numbered through `parts` equal parts of `size` > 0 each, images or planes. At the latest
/// every 32nd part begins with a warp, and there all falls as before. Calls visit(threads, again) for
/// the warps that differ.
template <class Visit>
void for_each_warp(std::int64_t parts, std::int64_t size, Visit visit) {
  std::int64_t period = 1;
  while (period * size % kWarpSize != 0) period *= 2;
  const std::int64_t periods = parts / period;
  const Cells last{periods * period * size, parts * size};
  if (periods > 0) {
    for (const Cells warp : Cells{0, period * size}.pieces(kWarpSize)) {
      visit(warp, Again{period, periods});
    }
  }
  for (const Cells warp : last.pieces(kWarpSize)) visit(warp, Again{0, 1});
}

// The cost of all that is asked for. Where there is no lane there is no request.
class Tally {
 public:
  /// Kernels, `times` alike: blocks of a grid, threads of a block, and the bytes of shared memory that it
  /// has, static and dynamic. What traffic does not show is here: whether SMs have work, and how many
  /// blocks an SM has room for.
  void launch(std::int64_t blocks, std::int64_t threads, std::int64_t shared_bytes = 0,
              std::int64_t times = 1);

  // Global memory: requests and sectors.
  void load(const Run& run, const Times& times = 1);
  void load(const Lanes& lanes, const Times& times = 1);
  void store(const Run& run, const Times& times = 1);
  void store(const Lanes& lanes, const Times& times = 1);

  // Shared memory: requests, wavefronts and conflicts. How far behind makes no difference there.
  void shared_load(const Run& run, const Times& times = 1);
  void shared_load(const Lanes& lanes, const Times& times = 1);
  void shared_store(const Run& run, const Times& times = 1);
  void shared_store(const Lanes& lanes, const Times& times = 1);

  /// Asynchronous copies from global memory to shared, by lanes that have cells in both. A load and a store, whose passes
  /// depend on both sides; 16 bytes a lane go past the first cache (cp.async.cg). Runs have equally many lanes.
  void copy(const Run& from, const Run& to, const Times& times = 1);
  void copy(const Lanes& from, const Lanes& to, const Times& times = 1);
  /// The same by copy_or_zero_async(): a lane without a cell in `from` fills in zeros.
  void copy_or_zero(const Run& from, const Run& to, const Times& times = 1);
  void copy_or_zero(const Lanes& from, const Lanes& to, const Times& times = 1);

  // Shared memory of another block of the cluster: requests and sectors, as of global memory.
  void dshared_load(const Run& run, const Times& times = 1);
  void dshared_load(const Lanes& lanes, const Times& times = 1);
  void dshared_store(const Run& run, const Times& times = 1);
  void dshared_store(const Lanes& lanes, const Times& times = 1);

  /// Copies in bulk from global memory: so many, each of so many bytes that begin and end with a sector.
  void bulk_load(std::int64_t bytes, std::int64_t times);
  /// Constant memory: so many requests whose lanes all want the same value.
  void constant_load(std::int64_t times);
  /// One for each time that a block waits.
  void barriers(std::int64_t times);
  /// So many instructions of tensor cores, each of a warp: an mma.
  void tensor(std::int64_t instructions);
  /// So many passes through the banks for wgmma's operands in shared memory.
  void wgmma_wavefronts(std::int64_t wavefronts);

  /// All that the other has, so often.
  void add(const Tally& other, std::int64_t times = 1);

  const Cost& cost() const { return cost_; }
  const simt::Counters& counters() const { return cost_; }

 private:
  void add_copy(const Lanes& from, const Lanes& to, const Times& times, bool or_zero);
  void add_copy(const Run& from, const Run& to, const Times& times, bool or_zero);

  Cost cost_;
};

}  // namespace halo
