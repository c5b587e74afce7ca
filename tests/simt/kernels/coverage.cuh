// A device function in a file of its own.
#pragma once

namespace coverage {

__device__ inline void scale_unless_small(float* x, int n) {
  if (n < 1) {
    x[n] += 1.0f;  // SMALL
    return;
  }
  *x *= 3.0f;  // LARGE
}

}  // namespace coverage
