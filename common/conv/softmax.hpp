// Softmax as all stages mean it: the problem, its reference, the check of an output, and what the work
// costs at least. Nothing here knows of any device.
//
// For each image n of N and each category c of C, with m[n] = max over c of input[n][c],
//   output[n][c] = exp(input[n][c] - m[n]) / sum over c' of exp(input[n][c'] - m[n]).
// Li et al. (SC'16), section II, whose presenter's equations lost the exp.
//
// Arrays: input [N][C], output [N][C], float.
//
// At the edges of float: equal inputs give 1/C each; large ones (3e38) do not overflow, since the
// maximum is subtracted first; a category of -inf gives 0, exactly; a row of nothing but -inf, a row
// with +inf and a row with a NaN give NaN in every category, as the formula does (inf - inf).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/conv/accuracy.hpp"
#include "common/conv/conv1d.hpp"  // Demand

namespace halo::conv {

/// A softmax problem that has been validated.
class Softmax {
 public:
  /// Throws std::invalid_argument, in one line, for a number below 1, for more than kMaxLength cells,
  /// and for 2^24 categories or more (gamma bounds no longer sum).
  Softmax(std::int64_t images, std::int64_t categories);

  int N() const { return N_; }  // images
  int C() const { return C_; }  // categories
  std::int64_t input_size() const { return std::int64_t{N_} * C_; }
  std::int64_t output_size() const { return input_size(); }

  bool operator==(const Softmax&) const = default;

 private:
  int N_;
  int C_;
};

/// Images x categories: "128x1000".
std::string label(const Softmax& softmax);
/// The problem of such a name. Throws std::invalid_argument, in one line, for any other text, and as
/// the constructor.
Softmax parse_softmax(std::string_view text);

/// How many different kinds of input there are to try; kind 0 is the one that is timed.
int input_kinds(const Softmax& softmax);
/// From a seed. Kind 0: distinct values of both signs, as a network's last layer has them. Kind 1:
/// rows of the edge cases above, in turn: equal, large, some -inf, all -inf, +inf, NaN, and one large
/// value among small ones. Throws std::invalid_argument for another kind.
std::vector<float> make_input(const Softmax& softmax, int kind, std::uint64_t seed);

/// Judges the outputs of a softmax, in pieces of any size: each against the bound of softmax.cpp
/// (the rounding of the subtraction, of exp, within 2 ulp, of the sum in any order, and of a division
/// or of a product with the sum's reciprocal), NaN where the formula gives NaN, and exactly 0 for a
/// category of -inf. With Demand::exp2 the exp may be exp2f of a product with log2(e).
class SoftmaxChecker {
 public:
  /// Throws std::invalid_argument unless the input holds N*C values.
  SoftmaxChecker(const Softmax& softmax, std::span<const float> input,
                 Demand demand = Demand::bounded);
  /// Judges the outputs first, first + 1, ... of the flat [N][C]. May be called from several threads.
  /// Throws std::invalid_argument if there are no such outputs.
  Comparison judge(std::int64_t first, std::span<const float> outputs) const;

 private:
  Comparison judge_part(std::int64_t first, std::span<const float> outputs) const;

  // What the outputs of an image have in common. An output is exp(input - largest) * share; in float
  // its factor may be anything from least_share to most_share.
  struct Row {
    bool is_nan = false;  // then every output is
    float largest = 0;
    double share = 0;
    double least_share = 0;
    double most_share = 0;
  };

  Softmax softmax_;
  std::span<const float> input_;
  int exponent_roundings_;
  std::vector<Row> rows_;  // [N]
};

/// Bytes that must move even with a perfect cache: each cell read once and written once.
std::int64_t min_bytes(const Softmax& softmax);
/// A comparison, a subtraction, an exp, an addition and a division for each cell: 5 * N * C.
std::int64_t flops(const Softmax& softmax);

}  // namespace halo::conv
