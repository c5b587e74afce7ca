// Whether a library computes a layer in true fp32. Private to the peers; knows nothing of any device.
//
// Its outputs' bound can't tell. For the 4608 products of a 3x3 layer with 512 channels it is 2.7e-4
// of the sum of their absolute values. Factors that were rounded to TF32 make each product wrong by up
// to 2^-10, but to either side, so that the sum is off by far less than that; and what a transform may
// add is more again (common/conv/accuracy.hpp). On random data the errors themselves tell: those of
// fp32 cancel as well.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/conv/layer.hpp"

namespace halo::peers {

/// The largest relative root mean square error, ||found - true|| / ||true||, of what counts as true
/// fp32: 2^-16, 1.5e-5. On normal data a sum in fp32 is off by 1e-7 to 1e-6, Winograd's F(4x4, 3x3)
/// and an FFT in fp32 by 1e-6 to 1e-5; factors rounded to TF32 (10 bits behind the point) make it
/// 3e-4, to half precision the same, to bfloat16 2e-3.
inline constexpr double kTrueFp32 = 0x1p-16;

/// The largest one of what counts as TF32: 2^-10, 1e-3. bfloat16 is beyond it.
inline constexpr double kTf32 = 0x1p-10;

/// Whether cuDNN in TF32 is to stand beside the peers in true fp32: HALO_CUDNN_TF32=1 in the environment.
bool tf32_is_asked_for();

/// Libraries that start after this leave TF32 alone, whatever their defaults say; unless it was asked for: then
/// what each peer sets, and the errors, must do.
void forbid_tf32();

/// Data for a layer, and what some of its outputs should be.
class Fp32Sample {
 public:
  /// Nearly normal data (sums of four uniform numbers, 18 bits each, so that TF32 must round them),
  /// the same in each program. They take some milliseconds, or as long as it takes to copy one image
  /// and the filters.
  explicit Fp32Sample(const conv::ConvLayer& layer);

  /// One image [C][H][W]: every image of the batch is to be this one.
  std::span<const float> image() const { return image_; }
  /// [K][C][R][S].
  std::span<const float> filters() const { return filters_; }

  /// The outputs that are compared: 0, step, 2 * step ... of the flat [N][K][P][Q], some 600 of them
  /// (all, if the layer has no more than 1024), over all rows, columns and filters.
  std::int64_t step() const { return step_; }
  std::int64_t count() const { return static_cast<std::int64_t>(expected_.size()); }

  /// ||found - true|| / ||true|| of those outputs; NaN and missing ones give NaN, which is not <=
  /// kTrueFp32. If all of them should be zero, 0 for zeros and infinity for others. With `relu` the
  /// negative ones should have become 0.
  double relative_error(std::span<const float> found, bool relu = false) const;

 private:
  std::vector<float> image_;
  std::vector<float> filters_;
  std::int64_t step_ = 1;
  std::vector<double> expected_;
};

}  // namespace halo::peers
