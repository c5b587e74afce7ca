// Inline PTX in device code: the few instructions for which C++ has no function and which the simulator
// runs all the same (cuda/inline_ptx.h).
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

// Why an asm statement cannot be run: one sentence.
struct PtxError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One instruction: the function of namespace simt::ptx that does what it does and, register by register,
// the number of the asm operand that stands there.
struct PtxCall {
  std::string function;
  std::vector<std::size_t> operands;
};

// `text` is what the assembler would read, `constraints` those of the operands in their order, such as
// "=f" and "r". Throws PtxError for anything but a single instruction that is known, and for operands that
// nvcc refuses.
PtxCall read_ptx(std::string_view text, const std::vector<std::string>& constraints);

// The characters of a string literal, spelled as in the source: escapes replaced, quotes gone.
std::string literal_text(std::string_view literal);

}  // namespace simt
