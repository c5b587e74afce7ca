// Kernels of all stages and libraries in one form: something that can be priced, launched and predicted,
// whatever it computes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/harness/families/conv2d.hpp"
#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"
#include "common/network/graph.hpp"

namespace halo::network {

// The arrays of one layer among several that a kernel computes.
struct LayerArrays {
  const float* filters = nullptr;  // [K][C][R][S]
  const float* bias = nullptr;     // [K]
  float* output = nullptr;
};

// The arrays of one launch, in the backend's memory. What a kernel has no use for is null.
struct Arrays {
  const float* input = nullptr;
  const float* filters = nullptr;  // [K][C][R][S]
  const float* bias = nullptr;     // [K]
  float* output = nullptr;
  float* workspace = nullptr;
  const float* packed = nullptr;            // the filters, as Kernel::pack left them
  std::vector<LayerArrays> of_layers = {};  // Kernel::of_layers
  bool overlaps = false;  // it may begin before the launch before it has ended; Kernel::can_overlap
};

// A kernel bound to the problem that it is to compute. One that adds_bias applies ReLU too; one that can_overlap heeds
// Arrays::overlaps.
struct Kernel : Preparation {
  std::string stage;    // 06_conv2d_direct
  std::string problem;  // 28-128-5-16-1: what it computes, different for different problems
  conv::Layout from = conv::Layout::nchw;  // of what it reads
  conv::Layout to = conv::Layout::nchw;    // of what it writes: another one for a transform only
  std::int64_t input_floats = 0;
  std::int64_t filters_floats = 0;
  std::int64_t bias_floats = 0;
  std::int64_t output_floats = 0;
  bool in_place = false;  // it changes `output` and reads no input
  // Of a kernel of several layers: the floats of each, in their order. Those above are of its input and workspace only.
  struct Floats {
    std::int64_t filters, bias, output;
  };
  std::vector<Floats> of_layers = {};
  // Once before the launches, if packed_floats is not 0; returns a CUDA error code.
  std::function<int(const Arrays&, float* packed)> pack;
  std::function<int(const Arrays&)> launch;  // returns a CUDA error code
};

/// "06 filter_group", "cudnn".
std::string short_name(const Kernel& kernel);

// Bias and ReLU, in place, on images of either layout.
struct BiasRelu {
  conv::Images images;
  conv::Layout layout;
  bool relu;
};
// Those that compute no single problem of a family: what `prepare` leaves out of About is theirs.
struct BiasReluVariant : About {
  std::function<Kernel(const BiasRelu&)> prepare;
};

// A library's convolution that adds bias and ReLU before it writes, and chooses for both. (A kernel of ours says
// adds_bias.) It fills About itself.
struct FusedVariant {
  std::function<Prepared<conv::ConvLayer>(const conv::ConvLayer&, bool relu)> prepare;
};

// Several layers of a network in one kernel, each of which reads what the one before it writes. It leaves each layer's
// outputs, in NCHW.
struct SeveralVariant : About {
  std::function<Kernel(const std::vector<Layer>&)> prepare;
};

// All that a network may be built of, of one maker. Each entry with the stage it is from.
struct Catalogue {
  template <class Variant>
  using List = std::vector<std::pair<std::string, Variant>>;

  std::string maker;  // "halo", "cuDNN"
  // Whether kernels on tensor cores may be taken too, if they have nearly float's accuracy (conv::is_split).
  bool takes_split = false;
  List<Conv2dVariant> convolutions;
  List<FusedVariant> fused;  // convolutions and fully connected layers
  List<Conv2dVariant> fully_connected;
  List<PoolingVariant> pooling;
  List<SoftmaxVariant> softmax;
  List<TransformVariant> transforms;
  List<BiasReluVariant> bias_relu;
  List<SeveralVariant> several;

  template <class Variant>
  static void add(List<Variant>& list, const std::string& stage,
                  const std::vector<Variant>& variants) {
    for (const Variant& variant : variants) list.emplace_back(stage, variant);
  }
};

/// Makes a catalogue, once for each layer of a network: a library's object may keep what it prepared for one
/// layer, the last.
using MakeCatalogue = std::function<Catalogue()>;

/// The kernels of the catalogue that can compute the layer, in any layout; those that can add the bias do. Left out are variants that
/// cannot run here or refuse the problem; that keep their filters in constant memory, which all layers
/// of a chain would have to share; that multiply on tensor cores, unless Catalogue::takes_split; and that only choose
/// another one (the plan chooses itself).
std::vector<Kernel> kernels_for(const Catalogue& catalogue, const Layer& layer);
/// The same for bias and ReLU behind it.
std::vector<Kernel> bias_kernels_for(const Catalogue& catalogue, const Layer& layer,
                                     conv::Layout layout);
/// Kernels of the layers from `first` on together, two or more, in NCHW.
std::vector<Kernel> several_kernels_for(const Catalogue& catalogue,
                                        const std::vector<Layer>& layers, std::size_t first);
std::vector<Kernel> transforms_for(const Catalogue& catalogue, const conv::Images& images,
                                   conv::Layout from);

/// Whether both layouts are one and the same array: a single image, or images of one cell.
bool same_memory(const conv::Images& images);

}  // namespace halo::network
