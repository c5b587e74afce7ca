// Exercise 07: the division of a single-channel layer, in even pieces.
//
// No kernel of stage 07 plans anything. The rule of its plan.cpp does not pass either: it rounds all quotients up, so
// that the smallest strip may not feed the cores.
#include "common/exercise/check.hpp"

#include <array>
#include <cmath>

#include "common/conv/inputs.hpp"

namespace halo::exercises {

namespace {

constexpr int kLayers = 0;

// As the page has it: a map of W x H cells, M filters of K x K.
struct Layer {
  std::int64_t W, H, M, K;
};

struct Gpu {
  std::int64_t sms, shared_bytes, n_fma;
};

struct Divided {
  std::int64_t method, pieces, bytes;
};

std::int64_t up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// D and F of a method for this many pieces.
struct OnChip {
  std::int64_t bytes, multiply_adds;
};

OnChip first_method(const Layer& layer, const Gpu& gpu, std::int64_t P) {
  const std::int64_t filters = up(layer.M, gpu.sms), taps = layer.K * layer.K;
  const std::int64_t rows = std::min(up(layer.H, P) + layer.K - 1, layer.H);
  return {4 * (layer.W * rows + taps * filters), taps * filters * layer.W * (layer.H / P)};
}

OnChip second_method(const Layer& layer, const Gpu& gpu, std::int64_t Q) {
  const std::int64_t own = up(layer.H, gpu.sms), taps = layer.K * layer.K;
  const std::int64_t rows = std::min(own + layer.K - 1, layer.H);
  return {4 * (layer.W * rows + taps * up(layer.M, Q)), taps * (layer.M / Q) * layer.W * own};
}

// The definition, word for word: the smallest number in range, else 1.
template <class Method>
std::int64_t smallest(const Method& method, const Layer& layer, const Gpu& gpu, std::int64_t most) {
  for (std::int64_t pieces = 1; pieces <= most; ++pieces) {
    const OnChip on_chip = method(layer, gpu, pieces);
    if (on_chip.bytes <= gpu.shared_bytes && on_chip.multiply_adds >= gpu.n_fma) return pieces;
  }
  return 1;
}

Divided divided(const Layer& layer, const Gpu& gpu) {
  const std::int64_t P = smallest(first_method, layer, gpu, layer.H);
  const std::int64_t Q = smallest(second_method, layer, gpu, layer.M);
  const std::int64_t first = first_method(layer, gpu, P).bytes;
  const std::int64_t second = second_method(layer, gpu, Q).bytes;
  if (first < second) return {1, P, first};
  return {2, Q, second};
}

// The two layers that the page of the stage works out, some of the paper's ends, then any: small ones, wide ones,
// and many filters, as even in their logarithms.
std::vector<float> make_layers(const Given& given, std::uint64_t seed, bool) {
  static constexpr std::array<Layer, 9> kFirst = {{{28, 28, 16, 3},
                                                   {1024, 1024, 32, 1},
                                                   {1024, 1024, 32, 3},
                                                   {28, 28, 512, 5},
                                                   {512, 512, 64, 5},
                                                   {1, 1, 1, 1},
                                                   {1000, 3, 7, 5},
                                                   {1024, 1024, 8192, 5},
                                                   {500, 250, 5000, 5}}};
  conv::Random random(seed);
  const std::int64_t N = given["N"];
  std::vector<float> figures(static_cast<std::size_t>(4 * N));
  const auto up_to = [&](double most) {
    const double share = static_cast<double>(random.bits() >> 11) * 0x1p-53;
    return static_cast<std::int64_t>(std::exp(share * std::log(most + 1)));
  };
  for (std::int64_t i = 0; i < N; ++i) {
    Layer layer{up_to(1024), up_to(1024), up_to(2048), 0};
    layer.K = 1 + 2 * static_cast<std::int64_t>(random.below(3));
    if (i < static_cast<std::int64_t>(kFirst.size())) layer = kFirst[static_cast<std::size_t>(i)];
    std::int64_t place = i;
    for (const std::int64_t figure : {layer.W, layer.H, layer.M, layer.K}) {
      figures[static_cast<std::size_t>(place)] = static_cast<float>(figure);
      place += N;
    }
  }
  return figures;
}

std::vector<double> prepare(const Given& given) {
  const std::int64_t N = given["N"];
  const Gpu gpu{given["sms"], given["shared_bytes"], given["n_fma"]};
  std::vector<double> common(static_cast<std::size_t>(3 * N));
  for (std::int64_t i = 0; i < N; ++i) {
    const auto figure = [&](std::int64_t which) {
      return static_cast<std::int64_t>(given.cell(kLayers, which * N + i));
    };
    const Divided division = divided({figure(0), figure(1), figure(2), figure(3)}, gpu);
    std::int64_t place = i;
    for (const std::int64_t number : {division.method, division.pieces, division.bytes}) {
      common[static_cast<std::size_t>(place)] = static_cast<double>(number);
      place += N;
    }
  }
  return common;
}

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t N = given["N"];
  output.is(
      given.common(i), 0,
      {{kLayers, i % N}, {kLayers, N + i % N}, {kLayers, 2 * N + i % N}, {kLayers, 3 * N + i % N}});
}

std::vector<Trait> traits(const Given& given) {
  return {
      {"one or two layers", "many layers", given["N"] <= 2},
      {"layers that fill their blocks", "a last block of layers that is not full",
       given["N"] % 128 == 0},
      {"GPUs with much shared memory", "GPUs with little shared memory",
       given["shared_bytes"] >= 65'536},
      {"at least eight SMs", "fewer than eight SMs", given["sms"] >= 8},
  };
}

// layers; SMs, bytes of shared memory of one, and multiply-adds that hide the latency there. GTX 1080 Ti: 258
// cycles of 128 cores; V100: 64 cores; H200: 650 cycles. With a megabyte the last fixed layer has 125,000 pixels and
// as many taps on chip; with less, what fits is no more than an int holds.
const std::vector<Group> kGroups = {
    {"the layers of the page on two GPUs", {{2, 28, 98'304, 33'024}, {2, 132, 232'448, 83'200}}},
    {"three GPUs and many layers",
     {{40, 28, 98'304, 33'024}, {40, 80, 98'304, 28'000}, {40, 132, 232'448, 83'200}}},
    {"little shared memory: strips and groups are needed",
     {{20, 4, 1'800, 9'500}, {60, 4, 8'192, 2'000}, {60, 16, 16'384, 500}, {50, 10, 4'096, 100}}},
    {"more SMs than rows or filters, and cores that nothing feeds",
     {{50, 2'000, 65'536, 100}, {50, 600, 65'536, 1'000'000'000}}},
    {"numbers beyond an int, and any layers and GPUs",
     {{40, 1, 1'000'000, 40'000'000}, {40, 1, 232'448, 40'000'000}, {33, 2, 98'304, 50'000}}},
};

const Numbers kMeasured = {256, 28, 98'304, 33'024};
// Whatever the layer, the whole of it fits and feeds the cores.
const Numbers kOfOnePiece = {256, 28, 1'000'000'000, 1};

// Elsewhere one layer has one, and its neighbour thousands.
double idle(const Given& given) { return given["n_fma"] > kOfOnePiece.back() ? 5 : 1; }

double warps(const Given& given) { return static_cast<double>((given["N"] - 1) / 32 + 1); }

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "07_division",
      .numbers = {"N", "sms", "shared_bytes", "n_fma"},
      .inputs = {{"layers", [](const Given& given) { return 4 * given["N"]; }, 0, make_layers}},
      .output_size = [](const Given& given) { return 3 * given["N"]; },
      .define = define,
      .prepare = prepare,
      .outputs = 3,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(80), 1 + draw(150), 4096LL << draw(6), 100LL << draw(12)};
          },
      .cases =
          {
              safe("no access beyond an array, and none of what nobody wrote", 20, kMemory),
          },
      .budgets =
          {
              {"a layer's figures are read once",
               15,
               kMeasured,
               {{load_requests(), 5 * Rule(warps), 4 * Rule(warps)}}},
              {"neighbouring lanes have neighbouring layers",
               5,
               kMeasured,
               {{bytes_per_output(), 32, 28}}},
              // One warp of four that divides for all: 2.6, for it fetches and stores as the others do.
              {"all warps and lanes divide",
               5,
               kOfOnePiece,
               {{idle_warps(), 1.75 * Rule(idle), idle}}},
              {"one launch", 5, kMeasured, {{launches(), 1, 1}, {extra_memory(), 0, 0}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
          },
      .idle = idle,
      .questions =
          {
              // Outputs: method of both layers, pieces of both, bytes of both.
              {"pieces_28", 1, 0, {2, 132, 232'448, 83'200}, {}, 1, 2},
              {"bytes_28", 912, 0, {2, 132, 232'448, 83'200}, {}, 1, 4},
              {"pieces_1024", 45, 0, {2, 28, 98'304, 33'024}, {}, 1, 3},
              {"bytes_1024", 94'216, 0, {2, 28, 98'304, 33'024}, {}, 1, 5},
          },
      .timed = {100'000, 132, 232'448, 83'200},
      .owner =
          [](const Given& given, std::int64_t i) {
            const std::int64_t layer = i % given["N"];
            return Owner{layer / 128, layer % 128};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{
                {"array", "array", 3, {"method", "pieces", "bytes"}},
                {"layer", "layer", given["N"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
