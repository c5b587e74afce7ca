// The data that tests and stages run on: reproducible, and such that mistakes show.
#include "common/conv/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace halo;
using conv::Problem1d;

namespace {

constexpr int kWidths[] = {1, 3, 5, 9, 15, 31, 63, 127, 255, 511, 1023};

}  // namespace

TEST_CASE("random bits are those of the engine in the C++ standard", "[inputs]") {
  // [rand.predef]: the 10000th number of a default-constructed mt19937_64.
  conv::Random random(5489);
  for (int i = 1; i < 10000; ++i) random.bits();
  CHECK(random.bits() == 9981545732273789042u);
}

TEST_CASE("random numbers are in range and evenly spread", "[inputs]") {
  conv::Random random(test::seed());
  std::vector<int> count(7);
  for (int i = 0; i < 70'000; ++i) ++count.at(random.below(7));
  // Ten standard deviations (of about 93) on each side.
  for (const int c : count) CHECK(std::abs(c - 10'000) < 930);
  // Of [0, 3 * 2^62) a third lies below 2^62; the remainder alone would put half of the draws there.
  int low = 0;
  for (int i = 0; i < 30'000; ++i) {
    if (random.below(std::uint64_t{3} << 62) < std::uint64_t{1} << 62) ++low;
  }
  CHECK(std::abs(low - 10'000) < 820);
  CHECK(random.below(1) == 0);
  CHECK(random.below(std::uint64_t{1} << 63) < std::uint64_t{1} << 63);
  CHECK_THROWS_AS(random.below(0), std::invalid_argument);
}

TEST_CASE("a seed gives the same data for ever", "[inputs]") {
  const Problem1d problem(4, 3);
  CHECK(conv::adversarial_input(problem, 1) ==
        std::vector<float>{-0x1.909546p-3f, -0x1.5d6a8ap-8f, -0x1.5ed8f8p-9f, -0x1.2fcbeap-4f});
  CHECK(conv::adversarial_mask(problem, 1) ==
        std::vector<float>{0x1.b48594p-2f, 0x1.35b498p-6f, 0x1.52793cp-2f});
  CHECK(conv::exact_input(problem, 1) == std::vector<float>{298, -165, -57, 818});
  CHECK(conv::exact_mask(problem, 1) == std::vector<float>{4, -13, 5});
}

TEST_CASE("another seed gives other data, and input and mask are unrelated", "[inputs]") {
  const Problem1d problem(31, 31);
  CHECK(conv::adversarial_input(problem, 1) != conv::adversarial_input(problem, 2));
  CHECK(conv::adversarial_mask(problem, 1) != conv::adversarial_mask(problem, 2));
  CHECK(conv::exact_input(problem, 1) != conv::exact_input(problem, 2));
  CHECK(conv::exact_mask(problem, 1) != conv::exact_mask(problem, 2));
  CHECK(conv::adversarial_input(problem, 1) != conv::adversarial_mask(problem, 1));
}

TEST_CASE("adversarial data has distinct magnitudes, both signs and no zero", "[inputs]") {
  for (const int width : kWidths) {
    const Problem1d problem(100'003, width);
    for (const auto& values : {conv::adversarial_input(problem, test::seed()),
                               conv::adversarial_mask(problem, test::seed())}) {
      std::vector<float> magnitudes;
      for (const float value : values) magnitudes.push_back(std::fabs(value));
      std::sort(magnitudes.begin(), magnitudes.end());
      CHECK(std::adjacent_find(magnitudes.begin(), magnitudes.end()) == magnitudes.end());
      CHECK(magnitudes.front() > 0);
      CHECK(magnitudes.back() < 1);
      if (values.size() < 100) continue;
      const auto negative =
          std::count_if(values.begin(), values.end(), [](float v) { return v < 0; });
      CHECK(negative > static_cast<std::ptrdiff_t>(values.size() / 4));
      CHECK(negative < static_cast<std::ptrdiff_t>(values.size() * 3 / 4));
    }
  }
}

TEST_CASE("an input with a period repeats its first one", "[inputs]") {
  for (const std::int64_t length : {1, 5, 100, 101, 102, 1000}) {
    const Problem1d problem(length, 9);
    const auto plain = conv::adversarial_input(problem, test::seed());
    CHECK(conv::adversarial_input(problem, test::seed(), 0) == plain);
    const auto repeated = conv::adversarial_input(problem, test::seed(), 101);
    REQUIRE(repeated.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(repeated[i] == plain[i % 101]);
  }
  CHECK_THROWS_AS(conv::adversarial_input(Problem1d(10, 3), 1, -1), std::invalid_argument);
}

TEST_CASE("the period is prime and longer than any tile", "[inputs]") {
  for (std::int64_t d = 2; d * d <= conv::kPeriod; ++d) REQUIRE(conv::kPeriod % d != 0);
  CHECK(conv::kPeriod > 100 * conv::kMaxMaskWidth);
  // Among fewer than 2^23 neighbours all magnitudes are distinct.
  CHECK(conv::kPeriod < 1 << 23);
}

TEST_CASE("narrow masks come with mixed magnitudes", "[inputs]") {
  const auto input = conv::adversarial_input(Problem1d(10'000, 9), test::seed());
  const auto [low, high] = std::minmax_element(
      input.begin(), input.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
  CHECK(std::fabs(*high) / std::fabs(*low) > 100);
}

TEST_CASE("the smallest product stands out of the bound of its output", "[inputs]") {
  for (const int width : kWidths) {
    const Problem1d problem(2 * width + 50, width);
    const auto input = conv::adversarial_input(problem, test::seed());
    const auto mask = conv::adversarial_mask(problem, test::seed());
    const auto reference = conv::reference(problem, input, mask);
    double smallest = 1;
    for (const float tap : mask) smallest = std::min(smallest, std::fabs(double{tap}));
    double smallest_input = 1;
    for (const float value : input)
      smallest_input = std::min(smallest_input, std::fabs(double{value}));
    smallest *= smallest_input;
    const double scale = *std::max_element(reference.scale.begin(), reference.scale.end());
    INFO("width " << width);
    // Twice: the rounding of the others may hide as much as the bound.
    CHECK(smallest > 2 * conv::error_bound(width, scale));
  }
}

TEST_CASE("exact data holds whole numbers whose sums fit 24 bits", "[inputs]") {
  for (const int width : kWidths) {
    const Problem1d problem(1500, width);
    const auto input = conv::exact_input(problem, test::seed());
    const auto mask = conv::exact_mask(problem, test::seed());
    const auto is_whole = [](float v) { return v == std::round(v) && v != 0; };
    CHECK(std::all_of(input.begin(), input.end(), is_whole));
    CHECK(std::all_of(mask.begin(), mask.end(), is_whole));
    double largest_input = 0;
    for (const float value : input)
      largest_input = std::max(largest_input, std::fabs(double{value}));
    double mask_sum = 0;
    for (const float tap : mask) mask_sum += std::fabs(tap);
    CHECK(largest_input <= 1000);
    CHECK(largest_input * mask_sum <= 1 << 24);
    for (std::size_t j = 0; j < mask.size() / 2; ++j) {
      REQUIRE(mask[j] != mask[mask.size() - 1 - j]);
    }
  }
}
