// The instructions of a function of the running program, as far as control flow needs them: where each
// begins, and where jumps lead.
#pragma once

#include <cstddef>
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
// instruction sets up to AVX2, and for AArch64 all are.
std::vector<Instruction> decode(std::uintptr_t begin, std::uintptr_t end);

// A direct call's length, and how far apart addresses are at which an instruction may begin.
#if defined(__x86_64__)
inline constexpr std::size_t kCallBytes = 5;
inline constexpr std::size_t kInstructionStep = 1;
#elif defined(__aarch64__)
inline constexpr std::size_t kCallBytes = 4;
inline constexpr std::size_t kInstructionStep = 4;
#else
#error "the simulator reads machine code of x86-64 and AArch64: add this processor's here"
#endif

// Where the direct call at that address leads, and 0 if there is none. All its kCallBytes must be code. On
// x86-64 bytes in the middle of an instruction may look like one.
std::uintptr_t called_from(std::uintptr_t address);

}  // namespace simt
