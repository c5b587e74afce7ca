// The family of softmax layers: its problems and data, the shapes that are tried, the published ones.
#include "common/harness/families/softmax.hpp"

#include <algorithm>

#include "common/harness/families/expected_outputs.hpp"
#include "common/harness/families/operation.hpp"

namespace halo {

using conv::Softmax;

namespace {

class SoftmaxData final : public Dataset {
 public:
  SoftmaxData(const Softmax& problem, std::vector<float> input)
      : Dataset({{"input", std::move(input), problem.input_size()}}), problem_(problem) {}

  Judge judge(conv::Layout, conv::Demand demand) const override {
    return [checker = conv::SoftmaxChecker(problem_, inputs()[0].values, demand)](
               std::int64_t first, std::span<const float> cells) {
      return checker.judge(first, cells);
    };
  }

 private:
  Softmax problem_;
};

// DataKind::Of::sparse: each row is judged by itself.
class SparseSoftmaxData final : public Dataset {
 public:
  SparseSoftmaxData(const Softmax& problem, std::uint64_t seed)
      : Dataset({sparse_values("input", problem.input_size(), seed)}), problem_(problem) {}

  Judge judge(conv::Layout, conv::Demand demand) const override {
    return [this, demand](std::int64_t first, std::span<const float> cells) {
      const std::vector<float>& values = inputs()[0].values;
      const Softmax one(1, problem_.C());
      std::vector<float> row(static_cast<std::size_t>(one.C()));
      conv::Comparison all;
      while (!cells.empty()) {
        const std::int64_t begin = first / one.C() * one.C();
        const auto count =
            std::min(cells.size(), static_cast<std::size_t>(begin + one.C() - first));
        for (std::size_t c = 0; c < row.size(); ++c) {
          row[c] = values[(static_cast<std::size_t>(begin) + c) % values.size()];
        }
        conv::Comparison here =
            conv::SoftmaxChecker(one, row, demand).judge(first - begin, cells.first(count));
        here.move_by(begin);
        all.merge(here);
        first += static_cast<std::int64_t>(count);
        cells = cells.subspan(count);
      }
      return all;
    };
  }

 private:
  Softmax problem_;
};

}  // namespace

template <>
class FamilyProblem<Softmax> final : public OperationProblem<Softmax> {
 public:
  using OperationProblem::OperationProblem;

  std::string describe() const override { return "softmax " + label(); }
  Problem fields() const override {
    return {{"N", std::int64_t{given().N()}}, {"C", std::int64_t{given().C()}}};
  }
  std::vector<conv::OutputAxis> output_axes(conv::Layout) const override {
    return {{"n", "image", given().N()}, {"c", "category", given().C()}};
  }
  std::vector<Trait> traits() const override {
    const Softmax& it = given();
    return {
        {"one image", "several images", it.N() == 1},
        {"one category", "several categories", it.C() == 1},
        {"at most 32 categories", "more than 32 categories", it.C() <= 32},
        {"at most 1,024 categories", "more than 1,024 categories", it.C() <= 1024},
        {"categories in multiples of 32", "categories not in multiples of 32", it.C() % 32 == 0},
        {"images in multiples of 32", "images not in multiples of 32", it.N() % 32 == 0},
    };
  }
  DatasetPtr data(DataKind kind, std::uint64_t seed, std::int64_t) const override {
    if (kind.of == DataKind::Of::sparse) {
      return std::make_shared<SparseSoftmaxData>(given(), seed);
    }
    return std::make_shared<SoftmaxData>(given(), conv::make_input(given(), kind.number, seed));
  }
};

template <>
ProblemCall<Softmax> call_of(const Softmax& problem, const AnyCall& any) {
  return {problem, any.inputs[0], any.output, any.workspace, any.overlaps};
}

void add(SoftmaxStage& stage, const char* name, const char* source, const SoftmaxKernel& kernel) {
  auto variant = described<conv::Softmax>(name, source, kernel);
  variant.demand = demand_of(kernel.arithmetic);
  variant.prepare = [kernel](const conv::Softmax& problem) {
    Prepared<conv::Softmax> made;
    made.launch = [launch = kernel.launch](const ProblemCall<conv::Softmax>& c) {
      return launch({c.problem.N(), c.problem.C(), c.input, c.output, c.workspace, c.overlaps});
    };
    if (kernel.workspace_floats != nullptr) {
      made.workspace_floats = kernel.workspace_floats(problem.N(), problem.C());
    }
    return made;
  };
  variant.tiles = fixed_tiles<conv::Softmax>(kernel.tiles);
  variant.can_overlap = kernel.can_overlap;
  stage.variants.push_back(std::move(variant));
}

template <>
std::vector<Softmax> adversarial(std::uint64_t seed) {
  std::vector<Softmax>
      problems =
          {
              // N, C
              {1, 1},    {1, 2},    {2, 1},    {9, 3},      {8, 10},   {33, 10},
              {7, 31},   {8, 32},   {9, 33},   {32, 32},    {7, 63},   {5, 64},
              {3, 65},   {7, 127},  {4, 128},  {3, 129},    {2, 255},  {2, 256},
              {3, 257},  {7, 1000}, {2, 1023}, {7, 1024},   {2, 1025},  // the listing has a thread for each category
              {1, 2048}, {2, 3000}, {1, 4099}, {1, 16'411},  // no row fits into 48 KB
              {130, 3},  {257, 1},  {300, 7},  {1030, 2},   {61, 316},  // rows in which a warp has few cells, which may all be -inf
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

namespace {

// One row of the longest tile that is still tried: the first that takes several blocks.
constexpr int kMostTileCells = 40'000;

// Every class of images with every class of categories.
std::vector<Trial<Softmax>> small_trials(const SoftmaxVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Softmax>> all = taken(variant, adversarial<Softmax>(seed));
  const std::vector<TileSizes> tiles =
      variant.tiles ? variant.tiles(all.front().problem) : std::vector<TileSizes>();
  for (const int images : sizes_round(tiles, &TileSizes::N, {1, 3})) {
    for (const int categories : sizes_round(tiles, &TileSizes::C, {11})) {
      const std::int64_t most = images == 1 ? kMostTileCells : kMostRandomCells;
      if (std::int64_t{images} * categories > most) continue;
      add_trial(variant, Softmax(images, categories), all);
    }
  }
  return all;
}

}  // namespace

template <>
std::vector<Trial<Softmax>> trials(const SoftmaxVariant& variant, std::uint64_t seed) {
  std::vector<Trial<Softmax>> all = small_trials(variant, seed);
  add_large(variant, {{2'147'479, 1000}, {214'747'955, 10}, {33'554'367, 64}}, all);
  return all;
}

template <>
const ProgramFamily& program_family<Softmax>() {
  return operation_family<Softmax>(
      {.name = "softmax",
       .help = "A softmax is named imagesxcategories: 128x1000.\n",
       .example = "--problem 128x1000,32x10",
       .parse = conv::parse_softmax,
       .published = data::sc16_softmax,
       .simulated = "32x10,8x1000,2x20000",
       .measured =
           named_in(data::sc16_softmax(), {"CLASS1+CLASS2", "CLASS3", "128x10000", "65536x1000"})});
}

HALO_FAMILY(Softmax)

}  // namespace halo
