#include "common/harness/traffic/tally.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "common/conv/sectors.hpp"

namespace halo {

namespace {

constexpr std::int64_t kBanks = 32;
constexpr std::int64_t kSector = conv::kSectorFloats;

// Requests of a run that are alike.
struct Alike {
  std::int64_t times;
  std::int64_t cell;  // the first lane's
  std::int64_t lanes;
  int first_lane;
};

// The kinds of requests that a run has. Full ones begin 32 strides apart, a multiple of whole sectors
// and of all banks, so they are one kind.
class Kinds {
 public:
  explicit Kinds(const Run& run) {
    std::int64_t cell = run.first;
    std::int64_t left = run.lanes;
    if (run.first_lane > 0) {
      const std::int64_t lanes = std::min<std::int64_t>(kWarpSize - run.first_lane, left);
      add({1, cell, lanes, run.first_lane});
      cell += lanes * run.stride;
      left -= lanes;
    }
    if (left >= kWarpSize) {
      add({left / kWarpSize, cell, kWarpSize, 0});
      cell += left / kWarpSize * kWarpSize * run.stride;
      left %= kWarpSize;
    }
    add({1, cell, left, 0});
  }

  const Alike* begin() const { return kinds_.data(); }
  const Alike* end() const { return kinds_.data() + count_; }

 private:
  void add(const Alike& kind) {
    if (kind.lanes > 0) kinds_[count_++] = kind;
  }

  std::array<Alike, 3> kinds_;
  std::size_t count_ = 0;
};

Lanes lanes_of(const Run& run, const Alike& kind) {
  Lanes lanes(run.width);
  for (int i = 0; i < kind.lanes; ++i) lanes.set(kind.first_lane + i, kind.cell + i * run.stride);
  return lanes;
}

struct Global {
  std::uint64_t& requests;
  std::uint64_t& sectors;

  void add(const Lanes& lanes, const Times& times) const {
    if (lanes.empty()) return;
    requests += times.total();
    sectors += times.sum([&](std::int64_t behind) { return lanes.sectors(behind); });
  }

  void add(const Run& run, const Times& times) const {
    for (const Alike& kind : Kinds(run)) {
      if (run.stride != run.width) {
        add(lanes_of(run, kind), times * kind.times);
        continue;
      }
      const std::int64_t end = kind.cell + kind.lanes * run.stride;
      requests += kind.times * times.total();
      sectors += kind.times * times.sum([&](std::int64_t behind) {
        return conv::sectors_touched(kind.cell + behind, end + behind);
      });
    }
  }
};

enum class Way { load, store };

struct Shared {
  Way way;
  std::uint64_t& requests;
  std::uint64_t& wavefronts;
  std::uint64_t& conflicts;

  void add(const Lanes& lanes, std::uint64_t times) const {
    if (lanes.empty()) return;
    const Lanes::Wavefronts one =
        way == Way::load ? lanes.load_wavefronts() : lanes.store_wavefronts();
    requests += times;
    wavefronts += times * one.taken;
    conflicts += times * (one.taken - one.needed);
  }

  void add(const Run& run, std::uint64_t times) const {
    for (const Alike& kind : Kinds(run)) {
      if (run.stride == 1 && run.width == 1) {
        requests += kind.times * times;
        wavefronts += kind.times * times;
      } else {
        add(lanes_of(run, kind), kind.times * times);
      }
    }
  }
};

}  // namespace

Run strided(std::int64_t first, std::int64_t lanes, std::int64_t stride) {
  return {.first = first, .lanes = lanes, .stride = stride};
}

Run one(std::int64_t cell) { return {.first = cell, .lanes = 1}; }

Run pairs(Cells cells) {
  if (cells.size() % 2 != 0) throw std::invalid_argument("pairs: half a pair is left over");
  return {.first = cells.begin, .lanes = cells.size() / 2, .stride = 2, .width = 2};
}

Run quads(Cells cells) {
  if (cells.size() % 4 != 0) throw std::invalid_argument("quads: part of a quad is left over");
  return {.first = cells.begin, .lanes = cells.size() / 4, .stride = 4, .width = 4};
}

Run from_lane(std::int64_t lane, Cells cells) {
  Run run = cells;
  run.first_lane = static_cast<int>(lane % kWarpSize);
  return run;
}

void require_one_warp(Cells threads) {
  if (threads.size() > kWarpSize) throw std::invalid_argument("lanes: over 32 threads");
}

// ---- one request ---------------------------------------------------------------------------------

bool Lanes::empty() const {
  return std::all_of(cells_.begin(), cells_.end(), [](std::int64_t c) { return c < 0; });
}

std::uint64_t Lanes::sectors(std::int64_t behind) const {
  // Lanes mostly go up through memory: then a sector that is new is another than the last one.
  std::array<std::int64_t, 2 * kWarpSize> touched;
  std::size_t count = 0;
  bool ascending = true;
  const auto touch = [&](std::int64_t sector) {
    if (count > 0 && touched[count - 1] == sector) return;
    ascending = ascending && (count == 0 || touched[count - 1] < sector);
    touched[count++] = sector;
  };
  for (const std::int64_t cell : cells_) {
    if (cell < 0) continue;
    touch((cell + behind) / kSector);
    touch((cell + behind + width_ - 1) / kSector);
  }
  if (ascending) return count;
  const auto end = touched.begin() + static_cast<std::ptrdiff_t>(count);
  std::sort(touched.begin(), end);
  return static_cast<std::uint64_t>(std::unique(touched.begin(), end) - touched.begin());
}

Lanes::Wavefronts Lanes::load_wavefronts() const {
  // 8 and 16 bytes a lane: where neighbours read the same, twice as many lanes share a pass.
  if (width_ > 1 && (neighbours_agree(1) || neighbours_agree(2))) {
    return wavefronts(2 * kWarpSize / width_);
  }
  return wavefronts(kWarpSize / width_);
}

Lanes::Wavefronts Lanes::store_wavefronts() const { return wavefronts(kWarpSize / width_); }

bool Lanes::neighbours_agree(int distance) const {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const std::int64_t own = cells_[static_cast<std::size_t>(lane)];
    const std::int64_t other = cells_[static_cast<std::size_t>(lane ^ distance)];
    if (own >= 0 && other >= 0 && own != other) return false;
  }
  return true;
}

// Each phase takes as many passes as the busiest bank has different cells to give.
Lanes::Wavefronts Lanes::wavefronts(int lanes_per_phase) const {
  Wavefronts all;
  for (int first = 0; first < kWarpSize; first += lanes_per_phase) {
    std::array<std::int64_t, 4 * kWarpSize> cells;
    std::size_t count = 0;
    for (int lane = first; lane < std::min(first + lanes_per_phase, kWarpSize); ++lane) {
      const std::int64_t cell = cells_[static_cast<std::size_t>(lane)];
      if (cell < 0) continue;
      for (int i = 0; i < width_; ++i) cells[count++] = cell + i;
    }
    if (count == 0) continue;
    const auto end = cells.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(cells.begin(), end);
    std::array<std::uint64_t, kBanks> different{};
    std::for_each(cells.begin(), std::unique(cells.begin(), end),
                  [&](std::int64_t cell) { ++different[static_cast<std::size_t>(cell % kBanks)]; });
    all.taken += *std::max_element(different.begin(), different.end());
    all.needed += 1;
  }
  return all;
}

Lanes::Copied Lanes::copied_to(const Lanes& to, bool or_zero, std::int64_t behind) const {
  const Wavefronts banks = passes_of_banks(to, or_zero);
  if (!is_past_cache()) return {sectors(behind), banks.taken, banks.taken - banks.needed};
  // Of each line the sectors on chip that it fills.
  std::set<std::pair<std::int64_t, std::int64_t>> filled;
  bool has_zeros = false;
  for (std::size_t lane = 0; lane < cells_.size(); ++lane) {
    has_zeros = has_zeros || (or_zero && cells_[lane] < 0 && to.cells_[lane] >= 0);
    if (cells_[lane] < 0) continue;
    filled.insert({(cells_[lane] + behind) / Times::kLine, to.cells_[lane] / kSector});
  }
  return {filled.size(), or_zero ? to.store_wavefronts().taken : passes_of_lines(to, behind),
          has_zeros ? banks.taken - banks.needed : 0};
}

// As many passes as the busiest bank has lanes, on either side, whether they want the same or not.
Lanes::Wavefronts Lanes::passes_of_banks(const Lanes& to, bool or_zero) const {
  Wavefronts all;
  const int lanes_per_phase = kWarpSize / width_;
  for (int first = 0; first < kWarpSize; first += lanes_per_phase) {
    std::array<std::uint64_t, kBanks> read{}, written{};
    for (int lane = first; lane < first + lanes_per_phase; ++lane) {
      const std::int64_t from = cells_[static_cast<std::size_t>(lane)];
      const std::int64_t place = to.cells_[static_cast<std::size_t>(lane)];
      for (int i = 0; i < width_; ++i) {
        if (from >= 0) ++read[static_cast<std::size_t>((from + i) % kBanks)];
        if (place >= 0 && (or_zero || from >= 0)) {
          ++written[static_cast<std::size_t>((place + i) % kBanks)];
        }
      }
    }
    const std::uint64_t most = std::max(*std::max_element(read.begin(), read.end()),
                                        *std::max_element(written.begin(), written.end()));
    all.taken += most;
    all.needed += most > 0;
  }
  return all;
}

// A pass goes from a line to a line and moves the same halves of sectors, all of them to places that are even where theirs
// are, or none. Both halves of a sector go together where both come to one other. What has the same sector as its source
// goes in another pass.
std::uint64_t Lanes::passes_of_lines(const Lanes& to, std::int64_t behind) const {
  constexpr std::int64_t kHalf = kSector / 2;
  using Halves = std::set<std::pair<std::int64_t, std::int64_t>>;              // from, to
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Halves>> moved;  // of sectors
  for (std::size_t lane = 0; lane < cells_.size(); ++lane) {
    if (cells_[lane] < 0) continue;
    const std::int64_t from = (cells_[lane] + behind) / kHalf, place = to.cells_[lane] / kHalf;
    std::vector<Halves>& all = moved[{from / 2, place / 2}];
    auto with = std::find(all.begin(), all.end(), Halves{{1 - from % 2, 1 - place % 2}});
    if (with == all.end()) with = all.insert(with, Halves{});
    with->insert({from % 2, place % 2});
  }
  using Pass = std::tuple<std::int64_t, std::int64_t, bool, Halves>;
  std::map<std::pair<std::int64_t, Pass>, int> turns;
  std::set<std::pair<Pass, int>> passes;
  for (const auto& [sectors, all] : moved) {
    const auto& [from, place] = sectors;
    for (const Halves& halves : all) {
      const Pass pass{from / 4, place / 4, (from ^ place) % 2 != 0, halves};
      passes.insert({pass, turns[{from, pass}]++});
    }
  }
  return passes.size();
}

// ---- how often -----------------------------------------------------------------------------------

void Times::add(std::int64_t behind, std::int64_t times) {
  const int place = static_cast<int>((behind % kLine + kLine) % kLine);
  begins_[static_cast<std::size_t>(place)] += static_cast<std::uint64_t>(times);
  used_ = std::max(used_, place + 1);
}

std::uint64_t Times::total() const {
  return sum([](int) { return std::uint64_t{1}; });
}

Times operator+(const Times& a, const Times& b) {
  Times both = a;
  for (int i = 0; i < b.used_; ++i) both.add(i, static_cast<std::int64_t>(b[i]));
  return both;
}

Times operator*(const Times& a, const Times& b) {
  Times each = 0;
  for (int i = 0; i < a.used_; ++i) {
    for (int j = 0; j < b.used_; ++j) each.add(i + j, static_cast<std::int64_t>(a[i] * b[j]));
  }
  return each;
}

Times every(std::int64_t pitch, std::int64_t count) {
  Times times = 0;
  for (std::int64_t i = 0; i < Times::kLine && i < count; ++i) {
    // This one and each 32nd after it begin alike.
    times.add(i * (pitch % Times::kLine), (count - i + Times::kLine - 1) / Times::kLine);
  }
  return times;
}

// ---- the tally -----------------------------------------------------------------------------------

void Tally::launch(std::int64_t blocks, std::int64_t threads, std::int64_t shared_bytes,
                   std::int64_t times) {
  cost_.add({.launches = static_cast<std::uint64_t>(times),
             .blocks = static_cast<std::uint64_t>(blocks),
             .threads = static_cast<std::uint64_t>(threads),
             .shared_bytes = static_cast<std::uint64_t>(shared_bytes)});
}

void Tally::load(const Run& run, const Times& times) {
  Global{cost_.global_load_requests, cost_.global_load_sectors}.add(run, times);
}

void Tally::load(const Lanes& lanes, const Times& times) {
  Global{cost_.global_load_requests, cost_.global_load_sectors}.add(lanes, times);
}

void Tally::store(const Run& run, const Times& times) {
  Global{cost_.global_store_requests, cost_.global_store_sectors}.add(run, times);
}

void Tally::store(const Lanes& lanes, const Times& times) {
  Global{cost_.global_store_requests, cost_.global_store_sectors}.add(lanes, times);
}

void Tally::shared_load(const Run& run, const Times& times) {
  Shared{Way::load, cost_.shared_load_requests, cost_.shared_load_wavefronts,
         cost_.shared_load_conflicts}
      .add(run, times.total());
}

void Tally::shared_load(const Lanes& lanes, const Times& times) {
  Shared{Way::load, cost_.shared_load_requests, cost_.shared_load_wavefronts,
         cost_.shared_load_conflicts}
      .add(lanes, times.total());
}

void Tally::shared_store(const Run& run, const Times& times) {
  Shared{Way::store, cost_.shared_store_requests, cost_.shared_store_wavefronts,
         cost_.shared_store_conflicts}
      .add(run, times.total());
}

void Tally::shared_store(const Lanes& lanes, const Times& times) {
  Shared{Way::store, cost_.shared_store_requests, cost_.shared_store_wavefronts,
         cost_.shared_store_conflicts}
      .add(lanes, times.total());
}

void Tally::copy(const Run& from, const Run& to, const Times& times) {
  add_copy(from, to, times, false);
}

void Tally::copy(const Lanes& from, const Lanes& to, const Times& times) {
  add_copy(from, to, times, false);
}

void Tally::copy_or_zero(const Run& from, const Run& to, const Times& times) {
  add_copy(from, to, times, true);
}

void Tally::copy_or_zero(const Lanes& from, const Lanes& to, const Times& times) {
  add_copy(from, to, times, true);
}

void Tally::add_copy(const Run& from, const Run& to, const Times& times, bool or_zero) {
  const Kinds places(to);
  const Alike* place = places.begin();
  for (const Alike& kind : Kinds(from)) {
    add_copy(lanes_of(from, kind), lanes_of(to, *place++), times * kind.times, or_zero);
  }
}

void Tally::add_copy(const Lanes& from, const Lanes& to, const Times& times, bool or_zero) {
  if (or_zero ? to.empty() : from.empty()) return;
  if (!from.empty()) cost_.global_load_requests += times.total();
  cost_.shared_store_requests += times.total();
  times.each(from.is_past_cache() ? Times::kLine : Times::kSector,
             [&](std::int64_t behind, std::uint64_t often) {
               const Lanes::Copied one = from.copied_to(to, or_zero, behind);
               cost_.global_load_sectors += often * one.sectors;
               cost_.shared_store_wavefronts += often * one.wavefronts;
               cost_.shared_store_conflicts += often * one.conflicts;
             });
}

void Tally::dshared_load(const Run& run, const Times& times) {
  Global{cost_.dshared_load_requests, cost_.dshared_load_sectors}.add(run, times);
}

void Tally::dshared_load(const Lanes& lanes, const Times& times) {
  Global{cost_.dshared_load_requests, cost_.dshared_load_sectors}.add(lanes, times);
}

void Tally::dshared_store(const Run& run, const Times& times) {
  Global{cost_.dshared_store_requests, cost_.dshared_store_sectors}.add(run, times);
}

void Tally::dshared_store(const Lanes& lanes, const Times& times) {
  Global{cost_.dshared_store_requests, cost_.dshared_store_sectors}.add(lanes, times);
}

void Tally::bulk_load(std::int64_t bytes, std::int64_t times) {
  constexpr std::int64_t kSectorBytes = 32;
  cost_.bulk_load_requests += static_cast<std::uint64_t>(times);
  cost_.bulk_load_sectors += static_cast<std::uint64_t>(times * bytes / kSectorBytes);
}

void Tally::constant_load(std::int64_t times) {
  cost_.constant_load_requests += static_cast<std::uint64_t>(times);
}

void Tally::barriers(std::int64_t times) { cost_.barriers += static_cast<std::uint64_t>(times); }

void Tally::tensor(std::int64_t instructions) {
  cost_.tensor_instructions += static_cast<std::uint64_t>(instructions);
}

void Tally::wgmma_wavefronts(std::int64_t wavefronts) {
  cost_.wgmma_wavefronts += static_cast<std::uint64_t>(wavefronts);
}

void Tally::add(const Tally& other, std::int64_t times) {
  cost_.add(other.cost_, static_cast<std::uint64_t>(times));
}

}  // namespace halo
