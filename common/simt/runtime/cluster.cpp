#include "common/simt/runtime/cluster.hpp"

#include <algorithm>
#include <atomic>

#include "common/simt/runtime/launch_races.hpp"
#include "common/simt/runtime/machine.hpp"

namespace simt {

// ---- Which blocks are a cluster ----

ClusterOrder::ClusterOrder(const unsigned grid[3], const unsigned cluster[3]) {
  for (int i = 0; i < 3; ++i) {
    grid_[i] = grid[i];
    cluster_[i] = cluster[i];
    size_ *= cluster[i];
    clusters_ *= grid[i] / cluster[i];
  }
}

std::uint64_t ClusterOrder::block(std::uint64_t cluster, unsigned rank) const {
  std::uint64_t index = 0, stride = 1, in_cluster = rank;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t clusters = grid_[i] / cluster_[i];
    index += (cluster % clusters * cluster_[i] + in_cluster % cluster_[i]) * stride;
    cluster /= clusters;
    in_cluster /= cluster_[i];
    stride *= grid_[i];
  }
  return index;
}

std::uint64_t ClusterOrder::cluster_of(std::uint64_t block) const {
  return position(block) / size_;
}

std::uint64_t ClusterOrder::position(std::uint64_t block) const {
  if (size_ == 1) return block;
  std::uint64_t cluster = 0, clusters = 1, rank = 0, blocks = 1;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t at = block % grid_[i];
    block /= grid_[i];
    cluster += at / cluster_[i] * clusters;
    clusters *= grid_[i] / cluster_[i];
    rank += at % cluster_[i] * blocks;
    blocks *= cluster_[i];
  }
  return cluster * size_ + rank;
}

// ---- Turns ----

void Cluster::wait_for_turn(unsigned rank) {
  std::unique_lock lock(mutex_);
  turns_[rank].wait(lock, [&] { return turn_ == rank; });
}

void Cluster::give_turn(unsigned rank) {
  {
    const std::lock_guard lock(mutex_);
    turn_ = rank;
  }
  turns_[rank].notify_one();
}

void Cluster::begin(std::uint64_t number, unsigned threads_of_block) {
  number_ = number;
  // Cells outlive clusters and launches.
  static std::atomic<std::uint32_t> serial{0};
  serial_ = ++serial;
  stopping_ = false;
  phase_ = 0;
  arrived_ = 0;
  live_ = std::uint64_t{size_} * threads_of_block;
  gone_ = {};
  relaxed_.clear();
  bytes_.clear();
  if (global != nullptr) global->end_interval();
  for (unsigned r = 0; r < size_; ++r) {
    ended_[r] = blocked_[r] = false;
    reaches_[r].clear();
    latest_[r] = {};
    waits_in_memory_[r] = timed_out_[r] = false;
  }
  mbarriers.clear();
  time_outs_ = 0;
  stuck_ = false;
}

bool Cluster::yield(unsigned rank, bool blocked, bool waits_in_memory) {
  blocked_[rank] = blocked;
  blocked_in_[rank] = phase_;
  waits_in_memory_[rank] = waits_in_memory;
  for (;;) {
    for (unsigned i = 1; i <= size_; ++i) {
      const unsigned next = (rank + i) % size_;
      if (!can_run(next)) continue;
      if (next != rank) {
        give_turn(next);
        wait_for_turn(rank);
      }
      return true;
    }
    // A wait for a barrier in memory may end before the barrier is complete, and what the thread does then may be
    // what all wait for. Who does nothing then but wait again and again gets no further turn.
    constexpr unsigned kTimeOuts = 64;
    if (steps_ != steps_at_time_out_) time_outs_ = 0;
    steps_at_time_out_ = steps_;
    stuck_ = time_outs_++ == kTimeOuts;
    for (unsigned r = 0; r < size_ && !stuck_; ++r) {
      if (ended_[r] || !waits_in_memory_[r]) continue;
      timed_out_[r] = true;
      blocked_[r] = false;
    }
    if (stuck_ || std::none_of(timed_out_, timed_out_ + size_, [](bool out) { return out; })) {
      stuck_ = true;
      return false;
    }
  }
}

void Cluster::end_block(unsigned rank, bool stopping) {
  ended_[rank] = true;
  stopping_ |= stopping;
  for (unsigned i = 1; i <= size_; ++i) {
    const unsigned next = (rank + i) % size_;
    if (!can_run(next)) continue;
    give_turn(next);
    return;
  }
  // All have ended, or those that are left wait for one another: the first of them finds that out.
  for (unsigned r = 0; r < size_; ++r) {
    if (ended_[r]) continue;
    give_turn(r);
    return;
  }
  give_turn(0);
}

// ---- The barrier ----

void Cluster::complete(HazardTable* hazards) {
  ++phase_;
  ++steps_;
  arrived_ = 0;
  if (!gone_.found || gone_.arrives >= phase_ || hazards == nullptr) return;
  HazardKey key{Hazard::missed_barrier, first_.pc, 0, "",
                "arrives at this barrier of the cluster, which another thread cannot reach any "
                "more, since it has ended:"};
  HazardRecord one;
  one.block = windows[first_.rank].block;
  one.thread = first_.thread;
  one.other_block = windows[gone_.rank].block;
  one.other_thread = gone_.thread;
  one.count = 1;
  one.prescribe(Remedy::cluster);
  (*hazards)[key].add(one);
}

void Cluster::arrive(unsigned rank, unsigned thread, std::uint32_t pc, HazardTable* hazards) {
  if (arrived_ == 0 || std::pair(rank, thread) < std::pair(first_.rank, first_.thread)) {
    first_ = {rank, thread, pc};
  }
  ++arrived_;
  if (arrived_ == live_) complete(hazards);
}

void Cluster::end_thread(unsigned rank, unsigned thread, std::uint32_t arrives, bool returned,
                         HazardTable* hazards) {
  if (returned && (!gone_.found || arrives < gone_.arrives)) gone_ = {true, rank, thread, arrives};
  --live_;
  if (arrives > phase_) --arrived_;
  if (live_ > 0 && arrived_ == live_) complete(hazards);
}

// ---- What the blocks do to each other ----

namespace {

std::uint32_t value_at(std::uintptr_t address) {
  return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address & ~std::uintptr_t{3}),
                         __ATOMIC_RELAXED);
}

}  // namespace

unsigned Cluster::owner_near(std::uintptr_t address, unsigned rank) const {
  constexpr std::uintptr_t kMargin = kDynamicSharedMargin;
  const std::size_t tls_bytes = simt_hot.tls_bytes;
  for (const std::uintptr_t beside : {std::uintptr_t{0}, kMargin}) {
    for (unsigned r = 0; r < size_; ++r) {
      const ClusterWindow& w = windows[r];
      if (r == rank) continue;
      if (address - (w.tls_begin - beside) < tls_bytes + 2 * beside ||
          address - (w.dynamic_begin - beside) < kDynamicSharedCapacity + 2 * beside) {
        return r;
      }
    }
  }
  return size_;
}

bool Cluster::comes_before(unsigned rank, unsigned thread, std::uint32_t arrives,
                           std::uint32_t waits) const {
  while (arrives < waits && relaxed_.contains({rank, thread, arrives})) ++arrives;
  return arrives < waits;
}

bool Cluster::ordered(const ClusterCell::Access& a, const ClusterCell::Access& b,
                      std::uintptr_t word) {
  if (a.rank == b.rank || comes_before(a.rank, access_thread(a.id), a.arrives, b.waits) ||
      comes_before(b.rank, access_thread(b.id), b.arrives, a.waits)) {
    return true;
  }
  if (launch == nullptr || launch->releases() == 0) return false;
  const std::uint64_t first = number_ * size_;
  return launch->handed_on(first + a.rank, a.interval, a.id, first + b.rank, b.interval, b.id,
                           word) ||
         launch->handed_on(first + b.rank, b.interval, b.id, first + a.rank, a.interval, a.id,
                           word);
}

void Cluster::look(const ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from,
                   std::uintptr_t address, HazardTable& hazards) {
  const auto against = [&](AccessClass other_kind) {
    for (const ClusterCell::Access& other : cell.by_class[static_cast<int>(other_kind)]) {
      // The commonest: the block's own, or that of a phase before.
      if (!other.id || other.rank == from.rank ||
          comes_before(other.rank, access_thread(other.id), other.arrives, from.waits)) {
        continue;
      }
      if (hands_on(kind, from.id, other_kind, other.id)) continue;
      if (ordered(other, from, address & ~std::uintptr_t{3})) continue;
      // The first party is the one that writes, of two the one that came first.
      struct Party {
        AccessClass kind;
        const ClusterCell::Access& access;
      };
      const Party earlier{other_kind, other}, later{kind, from};
      const bool swaps = other_kind == AccessClass::read ||
                         (other_kind == AccessClass::write && kind == AccessClass::atomic);
      const Party &first = swaps ? later : earlier, &second = swaps ? earlier : later;
      const bool updates = first.kind == AccessClass::atomic;
      const bool both_write = first.kind == AccessClass::write && second.kind == AccessClass::write;
      const bool is_global = space_of(address) == Space::global;
      const std::string array = array_name(address);
      HazardRecord one;
      Hazard hazard = Hazard::race;
      one.detail = std::string(second.kind == AccessClass::write ? "is also written" : "is read") +
                   (updates ? " without an atomic, and" : ",") +
                   " without a barrier of the cluster between, by";
      if (is_global && both_write && value_at(address) == cell.value) {
        hazard = Hazard::same_value_write;
        one.detail = "is also written by";
      } else if (updates && second.kind == AccessClass::read) {
        hazard = is_global ? Hazard::read_beside_atomic : Hazard::race;
        one.beside_atomic = is_global;
      }
      one.block = windows[first.access.rank].block;
      one.thread = access_thread(first.access.id);
      one.other_block = windows[second.access.rank].block;
      one.other_thread = access_thread(second.access.id);
      one.count = 1;
      one.prescribe(Remedy::cluster);
      hazards[{hazard, access_pc(first.access.id), access_pc(second.access.id), array,
               (updates ? "updates atomically " : "writes ") + array + ", which"}]
          .add(one);
      return;
    }
  };
  switch (kind) {
    case AccessClass::read:
      against(AccessClass::write);
      against(AccessClass::atomic);
      break;
    case AccessClass::write:
      against(AccessClass::write);
      against(AccessClass::read);
      against(AccessClass::atomic);
      break;
    case AccessClass::atomic:
      against(AccessClass::write);
      against(AccessClass::read);
      break;
  }
}

namespace {

void keep(ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from) {
  ClusterCell::Access& latest = cell.by_class[static_cast<int>(kind)][0];
  ClusterCell::Access& other = cell.by_class[static_cast<int>(kind)][1];
  if (!latest.id || (latest.rank == from.rank && latest.arrives < from.arrives)) {
    latest = from;
  } else if (latest.rank == from.rank) {
    return;
  } else if (latest.arrives < from.arrives) {
    other = latest;
    latest = from;
  } else if (!other.id || other.arrives < from.arrives) {
    other = from;
  }
}

}  // namespace

void Cluster::access(ClusterCell& cell, AccessClass kind, const ClusterCell::Access& from,
                     unsigned byte_mask, std::uintptr_t address, HazardTable& hazards) {
  if (cell.cluster != serial_) reset(cell);
  if (cell.rank == ClusterCell::kNobody) cell.rank = static_cast<std::uint8_t>(from.rank);
  if (cell.rank != from.rank) cell.rank = ClusterCell::kSeveral;
  // A block does nothing to itself.
  if (cell.rank == ClusterCell::kSeveral) look(cell, kind, from, address, hazards);
  if (cell.awaits || cell.is_barrier) look_at_marks(cell, kind, from, address, hazards);
  if (byte_mask == 15 && !cell.split) {
    keep(cell, kind, from);
    return;
  }
  cell.split = true;
  const std::uintptr_t word = address & ~std::uintptr_t{3};
  for (unsigned b = 0; b < 4; ++b) {
    if (!(byte_mask >> b & 1)) continue;
    ClusterCell& byte = bytes_[word + b];
    look(byte, kind, from, address, hazards);
    if (byte_mask != 15) keep(byte, kind, from);
  }
  if (byte_mask == 15) keep(cell, kind, from);
}

void Cluster::look_at_marks(const ClusterCell& cell, AccessClass kind,
                            const ClusterCell::Access& from, std::uintptr_t address,
                            HazardTable& hazards) {
  const std::uintptr_t word = address & ~std::uintptr_t{3};
  const std::string array = array_name(address);
  const char* const is_touched = kind == AccessClass::read ? "is read" : "is also written";
  HazardRecord one;
  one.count = 1;
  if (cell.is_barrier) {
    auto after = mbarriers.upper_bound(word);
    if (after == mbarriers.begin()) return;
    const Mbarrier& its = std::prev(after)->second;
    one.block = windows[its.rank].block;
    one.thread = its.thread;
    one.other_block = windows[from.rank].block;
    one.other_thread = access_thread(from.id);
    one.detail = std::string(is_touched) + " as if it were data by";
    one.prescribe(Remedy::barrier_in_memory);
    hazards[{Hazard::race, its.pc, access_pc(from.id), array,
             "sets up a barrier in " + array + ", which"}]
        .add(one);
    return;
  }
  for (const auto& [place, barrier] : mbarriers) {
    for (const Mbarrier::Store& store : barrier.on_their_way) {
      if (word + 4 <= store.to || word >= store.to + store.bytes) continue;
      one.block = windows[store.rank].block;
      one.thread = store.thread;
      one.other_block = windows[from.rank].block;
      one.other_thread = access_thread(from.id);
      one.detail =
          std::string(is_touched) + ", before anybody has waited for the store's barrier, by";
      one.prescribe(Remedy::arrival);
      hazards[{Hazard::race, store.pc, access_pc(from.id), array, "writes " + array + ", which"}]
          .add(one);
      return;
    }
  }
}

void Cluster::send(ClusterCell& cell, const ClusterCell::Access& from, std::uintptr_t address,
                   HazardTable& hazards) {
  if (cell.cluster != serial_) reset(cell);
  look(cell, AccessClass::write, from, address, hazards);
  const std::uintptr_t word = address & ~std::uintptr_t{3};
  for (unsigned b = 0; cell.split && b < 4; ++b) {
    look(bytes_[word + b], AccessClass::write, from, address, hazards);
  }
  if (cell.awaits || cell.is_barrier) {
    look_at_marks(cell, AccessClass::write, from, address, hazards);
  }
  cell.awaits = true;
}

void Cluster::land(ClusterCell& cell, const ClusterCell::Access& from) {
  if (cell.cluster != serial_) reset(cell);
  cell.awaits = false;
  cell.rank = cell.rank == ClusterCell::kNobody || cell.rank == from.rank
                  ? static_cast<std::uint8_t>(from.rank)
                  : ClusterCell::kSeveral;
  // What the storing block did with the word is done: from here on the store is this block's.
  for (ClusterCell::Access& write : cell.by_class[static_cast<int>(AccessClass::write)]) write = {};
  keep(cell, AccessClass::write, from);
}

void Cluster::complete_if_due(Mbarrier& barrier) {
  ++steps_;
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.count;
  barrier.released.resize(std::max(barrier.released.size(), barrier.gathered.size()));
  for (std::size_t t = 0; t < barrier.gathered.size(); ++t) {
    barrier.released[t] = std::max(barrier.released[t], barrier.gathered[t]);
  }
  blocked_[barrier.rank] = false;
}

void Cluster::enter_global(std::size_t offset, const WordUse& use, std::uint32_t interval,
                           unsigned rank, std::uint32_t arrives, std::uint32_t waits,
                           HazardTable& hazards) {
  ClusterCell& cell = *global->cell(offset, serial_);
  const std::uintptr_t address = global_address(offset);
  for (int c = 0; c < 3; ++c) {
    if (!use.first[c]) continue;
    access(cell, static_cast<AccessClass>(c), {use.first[c], arrives, waits, interval, rank},
           use.bytes[c], address, hazards);
  }
  if (use.first[static_cast<int>(AccessClass::write)]) cell.value = value_at(address);
}

namespace {

void note_absent(HazardTable& hazards, const char* when, AccessClass kind, AccessId id,
                 std::uintptr_t address, std::uint64_t block, std::uint64_t owner, bool has_ended) {
  const std::string array = array_name(address);
  HazardKey key{Hazard::absent_block, access_pc(id), 0, array,
                std::string(kind == AccessClass::read    ? "reads "
                            : kind == AccessClass::write ? "writes "
                                                         : "updates ") +
                    array + " of a block that may " + when + ":"};
  HazardRecord one;
  one.block = block;
  one.thread = access_thread(id);
  one.other_block = owner;
  one.count = 1;
  one.prescribe(has_ended ? Remedy::block_end : Remedy::block_begin);
  hazards[key].add(one);
}

}  // namespace

void Cluster::reach(unsigned owner, AccessClass kind, AccessId id, std::uintptr_t address,
                    unsigned rank, std::uint32_t arrives, std::uint32_t waits, bool arrives_later,
                    HazardTable& hazards) {
  const std::uint64_t block = windows[rank].block, its = windows[owner].block;
  if (waits == 0) {
    note_absent(hazards, "not have begun", kind, id, address, block, its, false);
  }
  if (ended_[owner]) {
    if (arrives_later || arrives >= waits_at_end_[owner]) {
      note_absent(hazards, "have ended", kind, id, address, block, its, true);
    }
    return;
  }
  if (arrives_later) return;  // leave() sees whether it has
  auto& latest = latest_[rank];
  const std::uint32_t pc = access_pc(id);
  if (latest.owner == owner && latest.pc == pc && latest.arrives == arrives) return;
  latest = {owner, pc, arrives};
  Reach& kept = reaches_[owner][{rank, pc}];
  if (!kept.id || kept.arrives < arrives) kept = {id, arrives, address, kind};
}

void Cluster::leave(unsigned rank, std::uint32_t waits, HazardTable& hazards) {
  waits_at_end_[rank] = waits;
  for (const auto& [place, its] : reaches_[rank]) {
    if (comes_before(place.first, access_thread(its.id), its.arrives, waits)) continue;
    note_absent(hazards, "have ended", its.kind, its.id, its.address, windows[place.first].block,
                windows[rank].block, true);
  }
  for (const auto& [place, barrier] : mbarriers) {
    if (barrier.rank != rank) continue;
    for (const Mbarrier::Store& store : barrier.on_their_way) {
      note_absent(hazards, "have ended", AccessClass::write,
                  make_access_id(store.thread, 0, store.pc), store.to, windows[store.rank].block,
                  windows[rank].block, true);
    }
  }
}

}  // namespace simt
