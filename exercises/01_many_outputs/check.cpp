// Exercise 01: several outputs at once, on the host, where loads are counted by the type of the cells.
//
// The kernels of stage 01 are no templates of a cell's type; their loops load a tap for one vector of sums, and
// cells once for up to four taps: 15 loads for 4 taps and 8 sums, 30 an output with 63 taps, which the budget sees.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kMask = 1;

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t width = given["width"];
  for (std::int64_t j = 0; j < width; ++j) output.product({{kInput, i + j}, {kMask, j}});
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t n = given["n"], width = given["width"];
  return {
      {"n a multiple of 8", "n no multiple of 8", n % 8 == 0},
      {"n a multiple of 4", "n no multiple of 4", n % 4 == 0},
      {"fewer than 8 outputs", "8 outputs and more", n < 8},
      {"mask 1", "masks wider than 1", width == 1},
      {"masks of 8 taps or less", "masks of more than 8 taps", width <= 8},
  };
}

// outputs, taps
const std::vector<Group> kGroups = {
    {"128 outputs, three taps", {{128, 3}}},
    {"numbers of outputs that no power of two divides", {{129, 3}, {131, 9}, {257, 5}, {1023, 7}}},
    {"a few outputs, down to one", {{1, 1}, {1, 9}, {2, 3}, {3, 63}, {7, 5}, {9, 8}}},
    {"masks of any width, even ones too", {{64, 1}, {64, 2}, {40, 64}, {50, 129}, {17, 500}}},
    {"any number of outputs and taps", {{100, 31}, {333, 16}, {31, 33}}},
};

const Numbers kMeasured = {4096, 63};

// Eight outputs at a time, whose cells are seven, and one more with each tap.
double usual_loads(const Given& given) {
  const std::int64_t n = given["n"], width = given["width"];
  return static_cast<double>(n / 8 * (7 + 2 * width) + n % 8 * 2 * width) / static_cast<double>(n);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "01_many_outputs",
      .numbers = {"n", "width"},
      .inputs = {{"input", [](const Given& given) { return given["n"] + given["width"] - 1; }},
                 {"mask", [](const Given& given) { return given["width"]; }, 16}},
      .output_size = [](const Given& given) { return given["n"]; },
      .define = define,
      .on_the_host = true,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(1000), 1 + draw(70)};
          },
      .cases =
          {
              safe("no access beyond an array", 20, kMemory),
          },
      .budgets =
          {
              // 0.3 loads a product. The type counts them, so this is judged wherever the simulator counts.
              {"taps and cells serve several outputs",
               22,
               kMeasured,
               {{host_loads(), 19 / 16.625 * Rule(usual_loads), usual_loads}}},
              {"what is kept fits into registers", 5, kMeasured, {{host_values(), 32, 18}}},
              {"each output is stored once", 3, kMeasured, {{host_stores(), 1, 1}}},
          },
      .questions =
          {
              {"loads_one_output", 126, 0, {1, 63}, host_loads()},
              {"loads_eight_outputs", 16.6, 0.1, kMeasured, host_loads()},
              {"loads_eight_outputs_9", 3.1, 0.1, {4096, 9}, host_loads()},
              {"values", 18, 1, kMeasured, host_values()},
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
