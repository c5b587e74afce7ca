// A warp while it runs: the registers of its 32 lanes, and which lanes are where.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/simt/machine/code.hpp"
#include "common/simt/machine/undefined.hpp"

namespace simt::machine {

struct Block;

/// Calls visit(lane) for each lane of a mask, in their order.
template <class Visit>
void each_lane(std::uint32_t lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<std::size_t>(std::countr_zero(lanes)));
}

/// Behind all steps.
inline const Step* const kNowhere = reinterpret_cast<const Step*>(UINTPTR_MAX);

/// A copy from global to shared memory that a lane has asked for and not waited for (cp.async).
struct PendingCopy {
  std::uint32_t to = 0;  // in the block's shared memory
  std::uint8_t lane = 0;
  std::uint8_t bytes = 0;
  std::uint32_t group = 0;  // of the lane's groups
  std::int32_t site = -1;   // where it was asked for
  bool arrives = false;     // who needs it waits for a barrier
  std::array<std::byte, 16> data{};
};

/// A copy from shared to global memory that a lane has asked for and not waited for (cp.async.bulk).
struct PendingStore {
  /// So many bytes that lie together on both sides.
  struct Piece {
    std::byte* to = nullptr;
    std::uint32_t from = 0;  // in the block's shared memory
    std::uint32_t bytes = 0;
  };
  std::uint8_t lane = 0;
  std::uint32_t group = 0;  // of the lane's groups
  const Step* step = nullptr;
  BulkCopy::Combine combine = nullptr;
  std::uint8_t element_bytes = 0;
  std::vector<Piece> pieces;
};

/// Lanes that are at the same step and do not run.
struct Group {
  const Step* at = nullptr;
  std::uint32_t lanes = 0;
  enum class State : std::uint8_t {
    ready,
    in_warp,   // at an instruction that waits for lanes of its mask
    in_block,  // at a barrier of the block
    polling,   // at an instruction that may be tried again once others have had a turn
    in_vain,   // behind a jump back that changed nothing: the same
  } state = State::ready;
  std::uint32_t awaited = 0;  // of in_warp: the lanes of its mask; of in_block: which barrier
  std::uint32_t threads = 0;  // of in_block: how many the barrier waits for; 0: all of the block
};

/// Lanes run in groups. The group with the least step runs, to where the next one waits, and joins it there: code is
/// laid out in reverse post-order, so paths meet where they join again (thread frontiers: Diamos et al., MICRO 2011).
/// Groups that are in a function come before those that are not. A group that goes round without a change of its registers waits for what another is to do: then that one runs.
struct Warp {
  Block* block = nullptr;
  unsigned index = 0;           // in the block
  std::uint32_t live = 0;       // lanes that have not ended
  std::uint32_t active = 0;     // lanes that run
  std::uint32_t elsewhere = 0;  // that do the same with them at another place
  const Step* limit =
      kNowhere;  // the least step of a group that is ready: there the lanes that run arrive()
  bool advanced = false;  // in its last turn it did more than to wait
  std::uint32_t long_jumps =
      0;  // and went round so often, in a new state each time; 0: not very often
  // Instructions.
  std::uint64_t instructions = 0;
  std::uint64_t lane_instructions = 0;  // of all lanes, until other ones run
  std::uint64_t global_requests = 0;    // that reached global memory
  std::uint64_t products = 0;           // that multiply floating-point numbers
  std::uint64_t exchanged = 0;          // bits that a lane has of others, by any of them
  std::uint64_t waits = 0;              // times that it went round until others had done something
  std::uint32_t faulty =
      0;  // lanes that may not do what they are at: they end, and the others try it again
  std::vector<Group> others;  // all but the lanes that run
  std::unique_ptr<Undefined> undefined = std::make_unique<Undefined>();
  std::byte* registers = nullptr;
  /// Of `active` a word per lane, all ones or zero.
  alignas(64) std::array<std::int32_t, kLanes> lanes{};
  std::array<std::uint32_t, kLanes> epochs{};  // of each lane the __syncwarps that it has passed
  std::array<std::uint32_t, kLanes>
      cluster_phase{};                             // the barrier of the cluster that it arrived at
  std::uint32_t at_cluster = 0;                    // lanes that arrived at the present one
  std::uint32_t owes_wait = 0;                     // lanes that arrived and have not waited since
  std::array<std::uint32_t, kLanes> copy_group{};  // the group that its next copy belongs to
  std::vector<PendingCopy> copies;
  /// The same of copies in bulk from shared memory.
  std::array<std::uint32_t, kLanes> bulk_group{};
  std::vector<PendingStore> stores;
  /// wgmma: which one it has come to, and whether another of its four warps has done that; how often it has committed.
  const Step* product = nullptr;
  bool has_product = false;
  std::uint32_t product_group = 0;
  /// Of each lane the functions that it is in, and where the last one's frame begins in its local memory.
  struct Activation {
    const Step* back;
    std::size_t plan;     // in Code::calls
    std::int32_t callee;  // in Code::called
    std::uint32_t frame, allocated;
    std::vector<std::byte> registers;  // the lane's, if the function was active already
  };
  std::array<std::vector<Activation>, kLanes> activations;
  std::array<std::uint32_t, kLanes> frames{};
  std::array<std::uint32_t, kLanes> allocated{};  // from the end of its local memory on (alloca)
  std::array<std::uint32_t, kLanes> depths{};     // of each lane the size of its activations
  /// Lanes that go on together wherever they meet are of one company; all are until some part for good (CallPlan::parts).
  std::array<std::uint32_t, kLanes> company{};  // of each lane all of its
  bool are_parted = false;

  /// Before its first step, whatever it was before.
  void begin(std::uint32_t lanes, const Step* first);
  void activate(std::uint32_t mask);
  /// The active lanes run a step.
  const Step* execute(const Step* step) {
    ++instructions;
    return step->run(step, *this);
  }
  template <class T>
  T* values(std::uint32_t slot) {
    return reinterpret_cast<T*>(registers + slot);
  }
  std::uint32_t& predicate(std::uint32_t slot) { return *values<std::uint32_t>(slot); }

  /// Puts the active lanes aside, at `at`, and says who runs now: null if nobody can.
  const Step* leave(const Step* at, Group::State state, std::uint32_t awaited = 0,
                    std::uint32_t threads = 0);
  /// The active lanes have ended.
  const Step* end();
  /// The active lanes come to `at`: they go on there, or others do that are behind.
  const Step* arrive(const Step* at);
  /// These of the active lanes are a company of their own.
  void part(std::uint32_t some);
  /// These of the active lanes go on at `at` later; the others stay active.
  void set_aside(const Step* at, std::uint32_t some, Group::State state = Group::State::ready,
                 std::uint32_t awaited = 0);
  /// If the lanes of the group's mask have met at instructions of one kind, though not all at one: they do it together.
  void meet_apart(const Group& one);
  /// Who runs where no lane is active: null if nobody can.
  const Step* choose();
  /// All active lanes jump.
  const Step* jump(const Step* from, const Step* target);
  /// Of the active lanes these go to `taken`, the others to `next`.
  const Step* split(const Step* taken, std::uint32_t takers, const Step* next);
  /// The active lanes sleep: that is an advance if anything has changed since the last time, as in a loop that counts.
  void note_sleep(const Step* step);
  /// Lanes that wait at a barrier of the block wait no longer.
  void release(std::uint32_t barrier);
  /// The step that runs has brought something that nobody wrote: it is the last that is not followed.
  void begin_to_follow();
  /// Equal where all registers are.
  std::uint64_t state_of_registers() const;
  std::uint64_t state_before(const Step* jump_back) const;
  /// Runs until all lanes have ended or wait, or others of the block are to have a turn.
  void run();

 private:
  std::uint32_t depth_of(const Group& group) const;
  bool are_of_one(const Group& a, const Group& b) const;
  const Step* end_faulty(const Step* at, std::uint32_t lanes);
  const Step* follow(const Step* step);
  void begin_to_count();
  bool goes_round(const Step* from);
  const Step* linger(const Step* step);

  const Step* kept_limit_ = kNowhere;  // while begin_to_follow() has taken its place
  std::uint64_t since_ = 0;  // how many instructions there were when the active lanes began
  // Of lanes together and apart, in this turn, and since some went round in vain: who parts and meets in each round of a
  // loop may wait as well.
  std::uint32_t jumps_back_ = 0;
  const Step* watched_jump_ = nullptr;  // where the state was noted
  std::uint32_t watched_lanes_ = 0;
  std::uint64_t noted_ = 0, noted_before_ = 0;
  std::uint64_t awaited_ = 0;    // the state in which it last went round
  std::uint64_t last_spin_ = 0;  // the state in which it last left the others a turn
  std::uint32_t place_ = 0;      // of chance, for where it leaves them the next one
  std::uint32_t turns_ = 0;
  std::uint32_t sleeps_ = 0;
  bool last_first_ = false;  // who has spun comes last for once
};

/// Equal where the words are.
std::uint64_t sum_of_words(const std::byte* data, std::size_t bytes);

/// Runs a step that computes a value of so many bytes for each lane, and gives those that are not active back what they had.
const Step* for_active_lanes(Execute run, const Step* step, Warp& warp, std::size_t bytes);

}  // namespace simt::machine
