#include "common/simt/ptxas/registers.hpp"

#include <numeric>

namespace simt::ptxas {
namespace {

constexpr std::uint64_t kMost = 1 << 20;
// The shared memory of a block that a program has begins at a multiple of this.
constexpr std::uint64_t kSharedBegin = 1024;

std::uint64_t of_number(std::uint64_t number) {
  return number == 0 ? kMost : std::min<std::uint64_t>(number & -number, kMost);
}

}  // namespace

Registers::Registers(const ptx::Module& module, const ptx::Function& function,
                     const ptx::SharedPlaces& places)
    : module_(module),
      function_(function),
      places_(places),
      definitions_(function.registers.size()),
      readers_(function.registers.size()) {
  for (const Instruction& one : function.body) {
    for (const Operand& operand : one.operands) {
      for (const std::int32_t index : operand.registers()) {
        if (&operand == one.result()) {
          definitions_[static_cast<std::size_t>(index)].push_back(&one);
        } else {
          readers_[static_cast<std::size_t>(index)].push_back(&one);
        }
      }
    }
    if (one.guard >= 0) readers_[static_cast<std::size_t>(one.guard)].push_back(&one);
  }
  known_.resize(function.registers.size());
}

std::uint64_t Registers::divisor(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::number:
      return of_number(operand.bits);
    case Operand::Kind::symbol: {
      const auto offset = static_cast<std::uint64_t>(operand.offset);
      if (const std::optional<std::uint64_t> at = place_of(operand.name)) {
        return std::min(of_number(*at + offset), kSharedBegin);
      }
      const ptx::Variable* its = function_.variable(operand.name);
      if (its == nullptr) its = module_.variable(operand.name);
      if (its == nullptr) return 1;
      return std::min<std::uint64_t>(static_cast<std::uint64_t>(its->align), of_number(offset));
    }
    case Operand::Kind::reg:
      return of_register(operand.index);
    default:
      return 1;
  }
}

// Where a shared variable lies, if ptxas knew.
std::optional<std::uint64_t> Registers::place_of(std::string_view name) const {
  const auto found = places_.at.find(name);
  if (found == places_.at.end() || module_.is_linked) return std::nullopt;
  return found->second;
}

Registers::Sum Registers::sum(const Operand& address) const {
  Sum all;
  all.bytes = address.offset;
  add(address.parts.front(), all);
  std::sort(all.registers.begin(), all.registers.end());
  std::sort(all.variables.begin(), all.variables.end());
  return all;
}

bool Registers::is_inside(const Sum& sum, std::int64_t bytes) const {
  const std::optional<std::uint64_t> at = place_of(sum.origin);
  if (!at || !sum.registers.empty()) return false;
  const ptx::Variable* its = function_.variable(sum.origin);
  if (its == nullptr) its = module_.variable(sum.origin);
  const std::int64_t offset = sum.bytes - static_cast<std::int64_t>(*at);
  return its != nullptr && offset >= 0 && offset + bytes <= its->bytes;
}

std::uint64_t Registers::divisor(const Sum& sum) {
  std::uint64_t least = kSharedBegin;
  for (const Term& term : sum.registers) {
    const std::uint64_t its = of_number(static_cast<std::uint64_t>(term.times));
    least = std::min(least, of_register(term.index) * its);
  }
  for (const std::string_view name : sum.variables) {
    Operand variable;
    variable.kind = Operand::Kind::symbol;
    variable.name = name;
    least = std::min(least, divisor(variable));
  }
  return least;
}

// A register that is set in one place is, wherever it is read, what it is made of there; of one that is set in several
// nothing is known.
void Registers::add(const Operand& operand, Sum& all, bool is_wide, std::int64_t times,
                    std::size_t depth) const {
  if (operand.kind == Operand::Kind::number) {
    all.bytes += times * (is_wide ? static_cast<std::int64_t>(operand.bits)
                                  : static_cast<std::int32_t>(operand.bits));
    return;
  }
  if (operand.kind == Operand::Kind::symbol) {
    all.bytes += operand.offset;
    all.origin = operand.name;
    if (const std::optional<std::uint64_t> at = place_of(operand.name)) {
      all.bytes += static_cast<std::int64_t>(*at);
    } else {
      all.variables.push_back(operand.name);
    }
    return;
  }
  if (operand.kind != Operand::Kind::reg) return;
  constexpr std::size_t kDeepest = 64;  // of a chain of sums, and of terms
  if (depth < kDeepest && all.registers.size() < kDeepest &&
      definitions(operand.index).size() == 1) {
    const Instruction& one = *definitions(operand.index).front();
    const auto is_single = [&](std::size_t i) {
      const Operand& its = one.operands[i];
      return its.kind == Operand::Kind::number || its.kind == Operand::Kind::symbol ||
             (its.kind == Operand::Kind::reg && its.index != operand.index &&
              definitions(its.index).size() == 1);
    };
    // Of shared memory they have 32 bits, of global memory 64.
    const int bytes = ptx::bytes_of(one.type());
    const bool is_address = one.guard < 0 && (bytes == 4 || bytes == 8);
    const auto is_number = [&](std::size_t i) {
      return times == 1 || one.operands[i].kind != Operand::Kind::symbol;
    };
    if (is_address && one.opcode == "mov" && is_single(1) && is_number(1)) {
      return add(one.operands[1], all, bytes == 8, times, depth + 1);
    }
    if (is_address && one.opcode == "add" && is_single(1) && is_single(2) && is_number(1) &&
        is_number(2)) {
      add(one.operands[1], all, bytes == 8, times, depth + 1);
      return add(one.operands[2], all, bytes == 8, times, depth + 1);
    }
    if (is_address && one.opcode == "shl" && is_single(1) &&
        one.operands[1].kind == Operand::Kind::reg &&
        one.operands[2].kind == Operand::Kind::number && one.operands[2].bits < 16) {
      return add(one.operands[1], all, bytes == 8, times << one.operands[2].bits, depth + 1);
    }
  }
  all.registers.push_back({operand.index, times});
}

// Taken to divide by anything until a definition says less, as often as one does: in a loop they say so in turn.
std::uint64_t Registers::of_register(std::int32_t index) {
  if (!is_settled_) settle();
  return known_[static_cast<std::size_t>(index)];
}
void Registers::settle() {
  is_settled_ = true;
  for (std::size_t i = 0; i < known_.size(); ++i) {
    known_[i] = definitions_[i].empty() ? 1 : kMost;  // a special register
  }
  std::vector<std::int32_t> open(known_.size());
  std::iota(open.rbegin(), open.rend(), 0);
  while (!open.empty()) {
    const std::int32_t index = open.back();
    open.pop_back();
    std::uint64_t least = known_[static_cast<std::size_t>(index)];
    for (const Instruction* const one : definitions(index))
      least = std::min(least, of_result(*one));
    if (least == known_[static_cast<std::size_t>(index)]) continue;
    known_[static_cast<std::size_t>(index)] = least;
    for (const Instruction* const reader : readers(index)) {
      if (reader->result() == nullptr) continue;
      for (const std::int32_t its : reader->result()->registers()) open.push_back(its);
    }
  }
}

std::uint64_t Registers::of_result(const Instruction& one) {
  const std::string_view name = one.opcode;
  const auto of = [&](std::size_t i) {
    return i < one.operands.size() ? divisor(one.operands[i]) : 1;
  };
  const auto product = [&] { return std::min(of(1) * of(2), kMost); };
  if (one.operands[0].kind != Operand::Kind::reg) return 1;
  // The bits of a float are no whole number.
  if (ptx::name_of(one.type()).find('f') != std::string_view::npos) return 1;
  if (name == "mov" || name == "cvta" || (name == "cvt" && !one.has("sat"))) return of(1);
  if (name == "add" || name == "sub" || name == "or" || name == "xor" || name == "min" ||
      name == "max") {
    return std::min(of(1), of(2));
  }
  if (name == "selp") return std::min(of(1), of(2));
  if (name == "and") return std::max(of(1), of(2));
  if (name == "mul" && !one.has("hi")) return product();
  if (name == "mad" && !one.has("hi")) return std::min(product(), of(3));
  if (name == "shl" && one.operands[2].kind == Operand::Kind::number) {
    return one.operands[2].bits >= 20 ? kMost : std::min(of(1) << one.operands[2].bits, kMost);
  }
  return 1;
}

}  // namespace simt::ptxas
