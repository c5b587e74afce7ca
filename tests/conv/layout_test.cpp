// Layouts and their transforms: where a cell lies, names, and the check that a move is a move.
#include "common/conv/layout.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <vector>

#include "common/conv/inputs.hpp"
#include "tests/catch.hpp"

using namespace halo;
using conv::Comparison;
using conv::Images;
using conv::ImagesShape;
using conv::Layout;
using conv::Transform;
using conv::TransformChecker;
using test::contains;
using test::message_of;

namespace {

std::vector<Transform> transforms() {
  std::vector<Transform> result;
  for (const ImagesShape& shape :
       {ImagesShape{.N = 1, .C = 1, .H = 1, .W = 1}, ImagesShape{.N = 1, .C = 3, .H = 5, .W = 4},
        ImagesShape{.N = 7, .C = 1, .H = 1, .W = 1}, ImagesShape{.N = 5, .C = 3, .H = 7, .W = 11},
        ImagesShape{.N = 64, .C = 2, .H = 8, .W = 8}, ImagesShape{.N = 65, .C = 3, .H = 9, .W = 5},
        ImagesShape{.N = 131, .C = 16, .H = 14, .W = 13}}) {
    for (const Layout from : {Layout::nchw, Layout::chwn}) {
      result.emplace_back(Images(shape), from);
    }
  }
  return result;
}

// The transform by its definition, cell by cell.
std::vector<float> moved(const Transform& transform, const std::vector<float>& input) {
  std::vector<float> output(input.size(), conv::poison());
  const ImagesShape& shape = transform.images().shape();
  for (std::int64_t n = 0; n < shape.N; ++n) {
    for (std::int64_t c = 0; c < shape.C; ++c) {
      for (std::int64_t h = 0; h < shape.H; ++h) {
        for (std::int64_t w = 0; w < shape.W; ++w) {
          output[static_cast<std::size_t>(index_of(shape, transform.to(), n, c, h, w))] =
              input[static_cast<std::size_t>(index_of(shape, transform.from(), n, c, h, w))];
        }
      }
    }
  }
  return output;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

}  // namespace

TEST_CASE("a layout says where a cell lies", "[layout]") {
  const ImagesShape shape{.N = 2, .C = 3, .H = 4, .W = 5};
  // Slowest first: neighbours along the last letter are neighbours in memory.
  CHECK(index_of(shape, Layout::nchw, 0, 0, 0, 1) == 1);
  CHECK(index_of(shape, Layout::nchw, 0, 0, 1, 0) == 5);
  CHECK(index_of(shape, Layout::nchw, 0, 1, 0, 0) == 20);
  CHECK(index_of(shape, Layout::nchw, 1, 0, 0, 0) == 60);
  CHECK(index_of(shape, Layout::chwn, 1, 0, 0, 0) == 1);
  CHECK(index_of(shape, Layout::chwn, 0, 0, 0, 1) == 2);
  CHECK(index_of(shape, Layout::chwn, 0, 0, 1, 0) == 10);
  CHECK(index_of(shape, Layout::chwn, 0, 1, 0, 0) == 40);
  // Each place once.
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    std::set<std::int64_t> places;
    for (int n = 0; n < 2; ++n) {
      for (int c = 0; c < 3; ++c) {
        for (int h = 0; h < 4; ++h) {
          for (int w = 0; w < 5; ++w) places.insert(index_of(shape, layout, n, c, h, w));
        }
      }
    }
    CHECK(places.size() == 120);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == 119);
  }
}

TEST_CASE("a layout has a name, and no other word names one", "[layout]") {
  for (const Layout layout : {Layout::nchw, Layout::chwn}) {
    CHECK(conv::parse_layout(conv::to_string(layout)) == layout);
    CHECK(other(other(layout)) == layout);
    CHECK(other(layout) != layout);
  }
  for (const char* bad : {"", "NCHW", "nhwc", "nchw "}) {
    CHECK_THAT(message_of([&] { conv::parse_layout(bad); }), contains("names no layout"));
  }
}

TEST_CASE("images outside the limits are refused in one line", "[layout]") {
  const auto refusal = [](const ImagesShape& shape) { return message_of([&] { Images{shape}; }); };
  const ImagesShape good{.N = 2, .C = 3, .H = 4, .W = 5};
  CHECK(refusal(good) == "nothing was thrown");
  const std::pair<std::int64_t ImagesShape::*, const char*> dimensions[] = {
      {&ImagesShape::N, "N (images)"},
      {&ImagesShape::C, "C (channels)"},
      {&ImagesShape::H, "H (rows)"},
      {&ImagesShape::W, "W (columns)"}};
  for (const auto& [member, name] : dimensions) {
    ImagesShape shape = good;
    for (const std::int64_t bad : {std::int64_t{0}, std::int64_t{-3}}) {
      shape.*member = bad;
      CHECK_THAT(refusal(shape), contains(std::string(name)));
      CHECK_THAT(refusal(shape), contains("at least 1, got " + std::to_string(bad)));
    }
    shape.*member = std::int64_t{1} << 31;
    CHECK_THAT(refusal(shape), contains("at most 2147483647, got 2147483648"));
  }
  CHECK(Images({.H = 1, .W = conv::kMaxLength}).size() == conv::kMaxLength);
  CHECK_THAT(refusal({.H = 1, .W = conv::kMaxLength + 1}),
             contains("the batch is too large: N x C x H x W = 1 x 1 x 1 x 2147479552"));
  // 2^64 cells, of which 64 bits keep none.
  CHECK_THAT(refusal({.N = 1 << 16, .C = 1 << 16, .H = 1 << 16, .W = 1 << 16}),
             contains("too large"));
}

TEST_CASE("rearranged images are those of the definition, there and back", "[layout]") {
  for (const Transform& transform : transforms()) {
    INFO(label(transform));
    const std::vector<float> input = make_input(transform, 0, test::seed());
    const std::vector<float> output =
        rearranged(transform.images(), input, transform.from(), transform.to());
    CHECK(output == moved(transform, input));
    CHECK(rearranged(transform.images(), output, transform.to(), transform.from()) == input);
    CHECK(rearranged(transform.images(), input, transform.from(), transform.from()) == input);
  }
  // Enough cells for several threads.
  const Transform large(Images({.N = 130, .C = 7, .H = 61, .W = 67}), Layout::chwn);
  const std::vector<float> input = make_input(large, 1, test::seed());
  CHECK(same_bits(rearranged(large.images(), input, Layout::chwn, Layout::nchw),
                  moved(large, input)));
  CHECK_THAT(message_of([] {
               rearranged(Images({.H = 2, .W = 2}), std::vector<float>(3), Layout::nchw,
                          Layout::chwn);
             }),
             contains("3 values, the problem needs 4"));
}

TEST_CASE("a transform has a name that can be read", "[layout]") {
  CHECK(label(Transform(Images({.N = 128, .C = 16, .H = 28, .W = 28}), Layout::chwn)) ==
        "28-128-16-to-nchw");
  CHECK(label(Transform(Images({.N = 2, .C = 1, .H = 7, .W = 9}), Layout::nchw)) ==
        "7x9-2-1-to-chwn");
  std::set<std::string> labels;
  for (const Transform& transform : transforms()) {
    CHECK(conv::parse_transform(label(transform)) == transform);
    labels.insert(label(transform));
  }
  CHECK(labels.size() == transforms().size());
  const auto refusal = [](const char* text) {
    return message_of([&] { conv::parse_transform(text); });
  };
  for (const char* bad :
       {"", "28", "28-128-16", "28-128-16-nchw", "28-128-16-to", "28-128-16-to-",
        "28-128-16-to-nhwc", "28-128-16-to-nchw-", "28-128-16-to-nchw-s2", "28-128--to-nchw",
        "28x-128-16-to-nchw", "28-12.8-16-to-nchw", "28-+1-16-to-nchw", "28x28x28-1-1-to-nchw",
        "99999999999999999999-1-1-to-nchw"}) {
    INFO(bad);
    CHECK_THAT(refusal(bad), contains("names no transform: it is size-batch-channels-to-layout"));
    CHECK(refusal(bad).find('\n') == std::string::npos);
  }
  CHECK_THAT(refusal("28-0-16-to-nchw"), contains("N (images) must be at least 1"));
  CHECK_THAT(refusal("65536-65536-1-to-chwn"), contains("too large"));
}

TEST_CASE("a right transform passes with every kind of input, whole and in pieces", "[layout]") {
  conv::Random random(test::seed());
  for (const Transform& transform : transforms()) {
    for (int kind = 0; kind < input_kinds(transform); ++kind) {
      INFO(label(transform) << ", kind " << kind);
      const std::vector<float> input = make_input(transform, kind, test::seed());
      const TransformChecker checker(transform, input);
      const std::vector<float> output = moved(transform, input);
      const Comparison whole = checker.judge(0, output);
      CHECK(whole.passed());
      CHECK(whole.compared == transform.output_size());
      CHECK(whole.worst_index == 0);
      Comparison pieces;
      for (std::size_t at = 0; at < output.size();) {
        const std::size_t count = std::min<std::size_t>(random.below(300), output.size() - at);
        pieces.merge(
            checker.judge(static_cast<std::int64_t>(at), std::span(output).subspan(at, count)));
        at += count;
      }
      CHECK(pieces.describe() == whole.describe());
      CHECK(pieces.compared == whole.compared);
      CHECK(pieces.worst_index == whole.worst_index);
    }
  }
}

TEST_CASE("one bit of one cell is seen, and where", "[layout]") {
  for (const Transform& transform : transforms()) {
    const std::vector<float> input = make_input(transform, 1, test::seed());
    const TransformChecker checker(transform, input);
    const std::vector<float> good = moved(transform, input);
    for (const std::size_t place : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
      for (const std::uint32_t bit : {1u, 1u << 22, 1u << 31}) {
        std::vector<float> output = good;
        output[place] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(good[place]) ^ bit);
        const Comparison result = checker.judge(0, output);
        CHECK(result.failed == 1);
        CHECK(result.first_failure == static_cast<std::int64_t>(place));
      }
      std::vector<float> output = good;
      output[place] = conv::poison();
      CHECK(checker.judge(0, output).missing == 1);
    }
  }
}

TEST_CASE("the mistakes of a transform are seen", "[layout]") {
  const Transform transform(Images({.N = 6, .C = 3, .H = 5, .W = 4}), Layout::chwn);
  const std::vector<float> input = make_input(transform, 0, test::seed());
  const TransformChecker checker(transform, input);
  // Left as it was; to NHWC; two rows and two images exchanged.
  CHECK_FALSE(checker.judge(0, input).passed());
  std::vector<float> nhwc(input.size());
  const ImagesShape& shape = transform.images().shape();
  for (int n = 0; n < 6; ++n) {
    for (int c = 0; c < 3; ++c) {
      for (int h = 0; h < 5; ++h) {
        for (int w = 0; w < 4; ++w) {
          nhwc[static_cast<std::size_t>(((n * 5 + h) * 4 + w) * 3 + c)] =
              input[static_cast<std::size_t>(index_of(shape, Layout::chwn, n, c, h, w))];
        }
      }
    }
  }
  CHECK_FALSE(checker.judge(0, nhwc).passed());
  const std::vector<float> good = moved(transform, input);
  std::vector<float> rows = good;
  std::swap_ranges(rows.begin(), rows.begin() + 4, rows.begin() + 4);
  CHECK(checker.judge(0, rows).failed == 8);
  std::vector<float> images = good;
  std::swap_ranges(images.begin(), images.begin() + 60, images.begin() + 60);
  CHECK(checker.judge(0, images).failed == 120);
}

TEST_CASE("inputs of a transform tell all cells apart and hold bits that arithmetic loses",
          "[layout]") {
  const Transform transform(Images({.N = 32, .C = 3, .H = 40, .W = 41}), Layout::chwn);
  std::vector<float> cells = make_input(transform, 0, test::seed());
  CHECK(cells == make_input(transform, 0, test::seed()));
  CHECK(cells != make_input(transform, 0, test::seed() + 1));
  std::sort(cells.begin(), cells.end());
  CHECK(std::adjacent_find(cells.begin(), cells.end()) == cells.end());
  const std::vector<float> odd = make_input(transform, 1, test::seed());
  CHECK(std::any_of(odd.begin(), odd.end(), [](float x) { return std::isnan(x); }));
  CHECK(std::any_of(odd.begin(), odd.end(), [](float x) { return x == 0 && std::signbit(x); }));
  CHECK(std::any_of(odd.begin(), odd.end(),
                    [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; }));
  CHECK(std::none_of(odd.begin(), odd.end(), [](float x) { return conv::is_poison(x); }));
  CHECK_THAT(message_of([&] { make_input(transform, 2, 1); }), contains("no input of kind 2"));
  CHECK_THAT(message_of([&] { make_input(transform, -1, 1); }), contains("no input of kind -1"));
}

TEST_CASE("a transform moves every cell twice and computes nothing", "[layout]") {
  const Transform transform(Images({.N = 3, .C = 5, .H = 7, .W = 2}), Layout::nchw);
  CHECK(min_bytes(transform) == 2 * 4 * 210);
  CHECK(flops(transform) == 0);
  const std::vector<float> input(210);
  CHECK_THAT(message_of([&] { TransformChecker(transform, std::span(input).first(209)); }),
             contains("209 values, the problem needs 210"));
  const TransformChecker checker(transform, input);
  CHECK_THAT(message_of([&] { checker.judge(1, input); }), contains("the transform has 210"));
  CHECK_THAT(message_of([&] { checker.judge(-1, std::span(input).first(1)); }),
             contains("no 1 outputs from output -1"));
}
