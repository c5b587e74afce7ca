#include "common/harness/operation_families.hpp"

#include <algorithm>

#include "common/conv/inputs.hpp"
#include "common/data/sc16.hpp"
#include "common/harness/candidates.hpp"
#include "common/report/command_line.hpp"

namespace halo {

namespace {

using conv::Layout;
using conv::Pooling;
using conv::PoolingLayer;
using conv::Rounding;
using conv::Softmax;
using conv::Transform;

constexpr int kRandomProblems = 6;
constexpr std::int64_t kMostRandomCells = 20'000;  // of such a problem's input

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed ^ 0x9e3779b97f4a7c15u) {}
  int from(int least, int most) {
    return least + static_cast<int>(random_.below(static_cast<std::uint64_t>(most - least + 1)));
  }

 private:
  conv::Random random_;
};

template <class Given>
std::vector<Given> parsed(const std::string& labels, Given (*parse)(std::string_view)) {
  std::vector<Given> problems;
  for (const std::string& label : split(labels)) problems.push_back(parse(label));
  return problems;
}

// The paper's problems are the set "sc16", ours beside them the set "large".
template <class Given>
std::function<std::vector<Given>(const std::string&)> published(
    const std::vector<data::Sc16Problem<Given>>& (*list)()) {
  return [list](const std::string& set) {
    std::vector<Given> problems;
    for (const data::Sc16Problem<Given>& one : list()) {
      if ((one.source == "ours") == (set == "large")) problems.push_back(one.problem);
    }
    return problems;
  };
}

template <class Given>
std::vector<Given> of_the_paper(const std::vector<data::Sc16Problem<Given>>& list,
                                const std::vector<std::string>& names) {
  std::vector<Given> problems;
  for (const std::string& name : names) problems.push_back(data::sc16_problem(list, name));
  return problems;
}

}  // namespace

// ---- Transforms ----

const char* word_for(const Transform&) { return "transform"; }

Problem problem_of(const Transform& transform) {
  const conv::Images& images = transform.images();
  return {{"N", images.N()},
          {"C", images.C()},
          {"H", images.H()},
          {"W", images.W()},
          {"from", conv::to_string(transform.from())}};
}

template <>
std::vector<Transform> adversarial_problems(std::uint64_t seed) {
  std::vector<conv::ImagesShape> shapes = {
      // N   C   H   W
      {1, 1, 1, 1},
      {1, 1, 1, 2},
      {2, 1, 1, 1},
      {3, 2, 1, 1},
      {5, 3, 4, 2},
      {7, 1, 13, 1},
      // One image, one cell an image: both orders are the same.
      {1, 3, 17, 19},
      {67, 1, 1, 1},
      // Tiles of 32 and 64 that fit exactly, or by one cell not.
      {32, 1, 4, 8},
      {32, 2, 4, 8},
      {64, 1, 8, 8},
      {64, 4, 8, 8},
      {128, 2, 8, 4},
      {31, 1, 1, 31},
      {33, 1, 3, 11},
      {63, 3, 7, 3},
      {65, 1, 5, 13},
      {64, 1, 5, 13},
      {65, 1, 8, 8},
      {96, 2, 12, 4},
      {128, 3, 5, 7},
      {130, 1, 3, 43},
      // Rows of an odd and an even number of cells: two cells at once are aligned, or not.
      {64, 1, 3, 3},
      {62, 2, 3, 5},
      {66, 2, 3, 11},
      {34, 1, 2, 17},
      {33, 2, 2, 9},
      // Longer than any block.
      {2, 1, 1, 1030},
      {1030, 1, 1, 3},
      {3, 1030, 1, 1},
      {3, 130, 2, 3},
      {16, 16, 9, 9},
  };
  Dice dice(seed);
  for (int i = 0; i < kRandomProblems; ++i) {
    conv::ImagesShape shape;
    do {
      shape = {dice.from(1, 200), dice.from(1, 40), dice.from(1, 30), dice.from(1, 30)};
    } while (conv::Images(shape).size() > kMostRandomCells);
    shapes.push_back(shape);
  }
  std::vector<Transform> problems;
  for (const conv::ImagesShape& shape : shapes) {
    for (const Layout from : {Layout::chwn, Layout::nchw}) {
      problems.emplace_back(conv::Images(shape), from);
    }
  }
  return problems;
}

template <>
OperationFamily<Transform> operation_family() {
  OperationFamily<Transform> family;
  family.name = "transform";
  family.label_help =
      "A transform is named size-batch-channels-to-layout: 28-128-16-to-nchw takes 128 images of "
      "16\n"
      "channels and 28 x 28 cells from CHWN to NCHW. What is not square is 28x30 (rows x columns).";
  family.example = "28-128-16-to-nchw,13x17-100-3-to-chwn";
  family.parse = conv::parse_transform;
  family.simulated =
      parsed("14-128-16-to-nchw,14-128-16-to-chwn,13-45-7-to-nchw", conv::parse_transform);
  family.measured = of_the_paper(data::sc16_transforms(), {"CV4", "CV6", "large 100"});
  family.measured.emplace_back(family.measured.back().images(), Layout::nchw);
  family.published = published(data::sc16_transforms);
  return family;
}

// ---- Pooling ----

const char* word_for(const PoolingLayer&) { return "layer"; }

Problem problem_of(const PoolingLayer& layer) {
  return {{"N", layer.N()},
          {"C", layer.C()},
          {"H", layer.H()},
          {"W", layer.W()},
          {"R", layer.R()},
          {"S", layer.S()},
          {"stride", down_and_across(layer.stride_h(), layer.stride_w())},
          {"padding", down_and_across(layer.padding_h(), layer.padding_w())},
          {"kind", layer.kind() == Pooling::max ? "max" : "average"},
          {"rounding", layer.rounding() == Rounding::floor ? "floor" : "ceil"}};
}

template <>
std::vector<PoolingLayer> adversarial_problems(std::uint64_t seed) {
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

template <>
OperationFamily<PoolingLayer> operation_family() {
  OperationFamily<PoolingLayer> family;
  family.name = "pooling";
  family.label_help =
      "A layer is named size-batch-window-channels: 55-128-3-96-s2 is the largest of each 3 x 3 "
      "cells "
      "of\n128 images of 96 channels and 55 x 55 cells. What is not square is 7x9 (rows x "
      "columns); "
      "behind it\n-s2 gives a stride other than the window, -p1 a padding, -average that kind, "
      "-ceil "
      "that rounding.";
  family.example = "55-128-3-96-s2,24-64-3x2-4-s2-average-ceil";
  family.parse = conv::parse_pooling;
  family.simulated =
      parsed("28-128-2-2,24-128-3-16-s2-ceil,13-33-3-3-s2-average", conv::parse_pooling);
  family.measured = of_the_paper(data::sc16_pooling(), {"PL1", "PL3", "PL5"});
  family.published = published(data::sc16_pooling);
  return family;
}

// ---- Softmax ----

const char* word_for(const Softmax&) { return "softmax"; }

Problem problem_of(const Softmax& softmax) { return {{"N", softmax.N()}, {"C", softmax.C()}}; }

template <>
std::vector<Softmax> adversarial_problems(std::uint64_t seed) {
  std::vector<Softmax>
      problems =
          {
              // N, C
              {1, 1},    {1, 2},    {2, 1},    {9, 3},      {8, 10},   {33, 10},
              {7, 31},   {8, 32},   {9, 33},   {32, 32},    {7, 63},   {5, 64},
              {3, 65},   {7, 127},  {4, 128},  {3, 129},    {2, 255},  {2, 256},
              {3, 257},  {7, 1000}, {2, 1023}, {7, 1024},   {2, 1025},  // the listing has a thread for each category
              {1, 2048}, {2, 3000}, {1, 4099}, {1, 16'411},  // no row fits into 48 KB
              {130, 3},  {257, 1},  {300, 7},  {1030, 2},
          };
  Dice dice(seed);
  for (int i = 0; i < kRandomProblems;) {
    const int images = dice.from(1, 150);
    const int categories = dice.from(1, 2500);
    if (std::int64_t{images} * categories > kMostRandomCells) continue;
    problems.emplace_back(images, categories);
    ++i;
  }
  return problems;
}

template <>
OperationFamily<Softmax> operation_family() {
  OperationFamily<Softmax> family;
  family.name = "softmax";
  family.label_help = "A softmax is named imagesxcategories: 128x1000.";
  family.example = "128x1000,32x10";
  family.parse = conv::parse_softmax;
  family.simulated = parsed("32x10,8x1000,2x20000", conv::parse_softmax);
  family.measured =
      of_the_paper(data::sc16_softmax(), {"CLASS1+CLASS2", "CLASS3", "128x10000", "65536x1000"});
  family.published = published(data::sc16_softmax);
  return family;
}

}  // namespace halo
