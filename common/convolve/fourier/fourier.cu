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
#include <cuda_runtime.h>

#include "common/convolve/fourier/complex_products.cuh"
#include "common/convolve/fourier/fourier.cuh"
#include "common/convolve/fourier/from_frequencies.cuh"
#include "common/convolve/fourier/to_frequencies.cuh"
#include "common/harness/overlap.h"

namespace halo::convolve {

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
