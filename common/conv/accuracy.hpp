// How far a sum of products in float may be from the true value, and the judge that compares
// outputs with a reference. The tolerance is derived, not chosen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace halo::conv {

/// Unit roundoff of float: one rounded operation returns its exact result times (1 + d), |d| <= u.
inline constexpr double kUnitRoundoff = 0x1p-24;

/// gamma(L) = L*u / (1 - L*u), u = 2^-24, for a sum of `terms` = L products (Higham, Accuracy and
/// Stability of Numerical Algorithms, 2nd ed., section 3.1). Throws std::invalid_argument unless
/// 0 <= terms < 2^24.
double gamma(std::int64_t terms);

/// The largest error of a correct float sum of `terms` products whose absolute values add up to
/// `scale` (sum of |a||b|): gamma(terms) * scale + terms * 2^-150.
///
/// Why it holds in every order, with and without fma: whatever the order, a product goes through
/// one rounding of its own and through at most L-1 additions (adding to an initial zero is exact),
/// so it arrives multiplied by at most L factors (1 + d), |d| <= u, and the product of those is
/// within 1 +- gamma(L). An fma rounds once where multiply and add round twice, so it removes
/// factors and adds none. Fewer products (at a border) only make the true error smaller.
///
/// The second term is for products too small for a normal float: rounding to a subnormal number may
/// be off by half of the smallest one, 2^-150, instead of a share of the value. It matters for a
/// narrow Gaussian mask, whose outer weights underflow, and for nothing else. Where `scale` is zero
/// the bound is zero.
double error_bound(std::int64_t terms, double scale);

/// What the transforms of Winograd's method or of an FFT may add to error_bound:
/// 860 * u * largest_input * filter_sum, with the largest |input| of the image and sum|tap| of the
/// filter. It is normwise: a transform mixes all cells of a tile, so its error does not shrink where
/// the products are small, not even where an output is a sum of nothing but ghost cells.
///
/// Where 860 comes from. F(4x4, 3x3), the largest transform of Lavin & Gray ("Fast Algorithms for
/// Convolutional Neural Networks", section 4.2), computes one row of outputs as
/// A^T [(G g) . (B^T d)]. With inputs of 1 and taps that add up to 1, frequency i of G g is at most
/// max_r |G_ir|, that of B^T d at most sum_j |B^T_ij|, and both together reach output p as
///   sum over i of |A^T_pi| * max_r |G_ir| * sum_j |B^T_ij|,
/// largest for p = 3: 10/6 + 10/6 + 8*6/6 + 8*6/6 + 10 = 29.3. In two dimensions the factors
/// multiply: 29.3^2 = 860. So large, beside inputs and taps, are the numbers that are rounded.
/// F(2x2, 5x5) has the same points, so the same B^T; its largest is that of p = 1, with as much:
/// 10/6 + 10/6 + 2*(16/24)*6 + 2*(16/24)*6 + 10. F(2x2, 3x3) reaches 1 + 1 + 2, squared 16.
///
/// It is a limit and no theorem. That would be 860 * gamma(C + 30), one u for every rounding on the
/// way and all of them to the same side: with 512 channels wider than what TF32 loses, so that it
/// would tell nothing. Rounding errors of different steps and channels are independent, and tiles do
/// not hold the largest input with the worst sign in every cell, so the error of F(4x4, 3x3) stays
/// far below (the tests measure it). So does an FFT's: its root mean square is a few times
/// sqrt(log2 of a tile's cells) * u of the same product (Higham, chapter 24), 4 for 256 x 256 cells.
double transform_error(double largest_input, double filter_sum);

/// What an FFT adds beside, where the products of frequencies are those of tensor cores on factors in two parts
/// (tf32_split_bound): 10 v^2 * largest_input * filter_sum, v = 2^-10; that is 160 u.
///
/// Each of the real products of F and X, complex numbers of one frequency, is off by at most 3 v^2 of itself. Gauss's
/// three are a = Re F Re X, b = Im F Im X and c = (Re F - Im F)(Re X + Im X), of which a + b and c - a + b are the
/// product: |a| + |b| is at most |F||X| and |c| at most 2 |F||X|, so the two parts are off by 1 and 3 times 3 v^2
/// |F||X|, together by 3.2 times; four real products instead of three would lose less, 3 v^2 |F||X| in either part.
/// |F| is at most the sum of the filter's taps of that channel. |X| may be as much as all cells of the tile, but not
/// for all frequencies: squared and added up over the N of them it is N times the sum of the squares of the cells
/// (Parseval), so at most N^2 * largest_input^2. An output is a sum over the frequencies, divided by N. Errors of
/// different frequencies are independent, so their squares add up: to 3.2 * 3 v^2 * filter_sum * largest_input for the
/// root mean square of that sum, and channels are counted as if all of them erred to one side.
double transform_split_error(double largest_input, double filter_sum);

/// What tensor cores may lose beside a float sum, whose factors are rounded to TF32 and whose additions
/// are cut off: of `terms` products whose absolute values add up to `scale`, of normal numbers.
///
/// TF32 keeps 10 bits behind the leading one: a factor arrives within v = 2^-10 of itself (the hardware
/// may cut the other bits off; cvt.rna rounds, which is better), and a product of two such factors is
/// exact in float. So all products together are off by at most (2v + v^2) * scale. Fasi, Higham, Mikaitis
/// and Pranesh ("Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330, 2021) measured
/// that sums are truncated, not rounded, in blocks of products: an addition loses up to 2u instead of u.
/// Counted as twice as many roundings, gamma(2 * terms) * (1 + v)^2 * scale.
double tf32_bound(std::int64_t terms, double scale);

/// The same where each factor is the sum of two numbers of TF32, the second what the first one leaves, and
/// three of the four products are added up ("3xTF32" of NVIDIA's CUTLASS, example 27): both parts together
/// are within v^2 of the factor, and the product that is left out is at most v^2 of the whole. So
/// (3 v^2 (1 + v)^2) * scale, and gamma(6 * terms) * (1 + v)^2 * scale for three times as many additions.
double tf32_split_bound(std::int64_t terms, double scale);

/// What outputs are filled with before a launch: a quiet NaN with a payload that no arithmetic on
/// ordinary numbers produces. A cell that still holds it was never written.
inline constexpr std::uint32_t kPoisonBits = 0x7FC0DEADu;
float poison();
bool is_poison(float value);

/// What other memory holds that nobody has set: temporaries, and what lies beside arrays. Another
/// payload, which arithmetic carries on: an output that was computed from it was written.
inline constexpr std::uint32_t kUnsetBits = 0x7FC0BEEFu;
float unset();

enum class Fault {
  wrong,    // not within its bound; NaN and infinity among them
  missing,  // still the poison: never written
  stray,    // written although it should have been left alone
};

/// One output that failed.
struct Failure {
  std::int64_t index = 0;
  Fault fault = Fault::wrong;
  float found = 0;
  double expected = 0;  // meaningless for `stray`
  double bound = 0;
  double share = 0;  // |found - expected| / bound; infinity for NaN, missing and stray
};

/// The verdict on an output array, built cell by cell, in any order: it does not depend on it.
struct Comparison {
  std::int64_t compared = 0;  // cells judged, those that must stay untouched included
  std::int64_t failed = 0;
  std::int64_t missing = 0;  // of the failed
  std::int64_t stray = 0;    // of the failed
  double worst_share = 0;    // largest |found - expected| / bound; above 1 means failed
  std::int64_t worst_index = -1;
  std::int64_t first_failure = -1;
  std::vector<Failure> worst;  // the five worst failures, worst first, then by index

  /// A comparison of nothing has not passed.
  bool passed() const { return compared > 0 && failed == 0; }

  /// Fails unless |found - expected| <= bound, so NaN fails.
  void judge(std::int64_t index, float found, double expected, double bound);

  /// As judge for each of the neighbours first, first + 1, ..., with one expected value and one
  /// bound for each; fast where they are good.
  void judge_run(std::int64_t first, std::span<const float> found, const double* expected,
                 const double* bound);

  /// For each of the neighbours first, first + 1, ...: fails unless found is expected, bit for bit,
  /// whatever the bits mean.
  void judge_bits_run(std::int64_t first, std::span<const float> found, const float* expected);

  /// For each of the neighbours first, first + 1, ...: fails unless the two are equal as numbers
  /// (infinities too; the two zeros are) or both are NaN. A cell that was never written fails.
  void judge_equal_run(std::int64_t first, std::span<const float> found, const float* expected);

  /// Fails unless the cell still holds the poison, bit for bit.
  void judge_untouched(std::int64_t index, float found);

  /// As if all cells had been so much further on in the array.
  void move_by(std::int64_t cells);

  /// Adds what another part of the same array gave.
  void merge(const Comparison& other);

  /// "pass: 1000 outputs, worst error 0.41 of its bound" or, for a failure, a line with the counts
  /// and a line for each of the worst cells, each with how often its bound it is off. No newline at the
  /// end.
  std::string describe() const;

 private:
  void note(std::int64_t index, double share);
  void record(const Failure& failure);
};

}  // namespace halo::conv
