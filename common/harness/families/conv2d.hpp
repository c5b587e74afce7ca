// The 2D family: convolution layers.
//
// The contract of all 2D stages is that of common/conv/layer.hpp: cross-correlation of NCHW images
// with any stride and padding, ghost cells are zero, every output is written. A variant of layout CHWN
// has its input as [C][H][W][N] and its output as [K][P][Q][N]; filters stay [K][C][R][S]. There is no
// copy in this family: input and output differ in size, so no copy of one onto the other moves what a
// layer must move. The machine's copy roof stands for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/harness/core/typed.hpp"
#include "common/harness/kernel.h"

namespace halo {

// One call of a variant. The arrays are in the backend's memory, 256-byte aligned.
struct Conv2dCall {
  conv::ConvLayer layer;
  const float* input = nullptr;    // [N][C][H][W]
  const float* filters = nullptr;  // [K][C][R][S]
  float* output = nullptr;         // [N][K][P][Q]
  float* workspace = nullptr;      // as many floats as workspace_floats says; null for 0
  const float* packed = nullptr;  // filters as Variant::pack left them; null where there is no pack
  bool overlaps = false;          // Variant::can_overlap
  void* stream = nullptr;         // a cudaStream_t; null: the default stream
  const float* bias = nullptr;    // [K]; Variant::adds_bias
  bool relu = false;
};

template <>
struct CallOf<conv::ConvLayer> {
  using Type = Conv2dCall;
};
using Conv2dVariant = Variant<conv::ConvLayer>;
using Conv2dStage = Stage<conv::ConvLayer>;

// In place of variant.hpp's.
inline std::string refusal_of_family(const About& variant, const conv::ConvLayer& layer) {
  const std::string why = variant.takes_groups ? "" : conv::refusal_of_groups(layer);
  return why.empty() && !variant.takes_dilation ? conv::refusal_of_dilation(layer) : why;
}

// A layer's numbers, and a call of it, as a kernel takes them that knows no dilation: with one std::logic_error is thrown.
// C and K are those of all groups, of which such a kernel hears elsewhere, if it takes them.
LayerNumbers numbers_of(const conv::ConvLayer& layer);
LayerCall kernel_call(const Conv2dCall& call);
// A problem's sizes, in the letters of tiles.
inline TileSizes sizes_of(const conv::ConvLayer& l) {
  return {l.N(), l.C(), l.K(), l.P(), l.Q(), l.N() * l.P() * l.Q()};
}

// Adds the variant that a kernel's file describes.
void add(Conv2dStage& stage, const char* name, const char* source, const LayerKernel& kernel);

template <>
std::vector<conv::ConvLayer> adversarial(std::uint64_t seed);

// What cuConv's authors printed for a layer, for Variant::published.
Published printed_by_cuconv(const conv::ConvLayer& layer);

// A layer's data that somebody gave: a picture and filters.
DatasetPtr conv2d_data(const conv::ConvLayer& layer, std::vector<float> input,
                       std::vector<float> filters);

}  // namespace halo
