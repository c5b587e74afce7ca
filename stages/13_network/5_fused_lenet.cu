// Stage 13, step 5: a whole network in one kernel.
//
// Computes   LeNet for each image: twice a convolution with 16 filters of 5 x 5, padding, bias, ReLU and maxima of
//            2 x 2; three fully connected layers with bias, the first two with ReLU; then softmax.
// Changed    since 3 fully_connected_lanes: no layer waits for a launch, and none reads from memory what the one before
//            wrote. A block has an image, whose maps stay in shared memory from the first layer to the last.
// Must cost  the image and all filters once for each image, 0.45 MB, nearly all of it from the L2 cache: kernels of
//            one layer read the filters of fully connected layers once for several images. Each layer's outputs
//            are also stored, for inspection.
// Run        ./halo run 13 --network lenet --batch 128
#include "stages/13_network/fused_lenet.cuh"

namespace halo::network {

// Preconditions: gridDim.x = images, blockDim.x = kThreads; kLenetFloats of dynamic shared memory.
__global__ void __launch_bounds__(kThreads) fused_lenet_kernel(const float* input,  // [N][28][28]
                                                               const LenetArrays net) {
  extern __shared__ float4 on_chip[];
  float* const image = reinterpret_cast<float*>(on_chip);  // [kImagePitch][kImagePitch]
  float* const map1 = image + kImagePitch * kImagePitch;   // [16][18][18]
  float* const map2 = map1 + 16 * 18 * 18;                 // [16][7][7]
  float* const features = map2 + 16 * 7 * 7;               // [120], [84], [10]
  float* const taps1 = features + 216;                     // [kPairs][1][kTaps][2]
  float* const taps2 = taps1 + 16 * kTaps;                 // [kPairs][16][kTaps][2]
  const int n = blockIdx.x, thread = threadIdx.x;
  for (int i = thread; i < kImagePitch * kImagePitch; i += kThreads) {
    const int h = i / kImagePitch - 2, w = i % kImagePitch - 2;
    const bool exists = h >= 0 && h < 28 && w >= 0 && w < 28;
    image[i] = exists ? input[(n * 28 + h) * 28 + w] : 0.0f;
  }
  for (int first = 0; first < 16 * 18 * 18; first += kThreads) {  // warps stay together
    if (first + thread < 16 * 18 * 18) map1[first + thread] = 0.0f;
  }
  for (int i = thread; i < 16 * kTaps; i += kThreads) {
    taps1[i / kTaps / 2 * 2 * kTaps + i % kTaps * 2 + i / kTaps % 2] = net.filters[0][i];
  }
  constexpr int kFilter = 16 * kTaps;
  for (int i = thread; i < 16 * kFilter; i += kThreads) {
    taps2[i / kFilter / 2 * 2 * kFilter + i % kFilter * 2 + i / kFilter % 2] = net.filters[1][i];
  }
  __syncthreads();
  convolve<1, 28, 18>(image, reinterpret_cast<const float2*>(taps1), net.biases[0],
                      net.outputs[0] + n * 16 * 784, net.outputs[1] + n * 16 * 196,
                      map1 + 2 * 18 + 2);
  __syncthreads();
  convolve<16, 14, 7>(map1, reinterpret_cast<const float2*>(taps2), net.biases[1],
                      net.outputs[2] + n * 16 * 196, net.outputs[3] + n * 784, map2);
  __syncthreads();
  connect<784, 120>(map2, net.filters[2], net.biases[2], true, net.outputs[4] + n * 120, features);
  __syncthreads();
  connect<120, 84>(features, net.filters[3], net.biases[3], true, net.outputs[5] + n * 84,
                   features + 120);
  __syncthreads();
  connect<84, 10>(features + 120, net.filters[4], net.biases[4], false, net.outputs[6] + n * 10,
                  features + 204);
  __syncthreads();
  if (thread >= 10) return;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = 0; i < 10; ++i) largest = fmaxf(largest, features[204 + i]);
  for (int i = 0; i < 10; ++i) sum += expf(features[204 + i] - largest);
  net.outputs[7][n * 10 + thread] = expf(features[204 + thread] - largest) / sum;
}

int fused_lenet(int images, const float* input, const LenetArrays& net) {
  constexpr int kBytes = kLenetFloats * sizeof(float);
  const cudaError_t status =
      cudaFuncSetAttribute(fused_lenet_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (status != cudaSuccess) return status;
  fused_lenet_kernel<<<images, kThreads, kBytes>>>(input, net);
  return cudaGetLastError();
}

}  // namespace halo::network
