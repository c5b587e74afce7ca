// Verification and traffic of the 2D family.
#include <algorithm>
#include <optional>

#include "common/conv/inputs.hpp"
#include "common/conv/layer_inputs.hpp"
#include "common/harness/conv2d.hpp"
#include "common/harness/conv2d_arrays.hpp"
#include "common/harness/verify.hpp"

namespace halo {

namespace {

std::string describe(const conv::ConvLayer& layer) { return "layer " + conv::label(layer); }

// The layer with as many images and filters as the data hold.
conv::ConvLayer one_period(const conv::ConvLayer& layer, conv::Repeat repeat) {
  conv::LayerShape shape = layer.shape();
  if (repeat.images > 0) shape.N = std::min<std::int64_t>(shape.N, repeat.images);
  if (repeat.filters > 0) shape.K = std::min<std::int64_t>(shape.K, repeat.filters);
  return conv::ConvLayer(shape);
}

// The values over and over until there are `count`.
std::vector<float> repeated(const std::vector<float>& values, std::int64_t count) {
  const auto wanted = static_cast<std::size_t>(count);
  std::vector<float> all;
  all.reserve(wanted);
  while (all.size() < wanted) {
    const auto more = static_cast<std::ptrdiff_t>(std::min(values.size(), wanted - all.size()));
    all.insert(all.end(), values.begin(), values.begin() + more);
  }
  return all;
}

// One launch on the data that are in the arrays.
bool try_once(const Conv2dVariant& variant, Backend& backend, const Conv2dData& data,
              const conv::LayerChecker& checker, bool exact, Conv2dArrays& arrays, Row& row,
              Observation* seen = nullptr, std::vector<float>* outputs = nullptr) {
  const conv::ConvLayer& layer = data.layer;
  Conv2dCall call = arrays.call(variant.layout);
  // Of exactly the size that was asked for, so that a write beyond it shows.
  std::optional<Array> workspace;
  if (const std::int64_t floats = workspace_floats(variant, layer); floats > 0) {
    workspace.emplace(backend, static_cast<std::size_t>(floats));
    call.workspace = workspace->data();
  }
  std::vector<float> all_filters;
  Verified verified;
  verified.where = describe(layer);
  verified.source = variant.source;
  verified.kept = {arrays.input(variant.layout), arrays.filters()};
  verified.output = &arrays.output();
  verified.workspace = workspace ? &*workspace : nullptr;
  if (variant.set_filters) {
    all_filters = data.all_filters();
    verified.set_up_name = "setting the filters";
    verified.set_up = [&] { return variant.set_filters(all_filters.data(), layer); };
  }
  verified.launch = [&] { return variant.launch(call); };
  if (variant.role == Role::peer) {
    verified.unsupported = [&] {
      return variant.detail ? variant.detail(layer) : "it does not support this layer";
    };
  }
  verified.judge = [&](std::size_t first, std::span<const float> cells) {
    return checker.judge(static_cast<std::int64_t>(first), cells);
  };
  verified.exact = exact;
  if (outputs != nullptr) {
    outputs->reserve(static_cast<std::size_t>(layer.output_size()));
    verified.keep = [&](std::span<const float> cells) {
      outputs->insert(outputs->end(), cells.begin(), cells.end());
    };
  }
  const bool alive = verify(verified, backend, row, seen);
  if (outputs != nullptr && variant.layout != conv::Layout::nchw && !outputs->empty()) {
    const conv::Images planes({.N = layer.N(), .C = layer.K(), .H = layer.P(), .W = layer.Q()});
    *outputs = conv::rearranged(planes, *outputs, variant.layout, conv::Layout::nchw);
  }
  return alive;
}

// Random layers, small enough to be tried on everything.
conv::ConvLayer random_layer(conv::Random& random) {
  constexpr std::int64_t kMostProducts = 50'000;
  const auto from = [&](int least, int most) {
    return least + static_cast<int>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  for (;;) {
    conv::LayerShape shape;
    shape.N = from(1, 4);
    shape.C = from(1, 24);
    shape.H = from(1, 24);
    shape.W = from(1, 24);
    shape.K = from(1, 24);
    shape.R = from(1, 6);
    shape.S = from(1, 6);
    shape.stride_h = from(1, 3);
    shape.stride_w = from(1, 3);
    shape.padding_h = from(0, static_cast<int>(shape.R));
    shape.padding_w = from(0, static_cast<int>(shape.S));
    if (shape.R > shape.H + 2 * shape.padding_h || shape.S > shape.W + 2 * shape.padding_w)
      continue;
    const conv::ConvLayer layer(shape);
    if (conv::products(layer) <= kMostProducts) return layer;
  }
}

}  // namespace

std::vector<float> Conv2dData::all_input(conv::Layout layout) const {
  std::vector<float> all = repeated(input, layer.input_size());
  if (layout == conv::Layout::nchw) return all;
  const conv::Images images({.N = layer.N(), .C = layer.C(), .H = layer.H(), .W = layer.W()});
  return conv::rearranged(images, all, conv::Layout::nchw, layout);
}

std::vector<float> Conv2dData::all_filters() const {
  return repeated(filters, layer.filters_size());
}

Conv2dData adversarial_data(const conv::ConvLayer& layer, std::uint64_t seed, conv::Repeat repeat) {
  const conv::ConvLayer held = one_period(layer, repeat);
  return {layer, repeat, conv::adversarial_input(held, seed),
          conv::adversarial_filters(held, seed)};
}

Conv2dData exact_data(const conv::ConvLayer& layer, std::uint64_t seed) {
  return {layer, {}, conv::exact_input(layer, seed), conv::exact_filters(layer, seed)};
}

Conv2dArrays::Conv2dArrays(Backend& backend, const Conv2dData& data)
    : backend_(backend),
      data_(data),
      filters_(backend, static_cast<std::size_t>(data.layer.filters_size())),
      output_(backend, static_cast<std::size_t>(data.layer.output_size())) {
  write(filters());
}

Conv2dArrays::Chwn::Chwn(Backend& backend, const Conv2dData& data)
    : values(data.all_input(conv::Layout::chwn)), array(backend, values.size()) {
  array.write(values);
}

KeptArray Conv2dArrays::input(conv::Layout layout) {
  if (layout == conv::Layout::chwn) {
    if (!chwn_) chwn_.emplace(backend_, data_);
    return {"input", &chwn_->array, chwn_->values};
  }
  const bool is_new = !nchw_;
  if (is_new) nchw_.emplace(backend_, static_cast<std::size_t>(data_.layer.input_size()));
  const KeptArray kept{"input", &*nchw_, data_.input};
  if (is_new) write(kept);
  return kept;
}

Conv2dCall Conv2dArrays::call(conv::Layout layout) {
  return {data_.layer, input(layout).array->data(), filters_.data(), output_.data(), nullptr};
}

std::int64_t workspace_floats(const Conv2dVariant& variant, const conv::ConvLayer& layer) {
  return variant.workspace_floats ? variant.workspace_floats(layer) : 0;
}

std::vector<conv::ConvLayer> adversarial_layers(std::uint64_t seed) {
  struct Numbers {
    int N, C, H, W, K, R, S, u, v, a, b;  // strides u, v and paddings a, b
  };
  constexpr Numbers kLayers[] = {
      //N   C  H     W   K   R  S  u  v  a  b
      {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
      {1, 1, 1, 1, 2, 5, 5, 1, 1, 2, 2},   // all taps but one over ghost cells
      {1, 1, 5, 7, 1, 3, 3, 1, 1, 1, 1},   // one of everything
      {1, 1, 7, 5, 3, 3, 3, 1, 1, 0, 0},   // no padding
      {2, 3, 6, 11, 5, 3, 3, 1, 1, 1, 1},  // several of everything
      // One channel: stage 07's.
      {1, 1, 28, 33, 4, 3, 3, 1, 1, 1, 1},
      {1, 1, 17, 64, 2, 5, 5, 1, 1, 2, 2},
      {3, 1, 13, 9, 7, 1, 1, 1, 1, 0, 0},
      {1, 1, 31, 33, 33, 1, 1, 1, 1, 0, 0},
      {1, 1, 4, 4, 130, 3, 3, 1, 1, 1, 1},   // more filters than a block has threads
      {1, 1, 3, 1030, 1, 3, 3, 1, 1, 1, 1},  // a row longer than any block
      {1, 1, 1030, 2, 2, 3, 3, 1, 1, 1, 1},  // a column
      {33, 1, 5, 5, 2, 3, 3, 1, 1, 1, 1},    // more images than a warp has threads
      // Many channels: the layers of the papers, cut down.
      {1, 130, 4, 4, 3, 3, 3, 1, 1, 1, 1},
      {2, 16, 7, 7, 4, 3, 3, 1, 1, 1, 1},
      {1, 8, 16, 16, 3, 3, 3, 1, 1, 1, 1},  // tiles that fit exactly
      {1, 3, 5, 31, 12, 3, 3, 1, 1, 1, 1},
      {1, 6, 7, 7, 5, 5, 5, 1, 1, 2, 2},
      {2, 5, 9, 6, 3, 5, 5, 1, 1, 0, 0},
      {1, 3, 14, 13, 6, 7, 7, 2, 2, 3, 3},    // a network's first layer
      {1, 3, 23, 23, 2, 11, 11, 4, 4, 0, 0},  // AlexNet's
      {1, 2, 6, 6, 65, 3, 3, 1, 1, 1, 1},
      {1, 5, 4, 5, 67, 3, 3, 1, 1, 1, 1},
      // 1 x 1.
      {1, 5, 7, 7, 3, 1, 1, 1, 1, 0, 0},
      {2, 32, 14, 5, 9, 1, 1, 1, 1, 0, 0},
      {1, 33, 6, 6, 33, 1, 1, 1, 1, 0, 0},
      {4, 64, 3, 3, 17, 1, 1, 1, 1, 0, 0},
      {1, 520, 2, 2, 5, 1, 1, 1, 1, 0, 0},
      {1, 2, 3, 3, 257, 1, 1, 1, 1, 0, 0},
      {2, 4, 11, 10, 5, 1, 1, 3, 3, 0, 0},  // steps over cells
      {1, 2, 3, 4, 3, 1, 1, 1, 1, 1, 2},    // a frame of zeros
      // Stride.
      {1, 3, 13, 11, 4, 3, 3, 2, 2, 1, 1},
      {2, 3, 14, 10, 4, 3, 3, 2, 2, 0, 0},  // does not divide: the last rows are not used
      {1, 2, 15, 17, 3, 3, 5, 2, 3, 1, 2},
      {1, 2, 9, 8, 3, 2, 2, 3, 5, 0, 0},  // longer than the filter
      // Filters that are not square, even, larger than the input.
      {1, 3, 9, 10, 4, 1, 7, 1, 1, 0, 3},
      {1, 3, 10, 9, 4, 7, 1, 1, 1, 3, 0},
      {3, 2, 9, 13, 4, 5, 3, 1, 1, 2, 1},
      {1, 2, 8, 9, 3, 2, 2, 1, 1, 0, 0},
      {1, 2, 9, 8, 3, 4, 2, 1, 1, 1, 1},
      {1, 3, 3, 2, 4, 7, 5, 1, 1, 3, 2},
      {2, 3, 6, 6, 10, 6, 6, 1, 1, 0, 0},  // one output a filter: fully connected
      // More padding than the filter needs.
      {1, 2, 4, 5, 3, 3, 3, 1, 1, 3, 4},  // sums of nothing at the edges
      {1, 2, 7, 6, 3, 3, 3, 2, 2, 2, 2},
  };
  std::vector<conv::ConvLayer> layers;
  for (const Numbers& n : kLayers) {
    layers.emplace_back(conv::LayerShape{n.N, n.C, n.H, n.W, n.K, n.R, n.S, n.u, n.v, n.a, n.b});
  }
  conv::Random random(seed ^ 0x9e3779b97f4a7c15u);
  for (int i = 0; i < 6; ++i) layers.push_back(random_layer(random));
  return layers;
}

void check_layers(const Conv2dVariant& variant, Backend& backend,
                  const std::vector<conv::ConvLayer>& layers, std::uint64_t seed, Row& row,
                  Progress& progress) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = variant.unavailable;
    return;
  }
  for (const conv::ConvLayer& layer : layers) {
    progress.show(row.stage + " " + row.variant + ": layer " +
                  std::to_string(row.check.shapes + 1) + " of " + std::to_string(layers.size()));
    ++seed;
    if (!refusal(variant, layer).empty()) continue;
    const int shapes = row.check.shapes;
    bool alive = true;
    try {
      const auto try_with = [&](const Conv2dData& data, conv::Demand demand) {
        const conv::LayerChecker checker(layer, data.input, data.filters, demand, {},
                                         variant.layout);
        Conv2dArrays arrays(backend, data);
        return try_once(variant, backend, data, checker, demand == conv::Demand::exact, arrays,
                        row);
      };
      // Whole numbers come out exactly only where nothing but sums of products is computed.
      if (variant.demand == conv::Demand::bounded) {
        alive = try_with(exact_data(layer, seed), conv::Demand::exact);
      }
      alive = alive && try_with(adversarial_data(layer, seed), variant.demand);
      row.check.shapes = shapes + 1;
    } catch (const std::runtime_error& error) {
      add_failure(row.check, describe(layer), error.what());
      alive = false;
    }
    if (!alive) {
      repair(backend, row);
      break;
    }
  }
  settle(variant.uncounted, backend, row);
}

void check_layer(const Conv2dVariant& variant, Backend& backend, const conv::ConvLayer& layer,
                 std::uint64_t seed, Row& row) {
  if (!variant.unavailable.empty()) {
    row.check.reason = row.hazards.reason = row.traffic.reason = variant.unavailable;
    return;
  }
  try {
    const Conv2dData data = adversarial_data(layer, seed, conv::affordable_repeat(layer));
    const conv::LayerChecker checker(layer, data.input, data.filters, variant.demand, data.repeat,
                                     variant.layout);
    Conv2dArrays arrays(backend, data);
    check_layer(variant, backend, data, checker, arrays, row);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, describe(layer), error.what());
    repair(backend, row);
  }
}

void check_layer(const Conv2dVariant& variant, Backend& backend, const Conv2dData& data,
                 const conv::LayerChecker& checker, Conv2dArrays& arrays, Row& row,
                 std::vector<float>* outputs) {
  const conv::ConvLayer& layer = data.layer;
  Observation seen;
  bool alive = true;
  try {
    alive = try_once(variant, backend, data, checker, false, arrays, row, &seen, outputs);
  } catch (const std::runtime_error& error) {
    add_failure(row.check, describe(layer), error.what());
    alive = false;
  }
  if (!alive) repair(backend, row);
  settle(variant.uncounted, backend, row);
  std::function<simt::Counters()> predict;
  if (variant.predict) predict = [&] { return variant.predict(layer); };
  compare_traffic(variant.uncounted, backend, alive, predict, {seen.counters},
                  static_cast<double>(layer.output_size()), describe(layer), row);
}

}  // namespace halo
