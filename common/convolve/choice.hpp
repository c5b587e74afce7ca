// The kernels that a layer's is chosen among, and the choice.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/convolve/rule.hpp"
#include "common/harness/families/conv2d.hpp"

namespace halo::convolve {

/// What the chosen kernel may multiply with.
enum class Products {
  fp32,
  split_tf32,  // and with tensor cores, each factor in two parts of TF32: nearly float's accuracy
};

/// Kernels to choose among.
struct Contenders {
  Products products;
  std::vector<Contender> contenders;
  std::vector<Conv2dVariant> variants;  // that run them, in the same order, on NCHW maps

  /// The variant is that of the contender's name, of those given. One that needs tensor cores is left out where `products` are
  /// without. One that is added is known to the rule once that is fitted again; until then it is chosen only where no
  /// other takes the layer. Throws std::logic_error if there is no such variant, or if it cannot be chosen.
  void add(const Contender& contender, const std::vector<Conv2dVariant>& of);
};

/// Those of all methods in this folder. On a GPU without clusters there are layers that none of them takes.
const Contenders& library(Products products);

/// What may follow the sums in the same kernel.
enum class Epilogue { none, bias_relu };

/// How one is chosen where the present GPU's rule has not measured the layer.
enum class Choice {
  rule,      // by the rule's models
  measured,  // by measuring those that the models expect to be fastest (first_use.hpp)
};

/// One that takes the layer, whether the rule has it as the fastest that was measured, and what it multiplies on.
struct Ranked {
  const Conv2dVariant* variant;
  bool is_measured;
  bool on_tensor_cores;
};

/// All that take the layer on the present GPU, the one that its rule chooses first. With an epilogue those that have it (the
/// rule was fitted to times without, but a bias in the kernel costs next to nothing). Where each call packs, what packing
/// takes by its bytes is added to times by models. Throws std::runtime_error, in one line, if there is no GPU.
std::vector<Ranked> ranked(const conv::ConvLayer& layer, const Contenders& among,
                           Epilogue epilogue = Epilogue::none, Calls calls = Calls::packed);

/// Of those, the first `most` without tensor cores, then the first `most` on them: what is worth measuring.
std::vector<const Conv2dVariant*> nearest(std::span<const Ranked> ranked, int most);

/// The chosen one; null: none takes the layer. `among` is to stay. Throws as `ranked`.
const Conv2dVariant* chosen(const conv::ConvLayer& layer, const Contenders& among,
                            Epilogue epilogue = Epilogue::none, Choice choice = Choice::rule,
                            Calls calls = Calls::packed);

}  // namespace halo::convolve
