#include "common/data/sc16.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "common/data/file.hpp"
#include "common/data/layer_table.hpp"

namespace halo::data {

namespace {

using conv::Images;
using conv::Layout;
using conv::PoolingLayer;
using conv::Rounding;
using conv::Softmax;
using conv::Transform;

// The item of that name; `what` is what a complaint calls them.
template <class Item>
const Item& named(const std::vector<Item>& items, const char* what, std::string_view name) {
  std::string known;
  for (const Item& item : items) {
    if (item.name == name) return item;
    if (known.find(item.name + ",") == std::string::npos) known += item.name + ", ";
  }
  throw DataError("there is no " + std::string(what) + " " + quoted(name) +
                  " of Li et al. (SC'16); there are: " + known.substr(0, known.size() - 2));
}

std::vector<Sc16Problem<PoolingLayer>> make_pooling() {
  struct Line {
    const char* name;
    const char* network;
    std::int64_t images, channels, size, window;
    Rounding rounding;
  };
  constexpr Rounding kFloor = Rounding::floor;
  constexpr Rounding kCeil = Rounding::ceil;
  constexpr Line kLines[] = {
      {"PL1", "LeNet", 128, 16, 28, 2, kFloor},    {"PL2", "LeNet", 128, 16, 14, 2, kFloor},
      {"PL3", "Cifar10", 128, 64, 24, 3, kCeil},   {"PL4", "Cifar10", 128, 64, 12, 3, kCeil},
      {"PL5", "AlexNet", 128, 96, 55, 3, kFloor},  {"PL6", "AlexNet", 128, 192, 27, 3, kFloor},
      {"PL7", "AlexNet", 128, 256, 13, 3, kFloor}, {"PL8", "ZFNet", 64, 96, 110, 3, kCeil},
      {"PL9", "ZFNet", 64, 256, 26, 3, kCeil},     {"PL10", "ZFNet", 64, 256, 13, 3, kFloor},
  };
  std::vector<Sc16Problem<PoolingLayer>> layers;
  for (const Line& line : kLines) {
    layers.push_back({line.name, std::string("Table 1, ") + line.network,
                      PoolingLayer({.N = line.images,
                                    .C = line.channels,
                                    .H = line.size,
                                    .W = line.size,
                                    .R = line.window,
                                    .S = line.window,
                                    .stride_h = 2,
                                    .stride_w = 2,
                                    .rounding = line.rounding})});
  }
  return layers;
}

std::vector<Sc16Problem<Softmax>> make_softmax() {
  struct Class {
    const char* name;
    const char* networks;
    Softmax problem;
  };
  const Class classes[] = {{"CLASS1+CLASS2", "LeNet+Cifar10", Softmax(128, 10)},
                           {"CLASS3", "AlexNet", Softmax(128, 1000)},
                           {"CLASS4", "ZFNet", Softmax(64, 1000)},
                           {"CLASS5", "VGG", Softmax(32, 1000)}};
  std::vector<Sc16Problem<Softmax>> problems;
  for (const int images : {32, 64, 128}) {
    for (const int categories : {10, 100, 1000, 10000}) {
      const Softmax problem(images, categories);
      const auto found = std::find_if(std::begin(classes), std::end(classes),
                                      [&](const Class& one) { return one.problem == problem; });
      if (found == std::end(classes)) {
        problems.push_back({label(problem), "Fig. 13, a grid of ours", problem});
      } else {
        problems.push_back({found->name, std::string("Table 1, ") + found->networks, problem});
      }
    }
  }
  // Large rows, many rows, and both.
  for (const Softmax& problem : {Softmax(1024, 1000), Softmax(65536, 1000), Softmax(65536, 16384),
                                 Softmax(1024, 32768), Softmax(128, 100000)}) {
    problems.push_back({label(problem), "ours", problem});
  }
  return problems;
}

std::vector<Sc16Problem<Transform>> make_transforms() {
  struct Line {
    std::string name;
    std::string source;
    Images images;
  };
  std::vector<Line> lines;
  for (const NamedLayer& named : paper_layer_table("sc16")) {
    // "LeNet CV1", and "ZFNet CV5 with 7x7", whose input is that of CV5.
    const std::size_t space = named.network.find(' ');
    const std::string name = named.network.substr(space + 1);
    if (name.find(' ') != std::string::npos) continue;
    const conv::ConvLayer& layer = named.layer;
    lines.push_back({name, "Fig. 11, " + named.network.substr(0, space),
                     Images({.N = layer.N(), .C = layer.C(), .H = layer.H(), .W = layer.W()})});
  }
  // Map sizes that are a power of two, even and odd.
  lines.push_back({"large 32", "ours", Images({.N = 32, .C = 128, .H = 128, .W = 128})});
  lines.push_back({"large 64", "ours", Images({.N = 64, .C = 64, .H = 127, .W = 127})});
  lines.push_back({"large 100", "ours", Images({.N = 100, .C = 96, .H = 83, .W = 83})});
  lines.push_back({"large 128", "ours", Images({.N = 128, .C = 64, .H = 90, .W = 90})});
  lines.push_back({"large 256", "ours", Images({.N = 256, .C = 256, .H = 32, .W = 32})});
  std::vector<Sc16Problem<Transform>> transforms;
  for (const Layout from : {Layout::chwn, Layout::nchw}) {
    for (const Line& line : lines) {
      transforms.push_back({line.name, line.source, Transform(line.images, from)});
    }
  }
  return transforms;
}

}  // namespace

const std::vector<Sc16Problem<PoolingLayer>>& sc16_pooling() {
  static const auto layers = make_pooling();
  return layers;
}

const std::vector<Sc16Problem<Softmax>>& sc16_softmax() {
  static const auto problems = make_softmax();
  return problems;
}

const std::vector<Sc16Problem<Transform>>& sc16_transforms() {
  static const auto transforms = make_transforms();
  return transforms;
}

template <class Problem>
const Problem& sc16_problem(const std::vector<Sc16Problem<Problem>>& problems,
                            std::string_view name) {
  return named(problems, "problem", name).problem;
}

template const PoolingLayer& sc16_problem(const std::vector<Sc16Problem<PoolingLayer>>&,
                                          std::string_view);
template const Softmax& sc16_problem(const std::vector<Sc16Problem<Softmax>>&, std::string_view);
template const Transform& sc16_problem(const std::vector<Sc16Problem<Transform>>&,
                                       std::string_view);

}  // namespace halo::data
