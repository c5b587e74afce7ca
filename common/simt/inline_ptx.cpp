#include "common/simt/inline_ptx.hpp"

#include <algorithm>
#include <cctype>

namespace simt {
namespace {

// The registers that stand in one place of an instruction.
struct Place {
  std::size_t registers;
  char type;  // of their constraint
  bool written;
  char open;  // the bracket round them; 0: none
};

struct Instruction {
  std::string name;
  const char* function;
  std::vector<Place> places;
};

const std::vector<Instruction>& instructions() {
  const Place wide{4, 'f', true, '{'};
  const Place sum{4, 'f', false, '{'};
  const auto inputs = [](std::size_t registers) { return Place{registers, 'r', false, '{'}; };
  const auto mma = [](const char* shape) {
    return std::string("mma.sync.aligned.") + shape + ".row.col.f32.tf32.tf32.f32";
  };
  const auto ldmatrix = [](const char* matrices, std::size_t registers) {
    return Instruction{std::string("ldmatrix.sync.aligned.m8n8.") + matrices + ".shared.b16",
                       "ldmatrix",
                       {{registers, 'r', true, '{'}, {1, 'r', false, '['}}};
  };
  static const std::vector<Instruction> all{
      {mma("m16n8k8"), "mma_m16n8k8", {wide, inputs(4), inputs(2), sum}},
      {mma("m16n8k4"), "mma_m16n8k4", {wide, inputs(2), inputs(1), sum}},
      {"cvt.rna.tf32.f32", "cvt_rna_tf32", {{1, 'r', true, 0}, {1, 'f', false, 0}}},
      ldmatrix("x1", 1),
      ldmatrix("x2", 2),
      ldmatrix("x4", 4),
  };
  return all;
}

std::string known() {
  std::string names;
  for (const Instruction& one : instructions()) {
    if (!names.empty()) names += &one == &instructions().back() ? " and " : ", ";
    names += one.name;
  }
  return names;
}

class Reader {
 public:
  Reader(std::string_view text, const std::vector<std::string>& constraints)
      : text_(text), constraints_(constraints) {}

  PtxCall read() {
    const bool in_scope = accept('{');  // of its own registers
    const std::string name(word());
    const auto known_one = std::find_if(instructions().begin(), instructions().end(),
                                        [&](const Instruction& one) { return one.name == name; });
    if (known_one == instructions().end()) refuse();
    instruction_ = &*known_one;
    PtxCall call{instruction_->function, {}};
    for (const Place& place : instruction_->places) {
      if (&place != &instruction_->places.front() && !accept(',')) malformed();
      if (place.open && !accept(place.open)) malformed();
      for (std::size_t i = 0; i < place.registers; ++i) {
        if (i > 0 && !accept(',')) malformed();
        call.operands.push_back(operand(place));
      }
      if (place.open && !accept(place.open == '[' ? ']' : '}')) malformed();
    }
    if (!accept(';')) malformed();
    if (in_scope) accept('}');
    skip_blanks();
    if (at_ != text_.size()) refuse();
    for (std::size_t i = 0; i < constraints_.size(); ++i) {
      if (std::find(call.operands.begin(), call.operands.end(), i) == call.operands.end()) {
        throw PtxError("the asm statement has an operand %" + std::to_string(i) + " that " +
                       instruction_->name + " does not name: leave it out");
      }
    }
    return call;
  }

 private:
  [[noreturn]] static void refuse() {
    throw PtxError(
        "inline assembly in device code is outside the simulator's subset: write the step in C++ "
        "or "
        "with an intrinsic function (it knows " +
        known() + ", one to an asm statement)");
  }

  // Such as {4 x "=f"}, {4 x "r"}, {2 x "r"}, {4 x "f"}.
  [[noreturn]] void malformed() const {
    std::string shape;
    for (const Place& place : instruction_->places) {
      if (!shape.empty()) shape += ", ";
      const std::string constraint =
          std::string("\"") + (place.written ? "=" : "") + place.type + "\"";
      if (place.open == '{') {
        shape += "{" + std::to_string(place.registers) + " x " + constraint + "}";
      } else {
        shape += place.open ? "[" + constraint + "]" : constraint;
      }
    }
    throw PtxError(instruction_->name + " takes the operands " + shape +
                   ", as %0, %1, ... with these constraints, and a semicolon");
  }

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool accept(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '.' || text_[at_] == '_' || text_[at_] == ':')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  std::size_t operand(const Place& place) {
    if (!accept('%')) malformed();
    const std::string_view digits = word();
    if (digits.empty() || digits.size() > 3 ||
        !std::all_of(digits.begin(), digits.end(),
                     [](char c) { return std::isdigit(static_cast<unsigned char>(c)); })) {
      malformed();
    }
    const std::size_t number = std::stoul(std::string(digits));
    if (number >= constraints_.size()) malformed();
    std::string constraint = constraints_[number];
    std::erase(constraint, '&');
    const bool written = constraint.starts_with('=') || constraint.starts_with('+');
    const bool read = !constraint.starts_with('=');
    if (written) constraint.erase(0, 1);
    if (constraint != std::string(1, place.type) || !(place.written ? written : read)) malformed();
    return number;
  }

  std::string_view text_;
  const std::vector<std::string>& constraints_;
  const Instruction* instruction_ = nullptr;
  std::size_t at_ = 0;
};

}  // namespace

PtxCall read_ptx(std::string_view text, const std::vector<std::string>& constraints) {
  return Reader(text, constraints).read();
}

std::string literal_text(std::string_view literal) {
  const std::size_t quote = literal.find('"');
  if (quote > 0 && literal[quote - 1] == 'R') {
    const std::size_t open = literal.find('('), close = literal.rfind(')');
    return std::string(literal.substr(open + 1, close - open - 1));
  }
  std::string text;
  for (std::size_t i = quote + 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      text += literal[i];
    } else if (++i,
               literal[i] == 'n' || literal[i] == 't' || literal[i] == 'r' || literal[i] == '\n') {
      text += ' ';  // to the assembler they are the same
    } else {
      text += literal[i];
    }
  }
  return text;
}

}  // namespace simt
