// From a plan, which thinks of an SM, to what its two blocks do. Plain C++: no GPU is asked.
#pragma once

#include "stages/07_single_channel_adaptive/planner.hpp"
#include "stages/07_single_channel_adaptive/single_channel.hpp"

namespace halo::single_channel {

/// The layer as the kernels take it. Throws std::invalid_argument, in one line, if it has more than
/// one channel or a stride.
Layer layer_of(const conv::ConvLayer& layer);

/// Rows of a strip of 1_prefetch.cu: 4, or fewer if 48 KB, which a block has without asking for more,
/// do not hold their cells and kPrefetchFilters filters; 0 if they do not hold one row.
int prefetch_rows(const Layer& layer);

/// Deals the plan of one image of the layer to blocks. The plan's formulas count the on-chip memory
/// of an SM as one, but it is two blocks', and neither can read the other's: what both need (halo
/// rows, and the filters or the rows that they do not halve) is there twice. So
///   - the two blocks of an SM halve the rows or the filters of its share, whichever makes a
///     block's piece smaller (rows, if it is the same);
///   - where a block's piece then does not fit the block's half of shared memory, or what arrives
///     for the next does not fit its kAhead registers a thread, there are more strips or groups
///     than planned: as few as fit, preferably of one kind only.
/// Throws std::invalid_argument, in one line, if not even one row of outputs and one filter fit a
/// block, or if all images together are more blocks than a grid can have.
Division divide(const Plan& plan, const Layer& layer);

/// Strips and groups that a full block has.
int strips(const Division& division);
int groups(const Division& division);

/// Launches the method that the plan chose. Returns the launch's error.
cudaError_t adaptive(const float* input, const float* filters, float* output, const Layer& layer,
                     const Plan& plan);

}  // namespace halo::single_channel
