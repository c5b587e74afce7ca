// Pooling layers: sizes, names, and the check, which takes right windows for right and no others.
#include "common/conv/pooling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "common/conv/inputs.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::Comparison;
using conv::Layout;
using conv::Pooling;
using conv::PoolingChecker;
using conv::PoolingLayer;
using conv::PoolingShape;
using conv::Rounding;
using test::contains;
using test::message_of;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::string pooling_refusal(const PoolingShape& shape) {
  return message_of([&] { PoolingLayer layer(shape); });
}

// A pooling layer as a plain kernel computes it, in float and NCHW, with knobs that make it wrong.
struct PlainPooling {
  // Other orders of the sum, and the reciprocal in place of the division: equally right.
  bool backward = false;
  bool by_rows = false;
  bool reciprocal = false;
  // Mistakes.
  bool ghosts_are_zero = false;
  bool from_lowest = false;  // begins at the lowest finite float
  bool sums = false;         // does not divide
  bool divides_by_window = false;
  bool other_kind = false;
  int less_rows = 0;  // of the window
  int less_columns = 0;
  int more_columns = 0;
  int down = 0;  // looks so many rows further down
  int right = 0;
  int channels_on = 0;
  bool strides_exchanged = false;
  std::int64_t unwritten = 0;

  std::vector<float> run(const PoolingLayer& layer, const std::vector<float>& input) const {
    const int H = layer.H(), W = layer.W();
    const bool is_max = (layer.kind() == Pooling::max) != other_kind;
    const int u = strides_exchanged ? layer.stride_w() : layer.stride_h();
    const int v = strides_exchanged ? layer.stride_h() : layer.stride_w();
    std::vector<float> output(static_cast<std::size_t>(layer.output_size()), conv::poison());
    std::size_t at = 0;
    for (int map = 0; map < layer.N() * layer.C(); ++map) {
      const int n = map / layer.C();
      const int c = (map + channels_on) % layer.C();
      for (int p = 0; p < layer.P(); ++p) {
        for (int q = 0; q < layer.Q(); ++q, ++at) {
          if (at + static_cast<std::size_t>(unwritten) >= output.size()) continue;
          std::vector<float> rows;
          std::vector<float> cells;
          for (int r = 0; r < layer.R() - less_rows; ++r) {
            float row = 0;
            for (int s = 0; s < layer.S() - less_columns + more_columns; ++s) {
              const int h = p * u - layer.padding_h() + r + down;
              const int w = q * v - layer.padding_w() + s + right;
              float cell = 0;
              if (h < 0 || w < 0 || h >= H || w >= W) {
                if (!ghosts_are_zero) continue;
              } else {
                cell = input[static_cast<std::size_t>(((n * layer.C() + c) * H + h) * W + w)];
              }
              cells.push_back(cell);
              row += cell;
            }
            rows.push_back(row);
          }
          const auto count = static_cast<float>(divides_by_window ? layer.R() * layer.S()
                                                                  : static_cast<int>(cells.size()));
          float value =
              is_max ? (from_lowest ? std::numeric_limits<float>::lowest() : -kInfinity) : 0;
          if (is_max) {
            for (const float cell : cells) value = std::max(value, cell);
          } else {
            std::vector<float>& terms = by_rows ? rows : cells;
            if (backward) std::reverse(terms.begin(), terms.end());
            for (const float term : terms) value += term;
            if (!sums) value = reciprocal ? value * (1 / count) : value / count;
          }
          output[at] = value;
        }
      }
    }
    return output;
  }
};

std::vector<PoolingShape> poolings_to_try() {
  std::vector<PoolingShape> result = {
      {.H = 1, .W = 1, .R = 1, .S = 1},
      {.H = 6, .W = 8, .R = 2, .S = 2, .stride_h = 2, .stride_w = 2},
      {.N = 2, .C = 3, .H = 13, .W = 13, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2},
      {.N = 3, .C = 2, .H = 12, .W = 10, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2},
      {.N = 5, .C = 2, .H = 7, .W = 9, .R = 3, .S = 2, .padding_h = 2, .padding_w = 1},
      {.N = 2, .C = 2, .H = 11, .W = 14, .R = 2, .S = 3, .stride_h = 3, .stride_w = 4},
      {.N = 2, .H = 5, .W = 7, .R = 5, .S = 7},
      {.C = 3, .H = 4, .W = 5, .R = 7, .S = 8, .stride_h = 2, .padding_h = 3, .padding_w = 2},
      {.N = 4,
       .C = 2,
       .H = 9,
       .W = 9,
       .R = 3,
       .S = 3,
       .stride_h = 2,
       .stride_w = 3,
       .padding_h = 1,
       .padding_w = 1},
      // Rows longer than what is judged at a time; strides too long to share columns; many images.
      {.H = 3, .W = 2603, .R = 2, .S = 5, .stride_w = 2},
      {.N = 2, .H = 2, .W = 500, .R = 2, .S = 3, .stride_w = 67},
      {.N = 1100, .H = 4, .W = 3, .R = 2, .S = 2},
  };
  const std::size_t plain = result.size();
  for (std::size_t i = 0; i < 3 * plain; ++i) {
    PoolingShape shape = result[i % plain];
    if (i / plain != 1) shape.kind = Pooling::average;
    if (i / plain != 0) shape.rounding = Rounding::ceil;
    result.push_back(shape);
  }
  return result;
}

Comparison check(const PoolingLayer& layer, int kind, const PlainPooling& kernel,
                 Layout layout = Layout::nchw) {
  const std::vector<float> input = make_input(layer, kind, test::seed());
  const std::vector<float> arranged = rearranged(layer.input(), input, Layout::nchw, layout);
  const PoolingChecker checker(layer, layout, arranged);
  return checker.judge(0,
                       rearranged(layer.output(), kernel.run(layer, input), Layout::nchw, layout));
}

}  // namespace

TEST_CASE("a pooling layer knows its output's size", "[pooling]") {
  const auto rows = [](std::int64_t H, std::int64_t R, std::int64_t stride, std::int64_t padding,
                       Rounding rounding) {
    const PoolingLayer layer({.H = H,
                              .W = H,
                              .R = R,
                              .S = R,
                              .stride_h = stride,
                              .stride_w = stride,
                              .padding_h = padding,
                              .padding_w = padding,
                              .rounding = rounding});
    CHECK(layer.P() == layer.Q());
    return layer.P();
  };
  // The maps of Li et al.'s networks.
  CHECK(rows(28, 2, 2, 0, Rounding::floor) == 14);
  CHECK(rows(55, 3, 2, 0, Rounding::floor) == 27);
  CHECK(rows(55, 3, 2, 0, Rounding::ceil) == 27);
  CHECK(rows(24, 3, 2, 0, Rounding::floor) == 11);
  CHECK(rows(24, 3, 2, 0, Rounding::ceil) == 12);
  CHECK(rows(110, 3, 2, 0, Rounding::ceil) == 55);
  // A last window that would begin in the padding, or beyond it, is left out.
  CHECK(rows(4, 2, 2, 1, Rounding::ceil) == 3);
  CHECK(rows(5, 2, 2, 1, Rounding::floor) == 3);
  CHECK(rows(5, 2, 2, 1, Rounding::ceil) == 3);  // not 4: that would begin at row 5
  CHECK(rows(5, 1, 3, 0, Rounding::ceil) == 2);  // not 3: that would begin at row 6
  CHECK(rows(7, 1, 3, 0, Rounding::ceil) == 3);
  const PoolingLayer skew(
      {.N = 2, .C = 3, .H = 10, .W = 20, .R = 3, .S = 4, .stride_h = 3, .stride_w = 5});
  CHECK(skew.P() == 3);
  CHECK(skew.Q() == 4);
  CHECK(skew.input().size() == 1200);
  CHECK(skew.output().size() == 72);
  CHECK(skew.with_batch(7).output_size() == 7 * 3 * 12);
  CHECK(skew.with_batch(2) == skew);
}

TEST_CASE("every window has a cell", "[pooling]") {
  for (int H = 1; H <= 9; ++H) {
    for (int R = 1; R <= 9; ++R) {
      for (int stride = 1; stride <= 10; ++stride) {
        for (int padding = 0; padding < R; ++padding) {
          if (R > H + 2 * padding) continue;
          for (const Rounding rounding : {Rounding::floor, Rounding::ceil}) {
            const PoolingLayer layer({.H = H,
                                      .W = 1,
                                      .R = R,
                                      .S = 1,
                                      .stride_h = stride,
                                      .padding_h = padding,
                                      .rounding = rounding});
            const int last = (layer.P() - 1) * stride - padding;
            INFO(label(layer));
            REQUIRE(layer.P() >= 1);
            REQUIRE(last < H);
            REQUIRE(last + R > 0);
            // With floor no window leaves the padded image; with ceil none more would begin in it.
            if (rounding == Rounding::floor) REQUIRE(last + R <= H + padding);
            if (rounding == Rounding::floor) REQUIRE(last + stride + R > H + padding);
            if (rounding == Rounding::ceil) {
              REQUIRE((last + R >= H + padding || last + stride >= H));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("pooling layers outside the limits are refused in one line", "[pooling]") {
  const PoolingShape good{.N = 2, .C = 3, .H = 8, .W = 9, .R = 3, .S = 2};
  CHECK(pooling_refusal(good) == "nothing was thrown");
  const std::pair<std::int64_t PoolingShape::*, const char*> dimensions[] = {
      {&PoolingShape::N, "N (images)"},
      {&PoolingShape::C, "C (channels)"},
      {&PoolingShape::H, "H (rows"},
      {&PoolingShape::W, "W (columns"},
      {&PoolingShape::R, "R (rows of a window)"},
      {&PoolingShape::S, "S (columns of a window)"},
      {&PoolingShape::stride_h, "stride down"},
      {&PoolingShape::stride_w, "stride across"}};
  for (const auto& [member, name] : dimensions) {
    PoolingShape shape = good;
    shape.*member = 0;
    CHECK_THAT(pooling_refusal(shape), contains(std::string(name)));
    CHECK_THAT(pooling_refusal(shape), contains("at least 1, got 0"));
    shape.*member = std::int64_t{1} << 31;
    CHECK_THAT(pooling_refusal(shape), contains("at most 2147483647"));
  }
  for (const auto member : {&PoolingShape::padding_h, &PoolingShape::padding_w}) {
    PoolingShape shape = good;
    shape.*member = -1;
    CHECK_THAT(pooling_refusal(shape), contains("at least 0, got -1"));
  }
  CHECK_THAT(pooling_refusal({.H = 8, .W = 8, .R = 3, .S = 2, .padding_h = 3}),
             contains("a padding of 3 rows is not smaller than the window of 3 rows"));
  CHECK_THAT(pooling_refusal({.H = 8, .W = 8, .R = 3, .S = 2, .padding_w = 2}),
             contains("2 columns"));
  for (const Rounding rounding : {Rounding::floor, Rounding::ceil}) {
    CHECK_THAT(
        pooling_refusal({.H = 4, .W = 9, .R = 7, .S = 3, .padding_h = 1, .rounding = rounding}),
        contains("the window is larger than the input: 7 rows, the input has 6 with padding "
                 "(4 + 2 * 1)"));
  }
  CHECK_THAT(pooling_refusal({.N = 1 << 16, .C = 1 << 16, .H = 1, .W = 1, .R = 1, .S = 1}),
             contains("the input is too large"));
  // The output can be larger than the input.
  CHECK_THAT(
      pooling_refusal(
          {.C = 1 << 20, .H = 1, .W = 1, .R = 64, .S = 64, .padding_h = 63, .padding_w = 63}),
      contains("the output is too large"));
  const std::int64_t far = std::int64_t{1} << 30;
  CHECK_THAT(pooling_refusal({.H = 1, .W = 2, .R = 1, .S = far + 1, .padding_w = far}),
             contains("windows that reach over 2147483650 columns with padding"));
  CHECK_THAT(pooling_refusal({.H = 1,
                              .W = 1 << 12,
                              .R = 1 << 12,
                              .S = 1 << 12,
                              .padding_h = 4095,
                              .kind = Pooling::average}),
             contains("nothing was thrown"));
  CHECK_THAT(
      pooling_refusal(
          {.H = 1 << 12, .W = 1 << 12, .R = 1 << 12, .S = 1 << 12, .kind = Pooling::average}),
      contains("an average would be of 16777216 cells; beyond 16777214"));
  CHECK(pooling_refusal({.H = 1 << 12, .W = 1 << 12, .R = 1 << 12, .S = 1 << 12}) ==
        "nothing was thrown");
}

TEST_CASE("a pooling layer has a name that can be read", "[pooling]") {
  CHECK(label(PoolingLayer(
            {.N = 128, .C = 96, .H = 55, .W = 55, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2})) ==
        "55-128-3-96-s2");
  CHECK(label(PoolingLayer(
            {.N = 128, .C = 16, .H = 28, .W = 28, .R = 2, .S = 2, .stride_h = 2, .stride_w = 2})) ==
        "28-128-2-16");
  CHECK(label(PoolingLayer({.H = 7,
                            .W = 9,
                            .R = 3,
                            .S = 2,
                            .stride_h = 2,
                            .padding_h = 1,
                            .padding_w = 1,
                            .kind = Pooling::average,
                            .rounding = Rounding::ceil})) == "7x9-1-3x2-1-s2x1-p1-average-ceil");
  std::set<std::string> labels;
  for (const PoolingShape& shape : poolings_to_try()) {
    const PoolingLayer layer(shape);
    INFO(label(layer));
    CHECK(conv::parse_pooling(label(layer)) == layer);
    labels.insert(label(layer));
  }
  CHECK(labels.size() == poolings_to_try().size());
  const auto unread = [](const char* text) {
    return message_of([&] { conv::parse_pooling(text); });
  };
  for (const char* bad :
       {"", "55", "55-128-3", "55-128-3-96-", "55-128-3-96-x", "55-128-3-96-p1-s2",
        "55-128-3-96-ceil-average", "55-128-3-96-max", "55-128-3-96-s", "55-128-3-96-s2x",
        "55-128-3-96-s2-s2", "55-128-3-96-averages", "55--3-96", "a-128-3-96", "55-128-3-96-s2 "}) {
    INFO(bad);
    CHECK_THAT(unread(bad), contains("names no pooling layer: it is size-batch-window-channels"));
    CHECK(unread(bad).find('\n') == std::string::npos);
  }
  CHECK_THAT(unread("55-128-3-96-s0"), contains("stride down must be at least 1"));
  CHECK_THAT(unread("2-1-3-1"), contains("the window is larger"));
}

TEST_CASE("pooling gives what a hand computes", "[pooling]") {
  const std::vector<float> cells = {1, -2, 3, 4, -5, 6, 7, 8, -9};  // 3x3
  const auto passes = [&](const PoolingShape& shape, const std::vector<float>& outputs) {
    const PoolingLayer layer(shape);
    const PoolingChecker checker(layer, Layout::nchw, cells);
    return checker.judge(0, outputs).passed();
  };
  CHECK(passes({.H = 3, .W = 3, .R = 2, .S = 2}, {4, 6, 8, 8}));
  CHECK_FALSE(passes({.H = 3, .W = 3, .R = 2, .S = 2}, {4, 6, 8, 6}));
  // -2 / 4, 2 / 4, 14 / 4, 0 / 4
  const PoolingShape average{.H = 3, .W = 3, .R = 2, .S = 2, .kind = Pooling::average};
  CHECK(passes(average, {-0.5f, 0.5f, 3.5f, 0}));
  CHECK_FALSE(passes(average, {-0.5f, 0.5f, 3.5f, 0.001f}));
  // With padding the corners have one cell: ghosts neither count nor are divided by.
  const PoolingShape padded{.H = 3,
                            .W = 3,
                            .R = 2,
                            .S = 2,
                            .stride_h = 2,
                            .stride_w = 2,
                            .padding_h = 1,
                            .padding_w = 1,
                            .kind = Pooling::average};
  CHECK(passes(padded, {1, 0.5f, 5.5f, 0}));
  PoolingShape largest = padded;
  largest.kind = Pooling::max;
  CHECK(passes(largest, {1, 3, 7, 8}));
  // Beyond the edge with ceil: 2x2 in steps of 2 over 3x3.
  PoolingShape ceil{
      .H = 3, .W = 3, .R = 2, .S = 2, .stride_h = 2, .stride_w = 2, .rounding = Rounding::ceil};
  CHECK(passes(ceil, {4, 6, 8, -9}));
  ceil.kind = Pooling::average;
  CHECK(passes(ceil, {-0.5f, 4.5f, 7.5f, -9}));
}

TEST_CASE("every right order of a pooling layer passes, in both layouts", "[pooling]") {
  double worst = 0;
  for (const PoolingShape& shape : poolings_to_try()) {
    const PoolingLayer layer(shape);
    for (int kind = 0; kind < input_kinds(layer); ++kind) {
      for (const PlainPooling& kernel :
           {PlainPooling{}, PlainPooling{.backward = true}, PlainPooling{.by_rows = true},
            PlainPooling{.by_rows = true, .reciprocal = true}}) {
        for (const Layout layout : {Layout::nchw, Layout::chwn}) {
          const Comparison result = check(layer, kind, kernel, layout);
          INFO(label(layer) << ", kind " << kind << ", " << conv::to_string(layout) << "\n"
                            << result.describe());
          CHECK(result.passed());
          CHECK(result.compared == layer.output_size());
          worst = std::max(worst, result.worst_share);
        }
      }
    }
  }
  CHECK(worst > 0.1);  // or the bound would be loose
}

TEST_CASE("wrong pooling fails wherever it is wrong", "[pooling]") {
  struct Mistake {
    const char* name;
    PlainPooling kernel;
    int kind;
    bool shows;
  };
  int seen[16] = {};
  for (const PoolingShape& shape : poolings_to_try()) {
    const PoolingLayer layer(shape);
    const bool is_max = layer.kind() == Pooling::max;
    const std::int64_t beyond =
        (layer.P() - 1) * std::int64_t{layer.stride_h()} + layer.R() - layer.padding_h();
    const bool has_ghosts =
        layer.padding_h() > 0 || layer.padding_w() > 0 || beyond > layer.H() ||
        (layer.Q() - 1) * layer.stride_w() + layer.S() - layer.padding_w() > layer.W();
    const bool is_plain =
        layer.R() < layer.H() && layer.S() < layer.W() && layer.output_size() > 30;
    int which = 0;
    for (const Mistake& mistake : {
             Mistake{"ghosts are 0", {.ghosts_are_zero = true}, 1, has_ghosts},
             {"from the lowest float",
              {.from_lowest = true},
              1,
              is_max && layer.N() * layer.C() > 3},
             {"the sum", {.sums = true}, 0, !is_max && layer.R() * layer.S() > 1},
             {"divided by the window", {.divides_by_window = true}, 0, !is_max && has_ghosts},
             {"the other kind", {.other_kind = true}, 0, layer.R() * layer.S() > 1},
             {"a row less", {.less_rows = 1}, 0, is_plain && layer.R() > 1},
             {"a column less", {.less_columns = 1}, 0, is_plain && layer.S() > 1},
             {"a column more", {.more_columns = 1}, 0, is_plain},
             {"a row further down", {.down = 1}, 0, is_plain},
             {"a column to the left", {.right = -1}, 0, is_plain},
             {"the next channel", {.channels_on = 1}, 0, layer.C() > 1},
             {"strides exchanged",
              {.strides_exchanged = true},
              0,
              is_plain && layer.stride_h() != layer.stride_w()},
             {"the last left out", {.unwritten = 1}, 0, true},
         }) {
      const int index = which++;
      if (!mistake.shows) continue;
      for (const Layout layout : {Layout::nchw, Layout::chwn}) {
        const Comparison result = check(layer, mistake.kind, mistake.kernel, layout);
        INFO(label(layer) << ", " << mistake.name << ", " << conv::to_string(layout));
        // One map in eight is -inf all over, so with few maps there may be none.
        if (index == 1) {
          seen[index] += !result.passed();
        } else {
          CHECK_FALSE(result.passed());
          ++seen[index];
        }
      }
    }
  }
  for (int i = 0; i < 13; ++i) {
    INFO("mistake " << i);
    CHECK(seen[i] > 0);
  }
}

TEST_CASE("a maximum is exact and an average within its few roundings", "[pooling]") {
  const PoolingShape shape{
      .N = 3, .C = 2, .H = 9, .W = 8, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2};
  const PoolingLayer largest(shape);
  const std::vector<float> input = make_input(largest, 0, test::seed());
  std::vector<float> output = PlainPooling{}.run(largest, input);
  const PoolingChecker exact(largest, Layout::nchw, input);
  for (const std::size_t i : {std::size_t{0}, std::size_t{17}, output.size() - 1}) {
    output[i] = std::nextafter(output[i], kInfinity);
  }
  CHECK(exact.judge(0, output).failed == 3);

  PoolingShape of_averages = shape;
  of_averages.kind = Pooling::average;
  const PoolingLayer average(of_averages);
  output = PlainPooling{}.run(average, input);
  const PoolingChecker checker(average, Layout::nchw, input);
  // Ten roundings of a cell are allowed where the cells' magnitudes are below 1.
  for (std::size_t i = 0; i < output.size(); ++i) {
    std::vector<float> wrong = output;
    wrong[i] += 0x1p-19f;
    REQUIRE(checker.judge(0, wrong).failed == 1);
  }
  // All zero but one cell.
  const PoolingLayer one({.H = 2, .W = 2, .R = 2, .S = 2, .kind = Pooling::average});
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> zeros(4);
  const std::vector<float> small = {tiny, 0, 0, 0};
  const auto passes = [&](const std::vector<float>& cells, float result) {
    return PoolingChecker(one, Layout::nchw, cells).judge(0, {&result, 1}).passed();
  };
  CHECK(passes(zeros, 0));
  CHECK(passes(zeros, -0.0f));
  CHECK_FALSE(passes(zeros, tiny));
  CHECK(passes(small, 0));  // a quarter of the smallest number
  CHECK_FALSE(passes(small, tiny));
}

TEST_CASE("infinite cells give what the formula gives", "[pooling]") {
  const auto passes = [](Pooling kind, const std::vector<float>& cells, float result) {
    const PoolingLayer layer({.H = 2, .W = 2, .R = 2, .S = 2, .kind = kind});
    return PoolingChecker(layer, Layout::nchw, cells).judge(0, {&result, 1}).passed();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(passes(Pooling::max, {-kInfinity, -kInfinity, -kInfinity, -kInfinity}, -kInfinity));
  CHECK_FALSE(passes(Pooling::max, {-kInfinity, -kInfinity, -kInfinity, -kInfinity}, -3.4e38f));
  CHECK(passes(Pooling::max, {-kInfinity, 3, -kInfinity, kInfinity}, kInfinity));
  CHECK_FALSE(passes(Pooling::max, {1, 2, 3, 4}, nan));
  CHECK(passes(Pooling::average, {-kInfinity, 3, 1, 1}, -kInfinity));
  CHECK_FALSE(passes(Pooling::average, {-kInfinity, 3, 1, 1}, -3.4e38f));
  CHECK(passes(Pooling::average, {-kInfinity, 3, 1, kInfinity}, nan));
  CHECK_FALSE(passes(Pooling::average, {-kInfinity, 3, 1, kInfinity}, kInfinity));
  CHECK_FALSE(passes(Pooling::average, {-kInfinity, 3, 1, kInfinity}, conv::poison()));
}

TEST_CASE("pooling judged in pieces gets the verdict of the whole", "[pooling]") {
  conv::Random random(test::seed());
  for (const PoolingShape& shape : poolings_to_try()) {
    const PoolingLayer layer(shape);
    for (const Layout layout : {Layout::nchw, Layout::chwn}) {
      const std::vector<float> input = make_input(layer, 0, test::seed());
      const std::vector<float> arranged = rearranged(layer.input(), input, Layout::nchw, layout);
      std::vector<float> output =
          rearranged(layer.output(), PlainPooling{}.run(layer, input), Layout::nchw, layout);
      for (int bad = 0; bad < 3; ++bad) output[random.below(output.size())] += 0.25f;
      const PoolingChecker checker(layer, layout, arranged);
      const Comparison whole = checker.judge(0, output);
      Comparison pieces;
      for (std::size_t at = 0; at < output.size();) {
        const std::size_t count = std::min<std::size_t>(random.below(200), output.size() - at);
        pieces.merge(
            checker.judge(static_cast<std::int64_t>(at), std::span(output).subspan(at, count)));
        at += count;
      }
      INFO(label(layer));
      CHECK(pieces.describe() == whole.describe());
      CHECK(pieces.worst_index == whole.worst_index);
      CHECK(pieces.compared == whole.compared);
    }
  }
}

TEST_CASE("inputs of a pooling layer are of both signs, or negative with -inf", "[pooling]") {
  const PoolingLayer layer(
      {.N = 8, .C = 5, .H = 13, .W = 13, .R = 3, .S = 3, .stride_h = 2, .stride_w = 2});
  std::vector<float> cells = make_input(layer, 0, test::seed());
  CHECK(cells == make_input(layer, 0, test::seed()));
  const auto negative = [](float x) { return x < 0; };
  CHECK(std::any_of(cells.begin(), cells.end(), negative));
  CHECK_FALSE(std::all_of(cells.begin(), cells.end(), negative));
  std::sort(cells.begin(), cells.end());
  CHECK(std::adjacent_find(cells.begin(), cells.end()) == cells.end());
  const std::vector<float> below = make_input(layer, 1, test::seed());
  CHECK(std::all_of(below.begin(), below.end(), negative));
  const auto infinite = std::count(below.begin(), below.end(), -kInfinity);
  CHECK(infinite > 0);
  CHECK(infinite < static_cast<std::int64_t>(below.size()));
  PoolingShape average = layer.shape();
  average.kind = Pooling::average;
  const std::vector<float> finite = make_input(PoolingLayer(average), 1, test::seed());
  CHECK(std::count(finite.begin(), finite.end(), -kInfinity) == 0);
  CHECK_THAT(message_of([&] { make_input(layer, 2, 1); }), contains("no input of kind 2"));
}

TEST_CASE("the least traffic and the operations of pooling are counted cell by cell", "[pooling]") {
  for (const PoolingShape& shape : poolings_to_try()) {
    const PoolingLayer layer(shape);
    std::set<std::pair<int, int>> used;
    std::int64_t taken = 0;
    for (int p = 0; p < layer.P(); ++p) {
      for (int q = 0; q < layer.Q(); ++q) {
        for (int r = 0; r < layer.R(); ++r) {
          for (int s = 0; s < layer.S(); ++s) {
            const int h = p * layer.stride_h() - layer.padding_h() + r;
            const int w = q * layer.stride_w() - layer.padding_w() + s;
            if (h < 0 || w < 0 || h >= layer.H() || w >= layer.W()) continue;
            used.emplace(h, w);
            ++taken;
          }
        }
      }
    }
    const std::int64_t maps = std::int64_t{layer.N()} * layer.C();
    const std::int64_t windows = std::int64_t{layer.P()} * layer.Q();
    INFO(label(layer));
    CHECK(min_bytes(layer) == 4 * maps * (static_cast<std::int64_t>(used.size()) + windows));
    CHECK(flops(layer) == maps * (taken - (layer.kind() == Pooling::max ? windows : 0)));
  }
}

TEST_CASE("a pooling checker refuses arrays of the wrong size", "[pooling]") {
  const PoolingLayer layer({.H = 4, .W = 4, .R = 2, .S = 2});
  const std::vector<float> cells(16);
  CHECK_THAT(message_of([&] { PoolingChecker(layer, Layout::nchw, std::span(cells).first(15)); }),
             contains("15 values, the problem needs 16"));
  const PoolingChecker checker(layer, Layout::chwn, cells);
  CHECK_THAT(message_of([&] { checker.judge(0, std::span(cells).first(10)); }),
             contains("the layer has 9"));
}
