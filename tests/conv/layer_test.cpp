// The 2D layer: limits, reference, the check of an output, and the counts of work.
#include "common/conv/layer.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/conv/layer_inputs.hpp"
#include "tests/catch.hpp"
#include "tests/conv/plain_layer.hpp"
#include "tests/conv/winograd_layer.hpp"

using namespace halo;
using conv::Comparison;
using conv::ConvLayer;
using conv::Demand;
using conv::LayerChecker;
using conv::LayerShape;
using conv::Repeat;
using test::Approx;
using test::LayerData;
using test::message_of;
using test::PlainLayer;
using test::WinogradLayer;

namespace {

constexpr std::int64_t kBillions = std::int64_t{1} << 31;

std::string layer_refusal(const LayerShape& shape) {
  return message_of([&] { ConvLayer layer(shape); });
}

LayerData adversarial(const ConvLayer& layer, Repeat repeat = {}) {
  return {conv::adversarial_input(layer, test::seed(), repeat),
          conv::adversarial_filters(layer, test::seed(), repeat)};
}

LayerData exact(const ConvLayer& layer, Repeat repeat = {}) {
  return {conv::exact_input(layer, test::seed(), repeat),
          conv::exact_filters(layer, test::seed(), repeat)};
}

Comparison check(const ConvLayer& layer, const LayerData& data, const PlainLayer& kernel,
                 Demand demand = Demand::bounded) {
  return conv::check(layer, data.input, data.filters, kernel.run(layer, data), demand);
}

// Every axis of a size of its own, odd, prime and 1; strides that do and do not divide, different
// both ways; no padding, the usual one, more than the filter; filters as large as the input.
std::vector<ConvLayer> layers_to_try() {
  return {
      ConvLayer({.H = 1, .W = 1, .R = 1, .S = 1}),
      ConvLayer({.H = 5, .W = 8, .R = 1, .S = 1}),
      ConvLayer({.H = 9, .W = 13, .R = 3, .S = 3}),
      ConvLayer({.H = 7, .W = 7, .R = 7, .S = 7}),
      ConvLayer({.H = 3, .W = 40, .R = 2, .S = 5}),
      ConvLayer({.N = 3, .C = 5, .H = 6, .W = 11, .K = 4, .R = 3, .S = 2}),
      ConvLayer({.N = 2, .C = 3, .H = 7, .W = 10, .K = 5, .R = 1, .S = 1}),
      ConvLayer(
          {.N = 2, .C = 3, .H = 8, .W = 5, .K = 4, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}),
      ConvLayer({.C = 2, .H = 5, .W = 6, .K = 3, .R = 5, .S = 3, .padding_h = 2, .padding_w = 1}),
      ConvLayer({.N = 2,
                 .C = 4,
                 .H = 9,
                 .W = 12,
                 .K = 3,
                 .R = 3,
                 .S = 3,
                 .stride_h = 2,
                 .stride_w = 2,
                 .padding_h = 1,
                 .padding_w = 1}),
      ConvLayer({.N = 2,
                 .C = 3,
                 .H = 11,
                 .W = 10,
                 .K = 2,
                 .R = 3,
                 .S = 4,
                 .stride_h = 2,
                 .stride_w = 3,
                 .padding_h = 0,
                 .padding_w = 2}),
      // The stride steps over cells.
      ConvLayer({.C = 3, .H = 13, .W = 11, .K = 2, .R = 2, .S = 1, .stride_h = 4, .stride_w = 3}),
      // Outputs of nothing but ghost cells, and a map that is smaller than the filter.
      ConvLayer({.C = 2, .H = 4, .W = 3, .K = 2, .R = 2, .S = 3, .padding_h = 3, .padding_w = 4}),
      ConvLayer({.C = 7, .H = 2, .W = 1, .K = 3, .R = 5, .S = 5, .padding_h = 2, .padding_w = 2}),
      // Rows that are longer than the reference's chunk of 1024, and planes that do not divide it.
      ConvLayer({.H = 2, .W = 2501, .K = 2, .R = 1, .S = 3, .padding_w = 1}),
      ConvLayer({.N = 3,
                 .C = 2,
                 .H = 19,
                 .W = 23,
                 .K = 3,
                 .R = 3,
                 .S = 3,
                 .padding_h = 1,
                 .padding_w = 1}),
      // 1448 products an output: as many as adversarial data can tell apart (layer_inputs.hpp).
      ConvLayer({.C = 362, .H = 4, .W = 3, .K = 2, .R = 2, .S = 2}),
  };
}

// A layer of random small sizes that is valid.
ConvLayer random_layer(conv::Random& random) {
  const auto from_to = [&](int least, int most) {
    return least +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  for (;;) {
    const LayerShape shape{.N = from_to(1, 3),
                           .C = from_to(1, 4),
                           .H = from_to(1, 9),
                           .W = from_to(1, 9),
                           .K = from_to(1, 4),
                           .R = from_to(1, 5),
                           .S = from_to(1, 5),
                           .stride_h = from_to(1, 4),
                           .stride_w = from_to(1, 4),
                           .padding_h = from_to(0, 4),
                           .padding_w = from_to(0, 4)};
    if (shape.R <= shape.H + 2 * shape.padding_h && shape.S <= shape.W + 2 * shape.padding_w) {
      return ConvLayer(shape);
    }
  }
}

// Calls pair(output, product, cell, tap) for each pair of a tap and a cell that exists.
template <class Pair>
void for_each_pair(const ConvLayer& layer, Pair pair) {
  std::int64_t output = 0;
  for (std::int64_t n = 0; n < layer.N(); ++n) {
    for (std::int64_t k = 0; k < layer.K(); ++k) {
      for (std::int64_t p = 0; p < layer.P(); ++p) {
        for (std::int64_t q = 0; q < layer.Q(); ++q, ++output) {
          std::int64_t product = 0;
          for (std::int64_t c = 0; c < layer.C(); ++c) {
            for (std::int64_t r = 0; r < layer.R(); ++r) {
              for (std::int64_t s = 0; s < layer.S(); ++s, ++product) {
                const std::int64_t h = p * layer.stride_h() + r - layer.padding_h();
                const std::int64_t w = q * layer.stride_w() + s - layer.padding_w();
                if (h < 0 || w < 0 || h >= layer.H() || w >= layer.W()) continue;
                pair(
                    static_cast<std::size_t>(output), product,
                    static_cast<std::size_t>(((n * layer.C() + c) * layer.H() + h) * layer.W() + w),
                    static_cast<std::size_t>(k * layer.products_per_output() + product));
              }
            }
          }
        }
      }
    }
  }
}

// Two verdicts that must agree to the last bit.
void require_same(const Comparison& a, const Comparison& b) {
  REQUIRE(a.compared == b.compared);
  REQUIRE(a.worst_share == b.worst_share);
  REQUIRE(a.worst_index == b.worst_index);
  REQUIRE(a.describe() == b.describe());  // the counts and the worst outputs
}

struct Mistake {
  const char* name;
  PlainLayer kernel;
  bool shows;  // on this layer
};

// Wrong kernels, and whether they compute anything else than the right one: where an axis is 1 there
// is nothing to confuse.
std::vector<Mistake> mistakes(const ConvLayer& layer) {
  const LayerShape& l = layer.shape();
  const std::int64_t P = layer.P();
  const std::int64_t Q = layer.Q();
  const bool has_products = conv::products(layer) > 0;
  // Sure to meet cells with every tap.
  const bool is_roomy = l.R <= l.H && l.S <= l.W && l.padding_h < l.R && l.padding_w < l.S;
  const bool is_padded = l.padding_h > 0 || l.padding_w > 0;
  return {
      {"a tap forgotten", {.dropped_product = l.C * l.R * l.S / 2}, is_roomy},
      {"the last tap forgotten", {.dropped_product = l.C * l.R * l.S - 1}, is_roomy},
      {"the first tap twice", {.doubled_product = 0}, is_roomy},
      {"rows flipped", {.flipped_rows = true}, l.R > 1},
      {"columns flipped", {.flipped_columns = true}, l.S > 1 && l.W > 1},
      {"true convolution", {.flipped_rows = true, .flipped_columns = true}, l.R > 1},
      {"r and s exchanged", {.filter_transposed = true}, l.R > 1 && l.S > 1 && is_roomy},
      {"filters RSC", {.filter_channels_last = true}, l.C > 1 && l.R * l.S > 1},
      {"filters CKRS", {.filter_first_is_channel = true}, l.C > 1 && l.K > 1},
      {"input WH", {.input_transposed = true}, l.H > 1 && l.W > 1 && is_roomy},
      {"input NHWC", {.input_channels_last = true}, l.C > 1 && l.H * l.W > 1},
      {"input CHWN", {.input_batch_last = true}, l.N > 1 && l.C * l.H * l.W > 1},
      {"output KN", {.output_filters_first = true}, l.N > 1 && l.K > 1},
      {"output QP", {.output_transposed = true}, P > 1 && Q > 1},
      {"the first image for all", {.first_image_only = true}, l.N > 1},
      {"edges repeated", {.clamps = true}, is_padded},
      {"edges wrapped", {.wraps = true}, is_padded && l.H * l.W * l.C * l.N > 1},
      {"a row further down", {.down = 1}, is_roomy},
      {"a column to the left", {.right = -1}, is_roomy},
      {"the next channel", {.channels_on = 1}, l.C > 1},
      {"the next filter", {.filters_on = 1}, l.K > 1},
      {"the next image", {.images_on = 1}, l.N > 1},
      {"the last output left out", {.unwritten = 1}, true},
      {"stride 1 down", {.stride_h = 1}, l.stride_h > 1 && P > 1},
      {"stride 1 across", {.stride_w = 1}, l.stride_w > 1 && Q > 1},
      {"strides exchanged",
       {.stride_h = layer.stride_w(), .stride_w = layer.stride_h()},
       l.stride_h != l.stride_w && (P > 1 || Q > 1)},
      {"a stride too long", {.stride_w = layer.stride_w() + 1}, Q > 1 && has_products},
      {"no padding above", {.padding_h = 0}, l.padding_h > 0},
      {"no padding left", {.padding_w = 0}, l.padding_w > 0},
      {"one padding too many", {.padding_h = layer.padding_h() + 1}, is_roomy},
      {"paddings exchanged",
       {.padding_h = layer.padding_w(), .padding_w = layer.padding_h()},
       l.padding_h != l.padding_w},
  };
}

}  // namespace

TEST_CASE("a layer knows its output's size", "[layer]") {
  // AlexNet's first layer, a ResNet layer that halves the map, and cuConv's usual padding.
  const ConvLayer alexnet({.N = 128,
                           .C = 3,
                           .H = 227,
                           .W = 227,
                           .K = 96,
                           .R = 11,
                           .S = 11,
                           .stride_h = 4,
                           .stride_w = 4});
  CHECK(alexnet.P() == 55);
  CHECK(alexnet.Q() == 55);
  CHECK(alexnet.input_size() == 128 * 3 * 227 * 227);
  CHECK(alexnet.filters_size() == 96 * 3 * 11 * 11);
  CHECK(alexnet.output_size() == 128 * 96 * 55 * 55);
  CHECK(alexnet.products_per_output() == 363);
  const ConvLayer resnet(
      {.C = 256, .H = 56, .W = 56, .K = 512, .R = 1, .S = 1, .stride_h = 2, .stride_w = 2});
  CHECK(resnet.P() == 28);
  const ConvLayer same({.H = 7, .W = 9, .R = 5, .S = 3, .padding_h = 2, .padding_w = 1});
  CHECK(same.P() == 7);
  CHECK(same.Q() == 9);
  // Down and across are not the same; what does not divide is cut off.
  const ConvLayer skew({.H = 10,
                        .W = 20,
                        .R = 3,
                        .S = 4,
                        .stride_h = 3,
                        .stride_w = 5,
                        .padding_h = 1,
                        .padding_w = 0});
  CHECK(skew.P() == 4);  // (10 + 2 - 3) / 3 + 1
  CHECK(skew.Q() == 4);  // (20 - 4) / 5 + 1
  CHECK(ConvLayer({.H = 3, .W = 5, .R = 3, .S = 5, .stride_h = 9, .stride_w = 9}).output_size() ==
        1);
  CHECK(skew.with_batch(7).shape().N == 7);
  CHECK(skew.with_batch(1) == skew);
  CHECK_THAT(message_of([&] { skew.with_batch(0); }), test::contains("N (images)"));
}

TEST_CASE("a layer knows whether its filters cover the map", "[layer]") {
  CHECK(ConvLayer({.H = 6, .W = 5, .R = 6, .S = 5}).filters_cover_map());
  CHECK(ConvLayer({.H = 6, .W = 5, .R = 6, .S = 5, .stride_h = 3}).filters_cover_map());
  CHECK(!ConvLayer({.H = 6, .W = 5, .R = 6, .S = 5, .padding_h = 1}).filters_cover_map());
  // One output each, but not of the whole map.
  const ConvLayer part({.H = 6, .W = 5, .R = 6, .S = 4, .stride_w = 2});
  CHECK(part.output_size() == 1);
  CHECK(!part.filters_cover_map());
}

TEST_CASE("dimensions outside the limits are refused in one line", "[layer]") {
  const LayerShape good{.N = 2, .C = 3, .H = 8, .W = 9, .K = 4, .R = 3, .S = 2};
  CHECK(layer_refusal(good) == "nothing was thrown");
  const std::pair<std::int64_t LayerShape::*, const char*> dimensions[] = {
      {&LayerShape::N, "N (images)"},
      {&LayerShape::C, "C (channels)"},
      {&LayerShape::H, "H (rows"},
      {&LayerShape::W, "W (columns"},
      {&LayerShape::K, "K (filters)"},
      {&LayerShape::R, "R (rows"},
      {&LayerShape::S, "S (columns"},
      {&LayerShape::stride_h, "stride down"},
      {&LayerShape::stride_w, "stride across"}};
  for (const auto& [member, name] : dimensions) {
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-1}, -kBillions,
                                   std::numeric_limits<std::int64_t>::min()}) {
      LayerShape shape = good;
      shape.*member = bad;
      CHECK_THAT(layer_refusal(shape), test::contains(std::string(name)));
      CHECK_THAT(layer_refusal(shape), test::contains("at least 1, got " + std::to_string(bad)));
    }
    // 2^32 + 3 would be 3 in an int.
    for (const std::int64_t bad : {kBillions, 2 * kBillions + 3}) {
      LayerShape shape = good;
      shape.*member = bad;
      CHECK_THAT(layer_refusal(shape),
                 test::contains("at most 2147483647, got " + std::to_string(bad)));
    }
  }
  for (const auto member : {&LayerShape::padding_h, &LayerShape::padding_w}) {
    LayerShape shape = good;
    shape.*member = -1;
    CHECK_THAT(layer_refusal(shape), test::contains("padding"));
    CHECK_THAT(layer_refusal(shape), test::contains("at least 0, got -1"));
    shape.*member = kBillions / 2;
    CHECK_THAT(layer_refusal(shape), test::contains("is too large: at most 2147483647"));
  }
}

TEST_CASE("a filter larger than the padded input is refused", "[layer]") {
  CHECK_THAT(layer_refusal({.H = 4, .W = 9, .R = 5, .S = 3}),
             test::contains("5 rows, the input has 4"));
  CHECK_THAT(layer_refusal({.H = 9, .W = 4, .R = 3, .S = 7, .padding_h = 1, .padding_w = 1}),
             test::contains("7 columns, the input has 6 with padding (4 + 2 * 1)"));
  CHECK(ConvLayer({.H = 4, .W = 4, .R = 6, .S = 6, .padding_h = 1, .padding_w = 1}).P() == 1);
}

TEST_CASE("arrays that 32 bits cannot number are refused, more products are counted", "[layer]") {
  CHECK(conv::kMaxElements < kBillions);
  CHECK(ConvLayer({.H = 1, .W = conv::kMaxElements, .R = 1, .S = 1}).output_size() ==
        conv::kMaxElements);
  CHECK_THAT(layer_refusal({.H = 1, .W = conv::kMaxElements + 1, .R = 1, .S = 1}),
             test::contains("the input is too large: N x C x H x W = 1 x 1 x 1 x 2147479552"));
  // Each of the three on its own; 2^32 elements would be none in an int.
  CHECK_THAT(layer_refusal({.N = 1 << 16, .C = 1 << 16, .H = 1, .W = 1, .R = 1, .S = 1}),
             test::contains("the input is too large"));
  CHECK_THAT(layer_refusal({.C = 1 << 16, .H = 1, .W = 1, .K = 1 << 16, .R = 1, .S = 1}),
             test::contains("the filters' array is too large"));
  CHECK_THAT(layer_refusal({.N = 1 << 16, .H = 1, .W = 1, .K = 1 << 16, .R = 1, .S = 1}),
             test::contains("the output is too large"));
  // Products that do not fit 64 bits, and one of which 64 bits keep nothing: 2^64.
  const std::int64_t most = kBillions - 1;
  CHECK_THAT(layer_refusal({.N = most, .C = most, .H = most, .W = most, .R = 1, .S = 1}),
             test::contains("at most 2147479551 can be numbered"));
  const std::int64_t root = 1 << 16;
  CHECK_THAT(layer_refusal({.N = root, .C = root, .H = root, .W = root, .R = 1, .S = 1}),
             test::contains("the input is too large"));
  CHECK_THAT(layer_refusal({.C = 1 << 24, .H = 1, .W = 1, .R = 1, .S = 1}),
             test::contains("C x R x S = 16777216 products"));
  // VGG at batch 256: 2^39 products.
  const ConvLayer vgg({.N = 256,
                       .C = 64,
                       .H = 224,
                       .W = 224,
                       .K = 64,
                       .R = 3,
                       .S = 3,
                       .padding_h = 1,
                       .padding_w = 1});
  CHECK(conv::products(vgg) == std::int64_t{256} * 64 * 64 * (3 * 224 - 2) * (3 * 224 - 2));
  CHECK(conv::products(vgg) > kBillions);
  // The largest there can be: 2^54.99 products.
  const ConvLayer largest(
      {.C = 4095, .H = 64, .W = 64, .K = 8191, .R = 64, .S = 1, .padding_h = 0, .padding_w = 1982});
  CHECK(conv::flops(largest) == std::int64_t{2} * 4095 * 8191 * 64 * 64);
  const ConvLayer deep({.N = 46340, .C = 46340, .H = 1, .W = 1, .K = 46340, .R = 1, .S = 1});
  CHECK(conv::products(deep) == std::int64_t{46340} * 46340 * 46340);
}

TEST_CASE("a label names a layer as cuConv does, and no other", "[layer]") {
  const LayerShape shape{
      .N = 1, .C = 192, .H = 7, .W = 7, .K = 384, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1};
  CHECK(conv::label(ConvLayer(shape)) == "7-1-3-384-192");
  CHECK(conv::label(ConvLayer({.N = 8,
                               .C = 48,
                               .H = 7,
                               .W = 9,
                               .K = 128,
                               .R = 5,
                               .S = 3,
                               .stride_h = 2,
                               .stride_w = 2})) == "7x9-8-5x3-128-48-s2-p0");
  CHECK(conv::label(ConvLayer({.H = 9, .W = 9, .R = 1, .S = 1, .stride_w = 2, .padding_h = 1})) ==
        "9-1-1-1-1-s1x2-p1x0");
  std::set<std::string> labels;
  int layers = 0;
  for (const auto member :
       {&LayerShape::N, &LayerShape::C, &LayerShape::H, &LayerShape::W, &LayerShape::K,
        &LayerShape::R, &LayerShape::S, &LayerShape::stride_h, &LayerShape::stride_w,
        &LayerShape::padding_h, &LayerShape::padding_w}) {
    for (const int more : {1, 2, 3}) {
      LayerShape other = shape;
      other.*member += more;
      labels.insert(conv::label(ConvLayer(other)));
      ++layers;
    }
  }
  CHECK(labels.size() == static_cast<std::size_t>(layers));
}

TEST_CASE("outputs in CHWN get the verdict of the same outputs in NCHW", "[layer]") {
  conv::Random random(test::seed());
  std::vector<ConvLayer> layers = layers_to_try();
  layers.push_back(ConvLayer(
      {.N = 131, .C = 2, .H = 9, .W = 8, .K = 5, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1}));
  for (const ConvLayer& layer : layers) {
    for (const Repeat repeat : {Repeat{}, Repeat{3, 0}, Repeat{0, 3}, Repeat{3, 5}}) {
      const LayerData data = adversarial(layer, repeat);
      std::vector<float> output = PlainLayer{}.run(layer, data);
      for (int bad = 0; bad < 3; ++bad) output[random.below(output.size())] += 0.25f;
      const conv::Images images({.N = layer.N(), .C = layer.K(), .H = layer.P(), .W = layer.Q()});
      const std::vector<float> turned =
          rearranged(images, output, conv::Layout::nchw, conv::Layout::chwn);
      const Comparison expected =
          LayerChecker(layer, data.input, data.filters, Demand::bounded, repeat).judge(0, output);
      const LayerChecker checker(layer, data.input, data.filters, Demand::bounded, repeat,
                                 conv::Layout::chwn);
      const Comparison found = checker.judge(0, turned);
      INFO(conv::label(layer) << ", repeat " << repeat.images << " x " << repeat.filters);
      CHECK(found.compared == expected.compared);
      CHECK(found.failed == expected.failed);
      CHECK(found.worst_share == expected.worst_share);
      // The same outputs, which lie elsewhere.
      std::vector<float> numbers(output.size());
      std::iota(numbers.begin(), numbers.end(), 0.0f);
      numbers = rearranged(images, numbers, conv::Layout::nchw, conv::Layout::chwn);
      std::set<float> places, turned_places;
      for (const conv::Failure& failure : expected.worst) {
        places.insert(static_cast<float>(failure.index));
      }
      for (const conv::Failure& failure : found.worst) {
        turned_places.insert(numbers[static_cast<std::size_t>(failure.index)]);
      }
      CHECK(places == turned_places);
      // In pieces of any size.
      Comparison pieces;
      for (std::size_t at = 0; at < turned.size();) {
        const std::size_t count = std::min<std::size_t>(random.below(300), turned.size() - at);
        pieces.merge(checker.judge(static_cast<std::int64_t>(at),
                                   std::span<const float>(turned).subspan(at, count)));
        at += count;
      }
      require_same(pieces, found);
      // What is right in one layout is wrong in the other.
      if (layer.N() > 1 && layer.output_size() > layer.N()) {
        CHECK_FALSE(checker.judge(0, PlainLayer{}.run(layer, data)).passed());
      }
    }
  }
}

TEST_CASE("the reference gives what a hand computes", "[layer]") {
  const std::vector<float> nine = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto value = [](const LayerShape& shape, const std::vector<float>& input,
                        const std::vector<float>& filters) {
    return conv::reference(ConvLayer(shape), input, filters).value;
  };
  // 37 = 1*1 + 2*2 + 4*3 + 5*4
  CHECK(value({.H = 3, .W = 3, .R = 2, .S = 2}, nine, {1, 2, 3, 4}) ==
        std::vector<double>{37, 47, 67, 77});
  CHECK(value({.H = 3, .W = 3, .R = 1, .S = 3}, nine, {1, 10, 100}) ==
        std::vector<double>{321, 654, 987});
  CHECK(value({.H = 3, .W = 3, .R = 3, .S = 1}, nine, {1, 10, 100}) ==
        std::vector<double>{741, 852, 963});
  // The filter's middle over the corners: 94 = 5*1 + 6*2 + 8*4 + 9*5
  CHECK(value({.H = 3,
               .W = 3,
               .R = 3,
               .S = 3,
               .stride_h = 2,
               .stride_w = 2,
               .padding_h = 1,
               .padding_w = 1},
              nine, nine) == std::vector<double>{94, 106, 106, 94});
  // Two images, channels and filters: [n][k] = 1*3 + 10*5, 1*7 + 10*11, 2*3 + ...
  CHECK(value({.N = 2, .C = 2, .H = 1, .W = 1, .K = 2, .R = 1, .S = 1}, {1, 10, 2, 20},
              {3, 5, 7, 11}) == std::vector<double>{53, 117, 106, 234});
  // Outputs that see ghost cells only are 0.
  CHECK(value({.H = 1, .W = 1, .R = 1, .S = 1, .padding_h = 0, .padding_w = 2}, {3}, {5}) ==
        std::vector<double>{0, 0, 15, 0, 0});
  // Signs cancel in the value, not in the scale.
  const auto signs = conv::reference(ConvLayer({.H = 1, .W = 2, .R = 1, .S = 2}),
                                     std::vector<float>{3, 4}, std::vector<float>{2, -1});
  CHECK(signs.value == std::vector<double>{2});
  CHECK(signs.scale == std::vector<double>{10});
}

TEST_CASE("the reference of a layer is the definition, term by term", "[layer]") {
  std::vector<ConvLayer> layers = layers_to_try();
  conv::Random random(test::seed());
  for (int i = 0; i < 300; ++i) layers.push_back(random_layer(random));
  for (const ConvLayer& layer : layers) {
    INFO(conv::label(layer));
    const LayerData data = adversarial(layer);
    const auto reference = conv::reference(layer, data.input, data.filters);
    const auto outputs = static_cast<std::size_t>(layer.output_size());
    std::vector<long double> value(outputs), scale(outputs);
    std::vector<std::int64_t> count(outputs);
    for_each_pair(layer, [&](std::size_t output, std::int64_t, std::size_t cell, std::size_t tap) {
      const long double product = static_cast<long double>(data.input[cell]) * data.filters[tap];
      value[output] += product;
      scale[output] += std::fabs(product);
      ++count[output];
    });
    REQUIRE(reference.value.size() == outputs);
    REQUIRE(reference.scale.size() == outputs);
    double largest_share = 0;
    bool same_scale = true;
    bool same_alone = true;
    for (std::size_t i = 0; i < outputs; ++i) {
      const double bound = conv::error_bound(count[i], static_cast<double>(scale[i]));
      const auto error = static_cast<double>(std::fabs(reference.value[i] - value[i]));
      if (error > 0) largest_share = std::max(largest_share, error / bound);
      same_scale = same_scale && std::fabs(reference.scale[i] - scale[i]) <= 1e-12L * scale[i];
      if (outputs > 500 && i % 37 > 0) continue;
      const auto alone =
          conv::output_reference(layer, data.input, data.filters, static_cast<std::int64_t>(i));
      same_alone = same_alone && alone.value == reference.value[i] &&
                   alone.scale == reference.scale[i] && alone.products == count[i];
    }
    CHECK(largest_share < 0x1p-28);
    CHECK(same_scale);
    CHECK(same_alone);
  }
}

TEST_CASE("correct layers pass, whatever the order of the sum", "[layer]") {
  std::vector<ConvLayer> layers = layers_to_try();
  conv::Random random(test::seed());
  for (int i = 0; i < 100; ++i) layers.push_back(random_layer(random));
  // Many products, where the input spans many octaves.
  layers.emplace_back(LayerShape{.C = 512, .H = 4, .W = 5, .K = 2, .R = 3, .S = 3});
  for (const ConvLayer& layer : layers) {
    INFO(conv::label(layer));
    const LayerData bounded = adversarial(layer);
    const LayerData whole = exact(layer);
    for (const bool backward : {false, true}) {
      for (const bool fused : {false, true}) {
        const PlainLayer kernel{.backward = backward, .fused = fused};
        const Comparison result = check(layer, bounded, kernel);
        INFO(result.describe());
        REQUIRE(result.passed());
        REQUIRE(result.compared == layer.output_size());
        REQUIRE(check(layer, whole, kernel, Demand::exact).passed());
      }
    }
  }
}

TEST_CASE("wrong kernels fail on every layer on which they are wrong", "[layer]") {
  std::vector<int> shown(mistakes(layers_to_try().front()).size());
  for (const ConvLayer& layer : layers_to_try()) {
    const LayerData bounded = adversarial(layer);
    const LayerData whole = exact(layer);
    std::size_t which = 0;
    for (const Mistake& mistake : mistakes(layer)) {
      const std::size_t index = which++;
      if (!mistake.shows) continue;
      ++shown[index];
      INFO(conv::label(layer) << ", " << mistake.name);
      CHECK_FALSE(check(layer, bounded, mistake.kernel).passed());
      // Whole numbers are few: on a handful of them a mistake can be right by chance.
      if (layer.output_size() >= 20) {
        CHECK_FALSE(check(layer, whole, mistake.kernel, Demand::exact).passed());
      }
    }
  }
  // Each mistake had its chance.
  for (std::size_t i = 0; i < shown.size(); ++i) {
    INFO(mistakes(layers_to_try().front())[i].name);
    CHECK(shown[i] >= 1);
  }
}

TEST_CASE("one product of one output, left out or counted twice, is seen there", "[layer]") {
  conv::Random random(test::seed());
  for (const ConvLayer& layer : layers_to_try()) {
    const LayerData bounded = adversarial(layer);
    const LayerData whole = exact(layer);
    const std::vector<float> good = PlainLayer{}.run(layer, bounded);
    const std::vector<float> good_whole = PlainLayer{}.run(layer, whole);
    const LayerChecker judge(layer, bounded.input, bounded.filters);
    const LayerChecker judge_whole(layer, whole.input, whole.filters, Demand::exact);
    // All pairs of small layers, some of the others.
    const std::uint64_t one_in = 1 + static_cast<std::uint64_t>(conv::products(layer)) / 400;
    int tried = 0;
    for_each_pair(layer, [&](std::size_t output, std::int64_t, std::size_t cell, std::size_t tap) {
      if (random.below(one_in) > 0) return;
      ++tried;
      const auto verdict = [&](const LayerChecker& checker, const std::vector<float>& outputs,
                               const LayerData& data, float sign) {
        // Less, or more, than the right sum by one product.
        const float wrong = outputs[output] + sign * data.input[cell] * data.filters[tap];
        return checker.judge(static_cast<std::int64_t>(output), {&wrong, 1}).passed();
      };
      REQUIRE_FALSE(verdict(judge, good, bounded, -1));
      REQUIRE_FALSE(verdict(judge, good, bounded, 1));
      REQUIRE_FALSE(verdict(judge_whole, good_whole, whole, -1));
      REQUIRE_FALSE(verdict(judge_whole, good_whole, whole, 1));
    });
    INFO(conv::label(layer));
    CHECK(tried > 0);
  }
}

TEST_CASE("of thousands of products each tap shows, and with whole numbers each product",
          "[layer]") {
  // 4608 products, as in VGG's last layers, and 9216. The map is large enough for each tap to meet
  // one of the large cells, which are 1 in 10 and 1 in 30.
  for (const int channels : {512, 1024}) {
    const ConvLayer layer(
        {.C = channels, .H = 24, .W = 24, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
    const LayerData bounded = adversarial(layer);
    const LayerData whole = exact(layer);
    const std::vector<float> good = PlainLayer{}.run(layer, bounded);
    const std::vector<float> good_whole = PlainLayer{}.run(layer, whole);
    const LayerChecker judge(layer, bounded.input, bounded.filters);
    const LayerChecker judge_whole(layer, whole.input, whole.filters, Demand::exact);
    CHECK(judge.judge(0, good).passed());
    CHECK(judge_whole.judge(0, good_whole).passed());
    // The outputs less the products of one tap, as a kernel that forgot it would have them.
    conv::Random random(test::seed());
    std::set<std::int64_t> taps;
    while (taps.size() < 6) {
      taps.insert(static_cast<std::int64_t>(
          random.below(static_cast<std::uint64_t>(layer.products_per_output()))));
    }
    std::vector<std::vector<float>> outputs(taps.size(), good);
    std::size_t whole_products = 0;
    std::size_t whole_seen = 0;
    for_each_pair(
        layer, [&](std::size_t output, std::int64_t product, std::size_t cell, std::size_t tap) {
          const auto found = taps.find(product);
          if (found == taps.end()) return;
          outputs[static_cast<std::size_t>(std::distance(taps.begin(), found))][output] -=
              bounded.input[cell] * bounded.filters[tap];
          const float wrong = good_whole[output] - whole.input[cell] * whole.filters[tap];
          ++whole_products;
          whole_seen += !judge_whole.judge(static_cast<std::int64_t>(output), {&wrong, 1}).passed();
        });
    for (const std::vector<float>& wrong : outputs) CHECK_FALSE(judge.judge(0, wrong).passed());
    CHECK(whole_products >= 6 * 23 * 23);
    CHECK(whole_seen == whole_products);
  }
}

TEST_CASE("a single bad output of a layer is found wherever it is", "[layer]") {
  const ConvLayer layer(
      {.N = 2, .C = 2, .H = 23, .W = 29, .K = 3, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const LayerData data = adversarial(layer);
  const std::vector<float> good = PlainLayer{}.run(layer, data);
  const LayerChecker checker(layer, data.input, data.filters);
  REQUIRE(good.size() == 4002);
  // Of an output that is nearly 0 a hundredth more is no error.
  const auto [least, most] = std::minmax_element(good.begin(), good.end());
  const float error = 0.01f * (*most - *least);
  for (const std::size_t place : {0u, 1u, 666u, 667u, 1023u, 1024u, 2001u, 4000u, 4001u}) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), conv::poison(), good[place] + error,
          std::numeric_limits<float>::infinity(), -good[place], 0.0f}) {
      std::vector<float> output = good;
      output[place] = bad;
      const Comparison result = checker.judge(0, output);
      CHECK(result.failed == 1);
      CHECK(result.first_failure == static_cast<std::int64_t>(place));
      CHECK(result.missing == (conv::is_poison(bad) ? 1 : 0));
    }
  }
}

TEST_CASE("at padded edges the bound is that of the products there are", "[layer]") {
  // One cell under 5x5 taps: each output is one product, rounded once.
  const ConvLayer layer({.H = 1, .W = 2, .R = 5, .S = 5, .padding_h = 2, .padding_w = 2});
  const LayerData data = adversarial(layer);
  const auto reference = conv::reference(layer, data.input, data.filters);
  const std::vector<float> good = PlainLayer{}.run(layer, data);
  const LayerChecker checker(layer, data.input, data.filters);
  for (std::size_t i = 0; i < 2; ++i) {
    const double bound = conv::error_bound(2, reference.scale[i]);
    for (const double off : {-1.6, -0.4, 0.4, 1.6}) {
      std::vector<float> output = good;
      output[i] = static_cast<float>(reference.value[i] + off * bound);
      INFO("output " << i << ", off by " << off << " bounds");
      // Rounding to float moves it by less than half a bound.
      CHECK(checker.judge(0, output).passed() == (std::fabs(off) < 1));
    }
  }
  // Where there is no product at all, only 0 is right.
  const ConvLayer empty({.H = 1, .W = 1, .R = 1, .S = 1, .padding_h = 1, .padding_w = 1});
  const std::vector<float> input = {2}, filters = {3};
  std::vector<float> output = {0, 0, 0, 0, 6, 0, 0, -0.0f, 0};
  CHECK(conv::check(empty, input, filters, output).passed());
  output[0] = std::numeric_limits<float>::denorm_min();
  CHECK(conv::check(empty, input, filters, output).failed == 1);
}

TEST_CASE("whole numbers leave no room for a last bit", "[layer]") {
  const ConvLayer layer(
      {.C = 9, .H = 6, .W = 7, .K = 4, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const LayerData data = exact(layer);
  std::vector<float> output = PlainLayer{}.run(layer, data);
  const LayerChecker checker(layer, data.input, data.filters, Demand::exact);
  CHECK(checker.judge(0, output).passed());
  for (const std::size_t i : {0u, 50u, 167u}) {
    output[i] = std::nextafter(output[i], std::numeric_limits<float>::infinity());
  }
  CHECK(checker.judge(0, output).failed == 3);
}

TEST_CASE("a layer judged in pieces gets the verdict of the whole", "[layer]") {
  conv::Random random(test::seed());
  for (const ConvLayer& layer : layers_to_try()) {
    const LayerData data = adversarial(layer);
    std::vector<float> output = PlainLayer{}.run(layer, data);
    for (int bad = 0; bad < 3; ++bad) output[random.below(output.size())] += 0.25f;
    const LayerChecker checker(layer, data.input, data.filters);
    Comparison pieces;
    for (std::size_t at = 0; at < output.size();) {
      const std::size_t count = std::min<std::size_t>(random.below(200), output.size() - at);
      const std::span<const float> piece = std::span<const float>(output).subspan(at, count);
      pieces.merge(checker.judge(static_cast<std::int64_t>(at), piece));
      at += count;
    }
    INFO(conv::label(layer));
    require_same(pieces, checker.judge(0, output));
  }
}

TEST_CASE("the check of a large layer, which uses threads, misses nothing", "[layer]") {
  const ConvLayer layer({.N = 2,
                         .C = 3,
                         .H = 101,
                         .W = 103,
                         .K = 31,
                         .R = 3,
                         .S = 3,
                         .padding_h = 1,
                         .padding_w = 1});
  CHECK(conv::products(layer) > 1 << 24);
  const LayerData data = exact(layer);
  const auto reference = conv::reference(layer, data.input, data.filters);
  std::vector<float> output;
  for (const double value : reference.value) output.push_back(static_cast<float>(value));
  // The threads' reference against the test's own loops.
  REQUIRE(output == PlainLayer{}.run(layer, data));
  const LayerChecker checker(layer, data.input, data.filters, Demand::exact);
  CHECK(checker.judge(0, output).compared == layer.output_size());
  const std::vector<std::size_t> places = {0, 10'402, 322'493, 322'494, output.size() - 1};
  for (const std::size_t place : places) output[place] += 1;
  const Comparison result = checker.judge(0, output);
  CHECK(result.failed == 5);
  REQUIRE(result.worst.size() == 5);
  for (std::size_t k = 0; k < 5; ++k) {
    CHECK(result.worst[k].index == static_cast<std::int64_t>(places[k]));
  }
}

TEST_CASE("a transform's error is allowed where it is asked for, a wrong sum is not", "[layer]") {
  double worst = 0;
  int beyond_the_sum = 0;
  for (const int channels : {1, 3, 16, 64, 160}) {
    const ConvLayer layer({.N = 2,
                           .C = channels,
                           .H = 11,
                           .W = 14,
                           .K = 3,
                           .R = 3,
                           .S = 3,
                           .padding_h = 1,
                           .padding_w = 1});
    const LayerData data = adversarial(layer);
    const auto judge = [&](const std::vector<float>& output, Demand demand) {
      return conv::check(layer, data.input, data.filters, output, demand);
    };
    INFO(channels << " channels");
    const std::vector<float> output = WinogradLayer{}.run(layer, data);
    const Comparison transformed = judge(output, Demand::transformed);
    INFO(transformed.describe());
    CHECK(transformed.passed());
    worst = std::max(worst, transformed.worst_share);
    beyond_the_sum += !judge(output, Demand::bounded).passed();
    // Plain sums need nothing of what is added.
    CHECK(check(layer, data, {}, Demand::transformed).passed());

    CHECK_FALSE(
        judge(WinogradLayer{.dropped_channel = channels / 2}.run(layer, data), Demand::transformed)
            .passed());
    for (const Mistake& mistake : mistakes(layer)) {
      INFO(mistake.name);
      if (mistake.shows)
        CHECK_FALSE(check(layer, data, mistake.kernel, Demand::transformed).passed());
    }
  }
  CHECK(beyond_the_sum > 0);  // else this demand would not be needed
  CHECK(worst < 0.5);         // and it is no tighter than has to be
  CHECK(worst > 0.005);       // nor so wide that it tells nothing
}

TEST_CASE("what a transform adds follows the image and the filter, not the place", "[layer]") {
  // Image 1 is a thousand times as large as image 0, filter 1 ten times as filter 0.
  const ConvLayer layer({.N = 2, .C = 2, .H = 4, .W = 4, .K = 2, .R = 3, .S = 3});
  LayerData data = adversarial(layer);
  std::fill(data.input.begin(), data.input.begin() + 32, 0.25f);
  std::fill(data.input.begin() + 32, data.input.end(), 250.0f);
  std::fill(data.filters.begin(), data.filters.begin() + 18, 0.0f);
  std::fill(data.filters.begin() + 18, data.filters.end(), 0.0f);
  data.filters[0] = 1.0f;
  data.filters[18] = 10.0f;
  for (const Repeat repeat : {Repeat{}, Repeat{2, 2}}) {
    const LayerChecker checker(layer, data.input, data.filters, Demand::transformed, repeat);
    for (std::int64_t i = 0; i < layer.output_size(); ++i) {
      const double expected =
          conv::output_reference(layer, data.input, data.filters, i).value;  // 0.25 ... 2500
      const double allowed = conv::transform_error(i < 8 ? 0.25 : 250, i / 4 % 2 == 0 ? 1 : 10) +
                             conv::error_bound(18, expected);
      INFO("output " << i);
      // Within a float's own rounding.
      const auto off_by = [&](double share) {
        const auto found = static_cast<float>(expected + share * allowed);
        return checker.judge(i, std::span<const float>(&found, 1)).passed();
      };
      CHECK(off_by(0.98));
      CHECK_FALSE(off_by(1.02));
      CHECK_FALSE(off_by(-1.02));
    }
  }
}

TEST_CASE("a transform is judged over ghost cells as well", "[layer]") {
  // Output 0 sees no cell at all; what a tile leaves there is rounding.
  const ConvLayer layer({.H = 2, .W = 2, .R = 2, .S = 2, .padding_h = 3, .padding_w = 3});
  const LayerData data = adversarial(layer);
  std::vector<float> output = PlainLayer{}.run(layer, data);
  REQUIRE(output[0] == 0);
  output[0] = 0x1p-24f * std::fabs(data.input[0]) * std::fabs(data.filters[0]);
  REQUIRE(output[0] != 0);
  CHECK_FALSE(conv::check(layer, data.input, data.filters, output).passed());
  CHECK(conv::check(layer, data.input, data.filters, output, Demand::transformed).passed());
}

TEST_CASE("a repeat changes the work of a checker, not its verdict", "[layer]") {
  conv::Random random(test::seed());
  const ConvLayer layers[] = {
      ConvLayer({.N = 7, .C = 2, .H = 5, .W = 6, .K = 12, .R = 3, .S = 2, .padding_w = 1}),
      ConvLayer({.N = 1,
                 .C = 3,
                 .H = 33,
                 .W = 37,
                 .K = 9,
                 .R = 3,
                 .S = 3,
                 .padding_h = 1,
                 .padding_w = 1}),
      ConvLayer({.N = 9, .C = 1, .H = 4, .W = 4, .K = 1, .R = 1, .S = 1}),
  };
  for (const ConvLayer& layer : layers) {
    for (const Repeat repeat : {Repeat{}, Repeat{3, 0}, Repeat{0, 5}, Repeat{3, 5}, Repeat{1, 1},
                                Repeat{2, 7}, Repeat{100, 100}}) {
      INFO(conv::label(layer) << ", repeat " << repeat.images << ", " << repeat.filters);
      for (const Demand demand : {Demand::bounded, Demand::exact}) {
        const LayerData data =
            demand == Demand::exact ? exact(layer, repeat) : adversarial(layer, repeat);
        std::vector<float> output = PlainLayer{}.run(layer, data);
        const LayerChecker with(layer, data.input, data.filters, demand, repeat);
        const LayerChecker without(layer, data.input, data.filters, demand);
        CHECK(with.judge(0, output).passed());
        for (int bad = 0; bad < 3; ++bad) {
          output[random.below(output.size())] += 2;
          require_same(with.judge(0, output), without.judge(0, output));
          const std::size_t first = random.below(output.size());
          const std::span<const float> tail = std::span<const float>(output).subspan(first);
          const auto from = static_cast<std::int64_t>(first);
          require_same(with.judge(from, tail), without.judge(from, tail));
        }
      }
    }
  }
}

TEST_CASE("with repeated data an image or a filter of another block is still wrong", "[layer]") {
  const ConvLayer layer({.N = 20, .C = 2, .H = 3, .W = 3, .K = 70, .R = 2, .S = 2});
  const Repeat repeat{3, 5};
  const LayerData data = adversarial(layer, repeat);
  const LayerChecker checker(layer, data.input, data.filters, Demand::bounded, repeat);
  for (const int block : {1, 2, 4, 8, 16, 32, 64}) {
    INFO("block " << block);
    const PlainLayer filters{.filters_on = block};
    CHECK_FALSE(checker.judge(0, filters.run(layer, data)).passed());
    if (block >= layer.N()) continue;
    const PlainLayer images{.images_on = block};
    CHECK_FALSE(checker.judge(0, images.run(layer, data)).passed());
  }
}

TEST_CASE("a label names its layer, and anything else is refused in one line", "[layer]") {
  const ConvLayer plain = conv::parse_label("7-1-3-384-192");
  CHECK(plain == ConvLayer({.N = 1,
                            .C = 192,
                            .H = 7,
                            .W = 7,
                            .K = 384,
                            .R = 3,
                            .S = 3,
                            .padding_h = 1,
                            .padding_w = 1}));
  CHECK(conv::parse_label("7x9-8-3x5-2-4-s2x1-p0x3") == ConvLayer({.N = 8,
                                                                   .C = 4,
                                                                   .H = 7,
                                                                   .W = 9,
                                                                   .K = 2,
                                                                   .R = 3,
                                                                   .S = 5,
                                                                   .stride_h = 2,
                                                                   .stride_w = 1,
                                                                   .padding_h = 0,
                                                                   .padding_w = 3}));
  CHECK(conv::parse_label("9-1-3-2-4-p0").padding_w() == 0);
  CHECK(conv::parse_label("9-1-3-2-4-s2").padding_w() == 1);
  for (const ConvLayer& layer : layers_to_try()) {
    INFO(conv::label(layer));
    CHECK(conv::parse_label(conv::label(layer)) == layer);
  }
  for (const char* text : {"",
                           "7",
                           "7-1-3-384",
                           "7-1-3-384-",
                           "7-1-3-384-192-",
                           "7-1-3-384-192-x2",
                           "-7-1-3-384-192",
                           "7--1-3-384-192",
                           "7-1-3-384-192-s",
                           "7-1-3-384-192-s2x",
                           "7-1-3-384-192-p0-s2",
                           "7-1-3-384-192-s2-s2",
                           "7-1-3-384-192-s2-p0-1",
                           "7x-1-3-384-192",
                           "7x7x7-1-3-384-192",
                           " 7-1-3-384-192",
                           "7-1-3-384-192 ",
                           "7-1-3-384-1e2",
                           "7-1x1-3-384-192",
                           "99999999999999999999-1-3-1-1"}) {
    INFO("'" << text << "'");
    const std::string refused = test::message_of([&] { conv::parse_label(text); });
    CHECK_THAT(refused, test::contains("'" + std::string(text) + "' names no layer"));
  }
  // What is a label, but of no layer.
  const auto refused = [](const char* text) {
    return test::message_of([&] { conv::parse_label(text); });
  };
  CHECK_THAT(refused("7-0-3-384-192"), test::contains("N (images) must be at least 1"));
  CHECK_THAT(refused("7-1-9-384-192-p0"), test::contains("the filter is larger than the input"));
  CHECK_THAT(refused("7-1-3-384-192-s0"), test::contains("stride down must be at least 1"));
  CHECK_THAT(refused("70000-1-3-384-192"), test::contains("the input is too large"));
}

TEST_CASE("one period of data that repeat says as much as all of them", "[layer]") {
  const ConvLayer layer(
      {.N = 7, .C = 2, .H = 5, .W = 6, .K = 12, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const conv::Repeat repeat{3, 5};
  const LayerData data{conv::adversarial_input(layer, test::seed(), repeat),
                       conv::adversarial_filters(layer, test::seed(), repeat)};
  std::vector<float> output = PlainLayer{}.run(layer, data);
  const std::vector<float> images(data.input.begin(), data.input.begin() + 3 * 60);
  const std::vector<float> filters(data.filters.begin(), data.filters.begin() + 5 * 18);
  CHECK(LayerChecker(layer, images, filters, Demand::bounded, repeat).judge(0, output).passed());
  CHECK(
      LayerChecker(layer, images, data.filters, Demand::bounded, repeat).judge(0, output).passed());
  output.back() = -output.back();
  CHECK(LayerChecker(layer, images, filters, Demand::bounded, repeat).judge(0, output).failed == 1);
  // Without the repeat it is too little.
  CHECK_THAT(test::message_of([&] { LayerChecker(layer, images, filters); }),
             test::contains("the input has 180 values, the problem needs 420"));
}

TEST_CASE("data that do not repeat are refused", "[layer]") {
  const ConvLayer layer({.N = 4, .C = 1, .H = 2, .W = 2, .K = 6, .R = 1, .S = 2});
  const LayerData data = adversarial(layer);
  const auto refused = [&](const LayerData& given, Repeat repeat) {
    return message_of(
        [&] { LayerChecker(layer, given.input, given.filters, Demand::bounded, repeat); });
  };
  CHECK_THAT(refused(data, {3, 0}), test::contains("the images do not repeat after 3"));
  CHECK_THAT(refused(data, {0, 5}), test::contains("the filters do not repeat after 5"));
  CHECK_THAT(refused(data, {-1, 0}), test::contains("at least 0 (none), got -1"));
  CHECK_THAT(refused(data, {0, -2}), test::contains("at least 0 (none), got -2"));
  // The very last value; two zeros that are equal as numbers only.
  LayerData repeated = adversarial(layer, {3, 5});
  CHECK(refused(repeated, {3, 5}) == "nothing was thrown");
  repeated.input.back() += 1;
  CHECK_THAT(refused(repeated, {3, 5}), test::contains("images"));
  repeated = adversarial(layer, {3, 5});
  repeated.filters[0] = 0.0f;
  repeated.filters[10] = -0.0f;
  CHECK_THAT(refused(repeated, {3, 5}), test::contains("filters"));
}

TEST_CASE("large layers repeat as far as it takes to afford their reference", "[layer]") {
  const auto vgg = [](int batch) {
    return ConvLayer({.N = batch,
                      .C = 256,
                      .H = 56,
                      .W = 56,
                      .K = 256,
                      .R = 3,
                      .S = 3,
                      .padding_h = 1,
                      .padding_w = 1});
  };
  CHECK(conv::affordable_repeat(layers_to_try().back()) == Repeat{});
  // 1.8e9 products, 7.05e6 per filter: 76 filters are affordable, 73 is the prime below.
  CHECK(conv::affordable_repeat(vgg(1)) == Repeat{0, 73});
  CHECK(conv::affordable_repeat(vgg(2)) == Repeat{0, 37});
  CHECK(conv::affordable_repeat(vgg(32)) == Repeat{3, 23});
  CHECK(conv::affordable_repeat(vgg(32)) == conv::affordable_repeat(vgg(256)));
  CHECK(conv::affordable_repeat(vgg(1), std::int64_t{1} << 40) == Repeat{});
  CHECK(conv::affordable_repeat(vgg(32), 1) == Repeat{3, 5});
  // Few filters, or few images, are kept apart.
  CHECK(conv::affordable_repeat(ConvLayer(
            {.N = 200, .C = 64, .H = 224, .W = 224, .K = 4, .R = 3, .S = 3})) == Repeat{3, 0});
  // Many outputs of few products: memory is what counts, 512 MB.
  const ConvLayer flat({.N = 64, .H = 1000, .W = 1000, .K = 33, .R = 1, .S = 1});
  const Repeat repeat = conv::affordable_repeat(flat);
  CHECK(repeat == Repeat{3, 11});
  CHECK(16.0 * repeat.images * repeat.filters * 1e6 <= 16.0 * (1 << 25));
}

TEST_CASE("data that no reference can be computed from are refused in one line", "[layer]") {
  const ConvLayer layer({.N = 2, .C = 3, .H = 4, .W = 5, .K = 6, .R = 2, .S = 2});
  LayerData data = adversarial(layer);
  const std::vector<float> output(static_cast<std::size_t>(layer.output_size()));
  const auto refused = [&] {
    return message_of([&] { conv::reference(layer, data.input, data.filters); });
  };
  CHECK(refused() == "nothing was thrown");
  data.input.pop_back();
  CHECK_THAT(refused(), test::contains("input has 119 values, the problem needs 120"));
  data = adversarial(layer);
  data.filters.push_back(1);
  CHECK_THAT(refused(), test::contains("filters' array has 73 values, the problem needs 72"));
  data = adversarial(layer);
  data.input[17] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THAT(refused(), test::contains("the input holds NaN at index 17"));
  data = adversarial(layer);
  data.filters[71] = -std::numeric_limits<float>::infinity();
  CHECK_THAT(refused(), test::contains("filters' array holds infinity at index 71"));
  // One filter's sum is what overflows: the last's, not all of them together.
  data = adversarial(layer);
  std::fill(data.input.begin(), data.input.end(), 1e38f);
  std::fill(data.filters.begin(), data.filters.end(), 0.1f);
  CHECK(refused() == "nothing was thrown");
  std::fill(data.filters.end() - 12, data.filters.end(), 0.2f);
  CHECK_THAT(refused(), test::contains("overflow float"));

  data = adversarial(layer);
  const std::span<const float> all = output;
  CHECK_THAT(message_of([&] { conv::check(layer, data.input, data.filters, all.first(143)); }),
             test::contains("output has 143 values, the problem needs 144"));
  const LayerChecker checker(layer, data.input, data.filters);
  CHECK_THAT(message_of([&] { checker.judge(1, output); }),
             test::contains("no 144 outputs from output 1 on: the layer has 144"));
  CHECK_THAT(message_of([&] { checker.judge(-1, all.first(1)); }), test::contains("output -1"));
  CHECK_THAT(message_of([&] { conv::output_reference(layer, data.input, data.filters, 144); }),
             test::contains("output 144"));
}

TEST_CASE("a layer's work is counted as if one by one", "[layer]") {
  std::vector<ConvLayer> layers = layers_to_try();
  conv::Random random(test::seed());
  for (int i = 0; i < 500; ++i) layers.push_back(random_layer(random));
  for (const ConvLayer& layer : layers) {
    std::int64_t products = 0;
    std::set<std::size_t> cells, taps;
    for_each_pair(layer, [&](std::size_t, std::int64_t, std::size_t cell, std::size_t tap) {
      ++products;
      cells.insert(cell);
      taps.insert(tap);
    });
    INFO(conv::label(layer));
    CHECK(conv::products(layer) == products);
    CHECK(conv::flops(layer) == 2 * products);
    const auto touched = static_cast<std::int64_t>(cells.size() + taps.size());
    CHECK(conv::min_bytes(layer) == 4 * (touched + layer.output_size()));
  }
}

TEST_CASE("the work of well-known layers", "[layer]") {
  // GoogleNet's and ResNet's 56x56 64 -> 64, 1x1: no ghost cell.
  const ConvLayer one({.C = 64, .H = 56, .W = 56, .K = 64, .R = 1, .S = 1});
  CHECK(conv::flops(one) == 25'690'112);
  CHECK(conv::min_bytes(one) == 1'622'016);
  // VGG's 56x56 256 -> 256, 3x3: (3*56 - 2)^2 pairs of a tap and a cell in each of 256 x 256 maps.
  const ConvLayer three(
      {.C = 256, .H = 56, .W = 56, .K = 256, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  CHECK(conv::flops(three) == 3'611'820'032);
  CHECK(conv::min_bytes(three) == 8'781'824);
  // A 1x1 layer of stride 2 reads a quarter of its input.
  const ConvLayer half(
      {.C = 256, .H = 56, .W = 56, .K = 512, .R = 1, .S = 1, .stride_h = 2, .stride_w = 2});
  CHECK(conv::min_bytes(half) == 4 * (256 * 28 * 28 + 256 * 512 + 512 * 28 * 28));
}

namespace {

// The same sums without groups and dilation: filters of all channels, spread, with zeros between their taps.
struct SpreadLayer {
  ConvLayer layer;
  std::vector<float> filters;
};

SpreadLayer spread(const ConvLayer& of, const std::vector<float>& filters) {
  LayerShape shape = of.shape();
  shape.groups = shape.dilation_h = shape.dilation_w = 1;
  shape.R = (of.R() - 1) * of.dilation_h() + 1;
  shape.S = (of.S() - 1) * of.dilation_w() + 1;
  SpreadLayer made{ConvLayer(shape), {}};
  made.filters.resize(static_cast<std::size_t>(made.layer.filters_size()));
  const int channels = of.filter_channels();
  std::size_t from = 0;
  for (std::int64_t k = 0; k < of.K(); ++k) {
    const std::int64_t first = k / (of.K() / of.groups()) * channels;
    for (std::int64_t c = first; c < first + channels; ++c) {
      for (std::int64_t r = 0; r < of.R(); ++r) {
        for (std::int64_t s = 0; s < of.S(); ++s) {
          const std::int64_t row = (k * of.C() + c) * shape.R + r * of.dilation_h();
          made.filters[static_cast<std::size_t>(row * shape.S + s * of.dilation_w())] =
              filters[from++];
        }
      }
    }
  }
  return made;
}

// Depthwise with one filter a channel and with two, groups of several channels, dilations that differ, both.
const char* const kSparseLayers[] = {"7x6-2-3-6-6-g6",        "9-1-3-10-5-s2-g5",
                                     "6x5-3-3x2-6-4-p0-g2",   "11x9-2-3-3-2-d2",
                                     "12x10-1-3-2-3-p0-d3x4", "13x8-2-5x3-6-9-s2x1-p3x1-g3-d2x1"};

}  // namespace

TEST_CASE("layer: groups and dilation leave out products that spread filters have as zeros") {
  for (const char* const name : kSparseLayers) {
    INFO(name);
    const ConvLayer layer = conv::parse_label(name);
    CHECK(conv::label(layer) == name);
    const LayerData data = adversarial(layer);
    const SpreadLayer other = spread(layer, data.filters);
    REQUIRE(other.layer.output_size() == layer.output_size());
    const conv::Reference found = conv::reference(layer, data.input, data.filters);
    const conv::Reference expected = conv::reference(other.layer, data.input, other.filters);
    CHECK(found.value == expected.value);
    CHECK(found.scale == expected.scale);
    // Each output is judged by its own products.
    std::int64_t products = 0;
    for (std::int64_t i = 0; i < layer.output_size(); ++i) {
      products += conv::output_reference(layer, data.input, data.filters, i).products;
    }
    CHECK(conv::products(layer) == products);
    const std::vector<float> outputs = PlainLayer().run(other.layer, {data.input, other.filters});
    CHECK(conv::check(layer, data.input, data.filters, outputs).passed());
    // A kernel that took the channels of another group would not pass.
    if (layer.groups() > 1) {
      std::vector<float> moved = data.input;
      const std::int64_t channels = layer.filter_channels() * layer.H() * layer.W();
      std::rotate(moved.begin(), moved.begin() + channels, moved.end());
      CHECK_FALSE(conv::check(layer, moved, data.filters, outputs).passed());
      CHECK(conv::affordable_repeat(layer, 1).filters == 0);
    }
  }
}

TEST_CASE("layer: what groups and dilation cost, by hand") {
  // Six channels, each with its filter: every cell meets three or fewer taps of one filter only.
  const ConvLayer depthwise = conv::parse_label("1x4-1-1x3-6-6-g6");
  CHECK(conv::products(depthwise) == 6 * (2 + 3 + 3 + 2));
  CHECK(conv::min_bytes(depthwise) == 4 * (6 * 4 + 6 * 3 + 6 * 4));
  // Taps two cells apart, outputs four apart: of nine cells 0, 2, 4 and 4, 6, 8 are used.
  const ConvLayer dilated = conv::parse_label("1x9-1-1x3-1-1-s4-p0-d2");
  CHECK(dilated.Q() == 2);
  CHECK(conv::products(dilated) == 2 * 3);
  CHECK(conv::min_bytes(dilated) == 4 * (5 + 3 + 2));
}

TEST_CASE("layer: groups must divide channels and filters, and a dilated filter must fit") {
  CHECK(layer_refusal({.C = 6, .H = 3, .W = 3, .K = 4, .R = 1, .S = 1, .groups = 3}) ==
        "a layer's 4 filters can't be divided into 3 equal groups");
  CHECK(layer_refusal({.C = 4, .H = 3, .W = 3, .K = 6, .R = 1, .S = 1, .groups = 3}) ==
        "a layer's 4 channels can't be divided into 3 equal groups");
  CHECK(layer_refusal({.H = 4, .W = 9, .R = 3, .S = 3, .dilation_h = 2}) ==
        "the filter is larger than the input: 5 rows, the input has 4");
  CHECK(layer_refusal({.H = 4, .W = 9, .R = 3, .S = 3, .dilation_w = 0}) ==
        "a layer's dilation across must be at least 1, got 0");
  CHECK(conv::refusal_of_groups(conv::parse_label("9-1-3-4-4-g2")) == "it takes one group only");
  CHECK(conv::refusal_of_groups(conv::parse_label("9-1-3-4-4-d1x2")).empty());
  CHECK(conv::refusal_of_dilation(conv::parse_label("9-1-3-4-4-d1x2")) == "it takes no dilation");
  CHECK(conv::refusal_of_dilation(conv::parse_label("9-1-3-4-4-g2")).empty());
}
