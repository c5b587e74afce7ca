// The callbacks that the compiler's instrumentation calls on every memory access and basic block of
// a kernel unit. This is the hot path of the simulator: nothing here allocates, and what is rare
// lives in functions of its own.
//
// The instrumentation is that of -fsanitize=thread and -fsanitize-coverage=trace-pc, used at
// compile time only: the sanitizers' own runtimes are never linked, the functions below take their
// place.
#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/coverage.hpp"
#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/regions.hpp"
#include "common/simt/runtime/settings.hpp"
#include "common/simt/runtime/streams.hpp"

namespace simt {

__thread Hot simt_hot __attribute__((tls_model("local-exec")));

namespace {

enum class Direction { load, store, atomic };

// Bits of a word map (lower half: initialised) for `bytes` bytes from byte `start` of a word.
constexpr unsigned byte_bits(unsigned start, unsigned bytes) {
  return ((1u << bytes) - 1) << start;
}

[[gnu::always_inline]] inline void log_event(Hot& hot, std::uintptr_t address, EventKind kind,
                                             unsigned bytes, std::uint32_t pc,
                                             std::uintptr_t frame) {
  if (hot.log_next == hot.log_limit) [[unlikely]] {
    log_is_full();
  }
  *hot.log_next++ = {address, event_key(hot.stack_high - frame, pc, kind, bytes)};
}

constexpr AccessClass access_class(Direction d) {
  return d == Direction::load    ? AccessClass::read
         : d == Direction::store ? AccessClass::write
                                 : AccessClass::atomic;
}

[[gnu::always_inline]] inline void check_race(Hot& hot, RaceCell* cell, Direction d,
                                              std::uint32_t pc, unsigned mask,
                                              std::uintptr_t word) {
  hot.races->access(*cell, access_class(d), hot.access_id | pc, mask, word);
}

[[gnu::noinline]] void check_others_of_cluster(Hot& hot, ClusterCell* cell, Direction d,
                                               const ClusterCell::Access& from, unsigned mask,
                                               std::uintptr_t address) {
  hot.cluster->access(*cell, access_class(d), from, mask, address, *hot.hazards);
}

[[gnu::always_inline]] inline ClusterCell::Access running_access(const Hot& hot, std::uint32_t pc) {
  return {hot.access_id | pc, hot.cluster_arrives, hot.cluster_waits, hot.races->interval_of_block,
          hot.cluster_rank};
}

[[gnu::always_inline]] inline void check_cluster(Hot& hot, ClusterCell* cell, Direction d,
                                                 std::uint32_t pc, unsigned mask,
                                                 std::uintptr_t address) {
  const ClusterCell::Access from = running_access(hot, pc);
  if (mask == 15 && hot.cluster->access_simply(*cell, access_class(d), from)) return;
  check_others_of_cluster(hot, cell, d, from, mask, address);
}

const char* verb(Direction d) {
  return d == Direction::load ? "reads" : d == Direction::store ? "writes" : "updates";
}

// ---- What may not be: each ends the lane, so the access is never performed. ----

[[gnu::noinline]] void misaligned(std::uintptr_t address, unsigned bytes, Direction d,
                                  std::uint32_t pc) {
  std::string what = std::string(verb(d)) + " " + std::to_string(bytes) +
                     " bytes at an address that is not a multiple of " + std::to_string(bytes) +
                     " in";
  std::string array = array_name(address);
  note_hazard(Hazard::misaligned, pc, array, what.c_str(), array);
  abandon_lane(716);
}

[[gnu::noinline]] void bad_global(std::uintptr_t address, unsigned bytes, Direction d,
                                  std::uint32_t pc) {
  auto near = device_memory::nearest(reinterpret_cast<void*>(address));
  std::string array = array_name(address);
  std::string what = verb(d);
  std::string detail;
  Hazard hazard = Hazard::out_of_bounds;
  if (near && near->freed && address >= near->begin && address < near->begin + near->size) {
    hazard = Hazard::use_after_free;
    what += " memory after cudaFree:";
    detail = array;
  } else {
    what += " " + std::to_string(bytes) + " bytes outside";
    detail = array;
    if (near) {
      detail += " (" + std::to_string(near->size) + " bytes): ";
      if (address >= near->begin + near->size) {
        detail += std::to_string(address - near->begin - near->size) + " bytes past its end";
      } else if (address < near->begin) {
        detail += std::to_string(near->begin - address) + " bytes before its start";
      } else {
        detail += "across its end";
      }
    }
  }
  note_hazard(hazard, pc, array, what.c_str(), detail);
  abandon_lane(700);
}

[[gnu::noinline]] void bad_shared(std::uintptr_t address, unsigned bytes, Direction d,
                                  std::uint32_t pc) {
  Region near = nearest_shared(address);
  std::string what =
      std::string(verb(d)) + " " + std::to_string(bytes) + " bytes outside shared memory";
  std::string detail = near.name + " (" + std::to_string(near.size) + " bytes): ";
  if (address >= near.begin + near.size) {
    detail += std::to_string(address - near.begin - near.size) + " bytes past its end";
  } else if (address < near.begin) {
    detail += std::to_string(near.begin - address) + " bytes before its start";
  } else {
    detail += "across its end";
  }
  note_hazard(Hazard::out_of_bounds, pc, near.name, what.c_str(), detail);
  abandon_lane(700);
}

[[gnu::noinline]] void bad_variable(std::uintptr_t address, unsigned bytes, Direction d,
                                    std::uint32_t pc, const char* kind) {
  Region near = nearest_variable(address);
  std::string what =
      std::string(verb(d)) + " " + std::to_string(bytes) + " bytes outside the " + kind;
  std::string detail = near.name + " (" + std::to_string(near.size) + " bytes)";
  note_hazard(Hazard::out_of_bounds, pc, near.name, what.c_str(), detail);
  abandon_lane(700);
}

[[gnu::noinline]] void bad_address(std::uintptr_t address, unsigned bytes, Direction d,
                                   std::uint32_t pc) {
  std::string what = std::string(verb(d)) + " " + std::to_string(bytes) + " bytes ";
  what += address < 4096 ? "through a null pointer" : "of host memory";
  note_hazard(Hazard::invalid_address, pc, "", what.c_str(), "");
  abandon_lane(700);
}

[[gnu::noinline]] void host_memory(const Region& variable, unsigned bytes, Direction d,
                                   std::uint32_t pc) {
  const std::string what = std::string(verb(d)) + " " + std::to_string(bytes) + " bytes of " +
                           (variable.name.empty() ? "a variable" : variable.name) +
                           " in the host's memory";
  note_hazard(Hazard::invalid_address, pc, variable.name, what.c_str(), "");
  abandon_lane(700);
}

[[gnu::noinline]] void constant_written(std::uintptr_t address, unsigned bytes, std::uint32_t pc) {
  std::string name = nearest_variable(address).name;
  std::string what = "writes " + std::to_string(bytes) + " bytes to the __constant__ variable";
  note_hazard(Hazard::invalid_address, pc, name, what.c_str(), name);
  abandon_lane(700);
}

[[gnu::noinline]] void uninitialised_global(std::uintptr_t address, std::uint32_t pc) {
  std::string array = array_name(address);
  note_hazard(Hazard::uninitialized_global_read, pc, array,
              "reads memory that nothing has written, in", array);
}

[[gnu::noinline]] void uninitialised_shared(std::uintptr_t address, std::uint32_t pc) {
  std::string array = array_name(address);
  note_hazard(Hazard::uninitialized_shared_read, pc, array,
              "reads shared memory that its block has not written, in", array);
}

// ---- The memory spaces ----

template <Direction d, unsigned bytes>
[[gnu::always_inline]] inline void global_access(Hot& hot, std::uintptr_t address, std::uint32_t pc,
                                                 std::uintptr_t frame) {
  const std::size_t offset = address - g_arena_base;
  std::uint8_t* map = g_word_map + (offset >> 2);
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  const unsigned mask = bytes < 4 ? byte_bits(offset & 3, bytes) : 15;
  bool allocated = true, initialised = true;
  for (unsigned w = 0; w < words; ++w) {
    allocated &= (map[w] >> 4 & mask) == mask;
    initialised &= (map[w] & mask) == mask;
  }
  if (!allocated && (hot.checks & kCheckBounds)) [[unlikely]] {
    bad_global(address, bytes, d, pc);
  }
  if (d != Direction::store && !initialised && (hot.checks & kCheckUninitialized)) [[unlikely]] {
    uninitialised_global(address, pc);
  }
  if (d != Direction::load && hot.undo && allocated) {
    for (unsigned w = 0; w < words; ++w) hot.undo->before_write(offset + 4 * w);
  }
  if (d != Direction::load && !initialised) {
    for (unsigned w = 0; w < words; ++w) {
      if (mask == 15) {
        map[w] |= 15;
      } else {
        __atomic_fetch_or(&map[w], static_cast<std::uint8_t>(mask), __ATOMIC_RELAXED);
      }
    }
  }
  if (hot.checks & kCheckRaces) {
    for (unsigned w = 0; w < words; ++w) {
      RaceCell* cell = hot.races->global.cell(offset + 4 * w, hot.races->interval);
      hot.races->global.touch(offset + 4 * w);
      check_race(hot, cell, d, pc, mask, (address & ~std::uintptr_t{3}) + 4 * w);
    }
  }
  log_event(hot, address,
            d == Direction::load    ? EventKind::global_load
            : d == Direction::store ? EventKind::global_store
                                    : EventKind::global_atomic,
            bytes, pc, frame);
}

template <Direction d, unsigned bytes>
[[gnu::always_inline]] inline void shared_access(Hot& hot, std::uintptr_t address, RaceCell* cell,
                                                 ClusterCell* in_cluster, std::uint32_t pc,
                                                 std::uintptr_t frame) {
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  const unsigned mask = bytes < 4 ? byte_bits(address & 3, bytes) : 15;
  bool initialised = true;
  for (unsigned w = 0; w < words; ++w) {
    RaceCell& c = cell[w];
    if (c.init_block != hot.block_number) {
      c.init_block = hot.block_number;
      c.init_mask = 0;
    }
    initialised &= (c.init_mask & mask) == mask;
    if (d != Direction::load) c.init_mask |= mask;
    if (hot.checks & kCheckRaces) {
      check_race(hot, &c, d, pc, mask, (address & ~std::uintptr_t{3}) + 4 * w);
      if (in_cluster) check_cluster(hot, in_cluster + w, d, pc, mask, address + 4 * w);
    }
  }
  if (d != Direction::store && !initialised && (hot.checks & kCheckUninitialized)) [[unlikely]] {
    uninitialised_shared(address, pc);
  }
  log_event(hot, address,
            d == Direction::load    ? EventKind::shared_load
            : d == Direction::store ? EventKind::shared_store
                                    : EventKind::shared_atomic,
            bytes, pc, frame);
}

// Shared memory of block `owner` of the cluster: of another one, or of any by a store that arrives at a barrier
// (`is_sent`).
template <Direction d, unsigned bytes, bool is_sent = false>
[[gnu::noinline]] void cluster_access(Hot& hot, unsigned owner, std::uintptr_t address,
                                      std::uint32_t pc, std::uintptr_t frame) {
  Cluster& cluster = *hot.cluster;
  const ClusterWindow& window = cluster.windows[owner];
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  const unsigned mask = bytes < 4 ? byte_bits(address & 3, bytes) : 15;
  const std::size_t in_tls = address - window.tls_begin;
  const std::size_t in_dynamic = address - window.dynamic_begin;
  const bool is_static = in_tls < hot.tls_bytes;
  bool allowed =
      is_static || (in_dynamic < hot.dynamic_bytes && in_dynamic + bytes <= hot.dynamic_bytes);
  for (unsigned w = 0; is_static && w < words; ++w) {
    allowed &= (hot.tls_map[(in_tls >> 2) + w] >> 4 & mask) == mask;
  }
  if (!allowed) {
    if (hot.checks & kCheckBounds) bad_shared(address, bytes, d, pc);
    return;
  }
  const std::size_t word = (is_static ? in_tls : in_dynamic) >> 2;
  RaceCell* const cells = (is_static ? window.tls_cells : window.dynamic_cells) + word;
  ClusterCell* const in_cluster = (is_static ? window.tls_words : window.dynamic_words) + word;
  const AccessId id = hot.access_id | pc;
  if ((hot.checks & kCheckBarriers) && owner != hot.cluster_rank) {
    cluster.reach(owner, access_class(d), id, address, hot.cluster_rank, hot.cluster_arrives,
                  hot.cluster_waits, is_sent, *hot.hazards);
  }
  bool initialised = true;
  for (unsigned w = 0; w < words; ++w) {
    RaceCell& its = cells[w];
    if (its.init_block != window.block_number) {
      its.init_block = window.block_number;
      its.init_mask = 0;
    }
    initialised &= (its.init_mask & mask) == mask;
    if (d != Direction::load && !is_sent) its.init_mask |= mask;
    if (!(hot.checks & kCheckRaces)) continue;
    // Between the threads of this block, and between blocks.
    const std::uintptr_t own_word = (address & ~std::uintptr_t{3}) + 4 * w;
    if (is_sent && owner == hot.cluster_rank) {
      hot.races->meet(its, id, own_word);
    } else {
      const std::size_t offset =
          hot.races->others_shared + owner * shared_window_bytes(hot.tls_bytes) + 4 * word +
          (is_static ? 0 : shared_window_bytes(hot.tls_bytes) - kDynamicSharedCapacity) + 4 * w;
      RaceCell* const own = hot.races->global.cell(offset, hot.races->interval);
      hot.races->global.touch(offset);
      check_race(hot, own, d, pc, mask, own_word);
    }
    if (is_sent) {
      cluster.send(in_cluster[w], running_access(hot, pc), address + 4 * w, *hot.hazards);
    } else {
      check_cluster(hot, in_cluster + w, d, pc, mask, address + 4 * w);
    }
  }
  if (d != Direction::store && !initialised && (hot.checks & kCheckUninitialized)) {
    uninitialised_shared(address, pc);
  }
  log_event(hot, address,
            d == Direction::load    ? EventKind::dshared_load
            : d == Direction::store ? EventKind::dshared_store
                                    : EventKind::dshared_atomic,
            bytes, pc, frame);
}

// The same for an address that may be that of no block's. False if it is none.
template <Direction d, unsigned bytes>
[[gnu::noinline]] bool others_shared_access(Hot& hot, std::uintptr_t address, std::uint32_t pc,
                                            std::uintptr_t frame) {
  const unsigned owner = hot.cluster->owner_near(address, hot.cluster_rank);
  if (owner == hot.cluster->size()) return false;
  cluster_access<d, bytes>(hot, owner, address, pc, frame);
  return true;
}

// Everything that is not a plain hit: __device__ variables, dynamic shared memory, bad addresses.
template <Direction d, unsigned bytes>
[[gnu::noinline]] void other_access(Hot& hot, std::uintptr_t address, std::uint32_t pc,
                                    std::uintptr_t frame) {
  const Regions& regions = program_regions();
  if (address - regions.device.begin < regions.device.bytes) {
    if ((hot.checks & kCheckBounds) && !regions.device.allows(address, bytes)) {
      bad_variable(address, bytes, d, pc, "__device__ variable");
    }
    if (hot.checks & kCheckRaces) {
      const unsigned mask = bytes < 4 ? byte_bits(address & 3, bytes) : 15;
      for (unsigned w = 0; w < (bytes < 4 ? 1 : bytes / 4); ++w) {
        std::size_t offset =
            kArenaBytes + ((address - regions.device.begin) & ~std::size_t{3}) + 4 * w;
        RaceCell* cell = hot.races->global.cell(offset, hot.races->interval);
        hot.races->global.touch(offset);
        if (d != Direction::load && hot.undo) hot.undo->before_write(offset);
        check_race(hot, cell, d, pc, mask, (address & ~std::uintptr_t{3}) + 4 * w);
      }
    }
    log_event(hot, address,
              d == Direction::load    ? EventKind::global_load
              : d == Direction::store ? EventKind::global_store
                                      : EventKind::global_atomic,
              bytes, pc, frame);
    return;
  }
  if (hot.cluster && others_shared_access<d, bytes>(hot, address, pc, frame)) return;
  if (near_dynamic_shared(address)) {
    bad_shared(address, bytes, d, pc);  // the part that belongs to this launch is handled before
  }
  // Tables and strings of the program itself: nvcc would have placed them on the GPU.
  if (ProgramImage::get().in_program_data(address)) {
    if (const auto of_host = host_variable(address); of_host && (hot.checks & kCheckBounds)) {
      host_memory(*of_host, bytes, d, pc);
    }
    return;
  }
  // A little past the shared arrays, or before them.
  if (address - (hot.tls_begin - 65536) < hot.tls_bytes + 131072 && nearest_shared(address).size) {
    if (hot.checks & kCheckBounds) bad_shared(address, bytes, d, pc);
    return;
  }
  if (hot.checks & kCheckBounds) bad_address(address, bytes, d, pc);
}

template <Direction d, unsigned bytes>
[[gnu::noinline]] void record(std::uintptr_t address, std::uint32_t pc, std::uintptr_t frame) {
  Hot& hot = simt_hot;
  if (bytes > 1 && (address & (bytes - 1)) && (hot.checks & kCheckBounds)) [[unlikely]] {
    misaligned(address, bytes, d, pc);
  }
  if (address - g_arena_base < kArenaBytes) {
    global_access<d, bytes>(hot, address, pc, frame);
    return;
  }
  if (std::size_t offset = address - hot.tls_begin; offset < hot.tls_bytes) {
    const unsigned mask = bytes < 4 ? byte_bits(offset & 3, bytes) : 15;
    bool allowed = true;
    for (unsigned w = 0; w < (bytes < 4 ? 1 : bytes / 4); ++w) {
      allowed &= (hot.tls_map[(offset >> 2) + w] >> 4 & mask) == mask;
    }
    if (!allowed && (hot.checks & kCheckBounds)) [[unlikely]] {
      bad_shared(address, bytes, d, pc);
    }
    shared_access<d, bytes>(
        hot, address, hot.tls_cells + (offset >> 2),
        hot.cluster ? hot.cluster->windows[hot.cluster_rank].tls_words + (offset >> 2) : nullptr,
        pc, frame);
    return;
  }
  if (address - hot.constant->begin < hot.constant->bytes) {
    if (d != Direction::load) constant_written(address, bytes, pc);
    if (!hot.constant->allows(address, bytes) && (hot.checks & kCheckBounds)) [[unlikely]] {
      bad_variable(address, bytes, d, pc, "__constant__ variable");
    }
    log_event(hot, address, EventKind::constant_load, bytes, pc, frame);
    return;
  }
  if (std::size_t offset = address - hot.dynamic_begin;
      offset < hot.dynamic_bytes && offset + bytes <= hot.dynamic_bytes) {
    shared_access<d, bytes>(
        hot, address, hot.dynamic_cells + (offset >> 2),
        hot.cluster ? hot.cluster->windows[hot.cluster_rank].dynamic_words + (offset >> 2)
                    : nullptr,
        pc, frame);
    return;
  }
  other_access<d, bytes>(hot, address, pc, frame);
}

// Whole words of shared memory, for record_simply().
template <Direction d, unsigned words>
[[gnu::always_inline]] inline bool shared_simply(Hot& hot, RaceCell* cells, AccessId id) {
  for (unsigned w = 0; w < words; ++w) {
    RaceCell& cell = cells[w];
    if (d == Direction::load) {
      if (cell.init_block != hot.block_number || cell.init_mask != 15) return false;
    } else {
      cell.init_block = hot.block_number;
      cell.init_mask = 15;
    }
    if (!hot.races->access_simply(cell, access_class(d), id)) return false;
  }
  return true;
}

// The common cases, in code that calls nothing and so needs no stack frame of its own: all checks on,
// the access is in order, nothing is to be reported. False if record() has to look at it; what was
// done until then may be done again.
template <Direction d, unsigned bytes>
[[gnu::always_inline]] inline bool record_simply(Hot& hot, std::uintptr_t address, std::uint32_t pc,
                                                 std::uintptr_t frame) {
  if (bytes < 4 || d == Direction::atomic) return false;
  if ((address & (bytes - 1)) || hot.checks != kCheckAll || hot.log_next == hot.log_limit) {
    return false;
  }
  constexpr unsigned words = bytes < 4 ? 1 : bytes / 4;
  constexpr bool is_load = d == Direction::load;
  const AccessId id = hot.access_id | pc;
  RaceDetector& races = *hot.races;
  EventKind kind;
  if (std::size_t offset = address - hot.tls_begin; offset < hot.tls_bytes) {
    if (hot.cluster) return false;
    for (unsigned w = 0; w < words; ++w) {
      if ((hot.tls_map[(offset >> 2) + w] & 0xf0) != 0xf0) return false;
    }
    if (!shared_simply<d, words>(hot, hot.tls_cells + (offset >> 2), id)) return false;
    kind = is_load ? EventKind::shared_load : EventKind::shared_store;
  } else if (address - g_arena_base < kArenaBytes) {
    if (access_epoch(id) > 1) return false;
    offset = address - g_arena_base;
    std::uint8_t* map = g_word_map + (offset >> 2);
    for (unsigned w = 0; w < words; ++w) {
      if (is_load ? map[w] != 0xff : (map[w] & 0xf0) != 0xf0) return false;
      RaceCell* cell = races.global.find(offset + 4 * w, races.interval);
      if (!cell) return false;
      if (cell->interval != races.interval) races.global.touch(offset + 4 * w);
      if (!races.access_simply(*cell, access_class(d), id)) return false;
      if (!is_load && hot.undo) hot.undo->before_write(offset + 4 * w);
      if (!is_load && map[w] != 0xff) map[w] = 0xff;
    }
    kind = is_load ? EventKind::global_load : EventKind::global_store;
  } else if (is_load && address - hot.constant->begin < hot.constant->bytes) {
    if (!hot.constant->allows(address, bytes)) return false;
    kind = EventKind::constant_load;
  } else if (offset = address - hot.dynamic_begin;
             offset < hot.dynamic_bytes && offset + bytes <= hot.dynamic_bytes) {
    if (hot.cluster) return false;
    if (!shared_simply<d, words>(hot, hot.dynamic_cells + (offset >> 2), id)) return false;
    kind = is_load ? EventKind::shared_load : EventKind::shared_store;
  } else {
    return false;
  }
  *hot.log_next++ = {address, event_key(hot.stack_high - frame, pc, kind, bytes)};
  return true;
}

// The first question: most accesses of a kernel are to its own locals.
template <Direction d, unsigned bytes>
[[gnu::always_inline]] inline void access(std::uintptr_t address, std::uint32_t pc,
                                          std::uintptr_t frame) {
  Hot& hot = simt_hot;
  if (address - hot.stack_low < hot.stack_high - hot.stack_low) return;
  if (!record_simply<d, bytes>(hot, address, pc, frame)) record<d, bytes>(address, pc, frame);
}

// The same of a volatile variable: it may be a flag.
template <Direction d, unsigned bytes>
void volatile_access(std::uintptr_t address, std::uint32_t pc, std::uintptr_t frame) {
  Hot& hot = simt_hot;
  if (address - hot.stack_low < hot.stack_high - hot.stack_low) return;
  const AccessId marks =
      kVolatile | (d == Direction::store && running_lane_has_fenced() ? kAfterFence : 0);
  hot.access_id |= marks;
  access<d, bytes>(address, pc, frame);
  hot.access_id &= ~marks;
  if (hot.checks & kCheckRaces) {
    hand_on(address & ~std::uintptr_t{3}, d == Direction::load, d == Direction::store);
  }
}

// A load or store of `bytes` bytes with no alignment of its own (a structure): by words.
template <Direction d>
void range_access(std::uintptr_t address, std::size_t bytes, std::uint32_t pc,
                  std::uintptr_t frame) {
  while (bytes) {
    if (bytes >= 4 && address % 4 == 0) {
      access<d, 4>(address, pc, frame);
      address += 4;
      bytes -= 4;
    } else {
      access<d, 1>(address, pc, frame);
      address += 1;
      bytes -= 1;
    }
  }
}

std::uintptr_t image_base = 0;

[[gnu::noinline]] void host_touches(const void* address, std::size_t bytes, Direction d,
                                    std::uint32_t pc) {
  if (inside_kernel()) return;
  host_access(reinterpret_cast<std::uintptr_t>(address), bytes, d != Direction::load, pc);
}

}  // namespace

void set_image_base(std::uintptr_t base) { image_base = base; }

void note_atomic(const void* address, unsigned bytes, void* program_counter, void* caller_frame) {
  if (!simt_hot.active) return;
  auto pc = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(program_counter) - 1 -
                                       image_base);
  auto a = reinterpret_cast<std::uintptr_t>(address);
  auto frame = reinterpret_cast<std::uintptr_t>(caller_frame);
  switch (bytes) {
    case 2:
      access<Direction::atomic, 2>(a, pc, frame);
      break;
    case 4:
      access<Direction::atomic, 4>(a, pc, frame);
      break;
    case 8:
      access<Direction::atomic, 8>(a, pc, frame);
      break;
  }
  if (simt_hot.checks & kCheckRaces) hand_on(a & ~std::uintptr_t{3}, true, true);
}

// ---- Asynchronous copies (async_copies.cpp) ----

std::uintptr_t global_address(std::size_t offset) {
  if (offset < kArenaBytes) return g_arena_base + offset;
  return program_regions().device.begin + (offset - kArenaBytes);
}

Space space_of(std::uintptr_t address) {
  const Hot& hot = simt_hot;
  const Regions& regions = program_regions();
  if (address - hot.stack_low < hot.stack_high - hot.stack_low) return Space::local;
  if (address - g_arena_base < kArenaBytes) return Space::global;
  if (address - regions.device.begin < regions.device.bytes) return Space::global;
  if (address - regions.constant.begin < regions.constant.bytes) return Space::constant;
  if (near_dynamic_shared(address) || address - hot.tls_begin < hot.tls_bytes) return Space::shared;
  if (hot.cluster && hot.cluster->owner_near(address, hot.cluster_rank) != hot.cluster->size()) {
    return Space::cluster;
  }
  constexpr std::uintptr_t kMargin = 64 << 10;
  if (address - (hot.tls_begin - kMargin) < hot.tls_bytes + 2 * kMargin) return Space::shared;
  return Space::other;
}

void note_copy_source(std::uintptr_t address, unsigned read, unsigned bytes, std::uint32_t pc,
                      std::uintptr_t frame) {
  Hot& hot = simt_hot;
  if ((address & (bytes - 1)) && (hot.checks & kCheckBounds)) {
    misaligned(address, bytes, Direction::load, pc);
  }
  // Checked byte by byte or by words, counted as the one load that it is.
  Event* const log = hot.log_next;
  switch (read) {
    case 4:
      record<Direction::load, 4>(address, pc, frame);
      break;
    case 8:
      record<Direction::load, 8>(address, pc, frame);
      break;
    case 16:
      record<Direction::load, 16>(address, pc, frame);
      break;
    default:
      range_access<Direction::load>(address, read, pc, frame);
  }
  hot.log_next = log;
  log_event(hot, address, EventKind::global_load, bytes, pc, frame);
}

void note_copy_destination(std::uintptr_t address, unsigned bytes, std::uint32_t pc,
                           std::uintptr_t frame) {
  switch (bytes) {
    case 4:
      return record<Direction::store, 4>(address, pc, frame);
    case 8:
      return record<Direction::store, 8>(address, pc, frame);
    case 16:
      return record<Direction::store, 16>(address, pc, frame);
  }
}

namespace {

// Where the block's own word of shared memory has its cells; null if it is none.
struct OwnCells {
  RaceCell* race = nullptr;
  ClusterCell* in_cluster = nullptr;  // null where the block is alone
};
OwnCells own_cells(const Hot& hot, std::uintptr_t address) {
  const bool is_static = address - hot.tls_begin < hot.tls_bytes;
  if (!is_static && address - hot.dynamic_begin >= hot.dynamic_bytes) return {};
  const std::size_t word = (address - (is_static ? hot.tls_begin : hot.dynamic_begin)) / 4;
  OwnCells cells{(is_static ? hot.tls_cells : hot.dynamic_cells) + word, nullptr};
  if (hot.cluster == nullptr) return cells;
  const ClusterWindow& own = hot.cluster->windows[hot.cluster_rank];
  cells.in_cluster = (is_static ? own.tls_words : own.dynamic_words) + word;
  return cells;
}

}  // namespace

void note_copy_landed(std::uintptr_t address, unsigned bytes, std::uint32_t pc) {
  Hot& hot = simt_hot;
  if (!(hot.checks & kCheckRaces)) return;
  ClusterCell* const words = own_cells(hot, address).in_cluster;
  for (unsigned w = 0; words != nullptr && w < bytes / 4; ++w) {
    check_cluster(hot, words + w, Direction::store, pc, 15, address + 4 * w);
  }
}

// ---- Stores that arrive at a barrier (mbarriers.cpp) ----

void note_sent(unsigned owner, std::uintptr_t address, unsigned bytes, std::uint32_t pc,
               std::uintptr_t frame) {
  Hot& hot = simt_hot;
  if ((address & (bytes - 1)) && (hot.checks & kCheckBounds)) {
    misaligned(address, bytes, Direction::store, pc);
  }
  switch (bytes) {
    case 4:
      return cluster_access<Direction::store, 4, true>(hot, owner, address, pc, frame);
    case 8:
      return cluster_access<Direction::store, 8, true>(hot, owner, address, pc, frame);
    case 16:
      return cluster_access<Direction::store, 16, true>(hot, owner, address, pc, frame);
  }
}

void note_arrived(std::uintptr_t address, unsigned bytes, std::uint32_t pc) {
  Hot& hot = simt_hot;
  const OwnCells cells = own_cells(hot, address);
  for (unsigned w = 0; cells.race != nullptr && w < bytes / 4; ++w) {
    RaceCell& cell = cells.race[w];
    cell.init_block = hot.block_number;
    cell.init_mask = 15;
    if (!(hot.checks & kCheckRaces)) continue;
    hot.races->arrive(cell, hot.access_id | pc);
    if (cells.in_cluster) hot.cluster->land(cells.in_cluster[w], running_access(hot, pc));
  }
}

void note_barrier(std::uintptr_t address) {
  Hot& hot = simt_hot;
  if (!(hot.checks & kCheckRaces)) return;
  ClusterCell* const words = own_cells(hot, address).in_cluster;
  for (unsigned w = 0; words != nullptr && w < 2; ++w) hot.cluster->mark_barrier(words[w]);
}

void note_shared_load(std::uintptr_t address, std::uint32_t pc, std::uintptr_t frame) {
  if (simt_hot.active) access<Direction::load, 16>(address, pc, frame);
}

std::optional<std::uint32_t> start_flight(std::uintptr_t address, AccessId id, bool writes,
                                          std::uint32_t value) {
  Hot& hot = simt_hot;
  RaceDetector& races = *hot.races;
  RaceCell* cell = nullptr;
  std::size_t offset = RaceDetector::kShared;
  if (address - hot.tls_begin < hot.tls_bytes) {
    cell = hot.tls_cells + (address - hot.tls_begin) / 4;
  } else if (address - hot.dynamic_begin < hot.dynamic_bytes) {
    cell = hot.dynamic_cells + (address - hot.dynamic_begin) / 4;
  } else if (space_of(address) == Space::global) {
    offset = address - g_arena_base;
    if (offset >= kArenaBytes) offset = kArenaBytes + (address - program_regions().device.begin);
    cell = races.global.cell(offset, races.interval);
  } else {
    return std::nullopt;
  }
  return races.start_flight(*cell, id, writes, offset, address, value);
}

void host_copies(void* to, const void* from, std::size_t bytes) {
  if (!streams::host_may_be_early.load(std::memory_order_relaxed) || inside_kernel()) return;
  const auto pc = static_cast<std::uint32_t>(
      reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1 - image_base);
  if (from != nullptr) host_access(reinterpret_cast<std::uintptr_t>(from), bytes, false, pc);
  host_access(reinterpret_cast<std::uintptr_t>(to), bytes, true, pc);
}

}  // namespace simt

using simt::simt_hot;

// The instruction after the call is the return address; one less lies in the call, on the right
// line.
#define SIMT_CALLER_PC                                                                           \
  static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1 - \
                             simt::image_base)
#define SIMT_CALLER_FRAME reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa())

#define SIMT_ACCESS(kind, name, direction, bytes)                                            \
  void name(void* address) {                                                                 \
    if (!simt_hot.active) {                                                                  \
      if (simt::streams::host_may_be_early.load(std::memory_order_relaxed)) [[unlikely]] {   \
        simt::host_touches(address, bytes, simt::Direction::direction, SIMT_CALLER_PC);      \
      }                                                                                      \
      return;                                                                                \
    }                                                                                        \
    simt::kind<simt::Direction::direction, bytes>(reinterpret_cast<std::uintptr_t>(address), \
                                                  SIMT_CALLER_PC, SIMT_CALLER_FRAME);        \
  }

extern "C" {

SIMT_ACCESS(access, __tsan_read1, load, 1)
SIMT_ACCESS(access, __tsan_read2, load, 2)
SIMT_ACCESS(access, __tsan_read4, load, 4)
SIMT_ACCESS(access, __tsan_read8, load, 8)
SIMT_ACCESS(access, __tsan_read16, load, 16)
SIMT_ACCESS(access, __tsan_write1, store, 1)
SIMT_ACCESS(access, __tsan_write2, store, 2)
SIMT_ACCESS(access, __tsan_write4, store, 4)
SIMT_ACCESS(access, __tsan_write8, store, 8)
SIMT_ACCESS(access, __tsan_write16, store, 16)
SIMT_ACCESS(access, __tsan_unaligned_read2, load, 2)
SIMT_ACCESS(access, __tsan_unaligned_read4, load, 4)
SIMT_ACCESS(access, __tsan_unaligned_read8, load, 8)
SIMT_ACCESS(access, __tsan_unaligned_read16, load, 16)
SIMT_ACCESS(access, __tsan_unaligned_write2, store, 2)
SIMT_ACCESS(access, __tsan_unaligned_write4, store, 4)
SIMT_ACCESS(access, __tsan_unaligned_write8, store, 8)
SIMT_ACCESS(access, __tsan_unaligned_write16, store, 16)
SIMT_ACCESS(volatile_access, __tsan_volatile_read1, load, 1)
SIMT_ACCESS(volatile_access, __tsan_volatile_read2, load, 2)
SIMT_ACCESS(volatile_access, __tsan_volatile_read4, load, 4)
SIMT_ACCESS(volatile_access, __tsan_volatile_read8, load, 8)
SIMT_ACCESS(volatile_access, __tsan_volatile_read16, load, 16)
SIMT_ACCESS(volatile_access, __tsan_volatile_write1, store, 1)
SIMT_ACCESS(volatile_access, __tsan_volatile_write2, store, 2)
SIMT_ACCESS(volatile_access, __tsan_volatile_write4, store, 4)
SIMT_ACCESS(volatile_access, __tsan_volatile_write8, store, 8)
SIMT_ACCESS(volatile_access, __tsan_volatile_write16, store, 16)

void __tsan_read_range(void* address, std::size_t bytes) {
  if (!simt_hot.active) {
    if (simt::streams::host_may_be_early.load(std::memory_order_relaxed)) [[unlikely]] {
      simt::host_touches(address, bytes, simt::Direction::load, SIMT_CALLER_PC);
    }
    return;
  }
  simt::range_access<simt::Direction::load>(reinterpret_cast<std::uintptr_t>(address), bytes,
                                            SIMT_CALLER_PC, SIMT_CALLER_FRAME);
}

void __tsan_write_range(void* address, std::size_t bytes) {
  if (!simt_hot.active) {
    if (simt::streams::host_may_be_early.load(std::memory_order_relaxed)) [[unlikely]] {
      simt::host_touches(address, bytes, simt::Direction::store, SIMT_CALLER_PC);
    }
    return;
  }
  simt::range_access<simt::Direction::store>(reinterpret_cast<std::uintptr_t>(address), bytes,
                                             SIMT_CALLER_PC, SIMT_CALLER_FRAME);
}

void __sanitizer_cov_trace_pc() {
  if (!simt_hot.active) return;
  const std::uint32_t pc = SIMT_CALLER_PC;
  simt::note_block(pc);
  simt::log_event(simt_hot, 0, simt::EventKind::basic_block, 0, pc, SIMT_CALLER_FRAME);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
// A constructor says which class its object is of.
void __tsan_vptr_update(void** address, void*) {
  if (!simt_hot.active) return;
  simt::access<simt::Direction::store, 8>(reinterpret_cast<std::uintptr_t>(address), SIMT_CALLER_PC,
                                          SIMT_CALLER_FRAME);
}
void __tsan_vptr_read(void**) {}
void __tsan_atomic_thread_fence(int) { simt::fence(true); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

// std::atomic and __atomic_* in instrumented code: recorded as atomics when in a kernel, and really
// performed, always sequentially consistent.
#define SIMT_NOTE_ATOMIC(bits)                                                   \
  if (order == __ATOMIC_RELEASE || order >= __ATOMIC_ACQ_REL) simt::fence(true); \
  simt::note_atomic(const_cast<T*>(a), bits / 8, __builtin_return_address(0))
#define SIMT_ATOMIC_RMW(bits, name, builtin)                                           \
  std::uint##bits##_t __tsan_atomic##bits##_##name(volatile std::uint##bits##_t* a,    \
                                                   std::uint##bits##_t v, int order) { \
    using T = std::uint##bits##_t;                                                     \
    SIMT_NOTE_ATOMIC(bits);                                                            \
    return builtin(a, v, __ATOMIC_SEQ_CST);                                            \
  }
#define SIMT_ATOMICS(bits)                                                                         \
  SIMT_ATOMIC_RMW(bits, exchange, __atomic_exchange_n)                                             \
  SIMT_ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add)                                             \
  SIMT_ATOMIC_RMW(bits, fetch_sub, __atomic_fetch_sub)                                             \
  SIMT_ATOMIC_RMW(bits, fetch_and, __atomic_fetch_and)                                             \
  SIMT_ATOMIC_RMW(bits, fetch_or, __atomic_fetch_or)                                               \
  SIMT_ATOMIC_RMW(bits, fetch_xor, __atomic_fetch_xor)                                             \
  SIMT_ATOMIC_RMW(bits, fetch_nand, __atomic_fetch_nand)                                           \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* a,            \
                                                 int order) {                                      \
    using T = std::uint##bits##_t;                                                                 \
    SIMT_NOTE_ATOMIC(bits);                                                                        \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* a, std::uint##bits##_t v,         \
                                   int order) {                                                    \
    using T = std::uint##bits##_t;                                                                 \
    SIMT_NOTE_ATOMIC(bits);                                                                        \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile std::uint##bits##_t* a,               \
                                                    std::uint##bits##_t* expected,                 \
                                                    std::uint##bits##_t v, int order, int) {       \
    using T = std::uint##bits##_t;                                                                 \
    SIMT_NOTE_ATOMIC(bits);                                                                        \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile std::uint##bits##_t* a,                 \
                                                  std::uint##bits##_t* expected,                   \
                                                  std::uint##bits##_t v, int order, int) {         \
    using T = std::uint##bits##_t;                                                                 \
    SIMT_NOTE_ATOMIC(bits);                                                                        \
    return __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
SIMT_ATOMICS(8)
SIMT_ATOMICS(16)
SIMT_ATOMICS(32)
SIMT_ATOMICS(64)

}  // extern "C"
