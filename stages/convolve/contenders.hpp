// The kernels that the dispatcher chooses among, each as its stage runs it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/harness/families/conv2d.hpp"
#include "common/planning/convolution_rule.hpp"

namespace halo::convolve {

/// A contender's variant, on NCHW maps; same place as in contenders(products).
struct Bound {
  std::string stage;  // 06_conv2d_direct
  Conv2dVariant variant;
};

/// What the chosen kernel may multiply with.
enum class Products {
  fp32,
  split_tf32,  // and with tensor cores, each factor in two parts of TF32: nearly float's accuracy
};

/// The course's own kernels as the papers have them: filter_group of stage 06, which takes nearly every
/// layer; stride_fixed_32 and stride_fixed_64 of stage 08; two_stage of stage 09.
std::vector<planning::Contender> paper_contenders();

/// All contenders of the kind. One that is added is known to the rule once that is fitted again; until then it is chosen
/// only where no other takes the layer.
const std::vector<planning::Contender>& contenders(Products products);
const std::vector<Bound>& bound(Products products);

/// What may follow the sums in the same kernel.
enum class Epilogue { none, bias_relu };

/// How one is chosen where the present GPU's rule has not measured the layer.
enum class Choice {
  rule,      // by the rule's models
  measured,  // by measuring those that the models expect to be fastest (first_use.hpp)
};

/// One that takes the layer, whether the rule has it as the fastest that was measured, and what it multiplies on.
struct Ranked {
  const Bound* bound;
  bool is_measured;
  bool on_tensor_cores;
};

/// All that take the layer on the present GPU, the one that its rule chooses first. With an epilogue those that have it (the
/// rule was fitted to times without, but a bias in the kernel costs next to nothing). Throws std::runtime_error, in one line,
/// if there is no GPU.
std::vector<Ranked> ranked(const conv::ConvLayer& layer, Products products,
                           Epilogue epilogue = Epilogue::none);

/// Of those, the first `most` without tensor cores, then the first `most` on them: what is worth measuring.
std::vector<const Bound*> nearest(std::span<const Ranked> ranked, int most);

/// The chosen one; null: none takes the layer. Throws as `ranked`.
const Bound* chosen(const conv::ConvLayer& layer, Products products,
                    Epilogue epilogue = Epilogue::none, Choice choice = Choice::rule);

}  // namespace halo::convolve
