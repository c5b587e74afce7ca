// How a layer is computed through Fourier transforms: sizes, tiles, passes and workspace. Private to
// the peers; knows nothing of any device.
//
// A tile is a window of `rows` x `columns` cells of the padded image, transformed as a whole. Multiplied
// with a filter's conjugated spectrum it gives their circular correlation,
//   result[i][j] = sum over r, s of tile[(i + r) mod rows][(j + s) mod columns] * filter[r][s],
// which is the layer's for i <= rows - R and j <= columns - S, where nothing wraps round. Tiles begin
// step_h, step_w outputs apart.
//
// One tile for the whole image needs fewer cells than the padded image has: H + a rows are enough, not
// H + 2a, since what wraps round are ghost cells on either side. Output p is result[p mod rows] then.
#pragma once

#include <cstdint>
#include <string>

#include "common/conv/layer.hpp"

namespace halo::peers {

enum class FftTiling { whole, tiled };

/// Bytes that a call may use: workspace and cuFFT's work area.
inline constexpr std::int64_t kMostFftBytes = std::int64_t{1} << 30;

struct FftPlan {
  int rows = 0;     // of a transform: products of 2, 3, 5 and 7, for which cuFFT has kernels
  int columns = 0;  // and even: a real transform of an even length is half a complex one
  int tiles_down = 1;
  int tiles_across = 1;
  int step_h = 0;  // outputs of a tile; the last may have fewer
  int step_w = 0;

  int images = 0;   // of a pass; the last may have fewer
  int filters = 0;  // of a pass; the last may have fewer
  // Planes (a tile of a channel, a channel of a filter, a tile of an output) that are transformed at
  // once.
  int image_planes = 0;
  int filter_planes = 0;
  int output_planes = 0;

  int tiles() const { return tiles_down * tiles_across; }
  /// Cells from one row of a plane to the next while it is real: room for its spectrum in place.
  int pitch() const { return 2 * (columns / 2 + 1); }
  /// Complex numbers of a plane's spectrum, all that a real plane needs.
  int frequencies() const { return rows * (columns / 2 + 1); }

  // The workspace's four parts, in complex numbers, each rounded up to 256 bytes.
  std::int64_t scratch = 0;         // planes while they are transformed, [plane][frequency]
  std::int64_t image_spectra = 0;   // [frequency][image of the pass][tile][C]
  std::int64_t filter_spectra = 0;  // [frequency][filter of the pass][C]
  std::int64_t output_spectra = 0;  // [frequency][image][tile][filter of the pass]
  std::int64_t workspace_floats() const {
    return 2 * (scratch + image_spectra + filter_spectra + output_spectra);
  }
};

/// Sets the plan, or says why there is none, as the end of a sentence. The workspace leaves as many
/// bytes as `scratch` takes to cuFFT.
std::string plan_fft(const conv::ConvLayer& layer, FftTiling tiling, FftPlan& plan);

/// The smallest number from `least` on, and from 2, that is a product of 2, 3, 5 and 7, and even if
/// that is asked for.
int fft_size(int least, bool even);

}  // namespace halo::peers
