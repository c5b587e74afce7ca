// Convolution by Fourier's transform, in three kernels.
//
// Computes   output[n][k][p][q] = sum over c, r, s of filters[k][c][r][s]
//            * input[n][c][p - padding_h + r][q - padding_w + s]; cells that do not exist are zero.
// How        Winograd's transform multiplies little, but its numbers grow with the tile, so tiles must stay small and
//            their overlap is expensive: 5 x 5 filters leave 2 x 2 outputs of 6 x 6 cells. Fourier's numbers do not
//            grow. A tile of 32 x 32 cells has 28 x 28 outputs, for 2.6 multiply-adds each where the definition has
//            25; a larger filter costs only the outputs that its halo takes.
// Must cost  1.3 times the cells of all tiles, written and read, of each channel and of each filter, which is less than
//            Winograd's. But there are 130 or 514 frequencies, so transformed filters are large: it takes many tiles to
//            pay for reading them.
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "common/convolve/fourier/fourier.cuh"
#include "common/harness/async_copy.h"
#include "common/harness/overlap.h"

namespace halo::convolve {

// Preconditions: blockDim.x = kFourierThreads; gridDim.x = pitch / kTiles * C. A lane has a column of two tiles, which
// it transforms as one: real cells of the first, imaginary ones of the second. Then a row of one tile.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads)
    to_frequencies_kernel(const float* input,   // [images][C][H][W]
                          float2* transformed,  // [kFrequencies][C][pitch], twice as large
                          LayerNumbers layer, FourierDivision division, int images, int pitch) {
  using F = Fourier<kSize>;
  __shared__ float2 on_chip[F::kOnChip];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int first_tile = blockIdx.x % (pitch / F::kTiles) * F::kTiles;
  const int c = blockIdx.x / (pitch / F::kTiles);

  float2 z[kSize];
  const int column = lane % kSize, pair = warp * F::kWarpTiles + lane / kSize * 2;
  wait_for_launches_before();
#pragma unroll
  for (int second = 0; second < 2; ++second) {
    const int tile = first_tile + pair + second;
    const int n = tile / division.tiles_across / division.tiles_down;
    const int h = tile / division.tiles_across % division.tiles_down * division.outputs_down -
                  layer.padding_h;
    const int w = tile % division.tiles_across * division.outputs_across - layer.padding_w + column;
    const bool exists = n < images && w >= 0 && w < layer.W;
    const float* const cells =
        input + (static_cast<long long>(n) * layer.C + c) * layer.H * layer.W + w;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      const bool here = exists && h + i >= 0 && h + i < layer.H;
      (second ? z[i].y : z[i].x) = here ? cells[(h + i) * layer.W] : 0.0f;
    }
  }
  transform<false>(z);
  // Two real columns come apart by symmetry (drawn in stages/08_.../fourier_tile.cuh): frequency u of a real one is the
  // conjugate of -u. Numbers 0 and kHalf of a real column are real, so they share a place, and are one row from here on.
  float2* const columns = on_chip + pair * F::kHalf * F::kPitch + column;
#pragma unroll
  for (int u = 0; u < F::kHalf; ++u) {
    const float2 a = z[u], b = z[(kSize - u) % kSize], middle = z[F::kHalf];
    columns[u * F::kPitch] = u == 0 ? float2{2 * a.x, 2 * middle.x} : float2{a.x + b.x, a.y - b.y};
    columns[(F::kHalf + u) * F::kPitch] =
        u == 0 ? float2{2 * a.y, 2 * middle.y} : float2{a.y + b.y, b.x - a.x};
  }
  __syncwarp();

  const int u = lane % F::kHalf, tile = warp * F::kWarpTiles + lane / F::kHalf;
  const float2* const row = on_chip + (tile * F::kHalf + u) * F::kPitch;
#pragma unroll
  for (int j = 0; j < kSize; ++j) z[j] = row[j];
  transform<false>(z);
  __syncthreads();  // all rows are in registers: their places are free
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) on_chip[F::place((u - 1) * kSize + v, tile)] = z[v];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = z[v], b = z[(kSize - v) % kSize];
      on_chip[F::place(F::kRealRows + v, tile)] = {0.5f * (a.x + b.x), 0.5f * (a.y - b.y)};
      on_chip[F::place(F::kRealRows + F::kHalf + 1 + v, tile)] = {0.5f * (a.y + b.y),
                                                                  0.5f * (b.x - a.x)};
    }
  }
  __syncthreads();
  float2* const to = transformed + c * pitch + first_tile;
  for (int i = threadIdx.x; i < F::kFrequencies * F::kTiles; i += kFourierThreads) {
    const int frequency = i / F::kTiles, t = i % F::kTiles;
    to[frequency * layer.C * pitch + t] = on_chip[F::place(frequency, t)];
  }
}

// For each frequency the complex matrix [K][C], conjugated, times [C][tiles], by Gauss's three products for four:
//   (f.x - i f.y)(x.x + i x.y) = (a + b) + i (c - a + b),  a = f.x x.x,  b = f.y x.y,  c = (f.x - f.y)(x.x + x.y)
// The sums f.x - f.y and x.x + x.y are formed once for 4 or 8 products; a, b and c are summed separately.
// Preconditions: blockDim.x = FourierBlock<kSide>::kThreads; gridDim.x =
// groups of filters * groups of tiles, gridDim.y = frequencies; both
// pitches multiples of kFourierPitch, so that no piece of 16 bytes is half in one row.
template <int kSide>
__global__ void __launch_bounds__(FourierBlock<kSide>::kThreads, FourierBlock<kSide>::kResident)
    complex_products_kernel(const float2* packed,       // [frequencies][C][filter_pitch]
                            const float2* transformed,  // [frequencies][C][tile_pitch]
                            float2* sums,               // [frequencies][K][tile_pitch]
                            int C, int K, FourierDivision division) {
  using Block = FourierBlock<kSide>;
  constexpr int kChannels = kFourierChannels, kOwn = Block::kOwn, kRow = Block::kRow;
  __shared__ float4 weights[2 * kChannels * kRow];  // [2][kChannels][kRow]
  __shared__ float4 tiles[2 * kChannels * kRow];    // [2][kChannels][kRow]

  const int groups = (K - 1) / kSide + 1;
  const int first_filter = blockIdx.x % groups * kSide;
  const int first_tile = blockIdx.x / groups * kSide;
  const int thread = threadIdx.x, lane = thread % kWarpSize, warp = thread / kWarpSize;

  // A thread copies one column of every kStep-th row, from here on. Where its column does not exist it has no
  // channels, and of rows that do not exist the zeros come without a read. (Computing each
  // address again cost a tenth of the kernel's time.)
  constexpr int kStep = Block::kThreads / kRow;
  const int row = thread / kRow, filter = first_filter + thread % kRow * 2;
  const int tile = first_tile + thread % kRow * 2;
  const long long first_row = static_cast<long long>(blockIdx.y) * C + row;
  const float2* next_filters = packed + first_row * division.filter_pitch + filter;
  const float2* next_tiles = transformed + first_row * division.tile_pitch + tile;
  int filter_rows = filter < division.filter_pitch ? C - row : 0;
  int tile_rows = tile < division.tile_pitch ? C - row : 0;
  const auto copy_filters = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kStep) {
      const bool exists = i < filter_rows;
      copy_or_zero_async<16>(weights + (buffer * kChannels + i) * kRow + thread,
                             exists ? next_filters + i * division.filter_pitch : packed, exists);
    }
    next_filters += kChannels * division.filter_pitch;
    filter_rows -= kChannels;
  };
  const auto copy_tiles = [&](int buffer) {
#pragma unroll
    for (int i = 0; i < kChannels; i += kStep) {
      const bool exists = i < tile_rows;
      copy_or_zero_async<16>(tiles + (buffer * kChannels + i) * kRow + thread,
                             exists ? next_tiles + i * division.tile_pitch : transformed, exists);
    }
    next_tiles += kChannels * division.tile_pitch;
    tile_rows -= kChannels;
  };

  // Of a warp's lanes 4 have filters and 8 have tiles beside each other, each 8 and kOwn of them in runs of two. Of
  // eight neighbouring lanes only four (two) read different tiles (filters), as in winograd.cu.
  const int many = lane % 2 + lane / 4 % 4 * 2, few = lane / 2 % 2 + lane / 16 * 2;
  constexpr int kFilterRun = 4, kTileRun = 8;  // float4 from a lane's run to its next
  const int own_filter = warp * 4 * kFilterRun + few;

  float a[8][kOwn] = {}, b[8][kOwn] = {}, c[8][kOwn] = {};
  const int chunks = (C - 1) / kChannels + 1;
  // The first filters depend on no launch: they are under way while the inputs are still transformed.
  copy_filters(0);
  wait_for_launches_before();
  copy_tiles(0);
  __pipeline_commit();
  int buffer = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    __pipeline_wait_prior(0);
    __syncthreads();  // the chunk is there, and nobody reads the one before any more
    if (chunk + 1 < chunks) {
      copy_filters(1 - buffer);
      copy_tiles(1 - buffer);
    }
    __pipeline_commit();
    const float4* const from_filters = weights + buffer * kChannels * kRow + own_filter;
    const float4* const from_tiles = tiles + buffer * kChannels * kRow + many;
    // A few channels per turn: the code of all of them would not fit the instruction cache.
#pragma unroll 1
    for (int first = 0; first < kChannels; first += Block::kTurn) {
#pragma unroll
      for (int channel = 0; channel < Block::kTurn; ++channel) {
        const int from = (first + channel) * kRow;
        float4 filter[4], tile[kOwn / 2];
#pragma unroll
        for (int i = 0; i < 4; ++i) filter[i] = from_filters[from + i * kFilterRun];
#pragma unroll
        for (int j = 0; j < kOwn / 2; ++j) tile[j] = from_tiles[from + j * kTileRun];
        float real[kOwn], imaginary[kOwn], sum[kOwn];
#pragma unroll
        for (int j = 0; j < kOwn; ++j) {
          real[j] = j % 2 == 0 ? tile[j / 2].x : tile[j / 2].z;
          imaginary[j] = j % 2 == 0 ? tile[j / 2].y : tile[j / 2].w;
          sum[j] = real[j] + imaginary[j];
        }
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float4 two = filter[i / 2];
          const float2 f = i % 2 == 0 ? float2{two.x, two.y} : float2{two.z, two.w};
          const float difference = f.x - f.y;
#pragma unroll
          for (int j = 0; j < kOwn; ++j) {
            a[i][j] += f.x * real[j];
            b[i][j] += f.y * imaginary[j];
            c[i][j] += difference * sum[j];
          }
        }
      }
    }
    buffer = 1 - buffer;
  }

  float2* const to = sums + static_cast<long long>(blockIdx.y) * K * division.tile_pitch;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int k = first_filter + 2 * (own_filter + i / 2 * kFilterRun) + i % 2;
#pragma unroll
    for (int j = 0; j < kOwn; j += 2) {
      const int t = first_tile + 2 * (many + j / 2 * kTileRun);
      if (k < K && t < division.tile_pitch) {
        *reinterpret_cast<float4*>(to + k * division.tile_pitch + t) = {
            a[i][j] + b[i][j], c[i][j] - a[i][j] + b[i][j], a[i][j + 1] + b[i][j + 1],
            c[i][j + 1] - a[i][j + 1] + b[i][j + 1]};
      }
    }
  }
}

// The way back. Preconditions: blockDim.x = kFourierThreads; gridDim.x = tile_pitch / kTiles * K.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads) from_frequencies_kernel(
    const float2* sums,  // [kFrequencies][K][tile_pitch], four times as large
    float* output,       // [images][K][P][Q]
    const float* bias,   // [K], or null
    bool relu, LayerNumbers layer, FourierDivision division, int images) {
  using F = Fourier<kSize>;
  __shared__ float2 on_chip[F::kOnChip];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int pitch = division.tile_pitch;
  const int first_tile = blockIdx.x % (pitch / F::kTiles) * F::kTiles;
  const int k = blockIdx.x / (pitch / F::kTiles);
  const float2* const from = sums + k * pitch + first_tile;
  wait_for_launches_before();
  for (int i = threadIdx.x; i < F::kFrequencies * F::kTiles; i += kFourierThreads) {
    const int frequency = i / F::kTiles, t = i % F::kTiles;
    __pipeline_memcpy_async(on_chip + F::place(frequency, t),
                            from + frequency * layer.K * pitch + t, 8);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();

  float2 z[kSize];
  const int u = lane % F::kHalf, tile = warp * F::kWarpTiles + lane / F::kHalf;
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) z[v] = on_chip[F::place((u - 1) * kSize + v, tile)];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = on_chip[F::place(F::kRealRows + v, tile)];
      const float2 b = on_chip[F::place(F::kRealRows + F::kHalf + 1 + v, tile)];
      z[v] = {a.x - b.y, a.y + b.x};
      if (v > 0 && v < F::kHalf) z[kSize - v] = {a.x + b.y, b.x - a.y};
    }
  }
  transform<true>(z);
  __syncthreads();  // all frequencies are in registers
  float2* const row = on_chip + (tile * F::kHalf + u) * F::kPitch;
#pragma unroll
  for (int j = 0; j < kSize; ++j) row[j] = z[j];
  __syncwarp();

  const int column = lane % kSize, pair = warp * F::kWarpTiles + lane / kSize * 2;
  const float2* const columns = on_chip + pair * F::kHalf * F::kPitch + column;
#pragma unroll
  for (int r = 0; r < F::kHalf; ++r) {
    const float2 a = columns[r * F::kPitch], b = columns[(F::kHalf + r) * F::kPitch];
    z[r] = r == 0 ? float2{a.x, b.x} : float2{a.x - b.y, a.y + b.x};
    z[r == 0 ? F::kHalf : kSize - r] = r == 0 ? float2{a.y, b.y} : float2{a.x + b.y, b.x - a.y};
  }
  transform<true>(z);

  constexpr float kScale = 1.0f / (4 * kSize * kSize);  // a power of two: exact
  const float its_bias = bias != nullptr ? bias[k] : 0.0f;
#pragma unroll
  for (int second = 0; second < 2; ++second) {
    const int t = first_tile + pair + second;
    const int n = t / division.tiles_across / division.tiles_down;
    const int p = t / division.tiles_across % division.tiles_down * division.outputs_down;
    const int q = t % division.tiles_across * division.outputs_across + column;
    if (n >= images || column >= division.outputs_across || q >= layer.Q) continue;
    float* const to = output + (static_cast<long long>(n) * layer.K + k) * layer.P * layer.Q + q;
#pragma unroll
    for (int i = 0; i < kSize; ++i) {
      if (i >= division.outputs_down || p + i >= layer.P) continue;
      float sum = (second ? z[i].y : z[i].x) * kScale + its_bias;
      if (relu && sum < 0.0f) sum = 0.0f;  // not fmaxf, which turns a NaN into 0
      to[(p + i) * layer.Q] = sum;
    }
  }
}

// A filter is a tile of which only R x S cells are not zero, so a column of its transform is a sum of few terms, and no row
// waits for other threads' columns. A lane has a filter, so that what is stored together are 32 neighbours, and a warp one
// row of its frequencies, or rows 0 and kHalf, which are real before they are transformed: one complex row.
// Preconditions: blockDim.x = kFourierThreads; gridDim.x = C * warps of pitch, gridDim.y * blockDim.x = kHalf * 32; dynamic
// shared memory holds 32 * (R * S | 1) floats.
template <int kSize>
__global__ void __launch_bounds__(kFourierThreads)
    pack_fourier_kernel(const float* filters,  // [K][C][R][S]
                        float2* packed,        // [kFrequencies][C][pitch], twice as large
                        LayerNumbers layer, Divisor of_filter, int pitch) {
  using F = Fourier<kSize>;
  extern __shared__ float taps[];   // [32][R * S | 1]: odd, for the banks
  __shared__ float2 circle[kSize];  // twice its points, backwards
  const int row_of_taps = of_filter.value | 1;
  const int warps = (pitch - 1) / kWarpSize + 1;  // of a channel
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  const int first = static_cast<int>(blockIdx.x) % warps * kWarpSize;
  const int c = static_cast<int>(blockIdx.x) / warps, k = first + lane;
  const long long next_filter = static_cast<long long>(layer.C) * of_filter.value;
  const float* const from = filters + first * next_filter + c * of_filter.value;
  for (int i = threadIdx.x; i < kWarpSize * of_filter.value; i += kFourierThreads) {
    const int filter = i / of_filter, tap = i - filter * of_filter.value;
    const bool exists = first + filter < layer.K;
    copy_or_zero_async<4>(taps + filter * row_of_taps + tap,
                          exists ? from + filter * next_filter + tap : filters, exists);
  }
  __pipeline_commit();
  if (threadIdx.x < kSize) {
    const int point = threadIdx.x * (32 / kSize);
    circle[threadIdx.x] = turned<false>({point < 16 ? 2.0f : -2.0f, 0}, point % 16);
  }
  __pipeline_wait_prior(0);
  __syncthreads();

  const int u = blockIdx.y * (kFourierThreads / kWarpSize) + warp;
  const float* const own = taps + lane * row_of_taps;
  float2 z[kSize] = {};
  for (int r = 0; r < layer.R; ++r) {
    float2 point = circle[u * r % kSize];
    if (u == 0) point.y = circle[F::kHalf * r % kSize].x;
#pragma unroll
    for (int s = 0; s < F::kHalf; ++s) {  // there are no wider filters
      if (s < layer.S) {                  // (a break took a fifth longer with few filters)
        const float tap = own[r * layer.S + s];
        z[s].x += point.x * tap;
        z[s].y += point.y * tap;
      }
    }
  }
  transform<false>(z);
  if (k >= pitch) return;
  float2* const to = packed + c * pitch + k;
  const int next = layer.C * pitch;  // from one frequency to the next
  if (u > 0) {
#pragma unroll
    for (int v = 0; v < kSize; ++v) to[((u - 1) * kSize + v) * next] = z[v];
  } else {
#pragma unroll
    for (int v = 0; v <= F::kHalf; ++v) {
      const float2 a = z[v], b = z[(kSize - v) % kSize];
      to[(F::kRealRows + v) * next] = {0.5f * (a.x + b.x), 0.5f * (a.y - b.y)};
      to[(F::kRealRows + F::kHalf + 1 + v) * next] = {0.5f * (a.y + b.y), 0.5f * (b.x - a.x)};
    }
  }
}

int pack_fourier(const float* filters, float* packed, const LayerNumbers& layer,
                 const FourierDivision& division) {
  return dispatch<16, 32>(division.size, [&](auto size) {
    constexpr int kRows = kFourierThreads / kWarpSize;  // of a block
    const int pitch = division.filter_pitch, warps = (pitch - 1) / kWarpSize + 1;
    const int bytes = kWarpSize * (layer.R * layer.S | 1) * static_cast<int>(sizeof(float));
    pack_fourier_kernel<size.value>
        <<<dim3(warps * layer.C, size.value / 2 / kRows), kFourierThreads, bytes>>>(
            filters, reinterpret_cast<float2*>(packed), layer, layer.R * layer.S, pitch);
    return static_cast<int>(cudaGetLastError());
  });
}

// Transforms, `products` between them, and slice after slice: for fourier_split.cu too, which multiplies otherwise.
int by_fourier(const LayerCall& call, const FourierDivision& division, FourierProducts products) {
  const LayerNumbers& layer = call.layer;
  return dispatch<16, 32>(division.size, [&](auto size) {
    using F = Fourier<size.value>;
    const int blocks = division.tile_pitch / F::kTiles;
    float2* const transformed = reinterpret_cast<float2*>(call.workspace);
    float2* const sums =
        transformed + static_cast<long long>(F::kFrequencies) * layer.C * division.tile_pitch;
    const cudaStream_t stream = static_cast<cudaStream_t>(call.stream);
    int status = cudaSuccess;
    for (int n = 0; n < layer.N && status == cudaSuccess; n += division.images) {
      const int images = min(division.images, layer.N - n);
      // Within a call each kernel begins while the one before it ends; calls overlap only if they are asked to.
      status =
          launch_overlapping(call.overlaps || n > 0, to_frequencies_kernel<size.value>,
                             blocks * layer.C, kFourierThreads, 0, stream,
                             call.input + static_cast<long long>(n) * layer.C * layer.H * layer.W,
                             transformed, layer, division, images, division.tile_pitch);
      if (status != cudaSuccess) break;
      status = products(reinterpret_cast<const float2*>(call.packed), transformed, sums, layer,
                        division, stream);
      if (status != cudaSuccess) break;
      status = launch_overlapping(
          true, from_frequencies_kernel<size.value>, blocks * layer.K, kFourierThreads, 0, stream,
          sums, call.output + static_cast<long long>(n) * layer.K * layer.P * layer.Q, call.bias,
          call.relu, layer, division, images);
    }
    return status;
  });
}

int fourier(const LayerCall& call, const FourierDivision& division) {
  return by_fourier(call, division,
                    [](const float2* packed, const float2* transformed, float2* sums,
                       const LayerNumbers& layer, const FourierDivision& by, cudaStream_t stream) {
                      const auto kernel = dispatch<32, 64>(
                          by.side, [](auto side) { return complex_products_kernel<side.value>; });
                      const int blocks =
                          ((layer.K - 1) / by.side + 1) * ((by.tile_pitch - 1) / by.side + 1);
                      return static_cast<int>(launch_overlapping(
                          true, kernel, dim3(blocks, fourier_frequencies(by.size)),
                          fourier_product_threads(by.side), 0, stream, packed, transformed, sums,
                          layer.C, layer.K, by));
                    });
}

}  // namespace halo::convolve
