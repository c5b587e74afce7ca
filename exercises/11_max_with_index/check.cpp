// Exercise 11: max pooling with the index of the maximum.
//
// No kernel of a stage passes: none tells where the maximum was. If they did, stage 11's kernels for NCHW would
// still move 67 to 79 bytes per output, as each thread reads its windows itself.
#include "common/exercise/check.hpp"

#include <limits>

#include "common/conv/inputs.hpp"

namespace halo::exercises {

namespace {

std::int64_t outputs_along(const Given& given, const char* cells) {
  return (given[cells] + 2 * given["padding"] - given["size"]) / given["stride"] + 1;
}

std::int64_t places_of(const Given& given) {
  return given["planes"] * outputs_along(given, "H") * outputs_along(given, "W");
}

// Of the maxima, then of the indices: as PyTorch's max_pool2d with return_indices has them, for a plane.
void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t H = given["H"], W = given["W"], size = given["size"];
  const std::int64_t P = outputs_along(given, "H"), Q = outputs_along(given, "W");
  const std::int64_t place = i % places_of(given);
  const std::int64_t first_h = place / Q % P * given["stride"] - given["padding"];
  const std::int64_t first_w = place % Q * given["stride"] - given["padding"];
  const std::int64_t plane = place / Q / P * H * W;
  std::int64_t largest = -1;
  std::vector<Cell> window;
  for (std::int64_t h = first_h; h < first_h + size; ++h) {
    for (std::int64_t w = first_w; w < first_w + size; ++w) {
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      const std::int64_t cell = h * W + w;
      window.push_back({0, plane + cell});
      if (largest < 0 || given.cell(0, plane + cell) > given.cell(0, plane + largest)) {
        largest = cell;
      }
    }
  }
  const bool is_index = i >= places_of(given);
  output.is(is_index ? static_cast<double>(largest) : given.cell(0, plane + largest), 0, window);
}

// Whole numbers are few, so that many cells of a window are the largest. Every fourth plane has nothing but
// -infinity.
std::vector<float> make_input(const Given& given, std::uint64_t seed, bool exact) {
  conv::Random random(seed);
  const std::int64_t plane = given["H"] * given["W"];
  std::vector<float> cells(static_cast<std::size_t>(given["planes"] * plane));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto drawn = static_cast<int>(random.bits() >> 40) % 2'000'001 - 1'000'000;
    const bool is_masked = static_cast<std::int64_t>(i) / plane % 4 == 3;
    cells[i] = is_masked ? -std::numeric_limits<float>::infinity()
               : exact   ? static_cast<float>(drawn % 4)
                         : static_cast<float>(drawn) / 1'000'000.0f;
  }
  return cells;
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t size = given["size"], stride = given["stride"];
  return {
      {"no padding", "padding", given["padding"] == 0},
      {"windows that do not overlap", "windows that overlap", stride >= size},
      {"one plane", "several planes", given["planes"] == 1},
      {"planes that are masked nowhere", "planes of nothing but -infinity", given["planes"] < 4},
      {"a single tile of 8 x 32 outputs", "several tiles of 8 x 32 outputs",
       outputs_along(given, "H") <= 8 && outputs_along(given, "W") <= 32},
  };
}

// planes, rows, columns, size of the window, stride, padding
const std::vector<Group> kGroups = {
    {"windows of 2 side by side, one tile",
     {{1, 8, 8, 2, 2, 0}, {1, 16, 64, 2, 2, 0}, {1, 4, 6, 2, 2, 0}}},
    {"windows of 3 with stride 2, several tiles",
     {{1, 33, 65, 3, 2, 0}, {2, 64, 70, 3, 2, 0}, {1, 35, 131, 3, 2, 0}}},
    {"padding",
     {{1, 8, 8, 3, 2, 1},
      {1, 13, 13, 3, 1, 1},
      {2, 14, 70, 3, 2, 1},
      {1, 7, 9, 5, 2, 2},
      {1, 10, 10, 7, 3, 3}}},
    {"any window and stride, down to one cell",
     {{1, 20, 20, 5, 1, 0},
      {1, 40, 40, 2, 4, 0},
      {1, 11, 11, 11, 1, 0},
      {1, 12, 25, 11, 4, 5},
      {1, 1, 1, 1, 1, 0},
      {1, 1, 9, 1, 3, 0},
      {2, 1, 1, 2, 1, 1},
      {1, 1, 70, 3, 1, 1}}},
    {"many planes, every fourth of nothing but -infinity",
     {{4, 6, 6, 2, 2, 0}, {7, 9, 35, 3, 2, 1}, {8, 5, 5, 3, 1, 1}, {5, 1, 3, 3, 2, 1}}},
};

// 32 x 32 outputs a plane: 32 warps.
const Numbers kMap = {4, 64, 64, 3, 2, 1};
constexpr double kWarps = 128;
const Numbers kLarge = {2, 48, 64, 7, 1, 3};

double usual_instructions(const Given& given) {
  return 200 + 12 * static_cast<double>(given["size"] * given["size"]);
}

// The usual blocks, 8 rows of 32 outputs: the rows of their tile, and of their outputs twice.
double usual_bytes(const Given& given) {
  const std::int64_t H = given["H"], W = given["W"], stride = given["stride"];
  const std::int64_t P = outputs_along(given, "H"), Q = outputs_along(given, "W");
  const std::int64_t columns = 31 * stride + given["size"], rows = 7 * stride + given["size"];
  std::int64_t sectors = 0;
  for (std::int64_t plane = 0; plane < given["planes"]; ++plane) {
    for (std::int64_t p = 0; p < P; p += 8) {
      for (std::int64_t q = 0; q < Q; q += 32) {
        const std::int64_t first_h = p * stride - given["padding"];
        const std::int64_t first_w = q * stride - given["padding"];
        for (std::int64_t h = std::max<std::int64_t>(first_h, 0); h < std::min(first_h + rows, H);
             ++h) {
          for (std::int64_t c = 0; c < columns; c += 32) {
            sectors += sectors_of_warp([&](std::int64_t lane) {
              const std::int64_t w = first_w + c + lane;
              return c + lane < columns && w >= 0 && w < W ? (plane * H + h) * W + w : -1;
            });
          }
        }
        for (std::int64_t row = p; row < std::min(p + 8, P); ++row) {
          sectors += 2 * sectors_of_warp([&](std::int64_t lane) {
                       return q + lane < Q ? (plane * P + row) * Q + q + lane : -1;
                     });
        }
      }
    }
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(places_of(given));
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "11_max_with_index",
      .numbers = {"planes", "H", "W", "size", "stride", "padding"},
      .inputs = {{"input",
                  [](const Given& given) { return given["planes"] * given["H"] * given["W"]; }, 3,
                  make_input}},
      .output_size = [](const Given& given) { return 2 * places_of(given); },
      .define = define,
      .outputs = 2,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            const long long size = 1 + draw(6);
            return Numbers{1 + draw(5), size + draw(40), size + draw(70),
                           size,        1 + draw(4),     draw(2) * (size / 2)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barrier", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              // Four cells an output and its maximum and index are 24. A warp that reads the three rows of its windows, whole,
              // reads every second row twice: 38.
              {"a cell is read from global memory hardly more than once",
               20,
               kMap,
               {{bytes_per_output(), 44 / 28.9375 * Rule(usual_bytes), usual_bytes}}},
              // Above, it costs little to read what a tile's last windows share with the next tile in each of them: here 122.
              {"nor where windows are large",
               5,
               kLarge,
               {{bytes_per_output(), 3 * Rule(usual_bytes), usual_bytes}}},
              {"one kernel, and no memory that is not given back",
               5,
               kMap,
               {{launches(), 1, 1}, {extra_memory(), 0, 0}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
              // Lanes that all go through the windows of each other have 32 times as many.
              {instructions_per_output(), 5 * Rule(usual_instructions), usual_instructions},
          },
      .questions =
          {
              {"bytes_per_output", 28.94, 1, kMap, bytes_per_output()},
              {"bytes_per_output_2", 24, 0.5, {4, 64, 64, 2, 2, 0}, bytes_per_output()},
              {"conflicts_per_warp", 9, 0, {4, 65, 65, 3, 2, 0}, shared_conflicts(), kWarps},
          },
      .timed = {2048, 112, 112, 3, 2, 1},
      .owner =
          [](const Given& given, std::int64_t i) {
            const std::int64_t P = outputs_along(given, "H"), Q = outputs_along(given, "W");
            const std::int64_t place = i % places_of(given), p = place / Q % P, q = place % Q;
            const std::int64_t across = (Q - 1) / 32 + 1, down = (P - 1) / 8 + 1;
            return Owner{(place / Q / P * down + p / 8) * across + q / 32, p % 8 * 32 + q % 32};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"array", "array", 2, {"maxima", "indices"}},
                                                 {"plane", "plane", given["planes"]},
                                                 {"p", "row", outputs_along(given, "H")},
                                                 {"q", "column", outputs_along(given, "W")}};
          },
      .periods =
          [](const Given&) {
            return std::vector<conv::Period>{{"block", 32}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
