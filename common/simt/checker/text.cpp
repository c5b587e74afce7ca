#include "common/simt/checker/text.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace simt::checker {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

// The registers of a function lie behind others.
void rename(Operand& operand, std::size_t first_register) {
  if (operand.kind == Operand::Kind::reg && operand.index >= 0) {
    operand.index += static_cast<std::int32_t>(first_register);
  }
  for (Operand& part : operand.parts) rename(part, first_register);
}
void rename(Instruction& one, std::size_t first_register) {
  for (Operand& operand : one.operands) rename(operand, first_register);
  if (one.guard >= 0) one.guard += static_cast<std::int32_t>(first_register);
}

bool mentions(const Operand& operand, std::string_view symbol) {
  return (operand.kind == Operand::Kind::symbol && operand.name == symbol) ||
         std::any_of(operand.parts.begin(), operand.parts.end(),
                     [&](const Operand& part) { return mentions(part, symbol); });
}

// ld.param %r1, [name+8] or st.param [name+8], %r1.
bool is_move(const Instruction& one) {
  if ((one.opcode != "ld" && one.opcode != "st") || !one.has("param") || one.guard >= 0) {
    return false;
  }
  const Operand& address = one.operands[one.opcode == "ld" ? 1 : 0];
  return one.operands.size() == 2 && address.kind == Operand::Kind::address &&
         address.parts.size() == 1 && address.parts.front().kind == Operand::Kind::symbol;
}
const Operand& place_of_move(const Instruction& one) {
  return one.operands[one.opcode == "ld" ? 1 : 0];
}

const char* name_of_bits(int bytes) {
  return bytes == 1 ? "b8" : bytes == 2 ? "b16" : bytes == 4 ? "b32" : "b64";
}

// What becomes of a load or store whose memory is a register.
Instruction moved(const Instruction& one, const Operand& value, std::int32_t index, int bytes) {
  Operand its;
  its.kind = Operand::Kind::reg;
  its.index = index;
  Instruction made;
  made.opcode = "mov";
  made.modifiers = {name_of_bits(bytes)};
  const bool is_load = one.opcode == "ld";
  made.operands = is_load ? std::vector<Operand>{value, its} : std::vector<Operand>{its, value};
  made.location = one.location;
  made.line = one.line;
  return made;
}

}  // namespace

// Writes a text, from the outermost function inwards.
class Texts::Maker {
 public:
  Maker(std::deque<Part>& parts, Function& text) : parts_(parts), text_(text) {}

  void put(Part& part) { put(part, {}); }

 private:
  // A variable that a call is given, or gives back: a register for each piece that is stored there.
  struct Given {
    std::map<std::pair<std::int64_t, int>, std::int32_t> pieces;  // by place and bytes
    std::vector<std::pair<std::size_t, Instruction>> stores;      // in the text, and what they were
  };
  using ByName = std::map<std::string_view, Given*>;

  void put(Part& part, ByName parameters);
  void move(const Instruction& one, const Part& part, Given& variable);
  void call(const Instruction& one, Part& part, ByName& variables);
  void leave(Given& variable);
  std::int32_t piece(Given& variable, std::int64_t at, int bytes);

  std::deque<Part>& parts_;
  Function& text_;
  std::deque<Given> given_;
};

void Texts::Maker::put(Part& part, ByName parameters) {
  const Function& function = *part.function;
  part.text = &text_;
  part.first_register = text_.registers.size();
  text_.registers.insert(text_.registers.end(), function.registers.begin(),
                         function.registers.end());
  const auto number = static_cast<std::int32_t>(
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& its) { return &its == &part; }) -
      parts_.begin());
  const auto is_local = [&](std::string_view name) {
    const ptx::Variable* const its = function.variable(name);
    return its != nullptr && its->space == ptx::Space::local;
  };
  ByName variables = std::move(parameters);
  for (const Instruction& one : function.body) {
    part.places.push_back(text_.body.size());
    if (one.opcode == "call") {
      call(one, part, variables);
      continue;
    }
    if (is_move(one)) {
      const std::string_view name = place_of_move(one).parts.front().name;
      auto found = variables.find(name);
      const ptx::Variable* const own = function.variable(name);
      if (found == variables.end() && own != nullptr && own->space == ptx::Space::param) {
        found = variables.emplace(name, &given_.emplace_back()).first;
      }
      if (found != variables.end()) {
        move(one, part, *found->second);
        continue;
      }
    }
    Instruction& its = text_.body.emplace_back(one);
    rename(its, part.first_register);
    for (Operand& operand : its.operands) {
      if (operand.kind == Operand::Kind::symbol && is_local(operand.name)) operand.index = number;
    }
  }
  part.places.push_back(text_.body.size());
  for (const std::int32_t at : function.labels) {
    text_.labels.push_back(
        at < 0 ? -1 : static_cast<std::int32_t>(part.places[static_cast<std::size_t>(at)]));
  }
}

std::int32_t Texts::Maker::piece(Given& variable, std::int64_t at, int bytes) {
  const auto [found, is_new] = variable.pieces.try_emplace({at, bytes}, -1);
  if (is_new) {
    found->second = static_cast<std::int32_t>(text_.registers.size());
    text_.registers.push_back({"", ptx::type_of(name_of_bits(bytes))});
  }
  return found->second;
}

void Texts::Maker::move(const Instruction& one, const Part& part, Given& variable) {
  const bool is_store = one.opcode == "st";
  Instruction whole = one;
  rename(whole, part.first_register);
  const Operand& values = whole.operands[is_store ? 1 : 0];
  const bool is_vector = values.kind == Operand::Kind::vector;
  const std::size_t count = is_vector ? values.parts.size() : 1;
  const int bytes = ptx::bytes_of(one.type());
  const std::int64_t begin = place_of_move(one).offset + place_of_move(one).parts.front().offset;
  const auto at = [&](std::size_t i) { return begin + static_cast<std::int64_t>(i) * bytes; };
  if (bytes < 1 || bytes > 8) {
    text_.body.push_back(whole);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_store && !variable.pieces.contains({at(i), bytes})) {
      // It is read in other pieces than it was stored in.
      leave(variable);
      text_.body.push_back(whole);
      return;
    }
  }
  if (is_store) variable.stores.emplace_back(text_.body.size(), whole);
  for (std::size_t i = 0; i < count; ++i) {
    text_.body.push_back(
        moved(one, is_vector ? values.parts[i] : values, piece(variable, at(i), bytes), bytes));
  }
}

// What is stored there is stored, and no more is known of it.
void Texts::Maker::leave(Given& variable) {
  for (auto& [at, store] : variable.stores) text_.body[at] = store;
  variable.stores.clear();
  variable.pieces.clear();
}

void Texts::Maker::call(const Instruction& one, Part& part, ByName& variables) {
  const std::size_t name_at =
      !one.operands.empty() && one.operands[0].kind == Operand::Kind::list ? 1 : 0;
  const auto found = part.calls.find(&one);
  const auto given_at = [&](std::size_t list, std::size_t i) -> Given*& {
    Given*& its = variables[one.operands[list].parts[i].name];
    if (its == nullptr) its = &given_.emplace_back();
    return its;
  };
  const bool has_arguments =
      name_at + 1 < one.operands.size() && one.operands[name_at + 1].kind == Operand::Kind::list;
  const std::size_t arguments = has_arguments ? one.operands[name_at + 1].parts.size() : 0;
  if (found == part.calls.end()) {
    for (std::size_t i = 0; i < arguments; ++i) leave(*given_at(name_at + 1, i));
    rename(text_.body.emplace_back(one), part.first_register);
  } else {
    Part& callee = parts_[static_cast<std::size_t>(found->second)];
    const Function& function = *callee.function;
    ByName its;
    for (std::size_t i = 0; i < function.returns.size() && name_at == 1; ++i) {
      variables.erase(one.operands[0].parts[i].name);
      its[function.returns[i].name] = given_at(0, i);
    }
    for (std::size_t i = 0; i < function.parameters.size() && i < arguments; ++i) {
      const std::string_view name = function.parameters[i].name;
      // By its address anything may be read of it.
      const bool is_named =
          std::any_of(function.body.begin(), function.body.end(), [&](const Instruction& use) {
            return !is_move(use) &&
                   std::any_of(use.operands.begin(), use.operands.end(),
                               [&](const Operand& operand) { return mentions(operand, name); });
          });
      if (is_named) {
        leave(*given_at(name_at + 1, i));
      } else {
        its[name] = given_at(name_at + 1, i);
      }
    }
    put(callee, std::move(its));
  }
  for (std::size_t i = 0; i < arguments; ++i) {
    variables.erase(one.operands[name_at + 1].parts[i].name);
  }
}

// nvcc -G keeps in local memory what has an address. Of what is touched by that address alone, always in the same pieces,
// each piece is a register: so the text has a move where it is stored or loaded.
class Texts::Variables {
 public:
  Variables(Function& text, std::deque<Part>& parts) : text_(text), parts_(parts) {}

  /// False if there are none any more: an address may have been kept in another one.
  bool put_into_registers() {
    find_addresses();
    find_pieces();
    if (pieces_.empty()) return false;
    move();
    return true;
  }

 private:
  struct Address {
    std::int32_t part;
    std::int64_t offset;
    auto operator<=>(const Address&) const = default;
  };
  struct Piece {
    int bytes;
    std::int32_t index = -1;  // of the register
  };
  // Of a load or store of such memory its address; its values; and how many bytes each has.
  struct Access {
    Address at;
    std::size_t count;
    int bytes;
  };

  void find_addresses();
  void find_pieces();
  void move();
  std::optional<Address> address_of(std::int32_t index);
  std::optional<Access> access_of(const Instruction& one);
  static const Operand& values_of(const Instruction& one) {
    return one.operands[one.opcode == "ld" ? 0 : 1];
  }

  Function& text_;
  std::deque<Part>& parts_;
  std::vector<const Instruction*> definitions_;  // of each register, if it has one
  std::vector<std::optional<Address>> addresses_;
  std::map<Address, Piece> pieces_;
};

std::optional<Texts::Variables::Access> Texts::Variables::access_of(const Instruction& one) {
  if ((one.opcode != "ld" && one.opcode != "st") || one.has("param") || one.guard >= 0 ||
      one.operands.size() != 2) {
    return std::nullopt;
  }
  const Operand& at = one.operands[one.opcode == "ld" ? 1 : 0];
  if (at.kind != Operand::Kind::address || at.parts.size() != 1) return std::nullopt;
  const Operand& base = at.parts.front();
  if (base.kind != Operand::Kind::reg || base.index < 0) return std::nullopt;
  const auto its = addresses_[static_cast<std::size_t>(base.index)];
  if (!its) return std::nullopt;
  const Operand& values = values_of(one);
  const std::size_t count = values.kind == Operand::Kind::vector ? values.parts.size() : 1;
  return Access{{its->part, its->offset + at.offset}, count, ptx::bytes_of(one.type())};
}

void Texts::Variables::find_addresses() {
  std::vector<int> counts(text_.registers.size());
  definitions_.assign(text_.registers.size(), nullptr);
  for (const Instruction& one : text_.body) {
    if (one.result() == nullptr) continue;
    one.result()->each_register([&](std::int32_t index) {
      const auto i = static_cast<std::size_t>(index);
      definitions_[i] = ++counts[i] == 1 && one.guard < 0 ? &one : nullptr;
    });
  }
  addresses_.assign(text_.registers.size(), std::nullopt);
  for (bool changes = true; changes;) {
    changes = false;
    for (std::size_t i = 0; i < addresses_.size(); ++i) {
      if (addresses_[i] || definitions_[i] == nullptr) continue;
      const Instruction& one = *definitions_[i];
      const bool adds = one.opcode == "add" && one.operands.size() == 3 &&
                        one.operands[2].kind == Operand::Kind::number;
      if ((!adds && one.opcode != "mov" && one.opcode != "cvta") || one.operands.size() < 2 ||
          one.operands[0].kind != Operand::Kind::reg) {
        continue;
      }
      const Operand& from = one.operands[1];
      if (from.kind == Operand::Kind::symbol && from.index >= 0 &&
          from.name.starts_with("__local_depot")) {
        addresses_[i] = Address{from.index, from.offset};
      } else if (from.kind == Operand::Kind::reg && from.index >= 0) {
        addresses_[i] = addresses_[static_cast<std::size_t>(from.index)];
        if (addresses_[i] && adds) {
          addresses_[i]->offset += static_cast<std::int64_t>(one.operands[2].bits);
        }
      }
      changes |= addresses_[i].has_value();
    }
  }
}

void Texts::Variables::find_pieces() {
  pieces_.clear();
  std::set<Address> objects;  // where they begin, as nvcc names each by its place
  std::set<Address> given_away;
  std::set<Address> mixed;  // pieces that are not touched in one way only
  for (const Instruction& one : text_.body) {
    const std::optional<Access> access = access_of(one);
    const Operand* const result = one.result();
    const bool derives = result != nullptr && result->kind == Operand::Kind::reg &&
                         addresses_[static_cast<std::size_t>(result->index)].has_value();
    if (derives && one.opcode == "add") {
      const std::string& name =
          text_.registers[static_cast<std::size_t>(one.operands[1].index)].name;
      if (name == "%SP" || name == "%SPL") {
        objects.insert(*addresses_[static_cast<std::size_t>(result->index)]);
      }
    }
    if (access && !one.has("volatile")) {
      for (std::size_t i = 0; i < access->count; ++i) {
        const Address at{access->at.part,
                         access->at.offset + static_cast<std::int64_t>(i) * access->bytes};
        const auto its = pieces_.try_emplace(at, Piece{access->bytes}).first;
        if (its->second.bytes != access->bytes) mixed.insert(at);
      }
    }
    if (derives || one.opcode == "setp") continue;
    for (const Operand& operand : one.operands) {
      if (access && operand.kind == Operand::Kind::address && !one.has("volatile")) continue;
      if (&operand == result) continue;
      operand.each_register([&](std::int32_t index) {
        const auto its = addresses_[static_cast<std::size_t>(index)];
        if (its) given_away.insert(*its);
      });
    }
  }
  for (auto its = pieces_.begin(); its != pieces_.end(); ++its) {
    const auto next = std::next(its);
    if (next == pieces_.end() || next->first.part != its->first.part ||
        its->first.offset + its->second.bytes <= next->first.offset) {
      continue;
    }
    mixed.insert(its->first);
    mixed.insert(next->first);
  }
  for (const Address& one : given_away) {
    auto begin = objects.upper_bound(one);
    const auto end = begin;
    const bool has_begin = begin != objects.begin() && std::prev(begin)->part == one.part;
    const Address first = has_begin ? *std::prev(begin) : Address{one.part, 0};
    for (auto its = pieces_.lower_bound(first);
         its != pieces_.end() && its->first.part == one.part &&
         (end == objects.end() || its->first < *end);
         ++its) {
      mixed.insert(its->first);
    }
  }
  // A vector goes on its way as a whole.
  for (bool changes = !mixed.empty(); changes;) {
    changes = false;
    for (const Instruction& one : text_.body) {
      const std::optional<Access> access = access_of(one);
      if (!access || access->count == 1) continue;
      std::size_t count = 0;
      const auto each = [&](const auto& visit) {
        for (std::size_t i = 0; i < access->count; ++i) {
          visit(Address{access->at.part,
                        access->at.offset + static_cast<std::int64_t>(i) * access->bytes});
        }
      };
      each([&](const Address& at) { count += mixed.count(at); });
      if (count == 0 || count == access->count) continue;
      each([&](const Address& at) { mixed.insert(at); });
      changes = true;
    }
  }
  std::erase_if(pieces_, [&](const auto& its) { return mixed.contains(its.first); });
}

void Texts::Variables::move() {
  std::vector<Instruction> body;
  std::vector<std::size_t> places;
  for (const Instruction& one : text_.body) {
    places.push_back(body.size());
    const std::optional<Access> access = access_of(one);
    const auto first = access ? pieces_.find(access->at) : pieces_.end();
    if (first == pieces_.end()) {
      body.push_back(one);
      continue;
    }
    const Operand& values = values_of(one);
    for (std::size_t i = 0; i < access->count; ++i) {
      Piece& piece = pieces_.at(
          {access->at.part, access->at.offset + static_cast<std::int64_t>(i) * access->bytes});
      if (piece.index < 0) {
        piece.index = static_cast<std::int32_t>(text_.registers.size());
        text_.registers.push_back({"", ptx::type_of(name_of_bits(piece.bytes))});
      }
      body.push_back(moved(one, values.kind == Operand::Kind::vector ? values.parts[i] : values,
                           piece.index, piece.bytes));
    }
  }
  places.push_back(body.size());
  text_.body = std::move(body);
  for (std::int32_t& at : text_.labels) {
    if (at >= 0) at = static_cast<std::int32_t>(places[static_cast<std::size_t>(at)]);
  }
  for (Part& part : parts_) {
    if (part.text != &text_) continue;
    for (std::size_t& at : part.places) at = places[at];
  }
}

Texts::Texts(const machine::Code& code, bool is_debug) : code_(code), bodies_(code.sites.size()) {
  // Inner ones come behind those that they are in.
  for (std::size_t i = 0; i < code.bodies.size(); ++i) {
    const machine::Body& body = code.bodies[i];
    std::fill(bodies_.begin() + body.first_site, bodies_.begin() + body.end_site, i);
    std::int32_t part = static_cast<std::int32_t>(all_.size());
    if (body.outer >= 0) {
      const std::int32_t outer = parts_[static_cast<std::size_t>(body.outer)];
      auto& calls = all_[static_cast<std::size_t>(outer)].calls;
      const Instruction* const call = code.sites[static_cast<std::size_t>(body.call_site)];
      part = calls.try_emplace(call, part).first->second;
    }
    parts_.push_back(part);
    if (static_cast<std::size_t>(part) == all_.size()) {
      const std::int32_t outer = body.outer < 0 ? -1 : parts_[static_cast<std::size_t>(body.outer)];
      all_.push_back({.function = body.function, .outer = outer, .places = {}, .calls = {}});
    }
  }
  for (Part& part : all_) {
    if (part.outer >= 0) continue;
    Function& text = made_.emplace_back();
    Maker(all_, text).put(part);
    // An address that is kept in one of them is followed then.
    constexpr int kMost = 8;
    for (int i = 0; is_debug && i < kMost && Variables(text, all_).put_into_registers();) ++i;
  }
}

Texts::~Texts() = default;

Texts::Place Texts::at(std::size_t site) {
  const Part& part = all_[static_cast<std::size_t>(parts_[bodies_[site]])];
  const Instruction* const one = code_.sites[site];
  const std::vector<Instruction>& body = part.function->body;
  if (!std::less<>()(one, body.data()) && std::less<>()(one, body.data() + body.size())) {
    const std::size_t at = part.places[static_cast<std::size_t>(one - body.data())];
    const Instruction& its = part.text->body[std::min(at, part.text->body.size() - 1)];
    if (its.opcode == one->opcode) return {*part.text, its};
    rename(renamed_.emplace_back(*one), part.first_register);
    return {*part.text, renamed_.back(), one->has("param")};
  }
  rename(renamed_.emplace_back(*one), part.first_register);
  return {*part.text, renamed_.back()};
}

const machine::Body* Texts::owner(std::size_t site, std::int32_t part) const {
  for (std::size_t at = bodies_[site];;) {
    const machine::Body& body = code_.bodies[at];
    if (parts_[at] == part) return body.called >= 0 ? nullptr : &body;
    if (body.outer < 0) return nullptr;
    at = static_cast<std::size_t>(body.outer);
  }
}

}  // namespace simt::checker
