// Where kernels compute in double precision: an accidental `0.5` makes a whole expression double, which
// most GPUs do at a small part of their speed.
//
// Found in the machine code that g++ made of the kernels: additions, products, divisions, roots, minima
// and maxima of double, and conversions from and to it. How often they run follows from how often their
// basic block does. Not seen: comparisons of double alone, and what a library function does inside.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace simt {

// How often basic blocks with such instructions ran, by what note_block() is told (coverage.hpp).
using Fp64Blocks = std::unordered_map<std::uint32_t, std::uint64_t>;

// Sets kFp64Block in the byte of each such block of the program's kernels.
void mark_fp64_blocks(std::uint8_t* blocks);

// Operations by the line of the source, the simulator's own headers left out.
std::map<std::pair<std::string, int>, std::uint64_t> fp64_lines(const Fp64Blocks& blocks);

}  // namespace simt
