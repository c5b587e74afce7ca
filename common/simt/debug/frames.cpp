#include "common/simt/debug/frames.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>

#include "common/simt/machine/access.hpp"

namespace simt::debug {
namespace {

using machine::Body;
using machine::Code;
using machine::Warp;
using Bytes = std::span<const std::byte>;
using Named = std::vector<std::pair<std::string, Value>>;

constexpr std::uint64_t kMostShown = 16;  // elements of an array in one line

const Type kUnsigned = [] {
  Type type;
  type.kind = Type::Kind::natural;
  type.name = "unsigned int";
  type.bytes = 4;
  return type;
}();
const Type kThree = [] {
  Type type;
  type.kind = Type::Kind::structure;
  type.name = "uint3";
  type.bytes = 12;
  type.members = {{"x", &kUnsigned, 0}, {"y", &kUnsigned, 4}, {"z", &kUnsigned, 8}};
  return type;
}();

template <class T>
T read(Bytes bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

int line_of_text(const Code& code, std::int32_t site) {
  return site < 0 ? 0 : code.sites[static_cast<std::size_t>(site)]->line;
}

// A lane's register, in a function that is called again: as the inner call has saved it.
Bytes register_of(const Code& code, const Frame& frame, const std::string& name) {
  const std::vector<ptx::Register>& all = frame.body->function->registers;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ptx::Register& one) { return one.name == name; });
  if (found == all.end()) return {};
  const std::uint32_t slot = frame.body->slots[static_cast<std::size_t>(found - all.begin())];
  const auto bytes = static_cast<std::size_t>(ptx::bytes_of(found->type));
  if (slot == machine::kNoSlot || bytes == 0) return {};
  const auto lane = static_cast<std::size_t>(frame.lane);
  const std::vector<Warp::Activation>& calls = frame.warp->activations[lane];
  for (std::size_t i = frame.depth; i < calls.size(); ++i) {
    std::size_t at = 0;
    for (const auto& [its, size] :
         code.called[static_cast<std::size_t>(calls[i].callee)].registers) {
      if (its == slot) return Bytes(calls[i].registers).subspan(at, bytes);
      at += static_cast<std::size_t>(std::max(size, 1));
    }
  }
  return {frame.warp->registers + slot + lane * bytes, bytes};
}

// From a variable of the PTX to the end of its memory.
Bytes memory_of(const Program& program, const Frame& frame, const std::string& name) {
  machine::Block& block = *frame.warp->block;
  const auto behind = [](Bytes bytes, std::uint64_t at) {
    return at <= bytes.size() ? bytes.subspan(at) : Bytes{};
  };
  if (const auto local = frame.body->locals.find(name); local != frame.body->locals.end()) {
    const std::uint64_t base = frame.body->called >= 0 ? frame.base : 0;
    return behind({block.own(*frame.warp, frame.lane), block.local_bytes()}, base + local->second);
  }
  for (const machine::PlacedVariable& one : program.code.shared) {
    if (one.name != name) continue;
    const Bytes rest = behind(block.shared, one.begin);
    return one.bytes == 0 ? rest : rest.first(std::min<std::size_t>(one.bytes, rest.size()));
  }
  const std::vector<ptx::Variable>& parameters = program.code.function->parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name != name) continue;
    return behind(block.grid->parameters, ptx::parameter_places(*program.code.function)[i]);
  }
  if (const auto found = program.addresses.find(name); found != program.addresses.end()) {
    // Constant memory counts from zero.
    if (found->second < block.grid->constants.size())
      return behind(block.grid->constants, found->second);
    return machine::readable(*frame.warp, frame.lane, found->second);
  }
  return {};
}

Value fitted(const Type* type, Bytes bytes) {
  if (type == nullptr) return {type, {}, "of a type that is not known"};
  if (type->kind == Type::Kind::array && type->count == 0) return {type, bytes, ""};
  if (bytes.size() < type->bytes) return {type, {}, "no memory of the program's"};
  return {type, bytes.first(type->bytes), ""};
}

Value pointed_to(const Frame& frame, const Value& pointer, std::int64_t index) {
  const Type* const type = pointer.type->of;
  if (type == nullptr || type->bytes == 0) return {type, {}, "a pointer to no type"};
  const std::uint64_t address =
      read<std::uint64_t>(pointer.bytes) + static_cast<std::uint64_t>(index) * type->bytes;
  return fitted(type, machine::readable(*frame.warp, frame.lane, address));
}

Value value_of(const Program& program, const Frame& frame, const Variable& variable) {
  if (!variable.constant.empty()) {
    return fitted(variable.type, std::as_bytes(std::span(variable.constant)));
  }
  const int line = line_of_text(program.code, frame.site);
  for (const Place& place : variable.places) {
    if (!place.range.has(line) || place.name.empty()) continue;
    Bytes bytes = place.name.front() == '%' ? register_of(program.code, frame, place.name)
                                            : memory_of(program, frame, place.name);
    if (bytes.empty()) break;
    bytes = bytes.subspan(std::min<std::size_t>(place.offset, bytes.size()));
    const Value its = fitted(variable.type, bytes);
    if (variable.type == nullptr || variable.type->kind != Type::Kind::reference) return its;
    return pointed_to(frame, its, 0);
  }
  return {variable.type, {}, "not yet, or no longer, there"};
}

bool is_visible(const Program& program, const Frame& frame, const Variable& variable) {
  return variable.scope.has(line_of_text(program.code, frame.site));
}

std::int64_t whole_number(const Value& value) {
  if (value.type == nullptr || value.bytes.empty()) throw Unknown("an index without a value");
  switch (value.type->kind) {
    case Type::Kind::whole:
      switch (value.bytes.size()) {
        case 1:
          return read<std::int8_t>(value.bytes);
        case 2:
          return read<std::int16_t>(value.bytes);
        case 4:
          return read<std::int32_t>(value.bytes);
        default:
          return read<std::int64_t>(value.bytes);
      }
    case Type::Kind::natural:
    case Type::Kind::character:
    case Type::Kind::boolean:
    case Type::Kind::enumeration:
      return read<std::int64_t>(value.bytes);
    default:
      throw Unknown("an index that is no whole number");
  }
}

Value element(const Frame& frame, const Value& of, std::int64_t index, const std::string& name) {
  if (of.type == nullptr || of.bytes.empty()) throw Unknown(name + " is " + of.unavailable);
  if (of.type->kind == Type::Kind::pointer) return pointed_to(frame, of, index);
  if (of.type->kind != Type::Kind::array || of.type->of == nullptr) {
    throw Unknown(name + " is no array or pointer");
  }
  if (index < 0 || static_cast<std::uint64_t>(index) >= elements(of)) {
    throw Unknown(name + " has " + std::to_string(elements(of)) + " elements, and no [" +
                  std::to_string(index) + "]");
  }
  const std::uint64_t bytes = of.type->of->bytes;
  return {of.type->of, of.bytes.subspan(static_cast<std::uint64_t>(index) * bytes, bytes), ""};
}

// A word of an expression at a time.
class Expression {
 public:
  Expression(const Program& program, const Frame& frame, const std::string& text)
      : program_(program), frame_(frame), text_(text) {}

  Value whole() {
    const Value value = operand();
    if (now() != '\0') wrong();
    return value;
  }

 private:
  [[noreturn]] void wrong() const {
    throw Unknown("'" + text_ + "' is not understood: a name, name[i], name.x, name->x or *name");
  }
  char now() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(std::string_view sign) {
    if (now() == '\0' || text_.compare(at_, sign.size(), sign) != 0) return false;
    at_ += sign.size();
    return true;
  }
  std::string word() {
    now();
    const std::size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    if (at_ == from) wrong();
    return text_.substr(from, at_ - from);
  }

  Value operand() {
    if (take("*")) {
      const std::size_t from = at_;
      const Value pointer = operand();
      return element(frame_, pointer, 0, text_.substr(from, at_ - from));
    }
    const std::size_t from = at_;
    Value value = named(word());
    for (;;) {
      const std::string name = text_.substr(from, at_ - from);
      if (take("[")) {
        const std::int64_t its = index();
        value = element(frame_, value, its, name);
      } else if (take("->")) {
        value = member(element(frame_, value, 0, name), word(), name);
      } else if (take(".")) {
        value = member(value, word(), name);
      } else {
        return value;
      }
    }
  }
  std::int64_t index() {
    std::int64_t number = 0;
    now();
    const char* const from = text_.data() + at_;
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), number);
    if (error == std::errc()) {
      at_ += static_cast<std::size_t>(end - from);
    } else {
      number = whole_number(operand());
    }
    if (!take("]")) wrong();
    return number;
  }
  static Value member(const Value& of, const std::string& member, const std::string& name) {
    if (of.type != nullptr && of.type->kind == Type::Kind::structure) {
      for (const Type::Member& one : of.type->members) {
        if (one.name != member) continue;
        if (of.bytes.empty()) throw Unknown(name + " is " + of.unavailable);
        return fitted(one.type, of.bytes.subspan(one.offset));
      }
    }
    throw Unknown(name + " has no member " + member);
  }
  Value named(const std::string& name) {
    if (frame_.function != nullptr) {
      const std::vector<Variable>& all = frame_.function->variables;
      for (auto one = all.rbegin(); one != all.rend(); ++one) {
        if (one->name == name && is_visible(program_, frame_, *one)) {
          return value_of(program_, frame_, *one);
        }
      }
    }
    for (const Named& some : {indices(program_, frame_), globals(program_, frame_)}) {
      for (const auto& [its, value] : some) {
        if (its == name) return value;
      }
    }
    throw Unknown("there is no variable " + name + " here");
  }

  const Program& program_;
  const Frame& frame_;
  const std::string& text_;
  std::size_t at_ = 0;
};

std::string number_text(const Value& value) {
  char text[64] = "";
  const auto put = [&](auto number) {
    *std::to_chars(std::begin(text), std::end(text) - 1, number).ptr = '\0';
  };
  switch (value.type->kind) {
    case Type::Kind::boolean:
      return read<std::uint8_t>(value.bytes) != 0 ? "true" : "false";
    case Type::Kind::character: {
      const auto code = read<unsigned char>(value.bytes);
      const bool is_plain = std::isprint(code) != 0;
      return std::to_string(static_cast<int>(code)) +
             (is_plain ? std::string(" '") + static_cast<char>(code) + "'" : "");
    }
    case Type::Kind::real:
      if (value.bytes.size() == 4) put(read<float>(value.bytes));
      if (value.bytes.size() == 8) put(read<double>(value.bytes));
      return text;
    case Type::Kind::pointer:
    case Type::Kind::reference:
      std::snprintf(text, sizeof text, "0x%llx", read<unsigned long long>(value.bytes));
      return text;
    case Type::Kind::enumeration:
      for (const auto& [name, number] : value.type->enumerators) {
        if (number == whole_number(value)) return ptx::variable_name(name);
      }
      return std::to_string(whole_number(value));
    case Type::Kind::natural:
      return std::to_string(read<std::uint64_t>(value.bytes));
    case Type::Kind::whole:
      return std::to_string(whole_number(value));
    default:
      return "?";
  }
}

}  // namespace

const Body* body_at(const Code& code, std::int32_t site) {
  const Body* found = nullptr;
  for (const Body& one : code.bodies) {
    if (one.first_site <= site && site < one.end_site) found = &one;
  }
  return found;
}

std::vector<Frame> frames(const Program& program, Warp& warp, int lane, std::int32_t site) {
  const Code& code = program.code;
  std::vector<Frame> all;
  const std::vector<Warp::Activation>& calls = warp.activations[static_cast<std::size_t>(lane)];
  std::uint32_t base = warp.frames[static_cast<std::size_t>(lane)];
  for (std::size_t depth = code.called.empty() ? 0 : calls.size();; --depth) {
    for (const Body* body = body_at(code, site); body != nullptr;) {
      all.push_back({&warp, lane, site, body, base, depth,
                     program.info.function_at(line_of_text(code, site))});
      site = body->call_site;
      body = body->outer < 0 ? nullptr : &code.bodies[static_cast<std::size_t>(body->outer)];
    }
    if (depth == 0) return all;
    base = calls[depth - 1].frame;
    site = (calls[depth - 1].back - 1)->site;
  }
}

Named locals(const Program& program, const Frame& frame) {
  Named all;
  if (frame.function == nullptr) return all;
  for (const Variable& one : frame.function->variables) {
    if (!is_visible(program, frame, one)) continue;
    std::erase_if(all, [&](const auto& other) { return other.first == one.name; });
    all.emplace_back(one.name, value_of(program, frame, one));
  }
  // Of `extern __shared__` each kernel's own.
  for (const Variable& one : program.info.globals()) {
    const auto is_its = [&](const auto& shared) {
      return !one.places.empty() && shared.name == one.places.front().name;
    };
    if (std::none_of(program.code.shared.begin(), program.code.shared.end(), is_its)) continue;
    all.emplace_back(one.name, value_of(program, frame, one));
  }
  return all;
}

Named globals(const Program& program, const Frame& frame) {
  Named all;
  for (const Variable& one : program.info.globals()) {
    all.emplace_back(one.name, value_of(program, frame, one));
  }
  return all;
}

Named indices(const Program& program, const Frame& frame) {
  const machine::Block& block = *frame.warp->block;
  const machine::Dim3& threads = block.grid->threads;
  const unsigned thread = frame.warp->index * machine::kLanes + static_cast<unsigned>(frame.lane);
  const auto three = [](const machine::Dim3& of) {
    return Value{&kThree, std::as_bytes(std::span(&of, 1)), ""};
  };
  return {{"threadIdx", three(program.threads[thread])},
          {"blockIdx", three(block.index)},
          {"blockDim", three(threads)},
          {"gridDim", three(block.grid->blocks)}};
}

Value evaluate(const Program& program, const Frame& frame, const std::string& expression) {
  return Expression(program, frame, expression).whole();
}

std::uint64_t elements(const Value& value) {
  if (value.type == nullptr || value.type->kind != Type::Kind::array || value.type->of == nullptr ||
      value.type->of->bytes == 0) {
    return 0;
  }
  return value.bytes.size() / value.type->of->bytes;
}

bool has_parts(const Value& value) {
  if (value.type == nullptr || value.bytes.empty()) return false;
  return elements(value) != 0 || value.type->kind == Type::Kind::structure ||
         (value.type->kind == Type::Kind::pointer && value.type->of != nullptr);
}

Named parts(const Frame& frame, const Value& value, std::uint64_t first, std::uint64_t most) {
  Named all;
  if (!has_parts(value)) return all;
  if (value.type->kind == Type::Kind::structure) {
    for (const Type::Member& one : value.type->members) {
      all.emplace_back("." + one.name, fitted(one.type, value.bytes.subspan(one.offset)));
    }
  } else if (value.type->kind == Type::Kind::pointer) {
    all.emplace_back("[0]", pointed_to(frame, value, 0));
  } else {
    for (std::uint64_t i = first; i < std::min(elements(value), first + most); ++i) {
      all.emplace_back("[" + std::to_string(i) + "]",
                       element(frame, value, static_cast<std::int64_t>(i), ""));
    }
  }
  return all;
}

std::string text_of(const Value& value) {
  if (value.bytes.empty()) return "(" + value.unavailable + ")";
  const bool is_array = elements(value) != 0;
  if (!is_array && value.type->kind != Type::Kind::structure) return number_text(value);
  std::string text;
  for (const auto& [name, part] : parts({}, value, 0, kMostShown)) {
    text += (text.empty() ? "" : ", ") + (is_array ? "" : name.substr(1) + " = ") + text_of(part);
  }
  return "{" + text + (elements(value) > kMostShown ? ", ..." : "") + "}";
}

}  // namespace simt::debug
