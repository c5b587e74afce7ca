// Which lines of the program's device code ran: what take_coverage() (simt.hpp) is made of.
//
// The compiler puts a call at the start of each basic block of instrumented code. The calls lie in the
// program's text, so those of all kernels can be found without running them, and the line table says
// which lines stand behind each.
#pragma once

#include <cstdint>

#include "common/simt/simt.hpp"

namespace simt {

// A byte for each four bytes of the program's text, by relative program counter: two calls are farther
// apart than that. Written by every thread that runs blocks, but only once each, so that they do not
// take the cache line from each other.
extern std::uint8_t* g_block_reached;

inline void note_block(std::uint32_t pc) {
  std::uint8_t& reached = g_block_reached[pc >> 2];
  if (!__atomic_load_n(&reached, __ATOMIC_RELAXED)) __atomic_store_n(&reached, 1, __ATOMIC_RELAXED);
}

// Before a launch of the kernel whose host function holds this address.
void expect_coverage(std::uintptr_t program_counter);

// All that ran since the program began, whoever has taken it.
Coverage whole_coverage();

}  // namespace simt
