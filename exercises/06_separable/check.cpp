// Exercise 06: a separable filter in one kernel.
//
// No kernel of a stage passes: none takes a mask for the rows and one for the columns. Stage 06's tile with
// their product as its filter would read the tile R * S times for an output, 81 requests for 32 of them.
#include "common/exercise/check.hpp"

namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kColumnMask = 1;
constexpr int kRowMask = 2;

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t H = given["H"], W = given["W"], R = given["R"], S = given["S"];
  const std::int64_t first_h = i / W - (R - 1) / 2, first_w = i % W - (S - 1) / 2;
  for (std::int64_t r = 0; r < R; ++r) {
    for (std::int64_t s = 0; s < S; ++s) {
      const std::int64_t h = first_h + r, w = first_w + s;
      if (h < 0 || h >= H || w < 0 || w >= W) continue;
      output.product({{kInput, h * W + w}, {kColumnMask, r}, {kRowMask, s}});
    }
  }
}

std::vector<Trait> traits(const Given& given) {
  const std::int64_t H = given["H"], W = given["W"], R = given["R"], S = given["S"];
  const std::int64_t rows = given["rows"], columns = given["columns"];
  return {
      {"as many taps down as across", "masks of unlike length", R == S},
      {"a single block", "several blocks", H <= rows && W <= columns},
      {"pictures that whole blocks cover", "blocks that are not full",
       H % rows == 0 && W % columns == 0},
      {"halos no wider than half a block", "halos wider than half a block",
       R <= rows && S <= columns},
      {"pictures at least as large as the masks", "pictures smaller than a mask", H >= R && W >= S},
      {"pictures as high as wide", "pictures that are not square", H == W},
  };
}

// H, W, taps down, taps across, rows and columns of a block
const std::vector<Group> kGroups = {
    {"one block, masks of three taps",
     {{8, 8, 3, 3, 8, 8}, {8, 32, 3, 3, 8, 32}, {16, 4, 3, 3, 16, 4}}},
    {"several blocks, and last ones that are not full",
     {{16, 64, 3, 3, 8, 32}, {20, 40, 5, 5, 8, 32}, {33, 65, 3, 3, 16, 16}, {17, 31, 5, 5, 4, 32}}},
    {"masks of unlike length, and of one tap",
     {{24, 24, 1, 7, 8, 8},
      {24, 24, 7, 1, 8, 8},
      {30, 20, 3, 11, 8, 16},
      {20, 30, 11, 3, 8, 16},
      {16, 16, 1, 1, 8, 8}}},
    {"halos wider than the block",
     {{20, 20, 15, 15, 4, 4},
      {12, 40, 31, 5, 2, 32},
      {40, 12, 5, 31, 32, 2},
      {9, 11, 9, 31, 1, 1}}},
    {"pictures smaller than the masks, and any block",
     {{1, 1, 1, 1, 1, 1},
      {1, 1, 9, 9, 8, 32},
      {1, 50, 9, 5, 4, 16},
      {50, 1, 5, 9, 16, 4},
      {5, 3, 31, 31, 8, 8},
      {23, 29, 5, 7, 3, 7},
      {6, 40, 3, 3, 1, 1024}}},
};

// 24 blocks, 16 warps each.
const Numbers kPicture = {96, 128, 9, 9, 16, 32};
constexpr double kWarps = 384;

std::int64_t blocks_along(const Given& given, const char* cells, const char* threads) {
  return (given[cells] - 1) / given[threads] + 1;
}

double taps(const Given& given) { return static_cast<double>(given["R"] + given["S"] + 2); }

// Where a warp has a row of the block, 32 threads.
double warps(const Given& given) {
  return static_cast<double>(blocks_along(given, "H", "rows") *
                             blocks_along(given, "W", "columns") * given["rows"]);
}

double mask_bytes(const Given& given) { return 4 * static_cast<double>(given["R"] + given["S"]); }

// For each row of the tile: its cells stored, read by the row mask, and a sum stored; then the sums below each other.
double usual_requests(const Given& given) {
  const double rows = static_cast<double>(given["rows"]), R = static_cast<double>(given["R"]);
  const std::int64_t S = given["S"], turns = (given["columns"] + S - 2) / 32 + 1;
  return warps(given) / rows * ((rows + R - 1) * static_cast<double>(turns + S + 1) + rows * R);
}

// The row mask over each row of the tile, the column mask over those of the block; a warp multiplies with 32 lanes.
double usual_products(const Given& given) {
  const double rows = static_cast<double>(given["rows"]), R = static_cast<double>(given["R"]);
  return 32 * warps(given) / rows * ((rows + R - 1) * static_cast<double>(given["S"]) + rows * R) /
         static_cast<double>(given["H"] * given["W"]);
}

// The tile of each block, row by row, and the outputs.
double usual_bytes(const Given& given) {
  const std::int64_t H = given["H"], W = given["W"], R = given["R"], S = given["S"];
  const std::int64_t rows = given["rows"], columns = given["columns"];
  std::int64_t sectors = 0;
  for (std::int64_t top = 0; top < H; top += rows) {
    for (std::int64_t left = 0; left < W; left += columns) {
      const std::int64_t end = left + columns + (S - 1) / 2;
      for (std::int64_t h = top - (R - 1) / 2; h < top + rows + (R - 1) / 2; ++h) {
        if (h < 0 || h >= H) continue;
        for (std::int64_t w = left - (S - 1) / 2; w < end; w += 32) {
          sectors += sectors_of_warp([&](std::int64_t lane) {
            const bool exists = w + lane >= 0 && w + lane < std::min(W, end);
            return exists ? h * W + w + lane : -1;
          });
        }
        if (h < top || h >= top + rows) continue;
        sectors += sectors_of_warp([&](std::int64_t lane) {
          return lane < columns && left + lane < W ? h * W + left + lane : -1;
        });
      }
    }
  }
  return 32 * static_cast<double>(sectors) / static_cast<double>(H * W);
}

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "06_separable",
      .numbers = {"H", "W", "R", "S", "rows", "columns"},
      .inputs = {{"input", [](const Given& given) { return given["H"] * given["W"]; }, 15},
                 {"column_mask", [](const Given& given) { return given["R"]; }, 8},
                 {"row_mask", [](const Given& given) { return given["S"]; }, 8}},
      .output_size = [](const Given& given) { return given["H"] * given["W"]; },
      .define = define,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(50),    1 + draw(50), 1 + 2 * draw(6),
                           1 + 2 * draw(6), 1 + draw(32), 1 + draw(32)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barriers", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              // The tiles overlap: 24 rows are read for 16. A row sum that goes through memory costs 8 bytes more.
              {"one kernel: hardly more than one read and one write",
               20,
               kPicture,
               {{bytes_per_output(), 16 / 13.208 * Rule(usual_bytes), usual_bytes},
                {launches(), 1, 1}}},
              // Taps from shared memory would nearly double the reads. R * S are 81, of both.
              {"R + S products per output, and not R * S",
               5,
               kPicture,
               {{products_per_output(), 2 * Rule(usual_products), usual_products},
                {shared_requests(), 60.0 / 27 * Rule(usual_requests), usual_requests}}},
              {"hardly a bank conflict: at most one for 32 outputs",
               5,
               kPicture,
               {{shared_conflicts(), warps, 0}}},
          },
      // The masks, perhaps by way of another array. A ring of row sums may be in local memory, a window of cells not. Who
      // reads several cells at a time takes as many wavefronts.
      .besides =
          {
              {shared_wavefronts(), 60.0 / 27 * Rule(usual_requests), usual_requests},
              // Products of whole numbers are not counted.
              {instructions_per_output(), 60 * Rule(usual_products), 14 * Rule(usual_products)},
              {local_bytes_per_output(), 4 * Rule(taps), 0},
              {copied_bytes(), 2 * Rule(mask_bytes), mask_bytes},
          },
      .questions =
          {
              {"bytes_per_output", 13.21, 0.5, kPicture, bytes_per_output()},
              {"requests_per_warp", 27, 0, kPicture, shared_requests(), kWarps},
              {"requests_per_warp_3", 9.75, 0, {96, 128, 3, 3, 16, 32}, shared_requests(), kWarps},
              {"barriers_per_block", 2, 0, kPicture, barriers(), 24},
          },
      .timed = {2160, 3840, 9, 9, 16, 32},
      .owner =
          [](const Given& given, std::int64_t i) {
            const std::int64_t W = given["W"], rows = given["rows"], columns = given["columns"];
            const std::int64_t h = i / W, w = i % W;
            return Owner{h / rows * ((W - 1) / columns + 1) + w / columns,
                         h % rows * columns + w % columns};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"h", "row", given["H"]},
                                                 {"w", "column", given["W"]}};
          },
      .periods =
          [](const Given& given) {
            return std::vector<conv::Period>{{"block", given["columns"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
