// What Li et al., "Optimizing Memory Efficiency for Deep Convolutional Neural Networks on GPUs"
// (SC'16), evaluate beside convolution layers (those are the tables "sc16" and "sc16_sensitivity" of
// layer_table.hpp), and the figures that they publish.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/conv/layer.hpp"
#include "common/conv/layout.hpp"
#include "common/conv/pooling.hpp"
#include "common/conv/softmax.hpp"

namespace halo::data {

/// A problem of a list in which none stands twice.
template <class Problem>
struct Sc16Problem {
  std::string name;    // the paper's: "PL5", "CLASS1+CLASS2"; else one of ours
  std::string source;  // "Table 1, AlexNet"; "ours" for what the paper does not have
  Problem problem;
};

/// The pooling layers PL1 to PL10 of Table 1: maxima, without padding. The table does not say how it
/// rounds, but the next map of the network does: PL3 (24 to 12), PL8 (110 to 55) and PL9 (26 to 13) round
/// up, and PL4 with PL3, being of the same network. The others divide evenly.
const std::vector<Sc16Problem<conv::PoolingLayer>>& sc16_pooling();

/// The softmax layers CLASS1 to CLASS5 of Table 1 as part of the grid of 32, 64 and 128 images by 10,
/// 100, 1,000 and 10,000 categories (the paper's own grid, Fig. 13, is a figure whose points are not in
/// the text), and larger ones of ours.
const std::vector<Sc16Problem<conv::Softmax>>& sc16_softmax();

/// The transforms of Fig. 11, the inputs of CV1 to CV12, from CHWN to NCHW and back, and larger ones of
/// ours, about 256 MB each: batches of 32, 64, 128 and 256 images, and of 100, no multiple of 32.
const std::vector<Sc16Problem<conv::Transform>>& sc16_transforms();

/// The problem of that name, of one of the three lists; of transforms the first, CHWN to NCHW. Throws
/// DataError, one line that names those there are.
template <class Problem>
const Problem& sc16_problem(const std::vector<Sc16Problem<Problem>>& problems,
                            std::string_view name);

}  // namespace halo::data
