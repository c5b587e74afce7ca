// In what order the steps of a function lie: of lanes that have parted those go on whose code comes first, and where they
// meet they go on together. So do those of a GPU, but only where all ways out of a branch or a loop come together (and
// where ptxas lets those wait for each other that leave a loop by its own end, with BREAK for the others): what lies
// between a loop and that place is run by each lane when it leaves. Here that lies before the loop. Found by comparing
// the SASS of loops for sm_90, and counted on an H200.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

/// Instructions that lie together, from `begin` to before `end`, and where they go on: -1 where that need not be said.
struct Passage {
  std::int32_t begin, end, goes_on;
  /// The jumps to there that come here first, where lanes wait for each other.
  std::vector<std::int32_t> comers = {};
};
std::vector<Passage> layout(const ptx::Function& function);

/// Whether lanes stay apart that a call by an address, at this place of a kernel, sends to several functions. ptxas has
/// them meet behind it where a loop, or a jump that not all lanes take, says that lanes part: in the kernel, or in a
/// function that it may call, as all do whose address the module names; else only at a barrier of the block.
bool stay_apart(const ptx::Module& module, const ptx::Function& kernel, std::int32_t call);

}  // namespace simt::ptxas
