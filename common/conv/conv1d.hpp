// 1D convolution as all stages mean it: the problem, its reference in double precision, the check
// of an output, and what the work costs at least. Nothing here knows of any device.
//
// With N the length, W the (odd) mask width and h = (W - 1) / 2 the halo,
//   output[i] = sum over j of input[i - h + j] * mask[j],   0 <= j < W,
// a cross-correlation of the 'same' size: the mask is not flipped. Cells beyond the ends are zero,
// and every output is written (Border::zero). The mask may be longer than the signal.
//
// Arrays: input [N] float, mask [W] float, output [N] float.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/limits.hpp"

namespace halo::conv {

/// What happens at the two ends.
///   zero    the contract of all stages: cells beyond the ends are zero, every output is written.
///   report  as the listings of the BU report (Codes 1, 2, 3 and 5): the first and last h outputs
///           are neither computed nor written and keep what they held. The check presets every cell
///           to the poison and demands it back there; an output that is saved has zeros there, as
///           in the report's Figure 1 (see zero_uncomputed).
enum class Border { zero, report };

/// "zero", "report".
const char* to_string(Border border);
/// The opposite; throws std::invalid_argument for other words.
Border parse_border(std::string_view text);

/// Throws std::invalid_argument, in one line, unless the width is odd and in [1, kMaxMaskWidth].
void require_mask_width(std::int64_t width);

/// A problem that has been validated: an object of this type is always within the limits.
class Problem1d {
 public:
  /// Throws std::invalid_argument, in one line, for a length that is not in [1, kMaxLength], for a
  /// mask width that is even or not in [1, kMaxMaskWidth], and, with Border::report, for a mask
  /// longer than the signal, since no output at all would be computed. With Border::zero a longer
  /// mask is a normal case.
  Problem1d(std::int64_t length, std::int64_t mask_width, Border border = Border::zero);

  std::int64_t length() const { return length_; }  // N, cells
  int mask_width() const { return mask_width_; }   // W, taps
  Border border() const { return border_; }

  /// Cells that an output needs on each side: (W - 1) / 2. (Not ceil(W / 2), which is one more.)
  int halo() const { return (mask_width_ - 1) / 2; }

  /// The outputs that are computed: [first_output, end_output). All with Border::zero, [h, N - h)
  /// with Border::report.
  std::int64_t first_output() const { return border_ == Border::zero ? 0 : halo(); }
  std::int64_t end_output() const { return border_ == Border::zero ? length_ : length_ - halo(); }

  bool operator==(const Problem1d&) const = default;

 private:
  std::int64_t length_;
  int mask_width_;
  Border border_;
};

/// Throws std::invalid_argument, in one line, unless input holds N values and mask W, all finite
/// and so small that no sum can overflow float (max|input| * sum|mask| stays below the largest
/// float).
void require_data(const Problem1d& problem, std::span<const float> input,
                  std::span<const float> mask);

/// The true outputs, as near as double gives them, and sum|a||b| for each; both [N]. Outputs that
/// Border::report leaves alone are 0 in both.
struct Reference {
  std::vector<double> value;
  std::vector<double> scale;
};

/// A plain loop in double. A product of two floats is exact in double (24 + 24 <= 53 bits), so only
/// the W - 1 additions round, each within 2^-53: at W = 1023 the sum is off by less than 2^-29 of
/// the bound. That needs no term of its own in the bound. gamma(L) overestimates the worst float
/// sum by more than L^2/2 * 2^-48 of the scale, the reference is off by less than L * 2^-53 of it.
/// Throws as require_data.
Reference reference(const Problem1d& problem, std::span<const float> input,
                    std::span<const float> mask);

/// What an output is held to.
enum class Demand {
  // |output - reference| <= error_bound(L, sum|a||b|), L the products that belong to the output: W,
  // fewer at the ends. (Multiplying by a zero that stands for a missing cell rounds nothing.)
  bounded,
  // Equal as numbers: for exact_input and exact_mask, whose sums do not round.
  exact,
  // Within the bound of the sum and what a transform (Winograd, FFT) adds to it, transform_error.
  transformed,
  // Within what tensor cores lose: tf32_bound, tf32_split_bound.
  tf32,
  tf32_split,
  // A transform whose products are those of tensor cores on factors in two parts: tf32_split_bound and what a transform
  // adds, and transform_split_error.
  transformed_split,
  // For softmax only (softmax.hpp): exp2f(x * log2(e)) where others have expf(x).
  exp2,
};

/// Which arithmetic a bound is about, in words that follow "the bound of": "products and sums in float,
/// in any order".
std::string arithmetic_of(Demand demand);

/// What a transform adds to an output's bound, from the largest |input| of its image and sum|tap| of its filter; 0 where
/// there is no transform, and nobody needs to look for them.
bool is_transform(Demand demand);
double added_by_transform(Demand demand, double largest_input, double filter_sum);

/// Whether products are those of tensor cores on factors in two parts: nearly float's accuracy.
bool is_split(Demand demand);

/// The bound of one output, a sum of `terms` products whose absolute values add up to `scale`. `added`
/// is what a transform adds, if it is one.
double sum_bound(Demand demand, std::int64_t terms, double scale, double added);

/// Judges the outputs of one problem, in pieces of any size, so that a billion of them need not be
/// in memory at once: each computed output against its bound, each of the others against the poison
/// that it was filled with. Every output is compared, and the verdict does not depend on the pieces,
/// on the threads (several are used where there is enough to do) or on the period.
class Checker {
 public:
  /// Keeps views of input [N] and mask [W], which must outlive it.
  ///
  /// Without a period each reference is computed when it is asked for: W products an output. With
  /// one the input must repeat: input[i] == input[i + period]. Then the outputs do as well, away
  /// from the ends, and the references of one period are computed here, in 16 bytes of memory each:
  /// judging then takes as long as reading the outputs.
  ///
  /// Throws std::invalid_argument as require_data, for a negative period and for an input that does
  /// not repeat.
  Checker(const Problem1d& problem, std::span<const float> input, std::span<const float> mask,
          Demand demand = Demand::bounded, std::int64_t period = 0);

  /// Judges the outputs first, first + 1, ... May be called from several threads. Throws
  /// std::invalid_argument if the problem has no such outputs.
  Comparison judge(std::int64_t first, std::span<const float> outputs) const;

 private:
  void expect(std::int64_t first, std::int64_t count, double* value, double* bound) const;
  Comparison judge_part(std::int64_t first, std::span<const float> outputs) const;

  Problem1d problem_;
  std::span<const float> input_;
  std::span<const float> mask_;
  Demand demand_;
  double transform_error_ = 0;  // with a transform
  // Of one period of outputs, from output h on; empty without one.
  std::vector<double> value_;
  std::vector<double> bound_;
};

/// Judges a whole output [N] at once. Throws std::invalid_argument as Checker and if output does
/// not hold N values.
Comparison check(const Problem1d& problem, std::span<const float> input,
                 std::span<const float> mask, std::span<const float> output,
                 Demand demand = Demand::bounded);

/// Sets the outputs that Border::report leaves alone to 0; does nothing with Border::zero. For an
/// output [N] that is to be saved, after its check.
void zero_uncomputed(const Problem1d& problem, std::span<float> output);

/// Products that belong to the computed outputs: pairs of a tap and a cell that exists. W*N without
/// the ones that fall beyond the ends.
std::int64_t products(const Problem1d& problem);

/// Floating-point operations: two (a multiply, an add) for each product.
std::int64_t flops(const Problem1d& problem);

/// Bytes that must move even with a perfect cache: each input and each tap read once, each computed
/// output written once, 4 bytes each.
std::int64_t min_bytes(const Problem1d& problem);

}  // namespace halo::conv
