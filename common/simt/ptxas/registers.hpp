// What a function's registers hold, as far as one can see.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/simt/ptx/module.hpp"

namespace simt::ptxas {

using ptx::Instruction;
using ptx::Operand;

class Registers {
 public:
  /// `places`: of the kernel that the function is, or that calls it.
  Registers(const ptx::Module& module, const ptx::Function& function,
            const ptx::SharedPlaces& places);

  /// Who reads it, as often as it is named; a guard too.
  const std::vector<const Instruction*>& readers(std::int32_t index) const {
    return readers_[static_cast<std::size_t>(index)];
  }
  int reads(std::int32_t index) const { return static_cast<int>(readers(index).size()); }
  std::int64_t bytes_of(std::int32_t index) const {
    return ptx::bytes_of(function_.registers[static_cast<std::size_t>(index)].type);
  }
  bool is_read(std::int32_t index) const { return reads(index) > 0; }
  const std::vector<const Instruction*>& definitions(std::int32_t index) const {
    return definitions_[static_cast<std::size_t>(index)];
  }

  /// An address as a sum: so many bytes behind multiples of what registers, and variables whose place is
  /// not known, hold.
  struct Term {
    std::int32_t index;
    std::int64_t times;
    auto operator<=>(const Term&) const = default;
  };
  struct Sum {
    std::vector<Term> registers;  // ordered
    std::vector<std::string_view> variables;
    std::int64_t bytes = 0;
    std::string_view origin;  // the variable in it, if it has one
    bool operator==(const Sum& other) const {
      return registers == other.registers && variables == other.variables;
    }
    bool has(std::int32_t index) const {
      return std::any_of(registers.begin(), registers.end(),
                         [&](const Term& its) { return its.index == index; });
    }
  };
  Sum sum(const Operand& address) const;
  /// Whether so many bytes from there on lie in the variable.
  bool is_inside(const Sum& sum, std::int64_t bytes) const;

  /// A power of two that divides what the operand is, whenever it is read.
  std::uint64_t divisor(const Operand& operand);
  /// Of the sum without its bytes.
  std::uint64_t divisor(const Sum& sum);

 private:
  std::optional<std::uint64_t> place_of(std::string_view name) const;
  void add(const Operand& operand, Sum& all, bool is_wide = false, std::int64_t times = 1,
           std::size_t depth = 0) const;
  std::uint64_t of_register(std::int32_t index);
  void settle();
  std::uint64_t of_result(const Instruction& one);

  const ptx::Module& module_;
  const ptx::Function& function_;
  const ptx::SharedPlaces& places_;
  std::vector<std::vector<const Instruction*>> definitions_, readers_;
  std::vector<std::uint64_t> known_;  // of each register a power of two that divides it
  bool is_settled_ = false;
};

}  // namespace simt::ptxas
