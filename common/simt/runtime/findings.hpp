// Hazards as they are met: one record per kind, pair of program counters and array, with a count.
// Each worker collects its own; the launch merges them in grid order, so the result does not depend
// on how many OS threads ran the blocks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "common/simt/simt.hpp"

namespace simt {

enum class Hazard : std::uint8_t {
  race,
  same_value_write,
  read_beside_atomic,
  out_of_bounds,
  use_after_free,
  misaligned,
  invalid_address,
  uninitialized_shared_read,
  uninitialized_global_read,
  divergent_barrier,
  missed_barrier,
  warp_deadlock,
  undefined_shuffle,
  unfinished_copy,
  invalid_copy,
  endless_kernel,
  failed_assert,
  trap,
  division_by_zero,
  stack_overflow,
  unordered_streams,
  absent_block,
  unordered_launches,
};

const char* hazard_name(Hazard hazard);

// What the reader should do about it, where that depends on who the two parties are. Of a finding's
// occurrences the greatest counts.
enum class Remedy : std::uint8_t {
  none,               // the hazard says all
  lanes,              // a race within a warp
  block,              // a race between warps
  global,             // a race in global memory: a barrier may not be enough
  cluster,            // between blocks of a cluster
  block_begin,        // one of them may not have begun
  block_end,          // or may have ended
  blocks,             // a race between blocks
  blocks_in_place,    // one of them only reads
  whole_warp,         // a deadlock in an instruction that needs every lane
  arrival,            // of a store at a barrier in shared memory
  barrier_in_memory,  // how such a barrier is set up and kept
};

struct HazardKey {
  Hazard hazard;
  std::uint32_t pc;        // relative to the load address; of the access or of the first party
  std::uint32_t other_pc;  // second party, 0 if none
  std::string array;
  std::string what;  // the middle of the message: what happened, without numbers of this occurrence
  auto operator<=>(const HazardKey&) const = default;
};

// Where it was first seen, in grid order, and how often.
struct HazardRecord {
  std::uint64_t block = UINT64_MAX;  // linear index
  unsigned thread = 0;               // linear index in the block
  unsigned other_thread = UINT32_MAX;
  // Of a race between blocks; then threads do not count, unless the other one is named as well: two
  // blocks of a cluster.
  std::uint64_t other_block = UINT64_MAX;
  std::string detail;  // numbers of the first occurrence
  std::uint64_t count = 0;
  Remedy remedy = Remedy::none;
  bool beside_atomic =
      false;  // a plain read beside updates: what it is, the end of the launch tells

  // Counts an occurrence; keeps the first one in (block, thread, other thread) order.
  void add(const HazardRecord& other);
  void add(std::uint64_t at_block, unsigned at_thread, unsigned at_other,
           const std::string& its_detail, std::uint64_t times = 1);
  void prescribe(Remedy its) { remedy = std::max(remedy, its); }
  bool between_blocks() const { return other_block != UINT64_MAX && other_thread == UINT32_MAX; }
};

using HazardTable = std::map<HazardKey, HazardRecord>;

void merge(HazardTable& into, const HazardTable& from);

// What the reader should do about it: one sentence or two.
const char* advice(Hazard hazard, Remedy remedy = Remedy::none);

// Resolves program counters to lines, joins records that fall on the same lines, writes messages.
std::vector<Finding> to_findings(const HazardTable& table, const unsigned grid[3],
                                 const unsigned block[3]);

}  // namespace simt
