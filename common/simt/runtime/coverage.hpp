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
inline constexpr std::uint8_t kBlockReached = 1;
inline constexpr std::uint8_t kFp64Block = 2;  // it computes in double precision: fp64.hpp

// Counts one execution for the launch in progress (scheduler.cpp).
void count_fp64_block(std::uint32_t pc);

inline void note_block(std::uint32_t pc) {
  std::uint8_t& block = g_block_reached[pc >> 2];
  const std::uint8_t known = __atomic_load_n(&block, __ATOMIC_RELAXED);
  if (known == kBlockReached) [[likely]] {
    return;
  }
  if (!(known & kBlockReached)) __atomic_store_n(&block, known | kBlockReached, __ATOMIC_RELAXED);
  if (known & kFp64Block) count_fp64_block(pc);
}

// Before a launch of the kernel whose host function holds this address.
void expect_coverage(std::uintptr_t program_counter);

// All that ran since the program began, whoever has taken it.
Coverage whole_coverage();

}  // namespace simt
