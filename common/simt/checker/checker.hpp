// What is wrong in a launch: races, what is read and nobody has written, accesses outside an array.
//
// A launch's blocks tell what their warps do. Order comes from barriers and __syncwarp, and in kernels that hand data on
// (Launch::hands_on) from fences and the atomics, volatile and acquiring or releasing accesses after or before them. Fast
// cells (cells.hpp) see that nothing conflicts; words where something may are kept exactly, with all their accesses that
// are not ordered before others.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/simt/checker/cells.hpp"
#include "common/simt/checker/findings.hpp"
#include "common/simt/checker/initialised.hpp"
#include "common/simt/checker/order.hpp"
#include "common/simt/checker/pages.hpp"
#include "common/simt/memory/requests.hpp"

namespace simt::checker {

enum class Space : std::uint8_t { global, shared, local, constant, parameter };
/// As PTX has it: all but weak are strong. (Those of plain `volatile` are relaxed.)
enum class Strength : std::uint8_t {
  weak,
  is_volatile,
  relaxed,
  acquire,
  release,
  acquire_release
};
enum class Scope : std::uint8_t { block, cluster, gpu, system };

/// What a plain load of something that others update by atomics is for.
enum class Reading : std::uint8_t {
  plain,         // the value goes somewhere
  confirmed,     // a compare-and-swap compares it with what is there then
  tested_again,  // it decides whether the thread updates, and what the update finds decides again
  guard,         // it alone decides whether the thread updates
  kept,          // the value is stored, or the thread wants to see its own update
};
/// What such a load is that nothing orders before or after the atomic; `means_last`: a plain one is for the last value.
std::optional<Hazard> beside_atomic(Reading reading, bool means_last);

/// What the text of the kernel says of an instruction that touches memory.
struct Site {
  Strength strength = Strength::weak;
  Scope scope = Scope::gpu;
  Reading reading = Reading::plain;
  bool asks = false;        // a load: a branch depends on its value
  bool decides = false;     // a load: its value says where threads go on, and nothing else
  bool uses_old = true;     // of an atomic: what was there matters, to the result or to who gets it
  bool returns = true;      // of an atomic: what was there is used
  bool only_reads = false;  // an atomic that leaves what was there: a poll, which hands nothing on
  bool may_lock =
      false;  // an exchange or compare-and-swap whose result is used, with no fence of its own
  /// Of a load and a store that change an element together, the load's place in Launch::sites; -1: of others.
  std::int32_t change = -1;
  bool is_as_constant =
      false;  // a load through the cache for what a launch only reads (ld.global.nc)
  bool is_of_texture = false;  // the same, by a texture
  bool is_passed = false;      // of what a call is given, or gives back: others load it again
  bool is_indexed = false;     // a load of a local array at a place that is worked out
  bool starts_copy = false;    // to shared memory, whose bytes come later
  /// st.async: its store is there when the barrier says so, not for its own thread before; its arrival at the barrier, an
  /// atomic, hands it on and takes nothing over.
  bool sends = false;
  bool is_barrier = false;            // of a barrier in shared memory (mbarrier)
  bool ends_barrier = false;          // mbarrier.inval
  bool is_bulk = false;               // a copy in bulk; one to shared memory sends
  bool is_of_barrier_object = false;  // by NVIDIA's library, at a barrier that it has set up
  /// Of the values that it moves: where they come from or go to.
  struct Value {
    std::uint8_t used = 0xff;     // its bytes that matter to anything
    std::uint8_t matters = 0xff;  // to more than what is stored in memory
    bool is_moved = false;        // it only goes to memory, as it is
    bool is_mixed = false;        // of a store: bits of several make it
    std::int16_t copy =
        -1;  // a register that does nothing but take values from memory to memory; -1: another
  };
  std::array<Value, 4> values{};
  bool is_covered = false;  // a load of what a wider one reads beside it: a piece of a structure
  /// Addresses are derived from this variable alone, and must stay in it (where they are of this space).
  struct Variable {
    Space space = Space::global;
    std::uint64_t begin = 0, end = UINT64_MAX;
    bool is_dynamic = false;  // shared memory whose size the launch says
    std::string array;        // its name; empty: as Launch::name_of has it
  };
  Variable variable;
  Variable source;  // of what a copy reads
  const Variable& variable_of(Act act) const {
    return (starts_copy || is_bulk) && act == Act::load ? source : variable;
  }
};

struct Access {
  Space space = Space::global;
  Act act = Act::load;
  memory::WarpAddresses lanes;  // of shared memory by where they are in the block's
  std::int32_t site = 0;        // in Launch::sites
  unsigned warp = 0;            // of the block
  /// Memory as it is before: the byte of an address is at memory + address. Null if that can't be told.
  const std::byte* memory = nullptr;
  /// Of a store what it stores: of each component where it is in lane 0, and how large it is.
  std::array<const std::byte*, 4> values{};
  int value_bytes = 4;
  /// A value of a lane that nobody has written, which is told once it matters (BlockCheck::matters).
  struct Unwritten {
    int lane, value;
    std::uint32_t origin;
  };
  /// Of a load: where they are put; null: they are told at once.
  std::vector<Unwritten>* unwritten = nullptr;
};

/// Of the memory at an address, of shared memory by where it is in the block's: the name of the variable or array.
using NameOf = std::function<std::string(Space space, std::uint64_t address)>;

struct Launch {
  std::span<const Site> sites;
  unsigned threads = 1;          // of a block
  std::size_t shared_bytes = 0;  // of a block
  bool hands_on = false;         // there are fences, locks, flags: order may be by them
  bool is_async = false;         // wgmma or copies in bulk touch shared memory
  bool has_clusters = false;     // blocks reach each other's shared memory
  bool by_barriers = false;      // nothing but barriers orders them
  bool is_parallel = false;      // others check blocks of the launch at the same time
  /// Of clusters: what a block does with plain accesses is looked at as if it were alone. Where that might not do, the
  /// launch is not quiet.
  bool is_quick = false;
  bool looks_for_races = true;
  bool looks_for_uninitialised = true;
  NameOf name_of;
  /// A function's local variables: where a thread has them, and from where to where the function's code is.
  struct Own {
    std::uint64_t begin, end;
    std::int32_t first_site, end_site;
  };
  std::vector<Own> own;  // in the order of places
  std::uint64_t own_bytes =
      0;  // of a thread, in which is seen what it has not written; 0: it is not
};

class Checker;

/// A block while it runs. Called by one thread at a time.
class BlockCheck {
 public:
  BlockCheck(Checker& checker, std::uint64_t block);
  ~BlockCheck();
  BlockCheck(const BlockCheck&) = delete;
  BlockCheck& operator=(const BlockCheck&) = delete;

  /// Before it is made. Lanes that leave the variable that their address is derived from, which is told: then it must not
  /// be.
  std::uint32_t access(const Access& access);
  /// Those lanes alone.
  std::uint32_t leaves_variable(const Access& access);
  /// Of a load that has put something into Access::unwritten: what the other lanes have of it.
  void complete(const Access& access);
  /// What two values that nobody wrote have made together.
  std::uint32_t joined(std::uint32_t a, std::uint32_t b);
  /// Something depends on a value of this origin: its read is told.
  void matters(std::uint32_t origin);
  /// Of a value that has no meaning, which is told once it matters.
  std::uint32_t meaningless(Hazard hazard, std::int32_t site, unsigned thread,
                            const std::string& what);
  /// A store has put such a value into shared memory, or into a thread's own.
  void leaves_unwritten(std::uint64_t address, std::size_t bytes, std::uint32_t origin);
  void leaves_own_unwritten(unsigned thread, std::uint64_t address, std::size_t bytes,
                            std::uint32_t origin);
  /// Of local memory.
  std::uint32_t own_access(const Access& access);
  /// All threads of the block that have not ended have met.
  void barrier();
  /// These lanes have met in a __syncwarp. `live` are those of the warp that have not ended.
  void sync_warp(unsigned warp, std::uint32_t lanes, std::uint32_t live);
  /// These have arrived at a barrier of the block where others wait.
  void arrive_at(std::uint32_t number, unsigned warp, std::uint32_t lanes);
  /// These threads have met, of each warp the lanes; at a barrier behind those that have arrived there.
  void meet(std::span<const std::uint32_t> lanes,
            std::optional<std::uint32_t> number = std::nullopt);
  void fence(unsigned warp, std::uint32_t lanes, Scope scope);
  /// The same of an access to the shared memory of another block of the cluster.
  std::uint32_t access_of(BlockCheck& owner, const Access& access);
  /// What the system keeps of shared memory, where cooperative groups have the barriers of tiles of several warps: only the
  /// order that it makes is looked at.
  void hand_on(const Access& access);
  /// Bytes of shared memory, from the first to behind the last.
  struct Piece {
    std::uint64_t begin = 0, end = 0;
    bool operator==(const Piece&) const = default;
  };
  /// The async proxy reads them for the lane; for -1 the four warps from this one on, together. It goes on with it until
  /// this group of theirs has been waited for; without one, until the barrier says so that the copy arrives at.
  void async_read(std::span<const Piece> pieces, std::int32_t site, unsigned warp, int lane,
                  std::optional<std::uint32_t> group);
  /// What a fence between the proxies is of: a sum.
  static constexpr unsigned kOfShared = 1, kOfGlobal = 2, kOfBarriers = 4, kOfAll = 7;
  void proxy_fence(unsigned warp, std::uint32_t lanes, unsigned of);
  /// A copy in bulk that this thread of a block has asked for may fill them from now on, and has when they have landed.
  void start_bulk(Piece piece, std::int32_t site, const BlockCheck& by, unsigned thread);
  void landed(Piece piece);
  /// The warp, or its lane, has waited for the groups with lower numbers.
  void products_waited(unsigned warp, std::uint32_t before);
  void stores_waited(unsigned warp, int lane, std::uint32_t before);
  /// All have arrived at the barrier at this place of its shared memory: what they did before is handed on.
  void phase_completed(std::uint64_t barrier);
  /// These threads arrive at the barrier of the cluster; unless it `releases`, what they did before is not handed on.
  void arrive(unsigned warp, std::uint32_t lanes, bool releases, std::int32_t site);
  /// A thread that has arrived there does something before the others have.
  void acts_after_arrival() { is_apart_ = true; }
  /// Where a thread arrived last.
  std::int32_t arrival_site() const { return arrival_site_; }
  /// All threads of these blocks of a cluster have met.
  static void meet(std::span<BlockCheck* const> blocks);
  /// The lane has waited for the copy that it started at `site`: the bytes are there.
  /// `data` are they, `memory` as Access has it. If it `arrives` at a barrier, they are there once it has landed().
  void copied(unsigned warp, int lane, std::uint64_t to, unsigned bytes, std::int32_t site,
              const std::byte* data, const std::byte* memory, bool arrives = false);
  /// All threads have ended.
  void end();
  void report(Hazard hazard, std::int32_t site, unsigned thread, const std::string& what,
              std::int32_t other_site = -1, Party other = {}, Remedy remedy = Remedy::none);

 private:
  struct Exact;  // what is kept of one access
  struct Word;
  struct Words;
  struct Met;
  class Telling;
  struct Storage;
  struct Async;
  struct Own;
  struct Written;  // the last store of a word of shared memory
  struct Doing;    // an access while it is looked at
  friend class Checker;

  // Lanes that ask one value for what others write there: where, and all that an answer could change.
  struct Poll {
    std::int32_t site = -1;  // -1: none
    unsigned warp = 0;
    std::uint32_t lanes = 0;
    std::uint64_t address = 0;
    std::int32_t since = 0, warp_since = 0;
    Clock hoped = 0, known = 0, fenced = 0;  // of the first of the lanes
    Clock handed_on = 0;
    bool operator==(const Poll&) const = default;
  };
  // What a thread knows, by the strictness of the question: with every store and load of a variable that could hand on
  // (by atomics alone: as locks do); only with those stores that a fence stands before; and only with those loads that a
  // fence stands behind.
  struct Thread {
    Clock hoped = 0, locked = 0, known = 0, fenced = 0;
    Clock released[2] = {0, 0};  // what its next strong store hands on: within its block; to all
    bool is_unfenced = false;    // no fence for all since it tried to take a lock
  };
  // What a thread does from its attempt to take a lock to its next fence, it may do before it has the lock.
  struct Unfenced {
    std::uint64_t lock;  // its word
    std::int32_t site;   // where it tried
    bool is_opened = false;
    std::int32_t begin, in_block, to_all;  // moments: until a fence of either scope
  };
  struct Variable {
    Clock hoped = 0, locked = 0, known = 0;
    std::vector<std::pair<std::int32_t, Clock>> in_block;  // handed on at the scope of a block
  };
  using Variables = std::unordered_map<std::uint64_t, Variable>;

  void advance();
  Clock at_arrival(unsigned thread, Clock before);
  Who who(unsigned warp, bool is_shared, bool is_weak) const;
  void lanes(const Doing& doing, std::uint32_t mask);
  void same(const Doing& doing, int lane, int other);
  void run(const Doing& doing, int lane, int count);
  void words(const Doing& doing, std::uint64_t address, unsigned words, int lane, unsigned up,
             unsigned down, WordShape shape);
  void scattered(const Doing& doing, std::uint32_t mask);
  void part_of_word(const Doing& doing, int lane);
  void read_what_was_written(const Doing& doing);
  bool at_barrier(const Doing& doing);
  Poll poll_of(const Doing& doing) const;
  bool polls_again(const Doing& doing);
  void word_lanes(const Doing& doing, Cells& cells, Others* others, unsigned word, int lane,
                  WordShape shape);
  void exactly(const Doing& doing, Cells& cells, Others* others, unsigned word, int lane,
               unsigned bytes);
  bool fits_cell(const Word& word) const;
  void expand(const Cells& cells, const Others* others, unsigned word, bool is_shared,
              std::vector<Exact>& to) const;
  enum class Ordered : std::uint8_t { no, if_fenced, without_acquire, yes };
  Ordered ordered(const Exact& earlier, unsigned thread);
  const Site* site_of(const Exact& one) const;  // null: not known
  bool is_strong(const Exact& one) const;
  bool is_volatile(const Exact& one) const;
  bool is_sent(const Exact& one) const;
  bool is_of_barrier(const Exact& one) const;
  bool are_strong(const Exact& a, const Exact& b, bool is_shared) const;
  Ordered ordered_by_locks(const Exact& earlier, const Exact& now);
  bool is_plain_atomic(const Exact& one) const;
  void tidy(Words& words, Word& word) const;
  bool is_one_change(const Exact& a, const Exact& b) const;
  bool some_stand_for_all() const;
  bool is_alike(const Exact& one, const Exact& now) const;
  void judge(Words& words, Word& word, const Exact& now, const Doing& doing, int lane);
  bool keep_quiet(Words& words, Word& word, const Exact& now, const Site& site);
  std::size_t seen_of(const Word& word, const Exact& now) const;
  Met meet(Word& word, const Exact& now, const Site& site, bool is_shared);
  bool meet_weak(const Exact& one, const Exact& now, bool is_seen, bool is_shared, Met& met);
  void meet_strong(const Word& word, const Exact& one, const Exact& now, bool is_shared, Met& met);
  bool has_read(const Word& word, const Exact& stored, const Exact& now) const;
  void take_first(const Exact*& kept, const Exact& one) const;
  void look_for_fence(const Exact& one, const Exact& now, Met& met) const;
  void keep(Words& words, Word& word, const Exact& now, const Site& site, bool some_before);
  void tell(Word& word, const Exact& now, const Met& met, const Doing& doing, int lane);
  bool stores_same(const Exact& now, const Exact& earlier, const Access& access, int lane) const;
  inline Pages::Page* page_of(const Doing& doing, std::uint64_t address);
  inline bool are_settled(const Access& access) const;
  void neighbours(const Doing& doing, int lane, int count);
  void settle(const Doing& doing, std::uint64_t first_group, const RunResult& result);
  bool is_padding(const Doing& doing, std::uint64_t address, std::uint64_t lacking) const;
  inline bool is_simply_initialised(const Doing& doing, std::uint64_t address, std::size_t bytes);
  void check_initialised(const Doing& doing, int lane, int count);
  // A read of what nobody has written that may not matter, or what values of two such have made together.
  struct Unwritten {
    std::optional<Finding> finding;  // none: it has been told
    std::uint32_t a = 0, b = 0;
  };
  void own_unwritten(const Access& access, const Site& site, int lane);
  std::uint32_t new_origin(Unwritten its);
  std::uint32_t left_at(std::uint64_t address) const;
  void uninitialised(const Doing& doing, int lane);
  void strong(const Doing& doing, int lane, bool is_before);
  bool comes_after(Clock clock, const Exact& earlier);
  bool is_handed_on(const Exact& earlier);
  bool arrives_behind(const Exact& earlier);
  bool has_tried(unsigned thread, std::uint64_t lock, std::int32_t site);
  Unfenced* last_try(unsigned thread, std::uint64_t lock);
  void open_lock(unsigned thread, std::uint64_t lock);
  void try_lock(unsigned thread, std::uint64_t lock, std::int32_t site);
  void end_unfenced(unsigned thread, Scope scope);
  bool was_unfenced(const Exact& one, const Exact& now) const;
  Doing doing_of(const Access& access, BlockCheck& memory);
  void is_there(BlockCheck& owner, const Access& access);
  void touch(const Access& access);
  void touch_of_other(std::size_t word, Act act);
  void forget_touched(bool are_apart);
  void unfinished(const Access& access, BlockCheck& memory);
  void start_copy(const Doing& doing);
  void unread(const Access& access);
  static Exact exact(const Written& its);
  bool comes_before(const Exact& earlier, unsigned first, unsigned threads);
  bool is_fenced(const Exact& store, unsigned first, unsigned threads, unsigned of);
  void note_written(const Access& access, BlockCheck& writer);
  bool is_over(std::int32_t copy, const Thread& to);
  void overwritten(std::uint64_t begin, std::uint64_t end, std::int32_t site, BlockCheck& writer,
                   unsigned thread);
  void judge_read(const Written& its, std::uint64_t address, std::int32_t site, unsigned first,
                  unsigned threads);
  void judge_fence(const Exact& store, Space space, std::uint64_t address, std::int32_t site,
                   unsigned thread);
  void async_barrier();
  void async_end();
  Party party(const Exact& one) const;

  Checker& checker_;
  std::uint64_t block_;
  std::int32_t id_;  // among the blocks that the checker has seen
  std::int32_t now_ = 1, since_ = 1;
  std::array<std::int32_t, 32> warp_since_{};
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Async> async_;  // if the launch has some of it
  Own* own_ = nullptr;     // null: what a thread has not written in its own memory is not seen
  std::int32_t copy_ = 0;  // which it asks for, until it is told of the barrier; 0: none
  std::vector<Thread> threads_;  // if data are handed on
  Poll last_poll_;
  // Of each thread when it arrived at the barrier of the cluster.
  struct Arrival {
    std::int32_t since = 0, warp_since = 0, moment = 0;  // 0: it has not
    bool releases = true;
    bool operator==(const Arrival&) const = default;
  };
  std::vector<Arrival> arrivals_;
  std::array<Clock, 16> arrived_{};  // at each barrier of the block, by who does not wait there
  std::int32_t arrival_site_ = -1;
  bool is_apart_ = false;      // that barrier does not order simply all that was done before it
  std::int32_t meetings_ = 0;  // of the cluster, when it did
  Variables shared_variables_;
  // Copies to shared memory that nobody has waited for: by word.
  struct Filling {
    std::int32_t site = -1;  // -1: none
    unsigned thread = 0;
    bool is_told = false;
    std::uint64_t block = 0;  // whose thread it is
    bool arrives = false;     // at a barrier
  };
  std::vector<Filling> filling_;
  std::size_t fillings_ = 0;
  // Of each such copy the global memory that it may not have read yet.
  struct Source {
    std::uint64_t from = 0, to = 0;  // where the bytes are, and where they go in shared memory
    unsigned bytes = 0;              // 0: it fills in zeros
    std::int32_t site = -1;
  };
  std::vector<std::vector<Source>> sources_;  // by thread: each waits for its own, in their order
  std::size_t source_count_ = 0;
  std::uint64_t least_source_ = UINT64_MAX, beyond_sources_ = 0;
  // Of the copy that starts, by lane, what it reads: all, a part, or nothing.
  std::array<Piece, 32> from_{};
  std::vector<Exact> visits_;  // of other blocks: the last of each at each place
  // Values on their way from memory to memory that lack bytes: by warp and register, of each lane the bytes.
  std::unordered_map<std::uint32_t, std::array<std::uint8_t, 32>> copies_;
  std::vector<Unwritten> origins_;                            // their numbers begin with 1
  std::unordered_map<std::uint64_t, std::uint32_t> left_at_;  // in shared memory, by word
  std::set<std::int32_t>
      told_reads_;  // sites of reads that have mattered: the next are told at once
};

class Checker {
 public:
  /// For device memory at these addresses. Its cells take at most so many bytes. What is initialised is shared with
  /// another checker of that memory, if one is given, which lives longer.
  Checker(std::uint64_t begin, std::size_t bytes, std::size_t most_bytes, Checker* other = nullptr);
  ~Checker();

  void begin_launch(const Launch& launch);
  std::vector<Finding> end_launch(const LineOf& line_of);
  /// Memory was too large to be looked at all of it.
  bool is_partial() const { return pages_.is_full(); }

  /// As Findings::tell.
  void tell(std::function<void(const Finding&)> to) { findings_.tell(std::move(to)); }
  /// Nothing was wrong, and nothing can have been that it did not see.
  bool is_quiet() const { return findings_.empty() && !order_matters_ && !is_partial(); }
  /// Whether blocks that different ones of these have checked have met in the launch: one wrote what another touched.
  /// Several threads may ask, each about another of equal parts of the memory.
  static bool have_met(std::span<Checker* const> checkers, std::size_t part = 0,
                       std::size_t parts = 1);

  Initialised& initialised() { return *initialised_; }
  std::string name_of(Space space, std::uint64_t address) const {
    return launch_.name_of ? launch_.name_of(space, address) : "";
  }

 private:
  friend class BlockCheck;
  struct Touched;
  Touched touched(const Cells& cells) const;
  std::int32_t new_owner(std::uint64_t block);
  std::uint64_t block_of(std::int32_t id) const {
    return blocks_[static_cast<std::size_t>(id - first_owner_)];
  }

  Launch launch_;
  Pages pages_;
  std::unique_ptr<Initialised> own_initialised_;
  Initialised* initialised_;
  std::recursive_mutex mutex_;  // what follows
  Findings findings_;
  std::int32_t first_owner_ = 1, next_owner_ = 1;
  std::vector<std::uint64_t> blocks_;  // of the launch, by owner
  std::int32_t launch_number_ = 0;
  std::unique_ptr<BlockCheck::Words> words_;
  BlockCheck::Variables variables_;
  std::unordered_map<std::uint64_t, std::vector<BlockCheck::Unfenced>> unfenced_;  // by thread
  std::size_t unfenced_count_ = 0;
  std::unordered_set<std::uint64_t> opened_;  // locks that are given back
  Order order_;
  std::int32_t copies_ =
      0;  // between shared memories: each is a block of its own in the order, with a negative number
  // Blocks met: which value was read, or who was last, may depend on the order in which they ran.
  bool order_matters_ = false;
  std::vector<std::unique_ptr<BlockCheck::Storage>> spare_;
  std::unordered_map<std::int32_t, const BlockCheck*>
      there_;  // blocks that the async proxy works for
};

}  // namespace simt::checker
