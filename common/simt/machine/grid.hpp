// A launch: clusters of blocks, their warps, and what they share.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/simt/machine/image.hpp"
#include "common/simt/machine/warp.hpp"
#include "common/simt/memory/arena.hpp"
#include "common/simt/memory/requests.hpp"

namespace simt::machine {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  std::array<unsigned, 3> triple() const { return {x, y, z}; }
};

/// The number of a place among `all`, x first.
inline std::uint64_t linear(const Dim3& at, const Dim3& all) {
  return (std::uint64_t{at.z} * all.y + at.y) * all.x + at.x;
}
/// The place with this number.
inline Dim3 place_at(std::uint64_t number, const Dim3& all) {
  return {static_cast<unsigned>(number % all.x), static_cast<unsigned>(number / all.x % all.y),
          static_cast<unsigned>(number / all.x / all.y)};
}
/// As findings and debuggers write it: "(x,y,z)".
inline std::string coordinates(const std::array<unsigned, 3>& of) {
  return "(" + std::to_string(of[0]) + "," + std::to_string(of[1]) + "," + std::to_string(of[2]) +
         ")";
}

/// One instruction of a warp that touches memory: what counting and checking are told.
struct WarpAccess {
  /// `reserved`: what the system keeps of a block's shared memory.
  enum class Space : std::uint8_t { global, shared, constant, local, reserved };
  enum class Kind : std::uint8_t { load, store, atomic };
  Space space = Space::global;
  Kind kind = Kind::load;
  memory::WarpAddresses lanes;  // of shared memory by where they are in the block's
  const Step* step = nullptr;   // values, order, scope, site
  const Warp* warp = nullptr;
  const Block* block = nullptr;  // whose shared memory it is
  bool is_further = false;       // another access of the same instruction has reached other blocks
  // Of an asynchronous copy the lanes' addresses on its other side.
  std::span<const std::uint64_t> copied = {};

  /// Whether it goes through the network between blocks.
  bool is_sent() const {
    return space == Space::shared && (block != warp->block || step->traffic == Traffic::sent);
  }
  bool is_counted() const { return step->traffic != Traffic::none; }
  /// What it costs in global memory, and in shared.
  int sectors() const;
  memory::Wavefronts wavefronts() const;

 private:
  memory::Copy way() const;
};

/// What is counted of an access that ptxas joins with its neighbours: one of all their bytes.
struct JoinedAccess {
  explicit JoinedAccess(const WarpAccess& one) : told(one) {
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
      addresses[lane] = one.lanes.address[lane] - one.step->joined_before;
    }
    told.lanes = {addresses, one.lanes.mask, one.step->joined_bytes};
    told.lanes.least = one.lanes.least - one.step->joined_before;
    told.lanes.beyond = one.lanes.beyond - static_cast<std::uint64_t>(one.lanes.bytes) -
                        one.step->joined_before + one.step->joined_bytes;
  }
  JoinedAccess(const JoinedAccess&) = delete;
  JoinedAccess& operator=(const JoinedAccess&) = delete;

  std::array<std::uint64_t, kLanes> addresses;
  WarpAccess told;
};

/// What the async proxy does with memory for a warp (PTX ISA 8.2.5): wgmma with its operands, and copies in bulk. Each
/// piece is touched as a whole.
struct AsyncAccess {
  struct Piece {
    std::uint64_t begin = 0, end = 0;  // of shared memory where they are in the block's
  };
  WarpAccess::Space space = WarpAccess::Space::shared;
  WarpAccess::Kind kind = WarpAccess::Kind::load;
  std::span<const Piece> pieces;
  const Step* step = nullptr;
  const Warp* warp = nullptr;
  int lane = -1;                 // who asked for it; -1: four warps from this one on, together
  const Block* block = nullptr;  // whose shared memory it is
  unsigned blocks = 1;           // that get what a load of global memory brings
  std::uint64_t taken = 0;       // sectors of that memory; of wgmma's operands wavefronts
};

struct Cluster;
class Probes;
class Services;

/// Who wants to know of accesses, and of what is wrong. Called by the thread that runs the block, before the memory
/// changes.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Lanes for which it must not be made: they end there.
  virtual std::uint32_t access(const WarpAccess& access) = 0;
  /// The same of a load of the kernel's parameters by an address that is worked out.
  virtual std::uint32_t parameter(const WarpAccess&) { return 0; }
  /// Of values that nobody has written: what two of them have made together, and one on which something depends.
  virtual Undefined::Origin joined(const Warp&, Undefined::Origin a, Undefined::Origin) {
    return a;
  }
  virtual void matters(const Warp&, Undefined::Origin) {}
  /// The same of what the async proxy begins to do.
  virtual std::uint32_t async_access(const AsyncAccess&) { return 0; }
  /// The lane touches texels of a texture or surface, here in memory.
  virtual void image_access(const Warp&, const Step&, std::size_t /*lane*/, WarpAccess::Kind,
                            const Image&, const std::byte* /*first*/, std::size_t /*bytes*/) {}
  /// Lane `lane` may not touch what it names, and ends there. `what`: out_of_bounds or misaligned; of what is no access:
  /// stack_overflow, invalid_function, lacking_lane of a warp whose 32 lanes an instruction needs; and of what only the
  /// lane's own block can be: foreign_copy, foreign_wait, foreign_shared of any other access, or foreign_barrier where
  /// st.async's two addresses are of two blocks.
  virtual void fault(const WarpAccess& access, int lane, const std::string& what) = 0;
  /// All that a barrier of the block waits for have come, and none has gone on.
  virtual void barrier(const Block& block, std::uint32_t number) = 0;
  /// The warp has arrived at a barrier of the block, and does not wait there (bar.arrive).
  virtual void arrived(const Warp&, std::uint32_t /*number*/) {}
  /// These lanes have passed a __syncwarp together.
  virtual void warp_barrier(const Warp&, std::uint32_t /*lanes*/) {}
  /// The warp's active lanes arrive at the barrier of the cluster.
  virtual void cluster_arrival(const Warp&, const Step&) {}
  /// All threads of the cluster that have not ended have arrived at its barrier (Warp::at_cluster): what they did before
  /// they arrived comes before what they do once they have waited.
  virtual void cluster_barrier(const Cluster&) {}
  /// fence, membar: of the warp's active lanes.
  virtual void fence(const Warp&, const Step&) {}
  /// griddepcontrol: the warp's active lanes have waited for the launches before theirs, or let the next one begin.
  virtual void launches_waited(const Warp&) {}
  virtual void next_launch_begins(const Warp&) {}
  /// All that a phase of the barrier at this place of the block's shared memory waits for have come (mbarrier).
  virtual void phase_completed(const Block&, std::uint32_t /*barrier*/) {}
  /// wgmma.wait_group: of what the warp has asked for and committed all but the last groups is done.
  virtual void products_waited(const Warp&, std::uint32_t /*but*/) {}
  /// cp.async.bulk.wait_group: the same of what the active lanes have asked for; with .read it has only been read.
  virtual void stores_waited(const Warp&, std::uint32_t /*but*/, bool /*are_written*/) {}
  /// What a copy in bulk brings, or one that arrives at a barrier, has come to this place of the block's shared memory.
  virtual void landed(const Block&, std::uint64_t /*begin*/, std::uint64_t /*end*/) {}
  /// A lane has waited for its copy: the bytes are there now.
  virtual void copied(const Warp&, const PendingCopy&) {}
  /// What a GPU goes on after, with a meaningless value. `what`: division_by_zero, undefined_shuffle, unfinished_product,
  /// or foreign_mask of lanes that their own mask does not name.
  virtual void meaningless(const Warp&, const Step&, std::uint32_t /*lanes*/,
                           const char* /*what*/) {}
  virtual void begin(const Block&) {}
  virtual void end(const Block&) {}
};

/// Of a grid: what all its blocks see.
struct Grid {
  const Code* code = nullptr;
  Dim3 blocks, threads;
  Dim3 cluster;  // blocks of one
  std::uint32_t dynamic_shared = 0;
  /// Only these clusters run, by their numbers.
  std::optional<std::vector<std::uint64_t>> only_clusters;
  std::vector<std::byte> parameters;
  memory::Arena* arena = nullptr;
  std::span<const std::byte> constants;  // constant memory, from address 0
  Observer* observer = nullptr;
  Probes* probes = nullptr;            // if they look
  Services* services = nullptr;        // of code that calls some
  const Images* images = nullptr;      // of code that reads or writes some
  std::size_t stack_bytes = 16 << 10;  // of a thread: for frames
  unsigned multiprocessors = 132;
  /// Of a cooperative launch: where its blocks meet (%envreg1 and %envreg2); 0: it is none.
  std::uint64_t workspace = 0;
  /// So many blocks may wait for one another: those that the GPU holds at a time.
  std::uint64_t most_resident = 132;
};

/// What a barrier in shared memory still waits for.
struct Missing {
  std::uint32_t arrivals = 0;
  std::int32_t bytes = 0;
};
/// The lane waits there by this step.
Missing missing_at(const Step& step, Warp& warp, std::size_t lane);

/// Lanes that a launch left behind because they could not go on.
struct Stuck {
  Dim3 block;
  unsigned thread = 0;     // the first of them in the block
  std::int32_t site = -1;  // where they are
  bool spins = false;      // they run, and nothing will change
  Missing missing;         // if they wait at a barrier in shared memory
};

/// Bytes on their way to a block's shared memory, and the barrier there at which they will arrive (cp.async.bulk).
struct PendingLoad {
  std::uint32_t to = 0, barrier = 0;
  std::vector<std::byte> data;
  BulkCopy::Combine combine = nullptr;
  std::uint8_t element_bytes = 0;
  std::uint32_t arrives = 0;  // bytes
  /// Of a swizzled tile where each 16 bytes of the data go, or that they are none; empty: all behind `to`.
  static constexpr std::uint32_t kGap = ~0u;
  std::vector<std::uint32_t> chunks = {};
};

// The blocks of a cluster lie in the window of shared memory one behind the other, by their ranks.
inline constexpr std::uint64_t kSharedStride = 1 << 24;
// The system's part of it lies behind all that a block can have, and without a rank.
inline constexpr std::uint64_t kReservedShared = 0xf0'0000;

struct Block {
  Cluster* cluster = nullptr;
  const Grid* grid = nullptr;
  Dim3 index;
  const unsigned rank;  // in the cluster
  std::vector<Warp> warps;
  std::vector<std::byte> registers;
  std::vector<std::byte> shared;
  /// The system's part of it, which CUDA's headers use for groups of several warps.
  std::array<std::byte, 1024> reserved{};
  std::vector<std::byte> local;  // per thread local_bytes()
  /// Of each barrier: the threads that arrived without waiting, and what their predicates were.
  struct Barrier {
    std::uint32_t arrived = 0, arrived_for = 0;  // by bar.arrive; for so many threads
    std::uint32_t holds = 0, asked = 0;          // while they arrive (bar.red)
    std::uint32_t held = 0, all_asked = 0;       // when they last went on
  };
  std::array<Barrier, 16> barriers{};
  std::vector<PendingLoad> loads;
  /// A thread's copy that arrives at a barrier, until somebody has waited there, or the thread for all of its copies.
  struct ArrivingCopy {
    std::uint32_t to = 0, bytes = 0;
    unsigned thread = 0;
    std::uint32_t phase = 0;  // of the barrier
  };
  std::map<std::uint32_t, std::vector<ArrivingCopy>> arriving;  // by their barriers
  /// The allocation that an instruction found last, by its site: most find it again.
  struct Known {
    std::uint64_t begin = 0, end = 0;
    std::byte* host = nullptr;
  };
  std::array<Known, 32> known{};
  std::vector<std::uint64_t> tallies;  // by Probes::tallies()
  std::uint64_t phases = 0;            // of mbarriers that its threads brought to an end
  std::uint64_t barriers_made = 0;     // mbarriers, however often each of them

  Block(const Grid& grid, unsigned rank);
  /// Before its first step, whatever it was before.
  void begin(Cluster& cluster, Dim3 index);
  unsigned threads() const;
  unsigned live() const;
  /// Where its shared memory begins in the window of the cluster's.
  std::uint64_t shared_begin() const { return rank * kSharedStride; }
  /// Of local memory: what the kernel has, and room for the frames of functions that it calls.
  [[gnu::visibility("default")]] std::size_t local_bytes() const;
  std::byte* own(const Warp& warp, int lane) {
    return local.data() +
           (std::size_t{warp.index} * kLanes + static_cast<unsigned>(lane)) * local_bytes();
  }
  /// Gives each warp a turn, until none of them advances.
  bool run();

 private:
  /// Equal where registers, shared memory and places in the code are.
  std::uint64_t state() const;
  std::array<std::uint64_t, 8> states{};  // at the end of its last long turns
  std::size_t turn = 0;
};

/// Blocks that run at the same time and reach each other's shared memory. Without clusters: one block.
struct Cluster {
  const Grid* grid = nullptr;
  Dim3 index;  // of its first block
  std::vector<std::unique_ptr<Block>> blocks;
  std::uint32_t phase = 0;  // of its barrier
  bool is_ended = false;    // by a trap
  /// Nobody can go on: whoever waits with the right to give up, does.
  bool gives_up = false;

  explicit Cluster(const Grid& grid);
  /// Before its first step, whatever it was before.
  void begin(Dim3 first);
  /// Gives each block turns until none advances; true if one has.
  bool run();
  bool has_ended() const;
  /// The next phase of the barrier begins if all that live have arrived.
  void pass_barrier();
};

/// The first block of the cluster of this number.
Dim3 first_block(const Grid& grid, std::uint64_t cluster);

/// Clusters of a launch that nobody runs yet. Several threads may take of them.
struct Clusters {
  std::uint64_t at_once = 1;            // so many neighbours
  std::atomic<std::uint64_t> next = 0;  // in the order of the grid
};

/// What a clock goes on by where all wait: more each time, from a millisecond to a minute.
inline constexpr std::uint64_t kFirstLeap = 1 << 20, kLongestLeap = std::uint64_t{1} << 36,
                               kLeapsGrow = 16;

/// Blocks that run until there are no more. Those that wait for one another are resident together, as far as
/// Grid::most_resident goes.
class Run {
 public:
  /// Both must outlive it.
  Run(const Grid& grid, Clusters& clusters);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Returns those that are stuck: what they wait for may come, and then they go on. `again`: those that count their attempts
  /// have had their time.
  std::vector<Stuck> go_on(bool again = false);
  /// Lets time go on where nothing else does: who waits with a limit comes to it when all others have had their turns. False
  /// if no clock is read, or it was in vain again and again.
  bool leap();
  /// Whether some of those count their attempts, so that nobody knows if they have an end.
  bool any_counts() const { return any_counts_; }
  /// Blocks that have begun and not ended.
  std::uint64_t resident() const { return resident_.size() * grid_.cluster.count(); }

 private:
  bool are_more();
  std::vector<Stuck> end();
  void admit();
  std::list<Cluster>::iterator leave(std::list<Cluster>::iterator cluster);

  const Grid& grid_;
  Clusters& source_;
  std::uint64_t count_, most_;
  std::list<Cluster> resident_, free_;
  std::uint64_t next_ = 0, taken_ = 0;
  bool any_counts_ = false;
  std::uint64_t leap_ = kFirstLeap;
};

/// Runs them as far as they go.
std::vector<Stuck> run(const Grid& grid, Clusters& clusters);
/// The same of all clusters of the launch.
std::vector<Stuck> run(const Grid& grid);

/// The lane cannot do what it is at: it ends there. `what` as Observer::fault has it.
const Step* stop(const Step* step, Warp& warp, std::size_t lane, const char* what);

}  // namespace simt::machine
