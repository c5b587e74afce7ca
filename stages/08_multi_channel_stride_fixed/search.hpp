// The pairs of W'x and M', and the tiles of registers, that stage 08 can search.
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::multi_channel_stride_fixed {

// The block method with every W'x of 32, 64, 128 and 256 and every M' of 16, 32, 64 and 128 that a
// block of 1,024 threads can hold, for S = 32 or 64 bytes (else std::invalid_argument): to look for
// the pair that the paper found best, and whose numbers are lost. They are named
// stride_fixed_32_w128_m64, and are the stage's `searched` variants.
std::vector<Conv2dVariant> search(int segment_bytes);

// A variant for each of kRegisterContenders (register_tile_plan.hpp), named as register_tile_name says.
std::vector<Conv2dVariant> search_tiles();

/// winograd_apart with slices of so many floats of temporaries at most, and a block of kApartBlocks, or kBestBlock.
Conv2dVariant winograd_apart_within(std::int64_t most_floats, int block);

/// Fourier's transform with tiles of `size` cells, 16 or 32, or 0: which of both the plan takes; and slices of so many
/// floats of temporaries at most.
Conv2dVariant fourier_within(int size, std::int64_t most_floats);
/// The same with products on tensor cores.
Conv2dVariant fourier_split_within(int size, std::int64_t most_floats);

}  // namespace halo::multi_channel_stride_fixed
