// Stage 13, step 1: bias and ReLU, the step that papers leave out.
//
// Computes   data[i] = max(0, data[i] + bias[channel of i]), in place; without relu only the sum.
// Changed    nothing: it follows each convolution and each fully connected layer, in either layout.
// Must cost  each cell read once and written once, 8 bytes, in whole sectors; the biases besides, one
//            or two sectors per warp where a channel has many cells. A convolution that adds the bias
//            before it writes (a fused one) saves all of it: this kernel is here to show that.
// Run        ./halo run 13
#include <cuda_runtime.h>

namespace halo::network {

// Preconditions: a thread for each cell, blocks of one dimension.
__global__ void bias_relu_kernel(float* data,        // [count]
                                 const float* bias,  // [channels]
                                 int channels, int inner, int count, bool relu) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  // In NCHW the channel changes every H*W cells and comes round again with the next image; in CHWN it
  // changes every H*W*N cells and never comes again. One formula is both.
  const int channel = i / inner % channels;
  const float value = data[i] + bias[channel];
  // Not fmaxf(value, 0), which turns a NaN into 0: a network that has gone wrong must show it.
  data[i] = relu && value < 0.0f ? 0.0f : value;
}

// For images of `channels` channels, in place; `inner` neighbours in memory are of one channel: H*W in
// NCHW, H*W*N in CHWN. Returns the launch's error, does not wait.
int bias_relu(float* data, const float* bias, int channels, int inner, int count, bool relu) {
  constexpr int kThreads = 256;
  const int blocks = (count - 1) / kThreads + 1;
  bias_relu_kernel<<<blocks, kThreads>>>(data, bias, channels, inner, count, relu);
  return cudaGetLastError();
}

}  // namespace halo::network
