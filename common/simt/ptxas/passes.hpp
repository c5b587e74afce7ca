// The rules by which rewrite() goes over a function, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "common/simt/ptx/module.hpp"
#include "common/simt/ptxas/registers.hpp"
#include "common/simt/ptxas/rewrite.hpp"

namespace simt::ptxas {

/// What each of them works on.
struct Pass {
  const Instruction& at(std::int32_t place) const {
    return function.body[static_cast<std::size_t>(place)];
  }
  std::int32_t size() const { return static_cast<std::int32_t>(function.body.size()); }

  const ptx::Function& function;
  const std::set<std::int32_t>& labels;  // places to which something may jump
  Registers& registers;
  Rewritten& rewritten;  // so far
};

void narrow_loads(const Pass& pass);
void halve_addresses_of_code(const Pass& pass);
void fuse_products(const Pass& pass);
void join_accesses(const Pass& pass);
void choose_loads(const Pass& pass);
void hoist_loads(const Pass& pass);
void delay_loads(const Pass& pass);
void count_stores_once(const Pass& pass);

}  // namespace simt::ptxas
