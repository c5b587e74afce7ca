// What layout transforms, pooling layers and softmax are compared with: cuDNN and cuBLAS. Which ones
// depends on the backend that a program links (peers_operation_sim_dep, peers_operation_gpu_dep).
//
//   sim  none: nothing is timed there
//   gpu  transform: cudnn_transform, cublas_geam
//        pooling:   cudnn_nchw, cudnn_chwn (a strided tensor, where cuDNN takes it), cudnn_nhwc
//        softmax:   cudnn (accurate)
//
// As for the other peers (conv1d.hpp): one that was not found stays in the list and says so; all work
// on the calling thread's default stream; the first call of a problem may allocate, measure and wait,
// those after it do none of that; what can't compute a problem launches nothing and returns
// cudaErrorNotSupported, and its `detail` says why.
#pragma once

#include <vector>

#include "common/harness/operation.hpp"

namespace halo::peers {

std::vector<TransformVariant> transform();
std::vector<PoolingVariant> pooling();
std::vector<SoftmaxVariant> softmax();

}  // namespace halo::peers
