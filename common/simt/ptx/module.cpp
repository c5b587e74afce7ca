#include "common/simt/ptx/module.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace simt::ptx {
namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bytes;
};
constexpr TypeRow kTypes[] = {
    {Type::pred, "pred", 0},       {Type::b8, "b8", 1},         {Type::b16, "b16", 2},
    {Type::b32, "b32", 4},         {Type::b64, "b64", 8},       {Type::b128, "b128", 16},
    {Type::u8, "u8", 1},           {Type::u16, "u16", 2},       {Type::u32, "u32", 4},
    {Type::u64, "u64", 8},         {Type::s8, "s8", 1},         {Type::s16, "s16", 2},
    {Type::s32, "s32", 4},         {Type::s64, "s64", 8},       {Type::f16, "f16", 2},
    {Type::f16x2, "f16x2", 4},     {Type::bf16, "bf16", 2},     {Type::bf16x2, "bf16x2", 4},
    {Type::tf32, "tf32", 4},       {Type::f32, "f32", 4},       {Type::f32x2, "f32x2", 8},
    {Type::f64, "f64", 8},         {Type::texref, "texref", 8}, {Type::samplerref, "samplerref", 8},
    {Type::surfref, "surfref", 8},
};

bool names(const Operand& operand, std::string_view symbol) {
  return (operand.kind == Operand::Kind::symbol && operand.name == symbol) ||
         std::any_of(operand.parts.begin(), operand.parts.end(),
                     [&](const Operand& part) { return names(part, symbol); });
}

}  // namespace

Type type_of(std::string_view word) {
  for (const TypeRow& row : kTypes) {
    if (row.name == word) return row.type;
  }
  return Type::none;
}

std::string_view name_of(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.name;
  }
  return "";
}

int bytes_of(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.bytes;
  }
  return 0;
}

Type special_type(std::string_view name) {
  const bool is_wide = name == "%clock64" || name == "%globaltimer" || name == "%gridid" ||
                       name == "%current_graph_exec" || name.ends_with("_64");
  return is_wide ? Type::u64 : Type::u32;
}

std::vector<std::int32_t> Operand::registers() const {
  std::vector<std::int32_t> all;
  each_register([&](std::int32_t its) { all.push_back(its); });
  return all;
}

bool Operand::names(std::int32_t reg) const {
  return (kind == Kind::reg && index == reg) ||
         std::any_of(parts.begin(), parts.end(),
                     [&](const Operand& part) { return part.names(reg); });
}

const Operand* Instruction::result() const {
  if (operands.empty()) return nullptr;
  const Operand& first = operands.front();
  // A register or several, not what is named in its place: an address, a label, a number.
  const bool is_place = first.kind == Operand::Kind::reg || first.kind == Operand::Kind::vector ||
                        first.kind == Operand::Kind::pair;
  const bool only_reads = opcode == "brx" || opcode == "call" || opcode == "nanosleep" ||
                          ((opcode == "bar" || opcode == "barrier") && !has("red"));
  return is_place && !only_reads ? &first : nullptr;
}

bool Instruction::has(std::string_view modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Type Instruction::type() const {
  for (auto word = modifiers.rbegin(); word != modifiers.rend(); ++word) {
    const Type type = type_of(*word);
    if (type != Type::none) return type;
  }
  return Type::none;
}

std::string Instruction::form() const {
  std::string text(opcode);
  for (const std::string_view modifier : modifiers) {
    text += '.';
    text += modifier;
  }
  return text;
}

std::uint64_t place_behind(std::uint64_t end, int align) {
  const auto multiple = static_cast<std::uint64_t>(align);
  return (end + multiple - 1) / multiple * multiple;
}

std::vector<std::uint64_t> parameter_places(const Function& function) {
  std::vector<std::uint64_t> places;
  std::uint64_t end = 0;
  for (const Variable& one : function.parameters) {
    places.push_back(place_behind(end, one.align));
    end = places.back() + static_cast<std::uint64_t>(one.bytes);
  }
  places.push_back(end);
  return places;
}

std::vector<const Function*> reachable(const Module& module, const Function& function) {
  std::set<const Function*> reached = {&function};
  for (std::vector<const Function*> open = {&function}; !open.empty();) {
    const Function& one = *open.back();
    open.pop_back();
    const auto add = [&](const Function& other) {
      if (reached.insert(&other).second) open.push_back(&other);
    };
    for (const Instruction& instruction : one.body) {
      bool names_one = false;
      for (const Operand& operand : instruction.operands) {
        if (operand.kind != Operand::Kind::symbol) continue;
        const Function* const other = module.function(operand.name);
        names_one |= other != nullptr;
        if (other != nullptr) add(*other);
      }
      if (instruction.opcode != "call" || names_one) continue;
      for (const Function& any : module.functions) {
        if (any.has_body && !any.is_entry) add(any);
      }
    }
  }
  std::vector<const Function*> ordered;
  for (const Function& one : module.functions) {
    if (reached.contains(&one)) ordered.push_back(&one);
  }
  return ordered;
}

SharedPlaces shared_places(const Module& module, const Function& kernel) {
  const std::vector<const Function*> reached = reachable(module, kernel);
  SharedPlaces places;
  const auto is_used = [&](const Variable& one) {
    return std::any_of(reached.begin(), reached.end(),
                       [&](const Function* user) { return user->uses(one.name); });
  };
  const auto add = [&](const std::vector<Variable>& variables) {
    for (const Variable& one : variables) {
      if (one.space != Space::shared || one.bytes == 0 || places.at.contains(one.name)) continue;
      if (!is_used(one)) continue;
      const std::uint64_t at = place_behind(places.static_bytes, one.align);
      places.at[one.name] = at;
      places.static_bytes = at + static_cast<std::uint64_t>(one.bytes);
    }
  };
  add(kernel.variables);
  add(module.variables);
  for (const Function* const one : reached) add(one->variables);
  // What the launch gives begins where the most aligned of the variables may that name it, as ptxas has it.
  int align = 16;
  for (const Variable& one : module.variables) {
    if (one.space == Space::shared && one.bytes == 0 && is_used(one)) {
      align = std::max(align, one.align);
    }
  }
  places.static_bytes = place_behind(places.static_bytes, align);
  for (const Variable& one : module.variables) {
    if (one.space == Space::shared && one.bytes == 0) places.at[one.name] = places.static_bytes;
  }
  return places;
}

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "a" would be a type
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string result = text != nullptr ? text : symbol;
  std::free(text);
  // nvcc's name for what is a file's own.
  if (result.starts_with("_INTERNAL_")) result.erase(0, result.find("::") + 2);
  return result;
}

const Variable* Function::variable(std::string_view name) const {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const Variable& one) { return one.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

bool Function::uses(std::string_view symbol) const {
  return std::any_of(body.begin(), body.end(), [&](const Instruction& one) {
    return std::any_of(one.operands.begin(), one.operands.end(),
                       [&](const Operand& operand) { return names(operand, symbol); });
  });
}

std::string_view without_scope(std::string_view name) {
  int open = 0;  // brackets, from behind: of template arguments, parameters and lambdas
  for (std::size_t at = name.size(); at-- > 0;) {
    const char one = name[at];
    if (one == '>' || one == ')' || one == '}') ++open;
    if (one == '<' || one == '(' || one == '{') --open;
    if (one == ':' && open == 0) return name.substr(at + 1);
  }
  return name;
}

std::string variable_name(std::string symbol) {
  // What nvcc puts behind it to have names apart.
  if (const std::size_t suffix = symbol.find("_$_"); suffix != symbol.npos) symbol.resize(suffix);
  return std::string(without_scope(demangled(symbol)));
}

const Function* Module::function(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& one) { return one.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

const Variable* Module::variable(std::string_view name) const {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const Variable& one) { return one.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

}  // namespace simt::ptx
