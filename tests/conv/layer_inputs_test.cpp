// The data that layers are tested on: reproducible, and such that mistakes show.
#include "common/conv/layer_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "tests/catch.hpp"

using namespace halo;
using conv::ConvLayer;
using conv::Repeat;

namespace {

// Outputs of 1 product to the most there can be.
std::vector<ConvLayer> layers() {
  return {
      ConvLayer({.H = 300, .W = 400, .R = 1, .S = 1}),
      ConvLayer({.N = 2, .C = 3, .H = 90, .W = 80, .K = 70, .R = 5, .S = 5}),
      ConvLayer({.C = 160, .H = 14, .W = 14, .K = 40, .R = 3, .S = 3}),  // 1440
      ConvLayer({.C = 512, .H = 7, .W = 7, .K = 20, .R = 3, .S = 3}),    // 4608
      ConvLayer({.C = 832, .H = 7, .W = 7, .K = 2, .R = 5, .S = 5}),     // 20800
      ConvLayer({.C = 1 << 20, .H = 1, .W = 2, .K = 1, .R = 1, .S = 1}),
      ConvLayer({.C = (1 << 22) - 1, .H = 1, .W = 4, .K = 1, .R = 1, .S = 4}),
  };
}

double largest_magnitude(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) largest = std::max(largest, std::fabs(double{value}));
  return largest;
}

}  // namespace

TEST_CASE("a seed gives a layer the same data for ever", "[layer_inputs]") {
  const ConvLayer layer({.H = 2, .W = 2, .R = 1, .S = 3, .padding_w = 1});
  CHECK(conv::adversarial_input(layer, 1) ==
        std::vector<float>{-0x1.5b3a62p-6f, -0x1.ede066p-8f, -0x1.df88c6p-2f, -0x1.99b2a6p-9f});
  CHECK(conv::adversarial_filters(layer, 1) ==
        std::vector<float>{-0x1.d63a08p-9f, -0x1.16f63ap-4f, 0x1.1a49ecp-1f});
  CHECK(conv::exact_input(layer, 1) == std::vector<float>{666, -254, 461, 335});
  CHECK(conv::exact_filters(layer, 1) == std::vector<float>{1, -15, -10});
}

TEST_CASE("another seed gives a layer other data, and input and filters are unrelated",
          "[layer_inputs]") {
  const ConvLayer layer({.C = 3, .H = 5, .W = 5, .K = 1, .R = 5, .S = 5});
  CHECK(conv::adversarial_input(layer, 1) != conv::adversarial_input(layer, 2));
  CHECK(conv::adversarial_filters(layer, 1) != conv::adversarial_filters(layer, 2));
  CHECK(conv::exact_input(layer, 1) != conv::exact_input(layer, 2));
  CHECK(conv::exact_filters(layer, 1) != conv::exact_filters(layer, 2));
  CHECK(conv::adversarial_input(layer, 1) != conv::adversarial_filters(layer, 1));
}

TEST_CASE("adversarial layers have distinct magnitudes, both signs and no zero", "[layer_inputs]") {
  for (const ConvLayer& layer : layers()) {
    if (layer.input_size() > 1'000'000) continue;
    INFO(conv::label(layer));
    for (const auto& values : {conv::adversarial_input(layer, test::seed()),
                               conv::adversarial_filters(layer, test::seed())}) {
      std::vector<float> magnitudes;
      for (const float value : values) magnitudes.push_back(std::fabs(value));
      std::sort(magnitudes.begin(), magnitudes.end());
      CHECK(std::adjacent_find(magnitudes.begin(), magnitudes.end()) == magnitudes.end());
      // Products of two such stay normal floats.
      CHECK(magnitudes.front() > 0x1p-101);
      CHECK(magnitudes.back() < 1);
      if (values.size() < 100) continue;
      const auto negative =
          std::count_if(values.begin(), values.end(), [](float v) { return v < 0; });
      CHECK(negative > static_cast<std::ptrdiff_t>(values.size() / 4));
      CHECK(negative < static_cast<std::ptrdiff_t>(values.size() * 3 / 4));
    }
  }
}

TEST_CASE("up to 1448 products the smallest stands out of the bound of its output",
          "[layer_inputs]") {
  for (const int channels : {1, 2, 9, 31, 100, 363, 1024, 1447, 1448}) {
    const ConvLayer layer({.C = channels, .H = 5, .W = 7, .K = 3, .R = 1, .S = 1});
    const auto input = conv::adversarial_input(layer, test::seed());
    const auto filters = conv::adversarial_filters(layer, test::seed());
    const auto reference = conv::reference(layer, input, filters);
    const auto smallest = [](const std::vector<float>& values) {
      double result = 1;
      for (const float value : values) result = std::min(result, std::fabs(double{value}));
      return result;
    };
    const double scale = *std::max_element(reference.scale.begin(), reference.scale.end());
    INFO(channels << " products");
    // Twice: the rounding of the others may hide as much as the bound.
    CHECK(smallest(input) * smallest(filters) > 2 * conv::error_bound(channels, scale));
  }
}

TEST_CASE("layers of few products come with mixed magnitudes", "[layer_inputs]") {
  const ConvLayer layer({.H = 60, .W = 60, .K = 50, .R = 3, .S = 3});
  for (const auto& values : {conv::adversarial_input(layer, test::seed()),
                             conv::adversarial_filters(layer, test::seed())}) {
    double smallest = 1;
    for (const float value : values) smallest = std::min(smallest, std::fabs(double{value}));
    CHECK(largest_magnitude(values) / smallest > 100);
  }
}

TEST_CASE("exact layers hold whole numbers whose sums fit 24 bits", "[layer_inputs]") {
  for (const ConvLayer& layer : layers()) {
    INFO(conv::label(layer));
    const auto input = conv::exact_input(layer, test::seed());
    const auto filters = conv::exact_filters(layer, test::seed());
    const auto is_whole = [](float v) { return v == std::round(v) && v != 0; };
    CHECK(std::all_of(input.begin(), input.end(), is_whole));
    CHECK(std::all_of(filters.begin(), filters.end(), is_whole));
    CHECK(largest_magnitude(input) <= 1000);
    CHECK(largest_magnitude(filters) <= 16);
    CHECK(static_cast<double>(layer.products_per_output()) * largest_magnitude(input) *
              largest_magnitude(filters) <=
          1 << 24);
    // And not much smaller than they may be: with more values there are fewer accidents.
    if (layer.products_per_output() >= 1000) continue;
    CHECK(largest_magnitude(input) > 900);
    if (layer.filters_size() > 1000) CHECK(largest_magnitude(filters) == 16);
  }
}

TEST_CASE("exact filters differ from what a mistake would take for them", "[layer_inputs]") {
  const ConvLayer shapes[] = {
      ConvLayer({.H = 9, .W = 9, .R = 1, .S = 2}),
      ConvLayer({.C = 4, .H = 9, .W = 9, .K = 50, .R = 3, .S = 3}),
      ConvLayer({.C = 2, .H = 9, .W = 9, .K = 50, .R = 4, .S = 5}),
      ConvLayer({.C = 5, .H = 9, .W = 9, .K = 50, .R = 1, .S = 1}),
      ConvLayer({.C = 1 << 17, .H = 2, .W = 4, .K = 2, .R = 2, .S = 4}),  // 2^20 products: taps +-4
  };
  for (const ConvLayer& layer : shapes) {
    INFO(conv::label(layer));
    const int C = layer.C(), R = layer.R(), S = layer.S();
    const auto filters = conv::exact_filters(layer, test::seed());
    const auto tap = [&](int k, int c, int r, int s) {
      return filters[static_cast<std::size_t>(((k * C + c) * R + r) * S + s)];
    };
    int clashes = 0;
    for (int k = 0; k < layer.K(); ++k) {
      for (int c = 0; c < C; ++c) {
        for (int r = 0; r < R; ++r) {
          for (int s = 0; s < S; ++s) {
            const float here = tap(k, c, r, s);
            const int down = R - 1 - r, across = S - 1 - s;
            clashes += down != r && here == tap(k, c, down, s);
            clashes += across != s && here == tap(k, c, r, across);
            clashes += (down != r || across != s) && here == tap(k, c, down, across);
            clashes += r != s && r < S && s < R && here == tap(k, c, s, r);
            clashes += c > 0 && here == tap(k, c - 1, r, s);
            clashes += k > 0 && here == tap(k - 1, c, r, s);
          }
        }
      }
    }
    CHECK(clashes == 0);
  }
}

TEST_CASE("data with a repeat repeat the first images and filters", "[layer_inputs]") {
  const ConvLayer layer({.N = 7, .C = 2, .H = 3, .W = 4, .K = 11, .R = 2, .S = 1});
  const auto repeats = [](const std::vector<float>& plain, const std::vector<float>& repeated,
                          std::size_t period) {
    REQUIRE(repeated.size() == plain.size());
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (repeated[i] != plain[i % period]) return false;
    }
    return true;
  };
  const auto seed = test::seed();
  for (const Repeat repeat :
       {Repeat{3, 5}, Repeat{1, 1}, Repeat{0, 0}, Repeat{7, 11}, Repeat{100, 100}, Repeat{2, 0}}) {
    const std::size_t images = repeat.images == 0 ? 7 : static_cast<std::size_t>(repeat.images);
    const std::size_t filters = repeat.filters == 0 ? 11 : static_cast<std::size_t>(repeat.filters);
    CHECK(repeats(conv::adversarial_input(layer, seed),
                  conv::adversarial_input(layer, seed, repeat), 24 * images));
    CHECK(repeats(conv::adversarial_filters(layer, seed),
                  conv::adversarial_filters(layer, seed, repeat), 4 * filters));
    CHECK(repeats(conv::exact_input(layer, seed), conv::exact_input(layer, seed, repeat),
                  24 * images));
    CHECK(repeats(conv::exact_filters(layer, seed), conv::exact_filters(layer, seed, repeat),
                  4 * filters));
  }
  CHECK_THROWS_AS(conv::adversarial_input(layer, 1, {-1, 0}), std::invalid_argument);
  CHECK_THROWS_AS(conv::exact_filters(layer, 1, {0, -1}), std::invalid_argument);
}
