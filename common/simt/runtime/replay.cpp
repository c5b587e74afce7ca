// From 32 logs to warp instructions, and from a warp instruction to requests, sectors, wavefronts.
#include <algorithm>

#include "common/simt/runtime/coverage.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/trace.hpp"

namespace simt {

Counters& SiteCounters::at(std::uint32_t pc) {
  for (;;) {
    std::size_t mask = slots_.size() - 1;
    for (std::size_t i = pc * 0x9e3779b1u >> 7;; ++i) {
      Slot& slot = slots_[i & mask];
      if (slot.pc == pc) return slot.counters;
      if (slot.pc == 0) {
        if (used_ * 2 >= slots_.size()) break;
        ++used_;
        slot.pc = pc;
        return slot.counters;
      }
    }
    grow();
  }
}

void SiteCounters::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old) {
    if (slot.pc) at(slot.pc) = slot.counters;
  }
}

void SiteCounters::clear() {
  slots_.assign(256, Slot{});
  used_ = 0;
}

namespace {

// True if active lanes read consecutive elements, the commonest case.
bool is_consecutive(const WarpAccess& a) {
  std::uint64_t wrong = 0;
  for (unsigned i = 0; i < a.count; ++i) {
    wrong |= a.address[i] ^ (a.address[0] + std::uint64_t{i} * a.bytes);
  }
  return wrong == 0;
}

// Number of distinct values of a short list.
unsigned count_distinct(const std::uint64_t* values, unsigned count) {
  std::uint64_t table[128];
  std::uint64_t used[2] = {0, 0};
  unsigned distinct = 0;
  for (unsigned i = 0; i < count; ++i) {
    unsigned slot = static_cast<unsigned>((values[i] * 0x9e3779b97f4a7c15u) >> 57);
    while (used[slot >> 6] >> (slot & 63) & 1) {
      if (table[slot] == values[i]) break;
      slot = (slot + 1) & 127;
    }
    if (!(used[slot >> 6] >> (slot & 63) & 1)) {
      used[slot >> 6] |= std::uint64_t{1} << (slot & 63);
      table[slot] = values[i];
      ++distinct;
    }
  }
  return distinct;
}

// True if all active lanes touch one word: one wavefront serves them. (Accesses of up to 4 bytes.)
bool is_one_word(const WarpAccess& a) {
  std::uint64_t differing = 0;
  for (unsigned i = 1; i < a.count; ++i) differing |= a.address[i] ^ a.address[0];
  return differing >> 2 == 0;
}

// Distinct aligned 32-byte sectors.
unsigned count_sectors(const WarpAccess& a) {
  if (is_consecutive(a)) {
    std::uint64_t last = a.address[0] + std::uint64_t{a.count} * a.bytes - 1;
    return static_cast<unsigned>((last >> 5) - (a.address[0] >> 5) + 1);
  }
  // An access is aligned to its size, so it lies in one sector.
  std::uint64_t sectors[kWarpSize];
  unsigned count = 0;
  for (unsigned i = 0; i < a.count; ++i) {
    std::uint64_t sector = a.address[i] >> 5;
    if (count == 0 || sector != sectors[count - 1]) sectors[count++] = sector;
  }
  return count <= 1 ? count : count_distinct(sectors, count);
}

// Largest number of distinct words in one bank, over the accesses [first, last) of one phase.
unsigned bank_depth(const WarpAccess& a, const unsigned* members, unsigned count) {
  std::uint64_t words[kWarpSize * 4];
  unsigned total = 0;
  const unsigned words_each = a.bytes <= 4 ? 1 : a.bytes / 4;
  for (unsigned m = 0; m < count; ++m) {
    std::uint64_t word = a.address[members[m]] >> 2;
    for (unsigned w = 0; w < words_each; ++w) words[total++] = word + w;
  }
  std::uint64_t in_bank[32][kWarpSize];  // a phase has at most 32 words in one bank
  unsigned depth[32] = {};
  unsigned deepest = 0;
  for (unsigned i = 0; i < total; ++i) {
    unsigned bank = words[i] & 31;
    bool seen = false;
    for (unsigned k = 0; k < depth[bank] && !seen; ++k) seen = in_bank[bank][k] == words[i];
    if (!seen) {
      in_bank[bank][depth[bank]++] = words[i];
      if (depth[bank] > deepest) deepest = depth[bank];
    }
  }
  return deepest;
}

// True if every active lane's neighbour at distance 1 (or every one's at distance 2) in the warp
// reads the same address; a neighbour that is not active does not count against it.
bool neighbours_agree(const WarpAccess& a, unsigned distance) {
  std::uint64_t by_lane[kWarpSize];
  std::uint32_t active = 0;
  for (unsigned i = 0; i < a.count; ++i) {
    by_lane[a.lane[i]] = a.address[i];
    active |= 1u << a.lane[i];
  }
  for (unsigned i = 0; i < a.count; ++i) {
    unsigned other = a.lane[i] ^ distance;
    if ((active >> other & 1) && by_lane[other] != a.address[i]) return false;
  }
  return true;
}

struct Wavefronts {
  unsigned taken = 0;
  unsigned ideal = 0;  // what width and active lanes need when no two lanes collide
};

// Passes through the banks. Up to 4 bytes: one phase of 32 lanes; 8 bytes: two of 16; 16 bytes: four
// of 8; a phase without an active lane costs nothing. Loads whose neighbouring lanes agree take phases
// twice as wide. The rule was measured on an H200: tests/simt/kernels/bank_patterns.csv.
Wavefronts count_wavefronts(const WarpAccess& a, bool is_load) {
  if (a.bytes <= 4) {
    if (is_consecutive(a) || is_one_word(a)) return {1, 1};
    unsigned members[kWarpSize];
    for (unsigned i = 0; i < a.count; ++i) members[i] = i;
    return {bank_depth(a, members, a.count), 1};
  }
  unsigned lanes_per_phase = a.bytes == 8 ? 16 : 8;
  if (is_load && (neighbours_agree(a, 1) || neighbours_agree(a, 2))) lanes_per_phase *= 2;
  Wavefronts wavefronts;
  for (unsigned begin = 0; begin < kWarpSize; begin += lanes_per_phase) {
    unsigned members[kWarpSize];
    unsigned count = 0;
    for (unsigned i = 0; i < a.count; ++i) {
      if (a.lane[i] >= begin && a.lane[i] < begin + lanes_per_phase) members[count++] = i;
    }
    if (count == 0) continue;
    wavefronts.taken += bank_depth(a, members, count);
    wavefronts.ideal += 1;
  }
  return wavefronts;
}

void count_access(EventKind kind, const WarpAccess& a, Counters& c) {
  switch (kind) {
    case EventKind::basic_block:
      break;
    case EventKind::global_load:
      c.global_load_requests += 1;
      c.global_load_sectors += count_sectors(a);
      break;
    case EventKind::global_store:
      c.global_store_requests += 1;
      c.global_store_sectors += count_sectors(a);
      break;
    case EventKind::shared_load: {
      const Wavefronts wavefronts = count_wavefronts(a, true);
      c.shared_load_requests += 1;
      c.shared_load_wavefronts += wavefronts.taken;
      c.shared_load_conflicts += wavefronts.taken - wavefronts.ideal;
      break;
    }
    case EventKind::shared_store: {
      const Wavefronts wavefronts = count_wavefronts(a, false);
      c.shared_store_requests += 1;
      c.shared_store_wavefronts += wavefronts.taken;
      c.shared_store_conflicts += wavefronts.taken - wavefronts.ideal;
      break;
    }
    case EventKind::constant_load: {
      bool same = true;
      for (unsigned i = 1; i < a.count; ++i) same &= a.address[i] == a.address[0];
      c.constant_load_requests += same ? 1 : count_distinct(a.address, a.count);
      break;
    }
    case EventKind::global_atomic:
      c.global_atomic_requests += 1;
      break;
    case EventKind::shared_atomic:
      c.shared_atomic_requests += 1;
      break;
    case EventKind::dshared_load:
      c.dshared_load_requests += 1;
      c.dshared_load_sectors += count_sectors(a);
      break;
    case EventKind::dshared_store:
      c.dshared_store_requests += 1;
      c.dshared_store_sectors += count_sectors(a);
      break;
    case EventKind::dshared_atomic:
      c.dshared_atomic_requests += 1;
      break;
  }
}

}  // namespace

RequestCost cost_of(EventKind kind, const WarpAccess& a) {
  switch (kind) {
    case EventKind::basic_block:
    case EventKind::shared_atomic:
      return {};
    case EventKind::shared_load:
    case EventKind::shared_store: {
      const Wavefronts wavefronts = count_wavefronts(a, kind == EventKind::shared_load);
      return {wavefronts.taken, wavefronts.ideal};
    }
    case EventKind::constant_load:
      return {count_distinct(a.address, a.count), 1};
    default:
      return {count_sectors(a), (count_distinct(a.address, a.count) * a.bytes + 31) / 32};
  }
}

namespace {

// Number of coming events that all pending lanes have in common: they run in step that far. Each
// log is walked on its own, which is kinder to the caches than walking all of them at once.
std::size_t common_run(const Warp& warp, const unsigned* pending, unsigned count) {
  const Lane& first = warp.lanes[pending[0]];
  const Event* lead = first.log_read;
  std::size_t run = static_cast<std::size_t>(first.log_end - first.log_read);
  for (unsigned i = 1; i < count && run; ++i) {
    const Lane& lane = warp.lanes[pending[i]];
    const Event* own = lane.log_read;
    const auto available = static_cast<std::size_t>(lane.log_end - own);
    if (available < run) run = available;
    std::size_t k = 0;
    while (k < run && own[k].key == lead[k].key) ++k;
    run = k;
  }
  return run;
}

// Drops lanes without events from the list. False if one of them is still running and may do
// something that comes before what the others did.
bool drop_exhausted(const Warp& warp, unsigned* pending, unsigned& count, bool all_stopped) {
  unsigned kept = 0;
  for (unsigned i = 0; i < count; ++i) {
    const Lane& lane = warp.lanes[pending[i]];
    if (lane.log_read != lane.log_end) {
      pending[kept++] = pending[i];
    } else if (!all_stopped && lane.state == LaneState::ready) {
      return false;
    }
  }
  count = kept;
  return true;
}

// By a copy: as nobody else knows where `access` is, the compiler may keep it in registers. That is worth 3 %
// of a program's time where nothing is traced.
[[gnu::noinline]] void add_copy(WarpTrace& trace, std::uint64_t key, WarpAccess access) {
  trace.add(key, access);
}

}  // namespace

void replay(Warp& warp, SiteCounters& sites, BlockEdges& edges, bool all_stopped) {
  unsigned pending[kWarpSize];
  unsigned count = warp.lane_count;
  for (unsigned i = 0; i < count; ++i) pending[i] = i;
  WarpAccess access;
  WarpTrace* const trace = warp.trace;
  while (drop_exhausted(warp, pending, count, all_stopped) && count) {
    // Usually all lanes agree for a while.
    if (const std::size_t run = common_run(warp, pending, count)) {
      const Event* events[kWarpSize];
      for (unsigned i = 0; i < count; ++i) {
        Lane& lane = warp.lanes[pending[i]];
        events[i] = lane.log_read;
        lane.log_read += run;
        access.lane[i] = pending[i];
      }
      access.count = count;
      std::uint64_t block = 0;  // the last one of this run
      for (std::size_t k = 0; k < run; ++k) {
        const std::uint64_t key = events[0][k].key;
        const EventKind kind = event_kind(key);
        if (kind == EventKind::basic_block) {
          if (block) {
            edges.add(block, key);
          } else {
            for (unsigned i = 0; i < count; ++i) edges.add(warp.lanes[pending[i]].last_block, key);
          }
          block = key;
          continue;
        }
        for (unsigned i = 0; i < count; ++i) access.address[i] = events[i][k].address;
        access.bytes = event_bytes(key);
        count_access(kind, access, sites.at(event_pc(key)));
        if (trace) [[unlikely]]
          add_copy(*trace, key, access);
      }
      for (unsigned i = 0; block && i < count; ++i) warp.lanes[pending[i]].last_block = block;
      continue;
    }
    // They differ: the lanes whose next event has the smallest key go first, until one runs out or
    // all agree again.
    bool ran_out = false;
    bool differ = true;
    while (differ && !ran_out) {
      std::uint64_t smallest = ~std::uint64_t{0};
      for (unsigned i = 0; i < count; ++i) {
        smallest = std::min(smallest, warp.lanes[pending[i]].log_read->key);
      }
      access.count = 0;
      differ = false;
      for (unsigned i = 0; i < count; ++i) {
        Lane& lane = warp.lanes[pending[i]];
        if (lane.log_read->key != smallest) {
          differ = true;
          continue;
        }
        access.address[access.count] = lane.log_read->address;
        access.lane[access.count++] = pending[i];
        ++lane.log_read;
        ran_out |= lane.log_read == lane.log_end;
      }
      if (const EventKind kind = event_kind(smallest); kind != EventKind::basic_block) {
        access.bytes = event_bytes(smallest);
        count_access(kind, access, sites.at(event_pc(smallest)));
        if (trace) [[unlikely]]
          add_copy(*trace, smallest, access);
      } else {
        for (unsigned i = 0; i < access.count; ++i) {
          Lane& lane = warp.lanes[access.lane[i]];
          edges.add(lane.last_block, smallest);
          lane.last_block = smallest;
        }
      }
    }
  }
}

}  // namespace simt
