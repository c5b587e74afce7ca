// Barriers in shared memory: what kernels ask for by <cuda/ptx> (mbarrier.hpp says what it means).
#include <algorithm>
#include <cstring>
#include <string>

#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/settings.hpp"

namespace simt {
namespace {

constexpr int kLaunchFailure = 719;

[[noreturn]] void refuse(Hazard hazard, std::uint32_t pc, const std::string& array,
                         const std::string& what, Remedy remedy) {
  Hot& hot = simt_hot;
  if (hot.checks & kCheckBounds) {
    HazardRecord one;
    one.block = running_cluster().windows[running_rank()].block;
    one.thread = running_lane().index;
    one.count = 1;
    one.prescribe(remedy);
    (*hot.hazards)[{hazard, pc, 0, array, what}].add(one);
  }
  abandon_lane(kLaunchFailure);
}

bool checks_races() { return simt_hot.active && (simt_hot.checks & kCheckRaces); }

// The setting up of the barrier must be ordered before its use by the running lane.
void check_set_up(const Mbarrier& its, std::uintptr_t address, std::uint32_t pc) {
  if (!checks_races()) return;
  const Hot& hot = simt_hot;
  const Lane& lane = running_lane();
  Cluster& cluster = running_cluster();
  if (its.rank == running_rank() &&
      (its.thread == lane.index || its.interval != hot.races->interval_of_block ||
       lane.clock.of(lane.index, its.thread) >= its.epoch)) {
    return;
  }
  if (its.fenced ? its.arrives < hot.cluster_waits
                 : cluster.comes_before(its.rank, its.thread, its.arrives, hot.cluster_waits)) {
    return;
  }
  const std::string array = array_name(address);
  HazardRecord one;
  one.block = cluster.windows[its.rank].block;
  one.thread = its.thread;
  one.other_block = cluster.windows[running_rank()].block;
  one.other_thread = lane.index;
  one.detail = "is used, and nothing orders that behind it, by";
  one.count = 1;
  one.prescribe(Remedy::barrier_in_memory);
  (*hot.hazards)[{Hazard::race, its.pc, pc, array, "sets up a barrier in " + array + ", which"}]
      .add(one);
}

// The barrier at an address.
Mbarrier& barrier_at(void* pointer, std::uint32_t pc, const char* verb) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto& barriers = running_cluster().mbarriers;
  const auto found = barriers.find(address);
  if (found == barriers.end()) {
    if (owner_of_shared(address) == running_cluster().size()) {
      refuse(Hazard::invalid_address, pc, "",
             std::string(verb) + " a barrier that is not in shared memory",
             Remedy::barrier_in_memory);
    }
    const std::string array = array_name(address);
    refuse(Hazard::uninitialized_shared_read, pc, array,
           std::string(verb) + " a barrier that nobody has set up, in " + array,
           Remedy::barrier_in_memory);
  }
  check_set_up(found->second, address, pc);
  return found->second;
}

// The same, which must be the running block's.
Mbarrier& own_barrier_at(void* pointer, std::uint32_t pc, const char* verb) {
  Mbarrier& its = barrier_at(pointer, pc, verb);
  if (its.rank != running_rank()) {
    const std::string array = array_name(reinterpret_cast<std::uintptr_t>(pointer));
    refuse(Hazard::invalid_address, pc, array,
           std::string(verb) + " a barrier in " + array + " of another block",
           Remedy::barrier_in_memory);
  }
  return its;
}

// What all stores brought whose phase is complete is there from now on, and the running lane comes after it.
void land(Mbarrier& its) {
  bool landed = false;
  for (const Mbarrier::Store& store : its.on_their_way) {
    if (store.phase >= its.phase) continue;
    std::memcpy(reinterpret_cast<void*>(store.to), store.data, store.bytes);
    if (simt_hot.active) note_arrived(store.to, store.bytes, store.pc);
    landed = true;
  }
  if (!landed) return;
  std::erase_if(its.on_their_way,
                [&](const Mbarrier::Store& store) { return store.phase < its.phase; });
  if (!checks_races()) return;
  const Lane& lane = running_lane();
  its.released.resize(running_threads());
  its.released[lane.index] = std::max(its.released[lane.index], lane.epoch);
  begin_epoch();
}

}  // namespace

void mbarrier_init(void* barrier, unsigned count) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  const auto address = reinterpret_cast<std::uintptr_t>(barrier);
  Cluster& cluster = running_cluster();
  if (owner_of_shared(address) != running_rank() || address % 8 != 0) {
    refuse(Hazard::invalid_address, pc, "",
           address % 8 != 0 ? "sets up a barrier at an address that is not a multiple of 8"
                            : "sets up a barrier that is not in its block's shared memory",
           Remedy::barrier_in_memory);
  }
  const Lane& lane = running_lane();
  Mbarrier& its = cluster.mbarriers[address];
  its = {};
  its.rank = running_rank();
  its.count = its.pending = count;
  its.thread = lane.index;
  its.pc = pc;
  its.epoch = lane.epoch;
  its.arrives = lane.arrives;
  if (!simt_hot.active) return;
  its.interval = simt_hot.races->interval_of_block;
  note_barrier(address);
  if (checks_races()) begin_epoch();
}

void mbarrier_fence() {
  const Lane& lane = running_lane();
  for (auto& [address, its] : running_cluster().mbarriers) {
    const bool own = its.rank == running_rank() && its.thread == lane.index;
    if (own && its.arrives == lane.arrives) its.fenced = true;
  }
}

void mbarrier_arrive(void* barrier, unsigned bytes) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  Mbarrier& its = own_barrier_at(barrier, pc, "arrives at");
  const Lane& lane = running_lane();
  if (its.pending == 0) {
    refuse(Hazard::divergent_barrier, pc, array_name(reinterpret_cast<std::uintptr_t>(barrier)),
           "arrives at a barrier in shared memory more often than it was set up for",
           Remedy::barrier_in_memory);
  }
  if (checks_races()) {
    its.gathered.resize(running_threads());
    lane.clock.tell(lane.index, its.gathered);
    its.gathered[lane.index] = std::max(its.gathered[lane.index], lane.epoch);
    begin_epoch();
  }
  its.bytes += bytes;
  --its.pending;
  running_cluster().complete_if_due(its);
}

bool mbarrier_try_wait(void* barrier, unsigned parity) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  Mbarrier& its = own_barrier_at(barrier, pc, "waits for");
  if (!its.is_complete(parity)) wait_at_mbarrier(its, parity, pc);
  if (!its.is_complete(parity)) return false;
  land(its);
  // What comes before the complete phase comes before what the lane does now.
  Lane& lane = running_lane();
  if (checks_races() && lane.clock.learn(lane.index, its.released)) begin_epoch();
  return true;
}

void st_async(void* to, const void* value, std::size_t bytes, void* barrier) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
  const auto address = reinterpret_cast<std::uintptr_t>(to);
  Cluster& cluster = running_cluster();
  if (cluster.size() == 1) {
    refuse(Hazard::invalid_copy, pc, "",
           "stores with st_async in a launch without clusters, which the simulator does not do",
           Remedy::cluster);
  }
  const unsigned owner = owner_of_shared(address);
  if (owner == cluster.size()) {
    refuse(Hazard::invalid_copy, pc, "", "stores with st_async to what is not shared memory",
           Remedy::arrival);
  }
  Mbarrier& its = barrier_at(barrier, pc, "stores with st_async, to arrive at");
  if (its.rank != owner) {
    const std::string array = array_name(address);
    refuse(Hazard::invalid_copy, pc, array,
           "stores to " + array + " of one block, to arrive at a barrier of another",
           Remedy::arrival);
  }
  if (simt_hot.active) note_sent(owner, address, static_cast<unsigned>(bytes), pc, frame);
  Mbarrier::Store store{
      address, static_cast<unsigned>(bytes), pc, running_rank(), running_lane().index, its.phase,
      {}};
  std::memcpy(store.data, value, bytes);
  its.on_their_way.push_back(store);
  its.bytes -= static_cast<std::int64_t>(bytes);
  cluster.complete_if_due(its);
}

}  // namespace simt
