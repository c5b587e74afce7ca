// Winograd's method: what winograd.cu and winograd_apart.cu run, as variants that stages show and contenders that the
// dispatcher chooses among.
#pragma once

#include <cstdint>
#include <vector>

#include "common/convolve/contender.hpp"
#include "common/convolve/slices.hpp"
#include "common/convolve/winograd/division.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// In one kernel, with tiles of outputs x outputs, 2 or 4, and the shape and parts whose rounds of blocks are shortest.
Conv2dVariant winograd(int outputs);
/// With every shape and 1, 2, 4 and 8 parts, whatever the layer.
std::vector<Conv2dVariant> winograd_of_each_shape();

/// In three kernels, with slices of so many floats of temporaries at most.
Conv2dVariant winograd_apart(std::int64_t most_floats = kMostTemporaries);
/// With tiles of 4 x 4, 3 x 3 and 2 x 2 outputs, and every block of kApartBlocks.
std::vector<Conv2dVariant> winograd_apart_of_each_shape();

/// The same with products on Hopper's tensor cores; with each tile of theirs.
Conv2dVariant winograd_split(std::int64_t most_floats = kMostTemporaries);
std::vector<Conv2dVariant> winograd_split_of_each_tile();

/// All of these kinds.
std::vector<Contender> winograd_contenders();

}  // namespace halo::convolve
