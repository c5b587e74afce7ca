#include "exercises/hunts/contracts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "common/conv/accuracy.hpp"
#include "common/conv/inputs.hpp"
#include "common/conv/sectors.hpp"

namespace halo::exercises {

namespace {

std::function<std::int64_t(const Given&)> product_of(std::vector<std::string> names) {
  return [names](const Given& given) {
    std::int64_t product = 1;
    for (const std::string& name : names) product *= given[name];
    return product;
  };
}

// launch(input, mask, output, n, width, threads): cells beyond the ends are zero.
Contract conv1d() {
  return {
      .name = "conv1d",
      .numbers = {"n", "width", "threads"},
      .inputs = {{"input", product_of({"n"})}, {"mask", product_of({"width"}), 16}},
      .output_size = product_of({"n"}),
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t halo = given["width"] / 2;
            for (std::int64_t j = 0; j < given["width"]; ++j) {
              const std::int64_t k = i - halo + j;
              if (k >= 0 && k < given["n"]) output.product({{0, k}, {1, j}});
            }
          },
      .groups = {{"whole blocks, three taps", {{64, 3, 32}, {512, 3, 128}}},
                 {"a last block that is not full", {{100, 5, 32}, {1000, 9, 256}, {33, 3, 16}}},
                 {"wide masks", {{300, 65, 32}, {90, 33, 16}, {2000, 255, 64}}},
                 {"short signals", {{1, 3, 32}, {3, 7, 16}, {20, 31, 64}}}},
      .owner =
          [](const Given& given, std::int64_t i) {
            return Owner{i / given["threads"], i % given["threads"]};
          },
      .periods =
          [](const Given& given) {
            return std::vector<conv::Period>{{"block", given["threads"]}, {"warp", 32}};
          },
  };
}

// The same, but only where all cells are there, halo .. n - halo - 1; the other outputs are left alone.
Contract conv1d_inner() {
  Contract contract = conv1d();
  contract.name = "conv1d_inner";
  contract.define = [](const Given& given, std::int64_t i, Output& output) {
    const std::int64_t halo = given["width"] / 2;
    if (i < halo || i >= given["n"] - halo) return output.untouched();
    for (std::int64_t j = 0; j < given["width"]; ++j) output.product({{0, i - halo + j}, {1, j}});
  };
  return contract;
}

// launch(input, filter, output, H, W, R, S): one picture, zero beyond its edges, as large as before.
Contract picture() {
  return {
      .name = "picture",
      .numbers = {"H", "W", "R", "S"},
      .inputs = {{"input", product_of({"H", "W"})}, {"filter", product_of({"R", "S"}), 16}},
      .output_size = product_of({"H", "W"}),
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t H = given["H"], W = given["W"], R = given["R"], S = given["S"];
            for (std::int64_t r = 0; r < R; ++r) {
              for (std::int64_t s = 0; s < S; ++s) {
                const std::int64_t y = i / W - R / 2 + r, x = i % W - S / 2 + s;
                if (y < 0 || y >= H || x < 0 || x >= W) continue;
                output.product({{0, y * W + x}, {1, r * S + s}});
              }
            }
          },
      .groups = {{"square pictures, three by three", {{32, 32, 3, 3}, {64, 64, 3, 3}}},
                 {"pictures that are not square", {{20, 50, 3, 3}, {70, 9, 3, 3}, {17, 33, 5, 5}}},
                 {"filters that are not square", {{40, 24, 1, 7}, {24, 40, 5, 3}}},
                 {"small pictures", {{1, 1, 3, 3}, {2, 5, 5, 5}, {1, 40, 3, 3}}}},
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"y", "row", given["H"]},
                                                 {"x", "column", given["W"]}};
          },
  };
}

// launch(input, filters, output, N, C, H, W, K, R, stride, padding): a layer in NCHW, square filters.
Contract layer() {
  const auto rows = [](const Given& given, const char* size) {
    return (given[size] + 2 * given["padding"] - given["R"]) / given["stride"] + 1;
  };
  return {
      .name = "layer",
      .numbers = {"N", "C", "H", "W", "K", "R", "stride", "padding"},
      .inputs = {{"input", product_of({"N", "C", "H", "W"})},
                 {"filters", product_of({"K", "C", "R", "R"}), 16}},
      .output_size =
          [rows](const Given& given) {
            return given["N"] * given["K"] * rows(given, "H") * rows(given, "W");
          },
      .define =
          [rows](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t C = given["C"], H = given["H"], W = given["W"], R = given["R"];
            const std::int64_t P = rows(given, "H"), Q = rows(given, "W");
            const std::int64_t q = i % Q, p = i / Q % P, k = i / Q / P % given["K"];
            const std::int64_t n = i / Q / P / given["K"];
            for (std::int64_t c = 0; c < C; ++c) {
              for (std::int64_t r = 0; r < R; ++r) {
                for (std::int64_t s = 0; s < R; ++s) {
                  const std::int64_t y = p * given["stride"] - given["padding"] + r;
                  const std::int64_t x = q * given["stride"] - given["padding"] + s;
                  if (y < 0 || y >= H || x < 0 || x >= W) continue;
                  output.product(
                      {{0, ((n * C + c) * H + y) * W + x}, {1, ((k * C + c) * R + r) * R + s}});
                }
              }
            }
          },
      .groups =
          {{"one channel, one filter", {{1, 1, 8, 8, 1, 3, 1, 0}, {1, 1, 12, 20, 1, 3, 1, 0}}},
           {"channels and filters", {{1, 3, 9, 9, 5, 3, 1, 0}, {1, 20, 6, 7, 4, 3, 1, 0}}},
           {"several images", {{3, 4, 7, 6, 2, 3, 1, 0}, {2, 2, 5, 9, 3, 1, 1, 0}}},
           {"stride and padding",
            {{1, 2, 9, 9, 2, 3, 2, 0}, {1, 2, 8, 11, 3, 3, 1, 1}, {2, 3, 10, 7, 4, 3, 2, 1}}}},
      .axes =
          [rows](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "image", given["N"]},
                                                 {"k", "filter", given["K"]},
                                                 {"p", "row", rows(given, "H")},
                                                 {"q", "column", rows(given, "W")}};
          },
  };
}

// launch(input, output, rows, columns): output[column][row] = input[row][column].
Contract transpose() {
  return {
      .name = "transpose",
      .numbers = {"rows", "columns"},
      .inputs = {{"input", product_of({"rows", "columns"})}},
      .output_size = product_of({"rows", "columns"}),
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t row = i % given["rows"], column = i / given["rows"];
            const std::int64_t from = row * given["columns"] + column;
            output.is(given.cell(0, from), 0, {{0, from}});
          },
      .groups = {{"whole tiles", {{32, 32}, {64, 64}}},
                 {"matrices that are not square", {{32, 96}, {128, 32}}},
                 {"tiles that are not full", {{33, 31}, {7, 100}, {65, 40}}},
                 {"a row, a column, a cell", {{1, 70}, {70, 1}, {1, 1}}}},
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"", "row", given["columns"]},
                                                 {"", "column", given["rows"]}};
          },
  };
}

// Between -100 and 100: exp of the largest has no place in a float.
std::vector<float> far_apart(const Given& given, std::uint64_t seed, bool) {
  conv::Random random(seed);
  std::vector<float> values(static_cast<std::size_t>(given["rows"] * given["columns"]));
  for (float& value : values) {
    value = static_cast<float>(random.below(200'000)) / 1000.0f - 100.0f;
  }
  return values;
}

// launch(input, output, rows, columns): softmax of each row.
Contract softmax() {
  return {
      .name = "softmax",
      .numbers = {"rows", "columns"},
      .inputs = {{"input", product_of({"rows", "columns"}), 0, far_apart}},
      .output_size = product_of({"rows", "columns"}),
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t columns = given["columns"], first = i / columns * columns;
            double largest = -std::numeric_limits<double>::infinity();
            for (std::int64_t c = 0; c < columns; ++c) {
              largest = std::max(largest, given.cell(0, first + c));
            }
            double sum = 0;
            for (std::int64_t c = 0; c < columns; ++c) {
              sum += std::exp(given.cell(0, first + c) - largest);
            }
            const double distance = largest - given.cell(0, i);
            const double value = std::exp(-distance) / sum;
            // Roundings, each of one u: the sum's; the exponent's, which exp multiplies by the distance; expf
            // twice, within 2 units in the last place (CUDA's promise) or 4 u; the division's 2 units. What is
            // below the least normal number may be lost.
            const auto roundings = columns + static_cast<std::int64_t>(std::ceil(distance)) + 12;
            output.is(value, value * conv::gamma(roundings) + 0x1p-126, {{0, i}});
          },
      .groups = {{"one row, a block wide", {{1, 128}, {1, 64}}},
                 {"several rows", {{5, 128}, {3, 32}}},
                 {"rows of any width", {{4, 100}, {2, 1000}, {3, 33}, {7, 10}}},
                 {"narrow ones", {{1, 1}, {9, 2}, {2, 3}}}},
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"", "row", given["rows"]},
                                                 {"", "column", given["columns"]}};
          },
  };
}

// launch(input, output, N, C, H, W, window, stride, padding): maximum pooling in NCHW.
Contract pooling() {
  const auto rows = [](const Given& given, const char* size) {
    return (given[size] + 2 * given["padding"] - given["window"]) / given["stride"] + 1;
  };
  return {
      .name = "pooling",
      .numbers = {"N", "C", "H", "W", "window", "stride", "padding"},
      .inputs = {{"input", product_of({"N", "C", "H", "W"})}},
      .output_size =
          [rows](const Given& given) {
            return given["N"] * given["C"] * rows(given, "H") * rows(given, "W");
          },
      .define =
          [rows](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t H = given["H"], W = given["W"], window = given["window"];
            const std::int64_t P = rows(given, "H"), Q = rows(given, "W");
            const std::int64_t q = i % Q, p = i / Q % P, plane = i / Q / P;
            double largest = -std::numeric_limits<double>::infinity();
            std::vector<Cell> from;
            for (std::int64_t r = 0; r < window; ++r) {
              for (std::int64_t s = 0; s < window; ++s) {
                const std::int64_t y = p * given["stride"] - given["padding"] + r;
                const std::int64_t x = q * given["stride"] - given["padding"] + s;
                if (y < 0 || y >= H || x < 0 || x >= W) continue;
                const std::int64_t cell = (plane * H + y) * W + x;
                from.push_back({0, cell});
                largest = std::max(largest, given.cell(0, cell));
              }
            }
            output.is(largest, 0, from);
          },
      .groups = {{"windows side by side", {{1, 1, 8, 8, 2, 2, 0}, {1, 2, 12, 16, 2, 2, 0}}},
                 {"windows that overlap", {{1, 1, 9, 9, 3, 2, 0}, {2, 3, 11, 7, 3, 1, 0}}},
                 {"cells left over at the edges", {{1, 2, 10, 7, 3, 2, 0}, {1, 1, 5, 6, 2, 2, 0}}},
                 {"padding",
                  {{1, 1, 7, 7, 3, 2, 1}, {2, 2, 6, 9, 3, 1, 1}, {1, 3, 5, 5, 2, 2, 1}}}},
      .axes =
          [rows](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "image", given["N"]},
                                                 {"c", "channel", given["C"]},
                                                 {"p", "row", rows(given, "H")},
                                                 {"q", "column", rows(given, "W")}};
          },
  };
}

// launch(input, output, n, threads): the sum of all, in output[0].
Contract sum() {
  return {
      .name = "sum",
      .numbers = {"n", "threads"},
      .inputs = {{"input", product_of({"n"})}},
      .output_size = [](const Given&) { return std::int64_t{1}; },
      .define =
          [](const Given& given, std::int64_t, Output& output) {
            for (std::int64_t i = 0; i < given["n"]; ++i) output.product({{0, i}});
          },
      .groups = {{"one block", {{64, 64}, {256, 256}}},
                 {"several blocks", {{1024, 128}, {4096, 256}}},
                 {"a last block that is not full", {{1000, 128}, {300, 64}, {2500, 512}}},
                 {"few numbers", {{1, 32}, {5, 64}, {31, 32}}}},
  };
}

// launch(input, output, rows, columns, threads): the largest cell of each row. Of every other row all are below zero.
Contract row_maximum() {
  const auto cells = [](const Given& given, std::uint64_t seed, bool) {
    conv::Random random(seed);
    const std::int64_t columns = given["columns"];
    std::vector<float> values(static_cast<std::size_t>(given["rows"] * columns));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool below = static_cast<std::int64_t>(i) / columns % 2 == 1;
      values[i] = static_cast<float>(1 + random.below(100'000)) / (below ? -1000.0f : 1000.0f);
    }
    return values;
  };
  return {
      .name = "row_maximum",
      .numbers = {"rows", "columns", "threads"},
      .inputs = {{"input", product_of({"rows", "columns"}), 0, cells}},
      .output_size = product_of({"rows"}),
      .define =
          [](const Given& given, std::int64_t row, Output& output) {
            std::vector<Cell> from;
            double largest = -std::numeric_limits<double>::infinity();
            for (std::int64_t c = 0; c < given["columns"]; ++c) {
              from.push_back({0, row * given["columns"] + c});
              largest = std::max(largest, given.cell(0, from.back().index));
            }
            output.is(largest, 0, from);
          },
      .groups = {{"one row", {{1, 128, 32}, {1, 1000, 64}}},
                 {"several rows", {{4, 512, 128}, {7, 100, 32}}},
                 {"few cells", {{3, 1, 32}, {2, 31, 64}}}},
  };
}

// launch(input, output, n, threads): output i is the sum of inputs 0 .. i.
Contract prefix_sums() {
  return {
      .name = "prefix_sums",
      .numbers = {"n", "threads"},
      .inputs = {{"input", product_of({"n"})}},
      .output_size = product_of({"n"}),
      .define =
          [](const Given&, std::int64_t i, Output& output) {
            for (std::int64_t k = 0; k <= i; ++k) output.product({{0, k}});
          },
      .groups = {{"as many numbers as threads", {{32, 32}, {256, 256}}},
                 {"several turns", {{512, 128}, {1000, 64}}},
                 {"a last turn that is not full", {{100, 64}, {257, 256}}},
                 {"few numbers", {{1, 32}, {5, 64}, {31, 32}}}},
  };
}

// launch(a, b, output, M, N, K): the product of a [M][K] and b [K][N].
Contract product() {
  return {
      .name = "product",
      .numbers = {"M", "N", "K"},
      .inputs = {{"a", product_of({"M", "K"})}, {"b", product_of({"K", "N"})}},
      .output_size = product_of({"M", "N"}),
      .define =
          [](const Given& given, std::int64_t i, Output& output) {
            const std::int64_t N = given["N"], K = given["K"];
            for (std::int64_t k = 0; k < K; ++k) {
              output.product({{0, i / N * K + k}, {1, k * N + i % N}});
            }
          },
      .groups = {{"whole tiles", {{16, 64, 16}, {32, 128, 48}}},
                 {"tiles that are not full", {{20, 36, 9}, {5, 100, 33}}},
                 {"any width", {{17, 10, 20}, {33, 65, 7}, {4, 7, 40}}},
                 {"a row, a column, a cell", {{1, 40, 5}, {40, 1, 5}, {1, 1, 1}}}},
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"", "row", given["M"]},
                                                 {"", "column", given["N"]}};
          },
  };
}

}  // namespace

const Contract& contract_named(const std::string& name) {
  static const std::vector<Contract> all = {conv1d(),      conv1d_inner(), picture(), layer(),
                                            transpose(),   softmax(),      pooling(), sum(),
                                            row_maximum(), prefix_sums(),  product()};
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Contract& contract) { return contract.name == name; });
  if (found == all.end()) throw std::runtime_error("there is no contract \"" + name + "\"");
  return *found;
}

const Budget& budget_named(const std::string& name) {
  // In bytes per output: 9 loads of an input and as many of a filter, all from global memory, by warps whose lanes
  // are neighbours, are 45 + 9, and the store 4.
  const auto on = [](Numbers problem, std::vector<Limit> limits) {
    return Budget{"nothing is moved in vain", 20, std::move(problem), std::move(limits)};
  };
  const Measure loaded{"bytes loaded",
                       [](const Cost& cost, double) {
                         return static_cast<double>(conv::kSectorBytes) *
                                static_cast<double>(cost.global_load_sectors);
                       },
                       {"global_load_sectors"}};
  static const std::map<std::string, Budget> all = {
      {"conv1d", on({4096, 9, 256}, {{bytes_per_output(), 75, 58}})},
      {"conv1d_inner", on({4096, 9, 256}, {{bytes_per_output(), 75, 58}})},
      {"picture", on({64, 64, 3, 3}, {{bytes_per_output(), 75, 58}})},
      {"layer", on({1, 4, 32, 32, 4, 3, 1, 1}, {{bytes_per_output(), 320, 220}})},
      // Each cell once in and once out.
      {"transpose", on({128, 160}, {{bytes_per_output(), 9, 8}, {shared_conflicts(), 160, 0}})},
      {"softmax", on({4, 1000}, {{bytes_per_output(), 24, 16}})},
      {"pooling", on({1, 4, 32, 32, 2, 2, 0}, {{bytes_per_output(), 48, 36}})},
      // Each cell once, and perhaps an atomic addition a warp.
      {"sum", on({8192, 256}, {{load_requests(), 520, 256},
                               {loaded, 5 * 8192, 4 * 8192},
                               {shared_conflicts(), 64, 0}})},
      // Each cell once, and an atomic a warp; in bytes a row.
      {"row_maximum", on({2, 8192, 128}, {{bytes_per_output(), 56'000, 50'000}})},
      {"prefix_sums", on({2048, 256}, {{bytes_per_output(), 12, 8}})},
      // In tiles of 16 x 64 a cell of a serves 64 sums, one of b 16, which is 20 bytes; and the store.
      {"product", on({64, 64, 64}, {{bytes_per_output(), 48, 24}, {shared_conflicts(), 256, 0}})},
  };
  const auto found = all.find(name);
  if (found == all.end()) throw std::runtime_error("there is no contract \"" + name + "\"");
  return found->second;
}

}  // namespace halo::exercises
