// The instructions of a function of the running program, as far as control flow needs them: where each
// begins, and where jumps lead.
#pragma once

#include <cstdint>
#include <vector>

namespace simt {

struct Instruction {
  enum class Kind : std::uint8_t {
    plain,     // goes on with the next
    call,      // does too
    jump,      // to target
    branch,    // to target, or on
    leaves,    // returns, or traps
    indirect,  // jumps who knows where
  };
  std::uintptr_t address = 0;
  std::uintptr_t target = 0;
  Kind kind = Kind::plain;
};

// In order. Empty if there is one among them that is not understood: g++ makes no others for the
// instruction sets up to AVX2.
std::vector<Instruction> decode(std::uintptr_t begin, std::uintptr_t end);

}  // namespace simt
