// Exercise 12: softmax of rows, each with a length of its own, in one pass for maximum and sum.
//
// No kernel of stage 12 passes: none knows a length, all give NaN for rows of -inf, and beyond the cells that
// they keep in shared memory all read a row three times.
#include "common/exercise/check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/conv/accuracy.hpp"
#include "common/conv/inputs.hpp"

// How far an output may be off, u = 2^-24, for a row of L cells, d = x - m <= 0.
//
// A term of the sum begins as an exp, or as the 1 of a pair {x, 1}, and is multiplied by exp(m - m') whenever
// a larger maximum m' turns up. The differences on its way add up to d exactly before they are rounded, and
// each is rounded by a factor within 1 + u: together the exponent is off by at most |d| u, however many there
// are. Each of at most L combinations costs, besides, an exp (within 2 ulp, 4u), a product and an addition: a
// factor within (1 + 6u)^(L + 1) with the exp that the term may begin as. Combining with a part that has no
// cells is exact. So
//   S' is from  sum of exp(d - |d| u) / (1 + 6u)^(L + 1) - t  to  sum of exp(d + |d| u) (1 + 6u)^(L + 1) + t
// with t = L^2 2^-145 for what is lost where a term of the L, in one of L steps, becomes subnormal: 2^-147
// each time, and a step later it is no larger.
// The output is exp(d) / S', with one rounding of the difference, an exp, and two for a quotient or for a product
// with the reciprocal: exp(d -+ |d| u) (1 + 4u)(1 + u)^2 <= (1 + 6.1u), and 2^-147 for subnormal numbers.
// For d < -104 all terms are less than 2^-147, so |d| may be taken for 104 at most. The reference's own
// rounding, in double, is added: 2^-40 of the value.
namespace halo::exercises {

namespace {

constexpr int kInput = 0;
constexpr int kLengths = 1;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

enum Common { kMaximum, kSum, kLeast, kMost, kCommon };

// Of every tenth row one cell is 0 and all others are far below, in steps of 1/64. So each difference of two cells is
// exact, what is far below changes no sum, and an output shows how good its exp is: the error of __expf grows with its
// argument, and is up to 40 units of roundoff here.
bool is_of_steps(std::int64_t n) { return n % 10 == 9; }

double most_off(std::int64_t n, double d) {
  return is_of_steps(n) ? 0 : std::min(-d, 104.0) * conv::kUnitRoundoff;
}

std::vector<double> prepare(const Given& given) {
  std::vector<double> common;
  const std::int64_t C = given["C"];
  for (std::int64_t n = 0; n < given["N"]; ++n) {
    const auto length = static_cast<std::int64_t>(given.cell(kLengths, n));
    double maximum = kNothing;
    for (std::int64_t c = 0; c < length; ++c) {
      maximum = std::max(maximum, given.cell(kInput, n * C + c));
    }
    double sum = 0, least = 0, most = 0;
    for (std::int64_t c = 0; c < length && maximum > kNothing; ++c) {
      const double d = given.cell(kInput, n * C + c) - maximum;
      if (d == kNothing) continue;
      sum += std::exp(d);
      least += std::exp(d - most_off(n, d));
      most += std::exp(d + most_off(n, d));
    }
    const double cells = is_of_steps(n) ? 0 : static_cast<double>(length);
    const double grown = std::exp((cells + 1) * std::log1p(6 * conv::kUnitRoundoff));
    const double lost = cells * cells * 0x1p-145;
    common.insert(common.end(), {maximum, sum, least / grown - lost, most * grown + lost});
  }
  return common;
}

void define(const Given& given, std::int64_t i, Output& output) {
  const std::int64_t n = i / given["C"], c = i % given["C"];
  const auto of_row = [&](Common what) { return given.common(n * kCommon + what); };
  const double x = given.cell(kInput, i);
  if (static_cast<double>(c) >= given.cell(kLengths, n) || x == kNothing) {
    output.is(0, 0, {{kLengths, n}});
    return;
  }
  const double d = x - of_row(kMaximum);
  const double value = std::exp(d) / of_row(kSum);
  constexpr double kLast = 1 + 6.1 * conv::kUnitRoundoff;
  constexpr double kSmallest = 0x1p-147;
  const double most = std::exp(d + most_off(n, d)) * kLast / of_row(kLeast) + kSmallest;
  const double least = std::exp(d - most_off(n, d)) / kLast / of_row(kMost) - kSmallest;
  output.is(value, std::max(most - value, value - least) + 0x1p-40 * value,
            {{kInput, n * given["C"]}, {kInput, i}, {kLengths, n}});
}

// Row 0 is whole, of row 1 a quarter counts, row 2 is cut anywhere, row 3 is empty.
float length_of_row(std::int64_t n, std::int64_t C, conv::Random& random) {
  if (is_of_steps(n)) return static_cast<float>(C);
  switch (n % 9) {
    case 0:
      return static_cast<float>(C);
    case 1:
      return static_cast<float>((C + 3) / 4);
    case 3:
      return 0;
    default:
      return static_cast<float>(1 + random.below(static_cast<std::uint64_t>(C)));
  }
}

std::vector<float> make_lengths(const Given& given, std::uint64_t seed, bool) {
  conv::Random random(seed);
  std::vector<float> lengths;
  for (std::int64_t n = 0; n < given["N"]; ++n) {
    lengths.push_back(length_of_row(n, given["C"], random));
  }
  return lengths;
}

// The kinds of rows, by n % 9 as their lengths, but for those of steps. Behind a row's end there may be anything: where that is
// depends on the lengths, so cells of rows that are cut are NaN only in rows 1 and 3, whose ends are known.
std::vector<float> make_cells(const Given& given, std::uint64_t seed, bool) {
  conv::Random random(seed);
  const std::int64_t C = given["C"];
  std::vector<float> cells;
  for (std::int64_t n = 0; n < given["N"]; ++n) {
    if (is_of_steps(n)) {
      const auto largest = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(C)));
      for (std::int64_t c = 0; c < C; ++c) {
        const double far = -60 - static_cast<double>(random.below(26 * 64)) / 64;
        cells.push_back(static_cast<float>(c == largest ? 0 : far));
      }
      continue;
    }
    for (std::int64_t c = 0; c < C; ++c) {
      const double share = static_cast<double>(random.bits() >> 11) * 0x1p-53;
      const double ordinary = 16 * share - 8;
      double cell = ordinary;
      switch (n % 9) {
        case 1:
          if (c >= (C + 3) / 4) cell = std::numeric_limits<double>::quiet_NaN();
          break;
        case 2:  // exp of them is infinite
          cell = 300 + ordinary;
          break;
        case 3:
          cell = std::numeric_limits<double>::quiet_NaN();
          break;
        case 4:  // the first cells of a block, or all, are none
          if (c < 40) cell = kNothing;
          break;
        case 5:
          cell = kNothing;
          break;
        case 6:  // a larger maximum in every step
          cell = 0.01 * static_cast<double>(c) + 0.001 * share;
          break;
        case 7:  // so large that they can't be added
          cell = random.below(4) == 0 ? 3e38 : 3e38 * (2 * share - 1);
          break;
        case 8:  // exp of them is 0
          cell = -300 + ordinary;
          if (random.below(3) == 0) cell = kNothing;
          break;
        default:
          break;
      }
      cells.push_back(static_cast<float>(cell));
    }
  }
  return cells;
}

std::int64_t all_cells(const Given& given) { return given["N"] * given["C"]; }

std::vector<Trait> traits(const Given& given) {
  const std::int64_t N = given["N"], C = given["C"];
  return {
      {"one row", "several rows", N == 1},
      {"up to three rows: none is empty", "four rows or more: one is empty", N <= 3},
      {"up to four rows: none begins with -inf", "five rows or more: some cells are -inf", N <= 4},
      {"up to 1,024 cells", "more than 1,024 cells", C <= 1024},
      {"rows of a multiple of 32 cells", "rows of no multiple of 32 cells", C % 32 == 0},
  };
}

// rows, cells
const std::vector<Group> kGroups = {
    {"one row", {{1, 256}, {1, 32}, {1, 100}, {1, 1}}},
    {"rows that end earlier", {{2, 256}, {2, 64}, {3, 100}, {3, 7}}},
    {"rows longer than any block, and than any shared memory", {{1, 1025}, {3, 5000}, {1, 70'000}}},
    {"rows without a cell, or with nothing but -inf", {{4, 40}, {6, 33}, {6, 1500}}},
    {"some cells of -inf, and a maximum that grows with every cell",
     {{9, 777}, {18, 50}, {12, 1}, {10, 300}}},
};

const Numbers kMeasured = {1, 20'000};

double rows(const Given& given) { return static_cast<double>(given["N"]); }

// Two reads of what a row has, and a write of all its cells.
double usual_bytes(const Given& given) {
  const double C = static_cast<double>(given["C"]);
  double bytes = 0;
  for (std::int64_t n = 0; n < given["N"]; ++n) bytes += 8 * given.cell(kLengths, n) + 4 * C;
  return bytes / (rows(given) * C);
}

double allowed_bytes(const Given& given) { return usual_bytes(given) + 0.5; }

}  // namespace

const Contract& contract() {
  static const Contract contract = {
      .name = "12_online_softmax",
      .numbers = {"N", "C"},
      .inputs = {{"input", all_cells, 0, make_cells},
                 {"lengths", [](const Given& given) { return given["N"]; }, 0, make_lengths}},
      .output_size = all_cells,
      .define = define,
      .prepare = prepare,
      .groups = kGroups,
      .draw =
          [](Draw draw) {
            return Numbers{1 + draw(20), 1 + draw(1500)};
          },
      .cases =
          {
              safe("no race, and every thread reaches the barrier", 10, kOrder),
              safe("no access beyond an array, and none of what nobody wrote", 10, kMemory),
          },
      .budgets =
          {
              // Three reads of a whole row are 16, and 12.9 where an SM's registers and shared memory, which have room for 124,000
              // cells, spare the third for as many.
              {"each row is read at most twice",
               20,
               {1, 320'000},
               {{bytes_per_output(), allowed_bytes, usual_bytes}, {launches(), 1, 1}}},
              {"the end of a row costs nothing",
               5,
               {2, 20'000},
               {{bytes_per_output(), allowed_bytes, usual_bytes}}},
              {"at most two barriers per row", 5, {8, 512}, {{barriers(), 2 * Rule(rows), rows}}},
          },
      .besides =
          {
              {copied_bytes(), 0, 0},
              {local_bytes_per_output(), 1, 0},
          },
      // A warp may have a row, and other warps none; a short row leaves most of a large block without cells.
      .idle = 4,
      .questions =
          {
              {"bytes_per_cell", 12, 0.05, kMeasured, bytes_per_output()},
              // The second row ends after a quarter.
              {"bytes_per_cell_two_rows", 9, 0.05, {2, 20'000}, bytes_per_output()},
              {"barriers_per_row", 1, 0, {8, 512}, barriers(), 8},
          },
      .timed = {2048, 16'384},
      .owner =
          [](const Given& given, std::int64_t i) {
            return Owner{i / given["C"], i % given["C"] % 256};
          },
      .axes =
          [](const Given& given) {
            return std::vector<conv::OutputAxis>{{"n", "row", given["N"]},
                                                 {"c", "cell", given["C"]}};
          },
      .traits = traits,
  };
  return contract;
}

}  // namespace halo::exercises
