#include "common/conv/softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "common/conv/conv1d.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/internal.hpp"
#include "common/conv/labels.hpp"

// The bound. With u = 2^-24, m the row's largest input, d = x - m <= 0, e = exp(d), S the row's sum of
// e, and all these the true values, a kernel computes in float:
//
//   d' = d (1 + d1),  |d1| <= u. A difference has no underflow of its own: where it is that small it
//     is exact. Beyond the range of float it is -inf, which the last point covers.
//   e' = exp(d') (1 + d2) + t,  |d2| <= 4u, |t| <= 2^-148. CUDA documents expf, without fast-math, at
//     1 or 2 ulp (it depends on the version); one ulp is at most 2u of the value, and 2^-149 where
//     the value is subnormal. glibc's expf stays below 1 ulp. Since exp(d') = e * exp(d d1),
//       |e' - e| <= a = e (exp(|d| u) (1 + 4u) - 1) + 2^-147.
//     For d < -104, e < 2^-150 and exp(d') < 2^-149: there the last term alone is enough, so |d| may
//     be taken for 104 at most.
//     With exp2f(d' * L), L = log2(e) in float, the exponent is rounded three times: the difference, L
//     (within 0.3u) and the product. CUDA documents exp2f at 2 ulp, so the rest is the same with 3u for
//     the u of exp(|d| u). (Subtracting after the products, as in exp2f(x * L - m * L), rounds m * L: for
//     large m the exponent is off by more than any bound of this kind, and 3e38 * L is infinite.)
//   S' = sum of e' in any order. All are positive, so each addition multiplies by (1 + d3), |d3| <= u,
//     and a term goes through at most C - 1 of them. With A = sum of a,
//       (S - A) (1 - u)^(C-1) <= S' <= (S + A) (1 + u)^(C-1).
//     (The factors instead of gamma(C - 1), which is useless for millions of categories.)
//   y' = e' / S', or e' * (1 / S'): at most two roundings, and 2^-150 where the quotient is subnormal.
//
// Together
//   (e - a) (1 - u)^2 / ((S + A) (1 + u)^(C-1)) - 2^-150 <= y' <=
//   (e + a) (1 + u)^2 / ((S - A) (1 - u)^(C-1)) + 2^-150,
// and the bound is the larger distance of the two from y = e / S. A category of -inf has e' = 0 exactly,
// in any arithmetic, and so has its output. The reference's own rounding, in double, is added: 2^-48 of
// e (exp within an ulp, d within 2^-53 of at most 104), and C * 2^-53 more of S.

namespace halo::conv {

namespace {

constexpr std::uint64_t kSoftmaxStream = 0xe7037ed1a0b428dbu;
constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// Categories judged at a time.
constexpr std::int64_t kSoftmaxChunk = 1024;

// What an exp costs beside a product, so that work is shared out well.
constexpr std::int64_t kProductsPerExp = 8;

// e and a for the difference d <= 0.
struct Exponential {
  double value;
  double error;
};

// `roundings` of the exponent.
Exponential exponential(double d, int roundings) {
  constexpr double kExpUlps = 4 * kUnitRoundoff;
  constexpr double kReference = 0x1p-48;
  constexpr double kSmallest = 0x1p-147;
  const double value = std::exp(d);
  const double x = std::min(-d, 104.0) * kUnitRoundoff * roundings;
  const double grown = x + x * x;  // exp(x) - 1 is less, for x <= 1
  return {value, value * (grown + kExpUlps * (1 + grown) + kReference) + kSmallest};
}

}  // namespace

Softmax::Softmax(std::int64_t images, std::int64_t categories) {
  constexpr const char* kWhose = "a softmax's";
  internal::require_at_least(kWhose, "N (images)", images, 1);
  internal::require_at_least(kWhose, "C (categories)", categories, 1);
  internal::require_elements("input", "N x C", {images, categories});
  if (categories >= 1 << 24) {
    throw std::invalid_argument("a sum over C = " + std::to_string(categories) +
                                " categories; beyond " + std::to_string((1 << 24) - 1) +
                                " nothing can be said of its rounding in float");
  }
  N_ = static_cast<int>(images);
  C_ = static_cast<int>(categories);
}

std::string label(const Softmax& softmax) {
  return std::to_string(softmax.N()) + "x" + std::to_string(softmax.C());
}

Softmax parse_softmax(std::string_view text) {
  internal::LabelReader label(text, "names no softmax: it is images x categories, as 128x1000");
  std::int64_t images = 0;
  std::int64_t categories = 0;
  if (text.find('x') == std::string_view::npos) throw label.error();
  label.pair(images, categories);
  label.end();
  return Softmax(images, categories);
}

int input_kinds(const Softmax&) { return 2; }

std::vector<float> make_input(const Softmax& softmax, int kind, std::uint64_t seed) {
  internal::require_kind(kind, input_kinds(softmax));
  const auto stream = (seed ^ kSoftmaxStream) + static_cast<std::uint64_t>(kind);
  std::vector<float> cells =
      adversarial_input(Problem1d(softmax.input_size(), kMaxMaskWidth), stream);
  Random random(stream + 1);
  // Magnitudes from 1/2 to 16: in a thousand categories, some dozens share most of the sum.
  constexpr float kScale[] = {16, 8, 4, 2};
  // Neighbouring images differ in this besides, or the sums of many categories would be nearly alike.
  constexpr float kScaleOfImage[] = {1, 0.5f, 0.75f, 0.625f};
  if (kind == 0) {
    std::size_t at = 0;
    for (int n = 0; n < softmax.N(); ++n) {
      for (int c = 0; c < softmax.C(); ++c, ++at) {
        cells[at] *= kScale[random.bits() >> 62] * kScaleOfImage[n % 4];
      }
    }
    return cells;
  }
  const auto categories = static_cast<std::size_t>(softmax.C());
  const std::uint64_t turn = random.below(7);
  for (std::size_t n = 0; n < static_cast<std::size_t>(softmax.N()); ++n) {
    const std::span<float> row = std::span(cells).subspan(n * categories, categories);
    // The row's one special place: the last, the first, or any.
    const std::size_t place = n / 7 % 3 == 0   ? categories - 1
                              : n / 7 % 3 == 1 ? 0
                                               : random.below(categories);
    switch ((n + turn) % 7) {
      case 0:  // equal, and so far below 0 (or above) that exp of it is 0 (or infinite)
        std::fill(row.begin(), row.end(), (n / 7 % 2 == 0 ? -300 : 300) * std::fabs(row[0]));
        break;
      case 1:  // large: of both signs, several of them the largest
        for (float& cell : row) {
          cell = random.below(4) == 0 ? 3e38f : std::copysign(3e38f, cell) * std::fabs(cell);
        }
        break;
      case 2:  // some -inf, but not all
        for (float& cell : row) {
          if (random.below(3) == 0) cell = -kInfinite;
        }
        row[place] = 0.5f;
        break;
      case 3:  // nothing but -inf
        std::fill(row.begin(), row.end(), -kInfinite);
        break;
      case 4:
        row[place] = kInfinite;
        break;
      case 5:
        row[place] = kNaN;
        break;
      case 6:  // one large among small: nearly 1 there
        // What the others have underflows in part; or just not, where rounding the exponent does most harm:
        // magnitudes are from 1/2 to 1, and the last bits are such that the difference is rounded too.
        for (float& cell : row) {
          cell = n / 7 % 2 == 0 ? 90 * cell : static_cast<float>(60 - 86.0 * std::fabs(cell));
        }
        row[place] = 60;
        break;
    }
  }
  return cells;
}

SoftmaxChecker::SoftmaxChecker(const Softmax& softmax, std::span<const float> input, Demand demand)
    : softmax_(softmax), input_(input), exponent_roundings_(demand == Demand::exp2 ? 3 : 1) {
  internal::require_size("input", input.size(), softmax.input_size());
  rows_.resize(static_cast<std::size_t>(softmax.N()));
  const auto categories = static_cast<std::size_t>(softmax.C());
  // (1 - u)^(C-1) and (1 + u)^(C-1).
  const double less = std::exp(static_cast<double>(softmax.C() - 1) * std::log1p(-kUnitRoundoff));
  const double more = std::exp(static_cast<double>(softmax.C() - 1) * std::log1p(kUnitRoundoff));
  const double reference = static_cast<double>(softmax.C()) * 0x1p-53 + 0x1p-48;
  constexpr double kTwoLess = (1 - kUnitRoundoff) * (1 - kUnitRoundoff);
  constexpr double kTwoMore = (1 + kUnitRoundoff) * (1 + kUnitRoundoff);
  internal::in_parts(
      softmax.N(), softmax.C() * kProductsPerExp, [&](std::int64_t first, std::int64_t end) {
        for (auto n = static_cast<std::size_t>(first); n < static_cast<std::size_t>(end); ++n) {
          const std::span<const float> row = input.subspan(n * categories, categories);
          float largest = -kInfinite;
          bool has_nan = false;
          for (const float cell : row) {
            largest = cell > largest ? cell : largest;
            has_nan |= std::isnan(cell);
          }
          Row& here = rows_[n];
          here.is_nan = has_nan || std::isinf(largest);
          if (here.is_nan) continue;
          here.largest = largest;
          double sum = 0;
          double error = 0;
          for (const float cell : row) {
            const Exponential term =
                exponential(static_cast<double>(cell) - largest, exponent_roundings_);
            sum += term.value;
            error += term.error;
          }
          error += sum * reference;
          here.share = 1 / sum;
          here.least_share = kTwoLess / ((sum + error) * more);
          here.most_share = kTwoMore / ((sum - error) * less);
        }
      });
}

Comparison SoftmaxChecker::judge(std::int64_t first, std::span<const float> outputs) const {
  internal::require_outputs("the softmax", softmax_.output_size(), first,
                            static_cast<std::int64_t>(outputs.size()));
  return internal::judged_in_parts(
      first, outputs, kProductsPerExp,
      [this](std::int64_t from, std::span<const float> part) { return judge_part(from, part); });
}

Comparison SoftmaxChecker::judge_part(std::int64_t first, std::span<const float> outputs) const {
  Comparison result;
  std::array<double, kSoftmaxChunk> value;
  std::array<double, kSoftmaxChunk> bound;
  std::array<float, kSoftmaxChunk> nan;
  nan.fill(kNaN);
  for (std::size_t done = 0; done < outputs.size();) {
    const std::int64_t index = first + static_cast<std::int64_t>(done);
    const Row& row = rows_[static_cast<std::size_t>(index / softmax_.C())];
    const auto left = static_cast<std::size_t>(softmax_.C() - index % softmax_.C());
    const std::size_t count =
        std::min({static_cast<std::size_t>(kSoftmaxChunk), outputs.size() - done, left});
    const std::span<const float> here = outputs.subspan(done, count);
    done += count;
    if (row.is_nan) {
      result.judge_equal_run(index, here, nan.data());
      continue;
    }
    const float* const cells = input_.data() + index;
    for (std::size_t i = 0; i < count; ++i) {
      const Exponential term =
          exponential(static_cast<double>(cells[i]) - row.largest, exponent_roundings_);
      value[i] = term.value * row.share;
      const double most = (term.value + term.error) * row.most_share;
      const double least = (term.value - term.error) * row.least_share;
      bound[i] = std::max(most - value[i], value[i] - least) + 0x1p-150;
      if (cells[i] == -kInfinite) bound[i] = 0;
    }
    result.judge_run(index, here, value.data(), bound.data());
  }
  return result;
}

std::int64_t min_bytes(const Softmax& softmax) {
  return 4 * (softmax.input_size() + softmax.output_size());
}

std::int64_t flops(const Softmax& softmax) { return 5 * softmax.input_size(); }

}  // namespace halo::conv
