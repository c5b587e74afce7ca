#include "tests/harness/planted/planted_layers.hpp"

namespace halo::planted {

namespace {

constexpr int kThreads = 64;

// The products of the channels [first, end) in output i.
__device__ float channel_sum(const float* input, const float* filters, PlantedLayer l, int i,
                             int first, int end) {
  const int q = i % l.Q, p = i / l.Q % l.P, k = i / (l.Q * l.P) % l.K, n = i / (l.Q * l.P * l.K);
  float sum = 0;
  for (int c = first; c < end; ++c) {
    for (int r = 0; r < l.R; ++r) {
      for (int s = 0; s < l.S; ++s) {
        const int h = p - l.padding_h + r, w = q - l.padding_w + s;
        if (h < 0 || h >= l.H || w < 0 || w >= l.W) continue;
        sum += input[((n * l.C + c) * l.H + h) * l.W + w] *
               filters[((k * l.C + c) * l.R + r) * l.S + s];
      }
    }
  }
  return sum;
}

__global__ void right_layer_kernel(const float* input, const float* filters, float* output,
                                   PlantedLayer l, int outputs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < outputs) output[i] = channel_sum(input, filters, l, i, 0, l.C);
}

__global__ void overlapping_layer_kernel(const float* input, const float* filters, float* output,
                                         PlantedLayer l, int outputs, bool begins_next,
                                         bool patient) {
  if (begins_next) cudaTriggerProgrammaticLaunchCompletion();
  if (patient) cudaGridDependencySynchronize();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  output[i] = channel_sum(input, filters, l, i, 0, l.C);  // [bug:impatient]
}

__global__ void channel_kernel(const float* input, const float* filters, float* workspace,
                               PlantedLayer l, int outputs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int c = blockIdx.y;
  if (i >= outputs) return;
  workspace[c * outputs + i] = channel_sum(input, filters, l, i, c, c + 1);
}

__global__ void sum_kernel(const float* workspace, float* output, int channels, int outputs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  float sum = 0;
  for (int c = 0; c < channels; ++c) sum += workspace[c * outputs + i];
  output[i] = sum;
}

// One block an output plane.
__global__ void no_barrier_layer_kernel(const float* input, const float* filters, float* output,
                                        PlantedLayer l) {
  extern __shared__ float filter[];  // [C][R][S]
  const int k = blockIdx.x % l.K, n = blockIdx.x / l.K;
  const int taps = l.C * l.R * l.S;
  for (int t = threadIdx.x; t < taps; t += blockDim.x) filter[t] = filters[k * taps + t];
  // [bug:no-barrier-layer] __syncthreads() belongs here.
  for (int at = threadIdx.x; at < l.P * l.Q; at += blockDim.x) {
    const int p = at / l.Q, q = at % l.Q;
    float sum = 0;
    for (int t = 0; t < taps; ++t) {
      const int s = t % l.S, r = t / l.S % l.R, c = t / (l.S * l.R);
      const int h = p - l.padding_h + r, w = q - l.padding_w + s;
      if (h < 0 || h >= l.H || w < 0 || w >= l.W) continue;
      sum += input[((n * l.C + c) * l.H + h) * l.W + w] * filter[t];
    }
    output[(n * l.K + k) * l.P * l.Q + at] = sum;
  }
}

__global__ void stale_workspace_kernel(const float* input, const float* filters, float* output,
                                       const float* workspace, PlantedLayer l, int outputs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const bool never = workspace[i] == 12345.0f;  // [bug:stale-workspace]
  output[i] = channel_sum(input, filters, l, i, 0, l.C) + (never ? 1.0f : 0.0f);
}

__global__ void pack_backwards_kernel(const float* filters, float* packed, int floats) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < floats) packed[i] = filters[floats - 1 - i];  // [bug:pack-beyond]
}

__global__ void packed_layer_kernel(const float* input, const float* packed, float* output,
                                    PlantedLayer l, int outputs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs) return;
  const int q = i % l.Q, p = i / l.Q % l.P, k = i / (l.Q * l.P) % l.K, n = i / (l.Q * l.P * l.K);
  const int taps = l.C * l.R * l.S;
  float sum = 0;
  for (int t = 0; t < taps; ++t) {
    const int s = t % l.S, r = t / l.S % l.R, c = t / (l.S * l.R);
    const int h = p - l.padding_h + r, w = q - l.padding_w + s;
    if (h < 0 || h >= l.H || w < 0 || w >= l.W) continue;
    sum += input[((n * l.C + c) * l.H + h) * l.W + w] *
           packed[l.K * taps - 1 - (k * taps + t)];  // [bug:never-packed]
  }
  output[i] = sum;
}

int outputs_of(PlantedLayer l) { return l.N * l.K * l.P * l.Q; }
int blocks_of(PlantedLayer l) { return (outputs_of(l) - 1) / kThreads + 1; }

}  // namespace

cudaError_t right_layer(const float* input, const float* filters, float* output, PlantedLayer l) {
  right_layer_kernel<<<blocks_of(l), kThreads>>>(input, filters, output, l, outputs_of(l));
  return cudaGetLastError();
}

cudaError_t two_kernels(const float* input, const float* filters, float* output, float* workspace,
                        PlantedLayer l) {
  channel_kernel<<<dim3(blocks_of(l), l.C), kThreads>>>(input, filters, workspace, l,
                                                        outputs_of(l));
  sum_kernel<<<blocks_of(l), kThreads>>>(workspace, output, l.C, outputs_of(l));
  return cudaGetLastError();
}

cudaError_t no_barrier_layer(const float* input, const float* filters, float* output,
                             PlantedLayer l) {
  no_barrier_layer_kernel<<<l.N * l.K, kThreads, l.C * l.R * l.S * sizeof(float)>>>(input, filters,
                                                                                    output, l);
  return cudaGetLastError();
}

cudaError_t stale_workspace(const float* input, const float* filters, float* output,
                            float* workspace, PlantedLayer l) {
  stale_workspace_kernel<<<blocks_of(l), kThreads>>>(input, filters, output, workspace, l,
                                                     outputs_of(l));
  return cudaGetLastError();
}

cudaError_t pack_backwards(const float* filters, float* packed, int floats) {
  pack_backwards_kernel<<<(floats - 1) / kThreads + 1, kThreads>>>(filters, packed, floats);
  return cudaGetLastError();
}

cudaError_t packed_layer(const float* input, const float* packed, float* output, PlantedLayer l) {
  packed_layer_kernel<<<blocks_of(l), kThreads>>>(input, packed, output, l, outputs_of(l));
  return cudaGetLastError();
}

cudaError_t overlapping_layer(const float* input, const float* filters, float* output,
                              PlantedLayer l, bool begins_next, bool patient) {
  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks_of(l));
  config.blockDim = dim3(kThreads);
  config.attrs = &overlap;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, overlapping_layer_kernel, input, filters, output, l,
                            outputs_of(l), begins_next, patient);
}

}  // namespace halo::planted
