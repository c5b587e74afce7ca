// Runs the blocks of a grid: each CUDA thread of a block on a fiber, all fibers of a block on one
// OS thread, blocks spread over OS threads. A warp's lanes run one after another until each waits,
// has ended or has filled its log; then the warp is replayed (replay.cpp) and its logs are empty
// again.
#include <alloca.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "common/simt/runtime/cluster.hpp"
#include "common/simt/runtime/coverage.hpp"
#include "common/simt/runtime/crashes.hpp"
#include "common/simt/runtime/device_memory.hpp"
#include "common/simt/runtime/fiber.hpp"
#include "common/simt/runtime/fp64.hpp"
#include "common/simt/runtime/launch_races.hpp"
#include "common/simt/runtime/launches.hpp"
#include "common/simt/runtime/machine.hpp"
#include "common/simt/runtime/printed.hpp"
#include "common/simt/runtime/program_image.hpp"
#include "common/simt/runtime/regions.hpp"
#include "common/simt/runtime/reserve.hpp"
#include "common/simt/runtime/settings.hpp"
#include "common/simt/runtime/streams.hpp"
#include "common/simt/runtime/tensor.hpp"
#include "common/simt/runtime/trace.hpp"
#include "common/simt/runtime/undo.hpp"

// What kernels read as threadIdx and friends. The stand-in headers declare them const, so that the
// compiler does not instrument their reads; they are written before a lane is resumed.
extern "C" {
struct SimtDimensions {
  unsigned x, y, z;
};
__thread SimtDimensions threadIdx, blockIdx, blockDim, gridDim;
}

namespace simt {
namespace {

// Rounds between a warp's turns, and events without progress before its logs are emptied although a
// lane still runs (a lane that spins on another lane of its warp; otherwise neither would go on).
constexpr int kRoundsPerTurn = 64;
constexpr std::uint64_t kStuckEvents = 20'000'000;
// Where nobody does anything but wait, this part of the step limit is enough.
constexpr std::uint64_t kSpinsOfLimit = 40;

// What a launch needs to know of its kernel. Worked out once for each kernel, and kept.
struct Kernel {
  std::string name;  // demangled
  std::size_t static_shared = 0;
  std::vector<std::uint8_t> shared_map;  // Hot::tls_map: the words of the TLS segment it may touch
  std::vector<std::pair<std::size_t, std::size_t>> own_arrays;  // offset and size in that segment
};

// A launch in progress, shared by the workers.
struct Grid {
  LaunchShape shape;
  const void* closure = nullptr;
  std::size_t closure_bytes = 0;
  KernelInvoke invoke = nullptr;
  const Kernel* kernel = nullptr;
  std::uint64_t blocks = 0;                       // that run
  const std::vector<BlockRange>* only = nullptr;  // of the grid's, these; null: all
  ClusterOrder order;
  std::vector<std::uint64_t> only_clusters;  // where some blocks of clusters run: those
  std::uint64_t blocks_per_claim = 1;
  unsigned checks = 0;
  bool traced = false;
  TracedMiddle middle;
  const streams::Operation* operation = nullptr;  // if what it touches is to be remembered
  std::atomic<bool> hurries{
      false};  // a block does not wait for earlier launches, or lets the next begin first
  LaunchRaces* races = nullptr;            // null: there is but one block, or nobody asks
  std::atomic<bool> may_run_again{false};  // what it does can be undone

  // Of one run.
  std::atomic<std::uint64_t> next_block{0};
  std::atomic<int> workers{0};   // that run blocks
  std::atomic<int> spinning{0};  // of them, those whose block does nothing but wait
  std::atomic<std::uint64_t> error{kNoError};
  std::atomic<bool> stop{false};  // an endless kernel, a trap: no further blocks
  std::mutex mutex;
  std::set<std::uint32_t> tests, results;  // plain reads beside atomics (races.hpp)
  std::set<std::uintptr_t> written;        // pages, if only some blocks run

  // Those of a cluster run together.
  bool has_clusters() const { return order.size() > 1; }
  std::uint64_t clusters() const { return blocks / order.size(); }  // that run
  std::uint64_t cluster(std::uint64_t number) const {
    return only == nullptr ? number : only_clusters[number];
  }
  std::vector<std::unique_ptr<Cluster>> teams;  // of workers, for one cluster at a time each

  // Of those that run, number 0, 1, ...
  std::uint64_t block(std::uint64_t number) const {
    if (only == nullptr) return number;
    auto range = only->begin();
    for (; number >= range->last - range->first; ++range) number -= range->last - range->first;
    return range->first + number;
  }

  void begin_run() {
    next_block = 0;
    workers = spinning = 0;
    error = kNoError;
    stop = false;
    tests.clear();
    results.clear();
    written.clear();
  }
  // The error of a launch is the first one of the first block that has one.
  void note_error(std::uint64_t block, int code) {
    std::uint64_t known = error;
    while (block < known >> kErrorBits &&
           !error.compare_exchange_weak(known, block << kErrorBits | static_cast<unsigned>(code))) {
    }
  }
  int error_code() const {
    return error == kNoError ? 0 : static_cast<int>(error & ((1u << kErrorBits) - 1));
  }
  static constexpr unsigned kErrorBits = 10;
  static constexpr std::uint64_t kNoError = UINT64_MAX;
};

// Tensor-core instructions of warps, by program counter.
using TensorSites = std::map<std::uint32_t, std::uint64_t>;

// Instructions that PTX calls .aligned: all 32 lanes of the warp must be at the same one.
bool wants_whole_warp(WarpOp op) {
  return op == WarpOp::aligned || op == WarpOp::mma || op == WarpOp::load_matrices;
}

// Do two lanes wait for the same?
bool same_operation(const Lane& a, const Lane& b) {
  return b.state == LaneState::in_warp_op && b.op == a.op && b.mask == a.mask &&
         (!wants_whole_warp(a.op) || (b.stop_pc == a.stop_pc && b.operand == a.operand));
}

void run_lane();

// One OS thread's multiprocessor.
class Worker {
 public:
  Worker();
  // Claims blocks, or clusters of them together with others, until none is left. `number`: which worker
  // of the grid's it is.
  void run(Grid& grid, unsigned number);

  // Called on a fiber.
  void stop_lane(LaneState state, std::uint32_t pc);
  [[noreturn]] void abandon(int cuda_error);
  void next_epoch() {  // of the running lane
    ++lane->epoch;
    warp->synchronised = true;
    simt_hot.access_id = make_access_id(lane->index, lane->epoch, 0);
  }

  Grid* grid = nullptr;
  Lane* lane = nullptr;  // the running lane
  Warp* warp = nullptr;
  std::uint64_t block_index = 0;
  std::uintptr_t dynamic_shared = 0;
  unsigned threads = 0;  // of a block
  Cluster* cluster = nullptr;
  unsigned cluster_rank = 0;
  void arrive_at_cluster(std::uint32_t pc, const void* place, bool waits_too, bool releases = true);
  void wait_for_cluster(std::uint32_t pc, const void* place);
  // A load of the running lane that is about to happen, or just has: another block may hand on something
  // by the word in between.
  struct {
    std::uintptr_t word;
    AccessId id;
    std::uint32_t releases;  // when it was noted
  } load_to_come{};
  void settle_load();
  HazardTable hazards;
  SiteCounters sites;
  Fp64Blocks fp64_blocks;
  TensorSites tensor_sites;
  BlockEdges edges;
  LaunchTrace trace;
  PrintLog printed;
  void forget() {
    hazards.clear();
    sites.clear();
    fp64_blocks.clear();
    tensor_sites.clear();
    edges.clear();
    trace.clear();
    printed.clear();
  }
  Undo undo;
  std::atomic<std::uint64_t> heartbeat{0};
  pthread_t os_thread{};

 private:
  void run_clusters();
  void begin_block(std::uint64_t index);
  std::uintptr_t first_shared() const;
  void run_block();
  // True if the warp needs another turn: a lane is still ready.
  bool run_warp(Warp& warp);
  void resume(Warp& warp, Lane& lane);
  void complete_warp_ops(Warp& warp);
  void finish_exchange(Warp& warp, unsigned members, unsigned mask);
  void finish_mma(Warp& warp);
  void finish_load(Warp& warp);
  void order_lanes(Warp& warp, unsigned members);
  bool complete_active_mask(Warp& warp);
  void report_deadlock(Warp& warp);
  void release_barrier(unsigned warps);
  // Lets those lanes go on that wait for a phase of the cluster's barrier that is complete. False if
  // there are none.
  bool release_cluster(bool all_stopped);
  // The same of barriers in shared memory.
  bool release_mbarriers();
  bool pass_mbarriers(Warp& warp, bool timed_out);
  bool all_at_cluster() const;  // and did nothing since they arrived
  void end_interval(bool block_ends);
  void report_stuck_cluster();
  void report_stuck_mbarriers();
  // True if every worker's block has long done nothing but read the same few words over and over.
  bool counting_spins(unsigned warps);
  bool only_waits(unsigned warps) const;
  void report_endless(unsigned warps, bool all_wait);
  void kill_all(unsigned warps, int cuda_error);
  void end_lane(Lane& lane, bool abandoned);
  void progress() {
    events_without_progress_ = 0;
    if (cluster) cluster->note_progress();
    next_look_ = settings().step_limit / kSpinsOfLimit;
    if (spins_) --grid->spinning;
    spins_ = false;
  }
  void tell_streams(const Event* first, const Event* last);
  void note_written(const Event* first, const Event* last);
  void note_unordered(streams::Number other, streams::Touch its);

  FiberPool fibers_{&run_lane};
  RaceDetector races_;
  std::unique_ptr<Lane[]> lanes_ = std::make_unique<Lane[]>(kMaxBlockThreads);
  Warp warps_[kMaxBlockThreads / kWarpSize];
  std::vector<WarpTrace> warp_traces_;  // of a launch that is traced
  std::vector<std::unique_ptr<WarpLogs>> all_logs_;
  std::vector<WarpLogs*> free_logs_;
  Cluster alone_{1};
  TouchedCells<ClusterCell> cluster_cells_;
  bool interval_over_ = false;          // at the barrier of the cluster
  std::uint32_t interval_arrives_ = 0;  // the fewest when it began
  ClusterCell* tls_words_ = nullptr;
  ClusterCell* dynamic_words_ = nullptr;
  std::uint64_t events_without_progress_ = 0;
  std::uint64_t next_look_ = 0;  // at what number of them to see whether the block only waits
  bool spins_ = false;           // it does
  bool lane_abandoned_ = false;
  std::optional<streams::Toucher> toucher_;
  std::set<std::uintptr_t> written_;  // Grid::written of this worker
  const Event* touching_ = nullptr;
  // Of the last access that nothing ordered: an array is met many times.
  struct Unordered {
    std::uint32_t pc = 0;
    streams::Number other = 0;
    streams::Touch its{};
    std::uintptr_t begin = 0;
    std::size_t size = 0;
    HazardRecord* record = nullptr;
  } unordered_;
};

thread_local Worker* current_worker __attribute__((tls_model("local-exec"))) = nullptr;

// The body of every fiber.
void run_lane() {
  Worker& worker = *current_worker;
  const Grid& grid = *worker.grid;
  // Each thread owns its copy of the kernel's arguments, as on a GPU.
  auto* storage = static_cast<unsigned char*>(alloca(grid.closure_bytes + 64));
  auto aligned = (reinterpret_cast<std::uintptr_t>(storage) + 63) & ~std::uintptr_t{63};
  void* closure = reinterpret_cast<void*>(aligned);
  std::memcpy(closure, grid.closure, grid.closure_bytes);
  simt_hot.active = grid.checks != 0;
  grid.invoke(closure);
  simt_hot.active = false;
  worker.lane->state = LaneState::finished;
}

// The first of these program counters that is a line of the program, else the last one that the
// running lane has logged.
std::uint32_t line_in_kernel(std::uintptr_t program_counter, std::uintptr_t caller = 0) {
  const ProgramImage& image = ProgramImage::get();
  for (const std::uintptr_t pc : {program_counter, caller - 1}) {
    if (!image.function_symbol(pc).empty() && image.line_of(pc).line != 0) {
      return static_cast<std::uint32_t>(pc - image.load_address());
    }
  }
  const Lane& lane = *current_worker->lane;
  return lane.log != nullptr && simt_hot.log_next != lane.log ? event_pc(simt_hot.log_next[-1].key)
                                                              : 0;
}

constexpr char kDividesByZero[] = "divides an integer by zero";

// Where a lane goes on that has crashed (crashes.hpp).
void land_after_crash() {
  Worker& worker = *current_worker;
  const Crash crash = crash_watch.crash;
  const std::uint32_t pc = line_in_kernel(crash.program_counter, crash.caller);
  const auto note = [&](Hazard hazard, const char* what) { note_hazard(hazard, pc, "", what, ""); };
  int error = 719;
  switch (crash.signal) {
    case SIGFPE:
      note(Hazard::division_by_zero, kDividesByZero);
      break;
    case kEndThread:
      error = 702;
      note(Hazard::endless_kernel,
           "has shown no sign of life for the time that SIMT_WATCHDOG gives");
      break;
    case SIGILL:
    case SIGTRAP:
      note(Hazard::trap, "reaches a trap of the compiler");
      break;
    default:
      if (worker.lane->fiber->low - crash.address <= kStackGuardBytes) {
        note(Hazard::stack_overflow, "has used up its stack of 576 kB");
      } else {
        error = 700;
        note(Hazard::invalid_address,
             crash.address < 4096 ? "follows a null pointer in a function that is not checked"
                                  : "follows a pointer to no memory in a function that is not "
                                    "checked");
      }
  }
  worker.abandon(error);
}

Worker::Worker() {
  Hot& hot = simt_hot;
  const ProgramImage& image = ProgramImage::get();
  hot.tls_begin = reinterpret_cast<std::uintptr_t>(&simt_tls_anchor) - image.tls_anchor_offset();
  hot.tls_bytes = image.tls_size();
  hot.tls_cells = static_cast<RaceCell*>(reserve_addresses(
      (image.tls_size() / 4 + 16) * sizeof(RaceCell), "the shared-memory checks"));
  dynamic_shared =
      reinterpret_cast<std::uintptr_t>(reserve_addresses(
          kDynamicSharedCapacity + 2 * kDynamicSharedMargin, "dynamic shared memory")) +
      kDynamicSharedMargin;
  hot.dynamic_begin = dynamic_shared;
  hot.dynamic_cells = static_cast<RaceCell*>(reserve_addresses(
      (kDynamicSharedCapacity / 4 + 16) * sizeof(RaceCell), "the shared-memory checks"));
  constexpr std::size_t kPage = 4 * GlobalCells::kWordsPerPage;
  races_.others_shared =
      (kArenaBytes + program_regions().device.bytes + 4096 + kPage - 1) / kPage * kPage;
  races_.global.reserve(races_.others_shared +
                        kMostClusterBlocks * shared_window_bytes(image.tls_size()));
  hot.constant = &program_regions().constant;
  hot.races = &races_;
  hot.hazards = &hazards;
  current_worker = this;
  crash_watch.landing = &land_after_crash;
  prepare_for_crashes();
}

void Worker::run(Grid& g, unsigned number) {
  grid = &g;
  cluster_rank = number % g.order.size();
  cluster = g.has_clusters() ? g.teams[number / g.order.size()].get() : &alone_;
  cluster->launch = g.checks & kCheckRaces ? g.races : nullptr;
  if (g.has_clusters() && tls_words_ == nullptr) {
    constexpr const char* kWhat = "the checks of clusters";
    tls_words_ = static_cast<ClusterCell*>(
        reserve_addresses((simt_hot.tls_bytes / 4 + 16) * sizeof(ClusterCell), kWhat));
    dynamic_words_ = static_cast<ClusterCell*>(
        reserve_addresses((kDynamicSharedCapacity / 4 + 16) * sizeof(ClusterCell), kWhat));
  }
  if (g.has_clusters() && cluster_rank == 0) {
    cluster_cells_.reserve(races_.others_shared);
    cluster->global = &cluster_cells_;
  }
  races_.in_cluster = {g.has_clusters() ? cluster : nullptr, cluster_rank, 0, 0};
  Hot& hot = simt_hot;
  hot.checks = g.checks;
  hot.undo = g.may_run_again ? &undo : nullptr;
  hot.cluster = g.has_clusters() ? cluster : nullptr;
  hot.cluster_rank = cluster_rank;
  threads = g.shape.block[0] * g.shape.block[1] * g.shape.block[2];
  ++g.workers;
  races_.begin_launch(g.checks & kCheckRaces ? g.races : nullptr);
  hot.tls_map = g.kernel->shared_map.data();
  hot.dynamic_bytes = g.shape.dynamic_shared_bytes;
  toucher_.reset();
  unordered_ = {};
  if (g.operation != nullptr) {
    toucher_.emplace(*g.operation, [this](streams::Number other, streams::Touch its) {
      note_unordered(other, its);
    });
  }
  gridDim = {g.shape.grid[0], g.shape.grid[1], g.shape.grid[2]};
  blockDim = {g.shape.block[0], g.shape.block[1], g.shape.block[2]};
  if (g.has_clusters()) run_clusters();
  while (!g.has_clusters()) {
    std::uint64_t first = g.next_block.fetch_add(g.blocks_per_claim);
    if (first >= g.blocks || g.stop) break;
    std::uint64_t last = std::min(first + g.blocks_per_claim, g.blocks);
    for (std::uint64_t b = first; b < last && !g.stop; ++b) {
      cluster->begin(b, threads);
      begin_block(g.block(b));
      run_block();
    }
  }
  toucher_.reset();
  progress();
  --g.workers;
  if (g.checks & kCheckRaces) {
    const std::lock_guard lock(g.mutex);
    g.tests.insert(races_.tests().begin(), races_.tests().end());
    g.results.insert(races_.results().begin(), races_.results().end());
  }
  if (!written_.empty()) {
    const std::lock_guard lock(g.mutex);
    g.written.merge(written_);
    written_.clear();
  }
  grid = nullptr;
}

// What the running lane has logged.
void Worker::tell_streams(const Event* first, const Event* last) {
  toucher_->set_waited(lane->has_waited);
  for (const Event* event = first; event != last; ++event) {
    streams::Touch touch;
    switch (event_kind(event->key)) {
      case EventKind::global_load:
      case EventKind::constant_load:
        touch = streams::Touch::reads;
        break;
      case EventKind::global_store:
        touch = streams::Touch::writes;
        break;
      case EventKind::global_atomic:
        touch = streams::Touch::updates;
        break;
      default:
        continue;
    }
    touching_ = event;
    toucher_->touch(event->address, event_bytes(event->key), touch);
  }
}

void Worker::note_written(const Event* first, const Event* last) {
  std::uintptr_t known = 0;
  for (const Event* event = first; event != last; ++event) {
    const EventKind kind = event_kind(event->key);
    if (kind != EventKind::global_store && kind != EventKind::global_atomic) continue;
    const std::uintptr_t page = event->address / device_memory::sparse_bytes();
    if (page != known) written_.insert(page);
    known = page;
  }
}

void Worker::note_unordered(streams::Number other, streams::Touch its) {
  const std::uint32_t pc = event_pc(touching_->key);
  const std::uintptr_t address = touching_->address;
  Unordered& last = unordered_;
  if (last.record == nullptr || last.pc != pc || last.other != other || last.its != its ||
      address - last.begin >= last.size) {
    const std::string array = array_name(address);
    const streams::Party party = streams::party(other);
    const EventKind kind = event_kind(touching_->key);
    const std::string what = std::string(kind == EventKind::global_store    ? "writes "
                                         : kind == EventKind::global_atomic ? "updates "
                                                                            : "reads ") +
                             array + ", and nothing orders that after " + party.name + " on " +
                             party.stream + ", which " + streams::verb(its) + " it";
    const std::uint32_t other_pc =
        party.program_counter == 0 ? 0
                                   : static_cast<std::uint32_t>(party.program_counter -
                                                                ProgramImage::get().load_address());
    last = {pc, other, its, address, 1, nullptr};
    if (const auto block = device_memory::nearest(reinterpret_cast<const void*>(address));
        block && address - block->begin < block->size) {
      last.begin = block->begin;
      last.size = block->size;
    }
    const Hazard hazard = grid->operation->is_on_its_stream(other) ? Hazard::unordered_launches
                                                                   : Hazard::unordered_streams;
    last.record = &hazards[{hazard, pc, other_pc, array, what}];
  }
  last.record->add(block_index, lane->index, UINT32_MAX, "");
}

// The workers of a team all come here, and go on when it is their turn.
void Worker::run_clusters() {
  const unsigned next = (cluster_rank + 1) % cluster->size();
  for (;;) {
    cluster->wait_for_turn(cluster_rank);
    if (cluster_rank == 0) {
      const std::uint64_t number = grid->next_block.fetch_add(1);
      if (number < grid->clusters() && !grid->stop) {
        cluster->begin(grid->cluster(number), threads);
      } else {
        cluster->end();
      }
    }
    if (cluster->number() == Cluster::kNone) {
      cluster->give_turn(next);
      return;
    }
    // All have their shared memory before anybody's threads run.
    begin_block(grid->order.block(cluster->number(), cluster_rank));
    cluster->give_turn(next);
    cluster->wait_for_turn(cluster_rank);
    run_block();
    cluster->end_block(cluster_rank, grid->stop);
  }
}

void Worker::begin_block(std::uint64_t index) {
  Hot& hot = simt_hot;
  const LaunchShape& shape = grid->shape;
  block_index = index;
  ++hot.block_number;
  blockIdx = {static_cast<unsigned>(index % shape.grid[0]),
              static_cast<unsigned>(index / shape.grid[0] % shape.grid[1]),
              static_cast<unsigned>(index / shape.grid[0] / shape.grid[1])};
  // Shared memory starts as garbage: NaNs, so that a value read too early is seen in the result.
  for (const auto& [offset, size] : grid->kernel->own_arrays) {
    std::memset(reinterpret_cast<void*>(hot.tls_begin + offset), 0xff, size);
  }
  std::memset(reinterpret_cast<void*>(dynamic_shared), 0xff, shape.dynamic_shared_bytes);

  const unsigned warps = (threads + kWarpSize - 1) / kWarpSize;
  for (unsigned t = 0; t < threads; ++t) {
    Lane& l = lanes_[t];
    l.state = LaneState::ready;
    l.returned = false;
    l.fiber = nullptr;
    l.log = l.log_end = l.log_read = nullptr;
    l.index = t;
    l.pipeline.copies.clear();
    l.pipeline.batch = 0;
    l.last_block = 0;
    l.arrives = l.waits = l.others_waits = 0;
    l.has_waited = false;
    l.position[0] = t % shape.block[0];
    l.position[1] = t / shape.block[0] % shape.block[1];
    l.position[2] = t / shape.block[0] / shape.block[1];
  }
  for (unsigned w = 0; w < warps; ++w) {
    warps_[w].lanes = &lanes_[w * kWarpSize];
    warps_[w].lane_count = std::min(kWarpSize, threads - w * kWarpSize);
    if (warps_[w].synchronised) {
      for (unsigned i = 0; i < kWarpSize; ++i) {
        lanes_[w * kWarpSize + i].epoch = 1;
        lanes_[w * kWarpSize + i].clock = {};
        lanes_[w * kWarpSize + i].fenced = lanes_[w * kWarpSize + i].fenced_for_all = 0;
        lanes_[w * kWarpSize + i].handed_on = false;
      }
    }
    warps_[w].synchronised = false;
    warps_[w].logs = nullptr;
    warps_[w].stopped = false;
    warps_[w].trace = nullptr;
  }
  if (grid->traced) {
    warp_traces_.resize(std::size(warps_));
    for (unsigned w = 0; w < warps; ++w) {
      warp_traces_[w].clear();
      warps_[w].trace = &warp_traces_[w];
    }
  }
  races_.begin_block(grid->order.position(index));
  interval_over_ = false;
  interval_arrives_ = 0;
  cluster->windows[cluster_rank] = {
      hot.tls_begin,     hot.tls_cells,  tls_words_,       hot.dynamic_begin,
      hot.dynamic_cells, dynamic_words_, hot.block_number, index};
}

// Where the kernel's own shared arrays begin; they are static or dynamic, or both.
std::uintptr_t Worker::first_shared() const {
  std::size_t first = SIZE_MAX;
  for (const auto& [offset, size] : grid->kernel->own_arrays) first = std::min(first, offset);
  return first == SIZE_MAX ? 0 : simt_hot.tls_begin + first;
}

void Worker::run_block() {
  const unsigned warps = (threads + kWarpSize - 1) / kWarpSize;
  progress();

  for (;;) {
    bool all_stopped = true;
    for (unsigned w = 0; w < warps; ++w) {
      if (!warps_[w].stopped) warps_[w].stopped = !run_warp(warps_[w]);
      all_stopped &= warps_[w].stopped;
    }
    if (grid->stop) {
      if (cluster->is_stuck()) report_stuck_mbarriers();
      kill_all(warps, 0);
      all_stopped = true;
    }
    if (!all_stopped) {
      const bool all_wait = counting_spins(warps);
      if (all_wait || events_without_progress_ > settings().step_limit) {
        report_endless(warps, all_wait);
        grid->stop = true;
        kill_all(warps, 702);
      } else {
        release_cluster(false);
        release_mbarriers();
        const std::uint64_t steps = cluster->steps();
        cluster->yield(cluster_rank, false);
        if (cluster->steps() != steps) events_without_progress_ = 0;  // another block got on
        continue;
      }
    }
    bool waiting = false, in_cluster = false, in_memory = false;
    for (unsigned t = 0; t < threads; ++t) {
      waiting |= lanes_[t].state == LaneState::at_barrier;
      in_cluster |= lanes_[t].state == LaneState::at_cluster;
      in_memory |= lanes_[t].state == LaneState::at_mbarrier;
    }
    if (in_cluster || in_memory) {
      // Here, and not when they go on: what they did is known before others do what comes after it.
      if (!interval_over_ && all_at_cluster()) {
        end_interval(false);
        interval_over_ = true;
      }
      // A barrier of the block waits for these too.
      if (release_cluster(true) || release_mbarriers() ||
          cluster->yield(cluster_rank, true, in_memory)) {
        continue;
      }
      report_stuck_cluster();
      report_stuck_mbarriers();
      grid->stop = true;
      kill_all(warps, 702);
      waiting = false;
    }
    end_interval(!waiting);
    if (!waiting) {
      std::uint32_t waits = 0;
      bool has_waited = false;
      for (unsigned t = 0; t < threads; ++t) {
        waits = std::max(waits, lanes_[t].waits);
        has_waited |= lanes_[t].has_waited;
      }
      if (!has_waited) grid->hurries = true;
      const bool whole = grid->error == Grid::kNoError && (grid->checks & kCheckBarriers);
      if (whole && grid->has_clusters()) cluster->leave(cluster_rank, waits, hazards);
      if (grid->traced) {
        trace.take(block_index, warp_traces_.data(), warps, grid->middle, first_shared());
      }
      return;
    }
    release_barrier(warps);
  }
}

bool Worker::run_warp(Warp& w) {
  const bool counting = grid->checks != 0;
  if (counting && !w.logs) {
    if (free_logs_.empty()) {
      all_logs_.push_back(std::make_unique<WarpLogs>());
      free_logs_.push_back(all_logs_.back().get());
    }
    w.logs = free_logs_.back();
    free_logs_.pop_back();
    for (unsigned i = 0; i < w.lane_count; ++i) {
      w.lanes[i].log = w.lanes[i].log_end = w.lanes[i].log_read = w.logs->lane(i);
    }
  }
  bool ready = true;
  for (int round = 0; ready && round < kRoundsPerTurn && !grid->stop; ++round) {
    const bool stuck = events_without_progress_ > kStuckEvents;
    bool resumed = false;
    for (unsigned i = 0; i < w.lane_count; ++i) {
      Lane& l = w.lanes[i];
      if (l.state != LaneState::ready) continue;
      if (counting) {
        // Make room: move what the replay has left to the front.
        std::size_t left = static_cast<std::size_t>(l.log_end - l.log_read);
        if (left > kLogEvents / 2) continue;
        if (left) std::memmove(l.log, l.log_read, left * sizeof(Event));
        l.log_read = l.log;
        l.log_end = l.log + left;
      }
      resume(w, l);
      resumed = true;
    }
    complete_warp_ops(w);
    if (!cluster->mbarriers.empty()) pass_mbarriers(w, false);
    ready = false;
    bool log_full = false;
    for (unsigned i = 0; i < w.lane_count; ++i) {
      ready |= w.lanes[i].state == LaneState::ready;
      log_full |= w.lanes[i].log_end - w.lanes[i].log_read > static_cast<long>(kLogEvents / 2);
    }
    if (!ready) ready = complete_active_mask(w);
    if (!ready) {
      bool in_op = false;
      for (unsigned i = 0; i < w.lane_count; ++i)
        in_op |= w.lanes[i].state == LaneState::in_warp_op;
      if (in_op) {
        report_deadlock(w);
        ready = false;
      }
    }
    if (counting && (!ready || log_full)) replay(w, sites, edges, !ready || stuck || !resumed);
  }
  if (!ready && w.logs) {
    free_logs_.push_back(w.logs);
    w.logs = nullptr;
  }
  return ready;
}

void Worker::resume(Warp& w, Lane& l) {
  Hot& hot = simt_hot;
  if (!l.fiber) l.fiber = fibers_.acquire();
  lane = &l;
  warp = &w;
  lane_abandoned_ = false;
  threadIdx = {l.position[0], l.position[1], l.position[2]};
  hot.stack_low = l.fiber->low;
  hot.stack_high = l.fiber->high;
  hot.log_next = l.log_end;
  hot.log_limit = l.log ? l.log + kLogEvents : nullptr;
  hot.access_id = make_access_id(l.index, l.epoch, 0);
  races_.clock = &l.clock;
  hot.cluster_arrives = l.arrives;
  hot.cluster_waits = std::max(l.waits, l.others_waits);
  hot.active = grid->checks != 0;
  crash_watch.stack_low = l.fiber->low;
  crash_watch.stack_top = l.fiber->high;
  fibers_.resume(l.fiber);
  crash_watch.stack_top = 0;
  hot.active = false;
  events_without_progress_ += static_cast<std::uint64_t>(hot.log_next - l.log_end) + 1;
  if (toucher_) tell_streams(l.log_end, hot.log_next);
  if (grid->only) note_written(l.log_end, hot.log_next);
  l.log_end = hot.log_next;
  // Only this thread writes it, so it needs no locked addition.
  heartbeat.store(heartbeat.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  races_.settle_writes();
  settle_load();
  if (l.state == LaneState::finished) {
    l.returned = !lane_abandoned_;
    end_lane(l, lane_abandoned_);
  }
  if (l.state == LaneState::finished || l.state == LaneState::at_barrier) progress();
}

void Worker::settle_load() {
  if (!load_to_come.word) return;
  const auto [word, id, releases] = load_to_come;
  load_to_come.word = 0;
  LaunchRaces& launch = *grid->races;
  if (launch.releases() == releases) return;
  // What the lane did since has its epoch: it is to come after the load.
  launch.acquire(word, static_cast<std::uint32_t>(races_.position()), races_.interval_of_block,
                 id - make_access_id(0, 1, 0));
}

void Worker::end_lane(Lane& l, bool abandoned) {
  l.state = LaneState::finished;
  l.arrive_epoch = l.epoch;
  cluster->end_thread(cluster_rank, l.index, l.arrives, l.returned,
                      grid->checks & kCheckBarriers ? &hazards : nullptr);
  if (!l.fiber) return;
  if (abandoned) {
    fibers_.discard(l.fiber);
  } else {
    fibers_.release(l.fiber);
  }
  l.fiber = nullptr;
}

void Worker::stop_lane(LaneState state, std::uint32_t pc) {
  lane->state = state;
  lane->stop_pc = pc;
  simt_hot.active = false;
  fibers_.suspend();
}

void Worker::abandon(int cuda_error) {
  grid->note_error(block_index, cuda_error);
  lane_abandoned_ = true;
  lane->state = LaneState::finished;
  simt_hot.active = false;
  fibers_.suspend();
  __builtin_unreachable();
}

// ---- Warp operations: shuffles, votes, __syncwarp ----

void Worker::complete_warp_ops(Warp& w) {
  unsigned exists = w.lane_count == kWarpSize ? ~0u : (1u << w.lane_count) - 1;
  unsigned alive = 0;
  for (unsigned i = 0; i < w.lane_count; ++i) {
    if (w.lanes[i].state != LaneState::finished) alive |= 1u << i;
  }
  for (unsigned i = 0; i < w.lane_count; ++i) {
    const Lane& first = w.lanes[i];
    if (first.state != LaneState::in_warp_op || first.op == WarpOp::active) continue;
    // Threads that have ended are not waited for (CUDA C++ Programming Guide, warp functions).
    unsigned members = first.mask & alive & exists;
    if (!(members >> i & 1)) continue;  // its own bit is missing: reported as a deadlock
    bool complete = !wants_whole_warp(first.op) || members == ~0u;  // which wants those as well
    for (unsigned j = 0; j < w.lane_count && complete; ++j) {
      if (members >> j & 1) complete = same_operation(first, w.lanes[j]);
    }
    if (!complete) continue;
    unsigned ballot = 0;
    for (unsigned j = 0; j < w.lane_count; ++j) {
      if ((members >> j & 1) && w.lanes[j].predicate) ballot |= 1u << j;
    }
    switch (first.op) {
      case WarpOp::sync:
        order_lanes(w, members);
        break;
      case WarpOp::active:
        break;
      case WarpOp::ballot:
        for (unsigned j = 0; j < w.lane_count; ++j) {
          if (members >> j & 1) w.lanes[j].result = ballot;
        }
        break;
      case WarpOp::match:
        for (unsigned j = 0; j < w.lane_count; ++j) {
          if (!(members >> j & 1)) continue;
          unsigned same = 0;
          for (unsigned k = 0; k < w.lane_count; ++k) {
            if ((members >> k & 1) && w.lanes[k].bits == w.lanes[j].bits) same |= 1u << k;
          }
          w.lanes[j].result = same;
        }
        break;
      case WarpOp::exchange:
        finish_exchange(w, members, first.mask);
        break;
      case WarpOp::aligned:
        break;
      case WarpOp::mma:
        finish_mma(w);
        break;
      case WarpOp::load_matrices:
        finish_load(w);
        break;
    }
    for (unsigned j = 0; j < w.lane_count; ++j) {
      if (members >> j & 1) w.lanes[j].state = LaneState::ready;
    }
    progress();
  }
}

// What one of them did before comes before what any of them does now.
void Worker::order_lanes(Warp& w, unsigned members) {
  LaneClock joined;
  for (unsigned j = 0; j < w.lane_count; ++j) {
    if (!(members >> j & 1)) continue;
    const Lane& l = w.lanes[j];
    for (unsigned k = 0; k < kWarpSize; ++k) {
      joined.warp[k] = std::max(joined.warp[k], l.clock.warp[k]);
    }
    joined.warp[j] = l.epoch;
    if (l.clock.block.empty()) continue;
    joined.block.resize(l.clock.block.size());
    for (std::size_t t = 0; t < joined.block.size(); ++t) {
      joined.block[t] = std::max(joined.block[t], l.clock.block[t]);
    }
  }
  for (unsigned j = 0; j < w.lane_count; ++j) {
    if (!(members >> j & 1)) continue;
    w.lanes[j].clock = joined;
    ++w.lanes[j].epoch;
  }
  w.synchronised = true;
}

// __activemask: when no lane of the warp can run on, those that wait at one call of it are together.
// The call that comes first in the code goes first. False if none waits.
bool Worker::complete_active_mask(Warp& w) {
  const Lane* first = nullptr;
  for (unsigned i = 0; i < w.lane_count; ++i) {
    const Lane& l = w.lanes[i];
    if (l.state != LaneState::in_warp_op || l.op != WarpOp::active) continue;
    if (!first || l.stop_pc < first->stop_pc) first = &l;
  }
  if (!first) return false;
  unsigned mask = 0;
  const std::uint32_t pc = first->stop_pc;
  for (unsigned i = 0; i < w.lane_count; ++i) {
    const Lane& l = w.lanes[i];
    if (l.state == LaneState::in_warp_op && l.op == WarpOp::active && l.stop_pc == pc) {
      mask |= 1u << i;
    }
  }
  for (unsigned i = 0; i < w.lane_count; ++i) {
    if (!(mask >> i & 1)) continue;
    w.lanes[i].result = mask;
    w.lanes[i].state = LaneState::ready;
  }
  progress();
  return true;
}

// Source lanes as the PTX instruction shfl.sync defines them.
void Worker::finish_exchange(Warp& w, unsigned members, unsigned mask) {
  for (unsigned j = 0; j < w.lane_count; ++j) {
    if (!(members >> j & 1)) continue;
    Lane& l = w.lanes[j];
    const int width = l.width;
    const int in_segment = static_cast<int>(j) % width;
    const int segment = static_cast<int>(j) - in_segment;
    int source = static_cast<int>(j);
    switch (l.exchange) {
      case Exchange::index:
        source = segment + static_cast<int>(l.operand % static_cast<unsigned>(width));
        break;
      case Exchange::up:
        if (in_segment >= static_cast<int>(l.operand)) source = static_cast<int>(j - l.operand);
        break;
      case Exchange::down:
        if (l.operand < static_cast<unsigned>(width - in_segment)) {
          source = static_cast<int>(j + l.operand);
        }
        break;
      case Exchange::butterfly: {
        // An earlier segment may be read, a later one not.
        const int other = static_cast<int>(j ^ l.operand);
        if (other < segment + width) source = other;
        break;
      }
    }
    if (members >> source & 1) {
      l.result = w.lanes[source].bits;
      continue;
    }
    // The source takes no part: the value is undefined. Reading a lane that the mask names but that
    // has ended is nearly always a mistake.
    l.result = l.bits;
    if ((mask >> source & 1) && (grid->checks & kCheckBarriers)) {
      HazardKey key{Hazard::undefined_shuffle, l.stop_pc, 0, "",
                    "reads another lane's value in a shuffle after that lane has ended"};
      hazards[key].add(block_index, l.index, UINT32_MAX, "(lane " + std::to_string(source) + ")");
    }
  }
}

namespace {

// What all lanes of a warp offer.
template <typename T>
std::array<T*, kWarpSize> offers(const Warp& w) {
  std::array<T*, kWarpSize> all;
  for (unsigned j = 0; j < kWarpSize; ++j) all[j] = reinterpret_cast<T*>(w.lanes[j].bits);
  return all;
}

}  // namespace

void Worker::finish_load(Warp& w) {
  deal_matrices(w.lanes[0].operand, offers<LoadedMatrices>(w).data());
}

void Worker::finish_mma(Warp& w) {
  multiply_tf32(w.lanes[0].operand, offers<MmaRegisters>(w).data());
  if (grid->checks & kCheckCounters) ++tensor_sites[w.lanes[0].stop_pc];
}

void Worker::report_deadlock(Warp& w) {
  unsigned waiting = 0;
  const Lane* first = nullptr;
  for (unsigned i = 0; i < w.lane_count; ++i) {
    if (w.lanes[i].state != LaneState::in_warp_op) continue;
    waiting |= 1u << i;
    if (!first) first = &w.lanes[i];
  }
  const unsigned own = first->index % kWarpSize;
  std::string what, detail;
  std::uint32_t other_pc = 0;
  Remedy remedy = Remedy::none;
  bool told = true;
  if (wants_whole_warp(first->op)) {
    what = first->op == WarpOp::mma
               ? "waits in a tensor-core instruction for lanes of its warp that never come"
               : "waits in a load or store of a matrix for lanes of its warp that never come";
    remedy = Remedy::whole_warp;
    for (unsigned i = 0; i < kWarpSize && detail.empty(); ++i) {
      const std::string its = "(lane " + std::to_string(i);
      if (i >= w.lane_count) {
        detail = its + " is not there: the block has " + std::to_string(threads) + " threads)";
      } else if (w.lanes[i].state == LaneState::finished) {
        detail = its + " has ended)";
        told = w.lanes[i].returned;  // else it has been stopped, and its own finding says why
      } else if (!same_operation(*first, w.lanes[i])) {
        detail = its + " waits elsewhere)";
        other_pc = w.lanes[i].stop_pc;
      }
    }
  } else if (!(first->mask >> own & 1)) {
    what = "waits in a warp operation whose mask does not name its own lane";
  } else {
    what = "waits in a warp operation for lanes that never come";
    for (unsigned i = 0; i < w.lane_count; ++i) {
      const Lane& l = w.lanes[i];
      if (!(first->mask >> i & 1) || l.state == LaneState::finished) continue;
      if (same_operation(*first, l)) continue;
      detail = "(lane " + std::to_string(i) + " waits elsewhere)";
      other_pc = l.stop_pc;
      break;
    }
  }
  HazardKey key{Hazard::warp_deadlock, first->stop_pc, other_pc, "", what};
  if (told) {
    HazardRecord& record = hazards[key];
    record.add(block_index, first->index, UINT32_MAX, detail);
    record.prescribe(remedy);
    grid->note_error(block_index, 702);
  }
  for (unsigned i = 0; i < w.lane_count; ++i) {
    if (waiting >> i & 1) end_lane(w.lanes[i], true);
  }
}

// ---- Block barriers ----

namespace {

// As std::source_location lays it out.
struct BarrierPlace {
  const char* file;
  const char* function;
  unsigned line, column;
};

bool same_place(const void* a, const void* b) {
  if (a == b) return true;
  const auto& p = *static_cast<const BarrierPlace*>(a);
  const auto& q = *static_cast<const BarrierPlace*>(b);
  return p.line == q.line && p.column == q.column && std::strcmp(p.file, q.file) == 0;
}

}  // namespace

void Worker::release_barrier(unsigned warps) {
  const Lane* first = nullptr;
  const Lane* different = nullptr;
  const Lane* gone = nullptr;
  int predicates = 0;
  for (unsigned w = 0; w < warps; ++w) {
    for (unsigned i = 0; i < warps_[w].lane_count; ++i) {
      const Lane& l = warps_[w].lanes[i];
      if (l.returned && !gone) gone = &l;
      if (l.state != LaneState::at_barrier) continue;
      if (!first) first = &l;
      if (!different && (l.stop_pc != first->stop_pc || l.place != first->place)) different = &l;
      predicates += l.predicate;
    }
  }
  if (grid->checks) sites.at(first->stop_pc).barriers += 1;
  std::uint32_t waits = 0;
  bool has_waited = false;
  interval_arrives_ = UINT32_MAX;
  for (unsigned t = 0; t < threads; ++t) {
    waits = std::max(waits, lanes_[t].waits);
    has_waited |= lanes_[t].has_waited;
  }
  if (gone && (grid->checks & kCheckBarriers)) {
    HazardKey key{
        Hazard::missed_barrier, first->stop_pc, 0, "",
        "waits at this __syncthreads(), which another thread cannot reach any more, since "
        "it has ended:"};
    hazards[key].add(block_index, first->index, gone->index, "");
  }
  if (different && (grid->checks & kCheckBarriers)) {
    // The compiler may have copied one __syncthreads() to several places, and a function that waits
    // may have been called from several lines.
    const ProgramImage& image = ProgramImage::get();
    SourceLine a = image.line_of(image.load_address() + first->stop_pc);
    SourceLine b = image.line_of(image.load_address() + different->stop_pc);
    if (a.line != b.line || a.file != b.file || !same_place(first->place, different->place)) {
      HazardKey key{Hazard::divergent_barrier, first->stop_pc, different->stop_pc, "",
                    "waits at this __syncthreads() while another waits at a different one:"};
      hazards[key].add(block_index, first->index, different->index, "");
    }
  }
  for (unsigned w = 0; w < warps; ++w) {
    bool live = false;
    for (unsigned i = 0; i < warps_[w].lane_count; ++i) {
      Lane& l = warps_[w].lanes[i];
      if (l.state != LaneState::at_barrier) continue;
      l.state = LaneState::ready;
      l.result = static_cast<std::uint64_t>(predicates);
      l.others_waits = waits;
      l.has_waited = has_waited;
      interval_arrives_ = std::min(interval_arrives_, l.arrives);
      live = true;
    }
    if (live) warps_[w].stopped = false;
  }
}

// ---- The cluster's barrier ----

void Worker::arrive_at_cluster(std::uint32_t pc, const void* place, bool waits_too, bool releases) {
  Lane& l = *lane;
  if (l.arrives != l.waits) {
    note_hazard(Hazard::divergent_barrier, pc, "",
                "arrives at the barrier of the cluster a second time, without a wait in between",
                "");
    abandon(719);
  }
  ++l.arrives;
  l.arrive_pc = pc;
  l.arrive_place = place;
  if (releases) {
    l.arrive_epoch = l.epoch;
  } else {
    cluster->note_relaxed(cluster_rank, l.index, l.arrives - 1);
  }
  l.arrives_to_wait = waits_too;
  simt_hot.cluster_arrives = l.arrives;
  cluster->arrive(cluster_rank, l.index, pc, grid->checks & kCheckBarriers ? &hazards : nullptr);
  if (!waits_too) next_epoch();
}

void Worker::wait_for_cluster(std::uint32_t pc, const void* place) {
  Lane& l = *lane;
  if (l.arrives == l.waits) {
    note_hazard(Hazard::divergent_barrier, pc, "",
                "waits at the barrier of the cluster without having arrived", "");
    abandon(719);
  }
  l.place = place;
  stop_lane(LaneState::at_cluster, pc);
}

bool Worker::all_at_cluster() const {
  for (unsigned t = 0; t < threads; ++t) {
    const Lane& l = lanes_[t];
    if (l.state == LaneState::finished) continue;
    if (l.state != LaneState::at_cluster || !l.arrives_to_wait) return false;
  }
  return true;
}

void Worker::end_interval(bool block_ends) {
  races_.in_cluster.arrives = interval_arrives_;
  races_.in_cluster.waits = 0;
  for (unsigned t = 0; t < threads; ++t) {
    races_.in_cluster.waits =
        std::max({races_.in_cluster.waits, lanes_[t].waits, lanes_[t].others_waits});
  }
  races_.end_interval(hazards, block_index, block_ends, &array_name);
}

bool Worker::release_cluster(bool all_stopped) {
  const std::uint32_t phase = cluster->phase();
  const Lane* first = nullptr;
  const bool together = all_stopped && all_at_cluster();  // as after __syncthreads
  std::uint32_t waits = 0;
  bool has_waited = false;
  for (unsigned t = 0; t < threads; ++t) {
    const Lane& l = lanes_[t];
    waits = std::max(waits, l.waits);
    has_waited |= l.has_waited;
    if (first == nullptr && l.state == LaneState::at_cluster && l.waits < phase) first = &l;
  }
  if (first == nullptr) return false;
  // Counted once for the block, by the first of its threads that go on.
  if (grid->checks && waits < phase) sites.at(first->stop_pc).barriers += 1;
  if (!together) {
    for (unsigned t = 0; t < threads; ++t) {
      Lane& l = lanes_[t];
      if (l.state != LaneState::at_cluster || l.waits >= phase) continue;
      l.clock.block.resize(threads);
      for (unsigned other = 0; other < threads; ++other) {
        const Lane& o = lanes_[other];
        if (o.arrives <= l.waits && o.state != LaneState::finished) continue;
        std::uint32_t& known = other / kWarpSize == t / kWarpSize ? l.clock.warp[other % kWarpSize]
                                                                  : l.clock.block[other];
        known = std::max(known, o.arrive_epoch);
      }
      ++l.epoch;
      warps_[t / kWarpSize].synchronised = true;
    }
  }
  for (unsigned t = 0; t < threads; ++t) {
    Lane& l = lanes_[t];
    if (l.state != LaneState::at_cluster || l.waits >= phase) continue;
    ++l.waits;
    l.has_waited = has_waited;
    l.state = LaneState::ready;
    warps_[t / kWarpSize].stopped = false;
    if (together) interval_arrives_ = l.arrives;
  }
  interval_over_ = false;
  progress();
  return true;
}

// The barrier waits for a thread that waits elsewhere.
void Worker::report_stuck_cluster() {
  const Lane *at_barrier = nullptr, *in_cluster = nullptr;
  for (unsigned t = 0; t < threads; ++t) {
    const Lane& l = lanes_[t];
    if (l.state == LaneState::at_barrier && at_barrier == nullptr) at_barrier = &l;
    if (l.state == LaneState::at_cluster && in_cluster == nullptr) in_cluster = &l;
  }
  if (at_barrier == nullptr || in_cluster == nullptr || !(grid->checks & kCheckBarriers)) return;
  HazardKey key{Hazard::divergent_barrier, at_barrier->stop_pc, in_cluster->stop_pc, "",
                "waits at this __syncthreads() while another waits at a barrier of the cluster:"};
  hazards[key].add(block_index, at_barrier->index, in_cluster->index, "");
}

// ---- Barriers in shared memory ----

// At once where a lane of the warp itself has completed it: the warp goes on as one.
bool Worker::pass_mbarriers(Warp& w, bool timed_out) {
  bool passed = false;
  for (unsigned i = 0; i < w.lane_count; ++i) {
    Lane& l = w.lanes[i];
    if (l.state != LaneState::at_mbarrier) continue;
    const bool is_complete = l.mbarrier->is_complete(l.parity);
    if (!is_complete && !timed_out) continue;
    l.state = LaneState::ready;
    w.stopped = false;
    passed = true;
    if (is_complete) progress();
  }
  return passed;
}

bool Worker::release_mbarriers() {
  if (cluster->mbarriers.empty()) return false;
  const bool timed_out = cluster->take_time_out(cluster_rank);
  bool released = false;
  for (unsigned w = 0; w * kWarpSize < threads; ++w) {
    released |= pass_mbarriers(warps_[w], timed_out);
  }
  return released;
}

// Of each that somebody waits for in vain.
void Worker::report_stuck_mbarriers() {
  if (!(grid->checks & kCheckBarriers)) return;
  for (unsigned t = 0; t < threads; ++t) {
    const Lane& l = lanes_[t];
    if (l.state != LaneState::at_mbarrier) continue;
    const Mbarrier& its = *l.mbarrier;
    HazardKey key{Hazard::endless_kernel, l.stop_pc, 0, "",
                  "waits for a barrier in shared memory that nobody completes any more:"};
    std::string lacks;
    if (its.pending != 0) {
      lacks = std::to_string(its.pending) + " of " + std::to_string(its.count) + " arrivals";
    }
    if (its.bytes > 0) {
      lacks +=
          (lacks.empty() ? "" : " and ") + std::to_string(its.bytes) + " of the expected bytes";
    }
    if (!lacks.empty()) lacks = "it lacks " + lacks;
    if (its.bytes < 0) {
      lacks += (lacks.empty() ? "" : ", and ") + std::to_string(-its.bytes) +
               " bytes have come that nobody expects";
    }
    HazardRecord one;
    one.block = block_index;
    one.thread = l.index;
    one.detail = lacks;
    one.count = 1;
    one.prescribe(Remedy::arrival);
    hazards[key].add(one);
  }
}

// ---- Kernels that do not end ----

bool Worker::only_waits(unsigned warps) const {
  constexpr int kFewWords = 4;
  for (unsigned w = 0; w < warps; ++w) {
    for (unsigned i = 0; i < warps_[w].lane_count; ++i) {
      const Lane& l = warps_[w].lanes[i];
      if (l.state != LaneState::ready) continue;
      if (!warps_[w].logs || l.log_end - l.log < 64) return false;
      std::uint64_t words[kFewWords];
      int count = 0;
      for (const Event* e = l.log; e != l.log_end; ++e) {
        const EventKind kind = event_kind(e->key);
        if (kind == EventKind::basic_block) continue;
        if (kind == EventKind::global_store || kind == EventKind::shared_store) return false;
        if (std::find(words, words + count, e->address) != words + count) continue;
        if (count == kFewWords) return false;
        words[count++] = e->address;
      }
      if (count == 0) return false;  // it computes
    }
  }
  return true;
}

bool Worker::counting_spins(unsigned warps) {
  if (grid->has_clusters() || events_without_progress_ < next_look_) return false;
  next_look_ = events_without_progress_ + settings().step_limit / kSpinsOfLimit / 4 + 1;
  const bool spins = only_waits(warps);
  if (spins != spins_) grid->spinning += spins ? 1 : -1;
  spins_ = spins;
  return spins && grid->spinning == grid->workers;
}

void Worker::report_endless(unsigned warps, bool all_wait) {
  // A second run would take as long.
  if (!all_wait && !only_waits(warps)) grid->may_run_again = false;
  const std::uint64_t started = std::min(grid->next_block.load(), grid->blocks);
  for (unsigned w = 0; w < warps; ++w) {
    for (unsigned i = 0; i < warps_[w].lane_count; ++i) {
      const Lane& l = warps_[w].lanes[i];
      if (l.state != LaneState::ready) continue;
      std::uint32_t pc = 0;
      if (warps_[w].logs && l.log_end != l.log) {
        const Event* last = l.log_end - 1;
        while (all_wait && event_kind(last->key) == EventKind::basic_block) --last;
        pc = event_pc(last->key);
      }
      HazardKey key{Hazard::endless_kernel, pc, 0, "",
                    !all_wait
                        ? "is still in a loop after the step limit and no thread of its block "
                          "has made progress"
                    : started < grid->blocks
                        ? "waits in a loop, as all threads do that run, and nobody changes what it "
                          "reads: the blocks that have not started yet cannot, before others end. "
                          "An ordinary launch gives no block the right to wait for a later one: "
                          "make it two launches"
                        : "waits in a loop, as all threads do that are left, and nobody changes "
                          "what it reads"};
      hazards[key].add(block_index, l.index, UINT32_MAX, "");
      return;  // one is enough: all threads of such a loop would say the same
    }
  }
}

void Worker::kill_all(unsigned warps, int cuda_error) {
  if (cuda_error) grid->note_error(block_index, cuda_error);
  for (unsigned w = 0; w < warps; ++w) {
    for (unsigned i = 0; i < warps_[w].lane_count; ++i) {
      if (warps_[w].lanes[i].state != LaneState::finished) end_lane(warps_[w].lanes[i], true);
    }
    if (warps_[w].logs) {
      free_logs_.push_back(warps_[w].logs);
      warps_[w].logs = nullptr;
    }
  }
}

// ---- The workers of the program ----

// What a launch was found to do.
struct Found {
  HazardTable hazards;
  SiteCounters sites;
  Fp64Blocks fp64_blocks;
  TensorSites tensor_sites;
  LaunchTrace trace;
  PrintLog::Lines printed;
};

class WorkerPool {
 public:
  static WorkerPool& get() {
    static WorkerPool& pool = *new WorkerPool;
    return pool;
  }

  // Runs all blocks of the grid on so many OS threads. What they found is kept until it is taken.
  void run(Grid& grid, unsigned wanted) {
    std::unique_lock lock(mutex_);
    while (threads_ < wanted) {
      const unsigned number = threads_++;
      workers_.resize(threads_, nullptr);
      std::thread([this, number] { serve(number); }).detach();
    }
    grid_ = &grid;
    wanted_ = wanted;
    running_ = wanted;
    ++generation_;
    start_.notify_all();
    wait_with_watchdog(lock, wanted);
    grid_ = nullptr;
  }
  void take(Found& found) {
    for (Worker* const worker : workers_) {
      merge(found.hazards, worker->hazards);
      worker->sites.for_each([&](std::uint32_t pc, const Counters& c) { found.sites.at(pc) += c; });
      for (const auto& [pc, times] : worker->fp64_blocks) found.fp64_blocks[pc] += times;
      for (const auto& [pc, times] : worker->tensor_sites) found.tensor_sites[pc] += times;
      note_edges(worker->edges);
      found.trace.merge(std::move(worker->trace));
      worker->printed.move_to(found.printed);
      worker->forget();
      worker->undo.forget();
    }
  }
  // As if the run had not been. Its hazards are added to these.
  void undo(HazardTable& hazards) {
    for (Worker* const worker : workers_) {
      merge(hazards, worker->hazards);
      worker->forget();
      worker->undo.put_back();
    }
  }

 private:
  void serve(unsigned number) {
    Worker worker;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    workers_[number] = &worker;
    worker.os_thread = pthread_self();
    for (;;) {
      start_.wait(lock, [&] { return generation_ != seen && number < wanted_ && grid_; });
      seen = generation_;
      Grid& grid = *grid_;
      lock.unlock();
      worker.run(grid, number);
      lock.lock();
      if (--running_ == 0) done_.notify_all();
    }
  }

  // A loop without memory accesses or branches calls nothing of ours: only the clock can tell.
  void wait_with_watchdog(std::unique_lock<std::mutex>& lock, unsigned wanted) {
    using Clock = std::chrono::steady_clock;
    auto beats = [&] {
      std::uint64_t sum = 0;
      for (unsigned i = 0; i < wanted; ++i) sum += workers_[i] ? workers_[i]->heartbeat.load() : 0;
      return sum;
    };
    std::uint64_t last = beats();
    auto since = Clock::now();
    while (!done_.wait_for(lock, std::chrono::seconds(1), [&] { return running_ == 0; })) {
      if (std::uint64_t now = beats(); now != last) {
        last = now;
        since = Clock::now();
      } else if (std::chrono::duration<double>(Clock::now() - since).count() >
                 settings().watchdog_seconds) {
        if (grid_->stop) {
          std::fprintf(stderr, "simt: kernel %s cannot be ended\n", grid_->kernel->name.c_str());
          std::_Exit(3);
        }
        grid_->stop = true;
        grid_->may_run_again = false;
        since = Clock::now();
        for (unsigned i = 0; i < wanted; ++i) {
          if (workers_[i]) pthread_kill(workers_[i]->os_thread, kEndThread);
        }
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::vector<Worker*> workers_;
  unsigned threads_ = 0, wanted_ = 0, running_ = 0;
  std::uint64_t generation_ = 0;
  Grid* grid_ = nullptr;
};

const Kernel& kernel_at(std::uintptr_t program_counter) {
  static std::map<std::string, Kernel> kernels;
  const ProgramImage& image = ProgramImage::get();
  const std::string symbol = image.function_symbol(program_counter);
  auto [it, is_new] = kernels.try_emplace(symbol);
  Kernel& kernel = it->second;
  if (!is_new) return kernel;
  kernel.name = demangle(symbol.c_str());
  kernel.static_shared = static_shared_bytes(reinterpret_cast<const void*>(program_counter));
  kernel.shared_map.assign(image.tls_size() / 4 + 8, 0);
  for (const SharedArray& array : image.shared_arrays()) {
    if (!image.may_use(symbol, array)) continue;
    for (std::size_t b = array.offset; b < array.offset + array.size; ++b) {
      kernel.shared_map[b >> 2] |= 16 << (b & 3);
    }
    if (image.owns(symbol, array)) kernel.own_arrays.emplace_back(array.offset, array.size);
  }
  return kernel;
}

Lane& wait_in_warp(WarpOp op, unsigned mask, void* return_address) {
  Worker& worker = *current_worker;
  Lane& lane = *worker.lane;
  lane.op = op;
  lane.mask = mask;
  worker.stop_lane(LaneState::in_warp_op, relative_pc(return_address));
  return lane;
}

// Runs the blocks on all threads. Where it matters which block ran first, that run is undone and the
// blocks run again one after another, so that what is found and what is computed is the same on any
// number of threads.
//
// What atomics return, where blocks share nothing else, is not seen to matter. A launch stays as it
// was if it has printed straight to stdout, has taken memory of malloc, or is endless but does not
// merely wait.
void run_blocks(Grid& grid, Found& found) {
  const unsigned together = grid.order.size();
  // Of a cluster's workers one runs at a time. There are not to be threads without end.
  constexpr unsigned kMostWorkers = 256;
  const unsigned teams = together == 1
                             ? settings().threads
                             : std::min<unsigned>(settings().threads, kMostWorkers / together);
  const auto threads = static_cast<unsigned>(std::min<std::uint64_t>(teams, grid.clusters()));
  WorkerPool& pool = WorkerPool::get();
  for (unsigned t = 0; t < threads && grid.has_clusters(); ++t) {
    grid.teams.push_back(std::make_unique<Cluster>(together));
  }
  if (threads > 1 && grid.races) {
    Undo::begin_launch();
    grid.may_run_again = true;
  }
  pool.run(grid, threads * together);
  HazardTable first;
  if (grid.may_run_again && (grid.stop || grid.races->order_matters())) {
    grid.may_run_again = false;
    pool.undo(first);
    grid.races->report(first, &array_name);
    settle_reads_beside_atomics(first, grid.tests, grid.results);
    std::erase_if(first, [](const auto& entry) {
      return entry.first.hazard != Hazard::unordered_streams &&
             entry.first.hazard != Hazard::unordered_launches &&
             !(entry.first.hazard == Hazard::race && entry.second.between_blocks());
    });
    grid.operation = nullptr;
    grid.begin_run();
    grid.races->begin(grid.blocks, grid.order);
    pool.run(grid, together);
  }
  pool.take(found);
  if (grid.races) grid.races->report(found.hazards, &array_name);
  settle_reads_beside_atomics(found.hazards, grid.tests, grid.results);
  // Blocks that take their work from a queue race only if they run at once.
  const bool still_race = std::any_of(found.hazards.begin(), found.hazards.end(), [](auto& entry) {
    return entry.first.hazard != Hazard::absent_block && entry.second.between_blocks();
  });
  for (const auto& [key, record] : first) {
    if (!still_race || key.hazard == Hazard::unordered_streams ||
        key.hazard == Hazard::unordered_launches) {
      found.hazards[key].add(record);
    }
  }
}

// Why the kernel ended itself: a fault of addresses is better said by its finding.
void explain_error(const std::vector<Finding>& findings) {
  for (const Finding& f : findings) {
    if (f.kind != "failed_assert" && f.kind != "trap" && f.kind != "division_by_zero" &&
        f.kind != "stack_overflow") {
      continue;
    }
    const std::string place =
        f.file.substr(f.file.rfind('/') + 1) + ":" + std::to_string(f.line) + ": ";
    set_error_detail((place + f.message.substr(0, f.message.find(". "))).c_str());
    return;
  }
}

}  // namespace

// ---- Services for the callbacks ----

std::uint32_t relative_pc(void* return_address) {
  return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(return_address) - 1 -
                                    ProgramImage::get().load_address());
}

void log_is_full() {
  Worker& worker = *current_worker;
  worker.stop_lane(LaneState::ready, 0);
}

void note_hazard(Hazard hazard, std::uint32_t pc, const std::string& array, const char* what,
                 const std::string& detail) {
  Worker& worker = *current_worker;
  worker.hazards[{hazard, pc, 0, array, what}].add(worker.block_index, worker.lane->index,
                                                   UINT32_MAX, detail);
}

void note_first_run(std::uint32_t pc) {
  if (simt_hot.undo) simt_hot.undo->block_reached(pc);
}

void count_fp64_block(std::uint32_t pc) { ++current_worker->fp64_blocks[pc]; }

void abandon_lane(int cuda_error) { current_worker->abandon(cuda_error); }

bool running_lane_has_fenced() { return current_worker->lane->fenced != 0; }

void hand_on(std::uintptr_t word, bool loads, bool stores) {
  Worker& worker = *current_worker;
  Lane& lane = *worker.lane;
  RaceDetector& races = *simt_hot.races;
  LaunchRaces* const launch = space_of(word) == Space::global ? worker.grid->races : nullptr;
  const auto block = static_cast<std::uint32_t>(races.position());
  if (loads) {
    bool news = races.acquire(word, simt_hot.access_id, lane.clock);
    if (launch) {
      worker.settle_load();
      const std::uint32_t releases = launch->releases();
      if (releases) {
        news |= launch->acquire(word, block, races.interval_of_block, simt_hot.access_id);
      }
      worker.load_to_come = {word, simt_hot.access_id, releases};
    }
    if (news) worker.next_epoch();
  }
  if (!stores || !lane.fenced || (lane.handed_on && lane.handed_to == word)) return;
  races.release(word, simt_hot.access_id, lane.fenced, worker.threads);
  if (launch && lane.fenced_for_all) {
    launch->release(word, block, races.interval_of_block, simt_hot.access_id, lane.fenced_for_all,
                    lane.clock);
  }
  lane.handed_on = true;
  lane.handed_to = word;
  if (lane.fenced == lane.epoch) worker.next_epoch();
}

Lane& running_lane() { return *current_worker->lane; }
CopyPipeline& running_pipeline() { return current_worker->lane->pipeline; }
Cluster& running_cluster() { return *current_worker->cluster; }
unsigned running_rank() { return current_worker->cluster_rank; }
unsigned running_threads() { return current_worker->threads; }
void begin_epoch() { current_worker->next_epoch(); }

void wait_at_mbarrier(const Mbarrier& barrier, unsigned parity, std::uint32_t pc) {
  Lane& lane = *current_worker->lane;
  lane.mbarrier = &barrier;
  lane.parity = parity;
  current_worker->stop_lane(LaneState::at_mbarrier, pc);
}

std::string array_name(std::uintptr_t address) {
  if (device_memory::contains(reinterpret_cast<void*>(address))) {
    auto near = device_memory::nearest(reinterpret_cast<void*>(address));
    return near ? near->name() : "global memory";
  }
  const Hot& hot = simt_hot;
  if (near_dynamic_shared(address) || address - hot.tls_begin < hot.tls_bytes ||
      space_of(address) == Space::cluster) {
    return nearest_shared(address).name;
  }
  if (const auto of_host = host_variable(address)) return of_host->name;
  return nearest_variable(address).name;
}

// ---- Launches that begin early (runtime.hpp) ----

void wait_for_launches() {
  Worker& worker = *current_worker;
  Lane& lane = *worker.lane;
  // What it did until now was without.
  if (worker.grid->operation != nullptr && !lane.has_waited) {
    worker.stop_lane(LaneState::ready, 0);
  }
  lane.has_waited = true;
}

void let_next_launch_begin() {
  if (!current_worker->lane->has_waited) current_worker->grid->hurries = true;
}

// ---- Clusters (runtime.hpp) ----

void cluster_arrive(const void* place) {
  current_worker->arrive_at_cluster(relative_pc(__builtin_return_address(0)), place, false);
}

void cluster_arrive_relaxed(const void* place) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  current_worker->arrive_at_cluster(pc, place, false, false);
}

void cluster_wait(const void* place) {
  current_worker->wait_for_cluster(relative_pc(__builtin_return_address(0)), place);
}

void cluster_sync(const void* place) {
  const std::uint32_t pc = relative_pc(__builtin_return_address(0));
  current_worker->arrive_at_cluster(pc, place, true);
  current_worker->wait_for_cluster(pc, place);
}

unsigned cluster_extent(int axis) { return current_worker->grid->shape.cluster[axis]; }

// The running block's before others'.
unsigned owner_of_shared(std::uintptr_t address) {
  const Hot& hot = simt_hot;
  const Worker& worker = *current_worker;
  if (near_dynamic_shared(address) || address - hot.tls_begin < hot.tls_bytes) {
    return worker.cluster_rank;
  }
  return worker.cluster->owner_near(address, worker.cluster_rank);
}

namespace {

[[noreturn]] void refuse_pointer(void* program_counter, Hazard hazard, const std::string& what) {
  note_hazard(hazard, relative_pc(program_counter), "", what.c_str(), "");
  abandon_lane(719);
}

}  // namespace

void* map_shared(const void* pointer, unsigned rank) {
  const Worker& worker = *current_worker;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  void* const caller = __builtin_return_address(0);
  if (rank >= worker.cluster->size()) {
    refuse_pointer(caller, Hazard::out_of_bounds,
                   "asks for the shared memory of block " + std::to_string(rank) +
                       " of a cluster of " + std::to_string(worker.cluster->size()));
  }
  const unsigned owner = owner_of_shared(address);
  if (owner == worker.cluster->size()) {
    refuse_pointer(caller, Hazard::invalid_address,
                   "asks where another block has a pointer that is not to shared memory");
  }
  const ClusterWindow& its = worker.cluster->windows[owner];
  const ClusterWindow& other = worker.cluster->windows[rank];
  return reinterpret_cast<void*>(is_near_dynamic(address, its.dynamic_begin)
                                     ? address - its.dynamic_begin + other.dynamic_begin
                                     : address - its.tls_begin + other.tls_begin);
}

unsigned shared_rank(const void* pointer) {
  const Worker& worker = *current_worker;
  const unsigned owner = owner_of_shared(reinterpret_cast<std::uintptr_t>(pointer));
  if (owner == worker.cluster->size()) {
    refuse_pointer(__builtin_return_address(0), Hazard::invalid_address,
                   "asks which block has a pointer that is not to shared memory");
  }
  return owner;
}

// ---- Services for kernels ----

void* dynamic_shared() { return reinterpret_cast<void*>(current_worker->dynamic_shared); }

void block_barrier(const void* place) {
  current_worker->lane->predicate = 0;
  current_worker->lane->place = place;
  current_worker->stop_lane(LaneState::at_barrier, relative_pc(__builtin_return_address(0)));
}

int block_barrier_count(int predicate, const void* place) {
  Lane& lane = *current_worker->lane;
  lane.place = place;
  lane.predicate = predicate != 0;
  current_worker->stop_lane(LaneState::at_barrier, relative_pc(__builtin_return_address(0)));
  return static_cast<int>(lane.result);
}

void fence(bool for_all) {
  if (!simt_hot.active || !(simt_hot.checks & kCheckRaces)) return;
  Lane& lane = *current_worker->lane;
  const bool again = lane.fenced && !lane.handed_on;
  lane.fenced = lane.epoch;
  if (for_all) lane.fenced_for_all = lane.epoch;
  lane.handed_on = false;
  // What comes now is not part of it; but who fences over and over in a loop gets no new epochs.
  if (!again) current_worker->next_epoch();
}

void warp_barrier(unsigned mask) { wait_in_warp(WarpOp::sync, mask, __builtin_return_address(0)); }

unsigned active_mask() {
  return static_cast<unsigned>(wait_in_warp(WarpOp::active, 0, __builtin_return_address(0)).result);
}

std::uint64_t warp_exchange(unsigned mask, std::uint64_t bits, Exchange kind, unsigned operand,
                            int width) {
  Lane& lane = *current_worker->lane;
  lane.bits = bits;
  lane.exchange = kind;
  lane.operand = operand;
  lane.width = width;
  return wait_in_warp(WarpOp::exchange, mask, __builtin_return_address(0)).result;
}

unsigned warp_ballot(unsigned mask, int predicate) {
  current_worker->lane->predicate = predicate != 0;
  return static_cast<unsigned>(
      wait_in_warp(WarpOp::ballot, mask, __builtin_return_address(0)).result);
}

unsigned warp_match_any(unsigned mask, std::uint64_t bits) {
  current_worker->lane->bits = bits;
  return static_cast<unsigned>(
      wait_in_warp(WarpOp::match, mask, __builtin_return_address(0)).result);
}

MmaSums warp_mma_tf32(unsigned depth, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                      std::uint32_t a3, std::uint32_t b0, std::uint32_t b1, MmaSums c) {
  // On the lane's own stack, where the warp finds them while the lane waits.
  MmaRegisters registers{{a0, a1, a2, a3}, {b0, b1}, {c.s0, c.s1, c.s2, c.s3}, {}};
  Lane& lane = *current_worker->lane;
  lane.bits = reinterpret_cast<std::uintptr_t>(&registers);
  lane.operand = depth;
  wait_in_warp(WarpOp::mma, ~0u, __builtin_return_address(0));
  const float* const d = registers.d;
  return {d[0], d[1], d[2], d[3]};
}

void warp_aligned() {
  current_worker->lane->operand = 0;
  wait_in_warp(WarpOp::aligned, ~0u, __builtin_return_address(0));
}

namespace {

constexpr std::uint32_t kDynamicOffset = 1 << 24;  // beyond any TLS segment
constexpr std::uint32_t kNotShared = 0xfffffff0;

std::uintptr_t shared_address(std::uint32_t offset) {
  const Hot& hot = simt_hot;
  if (offset < kDynamicOffset) return hot.tls_begin + offset;
  if (offset < 2 * kDynamicOffset) return hot.dynamic_begin + (offset - kDynamicOffset);
  return offset;
}

}  // namespace

std::size_t shared_offset(const void* pointer) {
  const Hot& hot = simt_hot;
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address - hot.tls_begin < hot.tls_bytes) return address - hot.tls_begin;
  const std::uintptr_t offset = address - hot.dynamic_begin;
  return offset < kDynamicSharedCapacity ? kDynamicOffset + offset : kNotShared;
}

MatrixRegisters warp_load_matrices(unsigned matrices, std::uint32_t row) {
  LoadedMatrices registers{};
  Lane& lane = *current_worker->lane;
  if (lane.index % kWarpSize < 8 * matrices) {
    const std::uintptr_t address = shared_address(row);
    note_shared_load(address, relative_pc(__builtin_return_address(0)),
                     reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa()));
    std::memcpy(registers.row, reinterpret_cast<const void*>(address), sizeof registers.row);
  }
  lane.bits = reinterpret_cast<std::uintptr_t>(&registers);
  lane.operand = matrices;
  wait_in_warp(WarpOp::load_matrices, ~0u, __builtin_return_address(0));
  const std::uint32_t* const its = registers.its;
  return {its[0], its[1], its[2], its[3]};
}

void trap() {
  note_hazard(Hazard::trap, relative_pc(__builtin_return_address(0)), "", "reaches a __trap()", "");
  current_worker->grid->stop = true;
  current_worker->abandon(719);
}

void fail_assertion(const char* expression, void* program_counter) {
  const std::string what = std::string("fails assert(") + expression + ")";
  note_hazard(Hazard::failed_assert, relative_pc(program_counter), "", what.c_str(), "");
  current_worker->grid->stop = true;
  current_worker->abandon(710);
}

void stop_kernel(const char* what, void* program_counter) {
  const auto address = reinterpret_cast<std::uintptr_t>(program_counter) - 1;
  note_hazard(Hazard::trap, line_in_kernel(address), "", what, "");
  current_worker->grid->stop = true;
  current_worker->abandon(719);
}

#if defined(__aarch64__)
// The processor divides by zero and goes on, so g++ is told to look (meson.build), and calls this.
extern "C" void __ubsan_handle_divrem_overflow_abort(void*, std::uintptr_t, std::uintptr_t) {
  if (!inside_kernel()) {
    raise(SIGFPE);  // as x86-64 would
    std::abort();
  }
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1;
  note_hazard(Hazard::division_by_zero, line_in_kernel(address), "", kDividesByZero, "");
  current_worker->abandon(719);
}
#endif

bool keep_printed(const char* text, std::size_t bytes) {
  if (!program_reads_findings()) {
    cannot_be_undone();
    return false;
  }
  current_worker->printed.add(current_worker->block_index, std::string(text, bytes));
  return true;
}

void cannot_be_undone() { current_worker->grid->may_run_again = false; }

namespace {

std::function<std::vector<BlockRange>(std::uint64_t)>& choose_blocks() {
  static auto& choose = *new std::function<std::vector<BlockRange>(std::uint64_t)>;
  return choose;
}

}  // namespace

void run_only_blocks(std::function<std::vector<BlockRange>(std::uint64_t blocks)> choose) {
  choose_blocks() = std::move(choose);
}

namespace {

// The launches of each kernel so far that were traced.
std::map<std::string, unsigned>& traced_launches() {
  static auto& launches = *new std::map<std::string, unsigned>;
  return launches;
}

bool wants_trace(const std::string& kernel) {
  const unsigned wanted = settings().traced;
  return wanted != 0 && traced_launches()[kernel]++ < wanted;
}

}  // namespace

void trace_launches(unsigned of_each_kernel) {
  settings().traced = of_each_kernel;
  traced_launches().clear();
}

bool inside_kernel() { return current_worker != nullptr && current_worker->grid != nullptr; }

int run_grid(const LaunchShape& shape, const void* closure, std::size_t closure_bytes,
             KernelInvoke invoke, void* program_counter) {
  // Host threads launch when they like; the workers are there once, and serve one grid at a time.
  static std::mutex& one_at_a_time = *new std::mutex;
  const std::lock_guard launching(one_at_a_time);
  const ProgramImage& image = ProgramImage::get();
  device_memory::initialise();
  set_image_base(image.load_address());
  const Kernel& kernel = kernel_at(reinterpret_cast<std::uintptr_t>(program_counter));
  if (settings().checks) expect_coverage(reinterpret_cast<std::uintptr_t>(program_counter));

  Grid grid;
  grid.shape = shape;
  grid.closure = closure;
  grid.closure_bytes = closure_bytes;
  grid.invoke = invoke;
  grid.kernel = &kernel;
  const std::uint64_t all_blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  grid.blocks = all_blocks;
  grid.order = ClusterOrder(shape.grid, shape.cluster);
  std::vector<BlockRange> only;
  if (choose_blocks()) {
    only = choose_blocks()(all_blocks);
    grid.only = &only;
    grid.blocks = 0;
    for (const BlockRange& range : only) grid.blocks += range.last - range.first;
    if (grid.has_clusters()) {
      std::set<std::uint64_t> chosen;
      for (const BlockRange& range : only) {
        for (std::uint64_t b = range.first; b < range.last; ++b) {
          chosen.insert(grid.order.cluster_of(b));
        }
      }
      grid.only_clusters.assign(chosen.begin(), chosen.end());
      grid.blocks = chosen.size() * grid.order.size();
    }
  }
  grid.blocks_per_claim = std::clamp<std::uint64_t>(grid.blocks / (settings().threads * 8), 1, 64);
  grid.checks = settings().checks;
  if (grid.checks != 0 && wants_trace(kernel.name)) {
    grid.traced = true;
    const std::uint64_t middle =
        (std::uint64_t{shape.grid[2] / 2} * shape.grid[1] + shape.grid[1] / 2) * shape.grid[0] +
        shape.grid[0] / 2;
    grid.middle.block = only.empty() ? middle : only[only.size() / 2].first;
    grid.middle.warp = (shape.block[0] * shape.block[1] * shape.block[2] - 1) / kWarpSize / 2;
  }
  streams::Operation operation(shape.stream_number, short_name(kernel.name), shape.program_counter,
                               shape.may_begin_early ? streams::Operation::Kind::early_kernel
                                                     : streams::Operation::Kind::kernel);
  if (operation.remembers() && (grid.checks & kCheckRaces)) grid.operation = &operation;

  if (grid.blocks > 1 && (grid.checks & kCheckRaces)) {
    static LaunchRaces& races =
        *new LaunchRaces(kArenaBytes + program_regions().device.bytes + 4096);
    if (races.begin(all_blocks, grid.order)) grid.races = &races;
  }

  Found found;
  set_given_by_host(closure, closure_bytes);
  for (const std::string& name : shadows_among(closure, closure_bytes)) {
    const std::uint32_t pc =
        shape.program_counter == 0
            ? 0
            : static_cast<std::uint32_t>(shape.program_counter - image.load_address());
    const std::string what =
        "is given " + name + ", whose name in host code is no address on the device";
    found.hazards[{Hazard::invalid_address, pc, 0, name, what}].add(0, 0, UINT32_MAX, "");
  }
  if (grid.blocks > 0) {
    const CrashHandlers handlers;
    run_blocks(grid, found);
  }

  if (shape.may_begin_early && !grid.hurries) operation.waits_before_next();
  if (grid.only) device_memory::note_written(grid.written);

  Launch launch;
  launch.kernel = kernel.name;
  std::copy(shape.grid, shape.grid + 3, launch.grid.begin());
  std::copy(shape.block, shape.block + 3, launch.block.begin());
  launch.shared_bytes = kernel.static_shared + shape.dynamic_shared_bytes;
  launch.blocks_run = grid.blocks;
  std::map<std::pair<std::string, int>, LineCounters> lines;
  found.sites.for_each([&](std::uint32_t site, const Counters& c) {
    SourceLine line = image.line_of(image.load_address() + site);
    lines[{line.file, line.line}].counters += c;
    launch.counters += c;
  });
  for (const auto& [line, operations] : fp64_lines(found.fp64_blocks)) {
    lines[line].fp64_operations = operations;
    launch.fp64_operations += operations;
  }
  for (const auto& [site, times] : found.tensor_sites) {
    const SourceLine line = image.line_of(image.load_address() + site);
    lines[{line.file, line.line}].tensor_instructions += times;
    launch.tensor_instructions += times;
  }
  for (auto& [place, line] : lines) {
    std::tie(line.file, line.line) = place;
    launch.lines.push_back(std::move(line));
  }
  launch.findings = to_findings(found.hazards, shape.grid, shape.block);
  if (grid.traced) launch.trace = found.trace.told(shape.grid);
  launch.printed = PrintLog::in_order(std::move(found.printed));
  if (grid.error_code() != 0) explain_error(launch.findings);
  record_launch(std::move(launch));
  return grid.error_code();
}

}  // namespace simt
