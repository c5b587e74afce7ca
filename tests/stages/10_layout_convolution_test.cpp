#include "stages/10_layout_convolution.hpp"

#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

// What adversarial layers are too small for: 4 and 2 images or pixels a thread with a last group that
// is short, several groups of filters, images whose cells share a sector, maps of which 32 pixels are
// several images, and warps that begin anywhere in them.
const std::vector<ConvLayer> kLargeLayers = {
    conv::parse_label("5x4-133-3-67-3"),
    conv::parse_label("3-128-1-17-9"),
    conv::parse_label("6x5-70-3x2-33-2-s2x1-p0x1"),
    conv::parse_label("2-65-2-130-1-p1x0"),
    conv::parse_label("1x3-200-1x3-2-1"),
    conv::parse_label("9x7-36-5x3-9-5"),
    conv::parse_label("17x19-5-3-40-2-s1x3-p0x2"),
};

}  // namespace

TEST_CASE("10_layout_convolution: every layer is right, without hazards") {
  test::require_trials_of_all_lines(layout_convolution::stage());
}

TEST_CASE("10_layout_convolution: large batches are right, and traffic is as predicted", "[all]") {
  test::require_traffic(layout_convolution::stage(), kLargeLayers);
}

TEST_CASE("10_layout_convolution: no layer is refused, and each variant says its layout") {
  const Conv2dStage stage = layout_convolution::stage();
  REQUIRE(stage.variants.size() == 4);
  for (const Conv2dVariant& variant : stage.variants) {
    INFO(variant.name);
    for (const ConvLayer& layer : adversarial<ConvLayer>(test::seed())) {
      CHECK(refusal(variant, layer) == "");
    }
    CHECK(variant.name.ends_with(variant.layout == conv::Layout::chwn ? "_chwn" : "_nchw"));
  }
}

TEST_CASE("10_layout_convolution: what a layout costs, by hand") {
  // 128 images of one channel of 8 x 8 cells, 64 filters of 1 x 1: 64 pixels [p][q], 1 tile.
  const ConvLayer layer({.N = 128, .H = 8, .W = 8, .K = 64, .R = 1, .S = 1});
  const auto stage = layout_convolution::stage();
  const auto predict = [&](const std::string& variant) {
    return test::predict(stage, variant, layer);
  };
  // A block has one pixel of all images: 64 blocks, each with 4 requests for cells. Taps: a warp has 4
  // filters of 1 tap, which are neighbours, in each of 4 turns; 16 such runs lie in 8 sectors by twos.
  const auto images_chwn = predict("images_chwn");
  CHECK(images_chwn.global_load_requests == 64 * (4 + 16));
  CHECK(images_chwn.global_load_sectors == 64 * (4 * 4 + 16));
  CHECK(images_chwn.global_store_requests == 64 * 64 * 4);
  CHECK(images_chwn.global_store_sectors == 64 * 64 * 4 * 4);
  // In NCHW images are 64 floats apart, outputs 64 * 64.
  const auto images_nchw = predict("images_nchw");
  CHECK(images_nchw.global_load_requests == images_chwn.global_load_requests);
  CHECK(images_nchw.global_load_sectors == 64 * (4 * 32 + 16));
  CHECK(images_nchw.global_store_sectors == 64 * 64 * 4 * 32);
  // A block has two images' pixels: 64 blocks again.
  const auto pixels_nchw = predict("pixels_nchw");
  CHECK(pixels_nchw.global_load_requests == images_chwn.global_load_requests);
  CHECK(pixels_nchw.global_load_sectors == images_chwn.global_load_sectors);
  CHECK(pixels_nchw.global_store_sectors == images_chwn.global_store_sectors);
  const auto pixels_chwn = predict("pixels_chwn");
  CHECK(pixels_chwn.global_load_sectors == images_nchw.global_load_sectors);
  CHECK(pixels_chwn.global_store_sectors == images_nchw.global_store_sectors);

  // All the same within the block: 1 tile, 8 taps x 4 requests for cells, 64 x 8 taps by 32; 8 taps x (4
  // requests for cells, 4 for taps of 2 wavefronts) for each of 4 warps.
  for (const char* variant : {"images_chwn", "images_nchw", "pixels_nchw", "pixels_chwn"}) {
    INFO(variant);
    const auto counters = predict(variant);
    CHECK(counters.barriers == 64 * 2);
    CHECK(counters.shared_store_requests == 64 * (8 * 4 + 16));
    CHECK(counters.shared_store_conflicts == 0);
    CHECK(counters.shared_load_requests == 64 * 4 * 8 * (4 + 4));
    CHECK(counters.shared_load_wavefronts == 64 * 4 * 8 * (4 + 8));
    CHECK(counters.shared_load_conflicts == 0);
  }
}

TEST_CASE("10_layout_convolution: few images leave lanes idle, few pixels do not") {
  // One image: a request of images_chwn is for one cell. 8 x 8 pixels are two requests of pixels_nchw.
  const ConvLayer one({.C = 2, .H = 8, .W = 8, .K = 16, .R = 1, .S = 1});
  const auto stage = layout_convolution::stage();
  const auto images = test::predict(stage, "images_chwn", one);
  const auto pixels = test::predict(stage, "pixels_nchw", one);
  CHECK(images.global_store_requests == 16 * 64);
  CHECK(images.global_store_sectors == 16 * 64);
  CHECK(pixels.global_store_requests == 16 * 2);
  CHECK(pixels.global_store_sectors == 16 * 8);
  CHECK(images.barriers == 64 * 2);
  CHECK(pixels.barriers == 2);  // one block of 2 pixels a thread
}

TEST_CASE("10_layout_convolution: the plan says what the published thresholds choose") {
  const auto stage = layout_convolution::stage();
  // CONV7 of the paper.
  const ConvLayer conv7 = conv::parse_label("13-64-3-384-256");
  CHECK(stage.plan(conv7, "") ==
        "layer 13-64-3-384-256: C 256, N 64; CHWN if C < Ct or N >= Nt\n"
        "  Titan Black  NCHW: C >= 32 and N < 128\n"
        "  Titan X      CHWN: N >= 64\n");
  CHECK(stage.plan(conv7, "gtxtitanx") ==
        "layer 13-64-3-384-256: C 256, N 64; CHWN if C < Ct or N >= Nt\n"
        "  Titan X  CHWN: N >= 64\n");
  const ConvLayer conv3 = conv::parse_label("24-128-5-64-3");
  CHECK(stage.plan(conv3, "gtxtitanblack") ==
        "layer 24-128-5-64-3: C 3, N 128; CHWN if C < Ct or N >= Nt\n"
        "  Titan Black  CHWN: C < 32 and N >= 128\n");
  CHECK_THROWS_AS(stage.plan(conv7, "h200"), std::invalid_argument);
}
