// The 2D family: its problems and data, the layers that are tried and published, and the options of its
// programs.
#include "common/harness/families/conv2d.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "common/conv/inputs.hpp"
#include "common/conv/layer_inputs.hpp"
#include "common/data/layer_table.hpp"
#include "common/harness/bench_sets.hpp"
#include "common/harness/core/covering.hpp"
#include "common/harness/core/typed_impl.hpp"
#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/picture.hpp"
#include "common/harness/families/trials.hpp"
#include "common/harness/program_options.hpp"
#include "common/report/summary.hpp"

namespace halo {

namespace {

using conv::ConvLayer;
using conv::Layout;

// Layers with fewer products reach no roof: measuring one would take longer than they do.
constexpr std::int64_t kRoofProducts = 10'000'000;
constexpr std::int64_t kMostImages = 1'000'000;

// One filter on one channel, many filters, many channels, and 1 x 1; small for the simulator, on a GPU
// as large as the papers' are.
constexpr const char* kSimulatedLayers = "30-1-3-1-1-p0,28-1-3-16-1,14-1-3-24-16,14-1-1-32-16";
constexpr const char* kMeasuredLayers = "1024-1-3-1-1-p0,224-1-3-64-1,56-1-3-64-64,14-1-1-256-512";

// Products for which no more time is spent on a layer than on everything round it: data, checks and
// preparations. For the estimate of the time that is left.
constexpr double kProductsOfALayer = 5e8;

// Larger layers show nothing more of a bias.
constexpr std::int64_t kMostBiasedProducts = 10'000;

// The layer with as many images and filters as the data hold.
conv::ConvLayer one_period(const conv::ConvLayer& layer, conv::Repeat repeat) {
  conv::LayerShape shape = layer.shape();
  if (repeat.images > 0) shape.N = std::min<std::int64_t>(shape.N, repeat.images);
  if (repeat.filters > 0) shape.K = std::min<std::int64_t>(shape.K, repeat.filters);
  return conv::ConvLayer(shape);
}

class Conv2dData final : public Dataset {
 public:
  Conv2dData(const ConvLayer& layer, std::vector<float> input, std::vector<float> filters,
             bool exact, conv::Repeat repeat)
      : Dataset({{"input", std::move(input), layer.input_size()},
                 {"filters", std::move(filters), layer.filters_size()}},
                exact),
        layer_(layer),
        repeat_(repeat) {}

  Judge judge(Layout layout, conv::Demand demand) const override {
    return [checker = conv::LayerChecker(layer_, inputs()[0].values, inputs()[1].values, demand,
                                         repeat_, layout)](std::int64_t first,
                                                           std::span<const float> cells) {
      return checker.judge(first, cells);
    };
  }

 protected:
  std::vector<float> arrange(Layout layout) const override {
    const conv::Images images({.N = layer_.N(), .C = layer_.C(), .H = layer_.H(), .W = layer_.W()});
    return conv::rearranged(images, repeated(inputs()[0].values, layer_.input_size()), Layout::nchw,
                            layout);
  }

 private:
  ConvLayer layer_;
  conv::Repeat repeat_;
};

ExpectedData::Arrange arranged_as(const conv::ImagesShape& shape) {
  return [images = conv::Images(shape)](const std::vector<float>& values, Layout layout) {
    return conv::rearranged(images, values, Layout::nchw, layout);
  };
}

conv::ImagesShape input_shape(const ConvLayer& l) { return {l.N(), l.C(), l.H(), l.W()}; }
conv::ImagesShape output_shape(const ConvLayer& l) { return {l.N(), l.K(), l.P(), l.Q()}; }

// What the output at that place of an array in the layout is to be; cell(place) and tap(place) are the
// data, the input in the same layout. A transform's bound has `added` to it.
template <class Cell, class Tap>
ExpectedOutput expected_of(const ConvLayer& layer, Layout layout, std::int64_t index,
                           bool multiplies_ghosts, Cell cell, Tap tap,
                           std::optional<double> bias = std::nullopt,
                           conv::Demand demand = conv::Demand::bounded, double added = 0) {
  const ConvLayer& l = layer;
  const auto [n, k, p, q] = place_of(output_shape(layer), layout, index);
  ExpectedOutput expected;
  double scale = 0;
  const std::int64_t channel = k / (l.K() / l.groups()) * l.filter_channels();
  for (std::int64_t at = 0; at < layer.products_per_output(); ++at) {
    const std::int64_t h = p * l.stride_h() - l.padding_h() + at / l.S() % l.R() * l.dilation_h();
    const std::int64_t w = q * l.stride_w() - l.padding_w() + at % l.S() * l.dilation_w();
    const double factor = tap(k * layer.products_per_output() + at);
    if (h >= 0 && h < l.H() && w >= 0 && w < l.W()) {
      const double product =
          cell(conv::index_of(input_shape(l), layout, n, channel + at / l.S() / l.R(), h, w)) *
          factor;
      expected.value += product;
      scale += std::fabs(product);
    } else if (multiplies_ghosts && !std::isfinite(factor)) {
      expected.may_be_nan = true;
    }
  }
  if (bias) {
    expected.value += *bias;
    scale += std::fabs(*bias);
  }
  const std::int64_t terms = layer.products_per_output() + (bias ? 1 : 0);
  if (std::isfinite(scale)) expected.bound = conv::sum_bound(demand, terms, scale, added);
  // A sum that meets an infinity may do more with it than add: Kahan's subtracts it from itself.
  if (std::isinf(expected.value)) expected.may_be_nan = true;
  return expected;
}

DatasetPtr special_data(const ConvLayer& layer, int number, std::uint64_t seed) {
  std::vector<float> input = conv::adversarial_input(layer, seed);
  std::vector<float> filters = conv::adversarial_filters(layer, seed);
  number == 1 ? strew(input, 50, seed) : strew(filters, 50, seed);
  std::vector<ExpectedOutput> expected(static_cast<std::size_t>(layer.output_size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expected[i] = expected_of(
        layer, Layout::nchw, static_cast<std::int64_t>(i), number == 3,
        [&](std::int64_t at) { return input[static_cast<std::size_t>(at)]; },
        [&](std::int64_t at) { return filters[static_cast<std::size_t>(at)]; });
  }
  return std::make_shared<ExpectedData>(
      std::vector<InputValues>{{"input", std::move(input), layer.input_size()},
                               {"filters", std::move(filters), layer.filters_size()}},
      std::move(expected), arranged_as(input_shape(layer)), arranged_as(output_shape(layer)));
}

// Sums with a bias each and ReLU, each judged by what it is to be. With kinds `special` NaN and infinities are
// among the biases too.
class BiasedData final : public Dataset {
 public:
  BiasedData(const ConvLayer& layer, DataKind kind, std::uint64_t seed)
      : BiasedData(layer, kind, seed, conv::adversarial_input(layer, seed),
                   conv::adversarial_filters(layer, seed)) {}

  // NaN stays NaN, and to a sum a bias is one product more.
  Judge judge(Layout layout, conv::Demand demand) const override {
    return [this, layout, demand](std::int64_t first, std::span<const float> cells) {
      conv::Comparison comparison;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::int64_t index = first + static_cast<std::int64_t>(i);
        const Place at = place_of(output_shape(layer_), layout, index);
        ExpectedOutput expected = expected_of(
            layer_, Layout::nchw,
            conv::index_of(output_shape(layer_), Layout::nchw, at.n, at.c, at.h, at.w),
            multiplies_ghosts_, [&](std::int64_t cell) { return value(0, cell); },
            [&](std::int64_t tap) { return value(1, tap); }, value(2, at.c), demand,
            conv::added_by_transform(demand, largest_, most_));
        if (expected.value < 0) expected.value = 0;  // the error is no larger than before
        judge_expected(index, cells.subspan(i, 1), expected, comparison);
      }
      return comparison;
    };
  }

 protected:
  std::vector<float> arrange(Layout layout) const override {
    return conv::rearranged(conv::Images(input_shape(layer_)), inputs()[0].values, Layout::nchw,
                            layout);
  }

 private:
  BiasedData(const ConvLayer& layer, DataKind kind, std::uint64_t seed, std::vector<float> input,
             std::vector<float> filters)
      : Dataset(values(layer, kind, seed, std::move(input), std::move(filters))),
        layer_(layer),
        multiplies_ghosts_(kind.number == 3) {
    for (const float cell : inputs()[0].values)
      largest_ = std::max(largest_, std::fabs(double{cell}));
    for (std::int64_t k = 0; k < layer.K(); ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < layer.products_per_output(); ++i) {
        sum += std::fabs(value(1, k * layer.products_per_output() + i));
      }
      most_ = std::max(most_, sum);
    }
  }

  static std::vector<InputValues> values(const ConvLayer& layer, DataKind kind, std::uint64_t seed,
                                         std::vector<float> input, std::vector<float> filters) {
    // About as large as the sums: so either sign comes out.
    conv::Random random(seed + 2);
    std::vector<float> bias(static_cast<std::size_t>(layer.K()));
    for (float& each : bias) {
      each = static_cast<float>(static_cast<double>(random.below(2'000'001)) / 1e6 - 1);
    }
    if (kind.of == DataKind::Of::special) {
      strew(kind.number == 1 ? input : filters, 50, seed);
      if (layer.K() > 2) strew(bias, 3, seed);
    }
    return {{"input", std::move(input), layer.input_size()},
            {"filters", std::move(filters), layer.filters_size()},
            {"bias", std::move(bias), layer.K()}};
  }
  double value(std::size_t input, std::int64_t at) const {
    return inputs()[input].values[static_cast<std::size_t>(at)];
  }

  ConvLayer layer_;
  bool multiplies_ghosts_;
  double largest_ = 0, most_ = 0;  // |input|, sum|tap| of a filter
};

DatasetPtr sparse_data(const ConvLayer& layer, std::uint64_t seed) {
  return std::make_shared<SparseData>(
      std::vector<InputValues>{sparse_values("input", layer.input_size(), seed),
                               sparse_values("filters", layer.filters_size(), seed + 1)},
      [layer](const SparseData& data, Layout layout, std::int64_t index) {
        return expected_of(
            layer, layout, index, false, [&](std::int64_t at) { return data(0, at); },
            [&](std::int64_t at) { return data(1, at); });
      });
}

}  // namespace

template <>
class FamilyProblem<ConvLayer> final : public AnyProblem {
 public:
  explicit FamilyProblem(const ConvLayer& given, bool has_bias = false)
      : given_(given), has_bias_(has_bias) {}
  const ConvLayer& given() const { return given_; }

  std::string label() const override { return conv::label(given_); }
  std::string describe() const override {
    return "layer " + label() + (has_bias_ ? " with bias and ReLU" : "");
  }
  bool has_bias() const override { return has_bias_; }
  AnyProblemPtr with_bias() const override {
    if (has_bias_ || conv::products(given_) > kMostBiasedProducts) return nullptr;
    return std::make_shared<FamilyProblem>(given_, true);
  }
  Problem fields() const override {
    Problem fields = {{"N", std::int64_t{given_.N()}},
                      {"C", std::int64_t{given_.C()}},
                      {"H", std::int64_t{given_.H()}},
                      {"W", std::int64_t{given_.W()}},
                      {"K", std::int64_t{given_.K()}},
                      {"R", std::int64_t{given_.R()}},
                      {"S", std::int64_t{given_.S()}},
                      {"stride", down_and_across(given_.stride_h(), given_.stride_w())},
                      {"padding", down_and_across(given_.padding_h(), given_.padding_w())}};
    if (!(conv::refusal_of_groups(given_) + conv::refusal_of_dilation(given_)).empty()) {
      fields.emplace_back("groups", std::int64_t{given_.groups()});
      fields.emplace_back("dilation", down_and_across(given_.dilation_h(), given_.dilation_w()));
    }
    return fields;
  }
  std::vector<std::int64_t> input_sizes() const override {
    if (has_bias_) return {given_.input_size(), given_.filters_size(), given_.K()};
    return {given_.input_size(), given_.filters_size()};
  }
  std::int64_t output_size() const override { return given_.output_size(); }
  std::int64_t min_bytes() const override { return conv::min_bytes(given_); }
  std::int64_t flops() const override { return conv::flops(given_); }
  // With those of ghost cells: the kernels walk over them too.
  Work work() const override {
    return {given_.output_size() * given_.products_per_output(), "products"};
  }
  bool reaches_roof() const override { return conv::products(given_) >= kRoofProducts; }
  // One period, which is little beside the arrays of a layer that is large.
  std::int64_t held_floats() const override {
    return given_.input_size() / given_.N() + given_.filters_size();
  }
  double bench_weight() const override {
    return kProductsOfALayer + static_cast<double>(conv::products(given_));
  }

  std::string options() const override { return "--layer " + label(); }
  std::vector<conv::OutputAxis> output_axes(conv::Layout layout) const override {
    const conv::OutputAxis image = {"n", "image", given_.N()};
    const conv::OutputAxis filter = {"k", "filter", given_.K()};
    const conv::OutputAxis row = {"p", "row", given_.P()};
    const conv::OutputAxis column = {"q", "column", given_.Q()};
    if (layout == conv::Layout::nchw) return {image, filter, row, column};
    return {filter, row, column, image};
  }
  std::vector<conv::Period> periods() const override {
    return {{"32", 32}, {"64", 64}, {"28", 28}, {"16", 16}, {"8", 8}};
  }
  std::vector<Trait> traits() const override {
    const ConvLayer& it = given_;
    return {
        {"one image", "several images", it.N() == 1},
        {"one channel", "several channels", it.C() == 1},
        {"one filter", "several filters", it.K() == 1},
        {"stride 1", "a stride", it.stride_h() == 1 && it.stride_w() == 1},
        {"no padding", "padding", it.padding_h() == 0 && it.padding_w() == 0},
        {"filters of one tap", "filters of more than one tap", it.R() * it.S() == 1},
        {"square maps", "maps that are not square", it.H() == it.W()},
        {"square filters", "filters that are not square", it.R() == it.S()},
        {"at most 32 columns", "more than 32 columns", it.Q() <= 32},
        {"at most 8 rows", "more than 8 rows", it.P() <= 8},
        {"columns in multiples of 4", "columns not in multiples of 4", it.Q() % 4 == 0},
        {"channels in multiples of 4", "channels not in multiples of 4", it.C() % 4 == 0},
        {"filters in multiples of 4", "filters not in multiples of 4", it.K() % 4 == 0},
        {"at most 32 filters", "more than 32 filters", it.K() <= 32},
        {"at most 32 channels", "more than 32 channels", it.C() <= 32},
        {"the same stride both ways", "strides that differ", it.stride_h() == it.stride_w()},
        {"the same padding both ways", "paddings that differ", it.padding_h() == it.padding_w()},
        {"one group", "groups", it.groups() == 1},
        {"no dilation", "a dilation", it.dilation_h() == 1 && it.dilation_w() == 1},
    };
  }
  DatasetPtr turned(const Dataset& data) const override {
    if (!all_finite(data)) return nullptr;
    std::vector<float> filters = data.inputs()[1].values;
    const std::int64_t taps = std::int64_t{given_.R()} * given_.S();
    if (static_cast<std::int64_t>(filters.size()) != given_.filters_size() ||
        static_cast<std::int64_t>(data.inputs()[0].values.size()) != given_.input_size()) {
      return nullptr;
    }
    for (auto at = filters.begin(); at != filters.end(); at += taps) std::reverse(at, at + taps);
    if (filters == data.inputs()[1].values) return nullptr;
    return std::make_shared<Conv2dData>(given_, data.inputs()[0].values, std::move(filters),
                                        data.exact(), conv::Repeat{});
  }

  std::vector<DataKind> kinds() const override {
    // With a bias: as few as show it.
    std::vector<DataKind> all = {{DataKind::Of::ordinary}};
    if (!has_bias_) all.insert(all.begin(), {DataKind::Of::exact});
    if (conv::products(given_) <= kMostSpecialProducts) {
      for (const int number : {1, 2, 3}) all.push_back({DataKind::Of::special, number});
    }
    return all;
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed,
                  std::int64_t reference_products) const override {
    if (has_bias_) return std::make_shared<BiasedData>(given_, kind, seed);
    if (kind.of == DataKind::Of::exact) {
      return std::make_shared<Conv2dData>(given_, conv::exact_input(given_, seed),
                                          conv::exact_filters(given_, seed), true, conv::Repeat{});
    }
    if (kind.of == DataKind::Of::special) return special_data(given_, kind.number, seed);
    if (kind.of == DataKind::Of::sparse) return sparse_data(given_, seed);
    const conv::Repeat repeat = conv::affordable_repeat(given_, reference_products);
    const ConvLayer held = one_period(given_, repeat);
    return std::make_shared<Conv2dData>(given_, conv::adversarial_input(held, seed),
                                        conv::adversarial_filters(held, seed), false, repeat);
  }
  std::vector<float> outputs_in_nchw(Layout layout, std::vector<float> outputs) const override {
    if (layout == Layout::nchw || outputs.empty()) return outputs;
    const conv::Images planes({.N = given_.N(), .C = given_.K(), .H = given_.P(), .W = given_.Q()});
    return conv::rearranged(planes, outputs, layout, Layout::nchw);
  }

 private:
  ConvLayer given_;
  bool has_bias_;
};

template <>
Conv2dCall call_of(const ConvLayer& layer, const AnyCall& any) {
  return {.layer = layer,
          .input = any.inputs[0],
          .filters = any.inputs[1],
          .output = any.output,
          .workspace = any.workspace,
          .packed = any.packed,
          .overlaps = any.overlaps,
          .bias = any.inputs[2],
          .relu = any.inputs[2] != nullptr};
}

DatasetPtr conv2d_data(const ConvLayer& layer, std::vector<float> input,
                       std::vector<float> filters) {
  return std::make_shared<Conv2dData>(layer, std::move(input), std::move(filters), false,
                                      conv::Repeat{});
}

namespace {

constexpr std::int64_t kMostTrialProducts = 25'000;
constexpr int kRandomLayers = 3;

// A layer by its outputs: H and W follow, as large as they can be, so that they are not all used where
// the stride does not divide them.
struct Wanted {
  std::int64_t N, C, K, P, Q, R, S, stride_h, stride_w, padding_h, padding_w;
  std::int64_t groups = 1, dilation_h = 1, dilation_w = 1;  // C and K are those of a group

  // Nothing if it is too much to be tried.
  std::optional<ConvLayer> layer() const {
    conv::LayerShape shape;
    shape.N = N, shape.C = C * groups, shape.K = K * groups, shape.R = R, shape.S = S;
    shape.stride_h = stride_h, shape.stride_w = stride_w;
    shape.padding_h = padding_h, shape.padding_w = padding_w;
    shape.groups = groups, shape.dilation_h = dilation_h, shape.dilation_w = dilation_w;
    shape.H = P * stride_h + (R - 1) * dilation_h - 2 * padding_h;
    shape.W = Q * stride_w + (S - 1) * dilation_w - 2 * padding_w;
    if (shape.H < 1 || shape.W < 1 || N * groups * C * K * P * Q * R * S > kMostTrialProducts) {
      return {};
    }
    return ConvLayer(shape);
  }
};

// One class of an axis: what of a layer it decides.
using Class = std::function<void(Wanted&)>;

// What the classes are chosen by.
struct Kind {
  std::vector<TileSizes> tiles;
  bool is_transform;  // takes longest here, and to it filters differ in little but their size
  bool is_apart;      // in kernels of its own, between which are the products: see apart_layers
  bool takes_any_filter;
  bool takes_one_image_only;
  bool takes_groups, takes_dilation;
};

// The classes of each axis, its plain one first. Images and channels are one axis, so that several of both
// meet whatever else there is.
std::vector<std::vector<Class>> classes_of(const Kind& kind, int rows, int columns) {
  const std::vector<TileSizes>& tiles = kind.tiles;
  const auto numbers = [&](std::int64_t Wanted::*number, int TileSizes::*letter,
                           const std::vector<int>& plain) {
    std::vector<Class> classes;
    for (const int size : sizes_round(tiles, letter, plain)) {
      classes.push_back([=](Wanted& wanted) { wanted.*number = size; });
    }
    return classes;
  };
  // One and several, unless there are tiles: then one is fewer than a tile has, and so are several.
  const auto has_tiles = [&](int TileSizes::*letter) {
    return !sizes_round(tiles, letter, {}).empty();
  };
  std::vector<Class> images;
  const auto add_images = [&](int many, int channels) {
    images.push_back([=](Wanted& wanted) { wanted.N = many, wanted.C = channels; });
  };
  add_images(1, 1);
  add_images(3, 2);
  if (!has_tiles(&TileSizes::C)) add_images(1, 3);
  if (!has_tiles(&TileSizes::C) && !has_tiles(&TileSizes::N)) add_images(2, 1);
  int turn = 0;
  if (!kind.is_apart) {
    for (const int channels : sizes_round(tiles, &TileSizes::C, {})) {
      add_images(kind.takes_one_image_only ? 1 : 1 + turn++ % 2, channels);
    }
  }
  for (const int many : sizes_round(tiles, &TileSizes::N, {})) add_images(many, 1 + turn++ % 2);
  std::vector<Class> filters;
  std::vector<std::pair<int, int>> sizes = {{3, 3}, {5, 5}, {8, 2}, {7, 7}};
  // To Fourier's no filter is what 5 x 5 is to Winograd's: the largest.
  if (kind.is_apart && kind.takes_any_filter) sizes.erase(sizes.begin() + 1);
  if (!kind.is_transform) sizes.insert(sizes.end(), {{1, 1}, {3, 5}});
  for (const auto& [R, S] : sizes) {
    filters.push_back([=, R = R, S = S](Wanted& wanted) { wanted.R = R, wanted.S = S; });
  }
  std::vector<Class> strides;
  for (const auto& [down, across] : {std::pair(1, 1), {2, 2}, {2, 1}, {1, 3}}) {
    strides.push_back([=](Wanted& wanted) { wanted.stride_h = down, wanted.stride_w = across; });
  }
  // None, as much as the output needs to be as large as the input, along one axis only, and more.
  std::vector<Class> paddings = {
      [](Wanted& wanted) { wanted.padding_h = wanted.padding_w = 0; },
      [](Wanted& wanted) {
        wanted.padding_h = (wanted.R - 1) / 2, wanted.padding_w = (wanted.S - 1) / 2;
      },
      [](Wanted& wanted) { wanted.padding_h = (wanted.R + 1) / 2, wanted.padding_w = 0; },
      [](Wanted& wanted) { wanted.padding_h = 0, wanted.padding_w = wanted.S; },
  };
  // Along either axis is one of them enough: the second has rows of ghost cells too.
  if (kind.is_apart) paddings.erase(paddings.begin() + 2);
  // So many places in all images: as nearly square as they can be.
  std::vector<Class> places = {[](Wanted&) {}};
  for (const int cells : sizes_round(tiles, &TileSizes::cells, {})) {
    places.push_back([=](Wanted& wanted) {
      if (cells % wanted.N != 0) wanted.N = 1;
      const std::int64_t of_image = cells / wanted.N;
      for (std::int64_t rows = 1; rows * rows <= of_image; ++rows) {
        if (of_image % rows == 0) wanted.P = rows;
      }
      wanted.Q = of_image / wanted.P;
    });
  }
  std::vector<std::vector<Class>> all = {
      filters,
      images,
      numbers(&Wanted::K, &TileSizes::K,
              has_tiles(&TileSizes::K) ? std::vector<int>{3} : std::vector<int>{1, 3}),
      numbers(&Wanted::P, &TileSizes::P, {rows}),
      numbers(&Wanted::Q, &TileSizes::Q, {columns}),
      strides,
      paddings,
      places};
  if (kind.is_apart) {
    // A map that is smaller than a tile is one tile, as that of one row less is.
    all = {filters,
           images,
           {[](Wanted& wanted) { wanted.K = 3; }},
           numbers(&Wanted::P, &TileSizes::P, {}),
           numbers(&Wanted::Q, &TileSizes::Q, {}),
           strides,
           paddings};
  }
  if (kind.takes_groups) {
    all.push_back({[](Wanted&) {}, [](Wanted& wanted) { wanted.groups = 3; }});
  }
  if (kind.takes_dilation) {
    std::vector<Class> dilations;
    for (const auto& [down, across] : {std::pair(1, 1), {2, 2}, {1, 3}, {4, 1}}) {
      dilations.push_back(
          [=](Wanted& wanted) { wanted.dilation_h = down, wanted.dilation_w = across; });
    }
    all.push_back(dilations);
  }
  return all;
}

// A layer by chance: every second number as plain as it can be, so that whoever takes little takes some.
std::optional<ConvLayer> drawn_layer(Dice& dice) {
  const auto draw = [&](int plain, int most) {
    return dice.from(0, 1) == 0 ? plain : dice.from(1, most);
  };
  Wanted wanted{};
  wanted.N = draw(1, 4), wanted.C = draw(1, 24), wanted.K = draw(1, 40);
  wanted.P = dice.from(1, 24), wanted.Q = dice.from(1, 40);
  wanted.R = draw(3, 8), wanted.S = dice.from(0, 1) == 0 ? wanted.R : dice.from(1, 8);
  wanted.stride_h = draw(1, 3), wanted.stride_w = draw(1, 3);
  wanted.padding_h = draw(1, static_cast<int>(wanted.R)) - 1;
  wanted.padding_w = draw(1, static_cast<int>(wanted.S)) - 1;
  return wanted.layer();
}

bool is_transform(const Conv2dVariant& variant) {
  return variant.demand == conv::Demand::transformed ||
         variant.demand == conv::Demand::transformed_split;
}

// In kernels of its own: what it transforms goes through memory.
bool is_apart(const Conv2dVariant& variant) {
  return is_transform(variant) && variant.tiles &&
         variant.prepared(conv::parse_label("7-1-3-1-1")).workspace_floats > 0;
}

std::vector<TileSizes> tiles_of(const Conv2dVariant& variant) {
  return variant.tiles ? variant.tiles(conv::parse_label("7-1-3-1-1")) : std::vector<TileSizes>();
}

// Of a transform in kernels of its own: they see where a tile lies, and the products between them only how
// many channels, filters and tiles there are. So the classes of these meet each other, and none of the rest.
std::vector<ConvLayer> apart_layers(const Kind& kind) {
  const std::vector<int> channels = sizes_round(kind.tiles, &TileSizes::C, {});
  const std::vector<int> filters = sizes_round(kind.tiles, &TileSizes::K, {});
  std::vector<ConvLayer> layers;
  const auto add = [&](int C, int K, int groups = 1) {
    layers.emplace_back(conv::LayerShape{.N = 1 + static_cast<std::int64_t>(layers.size() % 2),
                                         .C = C,
                                         .H = 4,
                                         .W = 5,
                                         .K = K,
                                         .R = 3,
                                         .S = 3,
                                         .padding_h = 1,
                                         .padding_w = 1,
                                         .groups = groups});
  };
  for (std::size_t i = 0; i < std::min(channels.size(), filters.size()); ++i) {
    add(channels[i], filters[i]);
  }
  // More chunks of channels than there are buffers, and groups of filters whatever their block is.
  if (!channels.empty()) add(3 * channels.back(), 3);
  if (!filters.empty()) add(2, 2 * filters.back());
  if (kind.takes_groups && !channels.empty() && !filters.empty()) {
    add(2 * channels.back(), 2 * filters.back(), 2);
  }
  return layers;
}

// Layers that the variant takes, in which any two classes of different axes meet if they can.
std::vector<ConvLayer> covering_layers(const Conv2dVariant& variant, int rows, int columns) {
  const Kind kind = {
      .tiles = tiles_of(variant),
      .is_transform = is_transform(variant),
      .is_apart = is_apart(variant),
      .takes_any_filter = refusal(variant, conv::parse_label("9-1-8x2-1-1")).empty(),
      .takes_one_image_only = refusal(variant, conv::parse_label("1-1-1-1-1")).empty() &&
                              !refusal(variant, conv::parse_label("1-2-1-1-1")).empty(),
      .takes_groups = variant.takes_groups,
      .takes_dilation = variant.takes_dilation};
  const auto classes = classes_of(kind, rows, columns);
  const auto layer_of = [&](const Levels& levels) {
    Wanted wanted{};
    for (std::size_t axis = 0; axis < classes.size(); ++axis) {
      classes[axis][static_cast<std::size_t>(levels[axis])](wanted);
    }
    return wanted.layer();
  };
  std::vector<int> counts;
  for (const auto& axis : classes) counts.push_back(static_cast<int>(axis.size()));
  std::vector<ConvLayer> layers;
  for (const Levels& levels : covering_combinations(counts, [&](const Levels& each) {
         const std::optional<ConvLayer> layer = layer_of(each);
         return layer && refusal(variant, *layer).empty();
       })) {
    layers.push_back(*layer_of(levels));
  }
  if (kind.is_apart) {
    for (const ConvLayer& layer : apart_layers(kind)) layers.push_back(layer);
  }
  return layers;
}

// These, and some by chance.
std::vector<ConvLayer> covering_layers(const Conv2dVariant& variant, std::uint64_t seed) {
  std::vector<ConvLayer> layers = covering_layers(variant, 3, 7);
  // Whoever takes no such map is fully connected: filters as large as the map.
  if (layers.empty()) layers = covering_layers(variant, 1, 1);
  Dice dice(seed);
  const std::size_t enough = layers.size() + kRandomLayers;
  for (int tries = 0; tries < 400 && layers.size() < enough; ++tries) {
    const std::optional<ConvLayer> layer = drawn_layer(dice);
    if (layer && refusal(variant, *layer).empty()) layers.push_back(*layer);
  }
  return layers;
}

// What no combination of ordinary classes is.
std::vector<ConvLayer> unusual_layers() {
  struct Numbers {
    int N, C, H, W, K, R, S, u, v, a, b;  // strides u, v and paddings a, b
  };
  constexpr Numbers kLayers[] = {
      // N  C  H     W     K    R   S  u  v  a  b
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
      {1, 1, 1, 1, 2, 5, 5, 1, 1, 2, 2},  // all taps but one over ghost cells
      // Filters larger than the input, and as large: one output a filter, fully connected.
      {1, 3, 3, 2, 4, 7, 5, 1, 1, 3, 2},
      {2, 3, 6, 6, 10, 6, 6, 1, 1, 0, 0},
      // Strides longer than the filter; and so large that a tile of outputs has room for a part of the
      // filter only.
      {2, 4, 11, 10, 5, 1, 1, 3, 3, 0, 0},
      {1, 2, 9, 8, 3, 2, 2, 3, 5, 0, 0},
      {1, 2, 19, 30, 9, 7, 5, 6, 8, 1, 2},
      {1, 1, 9, 61, 2, 2, 40, 6, 8, 0, 3},
      // More padding than the filter needs: sums of nothing at the edges.
      {1, 2, 4, 5, 3, 3, 3, 1, 1, 3, 4},
      {1, 2, 7, 6, 3, 3, 3, 2, 2, 2, 2},
      {1, 3, 23, 23, 2, 11, 11, 4, 4, 0, 0},  // AlexNet's first layer
      // More images than a warp has threads, a row and a column longer than any block, more filters than
      // a block has threads, more channels than there are SMs and not a multiple of them.
      {33, 1, 3, 3, 2, 3, 3, 1, 1, 1, 1},
      {1, 1, 20, 33, 5, 1, 1, 1, 1, 0, 0},  // a thread has several outputs of several filters
      {1, 1, 2, 1030, 1, 1, 1, 1, 1, 0, 0},
      {1, 1, 1030, 2, 2, 1, 1, 1, 1, 0, 0},
      {1, 3, 1, 2, 257, 1, 1, 1, 1, 0, 0},
      {1, 1, 2, 3, 130, 3, 3, 1, 1, 1, 1},
      {1, 135, 2, 2, 3, 3, 3, 1, 1, 1, 1},
      {1, 520, 1, 2, 2, 1, 1, 1, 1, 0, 0},
      // Several tiles of 32 columns and 8 rows, with several channels.
      {1, 2, 12, 40, 2, 3, 3, 1, 1, 1, 1},
      // Cells that follow each other in fours, for whoever moves them so: 1 x 1, no strides, no padding. And maps that
      // begin anywhere in a four, of which 128 outputs are of several.
      {2, 12, 4, 5, 6, 1, 1, 1, 1, 0, 0},
      {4, 6, 7, 7, 5, 1, 1, 1, 1, 0, 0},
  };
  std::vector<ConvLayer> layers;
  for (const Numbers& n : kLayers) {
    layers.emplace_back(conv::LayerShape{n.N, n.C, n.H, n.W, n.K, n.R, n.S, n.u, n.v, n.a, n.b});
  }
  return layers;
}

// Where a plan for a GPU of two multiprocessors, with 4 KB of shared memory for a block, has several
// strips, groups, parts and chunks.
const std::vector<const char*> kOneChannelOnTinyGpu = {
    // Several strips: with few filters, with several images, with any filter.
    "40x33-1-3-3-1", "23x50-2-5-5-1", "37x41-1-7-2-1", "20x300-1-1-3-1-p0",
    // Several groups of filters, and both.
    "6x8-2-3-230-1", "4x5-1-7-92-1", "11x9-1-5-90-1-p0", "30x31-1-3-60-1-p0", "7x5-1-1-900-1-p0",
    // Neither all rows with one filter fit, nor all filters with one row: with the next strip come the
    // next filters.
    "32x20-1-20-7-1-p0",
    // A last share that is all for the first of its two blocks: of filters, of rows.
    "3-1-3-3-1-p0", "3-1-3-1-1"};
const std::vector<const char*> kChannelsOnTinyGpu = {
    "12x10-2-3-19-7", "9x13-1-3x5-18-5-s2", "6x5-1-1-3-41", "7x12-3-5-35-3-p0", "4x5-2-3-5-40",
    "33x35-1-3-2-3",
    // Windows of several rows, of which the last are not there.
    "9x12-2-3-5-3", "13x11-2-3-7-2-s2"};

// Groups with enough work for two multiprocessors to have several filters and rows at a time; and strides over whole pairs,
// to an even number of columns and to an odd one.
const std::vector<const char*> kGroupsOnTinyGpu = {"16x20-4-3-16-4-g2",    "11x13-4-3-8-6-g2",
                                                   "19x15-2-3-27-6-s2-g3", "16x32-1-1-18-2-g2",
                                                   "21x12-2-3-3-3-s2-g3",  "10x14-1-3-2-2-s2-g2"};

// Nearly 2^31 outputs: each a plane of its own, or all in one.
std::vector<ConvLayer> large_layers(const Conv2dVariant& variant) {
  const ConvLayer plane = conv::parse_label("46340-1-3-1-1-p0");
  std::vector<ConvLayer> layers = {
      refusal(variant, plane).empty() ? plane : conv::parse_label("46340-1-1-1-1")};
  // The second for kernels with all filters in constant memory.
  for (const char* label : {"1-46340-1-46340-1", "1-131071-1-16384-1"}) {
    const ConvLayer layer = conv::parse_label(label);
    if (!refusal(variant, layer).empty()) continue;
    layers.push_back(layer);
    break;
  }
  return layers;
}

}  // namespace

template <>
std::vector<ConvLayer> adversarial(std::uint64_t seed) {
  std::vector<ConvLayer> layers = unusual_layers();
  for (const ConvLayer& layer : covering_layers({}, seed)) layers.push_back(layer);
  return layers;
}

template <>
std::vector<Trial<ConvLayer>> trials(const Conv2dVariant& variant, std::uint64_t seed) {
  std::vector<Trial<ConvLayer>> all = taken(variant, covering_layers(variant, seed));
  for (const ConvLayer& layer : unusual_layers()) {
    // To a transform in kernels of its own these are many chunks or groups, as those of apart_layers are.
    constexpr int kMany = 100;
    if (is_apart(variant) && std::max(layer.C(), layer.K()) > kMany) continue;
    add_trial(variant, layer, all);
  }
  // A filter with more taps than a block has threads.
  add_trial(variant, conv::parse_label("6x7-2-17-3-1"), all);
  // As many taps as constant memory holds, and some more, which whoever keeps them there refuses.
  if (!all.empty() && variant.prepared(all.front().problem).set_up) {
    for (const char* label : {"9x4-1-8x4-16-32", "9x4-1-8x4-16-33", "4x9-1-4x8-16-33"}) {
      add_trial(variant, conv::parse_label(label), all);
    }
  }
  // A plane whose cells 16 bits do not count, for kernels that have a tile of a plane.
  const auto has_plane_tiles = [&] {
    if (!variant.tiles || is_transform(variant)) return false;
    const TileSizes tile = variant.tiles(conv::parse_label("7-1-3-1-1")).front();
    return tile.P > 0 && tile.Q > 0;
  };
  if (has_plane_tiles()) add_trial(variant, conv::parse_label("255x260-1-1x2-1-1-p0"), all);
  if (variant.plans) {
    const bool takes_channels = refusal(variant, conv::parse_label("7-1-3-4-4")).empty();
    // More shared memory than a block has without asking.
    if (!takes_channels) add_trial(variant, conv::parse_label("1x12400-1-1-2-1"), all);
    for (const char* label : takes_channels ? kChannelsOnTinyGpu : kOneChannelOnTinyGpu) {
      all.push_back({conv::parse_label(label), TrialOn::tiny_gpu});
    }
    for (const char* label : kGroupsOnTinyGpu) {
      if (!variant.takes_groups) break;
      all.push_back({conv::parse_label(label), TrialOn::tiny_gpu});
    }
  }
  add_large(variant, large_layers(variant), all);
  return all;
}

// ---- Programs ----

namespace {

using Layers = std::vector<ConvLayer>;

// What is wrong with a layer, and which option said so.
template <class Make>
conv::ConvLayer made_by(const std::string& option, Make make) {
  try {
    return make();
  } catch (const std::invalid_argument& error) {
    throw UsageError(option + ": " + error.what());
  }
}

Layers layers_named(const std::string& labels) {
  Layers layers;
  for (const std::string& label : split(labels)) {
    layers.push_back(made_by("--layer " + label, [&] { return conv::parse_label(label); }));
  }
  return layers;
}

Layers layers_of_table(const std::string& name) {
  const std::vector<std::string> tables = data::paper_layer_tables();
  const bool is_table = std::find(tables.begin(), tables.end(), name) != tables.end();
  // A name without a dot or a slash was meant as a table of ours: its complaint lists them.
  const bool is_file = !is_table && name.find_first_of("./") != std::string::npos;
  Layers layers;
  for (const data::NamedLayer& named :
       is_file ? data::read_layer_table(name) : data::paper_layer_table(name)) {
    layers.push_back(named.layer);
  }
  return layers;
}

std::vector<std::int64_t> parse_batches(const std::string& text) {
  std::vector<std::int64_t> batches;
  if (text.empty()) return batches;
  for (const std::string& images : split(text)) {
    batches.push_back(parse_number("batch", images, 1, kMostImages));
  }
  return batches;
}

// The layers of one set, or of all that these stages have a part in (empty name), each once, with the
// variants of the set's stages. `batches`, if not empty, stands for the sets' own batch sizes.
std::vector<std::pair<ConvLayer, std::vector<Entry>>> published_layers(
    const std::string& name, const std::vector<std::int64_t>& batches,
    const std::vector<Entry>& entries) {
  // For a batch: as many images as the table says.
  constexpr std::int64_t kOfTheTable = 0;
  std::vector<std::pair<ConvLayer, std::vector<Entry>>> jobs;
  std::map<std::string, std::size_t> known;  // by label
  if (!name.empty()) require_bench_set("conv2d", name);
  for (const BenchSet& set : bench_sets()) {
    if (set.family != "conv2d" || (!name.empty() && name != set.name)) continue;
    std::vector<Entry> chosen;
    std::copy_if(entries.begin(), entries.end(), std::back_inserter(chosen),
                 [&](const Entry& entry) { return has_stage(set, entry.stage); });
    // Of all sets, those that there is something to compare in.
    if (name.empty() && chosen.empty()) continue;
    std::vector<std::int64_t> wanted = batches.empty() ? set.batches : batches;
    if (wanted.empty()) wanted = {kOfTheTable};
    for (const std::int64_t images : wanted) {
      for (const data::NamedLayer& named : data::paper_layer_table(set.name)) {
        const ConvLayer layer =
            images == kOfTheTable ? named.layer : named.layer.with_batch(images);
        const auto [at, is_new] = known.emplace(conv::label(layer), jobs.size());
        if (is_new) jobs.push_back({layer, {}});
        std::vector<Entry>& of_layer = jobs[at->second].second;
        for (const Entry& entry : chosen) {
          const bool there = std::any_of(of_layer.begin(), of_layer.end(), [&](const auto& other) {
            return name_of(entry) == name_of(other);
          });
          if (!there) of_layer.push_back(entry);
        }
      }
    }
  }
  if (jobs.empty()) throw UsageError("--bench: no set of layers is for this stage");
  return jobs;
}

// The last variant that takes the layer: its outputs are saved. Throws UsageError if there is none.
std::string variant_to_save(const std::vector<Entry>& entries, const AnyProblem& layer) {
  std::string reason;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
    const AnyVariant& variant = entry->variant;
    const std::string why = variant.prepared(layer).refusal;
    if (why.empty()) return variant.name;
    if (reason.empty()) reason = variant.name + ": " + why;
  }
  throw UsageError("no variant takes this picture with this filter (" + reason + ")");
}

class Conv2dRun final : public ProgramRun {
 public:
  void add_options(CommandLine& line, ProgramOptions&) override {
    std::string tables;
    for (const std::string& one : data::paper_layer_tables()) {
      tables += (tables.empty() ? "" : ", ") + one;
    }
    add_option(line, "conv2d", "--layer", layer_);
    add_option(line, "conv2d", "--layers", layers_, ": " + tables);
    add_option(line, "conv2d", "--batch", batch_);
    add_picture_options(line, picture_);
  }

  void require_sense(const ProgramOptions& options) override {
    if (options.bench && !picture_.input.empty()) {
      throw UsageError("--bench and --input: one of them, not both");
    }
    if (!options.set.empty() && (!layer_.empty() || !layers_.empty())) {
      throw UsageError("--set has its own layers: leave --layer and --layers out");
    }
  }

  ProgramWork choose(const Choice& choice) override {
    if (!picture_.input.empty()) return picture(choice);
    for (const auto& [name, value] :
         {std::pair{"--filter", picture_.filter}, std::pair{"--output", picture_.output}}) {
      if (value.empty()) continue;
      throw UsageError(std::string(name) + " needs --input: a picture to run on");
    }
    ProgramWork work;
    work.named = !layer_.empty() || !layers_.empty();
    if (choice.options.bench && !work.named) {
      for (auto& [layer, entries] :
           published_layers(choice.options.set, parse_batches(batch_), choice.entries)) {
        add_job(work, choice, layer).entries = std::move(entries);
      }
      return work;
    }
    for (const ConvLayer& layer : choose_layers(choice)) add_job(work, choice, layer);
    return work;
  }

 private:
  static Job& add_job(ProgramWork& work, const Choice& choice, const ConvLayer& layer) {
    Job& job = work.jobs.emplace_back();
    job.task.problem = erased(layer);
    job.task.seed = choice.seed;
    job.entries = choice.entries;
    if (choice.options.bench) {
      job.task.transfers = false;
      // Of one image, as inference has them; more than one would take twice the time.
      job.task.cold = layer.N() == 1;
      job.task.reference_products = conv::kReferenceProducts / 4;
    }
    return job;
  }

  Layers choose_layers(const Choice& choice) const {
    if (!layer_.empty() && !layers_.empty()) {
      throw UsageError("--layer and --layers: one of them names the layers, not both");
    }
    Layers layers = !layers_.empty() ? layers_of_table(layers_)
                    : !layer_.empty()
                        ? layers_named(layer_)
                        : layers_named(usual_problems(choice, kSimulatedLayers, kMeasuredLayers));
    if (!batch_.empty()) {
      Layers batches;
      for (const std::int64_t images : parse_batches(batch_)) {
        for (const ConvLayer& layer : layers) {
          batches.push_back(
              made_by("--batch " + std::to_string(images) + ", layer " + conv::label(layer),
                      [&] { return layer.with_batch(images); }));
        }
      }
      layers = batches;
    }
    std::set<std::string> labels;
    for (const ConvLayer& layer : layers) {
      if (!labels.insert(conv::label(layer)).second) {
        throw UsageError("the layer " + conv::label(layer) + " is given twice");
      }
    }
    return layers;
  }

  // The picture that --input names.
  ProgramWork picture(const Choice& choice) {
    for (const auto& [name, value] : {std::pair{"--layer", layer_}, std::pair{"--layers", layers_},
                                      std::pair{"--batch", batch_}}) {
      if (value.empty()) continue;
      throw UsageError(std::string(name) + ": the picture given by --input is the layer");
    }
    const auto task = std::make_shared<const PictureTask>(picture_);
    ProgramWork work;
    work.named = true;
    // A picture's results are compared in full; whoever filters one does not wait for other layers.
    work.trials = false;
    Job& job = add_job(work, choice, task->layer());
    job.task.given = {task->data()};
    const std::string too_large = too_large_for(*job.task.problem, choice.backend, true);
    if (!too_large.empty()) work.not_run = picture_.input + " is " + too_large;
    if (picture_.output.empty() || !work.not_run.empty()) return work;
    job.task.saved_variant = variant_to_save(job.entries, *job.task.problem);
    work.target = picture_.output;
    work.save = [task, variant = job.task.saved_variant](SavedOutputs& saved) {
      return task->save(saved.front()) + ", by " + variant;
    };
    return work;
  }

  std::string layer_, layers_, batch_;
  PictureOptions picture_;
};

}  // namespace

template <>
const ProgramFamily& program_family<ConvLayer>() {
  static const ProgramFamily family = {
      .name = "conv2d",
      .problem = "layer",
      .help =
          "A layer is named size-batch-filter-filters-channels: 7-1-3-384-192 is one 7 x 7 "
          "image of 192 channels\nand 384 filters of 3 x 3. What is not square is 7x9 (rows "
          "x columns); -s2 and -p0 behind it give stride and\npadding, which are else 1 and "
          "(filter - 1) / 2.\n",
      .examples = {"--layer 56-1-3-64-64,112-1-7-64-3-s2", "--layers cuconv --batch 1,8",
                   "--input photo.png --filter sobel --output edges.png"},
      .render_sets = render_brief,
      .has_plans = true,
      .run = [] { return std::make_unique<Conv2dRun>(); }};
  return family;
}

HALO_FAMILY(ConvLayer)

}  // namespace halo
