// Inputs and filters of layers that make mistakes visible. As for signals (inputs.hpp): drawn from
// a seed by code of our own, the same numbers everywhere.
#pragma once

#include <cstdint>
#include <vector>

#include "common/conv/layer.hpp"

namespace halo::conv {

/// Adversarial data for a layer: input [N][C][H][W] and filters [K][C][R][S].
///
/// No value is zero, signs and magnitudes are mixed, and magnitudes are distinct among any 2^23
/// neighbours: no filter is symmetric, and no neighbour's value is the right one, across, down,
/// in the next channel, image or filter.
///
/// With L = C*R*S, the products of an output:
///   L <= 1448  a product that is left out or counted twice moves its output out of the bound,
///              whichever product it is and whatever the rounding of the others. As in 1D.
///   beyond     no data can do that: L products of equal size have a bound of L^2 * 2^-24 products.
///              The input then spans so many octaves that most products of an output hardly count.
///              One whose cell is among the largest (a share of 1 / octaves of the cells, 10 octaves
///              at L = 4608) still stands out; so a tap that is forgotten shows in some
///              outputs of a map, while a single forgotten product may not. Use exact data for
///              that.
///
/// With a repeat, image n equals image n - images and filter k equals filter k - filters; the first
/// ones are the same as without. Throws std::invalid_argument for a negative one.
std::vector<float> adversarial_input(const ConvLayer& layer, std::uint64_t seed,
                                     Repeat repeat = {});
std::vector<float> adversarial_filters(const ConvLayer& layer, std::uint64_t seed,
                                       Repeat repeat = {});

/// Whole numbers in float, none of them zero, such that each sum of products, in any order and with
/// any grouping, is a whole number of at most 2^24 and therefore exact: a correct output is equal
/// to the reference, to the last bit, and a wrong product anywhere shows (Demand::exact). Inputs
/// are within +-1000 and taps within +-16, less where L = C*R*S is large: L times the largest of
/// both stays within 2^24. Taps differ from those that a flip (r, s, or both), an exchange of r and
/// s, or the next channel or filter would bring to their place, unless L > 2^20 leaves too few
/// whole numbers for that.
///
/// Repeats as adversarial data.
std::vector<float> exact_input(const ConvLayer& layer, std::uint64_t seed, Repeat repeat = {});
std::vector<float> exact_filters(const ConvLayer& layer, std::uint64_t seed, Repeat repeat = {});

}  // namespace halo::conv
