// The 1D problem: limits, reference, the check of an output, and the counts of work.
#include "common/conv/conv1d.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <vector>

#include "common/conv/inputs.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::Border;
using conv::Checker;
using conv::Comparison;
using conv::Demand;
using conv::Problem1d;
using test::Approx;
using test::message_of;

namespace {

constexpr Border kBorders[] = {Border::zero, Border::report};

struct Data {
  std::vector<float> input, mask;
};

Data adversarial(const Problem1d& problem, std::uint64_t seed) {
  return {conv::adversarial_input(problem, seed), conv::adversarial_mask(problem, seed)};
}

Data exact(const Problem1d& problem, std::uint64_t seed) {
  return {conv::exact_input(problem, seed), conv::exact_mask(problem, seed)};
}

// What a kernel does, one output at a time. The knobs make it wrong.
struct Kernel {
  int shift = 0;                // reads input[i - h + j + shift]
  int dropped_tap = -1;         // leaves this tap out
  int doubled_tap = -1;         // counts this tap twice
  bool flipped = false;         // a true convolution
  bool wraps = false;           // cells beyond an end come from the other end
  bool clamps = false;          // cells beyond an end are the last one
  bool backward = false;        // correct, in another order
  bool fused = false;           // correct, with fma
  std::int64_t unwritten = 0;   // outputs left out at the end
  bool ignores_border = false;  // writes the ends although the border says not to

  std::vector<float> run(const Problem1d& problem, const Data& data) const {
    const std::int64_t n = problem.length();
    const int width = problem.mask_width();
    std::vector<float> output(static_cast<std::size_t>(n), conv::poison());
    const std::int64_t first = ignores_border ? 0 : problem.first_output();
    const std::int64_t end = ignores_border ? n : problem.end_output();
    for (std::int64_t i = first; i < end - unwritten; ++i) {
      float sum = 0;
      for (int step = 0; step < width; ++step) {
        const int j = backward ? width - 1 - step : step;
        if (j == dropped_tap) continue;
        std::int64_t cell = i - problem.halo() + j + shift;
        if (wraps) cell = (cell % n + n) % n;
        if (clamps) cell = std::clamp<std::int64_t>(cell, 0, n - 1);
        if (cell < 0 || cell >= n) continue;
        const float tap = data.mask[static_cast<std::size_t>(flipped ? width - 1 - j : j)];
        const float value = data.input[static_cast<std::size_t>(cell)];
        for (int times = j == doubled_tap ? 2 : 1; times > 0; --times) {
          sum = fused ? std::fma(value, tap, sum) : sum + value * tap;
        }
      }
      output[static_cast<std::size_t>(i)] = sum;
    }
    return output;
  }
};

Comparison check(const Problem1d& problem, const Data& data, const Kernel& kernel,
                 Demand demand = Demand::bounded) {
  return conv::check(problem, data.input, data.mask, kernel.run(problem, data), demand);
}

// Lengths and widths that are odd, even, prime, 1, smaller than the mask, on both sides of the
// reference's chunk of 1024.
std::vector<Problem1d> problems_to_try() {
  std::vector<Problem1d> result;
  for (const std::int64_t length : {1, 2, 3, 7, 16, 31, 97, 256, 1023, 1024, 1025, 2049}) {
    for (const int width : {1, 3, 5, 9, 31, 33, 255, 1023}) {
      for (const Border border : kBorders) {
        if (border == Border::report && width > length) continue;
        result.emplace_back(length, width, border);
      }
    }
  }
  return result;
}

// Two verdicts that must agree to the last bit.
void require_same_verdict(const Comparison& a, const Comparison& b) {
  REQUIRE(a.compared == b.compared);
  REQUIRE(a.worst_share == b.worst_share);
  REQUIRE(a.worst_index == b.worst_index);
  REQUIRE(a.describe() == b.describe());  // the counts and the worst outputs
}

std::string describe(const Problem1d& problem) {
  return "length " + std::to_string(problem.length()) + ", mask " +
         std::to_string(problem.mask_width()) + ", border " + conv::to_string(problem.border());
}

}  // namespace

TEST_CASE("a problem knows its halo and which outputs it computes", "[conv1d]") {
  const Problem1d problem(100, 9);
  CHECK(problem.length() == 100);
  CHECK(problem.mask_width() == 9);
  CHECK(problem.halo() == 4);
  CHECK(problem.first_output() == 0);
  CHECK(problem.end_output() == 100);
  const Problem1d report(100, 9, Border::report);
  CHECK(report.first_output() == 4);
  CHECK(report.end_output() == 96);
  CHECK(Problem1d(9, 9, Border::report).end_output() == 5);
  CHECK(Problem1d(5, 1).halo() == 0);
  CHECK(Problem1d(5, 3).halo() == 1);
}

TEST_CASE("lengths outside the limits are refused in one line", "[conv1d]") {
  CHECK_THAT(message_of([] { Problem1d(0, 3); }), test::contains("at least 1, got 0"));
  CHECK_THAT(message_of([] { Problem1d(-5, 3); }), test::contains("at least 1, got -5"));
  CHECK_THAT(message_of([] { Problem1d(std::int64_t{conv::kMaxLength} + 1, 3); }),
             test::contains("at most 2147479551, got 2147479552"));
  CHECK_THAT(message_of([] { Problem1d(std::numeric_limits<std::int64_t>::max(), 3); }),
             test::contains("at most"));
  CHECK_THAT(message_of([] { Problem1d(std::numeric_limits<std::int64_t>::min(), 3); }),
             test::contains("at least 1"));
  // 2^32 + 10 would be 10 in an int.
  CHECK_THAT(message_of([] { Problem1d((std::int64_t{1} << 32) + 10, 3); }),
             test::contains("at most"));
  CHECK(Problem1d(1, 1).length() == 1);
  CHECK(Problem1d(conv::kMaxLength, 3).length() == 2147479551);
}

TEST_CASE("every index that the largest problem needs fits an int", "[conv1d]") {
  const std::int64_t largest_block = 1024;
  const std::int64_t rounded_up =
      (conv::kMaxLength + largest_block - 1) / largest_block * largest_block;
  CHECK(rounded_up + largest_block + conv::kMaxMaskWidth <= std::numeric_limits<int>::max());
}

TEST_CASE("mask widths outside the limits are refused in one line", "[conv1d]") {
  CHECK_THAT(message_of([] { Problem1d(10, 0); }), test::contains("at least 1, got 0"));
  CHECK_THAT(message_of([] { Problem1d(10, -3); }), test::contains("at least 1, got -3"));
  CHECK_THAT(message_of([] { Problem1d(10, 4); }), test::contains("odd, got 4: use 3 or 5"));
  CHECK_THAT(message_of([] { Problem1d(10, 1022); }), test::contains("odd, got 1022"));
  CHECK_THAT(message_of([] { Problem1d(10, 1024); }), test::contains("at most 1023, got 1024"));
  CHECK_THAT(message_of([] { Problem1d(10, 1025); }), test::contains("at most 1023, got 1025"));
  CHECK_THAT(message_of([] { Problem1d(10, (std::int64_t{1} << 32) + 3); }),
             test::contains("at most 1023"));
  CHECK(Problem1d(10, 1023).mask_width() == 1023);
  conv::require_mask_width(1);
  CHECK(conv::kMaxMaskWidth * sizeof(float) <= 64 * 1024);
}

TEST_CASE("a mask longer than the signal needs the zero border", "[conv1d]") {
  CHECK(Problem1d(3, 9).mask_width() == 9);
  CHECK_THAT(message_of([] { Problem1d(8, 9, Border::report); }),
             test::contains("at least 9, got 8: no output would be computed"));
  CHECK(Problem1d(9, 9, Border::report).length() == 9);
}

TEST_CASE("borders are known by their names", "[conv1d]") {
  for (const Border border : kBorders) CHECK(conv::parse_border(conv::to_string(border)) == border);
  CHECK_THAT(message_of([] { conv::parse_border("Zero"); }),
             test::contains("unknown border 'Zero'"));
  CHECK_THAT(message_of([] { conv::parse_border(""); }), test::contains("use zero"));
}

TEST_CASE("the reference gives the numbers of the report's Figure 1", "[conv1d]") {
  const std::vector<float> input = {0, 1, 2, 3, 4, 5, 0};
  const std::vector<float> mask = {0.3f, 0.2f, 0.8f};
  const auto figure = conv::reference(Problem1d(7, 3, Border::report), input, mask);
  const std::vector<double> expected = {0, 1.8, 3.1, 4.4, 5.7, 2.2, 0};
  for (std::size_t i = 0; i < 7; ++i) CHECK(figure.value[i] == Approx(expected[i]).margin(1e-6));
  CHECK(figure.scale[0] == 0);
  // With zeros beyond the ends the two outer outputs are numbers like the others.
  const auto all = conv::reference(Problem1d(7, 3), input, mask);
  CHECK(all.value[0] == Approx(0.8));
  CHECK(all.value[6] == Approx(1.5));
  for (std::size_t i = 1; i < 6; ++i) CHECK(all.value[i] == figure.value[i]);
}

TEST_CASE("the reference is the definition, term by term", "[conv1d]") {
  for (const Problem1d& problem : problems_to_try()) {
    const Data data = adversarial(problem, test::seed());
    const auto reference = conv::reference(problem, data.input, data.mask);
    const auto n = static_cast<int>(problem.length());
    REQUIRE(reference.value.size() == static_cast<std::size_t>(n));
    double largest_share = 0;
    bool same_scale = true;
    for (int i = 0; i < n; ++i) {
      long double sum = 0;
      long double scale = 0;
      for (int j = 0; j < problem.mask_width(); ++j) {
        const int cell = i - problem.halo() + j;
        if (cell < 0 || cell >= n) continue;
        const long double product = static_cast<long double>(data.input[cell]) * data.mask[j];
        sum += product;
        scale += std::fabs(product);
      }
      if (i < problem.first_output() || i >= problem.end_output()) sum = scale = 0;
      const double bound = conv::error_bound(problem.mask_width(), static_cast<double>(scale));
      const double error = std::fabs(static_cast<double>(reference.value[i] - sum));
      if (error > 0) largest_share = std::max(largest_share, error / bound);
      same_scale = same_scale && std::fabs(reference.scale[i] - scale) <= 1e-12L * scale;
    }
    INFO(describe(problem));
    CHECK(largest_share < 0x1p-29);  // as its comment promises
    CHECK(same_scale);
  }
}

TEST_CASE("correct outputs pass, whatever the order of the sum", "[conv1d]") {
  for (const Problem1d& problem : problems_to_try()) {
    const Data data = adversarial(problem, test::seed());
    for (const bool backward : {false, true}) {
      for (const bool fused : {false, true}) {
        const Comparison result = check(problem, data, {.backward = backward, .fused = fused});
        INFO(describe(problem) << ": " << result.describe());
        CHECK(result.passed());
        CHECK(result.compared == problem.length());
      }
    }
  }
}

TEST_CASE("wrong kernels fail on every shape on which they are wrong", "[conv1d]") {
  for (const Problem1d& problem : problems_to_try()) {
    const Data data = adversarial(problem, test::seed());
    INFO(describe(problem));
    // An off-by-one that finds a cell either way.
    CHECK_FALSE(check(problem, data, {.shift = 1}).passed());
    CHECK_FALSE(check(problem, data, {.shift = -1}).passed());
    CHECK_FALSE(check(problem, data, {.unwritten = 1}).passed());
    // The outermost tap only matters if a cell lies under it.
    const bool reaches = problem.length() > problem.halo();
    if (reaches) {
      CHECK_FALSE(check(problem, data, {.dropped_tap = 0}).passed());
      CHECK_FALSE(check(problem, data, {.dropped_tap = problem.mask_width() - 1}).passed());
      CHECK_FALSE(check(problem, data, {.doubled_tap = problem.mask_width() - 1}).passed());
    }
    if (problem.mask_width() == 1) continue;
    if (problem.length() > 1) CHECK_FALSE(check(problem, data, {.flipped = true}).passed());
    if (problem.border() == Border::zero) {
      CHECK_FALSE(check(problem, data, {.wraps = true}).passed());
      CHECK_FALSE(check(problem, data, {.clamps = true}).passed());
    } else {
      const Comparison result = check(problem, data, {.ignores_border = true});
      CHECK_FALSE(result.passed());
      CHECK(result.stray == 2 * problem.halo());
    }
  }
}

TEST_CASE("each single tap that is dropped or counted twice is seen in each output", "[conv1d]") {
  for (const int width : {1, 3, 9, 31, 255, 1023}) {
    const Problem1d problem(width + 20, width, Border::report);
    const Data data = adversarial(problem, test::seed());
    const int step = std::max(1, width / 50);
    for (int tap = 0; tap < width; tap += step) {
      INFO("width " << width << ", tap " << tap);
      const std::int64_t outputs = problem.end_output() - problem.first_output();
      REQUIRE(check(problem, data, {.dropped_tap = tap}).failed == outputs);
      REQUIRE(check(problem, data, {.doubled_tap = tap}).failed == outputs);
    }
  }
}

TEST_CASE("a single bad output is found wherever it is", "[conv1d]") {
  const Problem1d problem(3001, 5);
  const Data data = adversarial(problem, test::seed());
  const std::vector<float> good = Kernel{}.run(problem, data);
  for (const std::size_t place : {0u, 1u, 1023u, 1024u, 2999u, 3000u}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), conv::poison(), good[place] * 1.01f,
          std::numeric_limits<float>::infinity(), -good[place], 0.0f}) {
      std::vector<float> output = good;
      output[place] = bad;
      const Comparison result = conv::check(problem, data.input, data.mask, output);
      CHECK_FALSE(result.passed());
      CHECK(result.failed == 1);
      CHECK(result.first_failure == static_cast<std::int64_t>(place));
      CHECK(result.missing == (conv::is_poison(bad) ? 1 : 0));
    }
  }
}

TEST_CASE("at the ends the bound is that of the products there are", "[conv1d]") {
  // Four cells under a mask of 1023: each output is a sum of four products.
  const Problem1d problem(4, 1023);
  const Data data = adversarial(problem, test::seed());
  const auto reference = conv::reference(problem, data.input, data.mask);
  const std::vector<float> good = Kernel{}.run(problem, data);
  for (std::size_t i = 0; i < 4; ++i) {
    const double bound = conv::error_bound(4, reference.scale[i]);
    for (const double off : {-1.5, -0.4, 0.4, 1.5}) {
      std::vector<float> output = good;
      output[i] = static_cast<float>(reference.value[i] + off * bound);
      const Comparison result = conv::check(problem, data.input, data.mask, output);
      INFO("output " << i << ", off by " << off << " bounds: " << result.describe());
      CHECK(result.passed() == (std::fabs(off) < 1));
    }
  }
}

TEST_CASE("an unwritten tail is reported as such", "[conv1d]") {
  const Problem1d problem(100, 3);
  const Comparison result = check(problem, adversarial(problem, test::seed()), {.unwritten = 4});
  CHECK(result.failed == 4);
  CHECK(result.missing == 4);
  CHECK(result.first_failure == 96);
  CHECK_THAT(result.describe(), test::contains("output[96]: never written"));
}

TEST_CASE("with the report's border the ends must be left alone and the rest written", "[conv1d]") {
  const Problem1d problem(50, 7, Border::report);
  const Data data = adversarial(problem, test::seed());
  std::vector<float> output = Kernel{}.run(problem, data);
  CHECK(conv::check(problem, data.input, data.mask, output).passed());
  output[2] = 0;
  const Comparison result = conv::check(problem, data.input, data.mask, output);
  CHECK(result.stray == 1);
  CHECK(result.first_failure == 2);

  // Code 4 of the report writes P[tid + halo]: everything is moved.
  CHECK_FALSE(check(problem, data, {.shift = 3}).passed());
}

TEST_CASE("saved outputs have zeros where the report's border leaves them alone", "[conv1d]") {
  const Problem1d problem(10, 5, Border::report);
  std::vector<float> output(10, 7.0f);
  conv::zero_uncomputed(problem, output);
  CHECK(output == std::vector<float>{0, 0, 7, 7, 7, 7, 7, 7, 0, 0});
  std::vector<float> all(10, 7.0f);
  conv::zero_uncomputed(Problem1d(10, 5), all);
  CHECK(all == std::vector<float>(10, 7.0f));
  std::vector<float> short_output(9);
  CHECK_THAT(message_of([&] { conv::zero_uncomputed(problem, short_output); }),
             test::contains("output has 9 values, the problem needs 10"));
}

TEST_CASE("with exact data a correct output is equal to the last bit", "[conv1d]") {
  for (const Problem1d& problem : problems_to_try()) {
    const Data data = exact(problem, test::seed());
    const std::vector<float> forward = Kernel{}.run(problem, data);
    INFO(describe(problem));
    for (const bool fused : {false, true}) {
      const Kernel other{.backward = true, .fused = fused};
      const std::vector<float> output = other.run(problem, data);
      // As numbers; poison, where the border leaves it, is no number.
      bool same = true;
      for (std::int64_t i = problem.first_output(); i < problem.end_output(); ++i) {
        same = same && output[static_cast<std::size_t>(i)] == forward[static_cast<std::size_t>(i)];
      }
      CHECK(same);
      CHECK(conv::check(problem, data.input, data.mask, output, Demand::exact).passed());
    }
    std::vector<float> output = forward;
    float& cell = output[static_cast<std::size_t>(problem.first_output())];
    cell = std::nextafter(cell, std::numeric_limits<float>::infinity());
    CHECK(conv::check(problem, data.input, data.mask, output, Demand::exact).failed == 1);
    CHECK_FALSE(check(problem, data, {.unwritten = 1}, Demand::exact).passed());
  }
}

TEST_CASE("the check of a long output, which uses threads, misses nothing", "[conv1d]") {
  const Problem1d problem(3'000'017, 3);
  const Data data = exact(problem, test::seed());
  std::vector<float> output = Kernel{}.run(problem, data);
  CHECK(conv::check(problem, data.input, data.mask, output, Demand::exact).compared == 3'000'017);
  CHECK(conv::check(problem, data.input, data.mask, output, Demand::exact).passed());
  const std::vector<std::size_t> places = {0, 1'499'999, 1'500'008, 2'999'999, 3'000'016};
  for (const std::size_t place : places) output[place] += 1;
  const Comparison result = conv::check(problem, data.input, data.mask, output, Demand::exact);
  CHECK(result.failed == 5);
  REQUIRE(result.worst.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(result.worst[k].index == static_cast<std::int64_t>(places[k]));
  }
}

TEST_CASE("a period changes the work of a checker, not its verdict", "[conv1d]") {
  // Longer than the signal, as long, about as long as the inner outputs, and short; masks wider than
  // the period and than the signal.
  for (const std::int64_t length : {1, 7, 97, 1024, 5003}) {
    for (const int width : {1, 3, 31, 255}) {
      for (const std::int64_t period : {1, 2, 89, 97, 769, 1024, 4999, 6007}) {
        for (const Border border : kBorders) {
          if (border == Border::report && width > length) continue;
          const Problem1d problem(length, width, border);
          INFO(describe(problem) << ", period " << period);
          const Data data = {conv::adversarial_input(problem, test::seed(), period),
                             conv::adversarial_mask(problem, test::seed())};
          std::vector<float> output = Kernel{}.run(problem, data);
          conv::Random random(test::seed());
          for (int bad = 0; bad < 3; ++bad) {
            const Checker with(problem, data.input, data.mask, Demand::bounded, period);
            require_same_verdict(with.judge(0, output),
                                 conv::check(problem, data.input, data.mask, output));
            REQUIRE(with.judge(0, output).passed() == (bad == 0));
            output[random.below(output.size())] = 12.5f;
          }
        }
      }
    }
  }
}

TEST_CASE("a verdict in pieces is the verdict on the whole", "[conv1d]") {
  for (const Border border : kBorders) {
    const Problem1d problem(20'011, 63, border);
    const Data data = {conv::adversarial_input(problem, test::seed(), 1009),
                       conv::adversarial_mask(problem, test::seed())};
    std::vector<float> output = Kernel{}.run(problem, data);
    output[30] = output[31] = output[10'000] = output[20'010] = 7;
    const Comparison whole = conv::check(problem, data.input, data.mask, output);
    CHECK_FALSE(whole.passed());
    for (const std::int64_t period : {0, 1009}) {
      const Checker checker(problem, data.input, data.mask, Demand::bounded, period);
      for (const std::int64_t piece : {1, 31, 1000, 1009, 5000, 20'010, 20'011}) {
        Comparison total;
        for (std::int64_t first = 0; first < problem.length(); first += piece) {
          const auto count = static_cast<std::size_t>(std::min(piece, problem.length() - first));
          total.merge(checker.judge(first, {output.data() + first, count}));
        }
        INFO("period " << period << ", pieces of " << piece);
        require_same_verdict(total, whole);
      }
    }
  }
}

TEST_CASE("a checker with a period finds a single bad output wherever it is", "[conv1d]") {
  constexpr std::int64_t kShort = 1009;
  const Problem1d problem(5 * kShort + 17, 31);
  const Data data = {conv::adversarial_input(problem, test::seed(), kShort),
                     conv::adversarial_mask(problem, test::seed())};
  const std::vector<float> good = Kernel{}.run(problem, data);
  const Checker checker(problem, data.input, data.mask, Demand::bounded, kShort);
  REQUIRE(checker.judge(0, good).passed());
  const std::int64_t last = problem.length() - 1;
  // In the halo of both ends, at the seams to it, around the end of the first periods, and last.
  for (const std::int64_t place :
       {std::int64_t{0}, std::int64_t{14}, std::int64_t{15}, kShort - 1, kShort, kShort + 14,
        kShort + 15, 3 * kShort + 15, last - 16, last - 15, last - 14, last}) {
    const auto at = static_cast<std::size_t>(place);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), conv::poison(),
                            good[at] + 0.01f, std::numeric_limits<float>::infinity(), -12.5f}) {
      std::vector<float> output = good;
      output[at] = bad;
      const Comparison result = checker.judge(0, output);
      INFO("output " << place << " is " << bad);
      CHECK(result.failed == 1);
      CHECK(result.first_failure == place);
      CHECK(result.missing == (conv::is_poison(bad) ? 1 : 0));
    }
  }
  // An output that a run of neighbours was shifted into: by one, and by a block.
  for (const std::int64_t shift : {1, 256, 1024}) {
    std::vector<float> output = good;
    std::copy(good.begin() + 2000, good.begin() + 2100, output.begin() + 2000 + shift);
    // A few may be as good as right by chance.
    CHECK(checker.judge(0, output).failed > 95);
  }
}

TEST_CASE("what is right at one end is wrong one period further, and the other way round",
          "[conv1d]") {
  constexpr std::int64_t kShort = 1009;
  for (const Border border : kBorders) {
    const Problem1d problem(4 * kShort, 31, border);
    const Data data = {conv::adversarial_input(problem, test::seed(), kShort),
                       conv::adversarial_mask(problem, test::seed())};
    const std::vector<float> good = Kernel{}.run(problem, data);
    const Checker checker(problem, data.input, data.mask, Demand::bounded, kShort);
    // A kernel that wraps round at the ends finds in a periodic signal what a real neighbour would
    // hold; it must fail all the same, and so must the opposite.
    for (const std::int64_t place : {std::int64_t{14}, 4 * kShort - 15}) {
      const std::int64_t other = place < kShort ? place + kShort : place - kShort;
      for (const auto& [from, to] : {std::pair{other, place}, std::pair{place, other}}) {
        std::vector<float> output = good;
        output[static_cast<std::size_t>(to)] = good[static_cast<std::size_t>(from)];
        const Comparison result = checker.judge(0, output);
        INFO(conv::to_string(border) << ": output " << to << " is that of " << from);
        CHECK(result.failed == 1);
        CHECK(result.first_failure == to);
        CHECK(result.stray == (border == Border::report && to == place ? 1 : 0));
      }
    }
  }
}

TEST_CASE("many millions of periodic outputs are judged, by threads too", "[conv1d]") {
  const Problem1d problem(3 * conv::kPeriod + 1000, 3);
  const Data data = {conv::adversarial_input(problem, test::seed(), conv::kPeriod),
                     conv::adversarial_mask(problem, test::seed())};
  std::vector<float> output = Kernel{}.run(problem, data);
  const Checker checker(problem, data.input, data.mask, Demand::bounded, conv::kPeriod);
  CHECK(checker.judge(0, output).passed());
  CHECK(checker.judge(0, output).compared == problem.length());
  const std::vector<std::size_t> places = {0, 1'048'573, 1'572'859, 2'097'147, 3'146'718};
  for (const std::size_t place : places) output[place] = conv::poison();
  const Comparison result = checker.judge(0, output);
  CHECK(result.failed == 5);
  CHECK(result.missing == 5);
  REQUIRE(result.worst.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(result.worst[k].index == static_cast<std::int64_t>(places[k]));
  }
}

TEST_CASE("a checker refuses what it cannot judge in one line", "[conv1d]") {
  const Problem1d problem(10, 3);
  const std::vector<float> mask = {1, 2, 3};
  std::vector<float> input = {1, 2, 3, 1, 2, 3, 1, 2, 3, 1};
  const Checker checker(problem, input, mask, Demand::exact, 3);
  const std::vector<float> outputs(11);
  const auto judge = [&](std::int64_t first, std::size_t count) {
    return message_of([&] { checker.judge(first, {outputs.data(), count}); });
  };
  CHECK_THAT(judge(-1, 3), test::contains("no 3 outputs from output -1 on: the problem has 10"));
  CHECK_THAT(judge(8, 3), test::contains("no 3 outputs from output 8 on"));
  CHECK_THAT(judge(0, 11), test::contains("no 11 outputs"));
  CHECK_THAT(judge(std::numeric_limits<std::int64_t>::max(), 1), test::contains("no 1 outputs"));
  CHECK_FALSE(checker.judge(10, {}).passed());

  const auto make = [&](std::int64_t period) {
    return message_of([&] { Checker(problem, input, mask, Demand::bounded, period); });
  };
  CHECK_THAT(make(-1), test::contains("at least 0 (none), got -1"));
  CHECK_THAT(make(4), test::contains("does not repeat after 4 values"));
  input[9] = 2;
  CHECK_THAT(make(3), test::contains("does not repeat after 3 values"));
  input[9] = 1;
  input[1] = input[4] = input[7] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(make(3), test::contains("the input holds NaN at index 1"));
  input.pop_back();
  CHECK_THAT(make(3), test::contains("the input has 9 values, the problem needs 10"));
}

TEST_CASE("data that cannot be judged is refused in one line", "[conv1d]") {
  const Problem1d problem(4, 3);
  const std::vector<float> input = {1, 2, 3, 4};
  const std::vector<float> mask = {1, 2, 3};
  const auto message = [&](std::vector<float> in, std::vector<float> taps) {
    return message_of([&] { conv::reference(problem, in, taps); });
  };
  CHECK_THAT(message({1, 2, 3}, mask),
             test::contains("the input has 3 values, the problem needs 4"));
  CHECK_THAT(message(input, {1, 2}), test::contains("the mask has 2 values, the problem needs 3"));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  CHECK_THAT(message({1, 2, nan, 4}, mask), test::contains("the input holds NaN at index 2"));
  CHECK_THAT(message({1, 2, 3, -inf}, mask), test::contains("the input holds infinity at index 3"));
  CHECK_THAT(message(input, {nan, 1, 1}), test::contains("the mask holds NaN at index 0"));
  CHECK_THAT(message({1e30f, 2, 3, 4}, {1e9f, 1, 1}), test::contains("could overflow float"));
  CHECK_THAT(message_of([&] { conv::check(problem, input, mask, std::vector<float>(5)); }),
             test::contains("the output has 5 values, the problem needs 4"));
}

TEST_CASE("products, operations and bytes are counted exactly", "[conv1d]") {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 8, 13, 40}) {
    for (const int width : {1, 3, 5, 7, 9, 31, 101}) {
      for (const Border border : kBorders) {
        if (border == Border::report && width > n) continue;
        const Problem1d problem(n, width, border);
        std::int64_t products = 0;
        std::int64_t outputs = 0;
        for (std::int64_t i = problem.first_output(); i < problem.end_output(); ++i, ++outputs) {
          for (int j = 0; j < width; ++j) {
            const std::int64_t cell = i - problem.halo() + j;
            if (cell >= 0 && cell < n) ++products;
          }
        }
        INFO(describe(problem));
        CHECK(conv::products(problem) == products);
        CHECK(conv::flops(problem) == 2 * products);
        CHECK(conv::min_bytes(problem) == 4 * (n + width + outputs));
      }
    }
  }
  // The largest problem, by hand: W*N less the corners, h*(h+1).
  const Problem1d largest(conv::kMaxLength, conv::kMaxMaskWidth);
  CHECK(conv::products(largest) == std::int64_t{1023} * 2147479551 - 511 * 512);
}

namespace {

// The 10 bits behind the leading one that TF32 keeps; the others are cut off.
float tf32(float value) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xFFFFE000u);
}

// As tensor cores add: what does not fit is cut off.
float truncated_sum(float a, double b) {
  const double exact = double{a} + b;
  const auto rounded = static_cast<float>(exact);
  return std::fabs(rounded) > std::fabs(exact) ? std::nextafter(rounded, 0.0f) : rounded;
}

std::vector<float> on_tensor_cores(const Problem1d& problem, const Data& data, int parts) {
  std::vector<float> output(static_cast<std::size_t>(problem.length()), conv::poison());
  for (std::int64_t i = problem.first_output(); i < problem.end_output(); ++i) {
    float sum = 0;
    for (int j = 0; j < problem.mask_width(); ++j) {
      const std::int64_t cell = i - problem.halo() + j;
      if (cell < 0 || cell >= problem.length()) continue;
      const float a = data.input[static_cast<std::size_t>(cell)];
      const float b = data.mask[static_cast<std::size_t>(j)];
      if (parts == 2) {
        sum = truncated_sum(sum, double{tf32(a - tf32(a))} * tf32(b));
        sum = truncated_sum(sum, double{tf32(a)} * tf32(b - tf32(b)));
      }
      sum = truncated_sum(sum, double{tf32(a)} * tf32(b));
    }
    output[static_cast<std::size_t>(i)] = sum;
  }
  return output;
}

}  // namespace

TEST_CASE("what tensor cores compute is within their bounds, and not within a float sum's") {
  std::uint64_t seed = test::seed();
  double worst = 0;
  double worst_split = 0;
  for (const int width : {1, 3, 9, 255, 1023}) {
    const Problem1d problem(3000, width);
    const Data data{conv::adversarial_input(problem, ++seed),
                    conv::adversarial_mask(problem, seed)};
    const std::vector<float> plain = on_tensor_cores(problem, data, 1);
    const std::vector<float> split = on_tensor_cores(problem, data, 2);
    const auto judged = [&](const std::vector<float>& output, Demand demand) {
      return conv::check(problem, data.input, data.mask, output, demand);
    };
    INFO("mask " << width);
    // Of a thousand taps the bound of a sum is as wide as what some factors lose.
    if (width < 1000) {
      CHECK_FALSE(judged(plain, Demand::bounded).passed());
      CHECK_FALSE(judged(plain, Demand::tf32_split).passed());
    }
    CHECK(judged(plain, Demand::tf32).passed());
    CHECK(judged(split, Demand::tf32_split).passed());
    CHECK(judged(split, Demand::tf32).passed());
    worst = std::max(worst, judged(plain, Demand::tf32).worst_share);
    worst_split = std::max(worst_split, judged(split, Demand::tf32_split).worst_share);
    // It is no licence: a tap that is missing shows.
    if (width > 1 && width < 1000) {
      CHECK_FALSE(check(problem, data, {.dropped_tap = 0}, Demand::tf32).passed());
    }
  }
  // Bounds far above what is lost would tell little.
  CHECK(worst > 0.2);
  CHECK(worst_split > 0.1);
}

TEST_CASE("a signal's transform has its own bound, which a float sum does not") {
  const Problem1d problem(2000, 9);
  const Data data{conv::adversarial_input(problem, test::seed()),
                  conv::adversarial_mask(problem, test::seed())};
  std::vector<float> output = Kernel{}.run(problem, data);
  float largest = 0, sum = 0;
  for (const float cell : data.input) largest = std::max(largest, std::fabs(cell));
  for (const float tap : data.mask) sum += std::fabs(tap);
  // As much as 500 roundings of the largest product.
  for (float& value : output)
    value += 500 * static_cast<float>(conv::kUnitRoundoff) * largest * sum;
  CHECK(conv::check(problem, data.input, data.mask, output, Demand::transformed).passed());
  CHECK_FALSE(conv::check(problem, data.input, data.mask, output, Demand::bounded).passed());
  // As much as 950: only with factors in two parts.
  for (float& value : output)
    value += 450 * static_cast<float>(conv::kUnitRoundoff) * largest * sum;
  CHECK(conv::check(problem, data.input, data.mask, output, Demand::transformed_split).passed());
  CHECK_FALSE(conv::check(problem, data.input, data.mask, output, Demand::transformed).passed());
}
