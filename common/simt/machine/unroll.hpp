// Loops that ptxas unrolls, which shows where lanes leave them at different rounds: lanes with four rounds to go take them
// together, then those with two, then those with one; nobody else waits in the loop meanwhile. Found by comparing the SASS
// of loops for sm_90 with and without .pragma "nounroll".
#pragma once

#include <cstdint>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::machine {

/// One stretch of code from its head to the jump back to it. Whoever comes to its end goes on while the counter, to which
/// `step` is added in each round, is not at the bound.
struct UnrolledLoop {
  std::int32_t head, jump;  // places in the body
  ptx::Operand counter, bound;
  ptx::Type type;  // of both
  std::int64_t step;
};

/// In the order of their heads.
std::vector<UnrolledLoop> loops_unrolled_by_ptxas(const ptx::Function& function);

}  // namespace simt::machine
