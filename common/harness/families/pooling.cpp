// The family of pooling layers: its problems and data, the shapes that are tried, the published ones.
#include "common/harness/families/pooling.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "common/harness/core/covering.hpp"
#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/operation.hpp"

namespace halo {

using conv::Layout;
using conv::Pooling;
using conv::PoolingLayer;
using conv::Rounding;

namespace {

class PoolingData final : public Dataset {
 public:
  PoolingData(const PoolingLayer& layer, std::vector<float> input)
      : Dataset({{"input", std::move(input), layer.input_size()}}), layer_(layer) {}

  Judge judge(Layout layout, conv::Demand) const override {
    return [checker = conv::PoolingChecker(layer_, layout, first_input(layout))](
               std::int64_t first, std::span<const float> cells) {
      return checker.judge(first, cells);
    };
  }

 protected:
  std::vector<float> arrange(Layout layout) const override {
    return conv::rearranged(layer_.input(), inputs()[0].values, Layout::nchw, layout);
  }

 private:
  PoolingLayer layer_;
};

ExpectedData::Arrange arranged_as(const conv::Images& images) {
  return [images](const std::vector<float>& values, Layout layout) {
    return conv::rearranged(images, values, Layout::nchw, layout);
  };
}

// What the output at that place of an array in the layout is to be; cell(place) is the input in the same
// layout.
template <class Cell>
ExpectedOutput expected_of(const PoolingLayer& layer, Layout layout, std::int64_t index,
                           Cell cell) {
  const LayerNumbers l = numbers_of(layer);
  const auto [n, c, p, q] = place_of(layer.output().shape(), layout, index);
  double sum = 0, scale = 0;
  float largest = -std::numeric_limits<float>::infinity();
  int cells = 0;
  for (int r = 0; r < l.R; ++r) {
    for (int s = 0; s < l.S; ++s) {
      const std::int64_t h = p * l.stride_h - l.padding_h + r;
      const std::int64_t w = q * l.stride_w - l.padding_w + s;
      if (h < 0 || h >= l.H || w < 0 || w >= l.W) continue;
      const float found = cell(conv::index_of(layer.input().shape(), layout, n, c, h, w));
      if (found > largest) largest = found;
      sum += found;
      scale += std::fabs(found);
      ++cells;
    }
  }
  ExpectedOutput expected;
  const bool average = layer.kind() == Pooling::average;
  expected.value = average ? sum / cells : largest;
  // One rounding more than the sum's: the quotient's.
  if (average && std::isfinite(scale)) {
    expected.bound = conv::error_bound(cells + 1, scale / cells);
  }
  return expected;
}

DatasetPtr special_data(const PoolingLayer& layer, std::uint64_t seed) {
  std::vector<float> input = conv::make_input(layer, 0, seed);
  strew(input, 12, seed);
  std::vector<ExpectedOutput> expected(static_cast<std::size_t>(layer.output_size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = expected_of(layer, Layout::nchw, static_cast<std::int64_t>(i),
                              [&](std::int64_t at) { return input[static_cast<std::size_t>(at)]; });
  }
  return std::make_shared<ExpectedData>(
      std::vector<InputValues>{{"input", std::move(input), layer.input_size()}},
      std::move(expected), arranged_as(layer.input()), arranged_as(layer.output()));
}

DatasetPtr sparse_data(const PoolingLayer& layer, std::uint64_t seed) {
  return std::make_shared<SparseData>(
      std::vector<InputValues>{sparse_values("input", layer.input_size(), seed)},
      [layer](const SparseData& data, Layout layout, std::int64_t index) {
        return expected_of(layer, layout, index, [&](std::int64_t at) { return data(0, at); });
      });
}

}  // namespace

template <>
class FamilyProblem<PoolingLayer> final : public OperationProblem<PoolingLayer> {
 public:
  using OperationProblem::OperationProblem;

  std::string describe() const override { return "layer " + label(); }
  Problem fields() const override {
    const PoolingLayer& layer = given();
    return {{"N", std::int64_t{layer.N()}},
            {"C", std::int64_t{layer.C()}},
            {"H", std::int64_t{layer.H()}},
            {"W", std::int64_t{layer.W()}},
            {"R", std::int64_t{layer.R()}},
            {"S", std::int64_t{layer.S()}},
            {"stride", down_and_across(layer.stride_h(), layer.stride_w())},
            {"padding", down_and_across(layer.padding_h(), layer.padding_w())},
            {"kind", layer.kind() == Pooling::max ? "max" : "average"},
            {"rounding", layer.rounding() == Rounding::floor ? "floor" : "ceil"}};
  }
  std::vector<conv::OutputAxis> output_axes(conv::Layout layout) const override {
    const PoolingLayer& it = given();
    const conv::OutputAxis image = {"n", "image", it.N()};
    const conv::OutputAxis channel = {"c", "channel", it.C()};
    const conv::OutputAxis row = {"p", "row", it.P()};
    const conv::OutputAxis column = {"q", "column", it.Q()};
    if (layout == conv::Layout::nchw) return {image, channel, row, column};
    return {channel, row, column, image};
  }
  std::vector<Trait> traits() const override {
    const PoolingLayer& it = given();
    return {
        {"maxima", "averages", it.kind() == Pooling::max},
        {"one image", "several images", it.N() == 1},
        {"one channel", "several channels", it.C() == 1},
        {"no padding", "padding", it.padding_h() == 0 && it.padding_w() == 0},
        {"windows that do not overlap", "windows that overlap",
         it.stride_h() >= it.R() && it.stride_w() >= it.S()},
        {"rounding down", "rounding up", it.rounding() == Rounding::floor},
        {"square maps", "maps that are not square", it.H() == it.W()},
        {"square windows", "windows that are not square", it.R() == it.S()},
        {"at most 32 columns", "more than 32 columns", it.Q() <= 32},
        {"images in multiples of 32", "images not in multiples of 32", it.N() % 32 == 0},
    };
  }
  std::vector<DataKind> kinds() const override {
    std::vector<DataKind> all = OperationProblem::kinds();
    if (given().output_size() * given().R() * given().S() <= kMostSpecialProducts) {
      all.push_back({DataKind::Of::special, 1});
    }
    return all;
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed, std::int64_t) const override {
    if (kind.of == DataKind::Of::special) return special_data(given(), seed);
    if (kind.of == DataKind::Of::sparse) return sparse_data(given(), seed);
    return std::make_shared<PoolingData>(given(), conv::make_input(given(), kind.number, seed));
  }
};

template <>
ProblemCall<PoolingLayer> call_of(const PoolingLayer& problem, const AnyCall& any) {
  return {problem, any.inputs[0], any.output, any.workspace, any.overlaps};
}

LayerNumbers numbers_of(const conv::PoolingLayer& l) {
  return {l.N(), l.C(), l.H(),        l.W(),        l.C(),         l.R(),        l.S(),
          l.P(), l.Q(), l.stride_h(), l.stride_w(), l.padding_h(), l.padding_w()};
}

void add(PoolingStage& stage, const char* name, const char* source, const PoolingKernel& kernel) {
  auto variant = described<conv::PoolingLayer>(name, source, kernel);
  variant.layout = kernel.chwn ? conv::Layout::chwn : conv::Layout::nchw;
  variant.launches([launch = kernel.launch](const ProblemCall<conv::PoolingLayer>& c) {
    return launch(
        {numbers_of(c.problem), c.problem.kind() == conv::Pooling::average, c.input, c.output});
  });
  if (kernel.refuses != nullptr) {
    variant.refuses([refuses = kernel.refuses](const conv::PoolingLayer& layer) -> std::string {
      const char* const why = refuses(numbers_of(layer));
      return why != nullptr ? why : "";
    });
  }
  variant.tiles = fixed_tiles<conv::PoolingLayer>(kernel.tiles);
  stage.variants.push_back(std::move(variant));
}

template <>
std::vector<PoolingLayer> adversarial(std::uint64_t seed) {
  constexpr auto kFloor = Rounding::floor;
  constexpr auto kCeil = Rounding::ceil;
  struct Numbers {
    int N, C, H, W, R, S, u, v, a, b;  // strides u, v and paddings a, b
    Rounding rounding;
  };
  constexpr Numbers kLayers[] = {
      // N  C   H   W  R  S  u  v  a  b
      {1, 1, 1, 1, 1, 1, 1, 1, 0, 0, kFloor},
      {1, 1, 2, 2, 2, 2, 2, 2, 0, 0, kFloor},  // one window
      {2, 3, 7, 5, 1, 1, 1, 1, 0, 0, kFloor},  // a copy
      {3, 2, 6, 8, 2, 2, 2, 2, 0, 0, kFloor},  // LeNet's
      {2, 3, 7, 9, 2, 2, 2, 2, 0, 0, kFloor},  // the last row and column are not used
      {2, 3, 7, 9, 2, 2, 2, 2, 0, 0, kCeil},   // and now they are
      // Overlapping windows: AlexNet's.
      {2, 3, 13, 13, 3, 3, 2, 2, 0, 0, kFloor},
      {2, 3, 12, 14, 3, 3, 2, 2, 0, 0, kFloor},
      {2, 3, 12, 14, 3, 3, 2, 2, 0, 0, kCeil},
      {1, 2, 24, 24, 3, 3, 2, 2, 0, 0, kCeil},
      {1, 2, 6, 11, 3, 3, 1, 1, 0, 0, kFloor},
      {2, 2, 9, 10, 3, 3, 1, 1, 1, 1, kFloor},
      {1, 3, 11, 9, 5, 5, 2, 2, 2, 2, kFloor},
      {1, 2, 15, 33, 5, 5, 1, 1, 0, 0, kFloor},
      {2, 1, 17, 19, 7, 7, 3, 3, 3, 3, kCeil},
      // Windows that are not square, strides that are not alike.
      {1, 2, 9, 13, 2, 3, 2, 1, 0, 1, kFloor},
      {2, 3, 13, 9, 3, 2, 1, 2, 1, 0, kCeil},
      {1, 2, 8, 9, 1, 5, 1, 3, 0, 2, kCeil},
      {1, 2, 9, 8, 5, 1, 3, 1, 2, 0, kCeil},
      // Steps over cells.
      {1, 2, 14, 15, 2, 2, 3, 5, 0, 0, kFloor},
      {2, 2, 14, 15, 2, 2, 5, 3, 1, 1, kCeil},  // a window of ceil that would begin outside
      // One window for all there is; one larger than the image.
      {3, 5, 6, 6, 6, 6, 6, 6, 0, 0, kFloor},
      {2, 2, 3, 4, 5, 6, 1, 1, 2, 2, kCeil},
      {1, 1, 20, 21, 19, 20, 2, 2, 0, 0, kFloor},
      // Many of something.
      {33, 2, 5, 5, 3, 3, 2, 2, 0, 0, kCeil},
      {130, 2, 5, 6, 2, 2, 2, 2, 0, 0, kFloor},
      {128, 1, 6, 6, 3, 3, 2, 2, 0, 0, kCeil},
      {1, 130, 4, 5, 3, 3, 2, 2, 1, 1, kFloor},
      {1, 1, 3, 1031, 3, 3, 2, 2, 0, 0, kFloor},
      {1, 1, 1031, 3, 3, 3, 2, 2, 0, 0, kFloor},
      {1030, 1, 3, 3, 2, 2, 1, 1, 0, 0, kFloor},
  };
  std::vector<conv::PoolingShape> shapes;
  for (const Numbers& n : kLayers) {
    shapes.push_back({n.N, n.C, n.H, n.W, n.R, n.S, n.u, n.v, n.a, n.b, Pooling::max, n.rounding});
  }
  Dice dice(seed);
  for (int i = 0; i < kRandomProblems;) {
    conv::PoolingShape shape;
    shape.N = dice.from(1, 70);
    shape.C = dice.from(1, 12);
    shape.H = dice.from(1, 30);
    shape.W = dice.from(1, 30);
    shape.R = dice.from(1, 6);
    shape.S = dice.from(1, 6);
    shape.stride_h = dice.from(1, 4);
    shape.stride_w = dice.from(1, 4);
    shape.padding_h = dice.from(0, static_cast<int>(shape.R) - 1);
    shape.padding_w = dice.from(0, static_cast<int>(shape.S) - 1);
    shape.rounding = dice.from(0, 1) == 0 ? kFloor : kCeil;
    if (shape.R > shape.H + 2 * shape.padding_h || shape.S > shape.W + 2 * shape.padding_w)
      continue;
    if (shape.N * shape.C * shape.H * shape.W > kMostRandomCells) continue;
    shapes.push_back(shape);
    ++i;
  }
  std::vector<PoolingLayer> layers;
  for (conv::PoolingShape shape : shapes) {
    for (const Pooling kind : {Pooling::max, Pooling::average}) {
      shape.kind = kind;
      layers.emplace_back(shape);
    }
  }
  return layers;
}

namespace {

// Layers in which any two classes of different axes meet: sizes round the tiles, windows, strides, paddings.
std::vector<PoolingLayer> covering_layers(const PoolingVariant& variant) {
  const std::vector<TileSizes> tiles =
      variant.tiles ? variant.tiles(conv::parse_pooling("7-1-3-1")) : std::vector<TileSizes>();
  using Pair = std::pair<int, int>;  // down, across
  const std::vector<int> N = sizes_round(tiles, &TileSizes::N, {3, 1}),
                         C = sizes_round(tiles, &TileSizes::C, {2}),
                         P = sizes_round(tiles, &TileSizes::P, {3}),
                         Q = sizes_round(tiles, &TileSizes::Q, {5}),
                         cells = sizes_round(tiles, &TileSizes::cells, {0});
  const std::vector<Pair> windows = {{2, 2}, {3, 3}, {1, 1}, {3, 2}, {2, 5}},
                          strides = {{2, 2}, {1, 1}, {2, 1}, {1, 3}, {3, 3}};
  const auto layer_of = [&](const Levels& levels) -> std::optional<PoolingLayer> {
    const auto level = [&](std::size_t axis) { return static_cast<std::size_t>(levels[axis]); };
    int n = N[level(0)], c = C[level(1)], p = P[level(2)], q = Q[level(3)];
    if (const int all = cells[level(4)]; all > 0) {  // in images of one channel
      n = all % 3 == 0 ? 3 : all % 2 == 0 ? 2 : 1, c = 1;
      p = all / n % 5 == 0 ? 5 : 1, q = all / n / p;
    }
    const auto [R, S] = windows[level(5)];
    const auto [u, v] = strides[level(6)];
    const int a = levels[7] % 2 == 0 ? 0 : R - 1, b = levels[7] < 2 ? 0 : S - 1;
    // So large that with a stride the last row and column are not used, or by ceil.
    const int H = p * u - 1 + R - 2 * a, W = q * v - 1 + S - 2 * b;
    if (H < 1 || W < 1 || std::int64_t{n} * c * H * W > kMostRandomCells) return {};
    const PoolingLayer layer(conv::PoolingShape{n, c, H, W, R, S, u, v, a, b,
                                                levels[8] == 0 ? Pooling::max : Pooling::average,
                                                levels[9] == 0 ? Rounding::floor : Rounding::ceil});
    return refusal(variant, layer).empty() ? std::optional(layer) : std::nullopt;
  };
  std::vector<int> counts;
  for (const std::size_t count :
       {N.size(), C.size(), P.size(), Q.size(), cells.size(), windows.size(), strides.size(),
        std::size_t{4}, std::size_t{2}, std::size_t{2}}) {
    counts.push_back(static_cast<int>(count));
  }
  std::vector<PoolingLayer> layers;
  for (const Levels& levels : covering_combinations(
           counts, [&](const Levels& each) { return layer_of(each).has_value(); })) {
    layers.push_back(*layer_of(levels));
  }
  return layers;
}

}  // namespace

template <>
std::vector<Trial<PoolingLayer>> trials(const PoolingVariant& variant, std::uint64_t seed) {
  std::vector<Trial<PoolingLayer>> all = taken(variant, adversarial<PoolingLayer>(seed));
  for (const PoolingLayer& layer : covering_layers(variant)) add_trial(variant, layer, all);
  if (variant.plans) {
    // A thread has up to 4 x 4 outputs where windows overlap and warps are enough.
    for (const char* label :
         {"10x11-9-3-8-s1", "11x10-9-3-8-s1-average", "13x12-12-3-7-s2", "12x13-12-3-7-s2-average",
          "21x19-12-5x2-6-s2", "19x21-34-2x5-6-s2-average", "9x11-10-4x5-9-s1-p1",
          "14x9-11-5x4-9-s1-p2-average-ceil", "13x12-9-4x5-9-s2x1-p1x2-average",
          "12x13-9-5x4-9-s1x2-p2x1-average"}) {
      all.push_back({conv::parse_pooling(label), TrialOn::tiny_gpu});
    }
  }
  // Nearly 2^31 inputs: as many maps as there can be, and one map.
  add_large(variant,
            {conv::parse_pooling("2-23170-2-23170"), conv::parse_pooling("46340-1-3-1-s1"),
             conv::parse_pooling("46340-1-2-1-average")},
            all);
  return all;
}

template <>
const ProgramFamily& program_family<PoolingLayer>() {
  return operation_family<PoolingLayer>(
      {.name = "pooling",
       .help =
           "A layer is named size-batch-window-channels: 55-128-3-96-s2 is the largest of each 3 x "
           "3 "
           "cells of\n128 images of 96 channels and 55 x 55 cells. What is not square is 7x9 (rows "
           "x columns); then\n-s2 gives a stride other than the window, -p1 a padding, "
           "-average that kind, -ceil that rounding.\n",
       .example = "--problem 55-128-3-96-s2,24-64-3x2-4-s2-average-ceil",
       .parse = conv::parse_pooling,
       .published = data::sc16_pooling,
       .simulated = "28-128-2-2,24-128-3-16-s2-ceil,13-33-3-3-s2-average",
       .measured = named_in(data::sc16_pooling(), {"PL1", "PL3", "PL5"})});
}

HALO_FAMILY(PoolingLayer)

}  // namespace halo
