#include "common/simt/machine/grid.hpp"

#include <algorithm>
#include <bit>
#include <string_view>

#include "common/simt/machine/bulk.hpp"
#include "common/simt/machine/probes.hpp"

namespace simt::machine {
namespace {

// Rounds in which nobody advanced, after which nobody will: so many turns of warps. Loops that count may still end: until
// they went round so often in all, and the 64th round where one only computes.
constexpr std::uint64_t kIdleTurns = 1 << 8;
constexpr std::uint64_t kFewestRounds = 4;
constexpr std::uint64_t kMostRounds = 64;
constexpr std::uint64_t kLongJumps = 1 << 24;
constexpr std::uint32_t kJumpsOfComputing = 1 << 20;  // in a turn
// Of a block's warps, after which others have a turn: it may meet at its barrier again and again to wait for them. With
// many more rounds in vain, orders are too many to work out; with fewer, more blocks are begun and not at their end.
constexpr int kRoundsOfTurn = 1 << 9;

Dim3 over(const Dim3& a, const Dim3& b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
Dim3 rest(const Dim3& a, const Dim3& b) { return {a.x % b.x, a.y % b.y, a.z % b.z}; }

std::uint32_t pick(const Dim3& all, char axis) {
  return axis == 'x' ? all.x : axis == 'y' ? all.y : all.z;
}

// What a lane finds in a special register. Those of the block are the same for all its lanes.
std::uint64_t of_thread(const Warp& warp, const std::string& name, int lane) {
  const Grid& grid = *warp.block->grid;
  const unsigned thread = warp.index * kLanes + static_cast<unsigned>(lane);
  const std::uint32_t bit = 1u << lane;
  if (name.starts_with("%tid.")) return pick(place_at(thread, grid.threads), name.back());
  if (name == "%laneid") return static_cast<std::uint64_t>(lane);
  if (name == "%warpid") return warp.index;
  if (name == "%lanemask_eq") return bit;
  if (name == "%lanemask_lt") return bit - 1;
  if (name == "%lanemask_le") return bit | (bit - 1);
  if (name == "%lanemask_gt") return ~(bit | (bit - 1));
  return ~(bit - 1);  // %lanemask_ge
}
bool is_of_thread(const std::string& name) {
  return name.starts_with("%tid.") || name == "%laneid" || name == "%warpid" ||
         name.starts_with("%lanemask_");
}
std::uint64_t of_block(const Block& block, const std::string& name) {
  const Grid& grid = *block.grid;
  const char axis = name.back();
  if (name.starts_with("%ntid.")) return pick(grid.threads, axis);
  if (name.starts_with("%ctaid.")) return pick(block.index, axis);
  if (name.starts_with("%nctaid.")) return pick(grid.blocks, axis);
  if (name.starts_with("%clusterid.")) return pick(over(block.index, grid.cluster), axis);
  if (name.starts_with("%nclusterid.")) return pick(over(grid.blocks, grid.cluster), axis);
  if (name.starts_with("%cluster_ctaid.")) return pick(rest(block.index, grid.cluster), axis);
  if (name.starts_with("%cluster_nctaid.")) return pick(grid.cluster, axis);
  if (name == "%cluster_ctarank") return block.rank;
  if (name == "%cluster_nctarank") return grid.cluster.count();
  if (name == "%is_explicit_cluster") return grid.cluster.count() > 1;
  if (name == "%nwarpid") return block.warps.size();
  if (name == "%smid") return linear(block.index, grid.blocks) % grid.multiprocessors;
  if (name == "%nsmid") return grid.multiprocessors;
  if (name == "%dynamic_smem_size") return grid.dynamic_shared;
  if (name == "%total_smem_size" || name == "%aggr_smem_size") return block.shared.size();
  if (name == "%reserved_smem_offset_end") return kReservedShared + block.reserved.size();
  if (name == "%reserved_smem_offset_cap") return block.reserved.size();
  if (name == "%reserved_smem_offset_1") return kReservedShared + block.reserved.size() / 2;
  if (name.starts_with("%reserved_smem_offset_")) return kReservedShared;
  if (name == "%envreg1") return grid.workspace >> 32;
  if (name == "%envreg2") return grid.workspace & 0xffff'ffff;
  return 0;  // of a grid: %gridid; environments that nobody set
}

template <class T>
void set_lanes(Warp& warp, std::uint32_t slot, T value) {
  std::fill_n(warp.values<T>(slot), kLanes, value);
}

template <class Visit>
void for_each_waiting(Block& block, std::uint32_t barrier, Visit visit) {
  for (Warp& warp : block.warps) {
    for (Group& one : warp.others) {
      if (one.state == Group::State::in_block && one.awaited == barrier) visit(one);
    }
  }
}

// True if a barrier let its threads go on.
bool pass_barriers(Block& block) {
  // Of each barrier: threads that wait, and how many it waits for if it says so.
  std::array<unsigned, 16> waiting{}, named{};
  unsigned live = 0, asked = 0;
  for (const Warp& warp : block.warps) {
    live += static_cast<unsigned>(std::popcount(warp.live));
    for (const Group& one : warp.others) {
      if (one.state != Group::State::in_block) continue;
      waiting[one.awaited] += static_cast<unsigned>(std::popcount(one.lanes));
      named[one.awaited] = std::max(named[one.awaited], one.threads);
      asked |= 1u << one.awaited;
    }
  }
  bool passed = false;
  for (; asked != 0; asked &= asked - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(asked));
    Block::Barrier& barrier = block.barriers[number];
    const unsigned needed = named[number] != 0 ? named[number] : live;
    if (waiting[number] + barrier.arrived < needed) continue;
    // Who comes after the last that it waits for, in the order of warps, is the first of its next phase.
    const std::uint32_t next_phase = number + block.barriers.size();
    unsigned there = barrier.arrived;
    for_each_waiting(block, number, [&](Group& one) {
      if (there >= needed) one.awaited = next_phase;
      there += static_cast<unsigned>(std::popcount(one.lanes));
    });
    block.grid->observer->barrier(block, number);
    for (Warp& warp : block.warps) warp.release(number);
    for_each_waiting(block, next_phase, [&](Group& one) { one.awaited = number; });
    barrier = {.held = barrier.holds, .all_asked = barrier.asked};
    passed = true;
  }
  return passed;
}

void add_stuck(Block& block, std::vector<Stuck>& stuck) {
  const auto opcode_of = [&](const Step& step) -> std::string_view {
    if (step.site < 0) return "";
    return block.grid->code->sites[static_cast<std::size_t>(step.site)]->opcode;
  };
  for (Warp& warp : block.warps) {
    for (const Group& one : warp.others) {
      const bool sleeps =
          one.state == Group::State::polling && opcode_of(one.at[-1]) == "nanosleep";
      const bool is_behind = one.state == Group::State::in_block || sleeps;
      const auto lane = static_cast<unsigned>(std::countr_zero(one.lanes));
      const Step& at = is_behind ? one.at[-1] : *one.at;
      Stuck its{block.index,
                warp.index * kLanes + lane,
                at.site,
                sleeps || one.state == Group::State::ready || one.state == Group::State::in_vain,
                {}};
      if (opcode_of(at) == "mbarrier") {
        its.missing = missing_at(at, warp, lane);
      }
      stuck.push_back(its);
    }
  }
}

}  // namespace

Block::Block(const Grid& its_grid, unsigned its_rank) : grid(&its_grid), rank(its_rank) {
  const unsigned count = (threads() + kLanes - 1) / kLanes;
  const std::size_t bytes = grid->code->registers.size();
  warps.resize(count);
  registers.resize(count * bytes);
  shared.resize(grid->code->static_shared + grid->dynamic_shared);
  local.resize(std::size_t{count} * kLanes * local_bytes());
  for (unsigned i = 0; i < count; ++i) {
    Warp& warp = warps[i];
    warp.block = this;
    warp.index = i;
    warp.registers = registers.data() + i * bytes;
    std::copy(grid->code->registers.begin(), grid->code->registers.end(), warp.registers);
    for (const auto& [slot, address_bytes] : grid->code->shared_addresses) {
      for (int lane = 0; lane < kLanes; ++lane) {
        if (address_bytes == 8) warp.values<std::uint64_t>(slot)[lane] += shared_begin();
        if (address_bytes == 4) {
          warp.values<std::uint32_t>(slot)[lane] += static_cast<std::uint32_t>(shared_begin());
        }
      }
    }
    for (const Special& one : grid->code->specials) {
      if (!is_of_thread(one.name)) continue;
      for (int lane = 0; lane < kLanes; ++lane) {
        warp.values<std::uint32_t>(one.slot)[lane] =
            static_cast<std::uint32_t>(of_thread(warp, one.name, lane));
      }
    }
  }
}

void Block::begin(Cluster& its_cluster, Dim3 its_index) {
  cluster = &its_cluster;
  index = its_index;
  barriers = {};
  loads.clear();
  arriving.clear();
  phases = 0;
  barriers_made = 0;
  states = {};
  if (grid->probes != nullptr) tallies.assign(grid->probes->tallies().size(), 0);
  // On a GPU shared and local memory, and a register that nobody has set, hold what was there before. Ones are NaNs
  // and large numbers, which show in a result.
  std::fill(shared.begin(), shared.end(), std::byte{0xff});
  std::fill(local.begin(), local.end(), std::byte{0xff});
  for (Warp& warp : warps) {
    const unsigned count = threads() - warp.index * kLanes;
    warp.begin(count >= kLanes ? kAllLanes : (1u << count) - 1, grid->code->steps.data());
    for (const auto& [slot, bytes] : grid->code->undefined) {
      std::fill_n(warp.registers + slot, bytes, std::byte{0xff});
    }
  }
  for (const Special& one : grid->code->specials) {
    if (is_of_thread(one.name)) continue;
    const std::uint64_t value = of_block(*this, one.name);
    const bool is_wide = ptx::special_type(one.name) == ptx::Type::u64;
    for (Warp& warp : warps) {
      if (is_wide) {
        set_lanes(warp, one.slot, value);
      } else {
        set_lanes(warp, one.slot, static_cast<std::uint32_t>(value));
      }
    }
  }
}

unsigned Block::threads() const { return static_cast<unsigned>(grid->threads.count()); }

int WarpAccess::sectors() const {
  return copied.empty() ? memory::sectors(lanes) : memory::copied_sectors(way(), lanes, copied);
}

memory::Wavefronts WarpAccess::wavefronts() const {
  return copied.empty() ? memory::wavefronts(lanes, kind == Kind::load)
                        : memory::copied_wavefronts(way(), lanes, copied);
}

memory::Copy WarpAccess::way() const {
  return step->traffic == Traffic::past_cache            ? memory::Copy::past_cache
         : step->traffic == Traffic::past_cache_in_part  ? memory::Copy::past_cache_in_part
         : step->traffic == Traffic::past_cache_or_zeros ? memory::Copy::past_cache_or_zeros
                                                         : memory::Copy::cached;
}

std::size_t Block::local_bytes() const {
  const std::size_t own = (grid->code->local + 15) / 16 * 16;
  const bool has_stack = !grid->code->called.empty() || grid->code->allocates;
  return has_stack ? own + grid->stack_bytes : own;
}
unsigned Block::live() const {
  unsigned all = 0;
  for (const Warp& warp : warps) all += static_cast<unsigned>(std::popcount(warp.live));
  return all;
}

bool Block::run() {
  bool has_advanced = false;
  bool goes_on = true;
  for (int round = 0; goes_on && round < kRoundsOfTurn; ++round) {
    goes_on = false;
    for (Warp& warp : warps) {
      if (warp.live == 0) continue;
      warp.run();
      if (cluster->is_ended) return true;
      goes_on |= warp.advanced;
    }
    goes_on |= pass_barriers(*this);
    has_advanced |= goes_on;
  }
  if (!goes_on) return has_advanced;
  // Threads that ask for something and meet, again and again, wait for it: all is as it was a few turns ago.
  const std::uint64_t now = state();
  const bool is_again = std::find(states.begin(), states.end(), now) != states.end();
  states[turn++ % states.size()] = now;
  return !is_again;
}

std::uint64_t Block::state() const {
  std::uint64_t sum = sum_of_words(shared.data(), shared.size());
  for (const Warp& warp : warps) {
    sum = sum * 31 + warp.state_of_registers();
    for (const Group& one : warp.others) {
      sum = sum * 31 + static_cast<std::uint64_t>(one.at - grid->code->steps.data());
      sum = sum * 31 + one.lanes;
    }
  }
  return sum;
}

Cluster::Cluster(const Grid& its_grid) : grid(&its_grid) {
  for (unsigned rank = 0; rank < grid->cluster.count(); ++rank) {
    blocks.push_back(std::make_unique<Block>(its_grid, rank));
  }
}

void Cluster::begin(Dim3 first) {
  index = first;
  phase = 0;
  gives_up = false;
  for (unsigned rank = 0; rank < blocks.size(); ++rank) {
    const Dim3 in = place_at(rank, grid->cluster);
    blocks[rank]->begin(*this, Dim3{first.x + in.x, first.y + in.y, first.z + in.z});
    grid->observer->begin(*blocks[rank]);
  }
}

bool Cluster::has_ended() const {
  return std::all_of(blocks.begin(), blocks.end(),
                     [](const auto& block) { return block->live() == 0; });
}

void Cluster::pass_barrier() {
  // Who arrived and ended lets nobody else go on in place of one that has not arrived.
  bool has_any = false;
  for (const auto& block : blocks) {
    for (const Warp& warp : block->warps) {
      if ((warp.live & ~warp.at_cluster) != 0) return;
      has_any |= warp.at_cluster != 0;
    }
  }
  if (!has_any) return;
  ++phase;
  grid->observer->cluster_barrier(*this);
  for (const auto& block : blocks) {
    for (Warp& warp : block->warps) warp.at_cluster = 0;
  }
}

bool Cluster::run() {
  bool has_advanced = false;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (const auto& block : blocks) {
      goes_on |= block->run();
      if (is_ended) return true;
      // Who has ended is not waited for.
      pass_barrier();
    }
    has_advanced |= goes_on;
    if (blocks.size() == 1) break;
  }
  return has_advanced;
}

Dim3 first_block(const Grid& grid, std::uint64_t cluster) {
  const Dim3 at = place_at(cluster, over(grid.blocks, grid.cluster));
  return {at.x * grid.cluster.x, at.y * grid.cluster.y, at.z * grid.cluster.z};
}

const Step* stop(const Step* step, Warp& warp, std::size_t lane, const char* what) {
  static constexpr std::array<std::uint64_t, kLanes> kNone{};
  const WarpAccess access{WarpAccess::Space::local,
                          WarpAccess::Kind::store,
                          {kNone, 1u << lane, 1},
                          step,
                          &warp,
                          warp.block};
  warp.faulty |= 1u << lane;
  warp.block->grid->observer->fault(access, static_cast<int>(lane), what);
  return nullptr;
}

Run::Run(const Grid& grid, Clusters& clusters)
    : grid_(grid),
      source_(clusters),
      count_(grid.only_clusters ? grid.only_clusters->size()
                                : over(grid.blocks, grid.cluster).count()),
      most_(std::max<std::uint64_t>(grid.most_resident / grid.cluster.count(), 1)) {}

Run::~Run() = default;

bool Run::are_more() {
  if (next_ < taken_) return true;
  if (source_.next >= count_) return false;
  next_ = source_.next.fetch_add(source_.at_once);
  taken_ = std::min(next_ + source_.at_once, count_);
  return next_ < taken_;
}

// Once a launch is at its end, nobody begins a block.
std::vector<Stuck> Run::end() {
  source_.next = count_;
  return {};
}

void Run::admit() {
  if (free_.empty()) free_.emplace_back(grid_);
  resident_.splice(resident_.end(), free_, free_.begin());
  resident_.back().begin(
      first_block(grid_, grid_.only_clusters ? (*grid_.only_clusters)[next_] : next_));
  ++next_;
}

std::list<Cluster>::iterator Run::leave(std::list<Cluster>::iterator cluster) {
  for (const auto& block : cluster->blocks) {
    finish_stores(*block);
    grid_.observer->end(*block);
  }
  const auto after = std::next(cluster);
  free_.splice(free_.end(), resident_, cluster);
  return after;
}

bool Run::leap() {
  const std::optional<std::uint32_t> clock = grid_.code->clock;
  if (!clock || leap_ > kLongestLeap) return false;
  for (Cluster& one : resident_) {
    for (const auto& block : one.blocks) {
      for (Warp& warp : block->warps) *warp.values<std::uint64_t>(*clock) += leap_;
    }
  }
  leap_ *= kLeapsGrow;
  return true;
}

std::vector<Stuck> Run::go_on(bool again) {
  std::uint64_t long_jumps = 0;  // in those rounds
  for (std::uint64_t idle = 0; are_more() || !resident_.empty();) {
    // Those that wait let further ones in: twice as many each time, so that they are not asked in vain too often.
    bool has_advanced = false;
    const std::size_t wanted = std::max<std::size_t>(resident_.size(), 1);
    for (std::size_t i = 0; i < wanted && resident_.size() < most_ && are_more(); ++i) {
      admit();
      resident_.back().run();
      has_advanced = true;
      if (resident_.back().is_ended) return end();
      if (resident_.back().has_ended()) leave(std::prev(resident_.end()));
    }
    for (auto at = resident_.begin(); at != resident_.end();) {
      has_advanced |= at->run();
      if (at->is_ended) return end();
      at = at->has_ended() ? leave(at) : std::next(at);
    }
    if (has_advanced) {
      idle = 0;
      long_jumps = 0;
      continue;
    }
    bool are_long = false, compute = false;
    std::uint64_t warps = 0;
    for (Cluster& one : resident_) {
      one.gives_up = true;
      for (const auto& block : one.blocks) {
        for (const Warp& warp : block->warps) {
          if (warp.live == 0) continue;
          ++warps;
          long_jumps += warp.long_jumps;
          are_long |= warp.long_jumps != 0;
          compute |= warp.long_jumps >= kJumpsOfComputing;
        }
      }
    }
    const std::uint64_t rounds = again ? kFewestRounds
                                 : compute
                                     ? kMostRounds
                                     : std::clamp(kIdleTurns / std::max<std::uint64_t>(warps, 1),
                                                  kFewestRounds, kMostRounds);
    if (++idle < rounds || (!again && are_long && long_jumps < kLongJumps)) continue;
    any_counts_ = are_long;
    std::vector<Stuck> stuck;
    for (const Cluster& one : resident_) {
      for (const auto& block : one.blocks) add_stuck(*block, stuck);
    }
    return stuck;
  }
  return {};
}

std::vector<Stuck> run(const Grid& grid, Clusters& clusters) { return Run(grid, clusters).go_on(); }

std::vector<Stuck> run(const Grid& grid) {
  Clusters all{.at_once = grid.blocks.count()};
  return run(grid, all);
}

}  // namespace simt::machine
