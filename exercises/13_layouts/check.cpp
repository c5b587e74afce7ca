// Exercise 13: the cheapest plan of layouts.
//
// No kernel of stage 13 computes anything like it: its planner is host code for two layouts.
#include "common/exercise/check.hpp"

#include <limits>

#include "common/conv/inputs.hpp"

namespace halo::exercises {

namespace {

constexpr int kCost = 0;

std::size_t at(const Given& given, std::int64_t l, std::int64_t a, std::int64_t b, std::int64_t n) {
  return static_cast<std::size_t>(((l * given["A"] + a) * given["A"] + b) * given["N"] + n);
}

// A chain's cheapest plan, from its end: the cheapest way from each layout to the end, and how many cheapest
// ways there are.
struct Planned {
  std::vector<std::int64_t> layouts;
  bool only = false;
};

template <class Cost>
Planned cheapest(const Given& given, const Cost& cost) {
  const std::int64_t L = given["L"], A = given["A"];
  // [L + 1][A], behind the last layer nothing is left to pay.
  std::vector<std::vector<double>> left(static_cast<std::size_t>(L + 1),
                                        std::vector<double>(static_cast<std::size_t>(A), 0));
  std::vector<std::vector<int>> ways(static_cast<std::size_t>(L + 1),
                                     std::vector<int>(static_cast<std::size_t>(A), 1));
  std::vector<std::vector<std::int64_t>> next(
      static_cast<std::size_t>(L), std::vector<std::int64_t>(static_cast<std::size_t>(A), 0));
  for (std::int64_t l = L - 1; l >= 0; --l) {
    const auto layer = static_cast<std::size_t>(l);
    for (std::int64_t a = 0; a < A; ++a) {
      const auto here = static_cast<std::size_t>(a);
      double best = std::numeric_limits<double>::infinity();
      int count = 0;
      for (std::int64_t b = 0; b < A; ++b) {
        const auto there = static_cast<std::size_t>(b);
        const double way = cost(l, a, b) + left[layer + 1][there];
        if (way < best) {
          best = way;
          count = 0;
          next[layer][here] = b;
        }
        if (way == best) count = std::min(2, count + ways[layer + 1][there]);
      }
      left[layer][here] = best;
      ways[layer][here] = count;
    }
  }
  Planned planned;
  planned.only = ways[0][0] == 1;
  std::int64_t a = 0;
  for (std::int64_t l = 0; l < L; ++l) {
    a = next[static_cast<std::size_t>(l)][static_cast<std::size_t>(a)];
    planned.layouts.push_back(a);
  }
  return planned;
}

// A layer's cost in each layout, and a transform's between any two. Drawn again until one plan is cheaper than
// all others: then any method that finds a cheapest plan finds this one.
std::vector<float> make_costs(const Given& given, std::uint64_t seed, bool) {
  conv::Random random(seed);
  const std::int64_t N = given["N"], L = given["L"], A = given["A"];
  std::vector<float> costs(static_cast<std::size_t>(L * A * A * N));
  for (std::int64_t n = 0; n < N; ++n) {
    do {
      for (std::int64_t l = 0; l < L; ++l) {
        std::vector<double> of_layer;
        for (std::int64_t b = 0; b < A; ++b) {
          of_layer.push_back(1 + static_cast<double>(random.below(600)));
        }
        for (std::int64_t a = 0; a < A; ++a) {
          for (std::int64_t b = 0; b < A; ++b) {
            const double transform = a == b ? 0 : 50 + static_cast<double>(random.below(300));
            costs[at(given, l, a, b, n)] =
                static_cast<float>(of_layer[static_cast<std::size_t>(b)] + transform);
          }
        }
      }
    } while (!cheapest(given, [&](std::int64_t l, std::int64_t a, std::int64_t b) {
                return static_cast<double>(costs[at(given, l, a, b, n)]);
              }).only);
  }
  return costs;
}

// spent[L][N], then layout[L][N].
std::vector<double> prepare(const Given& given) {
  const std::int64_t N = given["N"], L = given["L"];
  std::vector<double> common(static_cast<std::size_t>(2 * L * N));
  for (std::int64_t n = 0; n < N; ++n) {
    const auto cost = [&](std::int64_t l, std::int64_t a, std::int64_t b) {
      return given.cell(kCost, static_cast<std::int64_t>(at(given, l, a, b, n)));
    };
    double sum = 0;
    std::int64_t a = 0;
    const std::vector<std::int64_t> plan = cheapest(given, cost).layouts;
    for (std::int64_t l = 0; l < L; ++l) {
      const std::int64_t b = plan[static_cast<std::size_t>(l)];
      sum += cost(l, a, b);
      a = b;
      common[static_cast<std::size_t>(l * N + n)] = sum;
      common[static_cast<std::size_t>((L + l) * N + n)] = static_cast<double>(b);
    }
  }
  return common;
}

void define(const Given& given, std::int64_t i, Output& output) { output.is(given.common(i), 0); }

std::vector<Trait> traits(const Given& given) {
  return {
      {"one layer", "several layers", given["L"] == 1},
      {"two layouts at most", "three layouts or four", given["A"] <= 2},
      {"chains that fill their blocks of 64", "a last block that is not full",
       given["N"] % 64 == 0},
      {"up to 32 layers", "more than 32 layers", given["L"] <= 32},
  };
}

// chains, layers, layouts
const std::vector<Group> kGroups = {
    {"two layers, two layouts", {{64, 2, 2}, {1, 2, 2}, {32, 1, 2}}},
    {"a few layers, three layouts or four", {{64, 3, 3}, {64, 4, 4}, {20, 5, 3}}},
    {"chains that fill no block", {{33, 4, 2}, {100, 3, 3}, {7, 6, 2}}},
    {"one layout, one layer", {{40, 5, 1}, {65, 1, 4}, {1, 1, 1}}},
    {"long chains, up to 64 layers", {{32, 40, 2}, {64, 64, 4}, {3, 33, 2}}},
};

const Numbers kMeasured = {256, 30, 3};

// Layer 0 begins in layout 0; each other layer has a cost for each pair.
double costs_of_chain(const Given& given) {
  const double A = static_cast<double>(given["A"]), L = static_cast<double>(given["L"]);
  return A + (L - 1) * A * A;
}

double usual_requests(const Given& given) {
  return static_cast<double>((given["N"] - 1) / 32 + 1) * costs_of_chain(given);
}

double allowed_requests(const Given& given) {
  return static_cast<double>((given["N"] - 1) / 32 + 1) *
         (costs_of_chain(given) + static_cast<double>(given["L"]) + 6);
}

double usual_instructions(const Given& given) {
  return 100 + 20 * static_cast<double>(given["A"] * given["A"]);
}

// Of a layer and chain: its costs, the sum and the layout.
double usual_bytes(const Given& given) {
  return 4 * costs_of_chain(given) / static_cast<double>(given["L"]) + 8;
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "13_layouts",
      .numbers = {"N", "L", "A"},
      .inputs = {{"cost",
                  [](const Given& given) {
                    return given["L"] * given["A"] * given["A"] * given["N"];
                  },
                  0, make_costs}},
      .output_size = [](const Given& given) { return 2 * given["L"] * given["N"]; },
      .define = define,
      .prepare = prepare,
      .outputs = 2,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(150), 1 + draw(8), 1 + draw(4)};
          },
      .cases =
          {
              safe("no access beyond an array, and none of what nobody wrote", 20, kMemory),
          },
      .budgets =
          {
              // All plans would be 3^30; each cost once is 264, and the plan's own costs once more 294.
              {"each cost is read once, those of the plan perhaps again",
               20,
               kMeasured,
               {{load_requests(), allowed_requests, usual_requests}}},
              // The costs of the plan once more, each lane of its own layouts: up to 18 bytes. Lanes apart: 346 in all.
              {"neighbouring lanes have neighbouring chains",
               5,
               kMeasured,
               {{bytes_per_output(), 70 / 43.2 * Rule(usual_bytes), usual_bytes}}},
              {"one launch, and nothing stored but the results",
               5,
               kMeasured,
               {{launches(), 1, 1}, {stored_bytes_per_output(), 8.5, 8}, {extra_memory(), 0, 0}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
              // Lanes that all plan for each other have 32 times as many.
              {instructions_per_output(), 5 * Rule(usual_instructions), usual_instructions},
          },
      .questions =
          {
              // Layer 0 begins in layout 0: 3 costs; 9 for each other layer.
              {"costs_per_chain", 264, 0, kMeasured, load_requests(), 8},
              {"bytes_per_layer", 43.2, 0.1, kMeasured, bytes_per_output()},
              {"costs_per_chain_40", 158, 0, {32, 40, 2}, load_requests()},
          },
      .timed = {100'000, 16, 2},
      .owner =
          [](const Given& given, std::int64_t i) {
            const std::int64_t n = i % given["N"];
            return Owner{n / 64, n % 64};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"array", "array", 2, {"spent", "layout"}},
                                                 {"l", "layer", given["L"]},
                                                 {"n", "chain", given["N"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
