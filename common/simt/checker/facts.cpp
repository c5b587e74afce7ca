#include "common/simt/checker/facts.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "common/simt/checker/text.hpp"

namespace simt::checker {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

bool is_any(std::string_view word, std::initializer_list<std::string_view> of) {
  return std::find(of.begin(), of.end(), word) != of.end();
}

bool starts_copy(const Instruction& one) {
  return one.opcode == "cp" && one.has("async") && !one.has("bulk") && one.operands.size() >= 3;
}
bool is_bulk(const Instruction& one) {
  return one.opcode == "cp" && one.has("bulk") && one.operands.size() >= 2 && !one.has("prefetch");
}
bool is_async_fence(const Instruction& one) {
  return one.opcode == "fence" && (one.has("async") || one.has("async::generic"));
}
bool moves_matrix(const Instruction& one) {
  return is_any(one.opcode, {"ldmatrix", "stmatrix"}) ||
         (one.opcode == "wmma" && (one.has("load") || one.has("store")));
}
bool touches_memory(const Instruction& one) {
  return is_bulk(one) || is_any(one.opcode, {"ld", "ldu", "st", "atom", "red", "mbarrier"}) ||
         starts_copy(one) || (one.opcode == "cp" && one.has("mbarrier")) || moves_matrix(one);
}
// Whether the first operand is where the result goes, and nothing else: wgmma adds to it.
bool has_result(const Instruction& one) { return one.result() != nullptr && one.opcode != "wgmma"; }

bool sends(const Instruction& one) {
  return (is_any(one.opcode, {"st", "red"}) && one.has("async")) ||
         (is_bulk(one) && one.has("mbarrier::complete_tx::bytes"));
}

Strength strength_of(const Instruction& one) {
  if (sends(one)) return one.opcode == "red" ? Strength::relaxed : Strength::weak;
  if (one.opcode == "mbarrier" || one.has("mbarrier")) {
    if (one.has("init") || one.has("inval")) return Strength::weak;
    if (one.has("relaxed")) return Strength::relaxed;
    return one.has("test_wait") || one.has("try_wait") ? Strength::acquire : Strength::release;
  }
  if (one.has("volatile")) return Strength::is_volatile;
  if (one.has("acquire")) return Strength::acquire;
  if (one.has("release")) return Strength::release;
  if (one.has("acq_rel") || one.has("sc")) return Strength::acquire_release;
  const bool is_atomic = one.opcode == "atom" || one.opcode == "red";
  return one.has("relaxed") || is_atomic ? Strength::relaxed : Strength::weak;
}

Scope scope_of(const Instruction& one) {
  if (one.has("cta")) return Scope::block;
  if (one.has("cluster") || one.opcode == "mbarrier" || one.has("async")) return Scope::cluster;
  return one.has("sys") || one.has("volatile") ? Scope::system : Scope::gpu;
}

// Whether it comes from a function with this in its name, inlined or called.
bool is_from(const ptx::Module& module, const Texts& texts, std::size_t site,
             const Instruction& one, std::string_view name) {
  for (const machine::Body* at = &texts.body(site); at != nullptr; at = texts.outer(*at)) {
    if (at->function->name.find(name) != std::string::npos) return true;
  }
  for (std::int32_t at = one.location; at >= 0;) {
    const ptx::Location& here = module.locations[static_cast<std::size_t>(at)];
    if (here.function >= 0 &&
        module.inlined_functions[static_cast<std::size_t>(here.function)].find(name) !=
            std::string::npos) {
      return true;
    }
    at = here.inlined_at;
  }
  return false;
}

std::int64_t bytes_of_variable(const ptx::Module& module, std::string_view name) {
  const auto its = std::find_if(module.variables.begin(), module.variables.end(),
                                [&](const ptx::Variable& one) { return one.name == name; });
  return its == module.variables.end() ? 0 : static_cast<std::int64_t>(its->bytes);
}

// Of a load the operand with the address, of others too; of a copy that to which it goes, and behind it where from.
const Operand* address_of(const Instruction& one, std::size_t number = 0) {
  for (const Operand& operand : one.operands) {
    if (operand.kind == Operand::Kind::address && number-- == 0) return &operand;
  }
  return nullptr;
}

// What becomes of a value that an instruction reads.
enum class Effect : std::uint8_t { decides, is_stored, is_compared, goes_on, is_derived_from };

// What a register holds of a value that was loaded: nothing, that itself, or what was worked out from it.
enum class Made : std::uint8_t { no, unchanged, computed };

// Whether the result has bytes of the value that is read, and no others.
bool moves_bytes(const Instruction& one) {
  if (is_any(one.opcode, {"shl", "shr"})) {
    return one.operands[2].kind == Operand::Kind::number && one.operands[2].bits % 8 == 0;
  }
  const auto is_of_integer = [](std::string_view word) {  // u8 and its like, but not bf16
    return is_any(word.substr(0, 1), {"u", "s", "b"}) && word.size() > 1 && word[1] <= '9';
  };
  if (one.opcode == "cvt") {
    return one.modifiers.size() == 2 && is_of_integer(one.modifiers[0]) &&
           is_of_integer(one.modifiers[1]);
  }
  return one.opcode == "mov" && one.operands[1].kind != Operand::Kind::vector;
}

// What the result is, of an operand that is `how`.
Made made_by(const Instruction& one, Made how) {
  const auto bits = [](std::string_view type) { return std::stoi(std::string(type.substr(1))); };
  const bool is_whole = moves_bytes(one) &&
                        (one.opcode == "mov" ||
                         (one.opcode == "cvt" && bits(one.modifiers[0]) >= bits(one.modifiers[1])));
  return how == Made::no || is_whole ? how : Made::computed;
}

// Where a module's variables are, and those of its functions.
using Spaces = std::map<std::string_view, ptx::Space>;

// What an instruction's words say, which are compared once: each of its function's loads asks.
struct Ways {
  bool has_result;
  Effect effect;
};

// A function's registers: who uses them, and what they are derived from.
class Registers {
 public:
  Registers(const ptx::Function& function, const Spaces& spaces, bool is_debug)
      : function_(function), spaces_(spaces), is_debug_(is_debug) {
    uses_.resize(function.registers.size());
    defined_.resize(function.registers.size());
    ways_.reserve(function.body.size());
    targets_.resize(function.body.size() + 1);
    for (const std::int32_t at : function.labels) {
      if (at >= 0) targets_[static_cast<std::size_t>(at)] = 1;
    }
    for (const Instruction& one : function.body) {
      const bool writes = has_result(one);
      ways_.push_back({writes, Effect::goes_on});
      for (std::size_t i = 0; i < one.operands.size(); ++i) {
        auto& table = writes && i == 0 ? defined_ : uses_;
        one.operands[i].each_register(
            [&](std::int32_t index) { table[static_cast<std::size_t>(index)].push_back(&one); });
      }
      if (one.guard >= 0) uses_[static_cast<std::size_t>(one.guard)].push_back(&one);
    }
    derive();
    for (std::size_t i = 0; i < ways_.size(); ++i) ways_[i].effect = effect_of(function.body[i]);
    for (const Instruction& one : function.body) {
      const bool is_load = is_debug && one.opcode == "ld" && !one.has("param") && is_local(one);
      if (is_load) local_loads_[origin(*address_of(one)).part].push_back(&one);
    }
    want(false);
    mattering_ = wanted_;
    want(true);
    find_moved();
  }

  Origin origin(const Operand& address) const {
    if (address.parts.empty()) return {};
    return of(address.parts.front());
  }
  Origin of(const Operand& operand) const;

  // Whether an access goes there: its words say so, or its address is derived from a variable that does. (nvcc -G says it of
  // none.)
  bool is_of(ptx::Space space, const Instruction& one) const;
  bool is_local(const Instruction& one) const {
    return one.has("param") || is_of(ptx::Space::local, one);
  }
  // An atomic that changes nothing: it is there to see what other blocks have left, as atomicAdd(flag, 0).
  bool only_reads(const Instruction& one) const;
  // Whether two addresses are the same wherever both are used, as far as the text says.
  bool is_same_place(const Operand& a, const Operand& b) const;

  // What a load is for, and, in `changed`, the store of what was made of it to the same place: count[i] = count[i] + 1.
  Reading reading(const Instruction& load, const Instruction*& changed, Site& site) const;
  // Whether its place in a variable is worked out, not said by the text.
  bool is_indexed(const Operand& address) const;
  // Whether bits are put together in the register, of which some may mean something where others don't.
  bool is_mixed(std::int32_t index) const {
    const auto& all = defined_[static_cast<std::size_t>(index)];
    return std::any_of(all.begin(), all.end(), [](const Instruction* one) {
      return is_any(one->opcode, {"and", "or", "xor", "lop3", "bfi", "prmt"});
    });
  }
  bool is_used(std::int32_t index) const { return wanted_[static_cast<std::size_t>(index)] != 0; }
  // Of what a load of this type puts into a register, the bytes that something depends on.
  std::uint8_t used_bytes(std::int32_t index, Type type) const {
    return widened_from(wanted_[static_cast<std::size_t>(index)], type);
  }
  // And not only what is in memory then.
  std::uint8_t mattering_bytes(std::int32_t index, Type type) const {
    return widened_from(mattering_[static_cast<std::size_t>(index)], type);
  }
  // Whether all that becomes of the register is that it is stored, or cut to pieces that are.
  bool is_moved(std::int32_t index) const { return moved_[static_cast<std::size_t>(index)] != 0; }
  // Whether a wider load from the same register's address reads these bytes too.
  bool is_covered(const Instruction& load) const;
  // Whether it is one of several words that nvcc -G copies at once, a structure.
  bool is_copied_with_others(const Instruction& load) const;
  // A register that only takes values of this type from memory to memory.
  bool is_copy(std::int32_t index) const {
    const auto i = static_cast<std::size_t>(index);
    if (uses_[i].empty() || defined_[i].empty()) return false;
    const auto type_bytes = [](const Instruction* one) { return ptx::bytes_of(one->type()); };
    const int bytes = type_bytes(defined_[i].front());
    const auto is_load = [&](const Instruction* one) {
      return is_any(one->opcode, {"ld", "ldu"}) && !is_local(*one) && type_bytes(one) == bytes;
    };
    const auto is_store = [&](const Instruction* one) {
      if (one->opcode != "st" || is_local(*one) || type_bytes(one) != bytes ||
          one->guard == index) {
        return false;
      }
      return one->operands[1].names(index) && !one->operands[0].names(index);
    };
    return std::all_of(defined_[i].begin(), defined_[i].end(), is_load) &&
           std::all_of(uses_[i].begin(), uses_[i].end(), is_store);
  }

 private:
  // Of a sum: a pointer and what is added. A variable is surer to be one than a parameter.
  static Origin sum(const Origin& a, const Origin& b) {
    if (a.kind == Origin::Kind::none || a == b) return b;
    if (b.kind == Origin::Kind::none) return a;
    const auto is_variable = [](const Origin& one) {
      return one.kind == Origin::Kind::variable || one.kind == Origin::Kind::object;
    };
    const bool a_is_number = a.kind == Origin::Kind::parameter && is_variable(b);
    const bool b_is_number = b.kind == Origin::Kind::parameter && is_variable(a);
    if (a_is_number || b_is_number) return a_is_number ? b : a;
    return {Origin::Kind::several, ""};
  }
  // Of a register that is written in two places, or of a choice.
  static Origin either(const Origin& a, const Origin& b) {
    if (a.kind == Origin::Kind::none || a == b) return b;
    if (b.kind == Origin::Kind::none) return a;
    return {Origin::Kind::several, ""};
  }

  // Of a value of this type that a wider register took, the bytes that these of the register come from.
  static std::uint8_t widened_from(std::uint8_t wanted, Type type);
  std::uint8_t wanted_of(const Operand& its, int bytes) const;
  std::uint8_t wanted_of(const Instruction& one, std::size_t operand) const;
  bool is_shifted(const Operand& its) const;
  void want(bool in_memory);
  bool is_moved_by(const Instruction& one, std::int32_t index) const;
  void find_moved();
  bool may_store(const Instruction& store, std::int32_t index,
                 const std::vector<Made>& made_of) const;
  bool is_target(const Instruction& one) const {
    return targets_[static_cast<std::size_t>(&one - function_.body.data())] != 0;
  }
  Effect effect_of(const Instruction& one) const;
  // The loads that may find what is stored in local memory; null: not known, or the instruction is another one. nvcc -G keeps
  // there what else is in registers.
  const std::vector<const Instruction*>* loads_behind(const Instruction& store) const;
  // What a register that is written in one place was copied from, and how many bytes were added to it.
  struct Root {
    const Operand* operand;
    std::int64_t bytes;
  };
  Root root_of(const Operand& operand) const;
  bool is_same_value(const Operand& a, const Operand& b, int depth = 0) const;
  const Instruction* definition_of(const Operand& operand) const;
  Origin result_of(const Instruction& one) const;
  bool names_object(const Instruction& one) const;
  void derive();

  const Ways& ways_of(const Instruction& one) const {
    return ways_[static_cast<std::size_t>(&one - function_.body.data())];
  }

  const ptx::Function& function_;
  const Spaces& spaces_;
  bool is_debug_;
  std::vector<Ways> ways_;     // of each instruction
  std::vector<char> targets_;  // those that a label stands before
  std::vector<std::vector<const Instruction*>> uses_, defined_;
  std::vector<Origin> origins_;
  std::vector<std::uint8_t> wanted_,
      mattering_;  // of each register the bytes that something depends on
  std::vector<char> moved_;
  std::map<std::int32_t, std::vector<const Instruction*>> local_loads_;  // by part of the text
  mutable std::map<const Instruction*, const std::vector<const Instruction*>*> loads_behind_;
  // Where the objects of local memory begin: nvcc has one variable for all, and names each object once by its place there.
  std::set<std::pair<std::int32_t, std::int64_t>> objects_;  // by part of the text
};

bool Registers::is_of(ptx::Space space, const Instruction& one) const {
  const char* const word = space == ptx::Space::shared  ? "shared"
                           : space == ptx::Space::local ? "local"
                                                        : "const";
  if (one.has(word)) return true;
  const Operand* const at = address_of(one);
  if (at == nullptr || at->parts.empty() || one.has("global")) return false;
  const Origin its = origin(*at);
  if (its.kind != Origin::Kind::variable && its.kind != Origin::Kind::object) return false;
  const auto found = spaces_.find(its.name);
  return found != spaces_.end() && found->second == space;
}

Effect Registers::effect_of(const Instruction& one) const {
  if (is_any(one.opcode, {"bra", "setp", "brx", "testp"})) return Effect::decides;
  if (one.opcode == "st" && !is_local(one)) return Effect::is_stored;
  if (one.opcode == "atom" && one.has("cas")) return Effect::is_compared;
  const bool ends = !ways_of(one).has_result || is_any(one.opcode, {"atom", "ld", "call"});
  return ends ? Effect::goes_on : Effect::is_derived_from;
}

const std::vector<const Instruction*>* Registers::loads_behind(const Instruction& store) const {
  if (!is_debug_ || store.opcode != "st") return nullptr;
  auto [known, is_new] = loads_behind_.try_emplace(&store, nullptr);
  if (is_new && !store.has("param") && is_local(store)) {
    static const std::vector<const Instruction*> kNone;
    const auto found = local_loads_.find(origin(*address_of(store)).part);
    known->second = found != local_loads_.end() ? &found->second : &kNone;
  }
  return known->second;
}

// Null if there are several, or none.
const Instruction* Registers::definition_of(const Operand& operand) const {
  if (operand.kind != Operand::Kind::reg || operand.index < 0 || !operand.name.empty() ||
      operand.negated) {
    return nullptr;
  }
  const auto& all = defined_[static_cast<std::size_t>(operand.index)];
  const bool is_one =
      all.size() == 1 && all[0]->guard < 0 && all[0]->operands[0].kind == Operand::Kind::reg;
  return is_one ? all[0] : nullptr;
}

Registers::Root Registers::root_of(const Operand& operand) const {
  Root root{&operand, operand.kind == Operand::Kind::symbol ? operand.offset : 0};
  // What is counted up in a loop before anything is in it comes back to itself.
  constexpr int kMostSteps = 64;
  for (int step = 0; step < kMostSteps; ++step) {
    const Instruction* const one = definition_of(*root.operand);
    if (one == nullptr) break;
    const bool is_sum = one->opcode == "add" && one->operands[2].kind == Operand::Kind::number;
    if (!is_sum && !is_any(one->opcode, {"mov", "cvta"})) break;
    const Operand& from = one->operands[1];
    if (from.kind != Operand::Kind::reg && from.kind != Operand::Kind::symbol &&
        (is_sum || from.kind != Operand::Kind::number)) {
      break;
    }
    root.operand = &from;
    if (is_sum) root.bytes += static_cast<std::int64_t>(one->operands[2].bits);
    if (from.kind == Operand::Kind::symbol) root.bytes += from.offset;
  }
  return root;
}

// Made in the same way of the same values: nvcc -G works out each address anew.
bool Registers::is_same_value(const Operand& a, const Operand& b, int depth) const {
  constexpr int kDeepest = 8;
  const Root its = root_of(a), other = root_of(b);
  const Operand &x = *its.operand, &y = *other.operand;
  if (its.bytes != other.bytes || x.kind != y.kind || x.name != y.name || x.negated != y.negated) {
    return false;
  }
  if (x.kind == Operand::Kind::symbol) return x.index == y.index;
  if (x.kind == Operand::Kind::number) return x.bits == y.bits && x.number_type == y.number_type;
  if (x.kind != Operand::Kind::reg || x.index < 0 || y.index < 0) return false;
  if (x.index == y.index) return true;
  const ptx::Register& of_x = function_.registers[static_cast<std::size_t>(x.index)];
  const ptx::Register& of_y = function_.registers[static_cast<std::size_t>(y.index)];
  const bool are_special = of_x.type == Type::none && of_y.type == Type::none;
  if (are_special) return of_x.name == of_y.name && !of_x.name.starts_with("%clock");
  const Instruction *one = definition_of(x), *two = definition_of(y);
  if (one == nullptr || two == nullptr || depth == kDeepest || one->opcode != two->opcode ||
      one->modifiers != two->modifiers || one->operands.size() != two->operands.size() ||
      !is_any(one->opcode, {"add", "sub", "mul", "mad", "shl", "shr", "and", "or", "cvt", "cvta",
                            "div", "rem"})) {
    return false;
  }
  for (std::size_t i = 1; i < one->operands.size(); ++i) {
    if (!is_same_value(one->operands[i], two->operands[i], depth + 1)) return false;
  }
  return true;
}

bool Registers::is_same_place(const Operand& a, const Operand& b) const {
  if (a.parts.empty() || b.parts.empty()) return false;
  const Root its = root_of(a.parts.front()), other = root_of(b.parts.front());
  return a.offset + its.bytes == b.offset + other.bytes &&
         is_same_value(*its.operand, *other.operand);
}

bool Registers::only_reads(const Instruction& one) const {
  if (one.opcode != "atom" || one.operands.size() < 3) return false;
  const Root what = root_of(one.operands[2]), last = root_of(one.operands.back());
  const Operand &by = *what.operand, &other = *last.operand;
  if (by.kind != other.kind || what.bytes != last.bytes) return false;
  const bool is_number = by.kind == Operand::Kind::number && by.bits == other.bits;
  if (one.has("cas")) {
    return is_number || (by.kind == Operand::Kind::reg && by.index == other.index);
  }
  return (one.has("add") || one.has("or") || one.has("xor")) && is_number && by.bits == 0 &&
         what.bytes == 0;
}

Origin Registers::of(const Operand& operand) const {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return operand.index < 0 ? Origin{} : origins_[static_cast<std::size_t>(operand.index)];
    case Operand::Kind::symbol:
      return {Origin::Kind::variable, std::string(operand.name), 0, 0, operand.index};
    default:
      return {};
  }
}

Origin Registers::result_of(const Instruction& one) const {
  const auto operand = [&](std::size_t i) {
    return i < one.operands.size() ? of(one.operands[i]) : Origin{};
  };
  if (is_any(one.opcode, {"mov", "cvta", "cvt", "mapa"})) return operand(1);
  if (names_object(one)) {
    Origin object = operand(1);
    object.kind = Origin::Kind::object;
    object.offset = static_cast<std::int64_t>(one.operands[2].bits);
    const auto next = objects_.upper_bound({object.part, object.offset});
    object.end = next == objects_.end() || next->first != object.part ? 0 : next->second;
    return object;
  }
  if (one.opcode == "add") return sum(operand(1), operand(2));
  if (one.opcode == "sub") {
    // The distance of two pointers is none.
    const Origin a = operand(1), b = operand(2);
    return b.kind == Origin::Kind::none ? a : a == b ? Origin{} : Origin{Origin::Kind::several, ""};
  }
  if (one.opcode == "mad") return operand(3);
  if (one.opcode == "selp") return either(operand(1), operand(2));
  if (one.opcode == "ld" && one.has("param") && ptx::bytes_of(one.type()) == 8 &&
      one.operands.size() == 2 && one.operands[0].kind == Operand::Kind::reg &&
      one.operands[1].parts.front().kind == Operand::Kind::symbol) {
    return {Origin::Kind::parameter, std::string(one.operands[1].parts.front().name),
            one.operands[1].offset + one.operands[1].parts.front().offset};
  }
  // A pointer from memory is to anything: list = list->next.
  if (one.opcode == "ld" && !one.has("param") && ptx::bytes_of(one.type()) == 8) {
    return {Origin::Kind::several, "", 0};
  }
  if (is_any(one.opcode, {"and", "or", "xor", "lop3", "min", "max", "prmt", "bfi", "shfl"})) {
    for (std::size_t i = 1; i < one.operands.size(); ++i) {
      if (operand(i).kind != Origin::Kind::none) return {Origin::Kind::several, ""};
    }
  }
  return {};
}

// add.u64 %rd1, %SP, 16;
bool Registers::names_object(const Instruction& one) const {
  if (one.opcode != "add" || one.operands.size() != 3 ||
      one.operands[2].kind != Operand::Kind::number) {
    return false;
  }
  const Operand& base = one.operands[1];
  if (base.kind != Operand::Kind::reg || base.index < 0) return false;
  const std::string& name = function_.registers[static_cast<std::size_t>(base.index)].name;
  return (name == "%SP" || name == "%SPL") && of(base).kind == Origin::Kind::variable;
}

bool Registers::is_indexed(const Operand& address) const {
  const Operand* its = address.parts.empty() ? nullptr : &address.parts.front();
  while (its != nullptr && its->kind == Operand::Kind::reg && its->index >= 0) {
    const auto& all = defined_[static_cast<std::size_t>(its->index)];
    if (all.empty()) return false;  // %SP
    const Instruction& one = *all.front();
    if (all.size() > 1) return true;
    const bool is_fixed = is_any(one.opcode, {"mov", "cvta", "ld"}) ||
                          (one.opcode == "add" && one.operands[2].kind == Operand::Kind::number);
    if (!is_fixed) return true;
    its = one.opcode == "ld" ? nullptr : &one.operands[1];
  }
  return false;
}

void Registers::derive() {
  origins_.assign(function_.registers.size(), {});
  for (const Instruction& one : function_.body) {
    // It comes before all that is derived from it.
    if (is_any(one.opcode, {"mov", "cvta"}) && one.operands[0].index >= 0) {
      origins_[static_cast<std::size_t>(one.operands[0].index)] = result_of(one);
    }
    if (names_object(one)) {
      objects_.emplace(of(one.operands[1]).part, static_cast<std::int64_t>(one.operands[2].bits));
    }
  }
  origins_.assign(function_.registers.size(), {});
  // Each register's origin changes at most twice: to one, and to several.
  for (bool changes = true; changes;) {
    changes = false;
    for (const Instruction& one : function_.body) {
      if (!ways_of(one).has_result || one.operands[0].kind != Operand::Kind::reg ||
          one.operands[0].index < 0) {
        continue;
      }
      Origin& its = origins_[static_cast<std::size_t>(one.operands[0].index)];
      Origin joined = either(its, result_of(one));
      if (joined == its) continue;
      its = std::move(joined);
      changes = true;
    }
  }
}

namespace {

constexpr std::uint8_t kAllBytes = 0xff;

std::uint8_t bytes_of_bits(std::uint64_t bits) {
  std::uint8_t bytes = 0;
  for (int i = 0; i < 8; ++i) bytes |= static_cast<std::uint8_t>((bits >> 8 * i & 255) != 0) << i;
  return bytes;
}
std::uint64_t bits_of_bytes(std::uint8_t bytes) {
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= (bytes >> i & 1) != 0 ? std::uint64_t{255} << 8 * i : 0;
  return bits;
}
std::uint8_t bytes_of_type(Type type) {
  const int bytes = ptx::bytes_of(type);
  return bytes <= 0 || bytes >= 8 ? kAllBytes : static_cast<std::uint8_t>((1 << bytes) - 1);
}

}  // namespace

std::uint8_t Registers::widened_from(std::uint8_t wanted, Type type) {
  const std::uint8_t its = bytes_of_type(type);
  const bool wants_sign = is_any(ptx::name_of(type), {"s8", "s16", "s32"}) && (wanted & ~its) != 0;
  return static_cast<std::uint8_t>((wanted & its) | (wants_sign ? its & ~(its >> 1) : 0));
}

// What is wanted of a register, or of several that are parts of one value.
std::uint8_t Registers::wanted_of(const Operand& its, int bytes) const {
  if (its.kind == Operand::Kind::reg && its.index >= 0) {
    return wanted_[static_cast<std::size_t>(its.index)];
  }
  if (its.kind != Operand::Kind::vector) return kAllBytes;
  const int each = bytes / static_cast<int>(its.parts.size());
  int wanted = 0;
  for (std::size_t i = 0; i < its.parts.size(); ++i) {
    if (its.parts[i].kind == Operand::Kind::sink) continue;
    wanted |= (wanted_of(its.parts[i], each) & ((1 << each) - 1)) << static_cast<int>(i) * each;
  }
  return static_cast<std::uint8_t>(wanted);
}

// Of a register that is this operand the bytes that the instruction needs, if those of its result are wanted that are.
std::uint8_t Registers::wanted_of(const Instruction& one, std::size_t operand) const {
  if (!ways_of(one).has_result) return kAllBytes;
  const Operand& result = one.operands[0];
  const bool is_shuffled = one.opcode == "shfl" && operand == 1;
  if (is_shuffled) {
    return wanted_of(result.kind == Operand::Kind::pair ? result.parts[0] : result, 4);
  }
  if (one.opcode == "mov") return wanted_of(result, ptx::bytes_of(one.type()));
  if (result.kind != Operand::Kind::reg || result.index < 0) return kAllBytes;
  const std::uint8_t wanted = wanted_[static_cast<std::size_t>(result.index)];
  const std::uint64_t bits = bits_of_bytes(wanted);
  const auto number = [&](std::size_t i) -> const std::uint64_t* {
    const bool is_number = i < one.operands.size() &&
                           one.operands[i].kind == Operand::Kind::number &&
                           one.operands[i].number_type == Type::none;
    return is_number ? &one.operands[i].bits : nullptr;
  };
  const int width = 8 * ptx::bytes_of(one.type());
  if (one.opcode == "selp" && operand < 3) return wanted;
  if (is_any(one.opcode, {"or", "xor", "not"})) return wanted;
  if (one.opcode == "and") {
    const std::uint64_t* const mask = number(3 - operand);
    return mask == nullptr ? wanted : bytes_of_bits(bits & *mask);
  }
  const std::uint64_t* const count = number(2);
  if (one.opcode == "shl" && operand == 1 && count != nullptr) {
    return *count < 64 ? bytes_of_bits(bits >> *count) : 0;
  }
  if (one.opcode == "shr" && operand == 1 && count != nullptr && *count < 64) {
    // With a sign the last byte goes on upwards.
    const std::uint64_t last = width >= 8 && width <= 64 ? std::uint64_t{255} << (width - 8) : 0;
    return bytes_of_bits(bits << *count | (wanted != 0 ? last : 0));
  }
  if (one.opcode == "prmt" && one.modifiers.size() == 1 && operand < 3 && number(3) != nullptr) {
    std::uint8_t from = 0;
    for (int i = 0; i < 4; ++i) {
      const auto byte = static_cast<int>(*number(3) >> 4 * i & 7);
      if ((wanted >> i & 1) != 0 && byte / 4 + 1 == static_cast<int>(operand)) {
        from |= static_cast<std::uint8_t>(1 << byte % 4);
      }
    }
    return from;
  }
  if (one.opcode == "cvt" && one.modifiers.size() == 2) {
    const Type from = one.type();
    if (is_any(one.modifiers[0].substr(0, 1), {"u", "s", "b"}) &&
        is_any(one.modifiers[1].substr(0, 1), {"u", "s", "b"})) {
      return widened_from(wanted, from);
    }
  }
  return kAllBytes;
}

// By other than whole bytes: a number that was worked out, as a multiple of two is, and no piece of another.
bool Registers::is_shifted(const Operand& its) const {
  if (its.kind != Operand::Kind::reg || its.index < 0) return false;
  const auto& all = defined_[static_cast<std::size_t>(its.index)];
  return std::any_of(all.begin(), all.end(), [](const Instruction* one) {
    return is_any(one->opcode, {"shl", "shr"}) && one->operands[2].kind == Operand::Kind::number &&
           one->operands[2].bits % 8 != 0;
  });
}

// Whether it takes some bytes and leaves out others, as nvcc does to give a structure to a function, byte by byte.
bool is_of_bytes(const Instruction& one) {
  if (!is_any(one.opcode, {"and", "prmt"})) return false;
  const Operand& which = one.operands.back();
  if (which.kind != Operand::Kind::number) return false;
  for (int i = 0; i < ptx::bytes_of(one.type()); ++i) {
    const std::uint64_t chosen = which.bits >> 4 * i & 15, kept = which.bits >> 8 * i & 255;
    if (one.opcode == "prmt" ? chosen > 7 : kept != 0 && kept != 255) return false;
  }
  return one.opcode == "and" || one.modifiers.size() == 1;
}

bool Registers::is_moved_by(const Instruction& one, std::int32_t index) const {
  if (one.guard == index) return false;
  if (one.opcode == "st") return one.operands[1].names(index) && !one.operands[0].names(index);
  if (!moves_bytes(one) && !is_of_bytes(one)) return false;
  bool are_moved = true;
  one.operands[0].each_register([&](std::int32_t its) { are_moved &= is_moved(its); });
  return are_moved;
}

// All are, until a use says otherwise.
void Registers::find_moved() {
  moved_.assign(function_.registers.size(), 1);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < moved_.size(); ++i) {
      const auto index = static_cast<std::int32_t>(i);
      const auto is_move = [&](const Instruction* one) { return is_moved_by(*one, index); };
      if (moved_[i] == 0 || std::all_of(uses_[i].begin(), uses_[i].end(), is_move)) continue;
      moved_[i] = 0;
      changes = true;
    }
  }
}

bool Registers::is_covered(const Instruction& load) const {
  const auto bytes_of = [](const Instruction& one) {
    const Operand& to = one.operands[0];
    const std::size_t count = to.kind == Operand::Kind::vector ? to.parts.size() : 1;
    return static_cast<std::int64_t>(count) * ptx::bytes_of(one.type());
  };
  const Operand* const at = address_of(load);
  if (at == nullptr || at->parts.empty() || at->parts.front().kind != Operand::Kind::reg) {
    return false;
  }
  const std::int32_t base = at->parts.front().index;
  if (base < 0) return false;
  return std::any_of(uses_[static_cast<std::size_t>(base)].begin(),
                     uses_[static_cast<std::size_t>(base)].end(), [&](const Instruction* one) {
                       if (one->opcode != load.opcode || bytes_of(*one) <= bytes_of(load))
                         return false;
                       const Operand* const its = address_of(*one);
                       return its != nullptr && !its->parts.empty() &&
                              its->parts.front().index == base && its->offset <= at->offset &&
                              at->offset + bytes_of(load) <= its->offset + bytes_of(*one);
                     });
}

bool Registers::is_copied_with_others(const Instruction& load) const {
  constexpr std::ptrdiff_t kNear = 8;
  constexpr std::int64_t kWidest = 16;
  const auto is_word = [&](const Instruction& one) {
    const Operand* const at = address_of(one);
    return one.opcode == "ld" && one.guard < 0 && one.location == load.location && at != nullptr &&
           !at->parts.empty() && one.operands[0].kind == Operand::Kind::reg &&
           one.operands[0].index >= 0 && is_moved(one.operands[0].index);
  };
  const Instruction* const first = function_.body.data();
  const Instruction* const last = first + function_.body.size();
  const bool is_there = !std::less<>()(&load, first) && std::less<>()(&load, last);
  if (!is_debug_ || !is_there || !is_word(load) || load.location < 0) return false;
  const Operand& at = *address_of(load);
  const Root root = root_of(at.parts.front());
  const auto is_beside = [&](const Instruction& one) {
    if (&one == &load || !is_word(one)) return false;
    const Operand& its = *address_of(one);
    const Root other = root_of(its.parts.front());
    const std::int64_t apart = its.offset + other.bytes - at.offset - root.bytes;
    return apart > -kWidest && apart < kWidest && apart != 0 &&
           is_same_value(*root.operand, *other.operand);
  };
  return std::any_of(&load - std::min(kNear, &load - first), &load + std::min(kNear, last - &load),
                     is_beside);
}

// Wants grow only, from nothing. `in_memory`: what is stored there is wanted.
void Registers::want(bool in_memory) {
  wanted_.assign(function_.registers.size(), 0);
  for (bool changes = true; changes;) {
    changes = false;
    const auto add = [&](std::int32_t index, std::uint8_t bytes) {
      if (index < 0) return;
      const auto i = static_cast<std::size_t>(index);
      // A register has no more bytes than its type: those that a conversion cuts off are not wanted.
      bytes &= bytes_of_type(function_.registers[i].type);
      std::uint8_t& its = wanted_[i];
      changes |= (bytes & ~its) != 0;
      its |= bytes;
    };
    for (auto one = function_.body.rbegin(); one != function_.body.rend(); ++one) {
      add(one->guard, kAllBytes);
      for (std::size_t i = ways_of(*one).has_result ? 1 : 0; i < one->operands.size(); ++i) {
        const Operand& operand = one->operands[i];
        if (one->opcode == "st" && i == 1 && !is_local(*one) && !in_memory &&
            !is_shifted(operand)) {
          continue;
        }
        if (operand.kind == Operand::Kind::reg) {
          add(operand.index, wanted_of(*one, i));
        } else if (operand.kind == Operand::Kind::vector && one->opcode == "mov") {
          const int each = ptx::bytes_of(one->type()) / static_cast<int>(operand.parts.size());
          for (std::size_t j = 0; j < operand.parts.size(); ++j) {
            add(operand.parts[j].index,
                static_cast<std::uint8_t>(wanted_of(*one, i) >> static_cast<int>(j) * each &
                                          ((1 << each) - 1)));
          }
        } else {
          operand.each_register([&](std::int32_t index) { add(index, kAllBytes); });
        }
      }
    }
  }
}

// Whether the register, of which the text says that it may hold what was made of what these hold, does so at the store. It may
// have several values, as that which one thread stores and the others load: the last before the store is looked for, as far
// back as no other way leads to it.
bool Registers::may_store(const Instruction& store, std::int32_t index,
                          const std::vector<Made>& made_of) const {
  for (const Instruction* one = &store; one != function_.body.data() && !is_target(*one);) {
    --one;
    if (!ways_of(*one).has_result || !one->operands[0].names(index)) continue;
    bool is_made = is_any(one->opcode, {"ld", "ldu"});
    if (ways_of(*one).effect == Effect::is_derived_from) {
      for (std::size_t i = 1; i < one->operands.size(); ++i) {
        one->operands[i].each_register([&](std::int32_t its) {
          const Made how = made_of[static_cast<std::size_t>(its)];
          is_made |= made_by(*one, how) == Made::computed;
        });
      }
    }
    if (is_made || one->guard < 0) return is_made;
  }
  return true;
}

Reading Registers::reading(const Instruction& load, const Instruction*& changed, Site& site) const {
  const Operand* const place = address_of(load);
  bool is_kept = false, is_compared = false, goes_on = false;
  std::vector<Made> made(uses_.size());
  std::vector<std::int32_t> open;
  std::vector<std::pair<const Instruction*, std::int32_t>> stores;  // to the same place
  std::set<const std::vector<const Instruction*>*> found_again;     // what local memory gives back
  const auto reach = [&](const Operand& operand, Made how) {
    operand.each_register([&](std::int32_t index) {
      Made& its = made[static_cast<std::size_t>(index)];
      if (its < how) open.push_back(index);
      its = std::max(its, how);
    });
  };
  reach(load.operands[0], Made::unchanged);
  while (!open.empty()) {
    const std::int32_t index = open.back();
    const Made how = made[static_cast<std::size_t>(index)];
    open.pop_back();
    for (const Instruction* const one : uses_[static_cast<std::size_t>(index)]) {
      const auto names = [&](std::size_t i) {
        return i < one->operands.size() && one->operands[i].names(index);
      };
      const Effect effect = ways_of(*one).effect;
      if (effect == Effect::decides || one->guard == index) {
        site.asks = true;
        continue;
      }
      if (effect == Effect::is_stored) {
        if (names(1)) {
          is_kept = true;
          site.asks |= is_of(ptx::Space::shared, *one);  // others of the block may
          const Operand* const its = address_of(*one);
          if (how == Made::computed && place != nullptr && its != nullptr &&
              is_same_place(*place, *its)) {
            stores.emplace_back(one, index);
          }
        } else {
          goes_on = true;
        }
      } else if (effect == Effect::is_compared) {
        is_compared |= names(2);
        goes_on |= names(1);
      } else if (effect == Effect::goes_on) {
        const std::vector<const Instruction*>* const loads =
            names(1) ? loads_behind(*one) : nullptr;
        goes_on |= loads == nullptr;
        if (loads == nullptr || !found_again.insert(loads).second) continue;
        for (const Instruction* const its : *loads) reach(its->operands[0], Made::computed);
      } else {
        reach(one->operands[0], made_by(*one, how));
      }
    }
  }
  for (const auto& [store, index] : stores) {
    if (may_store(*store, index, made)) changed = store;
  }
  if (is_compared) return Reading::confirmed;
  site.decides = !is_kept && !goes_on;
  // Whether the thread updates the place itself, before or after in the text.
  bool updates = false, has_updated = false, uses_result = false;
  for (const Instruction& one : function_.body) {
    if (one.opcode != "atom" && one.opcode != "red") continue;
    const Operand* const its = address_of(one);
    if (place == nullptr || its == nullptr || !is_same_place(*place, *its)) continue;
    updates = true;
    has_updated |= &one < &load;
    uses_result |= one.opcode == "atom" && one.operands[0].kind == Operand::Kind::reg &&
                   is_used(one.operands[0].index);
  }
  if (is_kept || (has_updated && goes_on)) return Reading::kept;
  if (!updates || goes_on) return Reading::plain;
  return uses_result ? Reading::tested_again : Reading::guard;
}

}  // namespace

Facts facts_of(const ptx::Module& module, const machine::Code& code) {
  Facts facts;
  Texts texts(code, module.is_debug);
  Spaces spaces;
  for (const ptx::Variable& its : module.variables) spaces[its.name] = its.space;
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Variable& its : function.variables) spaces[its.name] = its.space;
  }
  std::map<const ptx::Function*, Registers> all;
  const auto resolved = [&](Origin origin) {
    if (origin.kind != Origin::Kind::object) return origin;
    const machine::Body* const body = texts.owner(facts.sites.size(), origin.part);
    if (body == nullptr) return Origin{};
    const ptx::Variable* const its = body->function->variable(origin.name);
    const auto place = body->locals.find(origin.name);
    if (its == nullptr || place == body->locals.end()) return Origin{};
    const auto begin = static_cast<std::int64_t>(place->second);
    origin.end = begin + (origin.end != 0 ? origin.end : static_cast<std::int64_t>(its->bytes));
    origin.offset += begin;
    return origin;
  };
  std::map<std::pair<const ptx::Function*, std::int32_t>, std::int16_t> copies;
  std::map<const Instruction*, std::int32_t> changes;  // by their stores: the sites of their loads
  bool polls = false, meets = false;
  for (std::size_t number = 0; number < code.sites.size(); ++number) {
    const Texts::Place place = texts.at(number);
    const Instruction* const one = &place.instruction;
    const Registers& registers =
        all.try_emplace(&place.text, place.text, spaces, module.is_debug).first->second;
    const auto is_of = [&](std::string_view name) {
      return is_from(module, texts, number, *one, name);
    };
    Site site;
    Origin origin, source;
    if (is_any(one->opcode, {"membar", "fence"}) && !is_async_fence(*one)) facts.hands_on = true;
    facts.is_async |= is_bulk(*one) || (one->opcode == "wgmma" && one->has("mma_async"));
    if (one->opcode == "bar" && one->has("warp")) {
      const Operand& mask = one->operands.at(0);
      facts.hands_on |= mask.kind != Operand::Kind::number ||
                        static_cast<std::uint32_t>(mask.bits) != machine::kAllLanes;
    } else if (is_any(one->opcode, {"bar", "barrier"})) {
      meets = true;
      facts.hands_on |= one->operands.size() > 1 && !one->has("red");
    }
    site.is_passed = place.is_move;
    if (one->opcode == "ld" && one->has("param")) {
      const Operand* const address = address_of(*one);
      if (address != nullptr && address->parts.front().kind == Operand::Kind::reg) {
        origin = registers.origin(*address);
      }
    }
    if (touches_memory(*one) && !one->has("param")) {
      site.strength = strength_of(*one);
      site.scope = scope_of(*one);
      site.is_as_constant = one->opcode == "ld" && one->has("nc");
      site.starts_copy = starts_copy(*one);
      site.sends = sends(*one);
      site.is_barrier = one->opcode == "mbarrier" || (one->opcode == "cp" && one->has("mbarrier"));
      site.ends_barrier = one->opcode == "mbarrier" && one->has("inval");
      site.is_bulk = is_bulk(*one);
      // cuda::memcpy_async, at a cuda::barrier: NVIDIA's library, which sets it up, puts no fence between the two.
      site.is_of_barrier_object = site.is_bulk && is_of("cp_async_bulk_shared_global");
      facts.hands_on |= site.strength > Strength::relaxed || site.sends;
      facts.hands_on |= one->opcode == "atom" && (one->has("cas") || one->has("exch"));
      site.only_reads = registers.only_reads(*one);
      polls |= site.only_reads && !registers.is_of(ptx::Space::shared, *one);
      // By a tensor map it goes to where that says, or comes from there.
      const bool is_by_map = site.is_bulk && one->has("tensor");
      const Operand* const address = is_by_map && !site.sends ? nullptr : address_of(*one);
      if (address != nullptr) origin = resolved(registers.origin(*address));
      const Operand* const from = one->opcode == "cp" && !is_by_map ? address_of(*one, 1) : nullptr;
      if (from != nullptr) source = resolved(registers.origin(*from));
      site.is_indexed = origin.kind == Origin::Kind::object && registers.is_indexed(*address);
      if (origin.kind == Origin::Kind::variable && registers.is_of(ptx::Space::constant, *one)) {
        origin.end = bytes_of_variable(module, origin.name);
      }
      if (is_any(one->opcode, {"ld", "ldu"})) {
        const Instruction* changed = nullptr;
        site.reading = registers.reading(*one, changed, site);
        if (changed != nullptr) {
          site.change = static_cast<std::int32_t>(facts.sites.size());
          changes[changed] = site.change;
        }
      } else if (one->opcode == "atom" && one->has("exch")) {
        site.uses_old = one->operands[0].kind == Operand::Kind::reg &&
                        registers.is_used(one->operands[0].index);
      } else if (one->opcode == "red" && one->has("exch")) {
        site.uses_old = false;
      }
      if (one->opcode == "atom" || one->opcode == "red") {
        site.returns = one->opcode == "atom" && one->operands[0].kind == Operand::Kind::reg &&
                       registers.is_used(one->operands[0].index);
        site.may_lock = site.returns && site.strength == Strength::relaxed &&
                        (one->has("cas") || one->has("exch"));
      }
      const bool is_store = one->opcode == "st";
      // Thrust's set_intersection reads on behind the last key, and goes where that leads it; it keeps nothing then, as
      // one of its two ranges is at its end for good. So what nobody has written does not matter there.
      const bool reads_beyond_its_ranges =
          !is_store && is_of("16__set_operations23serial_set_intersection");
      if (const auto change = changes.find(one); change != changes.end()) {
        site.change = change->second;
      }
      if (is_store || is_any(one->opcode, {"ld", "ldu"})) {
        const Operand& values = one->operands[is_store ? 1 : 0];
        const bool is_vector = values.kind == Operand::Kind::vector;
        const std::size_t count = is_vector ? values.parts.size() : 1;
        site.is_covered = !is_store && (registers.is_covered(*one) ||
                                        (module.is_debug && registers.is_copied_with_others(*one)));
        for (std::size_t i = 0; i < std::min<std::size_t>(count, 4); ++i) {
          const Operand& value = is_vector ? values.parts[i] : values;
          if (value.kind != Operand::Kind::reg || value.index < 0) {
            site.values[i].used = is_store ? 0xff : 0;
            continue;
          }
          if (is_store) site.values[i].is_mixed = registers.is_mixed(value.index);
          if (!is_store && reads_beyond_its_ranges) {
            site.values[i].used = 0;
          } else if (!is_store) {
            site.values[i].used = registers.used_bytes(value.index, one->type());
            site.values[i].matters = registers.mattering_bytes(value.index, one->type());
            site.values[i].is_moved = registers.is_moved(value.index);
          }
          if (registers.is_copy(value.index)) {
            site.values[i].copy =
                copies
                    .try_emplace({&place.text, value.index},
                                 static_cast<std::int16_t>(copies.size() & 0x7fff))
                    .first->second;
          }
        }
      }
    }
    facts.writes_surfaces |= one->opcode == "sust";
    site.is_of_texture = is_any(one->opcode, {"tex", "tld4"});
    site.is_as_constant |= site.is_of_texture;
    // Of what they read and nobody wrote nothing is told: a filter may not count it.
    if (site.is_of_texture || one->opcode == "suld") site.values.fill({.used = 0});
    facts.sites.push_back(std::move(site));
    facts.origins.push_back(std::move(origin));
    facts.sources.push_back(std::move(source));
  }
  // Without a fence it hands on what was read before a barrier, and that only.
  facts.hands_on |= polls && meets;
  facts.may_be_quick =
      !facts.is_async && std::none_of(facts.sites.begin(), facts.sites.end(),
                                      [](const Site& site) { return site.may_lock; });
  return facts;
}

}  // namespace simt::checker
