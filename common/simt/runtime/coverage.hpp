// Which lines of the program's device code ran: what take_coverage() (simt.hpp) is made of.
//
// The compiler puts a call at the start of each basic block of instrumented code. The calls lie in the
// program's text, so those of all kernels can be found without running them, and the line table says
// which lines stand behind each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simt/simt.hpp"

namespace simt {

// A byte for each four bytes of the program's text, by relative program counter: two calls are farther
// apart than that. Written by every thread that runs blocks, but only once each, so that they do not
// take the cache line from each other.
extern std::uint8_t* g_block_reached;
inline constexpr std::uint8_t kBlockReached = 1;
inline constexpr std::uint8_t kFp64Block = 2;  // it computes in double precision: fp64.hpp

// Both in scheduler.cpp. Counts one execution for the launch in progress; a block runs for the first time.
void count_fp64_block(std::uint32_t pc);
void note_first_run(std::uint32_t pc);

inline void note_block(std::uint32_t pc) {
  std::uint8_t& block = g_block_reached[pc >> 2];
  const std::uint8_t known = __atomic_load_n(&block, __ATOMIC_RELAXED);
  if (known == kBlockReached) [[likely]] {
    return;
  }
  if (!(known & kBlockReached)) {
    __atomic_store_n(&block, known | kBlockReached, __ATOMIC_RELAXED);
    note_first_run(pc);
  }
  if (known & kFp64Block) count_fp64_block(pc);
}

// Which basic block came after which, in some thread: a set of pairs of program counters.
class BlockEdges {
 public:
  static constexpr std::uint32_t kElsewhere =
      0xffffffff;  // before the second: another function, or none

  // Both as Event::key has them; nothing before: 0.
  void add(std::uint64_t from, std::uint64_t to) {
    const bool same_frame = (from ^ to) >> 48 == 0;
    const auto pc = [](std::uint64_t key) { return static_cast<std::uint32_t>(key >> 16); };
    insert(same_frame ? pc(from) : kElsewhere, pc(to));
  }
  void insert(std::uint32_t from, std::uint32_t to) {
    const std::uint64_t edge = std::uint64_t{from} << 32 | to;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = edge * 0x9e3779b97f4a7c15u >> 40;; ++i) {
      std::uint64_t& slot = slots_[i & mask];
      if (slot == edge) return;
      if (slot == 0) {
        slot = edge;
        if (++used_ * 2 > slots_.size()) grow();
        return;
      }
    }
  }
  bool has(std::uint32_t from, std::uint32_t to) const {
    const std::uint64_t edge = std::uint64_t{from} << 32 | to;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = edge * 0x9e3779b97f4a7c15u >> 40;; ++i) {
      const std::uint64_t slot = slots_[i & mask];
      if (slot == edge || slot == 0) return slot != 0;
    }
  }
  void add(const BlockEdges& other) {
    for (const std::uint64_t edge : other.slots_) {
      if (edge) insert(static_cast<std::uint32_t>(edge >> 32), static_cast<std::uint32_t>(edge));
    }
  }
  void clear() {
    if (used_ == 0) return;
    slots_.assign(kSlots, 0);
    used_ = 0;
  }

 private:
  static constexpr std::size_t kSlots = 512;  // a power of two
  void grow() {
    std::vector<std::uint64_t> old(slots_.size() * 2);
    old.swap(slots_);
    used_ = 0;
    for (const std::uint64_t edge : old) {
      if (edge) insert(static_cast<std::uint32_t>(edge >> 32), static_cast<std::uint32_t>(edge));
    }
  }
  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(kSlots);
  std::size_t used_ = 0;
};

// After a launch, or a part of one.
void note_edges(const BlockEdges& edges);

// Before a launch of the kernel whose host function holds this address.
void expect_coverage(std::uintptr_t program_counter);

// All that ran since the program began, whoever has taken it.
Coverage whole_coverage();

}  // namespace simt
