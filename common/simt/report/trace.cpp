#include "common/simt/report/trace.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "common/simt/report/lines.hpp"

namespace simt::report {
namespace {

using machine::WarpAccess;

constexpr std::size_t kMostOfSite = 16;
// Beyond these a warp keeps the first request of each place, of which there are as many as it has code.
constexpr std::size_t kMostOfWarp = 1024;

// The one copy of all that are alike. Arrays are few, and told apart by what the reader is told.
const TracedArray* only_copy(TracedArray array) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<TracedArray>& all = *new std::set<TracedArray>;
  const std::lock_guard lock(mutex);
  return &*all.insert(std::move(array)).first;
}

}  // namespace

TraceLog::TraceLog(const machine::Grid& grid, const ptx::Module& module, std::uint64_t middle,
                   ArrayAt array_at)
    : grid_(grid),
      module_(module),
      middle_block_(middle),
      middle_warp_(static_cast<unsigned>((grid.threads.count() - 1) / machine::kLanes / 2)),
      array_at_(std::move(array_at)) {}

TraceLog::Space TraceLog::space_of(const WarpAccess& access) {
  switch (access.space) {
    case WarpAccess::Space::shared:
      return access.is_sent() ? Space::dshared : Space::shared;
    case WarpAccess::Space::constant:
      return Space::constant;
    default:
      return Space::global;
  }
}

// Sectors, wavefronts, or, of constant memory, different addresses; and the fewest that as many bytes could take. Atomics
// of shared memory have none.
TraceLog::Cost TraceLog::cost_of(Space space, const WarpAccess& access) {
  const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
  if (space == Space::constant) return {number(memory::distinct(access.lanes)), 1};
  if (space == Space::shared) {
    if (access.kind == WarpAccess::Kind::atomic) return {};
    const memory::Wavefronts its = access.wavefronts();
    return {number(its.taken), number(its.fewest)};
  }
  return {number(access.sectors()),
          number((memory::distinct(access.lanes) * access.lanes.bytes + 31) / 32)};
}

std::string TraceLog::name_of(const Key& key) {
  static constexpr const char* kSpaces[] = {"global", "shared", "dshared", "constant"};
  static constexpr const char* kKinds[] = {"_load", "_store", "_atomic"};
  return std::string(kSpaces[static_cast<int>(key.space)]) + kKinds[static_cast<int>(key.kind)];
}

// Lanes in step become one run.
std::vector<LaneRun> TraceLog::runs_of(Space space, const WarpAccess& access) const {
  std::vector<LaneRun> runs;
  const TracedArray* array = nullptr;  // the last one is asked first
  std::uint64_t begin = 0;
  machine::each_lane(access.lanes.mask, [&](std::size_t i) {
    const std::uint64_t address = access.lanes.address[i];
    if (array == nullptr || address - begin >= array->bytes) {
      auto [found, its_begin] = array_at_(space, address);
      array = only_copy(std::move(found));
      begin = its_begin;
    }
    const auto offset = static_cast<std::int64_t>(address - begin);
    const auto lane = static_cast<unsigned>(i);
    if (!runs.empty()) {
      LaneRun& last = runs.back();
      if (last.array == array && lane == last.lane + last.count) {
        if (last.count == 1) last.stride = offset - last.offset;
        if (offset == last.offset + last.stride * last.count) {
          ++last.count;
          return;
        }
      }
    }
    runs.push_back({lane, 1, array, offset, 0});
  });
  for (LaneRun& run : runs) {
    if (run.count == 1) run.stride = 0;
  }
  return runs;
}

// Notes in the maps of the arrays which parts of them the request touches.
void TraceLog::mark(const WarpAccess& access) {
  const std::uint64_t blocks = grid_.blocks.count();
  const std::size_t rows = std::min<std::uint64_t>(blocks, ArrayMap::kRows);
  const std::size_t row = machine::linear(access.warp->block->index, grid_.blocks) * rows / blocks;
  const auto set = [&](std::vector<std::uint64_t>& map, std::uint64_t bit) {
    map.resize(rows);
    map[row] |= bit;
  };
  ArrayMap* map = marked_ == nullptr ? nullptr : &maps_[marked_];
  machine::each_lane(access.lanes.mask, [&](std::size_t i) {
    const std::uint64_t address = access.lanes.address[i];
    if (map == nullptr || address - marked_begin_ >= marked_->bytes) {
      auto [found, its_begin] = array_at_(Space::global, address);
      marked_ = only_copy(std::move(found));
      marked_begin_ = its_begin;
      map = &maps_[marked_];
    }
    if (marked_->bytes == 0) return;  // in no array
    const std::uint64_t last = marked_->bytes - 1;
    const std::uint64_t parts = std::min<std::uint64_t>(ArrayMap::kParts, last / 4 + 1);
    const std::uint64_t at = std::min(address - marked_begin_, last);
    for (const std::uint64_t byte : {at, std::min(at + access.lanes.bytes - 1, last)}) {
      const std::uint64_t bit = std::uint64_t{1} << (byte * parts / (last + 1));
      if (access.kind != WarpAccess::Kind::store) set(map->loads, bit);
      if (access.kind != WarpAccess::Kind::load) set(map->stores, bit);
    }
  });
}

void TraceLog::access(const WarpAccess& access) {
  const Space space = space_of(access);
  const Cost cost = cost_of(space, access);
  const std::lock_guard lock(mutex_);
  std::vector<WarpLog>& warps = open_[access.warp->block];
  warps.resize(access.warp->block->warps.size());
  WarpLog& warp = warps[access.warp->index];
  Site& site = warp.sites[{access.step->site, space, access.kind}];
  site.excess += cost.taken - cost.fewest;
  site.fewest += cost.fewest;
  site.lanes += static_cast<unsigned>(std::popcount(access.lanes.mask));
  if (space == Space::global) mark(access);
  if (site.requests == 0 || (site.kept.size() < kMostOfSite && warp.kept < kMostOfWarp)) {
    site.kept.push_back(
        {warp.steps, cost, static_cast<unsigned>(access.lanes.bytes), runs_of(space, access)});
    ++warp.kept;
  }
  ++site.requests;
  ++warp.steps;
}

void TraceLog::end(const machine::Block& block) {
  const std::uint64_t number = machine::linear(block.index, grid_.blocks);
  const std::lock_guard lock(mutex_);
  const auto found = open_.find(&block);
  if (found == open_.end()) return;
  for (unsigned w = 0; w < found->second.size(); ++w) {
    WarpLog& warp = found->second[w];
    for (auto& [key, site] : warp.sites) {
      Samples& known = sites_[key];
      known.fewest += site.fewest;
      known.requests += site.requests;
      known.lanes += site.lanes;
      Sample sample{true, number, w, site.excess, warp.steps};
      const bool is_first = is_earlier(sample, known.first);
      const bool is_middle = number == middle_block_ && w == middle_warp_;
      const bool is_worst = is_worse(sample, known.worst);
      if (!is_first && !is_middle && !is_worst) continue;
      sample.requests = std::move(site.kept);
      if (is_first) known.first = sample;
      if (is_middle) known.middle = sample;
      if (is_worst) known.worst = std::move(sample);
    }
  }
  open_.erase(found);
}

Trace TraceLog::told() const {
  using Place = std::pair<std::uint64_t, unsigned>;  // block, warp
  Trace trace;
  std::map<Place, TracedWarp> warps;
  struct Line {
    const Sample* first = nullptr;
    const Sample* middle = nullptr;
    const Sample* worst = nullptr;
    std::uint64_t fewest_loads = 0, fewest_stores = 0, fewest_constants = 0;
    std::uint64_t requests = 0, lanes = 0;
  };
  std::map<std::pair<std::string, int>, Line> lines;
  for (const auto& [key, samples] : sites_) {
    const DeviceLine place = line_of(module_, *grid_.code, key.site);
    Line& line = lines[{place.file, place.line}];
    if (line.first == nullptr || is_earlier(samples.first, *line.first))
      line.first = &samples.first;
    if (samples.middle.any) line.middle = &samples.middle;
    if (line.worst == nullptr || is_worse(samples.worst, *line.worst)) line.worst = &samples.worst;
    line.requests += samples.requests;
    line.lanes += samples.lanes;
    const std::string kind = name_of(key);
    if (kind == "global_load") line.fewest_loads += samples.fewest;
    if (kind == "global_store") line.fewest_stores += samples.fewest;
    if (kind == "constant_load") line.fewest_constants += samples.fewest;
    if (kind == "global_load") {
      std::set<const TracedArray*> arrays;
      for (const Sample* const sample : {&samples.first, &samples.middle, &samples.worst}) {
        for (const Request& request : sample->requests) {
          for (const LaneRun& run : request.lanes) arrays.insert(run.array);
        }
      }
      if (arrays.size() == 1) trace.fewest_load_sectors[*arrays.begin()] += samples.fewest;
    }
    std::set<Place> taken;  // a warp may be kept for several reasons
    for (const Sample* const sample : {&samples.first, &samples.middle, &samples.worst}) {
      if (!sample->any || !taken.emplace(sample->block, sample->warp).second) continue;
      TracedWarp& warp = warps[{sample->block, sample->warp}];
      warp.block = machine::place_at(sample->block, grid_.blocks).triple();
      warp.warp = sample->warp;
      warp.steps = sample->steps;
      for (const Request& request : sample->requests) {
        const auto behind = std::upper_bound(
            warp.requests.begin(), warp.requests.end(), request.step,
            [](std::uint64_t step, const TracedRequest& other) { return step < other.step; });
        warp.requests.insert(behind, {request.step, kind, place.file, place.line, request.bytes,
                                      request.cost.taken, request.cost.fewest, request.lanes});
      }
    }
  }
  std::map<Place, int> numbers;
  for (auto& [place, warp] : warps) {
    numbers[place] = static_cast<int>(trace.warps.size());
    trace.warps.push_back(std::move(warp));
  }
  const auto number_of = [&](const Sample* sample) {
    return sample == nullptr ? -1 : numbers.at({sample->block, sample->warp});
  };
  for (const auto& [place, line] : lines) {
    trace.lines.push_back({place.first, place.second, line.fewest_loads, line.fewest_stores,
                           line.fewest_constants, line.requests, line.lanes, number_of(line.first),
                           number_of(line.middle), number_of(line.worst)});
  }
  trace.maps = maps_;
  return trace;
}

}  // namespace simt::report
