// A layer and the plain layers that it becomes, as plain_parts.cu gets them: plain numbers, for host and device; plan.hpp
// says where they come from.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

// One axis. Outputs i * phases + a, of which i is counted in the plain layer, see the input's cells
// (i * stride' + tap) * dilation + a * stride - padding: those with the same a are an image of their own.
struct PartsAxis {
  int cells, outputs;  // of the layer
  int stride, padding, dilation;
  Divisor phases;         // images, one for each a
  Divisor plain_cells;    // of each; with a dilation, with its ghost cells
  Divisor plain_outputs;  // the last ones of some images are not the layer's
};

struct PartsDivision {
  Divisor images;  // of a slice
  int groups;
  Divisor channels, filters;  // of a group
  // Floats from one group's plain layer to the next one's, of input and output: multiples of 256 bytes.
  Divisor input_pitch, output_pitch;
  PartsAxis down, across;
};

}  // namespace halo::convolve
