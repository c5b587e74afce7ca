// The error bound and the judge: what is right always passes, what is wrong never does.
#include "common/conv/accuracy.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/conv/inputs.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::Comparison;
using conv::Fault;
using test::Approx;
using test::message_of;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Terms {
  std::vector<float> a, b;
  long double exact() const {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
    return sum;
  }
  double scale() const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(double{a[i]} * b[i]);
    return sum;
  }
};

// Random floats whose magnitudes span 2^-exponents .. 1.
Terms random_terms(conv::Random& random, std::size_t count, int exponents) {
  Terms terms;
  for (std::vector<float>* values : {&terms.a, &terms.b}) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto mantissa = static_cast<float>((1 << 23) + random.below(1 << 23));
      const auto exponent = static_cast<int>(random.below(static_cast<std::uint64_t>(exponents)));
      const float sign = random.below(2) == 0 ? 1.0f : -1.0f;
      values->push_back(sign * std::ldexp(mantissa, -24 - exponent));
    }
  }
  return terms;
}

// volatile keeps the compiler from fusing or keeping more precision.
float multiply_add(float sum, float a, float b) {
  volatile float product = a * b;
  volatile float result = sum + product;
  return result;
}

float pairwise(const std::vector<float>& values, std::size_t first, std::size_t count) {
  if (count == 0) return 0;
  if (count == 1) return values[first];
  volatile float sum =
      pairwise(values, first, count / 2) + pairwise(values, first + count / 2, count - count / 2);
  return sum;
}

// The sum in many ways, all of them correct.
std::vector<std::pair<const char*, float>> correct_sums(const Terms& terms, conv::Random& random) {
  const std::size_t n = terms.a.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  const auto in_order = [&](bool fused) {
    float sum = 0;
    for (const std::size_t i : order) {
      sum =
          fused ? std::fma(terms.a[i], terms.b[i], sum) : multiply_add(sum, terms.a[i], terms.b[i]);
    }
    return sum;
  };
  const auto product = [&](std::size_t i) { return terms.a[i] * terms.b[i]; };
  std::vector<std::pair<const char*, float>> sums;
  sums.emplace_back("forward", in_order(false));
  sums.emplace_back("forward, fma", in_order(true));
  std::reverse(order.begin(), order.end());
  sums.emplace_back("backward", in_order(false));
  sums.emplace_back("backward, fma", in_order(true));
  std::sort(order.begin(), order.end(),
            [&](auto i, auto j) { return std::fabs(product(i)) < std::fabs(product(j)); });
  sums.emplace_back("smallest first", in_order(false));
  std::reverse(order.begin(), order.end());
  sums.emplace_back("largest first", in_order(false));
  std::sort(order.begin(), order.end(), [&](auto i, auto j) { return product(i) < product(j); });
  sums.emplace_back("negative first", in_order(false));
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  sums.emplace_back("shuffled", in_order(false));
  sums.emplace_back("shuffled, fma", in_order(true));
  std::vector<float> products;
  for (std::size_t i = 0; i < n; ++i) products.push_back(product(i));
  sums.emplace_back("pairwise", pairwise(products, 0, n));
  return sums;
}

}  // namespace

TEST_CASE("gamma is L*u / (1 - L*u)", "[accuracy]") {
  CHECK(conv::gamma(0) == 0);
  CHECK(conv::gamma(1) == 0x1p-24 / (1 - 0x1p-24));
  CHECK(conv::gamma(9) == 9 * 0x1p-24 / (1 - 9 * 0x1p-24));
  CHECK(conv::gamma(1 << 23) == 1);  // L*u = 1/2
  CHECK(conv::gamma((1 << 24) - 1) > 1e7);
  CHECK_THAT(message_of([] { conv::gamma(1 << 24); }), test::contains("16777216"));
  CHECK_THAT(message_of([] { conv::gamma(-1); }), test::contains("got -1"));
}

TEST_CASE("the bound is zero where there is nothing to sum", "[accuracy]") {
  CHECK(conv::error_bound(9, 0) == 0);
  CHECK(conv::error_bound(9, 2) == Approx(2 * conv::gamma(9)));
}

TEST_CASE("a correct float sum is within the bound in every order", "[accuracy]") {
  conv::Random random(test::seed());
  for (const std::size_t terms : {1, 2, 3, 5, 9, 31, 100, 1023}) {
    for (const int exponents : {1, 8, 40}) {
      for (int round = 0; round < 20; ++round) {
        const Terms data = random_terms(random, terms, exponents);
        const double bound = conv::error_bound(static_cast<std::int64_t>(terms), data.scale());
        for (const auto& [way, sum] : correct_sums(data, random)) {
          const auto error = std::fabs(static_cast<double>(sum - data.exact()));
          INFO(terms << " terms, " << way << ": error " << error << ", bound " << bound);
          REQUIRE(error <= bound);
        }
      }
    }
  }
}

TEST_CASE("the bound is not wider than it needs to be", "[accuracy]") {
  // (1 + 2^-12)(1 + 2^-12) lies 2^-24 above a float and rounds by nearly the unit roundoff.
  const float a = 1 + 0x1p-12f;
  const double exact = double{a} * a;
  const double error = std::fabs(double{a * a} - exact);
  CHECK(error / conv::error_bound(1, exact) > 0.99);
  // Adding 2^-24 to 1 over and over loses it each time.
  float sum = 1;
  for (int i = 0; i < 99; ++i) sum = multiply_add(sum, 0x1p-24f, 1);
  CHECK(99 * 0x1p-24 / conv::error_bound(100, 1 + 99 * 0x1p-24) > 0.98);
  CHECK(sum == 1);
}

TEST_CASE("products that underflow stay within the bound", "[accuracy]") {
  Terms terms;
  for (int i = 1; i <= 31; ++i) {
    terms.a.push_back(0x1.234568p-70f * static_cast<float>(i));
    terms.b.push_back(0x1.fedcbap-79f);
  }
  conv::Random random(1);
  const double relative_part = conv::gamma(31) * terms.scale();
  double largest = 0;
  for (const auto& [way, sum] : correct_sums(terms, random)) {
    const auto error = std::fabs(static_cast<double>(sum - terms.exact()));
    INFO(way);
    CHECK(error <= conv::error_bound(31, terms.scale()));
    largest = std::max(largest, error);
  }
  // Without the second term of the bound this test would fail.
  CHECK(largest > relative_part);
}

TEST_CASE("poison is a NaN that is known by its bits", "[accuracy]") {
  CHECK(std::isnan(conv::poison()));
  CHECK(conv::is_poison(conv::poison()));
  CHECK_FALSE(conv::is_poison(kNaN));
  CHECK_FALSE(conv::is_poison(std::bit_cast<float>(0x7fffffffu)));  // the NaN that GPUs produce
  CHECK_FALSE(conv::is_poison(0));
}

TEST_CASE("an output passes if and only if its error is within the bound", "[accuracy]") {
  const auto passes = [](float found, double expected, double bound) {
    Comparison comparison;
    comparison.judge(0, found, expected, bound);
    return comparison.passed();
  };
  CHECK(passes(1, 1, 0));
  CHECK(passes(1.5f, 1, 0.5));
  CHECK_FALSE(passes(1.5f, 1, 0.4999));
  CHECK_FALSE(passes(std::nextafter(1.0f, 2.0f), 1, 0));
  CHECK_FALSE(passes(kNaN, 1, 1e30));
  CHECK_FALSE(passes(kInf, 1, 1e30));
  CHECK_FALSE(passes(-kInf, 1, 1e30));
  CHECK_FALSE(passes(conv::poison(), 0, 1e30));
  CHECK_FALSE(passes(1, std::numeric_limits<double>::quiet_NaN(), 1));
  CHECK_FALSE(passes(1, 1, std::numeric_limits<double>::quiet_NaN()));
  CHECK(passes(-0.0f, 0, 0));
}

TEST_CASE("a run of outputs is judged as each of them would be", "[accuracy]") {
  conv::Random random(test::seed());
  Comparison runs;
  Comparison singles;
  std::int64_t first = 0;
  for (int run = 0; run < 2000; ++run) {
    const std::size_t count = random.below(9);
    std::vector<float> found(count);
    std::vector<double> expected(count), bound(count);
    for (std::size_t k = 0; k < count; ++k) {
      expected[k] = static_cast<double>(random.below(1000));
      // Few distinct shares, so that many are equal to the worst so far; it grows now and then.
      bound[k] = random.below(8) == 0 ? 0 : 8;
      found[k] = static_cast<float>(expected[k]);
      if (bound[k] > 0) found[k] += static_cast<float>(random.below(std::min(9, 1 + run / 100)));
      // At first all are good; then some are not.
      if (run < 1000 || random.below(50) > 0) continue;
      const float bad[] = {kNaN, kInf, conv::poison(), -5000.0f, found[k] + 9};
      found[k] = bad[random.below(5)];
    }
    runs.judge_run(first, found, expected.data(), bound.data());
    for (std::size_t k = 0; k < count; ++k, ++first) {
      singles.judge(first, found[k], expected[k], bound[k]);
    }
    REQUIRE(runs.compared == singles.compared);
    REQUIRE(runs.worst_share == singles.worst_share);
    REQUIRE(runs.worst_index == singles.worst_index);
    REQUIRE(runs.describe() == singles.describe());
    REQUIRE(runs.passed() == (singles.compared > 0 && singles.failed == 0));
  }
  CHECK(runs.failed > 0);
}

TEST_CASE("a comparison of nothing has not passed", "[accuracy]") {
  CHECK_FALSE(Comparison{}.passed());
  CHECK_THAT(Comparison{}.describe(), test::contains("no output was compared"));
}

TEST_CASE("a comparison names the worst share, the kinds of fault and five places", "[accuracy]") {
  Comparison comparison;
  comparison.judge(0, 1.0f, 1.0, 0.1);
  comparison.judge(1, 1.05f, 1.0, 0.1);
  CHECK(comparison.passed());
  CHECK(comparison.worst_share == Approx(0.5).epsilon(1e-5));
  CHECK(comparison.worst_index == 1);
  CHECK_THAT(comparison.describe(), test::contains("pass: 2 outputs, worst error 0.5 "));

  for (int i = 2; i < 10; ++i) comparison.judge(i, static_cast<float>(i), 0, 0.5);
  CHECK_FALSE(comparison.passed());
  CHECK(comparison.failed == 8);
  CHECK(comparison.first_failure == 2);
  CHECK(comparison.worst_share == 18);
  CHECK(comparison.worst_index == 9);
  REQUIRE(comparison.worst.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(comparison.worst[k].index == static_cast<std::int64_t>(9 - k));
    CHECK(comparison.worst[k].found == static_cast<float>(9 - k));
    CHECK(comparison.worst[k].share == 2.0 * static_cast<double>(9 - k));
  }

  comparison.judge(10, conv::poison(), 3.25, 0.5);
  comparison.judge(11, kNaN, 1, 0.5);
  comparison.judge_untouched(12, conv::poison());
  comparison.judge_untouched(13, 4.5f);
  CHECK(comparison.compared == 14);
  CHECK(comparison.failed == 11);
  CHECK(comparison.missing == 1);
  CHECK(comparison.stray == 1);
  CHECK(comparison.worst[0].fault == Fault::missing);
  CHECK(comparison.worst[1].fault == Fault::wrong);
  CHECK(comparison.worst[2].fault == Fault::stray);
  CHECK(comparison.worst[3].index == 9);
  CHECK(comparison.worst_index == 10);
  const std::string text = comparison.describe();
  CHECK_THAT(text, test::contains("FAIL: 11 of 14 outputs are wrong, 1 never written, 1 written"));
  // Where only its first line is told, that is whole.
  CHECK_THAT(text, test::contains("first at index 2\n  The worst:\n"));
  CHECK_THAT(text, test::contains("output[10]: never written, expected 3.25"));
  CHECK_THAT(text, test::contains("output[11]: found nan"));
  CHECK_THAT(text, test::contains("output[13]: written (4.5)"));
  CHECK_THAT(text,
             test::contains("output[9]: found 9, expected 0, off by 9, bound 0.5, 18 times it"));
}

TEST_CASE("a bound of tensor cores is what is cut off, and truncated additions", "[accuracy]") {
  CHECK(conv::tf32_bound(9, 0) == 0);
  // Factors lose 2 * 2^-10 of a product, an addition 2 * 2^-24.
  CHECK(conv::tf32_bound(1, 1) == Approx(2.0 / 1024).epsilon(1e-3));
  CHECK(conv::tf32_bound(1000, 8) == Approx(8 * (2.0 / 1024 + 2000 * 0x1p-24)).epsilon(4e-3));
  CHECK(conv::tf32_split_bound(1, 1) == Approx(3 * 0x1p-20 + 6 * 0x1p-24).epsilon(1e-2));
  CHECK(conv::tf32_split_bound(100, 1) < conv::tf32_bound(100, 1) / 40);
  CHECK(conv::tf32_split_bound(100, 1) > conv::error_bound(100, 1));
}

TEST_CASE("a transform's products in two parts lose less than a transform may", "[accuracy]") {
  CHECK(conv::transform_split_error(0, 1) == 0);
  CHECK(conv::transform_split_error(3, 5) == Approx(15 * 10 * 0x1p-20));
  CHECK(conv::transform_split_error(1, 1) < conv::transform_error(1, 1) / 5);
  // Gauss's three products, off by 3 v^2 of a and b and c each, together: (a + b, c - a + b), with |a| + |b| at most 1
  // and |c| at most 2.
  CHECK(std::hypot(1.0, 3.0) * 3 * 0x1p-20 < conv::transform_split_error(1, 1));
}

TEST_CASE("a transform's bound is the largest growth of the transforms that are in use",
          "[accuracy]") {
  // F(m, r): inputs and taps as values at the points, the outputs from their products. B^T of four and of six
  // points; tap r counts point^r * scale, output p takes point^p, infinity is the last tap and output.
  const auto growth = [](const std::vector<std::vector<double>>& inputs,
                         const std::vector<double>& points, const std::vector<double>& scales,
                         int m, int r) {
    const auto power = [&](std::size_t i, int exponent, int last) {
      if (i == points.size()) return exponent == last ? 1.0 : 0.0;
      return std::pow(points[i], exponent);
    };
    double largest = 0;
    for (int p = 0; p < m; ++p) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double scale = i < scales.size() ? scales[i] : 1;
        double weight = 0;
        for (int tap = 0; tap < r; ++tap) {
          weight = std::max(weight, std::fabs(scale * power(i, tap, r - 1)));
        }
        double cells = 0;
        for (const double cell : inputs[i]) cells += std::fabs(cell);
        sum += std::fabs(power(i, p, m - 1)) * weight * cells;
      }
      largest = std::max(largest, sum);
      // And they are such transforms: output p of cell j and one tap is 1 where j = p + tap.
      for (int tap = 0; tap < r; ++tap) {
        for (std::size_t j = 0; j < inputs.size(); ++j) {
          double y = 0;
          for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double scale = i < scales.size() ? scales[i] : 1;
            y += power(i, p, m - 1) * scale * power(i, tap, r - 1) * inputs[i][j];
          }
          CHECK(std::fabs(y - (static_cast<int>(j) == p + tap ? 1 : 0)) < 1e-12);
        }
      }
    }
    return largest * largest;
  };
  const std::vector<std::vector<double>> four = {
      {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}};
  const std::vector<std::vector<double>> six = {{4, 0, -5, 0, 1, 0},  {0, -4, -4, 1, 1, 0},
                                                {0, 4, -4, -1, 1, 0}, {0, -2, -1, 2, 1, 0},
                                                {0, 2, -1, -2, 1, 0}, {0, 4, 0, -5, 0, 1}};
  const std::vector<double> of_four = {1, 0.5, 0.5};
  const std::vector<double> of_six = {1.0 / 4, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24};
  const double bound = conv::transform_error(1, 1) / conv::kUnitRoundoff;
  CHECK(std::fabs(growth(six, {0, 1, -1, 2, -2}, of_six, 4, 3) - bound) < 0.5);
  CHECK(std::fabs(growth(six, {0, 1, -1, 2, -2}, of_six, 2, 5) - bound) < 0.5);
  CHECK(std::fabs(growth(four, {0, 1, -1}, of_four, 2, 3) - 16) < 1e-9);
}

TEST_CASE("what is over its bound says by how much", "[accuracy]") {
  Comparison comparison;
  comparison.judge(0, 1.0f, 1.52, 0.5);
  CHECK_THAT(comparison.describe(), test::contains("bound 0.5, 1.04 times it"));
  comparison.judge(1, 1.0f, 1.501, 0.5);
  CHECK_THAT(comparison.describe(), test::contains("bound 0.5, just over it"));
  comparison.judge(2, 1.0f, 1e6, 0.5);
  CHECK_THAT(comparison.describe(), test::contains("off by 1e+06, bound 0.5\n"));
}

TEST_CASE("an error of exactly nothing has the share 0", "[accuracy]") {
  Comparison comparison;
  comparison.judge(4, 2.0f, 2.0, 0);
  CHECK(comparison.worst_share == 0);
  CHECK(comparison.worst_index == 4);
  comparison.judge(5, 2.5f, 2.0, 0);
  CHECK(std::isinf(comparison.worst_share));
  CHECK_THAT(comparison.describe(), test::contains("output[5]: found 2.5, expected exactly 2"));
}

TEST_CASE("the order of merging makes no difference", "[accuracy]") {
  Comparison first;
  first.judge(1, 2, 1, 0.5);
  Comparison second;
  second.judge(2, 2, 1, 0.5);
  Comparison ascending = first;
  ascending.merge(second);
  Comparison descending = second;
  descending.merge(first);
  CHECK(ascending.worst_index == 1);
  CHECK(descending.worst_index == 1);
  CHECK(ascending.first_failure == 1);
  CHECK(descending.first_failure == 1);
  CHECK(ascending.describe() == descending.describe());
}

TEST_CASE("comparing in parts and merging gives what comparing at once gives", "[accuracy]") {
  conv::Random random(test::seed());
  for (int round = 0; round < 50; ++round) {
    Comparison whole;
    Comparison merged;
    Comparison part;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t kind = random.below(12);
      // Few different values, so that there are ties.
      const float found = kind == 0   ? conv::poison()
                          : kind == 1 ? kNaN
                                      : 1 + static_cast<float>(random.below(4)) * 0.25f;
      if (kind == 2) {
        whole.judge_untouched(i, found);
        part.judge_untouched(i, found);
      } else {
        whole.judge(i, found, 1, 0.25);
        part.judge(i, found, 1, 0.25);
      }
      if (random.below(10) == 0) {
        merged.merge(part);
        part = {};
      }
    }
    merged.merge(part);
    REQUIRE(merged.describe() == whole.describe());
    REQUIRE(merged.worst_index == whole.worst_index);
    REQUIRE(merged.worst_share == whole.worst_share);
    REQUIRE(merged.compared == whole.compared);
  }
}

TEST_CASE("equal runs take infinities and computed NaN, bit runs take nothing but the bits",
          "[accuracy]") {
  const std::vector<float> expected = {1, -0.0f, kInf, -kInf, kNaN, 1e-45f, conv::poison()};
  const auto equal = [&](const std::vector<float>& found) {
    Comparison result;
    result.judge_equal_run(10, found, expected.data());
    return result;
  };
  const auto bits = [&](const std::vector<float>& found) {
    Comparison result;
    result.judge_bits_run(10, found, expected.data());
    return result;
  };
  // The two zeros, and two NaN, are equal as numbers.
  const float other_nan = std::bit_cast<float>(0xFFC00001u);
  const std::vector<float> as_good = {1, 0.0f, kInf, -kInf, other_nan, 1e-45f};
  CHECK(equal(as_good).passed());
  CHECK(equal(as_good).compared == 6);
  CHECK(bits(as_good).failed == 2);
  CHECK(bits(as_good).first_failure == 11);
  CHECK(bits(expected).passed());
  CHECK(bits(expected).worst_index == 10);
  const std::vector<float> wrong[] = {
      {2}, {1, 1e-45f}, {1, 0, 3e38f}, {1, 0, kInf, kInf}, {1, 0, kInf, -kInf, 1}, {kNaN}};
  for (const std::vector<float>& found : wrong) {
    CHECK(equal(found).failed == 1);
    CHECK(equal(found).missing == 0);
    CHECK(equal(found).worst_share == kInf);
  }
  // A cell that was never written is no NaN that was computed.
  CHECK(equal({1, 0, kInf, -kInf, conv::poison()}).missing == 1);
  CHECK(bits({conv::poison()}).missing == 1);
  CHECK(equal({}).compared == 0);
  CHECK(bits({}).compared == 0);
}

TEST_CASE("a comparison does not depend on the order in which cells are judged", "[accuracy]") {
  conv::Random random(test::seed());
  // Few different errors, so that many cells are equally bad; exact ones, wrong ones, missing ones.
  constexpr std::size_t kCells = 200;
  for (int round = 0; round < 50; ++round) {
    std::vector<float> found(kCells);
    const std::vector<double> expected(kCells, 1.0), bound(kCells, 0x1p-20);
    const std::uint64_t kinds = 1 + random.below(6);
    for (float& value : found) {
      constexpr float kValues[] = {1, 1 + 0x1p-21f, 1 - 0x1p-21f, 2, kNaN, 0};
      value = kValues[random.below(kinds)];
    }
    Comparison in_order;
    in_order.judge_run(0, found, expected.data(), bound.data());
    std::vector<std::size_t> runs;
    for (std::size_t at = 0; at < kCells; at += 10) runs.push_back(at);
    for (std::size_t i = runs.size(); i > 1; --i) std::swap(runs[i - 1], runs[random.below(i)]);
    Comparison out_of_order;
    for (const std::size_t at : runs) {
      out_of_order.judge_run(static_cast<std::int64_t>(at), std::span(found).subspan(at, 10),
                             &expected[at], &bound[at]);
    }
    CHECK(out_of_order.describe() == in_order.describe());
    CHECK(out_of_order.worst_index == in_order.worst_index);
    CHECK(out_of_order.first_failure == in_order.first_failure);
  }
}
