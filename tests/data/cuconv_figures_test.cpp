// cuConv's published figures: those of the paper, for layers of its own table.
#include "common/data/cuconv_figures.hpp"

#include <algorithm>

#include "common/data/layer_table.hpp"
#include "tests/catch.hpp"

using namespace halo;

TEST_CASE("cuConv's figures are those that the paper prints") {
  REQUIRE(data::all_cuconv_figures().size() == 7);
  const auto line = data::cuconv_figures(conv::parse_label("7-1-3-384-192"));
  REQUIRE(line);
  CHECK(line->table == 4);
  CHECK(line->cuconv_us == test::Approx(52.86 + 4.93));  // its two kernels
  CHECK(line->best_cudnn_us == 105.63);
  CHECK(line->best_cudnn == "Winograd non-fused");
  CHECK(data::cuconv_figures(conv::parse_label("7-8-5-128-48"))->cuconv_us == 116.60);
  CHECK_FALSE(data::cuconv_figures(conv::parse_label("7-16-5-128-48")));
}

TEST_CASE("cuConv's figures are for layers of its 86") {
  const auto layers = data::paper_layer_table("cuconv");
  for (const data::CuconvFigures& line : data::all_cuconv_figures()) {
    INFO(conv::label(line.layer));
    CHECK(line.table == (line.layer.R() + 5) / 2);  // 1x1, 3x3, 5x5
    CHECK(std::any_of(layers.begin(), layers.end(), [&](const data::NamedLayer& named) {
      return named.layer == line.layer.with_batch(1);
    }));
    // Bytes of the arrays at the V100's 900 GB/s: no figure can be below.
    CHECK(line.cuconv_us > static_cast<double>(conv::min_bytes(line.layer)) / 900e3);
    CHECK(line.best_cudnn_us > static_cast<double>(conv::min_bytes(line.layer)) / 900e3);
  }
}
