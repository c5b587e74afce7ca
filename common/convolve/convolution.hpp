// Convolution layers for programs of your own: which kernel, with which tiles, is chosen by a rule that was
// fitted to measured times.
//
//   const halo::Convolution layer(halo::conv::parse_label("56-1-3-64-64"));
//   float* packed;     // layer.packed_floats() floats on the device, for as long as the filters are used
//   float* workspace;  // layer.workspace_floats(), for one call at a time; null for 0
//   layer.pack(filters, packed);
//   layer.launch(input, packed, output, workspace, stream);
//
// Link with convolution_dep.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/conv/layer.hpp"
#include "common/convolve/choice.hpp"

namespace halo {

/// The plan of one layer on the present GPU. All arrays are in its memory, 256-byte aligned; sums are added in
/// a fixed order. A plan does not change: several threads may use it.
class Convolution {
 public:
  /// Chooses, among kernels that multiply in float throughout, or also among those on tensor cores (Products,
  /// in choice.hpp); with Epilogue::bias_relu among those that add a bias and apply ReLU before they store.
  /// A layer that nobody has measured on such a GPU is measured now, unless Choice::rule says no (first_use.hpp).
  /// With Calls::packing the one that is the fastest with its packing. With Calls::overlapping a launch begins while the one
  /// before it in the stream ends, and waits for it before it reads the input; what is packed, and the bias, it reads at
  /// once: the launch before it must not have written them.
  /// Throws std::invalid_argument if no kernel takes the layer, std::runtime_error if there is no GPU; each in one line.
  explicit Convolution(const conv::ConvLayer& layer,
                       convolve::Products products = convolve::Products::fp32,
                       convolve::Epilogue epilogue = convolve::Epilogue::none,
                       convolve::Choice choice = convolve::Choice::measured,
                       convolve::Calls calls = convolve::Calls::packed);
  /// Among these, which are to stay: the library's and those that a caller adds.
  Convolution(const conv::ConvLayer& layer, const convolve::Contenders& among,
              convolve::Epilogue epilogue = convolve::Epilogue::none,
              convolve::Choice choice = convolve::Choice::measured,
              convolve::Calls calls = convolve::Calls::packed);

  const conv::ConvLayer& layer() const;
  /// What was chosen: the name that `halo bench` has for it.
  const std::string& kernel() const;

  /// What `pack` writes. With Calls::packing it may be 0: the kernel reads the filters as they are, so `launch` is given
  /// them, and `pack` does nothing. Else at least 1.
  std::int64_t packed_floats() const;
  /// Temporaries of a call; what they hold before it does not matter.
  std::int64_t workspace_floats() const;

  /// Puts filters [K][C][R][S] into the order that the kernel reads them in, once for any number of launches,
  /// on the default stream: synchronise before launching on another. Returns a CUDA error code.
  int pack(const float* filters, float* packed) const;

  /// input [N][C][H][W], packed as `pack` left it, output [N][K][P][Q]; `stream` is a cudaStream_t, null: the
  /// default stream. Does not wait. Returns a CUDA error code.
  int launch(const float* input, const float* packed, float* output, float* workspace,
             void* stream = nullptr) const;
  /// With Epilogue::bias_relu: bias[k] is added to all outputs of filter k (null: nothing is), and then, with
  /// `relu`, what is negative becomes 0; NaN stays NaN. Without that epilogue cudaErrorNotSupported.
  int launch(const float* input, const float* packed, const float* bias, bool relu, float* output,
             float* workspace, void* stream = nullptr) const;

 private:
  struct Plan;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace halo
