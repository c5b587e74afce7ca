// Fourier's transform: what fourier.cu and fourier_split.cu run, as variants that stages show and contenders that the
// dispatcher chooses among.
#pragma once

#include <cstdint>
#include <vector>

#include "common/convolve/contender.hpp"
#include "common/convolve/slices.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// With tiles of `size` cells, 16 or 32, or 0: which of both the plan takes; and slices of so many floats of temporaries at
/// most.
Conv2dVariant fourier(int size = 0, std::int64_t most_floats = kMostTemporaries);
/// The same with products on tensor cores.
Conv2dVariant fourier_split(int size = 0, std::int64_t most_floats = kMostTemporaries);

/// Both with either size, and these as contenders.
std::vector<Conv2dVariant> fourier_of_each_size();
std::vector<Contender> fourier_contenders();

}  // namespace halo::convolve
