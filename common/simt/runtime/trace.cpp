#include "common/simt/runtime/trace.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/program_image.hpp"

namespace simt {
namespace {

constexpr std::uint64_t kSiteMask = (std::uint64_t{1} << 48) - 1;

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::basic_block:
      break;
    case EventKind::global_load:
      return "global_load";
    case EventKind::global_store:
      return "global_store";
    case EventKind::shared_load:
      return "shared_load";
    case EventKind::shared_store:
      return "shared_store";
    case EventKind::constant_load:
      return "constant_load";
    case EventKind::global_atomic:
      return "global_atomic";
    case EventKind::shared_atomic:
      return "shared_atomic";
    case EventKind::dshared_load:
      return "dshared_load";
    case EventKind::dshared_store:
      return "dshared_store";
    case EventKind::dshared_atomic:
      return "dshared_atomic";
  }
  return "";
}

// The one copy of all that are alike. Arrays are few, and told apart by what the reader is told.
const TracedArray* only_copy(TracedArray array) {
  static std::mutex& mutex = *new std::mutex;
  static std::set<TracedArray>& all = *new std::set<TracedArray>;
  const std::lock_guard lock(mutex);
  return &*all.insert(std::move(array)).first;
}

// The array that a request's lane touches; the last one is asked first.
class Arrays {
 public:
  Arrays(EventKind kind, std::uintptr_t first_shared) : kind_(kind), first_shared_(first_shared) {}

  const TracedArray* at(std::uintptr_t address, std::int64_t& offset) {
    if (array_ == nullptr || address - begin_ >= array_->bytes) find(address);
    offset = static_cast<std::int64_t>(address - begin_);
    return array_;
  }

 private:
  void find(std::uintptr_t address) {
    TracedArray found;
    if (device_memory::contains(reinterpret_cast<void*>(address))) {
      found.space = "global";
      const auto allocation = device_memory::nearest(reinterpret_cast<void*>(address));
      begin_ = allocation ? allocation->begin : address;
      found.bytes = allocation ? allocation->size : 0;
      found.name = allocation ? allocation->name() : "global memory";
      found.phase = begin_ % 32;
    } else {
      const bool of_other = kind_ == EventKind::dshared_load || kind_ == EventKind::dshared_store ||
                            kind_ == EventKind::dshared_atomic;
      const bool of_own = kind_ == EventKind::shared_load || kind_ == EventKind::shared_store ||
                          kind_ == EventKind::shared_atomic;
      const Region region =
          of_other || of_own ? nearest_shared(address) : nearest_variable(address);
      found.space = of_other                            ? "dshared"
                    : of_own                            ? "shared"
                    : kind_ == EventKind::constant_load ? "constant"
                                                        : "global";
      begin_ = region.begin;
      found.bytes = region.size;
      found.name = region.name;
      // A static array lies behind the first one; dynamic memory begins with a bank of its own.
      const bool is_static = of_own && !near_dynamic_shared(address);
      found.phase = static_cast<unsigned>(is_static ? (begin_ - first_shared_) % 128
                                          : of_own  ? 0
                                                    : begin_ % 32);
    }
    array_ = only_copy(std::move(found));
  }

  EventKind kind_;
  std::uintptr_t first_shared_;
  const TracedArray* array_ = nullptr;
  std::uintptr_t begin_ = 0;
};

// Lanes in step become one run.
std::vector<LaneRun> runs_of(EventKind kind, const WarpAccess& access,
                             std::uintptr_t first_shared) {
  std::vector<LaneRun> runs;
  Arrays arrays(kind, first_shared);
  for (unsigned i = 0; i < access.count; ++i) {
    std::int64_t offset = 0;
    const TracedArray* const array = arrays.at(access.address[i], offset);
    const unsigned lane = access.lane[i];
    if (!runs.empty()) {
      LaneRun& last = runs.back();
      if (last.array == array && lane == last.lane + last.count) {
        if (last.count == 1) last.stride = offset - last.offset;
        if (offset == last.offset + last.stride * last.count) {
          ++last.count;
          continue;
        }
        // The first of a run with another stride.
      }
    }
    runs.push_back({lane, 1, array, offset, 0});
  }
  for (LaneRun& run : runs) {
    if (run.count == 1) run.stride = 0;
  }
  return runs;
}

}  // namespace

void WarpTrace::clear() {
  sites_.clear();
  requests_.clear();
  steps_ = 0;
}

void WarpTrace::add(std::uint64_t key, const WarpAccess& access) {
  const std::uint64_t id = key & kSiteMask;
  Site& site = sites_[id];
  const RequestCost cost = cost_of(event_kind(key), access);
  site.excess += cost.taken - cost.fewest;
  site.fewest += cost.fewest;
  if (site.requests == 0 || (site.kept.size() < kMostOfSite && requests_.size() < kMostOfWarp)) {
    site.kept.push_back(static_cast<std::uint32_t>(requests_.size()));
    requests_.push_back({steps_, id, cost, access});
  }
  ++site.requests;
  ++steps_;
}

void LaunchTrace::take(std::uint64_t block, const WarpTrace* warps, unsigned warp_count,
                       const TracedMiddle& middle, std::uintptr_t first_shared) {
  for (unsigned w = 0; w < warp_count; ++w) {
    const WarpTrace& warp = warps[w];
    for (const auto& [id, site] : warp.sites()) {
      Samples& known = sites_[id];
      known.fewest += site.fewest;
      Sample sample{true, block, w, site.excess, warp.steps(), site.requests, {}};
      const bool is_first = is_earlier(sample, known.first);
      const bool is_middle = block == middle.block && w == middle.warp;
      const bool is_worst = is_worse(sample, known.worst);
      if (!is_first && !is_middle && !is_worst) continue;
      const EventKind kind = event_kind(id);
      for (const std::uint32_t number : site.kept) {
        const WarpTrace::Request& request = warp.requests()[number];
        sample.requests.push_back(
            {request.step, request.cost, runs_of(kind, request.access, first_shared)});
      }
      if (is_first) known.first = sample;
      if (is_middle) known.middle = sample;
      if (is_worst) known.worst = std::move(sample);
    }
  }
}

void LaunchTrace::merge(LaunchTrace&& other) {
  for (auto& [id, samples] : other.sites_) {
    Samples& known = sites_[id];
    known.fewest += samples.fewest;
    if (samples.first.any && is_earlier(samples.first, known.first)) {
      known.first = std::move(samples.first);
    }
    if (samples.middle.any) known.middle = std::move(samples.middle);
    if (samples.worst.any && is_worse(samples.worst, known.worst)) {
      known.worst = std::move(samples.worst);
    }
  }
  other.clear();
}

void LaunchTrace::clear() { sites_.clear(); }

Trace LaunchTrace::told(const unsigned grid[3]) const {
  const ProgramImage& image = ProgramImage::get();
  using Place = std::pair<std::uint64_t, unsigned>;  // block, warp
  Trace trace;
  std::map<Place, TracedWarp> warps;
  struct Line {
    const Sample* first = nullptr;
    const Sample* middle = nullptr;
    const Sample* worst = nullptr;
    std::uint64_t fewest_loads = 0, fewest_stores = 0, fewest_constants = 0;
  };
  std::map<std::pair<std::string, int>, Line> lines;
  for (const auto& [id, samples] : sites_) {
    const SourceLine place = image.line_of(image.load_address() + event_pc(id));
    Line& line = lines[{place.file, place.line}];
    if (line.first == nullptr || is_earlier(samples.first, *line.first))
      line.first = &samples.first;
    if (samples.middle.any) line.middle = &samples.middle;
    if (line.worst == nullptr || is_worse(samples.worst, *line.worst)) line.worst = &samples.worst;
    const EventKind kind = event_kind(id);
    if (kind == EventKind::global_load) line.fewest_loads += samples.fewest;
    if (kind == EventKind::global_store) line.fewest_stores += samples.fewest;
    if (kind == EventKind::constant_load) line.fewest_constants += samples.fewest;
    if (kind == EventKind::global_load) {
      std::set<const TracedArray*> arrays;
      for (const Sample* sample : {&samples.first, &samples.middle, &samples.worst}) {
        for (const Request& request : sample->requests) {
          for (const LaneRun& run : request.lanes) arrays.insert(run.array);
        }
      }
      if (arrays.size() == 1) trace.fewest_load_sectors[*arrays.begin()] += samples.fewest;
    }
    std::set<Place> taken;  // a warp may be kept for several reasons
    for (const Sample* sample : {&samples.first, &samples.middle, &samples.worst}) {
      if (!sample->any || !taken.emplace(sample->block, sample->warp).second) continue;
      TracedWarp& warp = warps[{sample->block, sample->warp}];
      warp.block = {static_cast<unsigned>(sample->block % grid[0]),
                    static_cast<unsigned>(sample->block / grid[0] % grid[1]),
                    static_cast<unsigned>(sample->block / grid[0] / grid[1])};
      warp.warp = sample->warp;
      warp.steps = sample->steps;
      for (const Request& request : sample->requests) {
        warp.requests.push_back({request.step, name_of(kind), place.file, place.line,
                                 event_bytes(id), request.cost.taken, request.cost.fewest,
                                 request.lanes});
      }
    }
  }
  std::map<Place, int> numbers;
  for (auto& [place, warp] : warps) {
    // A copy into shared memory is two requests of one step.
    std::stable_sort(warp.requests.begin(), warp.requests.end(),
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    numbers[place] = static_cast<int>(trace.warps.size());
    trace.warps.push_back(std::move(warp));
  }
  const auto number_of = [&](const Sample* sample) {
    return sample == nullptr ? -1 : numbers.at({sample->block, sample->warp});
  };
  for (const auto& [place, line] : lines) {
    trace.lines.push_back({place.first, place.second, line.fewest_loads, line.fewest_stores,
                           line.fewest_constants, number_of(line.first), number_of(line.middle),
                           number_of(line.worst)});
  }
  return trace;
}

}  // namespace simt
