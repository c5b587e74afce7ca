// What the 2D stages are compared with: cuDNN. Which ones depends on where the program runs.
//
//   sim  none: nothing is timed there
//   gpu  cudnn (its eight forward algorithms), cudnn_graph (its graph API's plans)
//        cudnn_tf32, only with HALO_CUDNN_TF32=1 in the environment: the fastest of its algorithms and plans that
//        are sums of products in TF32, as it computes if nobody forbids it. It stands beside kernels that get
//        float's accuracy from tensor cores, and is no peer of those in fp32. A program that times it must not
//        forbid TF32 to the libraries as a whole, so for the others only their own settings and errors speak
//
// As for the 1D peers (conv1d.hpp): one that was not found stays in the list and says so; all work on
// the calling thread's default stream; the first call of a layer may allocate, measure and wait, those
// after it do none of that; what can't compute a layer launches nothing and returns
// cudaErrorNotSupported, and its `detail` says why.
//
// The first two are judged with Demand::transformed, since they may choose Winograd's method or an FFT, the third
// with Demand::tf32. That all they do is in true fp32, and the other rules of the comparison: cudnn.hpp.
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::peers {

/// The peers of the 2D family on this backend.
std::vector<Conv2dVariant> conv2d();

}  // namespace halo::peers
