// What the 1D stages are compared with: a copy of as many bytes, and the libraries that compute the
// same. Which ones depends on where the program runs.
//
//   cpu  copy
//   sim  none: nothing is timed there
//   gpu  copy, memcpy, thrust_transform, cub_segmented_reduce, cudnn, cufft, npp_row_filter
//
// A library that was not found when this was built stays in the list, and says so: a table then
// shows what it was not compared with.
//
// All GPU peers work on the calling thread's default stream. The first call of a shape may
// allocate, measure and wait (a plan is made and kept until the shape changes); those after it do
// none of that, and can be captured into a CUDA graph.
//
// A peer that can't compute a shape launches nothing and returns cudaErrorNotSupported; its
// `detail` then says why.
#pragma once

#include <vector>

#include "common/harness/families/conv1d.hpp"

namespace halo::peers {

/// The peers of the 1D family on this backend, copies (Role::copy) first.
std::vector<Conv1dVariant> conv1d();

}  // namespace halo::peers
