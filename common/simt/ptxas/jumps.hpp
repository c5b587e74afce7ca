// Where ways part and meet, as far as accesses may be moved past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

std::int32_t target(const ptx::Function& function, const ptx::Instruction& jump);
/// From how many places one comes to each, from above or by a jump.
std::vector<int> comers_of(const ptx::Function& function);
/// Places to which one jump forward leads, and nobody comes from above.
std::set<std::int32_t> arms_of(const ptx::Function& function);
/// The first place from which somebody comes to each place, from above or by a jump forward; -1: by another jump too.
std::vector<std::int32_t> first_comers(const ptx::Function& function);

/// Jumps around steps that write no shared memory and call nothing, and where they lead: ptxas moves loads of shared memory
/// past them. (Past two ways that meet again, too, which nvcc lays out in many ways: here they stop at those.)
struct Choices {
  std::set<std::int32_t> jumps;              // places in the body
  std::map<std::int32_t, std::size_t> ends;  // and how many of the jumps lead there: more of a && b
  std::set<std::int32_t> with_loads;         // ends

  Choices(const ptx::Function& function, const std::set<std::int32_t>& labels);
};

}  // namespace simt::ptxas
