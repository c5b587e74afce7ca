// Filters as winograd.cu and winograd_apart.cu read them, transformed and in the order in which blocks take them. It is
// done once for all calls, or before each where filters change.
#include "common/convolve/winograd/winograd.cuh"
#include "common/harness/async_copy.h"

namespace halo::convolve {

namespace {

// G: tap r counts point^r * scale at a point, and at infinity the last tap alone counts. The scales are the
// divisors of interpolation (Lagrange's); they could stand in A or B as well, but inputs are transformed more often.
template <class W>
__device__ inline float weight_of_tap(int frequency, int r) {
  if (frequency == W::kCells - 1) return r == W::kTaps - 1 ? 1.0f : 0.0f;
  const float scale = W::kCells == 4 ? (frequency == 0 ? 1.0f : 1 / 2.0f)
                                     : (frequency == 0   ? 1 / 4.0f
                                        : frequency <= 2 ? -1 / 6.0f
                                                         : 1 / 24.0f);
  const int size = (frequency + 1) / 2;
  const float point = frequency % 2 == 1 ? size : -size, square = point * point;
  const float powers[] = {1, point, square, square * point, square * square};
  return scale * powers[r];
}

// A block has 32 filters of so many channels: a lane has a filter, a warp a channel.
constexpr int kPackChannels = 4, kPackThreads = kPackChannels * kWarpSize;

// The taps of a block, and those of the thread's filter and channel among them. They come through shared memory: lanes that read
// their own filter's would touch 32 rows of memory. Preconditions: blockDim.x = kPackThreads; copy(filter, i, place) copies the
// tap i % kTaps^2 of channel i / kTaps^2, of those of the block, or a zero.
template <class W, class Copy>
__device__ inline const float* bring_taps(const Copy& copy) {
  constexpr int kOfChannel = W::kTaps * W::kTaps;
  constexpr int kOfFilter = kPackChannels * kOfChannel,
                kPitch = kOfFilter | 1;  // odd, for the banks
  __shared__ float on_chip[kWarpSize * kPitch];
#pragma unroll
  for (int first = 0; first < kWarpSize * kOfFilter; first += kPackThreads) {
    const int i = first + threadIdx.x, filter = i / kOfFilter;
    copy(filter, i % kOfFilter, on_chip + filter * kPitch + i % kOfFilter);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  return on_chip + threadIdx.x % kWarpSize * kPitch +
         static_cast<int>(threadIdx.x) / kWarpSize * kOfChannel;
}

// G g G^T of a filter's channel, frequency after frequency to `to`, `next` floats apart. All weights are known when this is
// compiled, and each store of a warp is one run.
template <class W>
__device__ inline void transform_taps(const float* from, float* to, long long next) {
  constexpr int kTaps = W::kTaps;
  float taps[kTaps * kTaps];
#pragma unroll
  for (int tap = 0; tap < kTaps * kTaps; ++tap) taps[tap] = from[tap];
#pragma unroll
  for (int row = 0; row < W::kCells; ++row) {
    float half[kTaps] = {};  // a row of G g
#pragma unroll
    for (int tap = 0; tap < kTaps * kTaps; ++tap) {
      const float weight = weight_of_tap<W>(row, tap / kTaps);
      if (weight != 0) half[tap % kTaps] += weight * taps[tap];
    }
#pragma unroll
    for (int column = 0; column < W::kCells; ++column) {
      float sum = 0;
#pragma unroll
      for (int s = 0; s < kTaps; ++s) {
        const float weight = weight_of_tap<W>(column, s);
        if (weight != 0) sum += weight * half[s];
      }
      *to = sum;
      to += next;
    }
  }
}

// Preconditions: as bring_taps; gridDim.x = chunks * kChannels / kPackChannels * groups * kFilters / 32. Filters and
// channels that do not exist are zeros.
template <int kShape>
__global__ void __launch_bounds__(kPackThreads)
    pack_winograd_kernel(const float* filters,  // [K][C][R][S]
                         float* packed,  // [groups][chunks][kFrequencies][kChannels][kFilters]
                         int K, int C, WinogradDivision division) {
  using W = Winograd<kShape>;
  static_assert(W::kChannels % kPackChannels == 0);
  constexpr int kOfChannel = W::kTaps * W::kTaps;
  const int warps = division.groups.value * (W::kFilters / kWarpSize);  // of a channel
  const int first_filter = blockIdx.x % warps * kWarpSize;
  const int first_channel = blockIdx.x / warps * kPackChannels;
  const int k = first_filter + threadIdx.x % kWarpSize, c = first_channel + threadIdx.x / kWarpSize;
  const long long chunk =
      static_cast<long long>(k / W::kFilters) * division.chunks + c / W::kChannels;
  const long long of_filter = static_cast<long long>(C) * kOfChannel;
  const float* const from = filters + first_filter * of_filter + first_channel * kOfChannel;
  const float* const taps = bring_taps<W>([&](int filter, int i, float* place) {
    const bool exists = first_filter + filter < K && first_channel + i / kOfChannel < C;
    copy_or_zero_async<4>(place, exists ? from + filter * of_filter + i : filters, exists);
  });
  transform_taps<W>(taps,
                    packed + chunk * W::kWeights + c % W::kChannels * W::kFilters + k % W::kFilters,
                    W::kChannels * W::kFilters);
}

// Preconditions: as bring_taps; gridDim.x = pieces of kPackChannels of division.channels * warps of filter_pitch.
// Filters that fill up the last piece are zeros, and so are taps that a phase does not have. A channel meets the filters of
// its group. kWhole: there is one group and one phase, so that the taps of neighbouring channels are neighbours.
template <int kShape, bool kWhole>
__global__ void __launch_bounds__(kPackThreads)
    pack_apart_kernel(const float* filters,  // [K][C of a group][R][S]
                      float* packed,         // [kFrequencies][channels][filter_pitch]
                      LayerNumbers layer, ApartDivision division) {
  using W = Apart<kShape>;
  constexpr int kOfChannel = W::kTaps * W::kTaps;
  const int warps = (division.filter_pitch - 1) / kWarpSize + 1;  // of a channel
  const int first_filter = static_cast<int>(blockIdx.x) % warps * kWarpSize;
  const int first_channel = static_cast<int>(blockIdx.x) / warps * kPackChannels;  // of a phase
  const int k = first_filter + threadIdx.x % kWarpSize;
  const int own_channel = first_channel + threadIdx.x / kWarpSize;
  const int C = division.group_channels.value / division.phases;
  const long long of_filter = static_cast<long long>(C) * layer.R * layer.S;
  const float* const from = filters + first_filter * of_filter;
  const float* const taps = bring_taps<W>([&](int filter, int i, float* place) {
    const int channel = first_channel + i / kOfChannel;
    bool exists = first_filter + filter < division.group_filters && channel < division.channels;
    long long tap = filter * of_filter + first_channel * kOfChannel + i;
    if (!kWhole) {
      const int group = channel / division.group_channels;
      const int in_group = channel - group * division.group_channels.value;
      const int c = in_group / division.phases, phase = in_group % division.phases;
      const int r = i % kOfChannel / W::kTaps * layer.stride_h + phase / division.phases_across;
      const int s = i % W::kTaps * layer.stride_w + phase % division.phases_across;
      exists = exists && r < layer.R && s < layer.S;
      const long long its_filter = static_cast<long long>(group) * division.group_filters + filter;
      tap = its_filter * of_filter + (c * layer.R + r) * layer.S + s;
    }
    copy_or_zero_async<4>(place, exists ? from + tap : filters, exists);
  });
  if (k >= division.filter_pitch || own_channel >= division.channels) return;
  const long long row = division.filter_pitch;
  transform_taps<W>(taps, packed + own_channel * row + k, division.channels * row);
}

}  // namespace

int pack_winograd(const float* filters, float* packed, const LayerNumbers& layer,
                  const WinogradDivision& division) {
  return dispatch<0, 1, 2, 3, 4>(division.shape, [&](auto shape) {
    using W = Winograd<shape.value>;
    const int pieces = division.chunks * W::kChannels / kPackChannels;
    const int blocks = pieces * division.groups * (W::kFilters / kWarpSize);
    pack_winograd_kernel<shape.value>
        <<<blocks, kPackThreads>>>(filters, packed, layer.K, layer.C, division);
    return static_cast<int>(cudaGetLastError());
  });
}

int pack_winograd_apart(const float* filters, float* packed, const LayerNumbers& layer,
                        const ApartDivision& division) {
  return dispatch<0, 1, 2, 3>(division.shape, [&](auto shape) {
    const int pieces = (division.channels - 1) / kPackChannels + 1;
    const int blocks = pieces * ((division.filter_pitch - 1) / kWarpSize + 1);
    const bool is_whole = division.phases == 1 && division.group_channels == division.channels;
    const auto kernel =
        is_whole ? pack_apart_kernel<shape.value, true> : pack_apart_kernel<shape.value, false>;
    kernel<<<blocks, kPackThreads>>>(filters, packed, layer, division);
    return static_cast<int>(cudaGetLastError());
  });
}

}  // namespace halo::convolve
