// The family of layout transforms: its problems and data, the shapes that are tried, the published ones.
#include "common/harness/families/transform.hpp"

#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/operation.hpp"

namespace halo {

using conv::Layout;
using conv::Transform;

namespace {

class TransformData final : public Dataset {
 public:
  TransformData(const Transform& problem, std::vector<float> input)
      : Dataset({{"input", std::move(input), problem.input_size()}}), problem_(problem) {}

  Judge judge(conv::Layout, conv::Demand) const override {
    return [checker = conv::TransformChecker(problem_, inputs()[0].values)](
               std::int64_t first, std::span<const float> cells) {
      return checker.judge(first, cells);
    };
  }

 private:
  Transform problem_;
};

DatasetPtr sparse_data(const Transform& problem, std::uint64_t seed) {
  return std::make_shared<SparseData>(
      std::vector<InputValues>{sparse_values("input", problem.input_size(), seed)},
      [problem](const SparseData& data, Layout, std::int64_t index) {
        const conv::ImagesShape& shape = problem.images().shape();
        const auto [n, c, h, w] = place_of(shape, problem.to(), index);
        ExpectedOutput expected;
        expected.value = data(0, conv::index_of(shape, problem.from(), n, c, h, w));
        return expected;
      });
}

}  // namespace

template <>
class FamilyProblem<Transform> final : public OperationProblem<Transform> {
 public:
  using OperationProblem::OperationProblem;

  std::string describe() const override { return "transform " + label(); }
  Problem fields() const override {
    const conv::Images& images = given().images();
    return {{"N", std::int64_t{images.N()}},
            {"C", std::int64_t{images.C()}},
            {"H", std::int64_t{images.H()}},
            {"W", std::int64_t{images.W()}},
            {"from", conv::to_string(given().from())}};
  }
  std::vector<conv::OutputAxis> output_axes(conv::Layout) const override {
    const conv::Images& it = given().images();
    const conv::OutputAxis image = {"n", "image", it.N()};
    const conv::OutputAxis channel = {"c", "channel", it.C()};
    const conv::OutputAxis row = {"h", "row", it.H()};
    const conv::OutputAxis column = {"w", "column", it.W()};
    if (given().to() == conv::Layout::nchw) return {image, channel, row, column};
    return {channel, row, column, image};
  }
  std::vector<Trait> traits() const override {
    const conv::Images& it = given().images();
    const std::int64_t cells = std::int64_t{it.C()} * it.H() * it.W();
    return {
        {"to NCHW", "to CHWN", given().to() == conv::Layout::nchw},
        {"one image", "several images", it.N() == 1},
        {"images in multiples of 32", "images not in multiples of 32", it.N() % 32 == 0},
        {"images in pairs", "an odd number of images", it.N() % 2 == 0},
        {"cells of an image in multiples of 32", "cells of an image not in multiples of 32",
         cells % 32 == 0},
        {"cells of an image in pairs", "an odd number of cells of an image", cells % 2 == 0},
        {"at most 32 images", "more than 32 images", it.N() <= 32},
        {"at most 32 cells of an image", "more than 32 cells of an image", cells <= 32},
    };
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed, std::int64_t) const override {
    if (kind.of == DataKind::Of::sparse) return sparse_data(given(), seed);
    return std::make_shared<TransformData>(given(), conv::make_input(given(), kind.number, seed));
  }
};

template <>
ProblemCall<Transform> call_of(const Transform& problem, const AnyCall& any) {
  return {problem, any.inputs[0], any.output, any.workspace};
}

void add(TransformStage& stage, const char* name, const char* source,
         const TransformKernel& kernel) {
  auto variant = described<conv::Transform>(name, source, kernel);
  variant.launches([launch = kernel.launch](const ProblemCall<conv::Transform>& c) {
    const conv::Images& images = c.problem.images();
    return launch({images.N(), images.C() * images.H() * images.W(),
                   c.problem.to() == conv::Layout::chwn, c.input, c.output});
  });
  variant.tiles = fixed_tiles<conv::Transform>(kernel.tiles);
  stage.variants.push_back(std::move(variant));
}

template <>
std::vector<Transform> adversarial(std::uint64_t seed) {
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
      {31, 1, 1, 31},
      {33, 1, 3, 11},
      {63, 3, 7, 3},
      {65, 1, 5, 13},
      {64, 1, 5, 13},
      {65, 1, 8, 8},
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

namespace {

// Nearly 2^31 cells: as many images as there are cells in one, few images, and images of few cells.
std::vector<Transform> large_transforms() {
  std::vector<Transform> problems;
  for (const conv::ImagesShape& shape :
       {conv::ImagesShape{46'340, 46'340, 1, 1}, conv::ImagesShape{2, 1'073'739'775, 1, 1},
        conv::ImagesShape{1'073'739'775, 2, 1, 1}}) {
    for (const Layout from : {Layout::chwn, Layout::nchw}) {
      problems.emplace_back(conv::Images(shape), from);
    }
  }
  return problems;
}

std::vector<Trial<Transform>> small_trials(const TransformVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Transform>> all = taken(variant, adversarial<Transform>(seed));
  const std::vector<TileSizes> tiles =
      variant.tiles ? variant.tiles(all.front().problem) : std::vector<TileSizes>();
  const auto transform = [](int images, int cells, Layout from) {
    const int channels = cells % 3 == 0 ? 3 : cells % 2 == 0 ? 2 : 1;
    const int rows = cells / channels % 5 == 0 ? 5 : 1;
    return Transform(
        conv::Images({.N = images, .C = channels, .H = rows, .W = cells / channels / rows}), from);
  };
  constexpr Layout kFrom[] = {Layout::chwn, Layout::nchw};
  for (const int images : sizes_round(tiles, &TileSizes::N, {1, 3})) {
    for (const int cells : sizes_round(tiles, &TileSizes::cells, {1, 6})) {
      if (std::int64_t{images} * cells > kMostRandomCells) continue;
      for (const Layout from : kFrom) add_trial(variant, transform(images, cells, from), all);
    }
  }
  // A tile too large to be combined, as it is.
  for (const TileSizes& tile : tiles) {
    if (std::int64_t{tile.N} * tile.cells <= kMostRandomCells) continue;
    for (const Layout from : kFrom) add_trial(variant, transform(tile.N, tile.cells, from), all);
  }
  return all;
}

}  // namespace

template <>
std::vector<Trial<Transform>> trials(const TransformVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Transform>> all = small_trials(variant, seed);
  add_large(variant, large_transforms(), all);
  return all;
}

namespace {

// Of the paper's layers, and a large one both ways.
std::vector<Transform> measured() {
  std::vector<Transform> all = named_in(data::sc16_transforms(), {"CV4", "CV6", "large 100"});
  all.emplace_back(all.back().images(), Layout::nchw);
  return all;
}

}  // namespace

template <>
const ProgramFamily& program_family<Transform>() {
  return operation_family<Transform>(
      {.name = "transform",
       .help =
           "A transform is named size-batch-channels-to-layout: 28-128-16-to-nchw takes 128 images "
           "of 16\nchannels and 28 x 28 cells from CHWN to NCHW. What is not square is 28x30 (rows "
           "x columns).\n",
       .example = "--problem 28-128-16-to-nchw,13x17-100-3-to-chwn",
       .parse = conv::parse_transform,
       .published = data::sc16_transforms,
       .simulated = "14-128-16-to-nchw,14-128-16-to-chwn,13-45-7-to-nchw",
       .measured = measured()});
}

HALO_FAMILY(Transform)

}  // namespace halo
