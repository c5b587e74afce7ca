#include "common/simt/machine/merge.hpp"

#include <algorithm>
#include <bit>
#include <set>
#include <string_view>
#include <vector>

namespace simt::machine {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

constexpr std::uint64_t kWidest = 16;  // bytes of one access of a lane

bool writes_no_register(std::string_view opcode) {
  static const std::set<std::string_view> all = {
      "st",           "red",    "bra",     "brx",       "ret",  "exit",     "bar",
      "barrier",      "membar", "fence",   "call",      "cp",   "prefetch", "prefetchu",
      "trap",         "brkpt",  "discard", "nanosleep", "sust", "pmevent",  "griddepcontrol",
      "applypriority"};
  return all.contains(opcode);
}

template <class Visit>
void each_register(const Operand& operand, Visit visit) {
  if (operand.kind == Operand::Kind::reg) visit(operand.index);
  for (const Operand& part : operand.parts) each_register(part, visit);
}

// What a function's registers hold, as far as one can see.
class Registers {
 public:
  Registers(const ptx::Module& module, const ptx::Function& function)
      : module_(module),
        function_(function),
        definitions_(function.registers.size()),
        reads_(function.registers.size(), 0) {
    for (const Instruction& one : function.body) {
      const bool writes = !writes_no_register(one.opcode) && !one.operands.empty();
      for (std::size_t i = 0; i < one.operands.size(); ++i) {
        const bool is_result = i == 0 && writes && one.operands[0].kind != Operand::Kind::address;
        each_register(one.operands[i], [&](std::int32_t index) {
          if (is_result) {
            definitions_[static_cast<std::size_t>(index)].push_back(&one);
          } else {
            ++reads_[static_cast<std::size_t>(index)];
          }
        });
      }
      if (one.guard >= 0) ++reads_[static_cast<std::size_t>(one.guard)];
    }
    known_.assign(function.registers.size(), 0);
  }

  bool is_read(std::int32_t index) const { return reads_[static_cast<std::size_t>(index)] > 0; }
  const std::vector<const Instruction*>& definitions(std::int32_t index) const {
    return definitions_[static_cast<std::size_t>(index)];
  }

  // A power of two that divides what the operand is, whenever it is read.
  std::uint64_t divisor(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::number:
        return of_number(operand.bits);
      case Operand::Kind::symbol: {
        const ptx::Variable* its = function_.variable(operand.name);
        if (its == nullptr) its = module_.variable(operand.name);
        if (its == nullptr) return 1;
        return std::min<std::uint64_t>(static_cast<std::uint64_t>(its->align),
                                       of_number(static_cast<std::uint64_t>(operand.offset)));
      }
      case Operand::Kind::reg:
        return of_register(operand.index);
      default:
        return 1;
    }
  }

 private:
  static constexpr std::uint64_t kMost = 1 << 20;
  static std::uint64_t of_number(std::uint64_t number) {
    return number == 0 ? kMost : std::min<std::uint64_t>(number & -number, kMost);
  }

  std::uint64_t of_register(std::int32_t index) {
    std::uint64_t& its = known_[static_cast<std::size_t>(index)];
    if (its != 0) return its;
    const std::vector<const Instruction*>& all = definitions_[static_cast<std::size_t>(index)];
    if (all.empty()) return its = 1;  // a special register
    // While it is looked for, whatever comes back to it by a loop says nothing against it.
    its = kMost;
    std::uint64_t least = kMost;
    for (const Instruction* const one : all) least = std::min(least, of_result(*one));
    return known_[static_cast<std::size_t>(index)] = least;
  }

  std::uint64_t of_result(const Instruction& one) {
    const std::string_view name = one.opcode;
    const auto of = [&](std::size_t i) {
      return i < one.operands.size() ? divisor(one.operands[i]) : 1;
    };
    const auto product = [&] { return std::min(of(1) * of(2), kMost); };
    if (one.operands[0].kind != Operand::Kind::reg) return 1;
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

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<std::vector<const Instruction*>> definitions_;
  std::vector<int> reads_;
  std::vector<std::uint64_t> known_;
};

// ld d, [a] and st [a], b.
bool is_load(const Instruction& one) { return one.opcode == "ld"; }
const Operand& value_of(const Instruction& one) { return one.operands[is_load(one) ? 0 : 1]; }
const Operand& address_of(const Instruction& one) { return one.operands[is_load(one) ? 1 : 0]; }

// A load or store of one value of shared memory, which nobody else may be waiting for.
bool is_mergeable(const Instruction& one) {
  return (is_load(one) || one.opcode == "st") && one.has("shared") && !one.has("volatile") &&
         !one.has("relaxed") && !one.has("acquire") && !one.has("release") && one.guard < 0 &&
         one.operands.size() == 2 && value_of(one).kind != Operand::Kind::vector &&
         (value_of(one).kind == Operand::Kind::reg || !is_load(one)) &&
         address_of(one).kind == Operand::Kind::address && address_of(one).parts.size() == 1;
}

std::size_t values(const Instruction& one) {
  return value_of(one).kind == Operand::Kind::vector ? value_of(one).parts.size() : 1;
}
const Operand& value(const Instruction& one, std::size_t i) {
  return value_of(one).kind == Operand::Kind::vector ? value_of(one).parts[i] : value_of(one);
}

// The instruction with these values instead of its own, so many bytes further on.
Instruction with_values(const Instruction& one, std::vector<Operand> its, std::int64_t further) {
  Instruction made = one;
  Operand& values = made.operands[is_load(one) ? 0 : 1];
  std::erase_if(made.modifiers, [](std::string_view word) { return word == "v2" || word == "v4"; });
  if (its.size() == 1) {
    values = its[0];
  } else {
    values = {};
    values.kind = Operand::Kind::vector;
    values.parts = std::move(its);
    made.modifiers.insert(made.modifiers.end() - 1, values.parts.size() == 2 ? "v2" : "v4");
  }
  made.operands[is_load(one) ? 1 : 0].offset += further;
  return made;
}

// Parts of wide loads that nobody reads: a half of them is left out, and a half of that.
void narrow(const Registers& registers, const ptx::Function& function, Rewritten& rewritten) {
  for (const Instruction& one : function.body) {
    if (!is_load(one) || one.operands.size() != 2 || values(one) < 2 || one.guard >= 0 ||
        one.has("volatile") || one.has("param")) {
      continue;
    }
    std::size_t begin = 0, count = values(one);
    const auto is_dead = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        const Operand& its = value(one, i);
        if (its.kind == Operand::Kind::reg && registers.is_read(its.index)) return false;
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
    if (count == values(one)) continue;
    std::vector<Operand> kept;
    for (std::size_t i = begin; i < begin + count; ++i) kept.push_back(value(one, i));
    rewritten[&one] =
        with_values(one, kept, static_cast<std::int64_t>(begin) * ptx::bytes_of(one.type()));
  }
}

// Loads, or stores, of one stretch of code in which nothing else comes between them and shared memory.
class Stretch {
 public:
  Stretch(Registers& registers, Rewritten& rewritten)
      : registers_(registers), rewritten_(rewritten) {}

  void add(const Instruction& one) { all_.push_back(&one); }
  void end() {
    while (!all_.empty()) {
      // Those with the first one's base and type.
      std::vector<const Instruction*> alike;
      const Instruction& first = *all_.front();
      std::erase_if(all_, [&](const Instruction* other) {
        if (!are_alike(first, *other)) return false;
        alike.push_back(other);
        return true;
      });
      merge(alike);
    }
  }

 private:
  static const Operand& base_of(const Instruction& one) { return address_of(one).parts.front(); }
  static bool are_alike(const Instruction& a, const Instruction& b) {
    return base_of(a).kind == base_of(b).kind && base_of(a).index == base_of(b).index &&
           base_of(a).name == base_of(b).name && ptx::bytes_of(a.type()) == ptx::bytes_of(b.type());
  }

  void merge(std::vector<const Instruction*> accesses) {
    const auto size = static_cast<std::uint64_t>(ptx::bytes_of(accesses.front()->type()));
    if (size != 4 && size != 8) return;
    const std::uint64_t aligned = registers_.divisor(base_of(*accesses.front()));
    for (std::uint64_t bytes = kWidest; bytes > size; bytes /= 2) {
      if (aligned % bytes != 0) continue;
      std::map<std::int64_t, std::vector<const Instruction*>> chunks;
      for (const Instruction* const one : accesses) {
        const std::int64_t at = address_of(*one).offset;
        const auto width = static_cast<std::int64_t>(bytes);
        chunks[(at - (at % width + width) % width) / width].push_back(one);
      }
      for (auto& [chunk, members] : chunks) {
        if (members.size() != bytes / size) continue;
        std::sort(members.begin(), members.end(), [](const Instruction* a, const Instruction* b) {
          return address_of(*a).offset < address_of(*b).offset;
        });
        bool is_whole = true;
        for (std::size_t i = 0; i < members.size(); ++i) {
          is_whole &= address_of(*members[i]).offset ==
                      address_of(*members[0]).offset + static_cast<std::int64_t>(i * size);
        }
        if (!is_whole || !can_move(members)) continue;
        replace(members);
        std::erase_if(accesses, [&](const Instruction* one) {
          return std::find(members.begin(), members.end(), one) != members.end();
        });
      }
    }
  }

  // Loads can stand where the first of them is: until its own place nobody reads or writes a result, or changes the
  // address. Stores can stand where the last of them is: until there nobody changes a value or the address.
  static bool can_move(const std::vector<const Instruction*>& members) {
    const auto [first, last] = std::minmax_element(members.begin(), members.end());
    const Operand& base = base_of(**first);
    for (const Instruction* const one : members) {
      const Instruction* const begin = is_load(*one) ? *first : one + 1;
      const Instruction* const end = is_load(*one) ? one : *last;
      for (const Instruction* at = begin; at < end; ++at) {
        bool is_free = true;
        const bool writes = !writes_no_register(at->opcode) && !at->operands.empty();
        for (std::size_t i = 0; i < at->operands.size(); ++i) {
          each_register(at->operands[i], [&](std::int32_t index) {
            const bool is_result = writes && i == 0;
            const bool is_value =
                value_of(*one).kind == Operand::Kind::reg && index == value_of(*one).index;
            const bool is_base = base.kind == Operand::Kind::reg && index == base.index;
            is_free &= !(is_value && (is_result || is_load(*one))) && !(is_base && is_result);
          });
        }
        if (!is_free) return false;
      }
    }
    return true;
  }

  void replace(const std::vector<const Instruction*>& members) {
    std::vector<Operand> all;
    for (const Instruction* const one : members) all.push_back(value_of(*one));
    const auto [first, last] = std::minmax_element(members.begin(), members.end());
    const Instruction* const place = is_load(**first) ? *first : *last;
    const std::int64_t further = address_of(*members.front()).offset - address_of(*place).offset;
    Instruction made = with_values(*place, all, further);
    for (const Instruction* const one : members) rewritten_[one] = std::nullopt;
    rewritten_[place] = made;
  }

  Registers& registers_;
  Rewritten& rewritten_;
  std::vector<const Instruction*> all_;
};

// Nothing is moved past these.
bool is_fixed(const Instruction& one) {
  static const std::set<std::string_view> all = {
      "atom", "red", "bar",  "barrier", "call",     "membar", "fence",    "bra",
      "brx",  "ret", "exit", "cp",      "mbarrier", "wmma",   "ldmatrix", "stmatrix"};
  return all.contains(one.opcode);
}
// Whether it may read, or write, shared memory.
bool may_be_shared(const Instruction& one) {
  return !one.has("global") && !one.has("local") && !one.has("param") && !one.has("const");
}

}  // namespace

Rewritten rewrite_as_ptxas(const ptx::Module& module, const ptx::Function& function) {
  Rewritten rewritten;
  Registers registers(module, function);
  narrow(registers, function, rewritten);
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  Stretch loads(registers, rewritten), stores(registers, rewritten);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& one = function.body[i];
    const bool is_end = labels.contains(static_cast<std::int32_t>(i)) || is_fixed(one);
    if (is_end || (one.opcode == "st" && may_be_shared(one))) loads.end();
    if (is_end || (is_load(one) && may_be_shared(one))) stores.end();
    if (!is_mergeable(one)) {
      if (one.opcode == "st" && may_be_shared(one)) stores.end();
      continue;
    }
    (is_load(one) ? loads : stores).add(one);
  }
  loads.end();
  stores.end();
  return rewritten;
}

}  // namespace simt::machine
