// What dilated.cu is told of a layer and of the plain layer that it becomes. Plain numbers, for host and device; plan.hpp
// says where they come from.
#pragma once

#include "common/harness/divisor.h"

namespace halo::convolve {

// One axis. Outputs i * phases + a, of which i is counted in the plain layer, see the input's cells
// (i * stride' + tap) * dilation + a * stride - padding: those with the same a are an image of their own.
struct DilatedAxis {
  int cells, outputs;  // of the layer
  int stride, padding, dilation;
  Divisor phases;         // images, one for each a
  Divisor plain_cells;    // of each, with its ghost cells
  Divisor plain_outputs;  // the last ones of some images are not the layer's
};

struct DilatedDivision {
  Divisor images, channels, filters;  // of a slice; of the layer
  DilatedAxis down, across;
};

}  // namespace halo::convolve
