// The simulated multiprocessor, as one OS thread sees it: lanes (CUDA threads, each on a fiber),
// warps, the block in progress, and the state that the access callbacks need at hand.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/simt/runtime/current_gpu.hpp"
#include "common/simt/runtime/findings.hpp"
#include "common/simt/runtime/races.hpp"
#include "common/simt/runtime/regions.hpp"
#include "common/simt/runtime/runtime.hpp"
#include "common/simt/runtime/undo.hpp"
#include "common/simt/simt.hpp"

namespace simt {

inline constexpr unsigned kMaxBlockThreads = 1024;
inline constexpr std::size_t kDynamicSharedCapacity = 256 << 10;  // above any model GPU's limit

// Addresses on both sides of dynamic shared memory that belong to nothing else.
inline constexpr std::size_t kDynamicSharedMargin = 64 << 10;

// What a lane did, in program order: entered a basic block or touched memory. The key orders events
// for warp forming: deepest stack frame first, then smallest program counter.
//   bits 48-63: 0xffff - frame depth / 16   16-47: program counter   8-15: EventKind   0-7: bytes
struct Event {
  std::uint64_t address;
  std::uint64_t key;
};

enum class EventKind : std::uint8_t {
  basic_block,
  global_load,
  global_store,
  shared_load,
  shared_store,
  constant_load,
  global_atomic,
  shared_atomic,
  dshared_load,  // of another block of the cluster
  dshared_store,
  dshared_atomic,
};

inline std::uint64_t event_key(std::uintptr_t frame_depth, std::uint32_t pc, EventKind kind,
                               unsigned bytes) {
  return ((0xffff - (std::uint64_t{frame_depth} >> 4)) << 48) | (std::uint64_t{pc} << 16) |
         (static_cast<std::uint64_t>(kind) << 8) | bytes;
}
inline std::uint32_t event_pc(std::uint64_t key) { return static_cast<std::uint32_t>(key >> 16); }
inline EventKind event_kind(std::uint64_t key) { return static_cast<EventKind>(key >> 8 & 0xff); }
inline unsigned event_bytes(std::uint64_t key) { return key & 0xff; }

inline constexpr std::size_t kLogEvents = 1024;  // a lane runs this far before its warp is replayed

// Why a lane is not running.
enum class LaneState : std::uint8_t {
  ready,        // not started, or stopped because its log is full
  at_barrier,   // __syncthreads
  at_cluster,   // the second half of the cluster's barrier
  at_mbarrier,  // a barrier in shared memory
  in_warp_op,   // __syncwarp, shuffle, vote
  finished,     // returned, or was abandoned after a bad access
};

enum class WarpOp : std::uint8_t {
  sync,
  exchange,
  ballot,
  match,
  active,
  aligned,
  mma,
  load_matrices
};

struct Fiber;
struct Mbarrier;

// An asynchronous copy that its lane has not waited for. The data are taken from the source when it
// starts and reach shared memory at the wait, so that what reads too early reads old values.
struct PendingCopy {
  void* to;
  std::uint32_t bytes;
  std::uint32_t pc;
  std::uint64_t batch;
  std::uint32_t first_flight;  // numbers of its flights (races.hpp)
  std::uint32_t flights;
  alignas(16) unsigned char data[16];
};

struct CopyPipeline {
  std::vector<PendingCopy> copies;  // in program order
  std::uint64_t batch = 0;          // batches committed so far
};

struct Lane {
  LaneState state = LaneState::finished;
  Fiber* fiber = nullptr;    // null until started and after it has ended
  Event* log = nullptr;      // the warp's buffer for this lane
  Event* log_end = nullptr;  // one past the last event
  Event* log_read = nullptr;
  unsigned index = 0;  // linear thread index in the block
  unsigned position[3] = {0, 0, 0};
  std::uint32_t stop_pc = 0;    // where it waits
  const void* place = nullptr;  // of the barrier where it waits (runtime.hpp)
  bool returned = false;        // has finished by itself, not for a bad access
  // A warp operation in progress: what the lane offers, and what it gets.
  WarpOp op = WarpOp::sync;
  Exchange exchange = Exchange::index;
  unsigned mask = 0;
  unsigned operand = 0;
  int width = 32;
  std::uint64_t bits = 0;  // of an mma or load_matrices: where its registers are
  std::uint64_t result = 0;
  int predicate = 0;  // of a block barrier
  // Order between the lanes of a warp (races.hpp).
  std::uint32_t epoch = 1;
  LaneClock clock;
  std::uint32_t fenced = 0;          // what it did up to this epoch comes before what it stores now
  std::uint32_t fenced_for_all = 0;  // to other blocks as well
  bool handed_on = false;            // it has stored since it fenced, last to this word:
  std::uintptr_t handed_to = 0;
  CopyPipeline pipeline;
  const Mbarrier* mbarrier = nullptr;  // where it waits, for the phase with this parity
  unsigned parity = 0;
  bool has_waited = false;  // for earlier launches, or one of its block has
  // The cluster's barrier: how often it has arrived and waited.
  std::uint32_t arrives = 0;
  std::uint32_t waits = 0;
  std::uint32_t others_waits = 0;  // of its block, before the last __syncthreads
  std::uint32_t arrive_pc = 0;
  std::uint32_t arrive_epoch = 0;  // what it did up to this epoch it did before it arrived
  const void* arrive_place = nullptr;
  bool arrives_to_wait = false;  // and did nothing else in between
  std::uint64_t last_block = 0;  // Event::key of the last that was replayed; 0: none yet
};

// Log space of one warp: a buffer for each lane. The lanes' buffers start in different cache sets.
struct WarpLogs {
  static constexpr std::size_t kStride = kLogEvents + 4 + 1;
  std::unique_ptr<Event[]> events = std::make_unique<Event[]>(kStride * kWarpSize);
  Event* lane(unsigned i) { return events.get() + i * kStride; }
};

class WarpTrace;  // trace.hpp

struct Warp {
  Lane* lanes = nullptr;  // kWarpSize lanes, the last of a block perhaps fewer
  unsigned lane_count = 0;
  bool synchronised = false;  // the lanes' clocks are no longer those of a block's start
  WarpLogs* logs = nullptr;
  WarpTrace* trace = nullptr;  // null, as a rule: nobody wants to know its addresses
  bool stopped = false;        // every lane waits at the block's barrier or has finished
};

// Counters per program counter of one worker; replay.cpp.
class SiteCounters {
 public:
  Counters& at(std::uint32_t pc);
  void clear();
  template <class F>
  void for_each(F f) const {
    for (const Slot& slot : slots_) {
      if (slot.pc) f(slot.pc, slot.counters);
    }
  }

 private:
  struct Slot {
    std::uint32_t pc = 0;
    Counters counters;
  };
  void grow();
  std::vector<Slot> slots_ = std::vector<Slot>(256);
  std::size_t used_ = 0;
};

class BlockEdges;
class Cluster;

// Forms warp instructions from the lanes' logs and counts them; collects which block followed which. Stops early when a lane that is
// still running has no more events (`all_stopped` false), since what it does next may come first.
void replay(Warp& warp, SiteCounters& sites, BlockEdges& edges, bool all_stopped);

// What the callbacks read on every access: kept small and flat. One per OS thread.
struct Hot {
  bool active;      // this OS thread is on a simulated thread and something is to be recorded
  unsigned checks;  // enum Check
  Event* log_next;
  Event* log_limit;
  std::uintptr_t stack_low;  // of the running fiber
  std::uintptr_t stack_high;
  std::uintptr_t tls_begin;  // the program's TLS segment on this OS thread: static shared arrays
  std::size_t tls_bytes;
  const std::uint8_t* tls_map;  // per word, as g_word_map's upper half: what this kernel may touch
  RaceCell* tls_cells;
  std::uintptr_t dynamic_begin;  // dynamic shared memory
  std::size_t dynamic_bytes;     // of this launch
  RaceCell* dynamic_cells;
  const VariableSection* constant;  // the program's __constant__ variables
  std::uint32_t block_number;       // unique per block and worker: stamps initialised shared words
  AccessId access_id;               // of the running lane, program counter zero
  RaceDetector* races;
  Undo* undo;        // null: this launch runs but once
  Cluster* cluster;  // null: the block is alone
  unsigned cluster_rank;
  std::uint32_t cluster_arrives;  // of the running lane
  std::uint32_t cluster_waits;
  HazardTable* hazards;  // of the worker
};
extern __thread Hot simt_hot __attribute__((tls_model("local-exec")));

// Room for the static and behind it the dynamic shared memory of a block, in whole pages of race cells.
inline std::size_t shared_window_bytes(std::size_t tls_bytes) {
  return (tls_bytes + 1023) / 1024 * 1024 + kDynamicSharedCapacity;
}

// True if the address lies in this OS thread's dynamic shared memory or beside it.
inline bool is_near_dynamic(std::uintptr_t address, std::uintptr_t begin) {
  return address - (begin - kDynamicSharedMargin) <
         kDynamicSharedCapacity + 2 * kDynamicSharedMargin;
}
inline bool near_dynamic_shared(std::uintptr_t address) {
  return is_near_dynamic(address, simt_hot.dynamic_begin);
}

// Slow paths of the callbacks (scheduler.cpp).
[[gnu::noinline]] void log_is_full();  // suspends the lane until its warp was replayed
// Records a hazard of the running lane. `array` is what it touched.
void note_hazard(Hazard hazard, std::uint32_t pc, const std::string& array, const char* what,
                 const std::string& detail);
[[noreturn]] void abandon_lane(int cuda_error);

// The running lane is about to update the word by an atomic or, in `direction`, to touch it by a
// volatile access (scheduler.cpp): data may be handed on by it.
void hand_on(std::uintptr_t word, bool loads, bool stores);
bool running_lane_has_fenced();

// Where the word is that the race checks know by this offset: device memory, then __device__ variables.
std::uintptr_t global_address(std::size_t offset);

// What the memory at an address is to a kernel; cluster: another block's shared memory.
enum class Space { global, shared, cluster, constant, local, other };
Space space_of(std::uintptr_t address);  // near shared arrays counts as shared

// Both sides of an asynchronous copy when it starts (access.cpp): checks bounds, alignment,
// initialisation and races, and counts. Of the source only `read` of the `bytes` bytes are read.
// Either ends the lane if the access may not be. They need up to kCopyEvents free events in the log
// and do not suspend the lane if these are there.
inline constexpr std::ptrdiff_t kCopyEvents = 20;
void note_copy_source(std::uintptr_t address, unsigned read, unsigned bytes, std::uint32_t pc,
                      std::uintptr_t frame);
void note_copy_destination(std::uintptr_t address, unsigned bytes, std::uint32_t pc,
                           std::uintptr_t frame);
// To other blocks of the cluster the running lane's copy is a store of the moment when it has waited.
void note_copy_landed(std::uintptr_t address, unsigned bytes, std::uint32_t pc);
// A store of the running lane that arrives at a barrier in the shared memory of block `owner` of the cluster, where
// it starts (access.cpp); a lane of that block has waited for it; and there is such a barrier at the address.
void note_sent(unsigned owner, std::uintptr_t address, unsigned bytes, std::uint32_t pc,
               std::uintptr_t frame);
void note_arrived(std::uintptr_t address, unsigned bytes, std::uint32_t pc);
void note_barrier(std::uintptr_t address);
// A load of the running lane from shared memory, of 16 bytes, for an instruction that is a function here.
void note_shared_load(std::uintptr_t address, std::uint32_t pc, std::uintptr_t frame);
// The running lane's copy touches the aligned word at `address` from now on. Nothing if that is
// neither global nor shared memory of the block.
std::optional<std::uint32_t> start_flight(std::uintptr_t address, AccessId id, bool writes,
                                          std::uint32_t value);

// The line of a call that returns there, as program counters are kept (scheduler.cpp).
std::uint32_t relative_pc(void* return_address);
// The running lane (scheduler.cpp), its asynchronous copies, and its cluster, which may be one block.
Lane& running_lane();
CopyPipeline& running_pipeline();
Cluster& running_cluster();
unsigned running_rank();
unsigned running_threads();  // of its block
void begin_epoch();          // what it does now is not what it did until now
// Returns when the barrier's phase is complete, or when nobody can go on but by looking again.
void wait_at_mbarrier(const Mbarrier& barrier, unsigned parity, std::uint32_t pc);
// The block of the cluster whose shared memory is at or near the address; its size if there is none.
unsigned owner_of_shared(std::uintptr_t address);

// Name of the shared array, global allocation or variable that holds the address.
std::string array_name(std::uintptr_t address);

// Program counters are kept relative to this; set before the first launch (access.cpp).
void set_image_base(std::uintptr_t base);

}  // namespace simt
