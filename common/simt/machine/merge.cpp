#include "common/simt/machine/merge.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace simt::machine {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

constexpr std::int64_t kWidest = 16;  // bytes of one access of a lane

std::vector<std::int32_t> written_by(const Instruction& one) {
  return one.result() != nullptr ? one.result()->registers() : std::vector<std::int32_t>();
}
bool writes(const Instruction& one, std::int32_t index) {
  return one.result() != nullptr && one.result()->names(index);
}
bool reads(const Instruction& one, std::int32_t index) {
  return one.guard == index ||
         std::any_of(one.operands.begin(), one.operands.end(),
                     [&](const Operand& its) { return &its != one.result() && its.names(index); });
}

// What a function's registers hold, as far as one can see.
class Registers {
 public:
  Registers(const ptx::Module& module, const ptx::Function& function,
            const ptx::SharedPlaces& places)
      : module_(module),
        function_(function),
        places_(places),
        definitions_(function.registers.size()),
        reads_(function.registers.size(), 0) {
    for (const Instruction& one : function.body) {
      for (const Operand& operand : one.operands) {
        for (const std::int32_t index : operand.registers()) {
          if (&operand == one.result()) {
            definitions_[static_cast<std::size_t>(index)].push_back(&one);
          } else {
            ++reads_[static_cast<std::size_t>(index)];
          }
        }
      }
      if (one.guard >= 0) ++reads_[static_cast<std::size_t>(one.guard)];
    }
    known_.assign(function.registers.size(), 0);
  }

  int reads(std::int32_t index) const { return reads_[static_cast<std::size_t>(index)]; }
  bool is_read(std::int32_t index) const { return reads(index) > 0; }
  const std::vector<const Instruction*>& definitions(std::int32_t index) const {
    return definitions_[static_cast<std::size_t>(index)];
  }

  // A power of two that divides what the operand is, whenever it is read.
  std::uint64_t divisor(const Operand& operand) {
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

  /// Where a shared variable lies, if ptxas knew.
  std::optional<std::uint64_t> place_of(std::string_view name) const {
    const auto found = places_.at.find(name);
    if (found == places_.at.end() || module_.is_linked) return std::nullopt;
    return found->second;
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
  Sum sum(const Operand& address) const {
    Sum all;
    all.bytes = address.offset;
    add(address.parts.front(), all);
    std::sort(all.registers.begin(), all.registers.end());
    std::sort(all.variables.begin(), all.variables.end());
    return all;
  }
  /// Whether so many bytes from there on lie in the variable.
  bool is_inside(const Sum& sum, std::int64_t bytes) const {
    const std::optional<std::uint64_t> at = place_of(sum.origin);
    if (!at || !sum.registers.empty()) return false;
    const ptx::Variable* its = function_.variable(sum.origin);
    if (its == nullptr) its = module_.variable(sum.origin);
    const std::int64_t offset = sum.bytes - static_cast<std::int64_t>(*at);
    return its != nullptr && offset >= 0 && offset + bytes <= its->bytes;
  }
  /// Of the sum without its bytes.
  std::uint64_t divisor(const Sum& sum) {
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

 private:
  static constexpr std::uint64_t kMost = 1 << 20;
  // The shared memory of a block that a program has begins at a multiple of this.
  static constexpr std::uint64_t kSharedBegin = 1024;

  // A register that is set in one place is, wherever it is read, what it is made of there; of one that is set in several
  // nothing is known.
  void add(const Operand& operand, Sum& all, bool is_wide = false, std::int64_t times = 1) const {
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
    if (definitions(operand.index).size() == 1) {
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
        return add(one.operands[1], all, bytes == 8, times);
      }
      if (is_address && one.opcode == "add" && is_single(1) && is_single(2) && is_number(1) &&
          is_number(2)) {
        add(one.operands[1], all, bytes == 8, times);
        return add(one.operands[2], all, bytes == 8, times);
      }
      if (is_address && one.opcode == "shl" && is_single(1) &&
          one.operands[1].kind == Operand::Kind::reg &&
          one.operands[2].kind == Operand::Kind::number && one.operands[2].bits < 16) {
        return add(one.operands[1], all, bytes == 8, times << one.operands[2].bits);
      }
    }
    all.registers.push_back({operand.index, times});
  }
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

  const ptx::Module& module_;
  const ptx::Function& function_;
  const ptx::SharedPlaces& places_;
  std::vector<std::vector<const Instruction*>> definitions_;
  std::vector<int> reads_;
  std::vector<std::uint64_t> known_;
};

// ld d, [a] and st [a], b.
bool is_load(const Instruction& one) { return one.opcode == "ld"; }
const Operand& value_of(const Instruction& one) { return one.operands[is_load(one) ? 0 : 1]; }
const Operand& address_of(const Instruction& one) { return one.operands[is_load(one) ? 1 : 0]; }

// A load or store of that memory, which nobody else may be waiting for, with no word for a cache.
bool is_mergeable(const Instruction& one, std::string_view space) {
  const auto is_plain = [&](std::string_view word) {
    return word == space || word == "nc" || word == "v2" || word == "v4" ||
           word == one.modifiers.back();
  };
  return (is_load(one) || one.opcode == "st") && one.has(space) && one.guard < 0 &&
         one.operands.size() == 2 && address_of(one).kind == Operand::Kind::address &&
         address_of(one).parts.size() == 1 &&
         std::all_of(one.modifiers.begin(), one.modifiers.end(), is_plain);
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

// Parts of wide loads that nobody reads: a half of them is left out, and a half of that. Of four words one in each half
// makes two loads. Bytes stay together.
void narrow(const Registers& registers, const ptx::Function& function, Rewritten& rewritten) {
  for (const Instruction& one : function.body) {
    if (!is_load(one) || one.operands.size() != 2 || values(one) < 2 || one.guard >= 0 ||
        one.has("volatile") || one.has("param") || ptx::bytes_of(one.type()) == 1) {
      continue;
    }
    const auto bytes = static_cast<std::int64_t>(ptx::bytes_of(one.type()));
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
    if (count == 4 && bytes == 4 && is_dead(0, 1) != is_dead(1, 2) &&
        is_dead(2, 3) != is_dead(3, 4)) {
      for (std::size_t i = 0; i < 4; ++i) {
        if (is_dead(i, i + 1)) continue;
        rewritten[&one].push_back(
            with_values(one, {value(one, i)}, static_cast<std::int64_t>(i) * bytes));
      }
    }
    if (count == values(one)) continue;
    std::vector<Operand> kept;
    for (std::size_t i = begin; i < begin + count; ++i) kept.push_back(value(one, i));
    rewritten[&one] = {with_values(one, kept, static_cast<std::int64_t>(begin) * bytes)};
  }
}

// Of an address of code that is only called, ptxas loads the lower half.
void halve_addresses_of_code(const Registers& registers, const ptx::Function& function,
                             Rewritten& rewritten) {
  std::vector<int> calls(function.registers.size(), 0);
  for (const Instruction& one : function.body) {
    if (one.opcode != "call") continue;
    for (const Operand& its : one.operands) {
      if (its.kind == Operand::Kind::reg) ++calls[static_cast<std::size_t>(its.index)];
    }
  }
  for (const Instruction& one : function.body) {
    if (one.opcode != "ld" || one.has("param") || one.has("local") ||
        one.operands[0].kind != Operand::Kind::reg) {
      continue;
    }
    const std::int32_t index = one.operands[0].index;
    const int its = calls[static_cast<std::size_t>(index)];
    if (its == 0 || its != registers.reads(index) || ptx::bytes_of(one.type()) != 8) continue;
    rewritten[&one] = {one};
    rewritten[&one].front().joined_bytes = 4;
  }
}

// A product that is used by sums and differences of the same stretch of code, and by nothing else, is rounded with each of
// them: fused multiply-adds. nvcc leaves c - a * b and a * b - c to ptxas, and all that is written in halves.
class Products {
 public:
  Products(const Registers& registers, Rewritten& rewritten)
      : registers_(registers), rewritten_(rewritten) {}

  void add(const Instruction& one) {
    if (may_be_fused(one, "mul")) {
      if (registers_.definitions(one.operands[0].index).size() == 1) known_.push_back({&one, {}});
    } else if (may_be_fused(one, "add") || may_be_fused(one, "sub")) {
      for (const std::size_t operand : {1, 2}) use(one, operand);
    }
    // Factors that change keep their product apart from what follows.
    for (const std::int32_t index : written_by(one)) {
      for (Product& its : known_) {
        if (its.one != &one && reads(*its.one, index)) its.is_over = true;
      }
    }
  }
  void end() {
    // Of two products of a sum the one that was computed first.
    for (const Product& its : known_) {
      const bool is_all = static_cast<int>(its.uses.size()) == registers_.reads(its.index());
      if (is_all && std::none_of(its.uses.begin(), its.uses.end(),
                                 [&](const Use& use) { return rewritten_.contains(use.sum); })) {
        fuse(its);
      }
    }
    known_.clear();
  }

 private:
  struct Use {
    const Instruction* sum;
    std::size_t operand;
  };
  struct Product {
    std::int32_t index() const { return one->operands[0].index; }

    const Instruction* one;
    std::vector<Use> uses;
    bool is_over = false;
  };

  // Neither rounded by itself, as __fmul_rn() is, nor saturated.
  static bool may_be_fused(const Instruction& one, std::string_view opcode) {
    static const auto& types =
        *new std::set<std::string_view>{"f16", "f16x2", "bf16", "bf16x2", "f32", "f64"};
    if (one.opcode != opcode || one.guard >= 0 || one.operands.size() != 3) return false;
    if (one.operands[0].kind != Operand::Kind::reg || !types.contains(one.modifiers.back())) {
      return false;
    }
    return std::all_of(one.modifiers.begin(), one.modifiers.end() - 1,
                       [](std::string_view word) { return word == "ftz"; });
  }
  void use(const Instruction& sum, std::size_t operand) {
    const Operand &its = sum.operands[operand], &other = sum.operands[3 - operand];
    if (its.kind != Operand::Kind::reg || other.names(its.index)) return;
    for (Product& product : known_) {
      if (!product.is_over && product.index() == its.index &&
          product.one->modifiers == sum.modifiers) {
        product.uses.push_back({&sum, operand});
      }
    }
  }
  void fuse(const Product& product) {
    const Instruction& factors = *product.one;
    for (const auto& [sum, operand] : product.uses) {
      Instruction fused = *sum;
      fused.opcode = "fma";
      fused.modifiers.insert(fused.modifiers.begin(), "rn");
      fused.operands = {sum->operands[0], factors.operands[1], factors.operands[2],
                        sum->operands[3 - operand]};
      std::vector<Instruction> made;
      if (sum->opcode == "sub") {
        // c - a * b is (-a) * b + c; the product's register is free.
        Operand& its = fused.operands[operand == 2 ? 1 : 3];
        Instruction negated = *sum;
        negated.opcode = "neg";
        negated.modifiers = {sum->modifiers.back()};
        negated.operands = {factors.operands[0], its};
        its = factors.operands[0];
        made.push_back(std::move(negated));
      }
      made.push_back(std::move(fused));
      rewritten_[sum] = std::move(made);
    }
    rewritten_[&factors] = {};
  }

  const Registers& registers_;
  Rewritten& rewritten_;
  std::vector<Product> known_;
};

// A load in whose place its register takes what the other has loaded.
Instruction as_move(const Instruction& one, const Instruction& other) {
  Instruction move = one;
  move.opcode = "mov";
  move.modifiers = {one.modifiers.back()};
  move.operands = {value_of(one), value_of(other)};
  return move;
}

// What a register has been loaded with already is not loaded again, on the way straight on past jumps neither; nor,
// where nobody writes it (__ldg), past stores and barriers, and where ways meet that all come from there.
class Repeats {
 public:
  Repeats(const Registers& registers, Rewritten& rewritten)
      : registers_(registers), rewritten_(rewritten) {}

  void add(const Instruction& one, std::int32_t place) {
    if (values(one) != 1 || ptx::bytes_of(one.type()) < 4) return;
    const Registers::Sum at = registers_.sum(address_of(one));
    const auto before = std::find_if(known_.begin(), known_.end(), [&](const Known& its) {
      return its.at == at && its.at.bytes == at.bytes && its.one->modifiers == one.modifiers;
    });
    if (before == known_.end()) {
      if (registers_.definitions(value_of(one).index).size() == 1)
        known_.push_back({&one, at, place});
      return;
    }
    rewritten_[&one] = {as_move(one, *before->one)};
  }
  // Addresses that change are others.
  void write(const Instruction& one) {
    if (known_.empty()) return;
    for (const std::int32_t index : written_by(one)) {
      std::erase_if(known_, [&](const Known& its) { return its.at.has(index); });
    }
  }
  void end(std::int32_t first_comer) {
    std::erase_if(known_,
                  [&](const Known& its) { return !its.one->has("nc") || its.place > first_comer; });
  }

 private:
  struct Known {
    const Instruction* one;
    Registers::Sum at;
    std::int32_t place;
  };
  const Registers& registers_;
  Rewritten& rewritten_;
  std::vector<Known> known_;
};

// Loads, or stores, of one stretch of code in which nothing else comes between them and that memory.
class Stretch {
 public:
  Stretch(Registers& registers, Rewritten& rewritten, std::string_view space)
      : registers_(registers), rewritten_(rewritten), is_shared_(space == "shared") {}

  void add(const Instruction& one) {
    all_.push_back({&one, registers_.sum(address_of(one)), way_});
  }
  // A jump that some lanes may take: what comes behind it, or at its place, is not for all that ran what stands before.
  void part(std::int32_t place) {
    arms_[place] = way_;
    way_.push_back(++ways_);
  }
  // A jump around steps that are for those who do not take it, to where all go on.
  void begin_choice() { way_.push_back(++ways_); }
  void end_choices(std::size_t count) { way_.resize(way_.size() - std::min(count, way_.size())); }
  // Where nobody comes but by that jump.
  bool is_arm(std::int32_t place) const { return arms_.contains(place); }
  void go_to_arm(std::int32_t place) {
    way_ = arms_[place];
    way_.push_back(++ways_);
  }
  void end() {
    way_.clear();
    arms_.clear();
    while (!all_.empty()) {
      // Those of whose address only the bytes differ; first those of one type.
      const Access first = all_.front();
      std::vector<Access> near = taken_from(all_, [&](const Access& other) {
        return other.at == first.at && other.one->has("nc") == first.one->has("nc");
      });
      std::vector<Piece> pieces;
      while (!near.empty()) {
        const std::int64_t size = size_of(near.front());
        std::vector<Access> alike =
            taken_from(near, [&](const Access& other) { return size_of(other) == size; });
        while (!alike.empty()) {
          const Way way = alike.front().way;
          std::vector<Access> beside =
              taken_from(alike, [&](const Access& other) { return other.way == way; });
          if (is_shared_) merge(beside, pieces);
          for (const Access& access : beside) {
            pieces.push_back({access.one, access.at.bytes, bytes_of(access), size, access.at.origin,
                              way, registers_.is_inside(access.at, bytes_of(access))});
          }
        }
      }
      join(first, pieces);
    }
  }

 private:
  using Way = std::vector<int>;  // the jumps that led there
  struct Access {
    const Instruction* one;
    Registers::Sum at;
    Way way;
  };
  // What is there in the end, at its place.
  struct Piece {
    const Instruction* place;
    std::int64_t at, bytes, size;  // size: of one value
    std::string_view origin;
    Way way;
    bool is_inside;  // its variable, whose place is known
  };
  template <class Is>
  static std::vector<Access> taken_from(std::vector<Access>& all, Is is_taken) {
    std::vector<Access> taken;
    std::erase_if(all, [&](const Access& one) {
      if (is_taken(one)) taken.push_back(one);
      return is_taken(one);
    });
    return taken;
  }
  static std::int64_t size_of(const Access& access) { return ptx::bytes_of(access.one->type()); }
  static std::int64_t bytes_of(const Access& access) {
    return size_of(access) * static_cast<std::int64_t>(values(*access.one));
  }

  // Those that fill an aligned chunk become one: of up to four words, or of up to four halves that are stored. What is
  // left stays in `accesses`.
  void merge(std::vector<Access>& accesses, std::vector<Piece>& pieces) {
    if (accesses.empty()) return;
    const std::int64_t size = size_of(accesses.front());
    if (size < 2 || (size == 2 && is_load(*accesses.front().one))) return;
    const auto aligned = static_cast<std::int64_t>(registers_.divisor(accesses.front().at));
    for (std::int64_t width = size == 2 ? 8 : kWidest; width > size; width /= 2) {
      if (aligned % width != 0) continue;
      std::map<std::int64_t, std::vector<Access>> chunks;
      for (const Access& access : accesses) {
        const std::int64_t at = access.at.bytes;
        std::vector<Access>& its = chunks[(at - (at % width + width) % width) / width];
        its.insert(std::find_if(its.begin(), its.end(),
                                [&](const Access& other) { return other.at.bytes > at; }),
                   access);
      }
      for (auto& [chunk, members] : chunks) {
        std::int64_t end = chunk * width;
        bool is_whole = members.size() > 1;
        for (const Access& member : members) {
          is_whole &= member.at.bytes == end;
          end = member.at.bytes + bytes_of(member);
        }
        if (!is_whole || end != (chunk + 1) * width || !can_move(members)) continue;
        if (!are_of_one(members) &&
            !std::all_of(members.begin(), members.end(), [&](const Access& member) {
              return registers_.is_inside(member.at, bytes_of(member));
            })) {
          continue;
        }
        pieces.push_back({replace(members), chunk * width, width, size, members.front().at.origin,
                          members.front().way,
                          registers_.is_inside(members.front().at, bytes_of(members.front()))});
        std::erase_if(accesses, [&](const Access& access) {
          return std::any_of(members.begin(), members.end(),
                             [&](const Access& member) { return member.one == access.one; });
        });
      }
    }
  }

  // Pieces of several types that fill an aligned chunk become one access too, and so do three of four words of shared
  // memory that are loaded, with one that nobody reads, and what is loaded behind a jump with what was loaded before it.
  // They stay what they are, for nobody shall say that the fourth was read, or by whom; only one is counted, as all of them.
  void join(const Access& first, std::vector<Piece>& pieces) {
    std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::tuple(a.at, a.way.size(), b.bytes) < std::tuple(b.at, b.way.size(), a.bytes);
    });
    for (std::int64_t width = kWidest; width >= (is_shared_ ? 8 : 4); width /= 2) {
      const std::optional<std::int64_t> phase = phase_of(first, pieces, width);
      if (!phase) continue;
      for (auto begin = pieces.begin(); begin != pieces.end();) {
        const std::int64_t chunk = begin->at - ((begin->at - *phase) % width + width) % width;
        const auto end = std::find_if(begin, pieces.end(),
                                      [&](const Piece& its) { return its.at >= chunk + width; });
        if (is_one(begin, end, chunk, width) && keeps_address(first.at, begin, end)) {
          count_as_one(begin, end, chunk, width);
        }
        begin = end;
      }
      std::erase_if(pieces, [](const Piece& its) { return its.bytes == 0; });
    }
  }

  // Where behind the base something is known to be a multiple of the width. Global memory is so where a wide access is.
  std::optional<std::int64_t> phase_of(const Access& first, const std::vector<Piece>& pieces,
                                       std::int64_t width) {
    if (is_shared_) {
      if (static_cast<std::int64_t>(registers_.divisor(first.at)) % width != 0) return std::nullopt;
      return 0;
    }
    for (const Piece& its : pieces) {
      if (its.bytes >= width) return its.at;
    }
    return std::nullopt;
  }

  // Whether all who come to the second have come by the first.
  static bool is_behind(const Piece& first, const Piece& second) {
    return second.way.size() >= first.way.size() &&
           std::equal(first.way.begin(), first.way.end(), second.way.begin());
  }

  // The first of those that most come to.
  static const Piece& for_all(std::vector<Piece>::iterator begin,
                              std::vector<Piece>::iterator end) {
    return *std::min_element(begin, end, [](const Piece& a, const Piece& b) {
      return std::pair(a.way.size(), a.place) < std::pair(b.way.size(), b.place);
    });
  }

  bool is_one(std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end,
              std::int64_t chunk, std::int64_t width) const {
    std::int64_t next = chunk, all = 0;
    bool are_of_one_type = true, are_parted = false, are_of_one = true, are_wide = false;
    // Of halves of a word only those that are stored.
    const bool are_halves = width == 4;
    if (are_halves && is_load(*begin->place)) return false;
    for (auto its = begin; its != end; ++its) {
      // What has been loaded for all need not be for some.
      if (its != begin && is_load(*its->place) && its->at + its->bytes <= next &&
          is_behind(*(its - 1), *its)) {
        continue;
      }
      if (its->bytes < (are_halves ? 2 : 4) || its->at < next) return false;
      are_wide |= its->size > 4;
      if (its->origin != begin->origin) {
        if (!its->is_inside || !begin->is_inside) return false;
        are_of_one = false;
      }
      next = its->at + its->bytes;
      all += its->bytes;
      are_of_one_type &= its->size == begin->size;
      are_parted |= its->way != begin->way;
    }
    if (end - begin < 2 || next > chunk + width) return false;
    if (are_wide && !are_parted) return false;
    const Piece& first = for_all(begin, end);
    if (!std::all_of(begin, end, [&](const Piece& its) { return is_behind(first, its); })) {
      return false;
    }
    // (Values of a word each are one already, if they can be.)
    const bool are_parts_of_words = is_shared_ && begin->size < 4 && is_load(*begin->place);
    if (all == width) {
      return are_parted || (are_of_one && (!are_of_one_type || are_parts_of_words));
    }
    return is_shared_ && is_load(*begin->place) && width == kWidest && all == 12 &&
           begin->size == 4 && are_of_one_type;
  }

  static bool changes(const Registers::Sum& address, const Instruction& one) {
    const std::vector<std::int32_t> all = written_by(one);
    return std::any_of(all.begin(), all.end(),
                       [&](std::int32_t index) { return address.has(index); });
  }
  static std::pair<const Instruction*, const Instruction*> places_of(
      std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end) {
    const auto [first, last] = std::minmax_element(
        begin, end, [](const Piece& a, const Piece& b) { return a.place < b.place; });
    return {first->place, last->place};
  }
  // Whether nothing that the address is made of changes between the first of them and the last.
  static bool keeps_address(const Registers::Sum& address, std::vector<Piece>::iterator begin,
                            std::vector<Piece>::iterator end) {
    const auto [first, last] = places_of(begin, end);
    return std::none_of(first, last, [&](const Instruction& one) { return changes(address, one); });
  }

  void count_as_one(std::vector<Piece>::iterator begin, std::vector<Piece>::iterator end,
                    std::int64_t chunk, std::int64_t width) {
    const Instruction* const counted =
        is_load(*begin->place) ? for_all(begin, end).place : places_of(begin, end).second;
    for (auto its = begin; its != end; ++its) {
      std::vector<Instruction>& made = rewritten_[its->place];
      if (made.empty()) made.push_back(*its->place);
      if (its->place == counted) {
        made.front().joined_bytes = static_cast<std::uint8_t>(width);
        made.front().joined_before = static_cast<std::uint8_t>(its->at - chunk);
      } else {
        made.front().is_counted = false;
      }
      its->bytes = 0;
    }
  }

  // Loads can stand where the first of them is: until its own place nobody reads or writes a result, or changes the
  // address. Stores can stand where the last of them is: until there nobody changes a value or the address.
  static bool can_move(const std::vector<Access>& members) {
    const auto [first, last] = places_of(members);
    for (const Access& member : members) {
      const Instruction* const one = member.one;
      const Instruction* const begin = is_load(*one) ? first : one + 1;
      const Instruction* const end = is_load(*one) ? one : last;
      for (const Instruction* at = begin; at < end; ++at) {
        if (changes(members.front().at, *at)) return false;
        for (const std::int32_t value : value_of(*one).registers()) {
          if (writes(*at, value) || (is_load(*one) && reads(*at, value))) return false;
        }
      }
    }
    return true;
  }

  static bool are_of_one(const std::vector<Access>& members) {
    return std::all_of(members.begin(), members.end(), [&](const Access& member) {
      return member.at.origin == members.front().at.origin;
    });
  }

  static std::pair<const Instruction*, const Instruction*> places_of(
      const std::vector<Access>& members) {
    const auto [first, last] =
        std::minmax_element(members.begin(), members.end(),
                            [](const Access& a, const Access& b) { return a.one < b.one; });
    return {first->one, last->one};
  }

  const Instruction* replace(const std::vector<Access>& members) {
    const auto [first, last] = places_of(members);
    const Instruction* const place = is_load(*first) ? first : last;
    std::vector<Operand> all;
    std::int64_t further = 0;
    for (const Access& member : members) {
      for (std::size_t i = 0; i < values(*member.one); ++i) all.push_back(value(*member.one, i));
      if (member.one == place) further = members.front().at.bytes - member.at.bytes;
      rewritten_[member.one] = {};
    }
    Instruction made = with_values(*place, all, further);
    if (!are_of_one(members)) {
      // It is no access of one variable.
      Operand& address = made.operands[is_load(made) ? 1 : 0];
      address.parts.front() = {};
      address.offset = members.front().at.bytes;
    }
    rewritten_[place] = {std::move(made)};
    return place;
  }

  Registers& registers_;
  Rewritten& rewritten_;
  bool is_shared_;
  std::vector<Access> all_;
  Way way_ = {};
  std::map<std::int32_t, Way> arms_ = {};  // of places that jumps lead to
  int ways_ = 0;
};

// Nothing of that memory is moved past these.
bool is_fixed(const Instruction& one, std::string_view space) {
  static const auto& all = *new std::set<std::string_view>{
      "atom", "red", "bar",  "barrier", "call",     "membar", "fence",    "bra",
      "brx",  "ret", "exit", "cp",      "mbarrier", "wmma",   "ldmatrix", "stmatrix"};
  const bool is_atomic = one.opcode == "atom" || one.opcode == "red";
  return all.contains(one.opcode) && !(is_atomic && space == "shared" && one.has("global"));
}
// Whether it may read, or write, that memory: what names none may be of any.
bool may_be(const Instruction& one, std::string_view space) {
  for (const std::string_view other : {"global", "shared", "local", "param", "const"}) {
    if (one.has(other)) return other == space;
  }
  return true;
}

std::int32_t target(const ptx::Function& function, const Instruction& jump) {
  const Operand& to = jump.operands[0];
  return to.kind == Operand::Kind::label ? function.labels[static_cast<std::size_t>(to.index)] : -1;
}

// From how many places one comes to each, from above or by a jump.
std::vector<int> comers_of(const ptx::Function& function) {
  std::vector<int> comers(function.body.size() + 1);
  const auto note = [&](std::int32_t place) {
    if (place >= 0) ++comers[static_cast<std::size_t>(place)];
  };
  for (const auto& [name, labels] : function.targets) {
    for (const std::int32_t label : labels) {
      note(function.labels[static_cast<std::size_t>(label)]);
    }
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    const bool leaves =
        one.opcode == "bra" || one.opcode == "brx" || one.opcode == "ret" || one.opcode == "exit";
    if (!leaves || one.guard >= 0) note(i + 1);
    if (one.opcode == "bra") note(target(function, one));
  }
  return comers;
}

// Places to which one jump forward leads, and nobody comes from above.
std::set<std::int32_t> arms_of(const ptx::Function& function) {
  const std::vector<int> comers = comers_of(function);
  std::set<std::int32_t> arms;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    if (one.opcode != "bra") continue;
    const std::int32_t to = target(function, one);
    if (to > i + 1 && comers[static_cast<std::size_t>(to)] == 1) arms.insert(to);
  }
  return arms;
}

// The first place from which somebody comes to each place, from above or by a jump forward; -1: by another jump too.
std::vector<std::int32_t> first_comers(const ptx::Function& function) {
  std::vector<std::int32_t> first(function.body.size() + 1);
  for (std::size_t i = 1; i < first.size(); ++i) first[i] = static_cast<std::int32_t>(i) - 1;
  for (const auto& [name, labels] : function.targets) {
    for (const std::int32_t label : labels) {
      const std::int32_t to = function.labels[static_cast<std::size_t>(label)];
      if (to >= 0) first[static_cast<std::size_t>(to)] = -1;
    }
  }
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
    const Instruction& one = function.body[static_cast<std::size_t>(i)];
    if (one.opcode != "bra") continue;
    const std::int32_t to = target(function, one);
    if (to < 0) continue;
    std::int32_t& its = first[static_cast<std::size_t>(to)];
    its = to > i ? std::min(its, i) : -1;
  }
  return first;
}

// Divisions and roots that are a call in machine code.
bool may_be_call(const Instruction& one) {
  static const auto& all = *new std::set<std::string_view>{"div", "rem", "sqrt", "rcp"};
  if (!all.contains(one.opcode)) return false;
  return one.has("rn") || one.has("rz") || one.has("rm") || one.has("rp") ||
         ptx::bytes_of(one.type()) == 8;
}

// Jumps around steps that write no shared memory and call nothing, and where they lead: ptxas moves loads of shared memory
// past them. (Past two ways that meet again, too, which nvcc lays out in many ways: here they stop at those.)
struct Choices {
  std::set<std::int32_t> jumps;              // places in the body
  std::map<std::int32_t, std::size_t> ends;  // and how many of the jumps lead there: more of a && b
  std::set<std::int32_t> with_loads;         // ends

  Choices(const ptx::Function& function, const std::set<std::int32_t>& labels) {
    std::map<std::int32_t, std::size_t> jumps_to;
    std::map<std::int32_t, std::vector<std::int32_t>> forward;  // to where, and from where
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
      const Instruction& one = function.body[static_cast<std::size_t>(i)];
      for (const Operand& operand : one.operands) {
        if (operand.kind != Operand::Kind::label) continue;
        const std::int32_t to = function.labels[static_cast<std::size_t>(operand.index)];
        ++jumps_to[to];
        if (one.opcode == "bra" && one.guard >= 0 && to > i + 1) forward[to].push_back(i);
      }
    }
    std::set<std::pair<std::int32_t, std::int32_t>> ranges;  // how far, and to where
    for (const auto& [to, from] : forward) {
      if (from.size() == jumps_to[to]) ranges.emplace(to - from.front(), to);
    }
    const auto is_passed = [&](std::int32_t place) {
      const Instruction& one = function.body[static_cast<std::size_t>(place)];
      return (jumps.contains(place) || !is_fixed(one, "shared")) &&
             (ends.contains(place) || !labels.contains(place)) && one.opcode != "shfl" &&
             !may_be_call(one) && !(one.opcode == "st" && may_be(one, "shared"));
    };
    const auto loads = [&](std::int32_t place) {
      const Instruction& one = function.body[static_cast<std::size_t>(place)];
      return is_load(one) && may_be(one, "shared");
    };
    // Those inside others come first.
    for (const auto& [far, to] : ranges) {
      const std::vector<std::int32_t>& from = forward[to];
      bool are_all = true, some_load = false;
      for (std::int32_t i = to - far + 1; i < to; ++i) {
        // One more of these jumps, where nobody comes by another.
        const bool is_own = std::binary_search(from.begin(), from.end(), i) && !labels.contains(i);
        are_all = are_all && (is_passed(i) || is_own);
        some_load = some_load || loads(i);
      }
      if (!are_all) continue;
      if (some_load) with_loads.insert(to);
      jumps.insert(from.begin(), from.end());
      ends[to] = from.size();
    }
  }
};

// selp d, a, b, p: what only this reads is loaded into d where it is chosen, if the other is there already and nobody needs
// it any more.
class ChosenLoads {
 public:
  ChosenLoads(const ptx::Function& function, const Registers& registers, Rewritten& rewritten)
      : function_(function), registers_(registers), rewritten_(rewritten) {}

  void rewrite(const std::set<std::int32_t>& labels) {
    std::int32_t begin = 0;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      if (labels.contains(i)) begin = i;
      const Instruction& one = at(i);
      if (one.opcode == "bra" || one.opcode == "brx") begin = i + 1;
      if (one.opcode == "selp" && !rewritten_.contains(&one)) rewrite(begin, i);
    }
  }

 private:
  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  // The last place before `place` that sets the register; less than `begin`: none.
  std::int32_t set_before(std::int32_t begin, std::int32_t place, std::int32_t index) const {
    std::int32_t i = place - 1;
    while (i >= begin && !writes(at(i), index)) --i;
    return i;
  }

  void rewrite(std::int32_t begin, std::int32_t place) {
    const Instruction& one = at(place);
    if (one.guard >= 0 || one.operands.size() != 4 || ptx::bytes_of(one.type()) != 4 ||
        std::any_of(one.operands.begin(), one.operands.end(), [](const Operand& its) {
          return its.kind != Operand::Kind::reg || its.negated;
        })) {
      return;
    }
    std::size_t later = 1;
    std::int32_t from = set_before(begin, place, one.operands[1].index);
    const std::int32_t other_from = set_before(begin, place, one.operands[2].index);
    if (other_from > from) later = 2;
    // What the choice itself needs is there in any case.
    if (const std::int32_t last = std::max(from, other_from);
        last >= begin && is_load(at(last)) && registers_.reads(one.operands[later].index) > 1) {
      later = 3 - later;
    }
    from = later == 1 ? from : other_from;
    const std::int32_t index = one.operands[later].index, other = one.operands[3 - later].index;
    if (index == other || from < begin || !can_wait(from, place, index) ||
        !is_free_behind(begin, place, other)) {
      return;
    }
    Instruction move = one, load = at(from);
    move.opcode = "mov";
    move.operands = {one.operands[0], one.operands[3 - later]};
    load.operands[0] = one.operands[0];
    load.guard = one.operands[3].index;
    load.guard_negated = later == 2;
    rewritten_[&at(from)] = {};
    rewritten_[&one] = {std::move(move), std::move(load)};
  }

  bool can_wait(std::int32_t from, std::int32_t place, std::int32_t index) const {
    const Instruction& load = at(from);
    if (!is_load(load) || rewritten_.contains(&load) || values(load) != 1 ||
        ptx::bytes_of(load.type()) != 4 || registers_.reads(index) != 1 ||
        !(is_mergeable(load, "global") || is_mergeable(load, "shared"))) {
      return false;
    }
    for (std::int32_t i = from + 1; i < place; ++i) {
      if (at(i).opcode == "st" || is_fixed(at(i), "global")) return false;
      for (const std::int32_t its : address_of(load).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }
  bool is_free_behind(std::int32_t begin, std::int32_t place, std::int32_t index) const {
    const std::vector<const Instruction*>& all = registers_.definitions(index);
    if (all.size() == 1 && !is_load(*all.front()) && all.front()->opcode != "selp") return false;
    int before = 0;
    for (std::int32_t i = begin; i <= place; ++i) before += reads(at(i), index) ? 1 : 0;
    if (all.size() == 1) return before == registers_.reads(index);
    for (auto i = static_cast<std::size_t>(place) + 1; i < function_.body.size(); ++i) {
      const Instruction& one = function_.body[i];
      if (reads(one, index)) return false;
      if (writes(one, index) || one.opcode == "bra" || one.opcode == "brx") break;
    }
    return !all.empty();
  }

  const ptx::Function& function_;
  const Registers& registers_;
  Rewritten& rewritten_;
};

// Loads of what no round of a loop changes come before it, where the loop is one stretch of code that writes nothing to
// that memory; and if the stretch before it has loaded the same, there is one only. nvcc leaves them in loops with __ldg() or
// shuffles.
class Invariants {
 public:
  Invariants(const ptx::Function& function, const Registers& registers, Rewritten& rewritten)
      : function_(function), registers_(registers), rewritten_(rewritten) {}

  void rewrite(const std::set<std::int32_t>& labels) {
    std::map<std::int32_t, int> jumps;
    for (const Instruction& one : function_.body) {
      if (one.opcode == "brx") return;
      if (one.opcode == "bra") ++jumps[target(function_, one)];
    }
    for (std::int32_t end = 1; end < static_cast<std::int32_t>(function_.body.size()); ++end) {
      const Instruction& one = at(end);
      const std::int32_t begin =
          one.opcode == "bra" && one.guard >= 0 ? target(function_, one) : -1;
      if (begin <= 0 || begin >= end || jumps[begin] != 1 || !falls_through(at(begin - 1)) ||
          !is_quiet(begin, end, labels)) {
        continue;
      }
      for (std::int32_t i = begin; i < end; ++i) {
        if (is_invariant(at(i), begin, end)) move(at(i), begin, labels);
      }
    }
  }

 private:
  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  static bool falls_through(const Instruction& one) {
    return one.guard >= 0 || (one.opcode != "bra" && one.opcode != "ret" && one.opcode != "exit");
  }
  static bool is_still(const Instruction& one) {
    if (one.opcode == "st") return !may_be(one, "global");
    if (is_load(one)) return !one.has("volatile") && !one.has("relaxed") && !one.has("acquire");
    return !is_fixed(one, "global") && one.opcode != "nanosleep";
  }
  bool is_quiet(std::int32_t begin, std::int32_t end, const std::set<std::int32_t>& labels) const {
    for (std::int32_t i = begin; i < end; ++i) {
      if (!is_still(at(i)) || (i > begin && labels.contains(i))) return false;
    }
    return true;
  }
  bool is_invariant(const Instruction& one, std::int32_t begin, std::int32_t end) const {
    if (!is_load(one) || !is_mergeable(one, "global") || values(one) != 1 ||
        ptx::bytes_of(one.type()) < 4 || rewritten_.contains(&one) ||
        registers_.definitions(value_of(one).index).size() != 1) {
      return false;
    }
    for (std::int32_t i = begin; i < end; ++i) {
      for (const std::int32_t its : address_of(one).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }
  void move(const Instruction& one, std::int32_t begin, const std::set<std::int32_t>& labels) {
    if (const Instruction* const same = loaded_before(one, begin, labels)) {
      rewritten_[&one] = {as_move(one, *same)};
      return;
    }
    const Instruction& last = at(begin - 1);
    if (!rewritten_.contains(&last)) rewritten_[&last] = {last};
    rewritten_[&last].push_back(one);
    rewritten_[&one] = {};
  }
  // In the stretch that ends where the loop begins, past jumps forward.
  const Instruction* loaded_before(const Instruction& one, std::int32_t begin,
                                   const std::set<std::int32_t>& labels) const {
    const Registers::Sum its = registers_.sum(address_of(one));
    for (std::int32_t i = begin - 1; i >= 0; --i) {
      const Instruction& other = at(i);
      const bool is_jump = other.opcode == "bra" && other.guard >= 0;
      if (!is_still(other) && !is_jump) return nullptr;
      if (is_load(other) && is_mergeable(other, "global") && values(other) == 1 &&
          other.modifiers == one.modifiers && !rewritten_.contains(&other) &&
          registers_.definitions(value_of(other).index).size() == 1) {
        const Registers::Sum its_own = registers_.sum(address_of(other));
        if (its_own == its && its_own.bytes == its.bytes) return &other;
      }
      const auto& registers = address_of(one).registers();
      if (labels.contains(i) || std::any_of(registers.begin(), registers.end(),
                                            [&](auto index) { return writes(other, index); })) {
        return nullptr;
      }
    }
    return nullptr;
  }

  const ptx::Function& function_;
  const Registers& registers_;
  Rewritten& rewritten_;
};

// A load that only those need who do not jump comes behind the jump, so that a warp in which all do has none. Where it
// stood it is still done, and not counted: that others load from beyond an array is a mistake, whatever ptxas makes of it.
class LateLoads {
 public:
  LateLoads(const ptx::Function& function, const Registers& registers, Rewritten& rewritten)
      : function_(function),
        registers_(registers),
        rewritten_(rewritten),
        read_(function.registers.size()) {
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function.body.size()); ++i) {
      const auto note = [&](const Instruction& one) {
        const auto note_register = [&](std::int32_t index) {
          Reads& its = read_[static_cast<std::size_t>(index)];
          if (its.first < 0) its.first = i;
          its.last = i;
        };
        for (const Operand& operand : one.operands) {
          if (&operand != one.result()) operand.each_register(note_register);
        }
        if (one.guard >= 0) note_register(one.guard);
      };
      note(at(i));
      if (const auto found = rewritten.find(&at(i)); found != rewritten.end()) {
        for (const Instruction& its : found->second) note(its);
      }
    }
  }

  void rewrite(const std::set<std::int32_t>& labels) {
    const std::vector<Jumps> jumps = jumps_to();
    for (std::int32_t jump = 1; jump < static_cast<std::int32_t>(function_.body.size()); ++jump) {
      const Instruction& one = at(jump);
      if (one.opcode != "bra" || one.guard < 0) continue;
      const std::int32_t end = target(function_, one);
      bool is_own = end > jump + 1;
      for (std::int32_t i = jump + 1; is_own && i < end; ++i) {
        const Jumps& its = jumps[static_cast<std::size_t>(i)];
        is_own = its.first >= jump && its.last < end;
      }
      if (!is_own || labels.contains(jump)) continue;  // a load does not go into a loop
      std::vector<Instruction> late;
      for (std::int32_t i = jump - 1; i >= 0 && !is_wall(at(i)); --i) {
        if (can_wait(i, jump, end)) {
          late.insert(late.begin(), at(i));
          rewritten_[&at(i)] = {at(i)};
          rewritten_[&at(i)].front().is_counted = false;
        }
        if (labels.contains(i)) break;
      }
      if (late.empty()) continue;
      std::vector<Instruction>& made = rewritten_[&one];
      if (made.empty()) made.push_back(one);
      made.insert(made.end(), late.begin(), late.end());
    }
  }

 private:
  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  // The first and the last place from where one jumps to a place.
  struct Jumps {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
  };
  std::vector<Jumps> jumps_to() const {
    std::vector<Jumps> all(function_.body.size() + 1);
    const auto note = [&](std::int32_t to, std::int32_t from) {
      if (to < 0) return;
      Jumps& its = all[static_cast<std::size_t>(to)];
      its.first = std::min(its.first, from);
      its.last = std::max(its.last, from);
    };
    for (const auto& [name, labels] : function_.targets) {
      for (const std::int32_t label : labels) {
        note(function_.labels[static_cast<std::size_t>(label)], -1);
      }
    }
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      if (at(i).opcode == "bra") note(target(function_, at(i)), i);
    }
    return all;
  }
  static bool is_wall(const Instruction& one) {
    return one.opcode == "st" || is_fixed(one, "global");
  }
  bool can_wait(std::int32_t place, std::int32_t jump, std::int32_t end) const {
    const Instruction& load = at(place);
    if (!is_load(load) || load.guard >= 0 || rewritten_.contains(&load) || values(load) != 1 ||
        !(is_mergeable(load, "global") || is_mergeable(load, "shared"))) {
      return false;
    }
    const bool is_direct = read_[static_cast<std::size_t>(value_of(load).index)].first > jump;
    std::set<std::int32_t> seen;
    if (!(is_direct || is_jumped(jump, end)) ||
        !is_for_those(value_of(load).index, place, jump, end, seen)) {
      return false;
    }
    for (std::int32_t i = place + 1; i < jump; ++i) {
      for (const std::int32_t its : address_of(load).registers()) {
        if (writes(at(i), its)) return false;
      }
    }
    return true;
  }

  // Whether ptxas has lanes jump there: what is short and straight it does under a predicate.
  bool is_jumped(std::int32_t jump, std::int32_t end) const {
    constexpr std::int32_t kShort = 9;
    return end - jump > kShort ||
           std::any_of(function_.labels.begin(), function_.labels.end(),
                       [&](std::int32_t place) { return place > jump && place < end; });
  }
  // Whether only those who do not jump need what is set at the place: what is worked out from it before goes with it.
  bool is_for_those(std::int32_t index, std::int32_t place, std::int32_t jump, std::int32_t end,
                    std::set<std::int32_t>& seen) const {
    if (!seen.insert(index).second) return true;
    const Reads& its_reads = read_[static_cast<std::size_t>(index)];
    if (registers_.definitions(index).size() != 1 || its_reads.first <= place ||
        its_reads.last >= end || reads(at(jump), index)) {
      return false;
    }
    const auto goes_with_it = [&](const Instruction& one, std::int32_t its_place) {
      if (!reads(one, index)) return true;
      const std::vector<std::int32_t> all = written_by(one);
      return is_computed(one) && std::all_of(all.begin(), all.end(), [&](std::int32_t its) {
               return is_for_those(its, its_place, jump, end, seen);
             });
    };
    for (std::int32_t i = place + 1; i < jump; ++i) {
      const auto found = rewritten_.find(&at(i));
      const bool goes = found == rewritten_.end()
                            ? goes_with_it(at(i), i)
                            : std::all_of(found->second.begin(), found->second.end(),
                                          [&](const auto& one) { return goes_with_it(one, i); });
      if (!goes) return false;
    }
    return true;
  }
  // In few instructions, which divisions and roots are not; of addresses nothing is worked out behind the jump.
  static bool is_computed(const Instruction& one) {
    static const auto& all = *new std::set<std::string_view>{
        "abs", "add", "and", "bfe", "bfi",  "clz",  "cvt",  "fma",  "lop3", "mad", "max", "min",
        "mul", "neg", "not", "or",  "popc", "prmt", "selp", "setp", "shl",  "shr", "sub", "xor"};
    if (one.guard >= 0) return false;
    if (one.opcode == "mov" || one.opcode == "cvta") return true;
    return all.contains(one.opcode) && ptx::bytes_of(one.type()) < 8 && !one.has("wide");
  }

  // The places where a register is read, by what stands there now too; -1: nowhere.
  struct Reads {
    std::int32_t first = -1, last = -1;
  };

  const ptx::Function& function_;
  const Registers& registers_;
  Rewritten& rewritten_;
  std::vector<Reads> read_;
};

// What is stored in shared memory right before a jump around some steps, and then by these steps to the same places, is
// stored once, behind them, by all: tile[i] = 0; if (inside) tile[i] = in[i]. All of it, in one order.
class StoredAgain {
 public:
  StoredAgain(const ptx::Function& function, const Registers& registers, Rewritten& rewritten)
      : function_(function), registers_(registers), rewritten_(rewritten) {}

  void rewrite(const std::set<std::int32_t>& labels) {
    const std::vector<int> comers = comers_of(function_);
    const auto comers_to = [&](std::int32_t place) {
      return place < 0 ? 0 : comers[static_cast<std::size_t>(place)];
    };
    for (std::int32_t i = 1; i + 1 < static_cast<std::int32_t>(function_.body.size()); ++i) {
      if (at(i).opcode != "bra" || at(i).guard < 0) continue;
      std::int32_t begin = i + 1, end = target(function_, at(i));
      // Past a jump around them, too.
      if (end == i + 2 && at(i + 1).opcode == "bra" && at(i + 1).guard < 0) {
        begin = end;
        end = target(function_, at(i + 1));
      }
      if (end <= begin || comers_to(begin) != 1 || comers_to(end) != 2 ||
          labels.lower_bound(begin + 1) != labels.find(end)) {
        continue;
      }
      const Stores again = stores_of(begin, end);
      if (again.empty() || !are_alike(stores_before(i, labels), again) || is_in_bare_loop(i))
        continue;
      for (const Instruction* const one : again) {
        std::vector<Instruction>& made = rewritten_.try_emplace(one, 1, *one).first->second;
        for (Instruction& its : made) its.is_counted = false;
      }
    }
  }

 private:
  using Stores = std::vector<const Instruction*>;

  const Instruction& at(std::int32_t place) const {
    return function_.body[static_cast<std::size_t>(place)];
  }
  static bool is_store(const Instruction& one) {
    return is_mergeable(one, "shared") && !is_load(one) && ptx::bytes_of(one.type()) > 1;
  }
  // None if there is what keeps them where they are.
  Stores stores_of(std::int32_t begin, std::int32_t end) const {
    Stores all;
    for (std::int32_t i = begin; i < end; ++i) {
      const Instruction& one = at(i);
      if (is_store(one)) {
        all.push_back(&one);
      } else if (one.guard >= 0 || one.opcode == "setp" || is_fixed(one, "shared") ||
                 may_be_call(one) ||
                 ((is_load(one) || one.opcode == "st") && may_be(one, "shared"))) {
        return {};
      }
    }
    return all;
  }
  // Of the stretch that ends with the jump, behind its last barrier.
  Stores stores_before(std::int32_t jump, const std::set<std::int32_t>& labels) const {
    Stores all;
    for (std::int32_t i = jump - 1; i >= 0; --i) {
      const Instruction& one = at(i);
      if (one.opcode == "bra" || one.opcode == "bar" || one.opcode == "barrier") break;
      if (is_store(one)) {
        all.insert(all.begin(), &one);
      } else if ((is_load(one) && all.empty() && !one.has("param")) ||
                 (one.opcode == "st" && may_be(one, "shared")) || is_fixed(one, "shared")) {
        return {};
      }
      if (!labels.contains(i)) continue;
      if (is_behind_choice(i)) return {};
      break;
    }
    return all;
  }
  // Where ways meet that ptxas has made one before, of steps that store nothing else.
  bool is_behind_choice(std::int32_t place) const {
    for (std::int32_t i = 0; i < place; ++i) {
      if (at(i).opcode != "bra" || target(function_, at(i)) != place) continue;
      if (std::none_of(&at(i), &at(place), [](const Instruction& one) {
            return (one.opcode == "st" && !one.has("shared")) || one.opcode == "atom" ||
                   one.opcode == "red";
          })) {
        return true;
      }
    }
    return false;
  }
  // In a loop without a barrier.
  bool is_in_bare_loop(std::int32_t place) const {
    for (std::int32_t i = place; i < static_cast<std::int32_t>(function_.body.size()); ++i) {
      if (at(i).opcode != "bra") continue;
      const std::int32_t begin = target(function_, at(i));
      if (begin < 0 || begin > place) continue;
      return std::none_of(&at(begin), &at(i), [](const Instruction& one) {
        return one.opcode == "bar" || one.opcode == "barrier";
      });
    }
    return false;
  }
  bool are_alike(const Stores& before, const Stores& again) const {
    const auto is_alike = [&](const Instruction* one, const Instruction* other) {
      const Registers::Sum first = registers_.sum(address_of(*one));
      const Registers::Sum second = registers_.sum(address_of(*other));
      return first == second && first.bytes == second.bytes && values(*one) == values(*other) &&
             ptx::bytes_of(one->type()) == ptx::bytes_of(other->type()) &&
             std::none_of(one, other, [&](const Instruction& its) {
               const std::vector<std::int32_t> all = written_by(its);
               return std::any_of(all.begin(), all.end(),
                                  [&](std::int32_t index) { return first.has(index); });
             });
    };
    return std::equal(before.begin(), before.end(), again.begin(), again.end(), is_alike);
  }

  const ptx::Function& function_;
  const Registers& registers_;
  Rewritten& rewritten_;
};

}  // namespace

Rewritten rewrite_as_ptxas(const ptx::Module& module, const ptx::Function& function,
                           const ptx::SharedPlaces& places) {
  Rewritten rewritten;
  Registers registers(module, function, places);
  narrow(registers, function, rewritten);
  halve_addresses_of_code(registers, function, rewritten);
  const std::set<std::int32_t> labels(function.labels.begin(), function.labels.end());
  Products products(registers, rewritten);
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const Instruction& one = function.body[i];
    if (labels.contains(static_cast<std::int32_t>(i))) products.end();
    products.add(one);
    if (one.opcode == "bra" || one.opcode == "brx" || one.opcode == "call") products.end();
  }
  products.end();
  const Choices choices(function, labels);
  const std::set<std::int32_t> arms = arms_of(function);
  const std::vector<std::int32_t> comers = first_comers(function);
  for (const std::string_view space : {"shared", "global"}) {
    Stretch loads(registers, rewritten, space), stores(registers, rewritten, space);
    Repeats repeats(registers, rewritten);
    for (std::size_t i = 0; i < function.body.size(); ++i) {
      const Instruction& one = function.body[i];
      const auto place = static_cast<std::int32_t>(i);
      const bool is_label = labels.contains(place);
      const bool is_end = is_label || is_fixed(one, space);
      const bool is_passed = space == "shared" && (!is_label || choices.ends.contains(place)) &&
                             (!is_fixed(one, space) || choices.jumps.contains(place));
      const bool is_store = one.opcode == "st" && may_be(one, space);
      const bool is_call = may_be_call(one);
      const bool goes_on = !is_label && one.opcode == "bra" && one.guard >= 0;
      const auto is_arm = [&](std::int32_t its) { return arms.contains(its) && loads.is_arm(its); };
      if (const auto its = choices.ends.find(place);
          space == "shared" && its != choices.ends.end()) {
        loads.end_choices(its->second);
      }
      const bool begins_arm = is_arm(place);
      if (begins_arm) loads.go_to_arm(place);
      const bool parts = space == "shared" && !is_passed && (!is_label || begins_arm) &&
                         one.opcode == "bra" && target(function, one) > place &&
                         (one.guard >= 0 || is_arm(place + 1));
      if (space == "shared" && choices.jumps.contains(place)) {
        if (!is_passed && !begins_arm) loads.end();
        loads.begin_choice();
      } else if (parts) {
        loads.part(target(function, one));
      } else if (is_store || is_call ||
                 (!is_passed && ((is_label && !begins_arm) || is_fixed(one, space)))) {
        loads.end();
      }
      const bool may_lack = is_passed && choices.with_loads.contains(place);
      if ((is_end && !is_passed && !goes_on) || is_store || may_lack) {
        // Nothing was seen to be kept past a call.
        repeats.end(one.opcode == "call" ? -1 : comers[i]);
      }
      if (is_load(one) && is_mergeable(one, space) && !rewritten.contains(&one)) {
        repeats.add(one, place);
      }
      repeats.write(one);
      if (is_end || is_call || (is_load(one) && may_be(one, space))) stores.end();
      if (!is_mergeable(one, space) || rewritten.contains(&one)) {
        if (is_store) stores.end();
        continue;
      }
      (is_load(one) ? loads : stores).add(one);
    }
    loads.end();
    stores.end();
  }
  ChosenLoads(function, registers, rewritten).rewrite(labels);
  Invariants(function, registers, rewritten).rewrite(labels);
  LateLoads(function, registers, rewritten).rewrite(labels);
  StoredAgain(function, registers, rewritten).rewrite(labels);
  return rewritten;
}

}  // namespace simt::machine
