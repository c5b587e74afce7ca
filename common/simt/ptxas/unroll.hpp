// Loops that ptxas unrolls. One whose rounds it can count shows where it merges what several rounds load: that is written
// out. Another shows where lanes leave it at different rounds: lanes with four rounds to go take them together, then those
// with two, then those with one; nobody else waits in the loop meanwhile. Found by comparing the SASS of loops for sm_90
// with and without .pragma "nounroll", and of generated ones of every length and count.
#pragma once

#include <cstdint>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

/// Writes out the rounds that ptxas puts together of loops that always go round the same number of times: all of them, or
/// some and what then remains behind the loop. A register has another name in each round.
void write_out_counted_loops(ptx::Module& module);

/// One stretch of code from its head to the jump back to it, in which jumps forward may skip something. Whoever comes to its end goes on while the counter, to which
/// `step` is added in each round, is not at the bound.
struct UnrolledLoop {
  std::int32_t head, jump;  // places in the body
  ptx::Operand counter, bound;
  ptx::Type type;  // of both
  std::int64_t step;
};

/// In the order of their heads.
std::vector<UnrolledLoop> unrolled_loops(const ptx::Function& function);

}  // namespace simt::ptxas
