// What layout transforms, pooling layers and softmax are compared with: cuDNN and cuBLAS. Which ones
// depends on where the program runs.
//
//   sim  none: nothing is timed there
//   gpu  transform: cudnn_transform, cublas_geam
//        pooling:   cudnn_nchw, cudnn_chwn (which is cuDNN's NHWC with images and channels exchanged)
//        softmax:   cudnn (accurate: the maximum is subtracted first)
//
// cuDNN's pooling computes the output's size with Rounding::floor; larger ones are tried, and taken if
// the windows at the edges come out right. All in float, without TF32.
//
// As for the other peers (conv1d.hpp): one that was not found stays in the list and says so; all work
// on the calling thread's default stream; the first call of a problem may allocate, measure and wait,
// those after it do none of that; what can't compute a problem launches nothing and returns
// cudaErrorNotSupported, and its `detail` says why.
#pragma once

#include <vector>

#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"

namespace halo::peers {

std::vector<TransformVariant> transform();
std::vector<PoolingVariant> pooling();
std::vector<SoftmaxVariant> softmax();

}  // namespace halo::peers
