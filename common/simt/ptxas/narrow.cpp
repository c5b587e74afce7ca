#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/simt/ptxas/accesses.hpp"
#include "common/simt/ptxas/passes.hpp"

namespace simt::ptxas {

// Parts of wide loads that nobody reads: a half of them is left out, and a half of that. Of four words one in each half
// makes two loads. Bytes stay together.
void narrow_loads(const Pass& pass) {
  for (const Instruction& one : pass.function.body) {
    if (!is_load(one) || one.operands.size() != 2 || values(one) < 2 || one.guard >= 0 ||
        one.has("volatile") || one.has("param") || ptx::bytes_of(one.type()) == 1) {
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(ptx::bytes_of(one.type()));
    std::size_t begin = 0, count = values(one);
    const auto is_dead = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const Operand& its = value(one, i);
        if (its.kind == Operand::Kind::reg && pass.registers.is_read(its.index)) return false;
      }
      return true;
    };
    while (count > 1) {
      const std::size_t half = count / 2;
      if (is_dead(begin + half, begin + count)) {
        count = half;
      } else if (is_dead(begin, begin + half)) {
        begin += half;
        count = half;
      } else {
        break;
      }
    }
    if (count == 4 && bytes == 4 && is_dead(0, 1) != is_dead(1, 2) &&
        is_dead(2, 3) != is_dead(3, 4)) {
      for (std::size_t i = 0; i < 4; ++i) {
        if (is_dead(i, i + 1)) continue;
        pass.rewritten[&one].push_back(
            with_values(one, {value(one, i)}, static_cast<std::int64_t>(i) * bytes));
      }
    }
    if (count == values(one)) continue;
    std::vector<Operand> kept;
    for (std::size_t i = begin; i < begin + count; ++i) kept.push_back(value(one, i));
    pass.rewritten[&one] = {with_values(one, kept, static_cast<std::int64_t>(begin) * bytes)};
  }
}

// Of an address of code that is only called, ptxas loads the lower half.
void halve_addresses_of_code(const Pass& pass) {
  std::vector<int> calls(pass.function.registers.size(), 0);
  for (const Instruction& one : pass.function.body) {
    if (one.opcode != "call") continue;
    for (const Operand& its : one.operands) {
      if (its.kind == Operand::Kind::reg) ++calls[static_cast<std::size_t>(its.index)];
    }
  }
  for (const Instruction& one : pass.function.body) {
    if (one.opcode != "ld" || one.has("param") || one.has("local") ||
        one.operands[0].kind != Operand::Kind::reg) {
      continue;
    }
    const std::int32_t index = one.operands[0].index;
    const int its = calls[static_cast<std::size_t>(index)];
    if (its == 0 || its != pass.registers.reads(index) || ptx::bytes_of(one.type()) != 8) continue;
    pass.rewritten[&one] = {one};
    pass.rewritten[&one].front().joined_bytes = 4;
  }
}

}  // namespace simt::ptxas
