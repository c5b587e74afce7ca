// Filters as winograd.cu and winograd_apart.cu read them, transformed and in the order in which blocks take them. It is
// done once for all calls.
#include "common/convolve/winograd/winograd.cuh"

namespace halo::convolve {

// G: tap r counts point^r * scale at a point, and at infinity the last tap alone counts. The scales are the
// divisors of interpolation (Lagrange's); they could stand in A or B as well, but filters are transformed once.
template <class W>
__device__ inline float weight_of_tap(int frequency, int r) {
  if (frequency == W::kCells - 1) return r == W::kTaps - 1 ? 1.0f : 0.0f;
  float weight = W::kCells == 4 ? (frequency == 0 ? 1.0f : 1 / 2.0f)
                                : (frequency == 0   ? 1 / 4.0f
                                   : frequency <= 2 ? -1 / 6.0f
                                                    : 1 / 24.0f);
  const int size = (frequency + 1) / 2;
  for (int power = 0; power < r; ++power) weight *= frequency % 2 == 1 ? size : -size;
  return weight;
}

// Preconditions: blockDim = 32 threads; gridDim.x = chunks * kChannels * groups * kFilters / 32. A warp has 32
// filters of one channel, so that it writes 32 neighbours. Filters and channels that do not exist are zeros.
template <int kShape>
__global__ void pack_winograd_kernel(
    const float* filters,  // [K][C][R][S]
    float* packed,         // [groups][chunks][kFrequencies][kChannels][kFilters]
    int K, int C, WinogradDivision division) {
  using W = Winograd<kShape>;
  const int warps = division.groups.value * (W::kFilters / kWarpSize);  // of a channel
  const int k = blockIdx.x % warps * kWarpSize + threadIdx.x;
  const int c = blockIdx.x / warps;
  float half[W::kCells][W::kTaps] = {};  // G g
  for (int tap = 0; k < K && c < C && tap < W::kTaps * W::kTaps; ++tap) {
    const float g = filters[(static_cast<long long>(k) * C + c) * (W::kTaps * W::kTaps) + tap];
    for (int h = 0; h < W::kCells; ++h) {
      half[h][tap % W::kTaps] += weight_of_tap<W>(h, tap / W::kTaps) * g;
    }
  }
  const long long chunk =
      static_cast<long long>(k / W::kFilters) * division.chunks + c / W::kChannels;
  float* const to = packed + chunk * W::kWeights + c % W::kChannels * W::kFilters + k % W::kFilters;
  for (int i = 0; i < W::kFrequencies; ++i) {
    float sum = 0;
    for (int s = 0; s < W::kTaps; ++s) {
      sum += weight_of_tap<W>(i % W::kCells, s) * half[i / W::kCells][s];
    }
    to[i * W::kChannels * W::kFilters] = sum;
  }
}

int pack_winograd(const float* filters, float* packed, const LayerNumbers& layer,
                  const WinogradDivision& division) {
  return dispatch<0, 1, 2, 3, 4>(division.shape, [&](auto shape) {
    using W = Winograd<shape.value>;
    const int channels = division.chunks * W::kChannels;
    const int blocks = channels * division.groups * (W::kFilters / kWarpSize);
    pack_winograd_kernel<shape.value>
        <<<blocks, kWarpSize>>>(filters, packed, layer.K, layer.C, division);
    return static_cast<int>(cudaGetLastError());
  });
}

// Preconditions: blockDim = 32 threads; gridDim.x = division.channels * warps of filter_pitch. Filters that fill up
// the last piece are zeros, and so are taps that a phase does not have. A channel meets the filters of its group.
template <int kShape>
__global__ void pack_apart_kernel(const float* filters,  // [K][C of a group][R][S]
                                  float* packed,         // [kFrequencies][channels][filter_pitch]
                                  LayerNumbers layer, ApartDivision division) {
  using W = Apart<kShape>;
  const int warps = (division.filter_pitch - 1) / kWarpSize + 1;  // of a channel
  const int k = blockIdx.x % warps * kWarpSize + threadIdx.x;
  const int channel = blockIdx.x / warps;  // of a phase
  if (k >= division.filter_pitch) return;
  const int group = channel / division.group_channels;
  const int in_group = channel - group * division.group_channels.value;
  const int c = in_group / division.phases, phase = in_group % division.phases;
  const int C = division.group_channels.value / division.phases;
  const int first_r = phase / division.phases_across, first_s = phase % division.phases_across;
  const long long filter = static_cast<long long>(group) * division.group_filters + k;
  const float* const taps = filters + (filter * C + c) * layer.R * layer.S;
  float half[W::kCells][W::kTaps] = {};  // G g
  for (int tap = 0; k < division.group_filters && tap < W::kTaps * W::kTaps; ++tap) {
    const int r = tap / W::kTaps * layer.stride_h + first_r;
    const int s = tap % W::kTaps * layer.stride_w + first_s;
    const float g = r < layer.R && s < layer.S ? taps[r * layer.S + s] : 0.0f;
    for (int h = 0; h < W::kCells; ++h) {
      half[h][tap % W::kTaps] += weight_of_tap<W>(h, tap / W::kTaps) * g;
    }
  }
  for (int i = 0; i < W::kCells * W::kCells; ++i) {
    float sum = 0;
    for (int s = 0; s < W::kTaps; ++s) {
      sum += weight_of_tap<W>(i % W::kCells, s) * half[i / W::kCells][s];
    }
    packed[(static_cast<long long>(i) * division.channels + channel) * division.filter_pitch + k] =
        sum;
  }
}

int pack_winograd_apart(const float* filters, float* packed, const LayerNumbers& layer,
                        const ApartDivision& division) {
  return dispatch<0, 1, 2, 3>(division.shape, [&](auto shape) {
    const int blocks = ((division.filter_pitch - 1) / kWarpSize + 1) * division.channels;
    pack_apart_kernel<shape.value><<<blocks, kWarpSize>>>(filters, packed, layer, division);
    return static_cast<int>(cudaGetLastError());
  });
}

}  // namespace halo::convolve
