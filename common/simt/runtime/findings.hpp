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

#include "common/simt/checker/hazards.hpp"
#include "common/simt/simt.hpp"

namespace simt {

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

// Resolves program counters to lines, joins records that fall on the same lines, writes messages.
std::vector<Finding> to_findings(const HazardTable& table, const unsigned grid[3],
                                 const unsigned block[3]);

}  // namespace simt
