#include "common/conv/conv1d.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "common/conv/internal.hpp"

namespace halo::conv {

namespace {

using internal::in_parts;
using internal::largest_finite;
using internal::require_size;

// Outputs computed at a time: two arrays of doubles that stay in the first-level cache.
constexpr std::int64_t kChunk = 1024;

// Reference and scale of the outputs [first, first + count), ends treated as Border::zero does. The
// taps are the outer loop, so that the range of cells that exist is cut once per tap.
void reference_range(const Problem1d& problem, const float* input, const float* mask,
                     std::int64_t first, std::int64_t count, double* value, double* scale) {
  std::fill_n(value, count, 0.0);
  std::fill_n(scale, count, 0.0);
  for (int j = 0; j < problem.mask_width(); ++j) {
    const std::int64_t shift = j - problem.halo();
    const std::int64_t begin = std::max(first, -shift);
    const std::int64_t end = std::min(first + count, problem.length() - shift);
    const double tap = mask[j];
    for (std::int64_t i = begin; i < end; ++i) {
      const double product = input[i + shift] * tap;
      value[i - first] += product;
      scale[i - first] += std::fabs(product);
    }
  }
}

// Products that belong to output i: the taps that lie over cells that exist.
std::int64_t terms(const Problem1d& problem, std::int64_t i) {
  const std::int64_t first = std::max<std::int64_t>(i - problem.halo(), 0);
  const std::int64_t last = std::min(i + problem.halo(), problem.length() - 1);
  return last - first + 1;
}

void require_values(std::span<const float> input, std::span<const float> mask) {
  largest_finite("mask", mask);
  double mask_sum = 0;
  for (const float tap : mask) mask_sum += std::fabs(tap);
  // Rounding can carry a float sum a little beyond the true one, hence the half.
  if (largest_finite("input", input) * mask_sum > 0.5 * std::numeric_limits<float>::max()) {
    throw std::invalid_argument(
        "the values are so large that a sum could overflow float: scale the input or the mask "
        "down");
  }
}

// Bit by bit, so that two zeros of different sign differ: they give products of different sign.
void require_period(std::span<const float> input, std::int64_t period) {
  const std::int64_t pairs = static_cast<std::int64_t>(input.size()) - period;
  std::atomic<bool> repeats = true;
  in_parts(pairs, 1, [&](std::int64_t first, std::int64_t end) {
    const float* const cells = input.data();
    const auto bytes = static_cast<std::size_t>(end - first) * sizeof(float);
    if (std::memcmp(cells + first, cells + first + period, bytes) != 0) repeats = false;
  });
  if (!repeats) {
    throw std::invalid_argument("the input does not repeat after " + std::to_string(period) +
                                " values");
  }
}

}  // namespace

const char* to_string(Border border) { return border == Border::zero ? "zero" : "report"; }

Border parse_border(std::string_view text) {
  if (text == "zero") return Border::zero;
  if (text == "report") return Border::report;
  throw std::invalid_argument(
      "unknown border '" + std::string(text) +
      "': use zero (cells beyond the ends are zero) or report (the ends are "
      "left alone, as in the report)");
}

void require_mask_width(std::int64_t width) {
  const std::string found = std::to_string(width);
  if (width < 1) {
    throw std::invalid_argument("the mask width must be at least 1, got " + found);
  }
  if (width > kMaxMaskWidth) {
    throw std::invalid_argument("the mask width must be at most " + std::to_string(kMaxMaskWidth) +
                                ", got " + found);
  }
  if (width % 2 == 0) {
    throw std::invalid_argument("the mask width must be odd, got " + found + ": use " +
                                std::to_string(width - 1) + " or " + std::to_string(width + 1));
  }
}

Problem1d::Problem1d(std::int64_t length, std::int64_t mask_width, Border border)
    : length_(length), mask_width_(0), border_(border) {
  if (length < 1) {
    throw std::invalid_argument("the length must be at least 1, got " + std::to_string(length));
  }
  if (length > kMaxLength) {
    throw std::invalid_argument("the length must be at most " + std::to_string(kMaxLength) +
                                ", got " + std::to_string(length) +
                                ": cells are numbered with 32-bit integers");
  }
  require_mask_width(mask_width);
  mask_width_ = static_cast<int>(mask_width);
  if (border == Border::report && mask_width > length) {
    throw std::invalid_argument("with border 'report' and a mask of " + std::to_string(mask_width) +
                                " taps the length must be at least " + std::to_string(mask_width) +
                                ", got " + std::to_string(length) +
                                ": no output would be computed");
  }
}

void require_data(const Problem1d& problem, std::span<const float> input,
                  std::span<const float> mask) {
  require_size("input", input.size(), problem.length());
  require_size("mask", mask.size(), problem.mask_width());
  require_values(input, mask);
}

Reference reference(const Problem1d& problem, std::span<const float> input,
                    std::span<const float> mask) {
  require_data(problem, input, mask);
  const auto length = static_cast<std::size_t>(problem.length());
  Reference result{std::vector<double>(length), std::vector<double>(length)};
  for (std::int64_t start = problem.first_output(); start < problem.end_output(); start += kChunk) {
    const std::int64_t count = std::min(kChunk, problem.end_output() - start);
    reference_range(problem, input.data(), mask.data(), start, count, result.value.data() + start,
                    result.scale.data() + start);
  }
  return result;
}

std::string arithmetic_of(Demand demand) {
  switch (demand) {
    case Demand::exact:
      return "sums that do not round";
    case Demand::transformed:
      return "a transform (Winograd, FFT) in float";
    case Demand::tf32:
      return "tensor cores on factors of TF32";
    case Demand::tf32_split:
      return "tensor cores on factors in two parts of TF32";
    case Demand::transformed_split:
      return "a transform, and tensor cores on factors in two parts of TF32";
    case Demand::exp2:
      return "exp2f(x * log2(e)) for expf(x)";
    case Demand::bounded:
      break;
  }
  return "products, sums and expf in float, in any order";
}

bool is_transform(Demand demand) {
  return demand == Demand::transformed || demand == Demand::transformed_split;
}

bool is_split(Demand demand) {
  return demand == Demand::tf32_split || demand == Demand::transformed_split;
}

double added_by_transform(Demand demand, double largest_input, double filter_sum) {
  if (!is_transform(demand)) return 0;
  const double by_split = is_split(demand) ? transform_split_error(largest_input, filter_sum) : 0;
  return transform_error(largest_input, filter_sum) + by_split;
}

double sum_bound(Demand demand, std::int64_t terms, double scale, double added) {
  switch (demand) {
    case Demand::exact:
      return 0;
    case Demand::tf32:
      return tf32_bound(terms, scale);
    case Demand::tf32_split:
      return tf32_split_bound(terms, scale);
    case Demand::transformed:
      return error_bound(terms, scale) + added;
    case Demand::transformed_split:
      return tf32_split_bound(terms, scale) + added;
    case Demand::exp2:
    case Demand::bounded:
      break;
  }
  return error_bound(terms, scale);
}

Checker::Checker(const Problem1d& problem, std::span<const float> input,
                 std::span<const float> mask, Demand demand, std::int64_t period)
    : problem_(problem), input_(input), mask_(mask), demand_(demand) {
  if (is_transform(demand)) {
    double mask_sum = 0;
    for (const float tap : mask) mask_sum += std::fabs(tap);
    transform_error_ = added_by_transform(demand, largest_finite("input", input), mask_sum);
  }
  if (period < 0) {
    throw std::invalid_argument("the period must be at least 0 (none), got " +
                                std::to_string(period));
  }
  if (period == 0 || period >= problem.length()) {
    require_data(problem, input, mask);
    return;
  }
  require_size("input", input.size(), problem.length());
  require_size("mask", mask.size(), problem.mask_width());
  require_period(input, period);
  require_values(input.first(static_cast<std::size_t>(period)), mask);
  // Unless some output comes a second time.
  if (problem.length() - 2 * problem.halo() <= period) return;
  value_.resize(static_cast<std::size_t>(period));
  bound_.resize(static_cast<std::size_t>(period));
  in_parts(period, problem.mask_width(), [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t start = first; start < end; start += kChunk) {
      expect(problem_.halo() + start, std::min(kChunk, end - start), &value_[start],
             &bound_[start]);
    }
  });
}

// What the outputs [first, first + count) should be, and how far off they may be.
void Checker::expect(std::int64_t first, std::int64_t count, double* value, double* bound) const {
  reference_range(problem_, input_.data(), mask_.data(), first, count, value, bound);
  for (std::int64_t k = 0; k < count; ++k) {
    bound[k] = sum_bound(demand_, terms(problem_, first + k), bound[k], transform_error_);
  }
}

Comparison Checker::judge_part(std::int64_t first, std::span<const float> outputs) const {
  Comparison result;
  std::array<double, kChunk> value_here;
  std::array<double, kChunk> bound_here;
  const auto period = static_cast<std::int64_t>(value_.size());
  const std::int64_t halo = problem_.halo();
  const std::int64_t inner_end = problem_.length() - halo;
  const std::int64_t end = first + static_cast<std::int64_t>(outputs.size());
  std::int64_t count = 0;
  for (std::int64_t i = first; i < end; i += count) {
    count = std::min(kChunk, end - i);
    const float* const found = outputs.data() + (i - first);
    if (i < problem_.first_output() || i >= problem_.end_output()) {
      count = 1;
      result.judge_untouched(i, *found);
      continue;
    }
    count = std::min(count, problem_.end_output() - i);
    const double* value = value_here.data();
    const double* bound = bound_here.data();
    if (period > 0 && i >= halo && i < inner_end) {
      const std::int64_t phase = (i - halo) % period;
      count = std::min({count, inner_end - i, period - phase});
      value = &value_[static_cast<std::size_t>(phase)];
      bound = &bound_[static_cast<std::size_t>(phase)];
    } else {
      expect(i, count, value_here.data(), bound_here.data());
    }
    result.judge_run(i, {found, static_cast<std::size_t>(count)}, value, bound);
  }
  return result;
}

Comparison Checker::judge(std::int64_t first, std::span<const float> outputs) const {
  internal::require_outputs("the problem", problem_.length(), first,
                            static_cast<std::int64_t>(outputs.size()));
  return internal::judged_in_parts(
      first, outputs, value_.empty() ? problem_.mask_width() : 1,
      [this](std::int64_t from, std::span<const float> part) { return judge_part(from, part); });
}

Comparison check(const Problem1d& problem, std::span<const float> input,
                 std::span<const float> mask, std::span<const float> output, Demand demand) {
  const Checker checker(problem, input, mask, demand);
  require_size("output", output.size(), problem.length());
  return checker.judge(0, output);
}

void zero_uncomputed(const Problem1d& problem, std::span<float> output) {
  require_size("output", output.size(), problem.length());
  std::fill(output.begin(), output.begin() + problem.first_output(), 0.0f);
  std::fill(output.begin() + problem.end_output(), output.end(), 0.0f);
}

std::int64_t products(const Problem1d& problem) {
  const std::int64_t length = problem.length();
  if (problem.border() == Border::report) {
    return (problem.end_output() - problem.first_output()) * problem.mask_width();
  }
  // The tap at distance d from the middle finds a cell for length - d outputs. Both sides, d
  // = 1..m:
  const std::int64_t m = std::min<std::int64_t>(problem.halo(), length - 1);
  return length + 2 * m * length - m * (m + 1);
}

std::int64_t flops(const Problem1d& problem) { return 2 * products(problem); }

std::int64_t min_bytes(const Problem1d& problem) {
  const std::int64_t outputs = problem.end_output() - problem.first_output();
  return 4 * (problem.length() + problem.mask_width() + outputs);
}

}  // namespace halo::conv
