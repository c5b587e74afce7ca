// Inputs that make mistakes visible. Everything is drawn from a seed by code of our own, so the
// same seed gives the same numbers with every compiler and standard library.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "common/conv/conv1d.hpp"

namespace halo::conv {

/// Random whole numbers. The engine is defined bit by bit by the C++ standard; its distributions
/// are not, so we have our own.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  /// 64 random bits.
  std::uint64_t bits() { return engine_(); }
  /// A number in [0, count), all equally likely. Throws std::invalid_argument if count is 0.
  std::uint64_t below(std::uint64_t count);

 private:
  std::mt19937_64 engine_;
};

/// A period for inputs of many millions of cells, which a Checker can then judge at the speed of
/// memory. Prime and larger than any tile: a shift by tiles, by blocks or by an index that wrapped
/// round at a power of two is not a multiple of it, so it still brings a wrong value.
inline constexpr std::int64_t kPeriod = 1'048'573;

/// Adversarial data for a problem: input [N] and mask [W].
///
/// No value is zero, signs and magnitudes are mixed. Magnitudes are distinct: all of the mask's,
/// and among any 2^23 neighbours of the input. So a mask is never symmetric, and a neighbour's
/// value is never the right one. Magnitudes lie in [2^-k, 1) with k from 10 (narrow masks) down to
/// 1 (the widest): as wide as the spread may be so that a single product that is left out of an
/// output, or counted twice, moves it out of its error bound, whichever product it is.
///
/// With a period above 0, input[i] == input[i + period], and the first period is the same as
/// without. Throws std::invalid_argument for a negative one.
std::vector<float> adversarial_input(const Problem1d& problem, std::uint64_t seed,
                                     std::int64_t period = 0);
std::vector<float> adversarial_mask(const Problem1d& problem, std::uint64_t seed);

/// Whole numbers in float, none of them zero, such that each sum of products, in any order and with
/// any grouping, is a whole number of at most 2^24 and therefore exact: a correct output is equal
/// to the reference, to the last bit. Inputs are within +-1000, taps within +-16, and mask[j] !=
/// mask[W-1-j].
std::vector<float> exact_input(const Problem1d& problem, std::uint64_t seed);
std::vector<float> exact_mask(const Problem1d& problem, std::uint64_t seed);

}  // namespace halo::conv
