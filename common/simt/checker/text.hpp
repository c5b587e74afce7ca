// What a kernel runs, as one text: the functions that it calls stand in place of their calls, and what they are given and
// give back goes through registers. So values are followed into functions and out of them; nvcc -G calls them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/simt/machine/code.hpp"

namespace simt::checker {

class Texts {
 public:
  /// The code must outlive it. `is_debug`: nvcc -G made it.
  Texts(const machine::Code& code, bool is_debug);
  ~Texts();
  Texts(const Texts&) = delete;
  Texts& operator=(const Texts&) = delete;

  /// What stands at a place in the code, with the registers of the text that it is in. The text may have others in its
  /// place: moves, or what ptxas makes one of.
  struct Place {
    const ptx::Function& text;
    const ptx::Instruction& instruction;
    bool is_move = false;  // of what a call is given, or gives back
  };
  Place at(std::size_t site);

  /// The innermost body that a place in the code is in.
  const machine::Body& body(std::size_t site) const { return code_.bodies[bodies_[site]]; }
  const machine::Body* outer(const machine::Body& one) const {
    return one.outer < 0 ? nullptr : &code_.bodies[static_cast<std::size_t>(one.outer)];
  }
  /// The body around this place whose local variable a symbol of the text is, by Operand::index; null: it has ended there.
  const machine::Body* owner(std::size_t site, std::int32_t part) const;

 private:
  // A function within a text.
  struct Part {
    const ptx::Function* function;
    std::int32_t outer;  // the part with its call; -1: the outermost
    const ptx::Function* text = nullptr;
    std::size_t first_register = 0;
    std::vector<std::size_t> places;  // of its instructions in the text
    std::map<const ptx::Instruction*, std::int32_t> calls;
  };
  class Maker;
  class Variables;

  const machine::Code& code_;
  std::vector<std::size_t> bodies_;  // by place in the code
  std::vector<std::int32_t> parts_;  // by body: those of a call that the code has twice are one
  std::deque<Part> all_;
  std::deque<ptx::Function> made_;
  std::deque<ptx::Instruction> renamed_;
};

}  // namespace simt::checker
