#include "stages/06_conv2d_direct.hpp"

#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using conv::ConvLayer;

namespace {

const Conv2dVariant& variant(const std::string& name, const Conv2dStage& stage) {
  for (const Conv2dVariant& candidate : stage.variants) {
    if (candidate.name == name) return candidate;
  }
  throw std::logic_error("no variant " + name);
}

// What the variant says to the layer; empty if it takes it.
std::string refusal(const std::string& name, const ConvLayer& layer) {
  const Conv2dStage stage = conv2d_direct::stage();
  return halo::refusal(variant(name, stage), layer);
}

// Filters and strides for which shared memory is too small at once: rows in pieces; parts of a row;
// both with several filters and channels; wide steps.
const std::vector<ConvLayer> kLargeLayers = {
    ConvLayer({.H = 90, .W = 100, .K = 2, .R = 80, .S = 90, .padding_h = 2, .padding_w = 3}),
    ConvLayer({.C = 2, .H = 2, .W = 3200, .K = 9, .R = 1, .S = 3150, .padding_w = 3}),
    ConvLayer({.C = 2, .H = 1300, .W = 9, .R = 1290, .S = 3, .padding_w = 3}),
    ConvLayer({.H = 20, .W = 90, .K = 2, .R = 3, .S = 3, .stride_h = 4, .stride_w = 8}),
    ConvLayer({.H = 20, .W = 250, .K = 2, .R = 3, .S = 3, .stride_h = 7, .stride_w = 7}),
};

}  // namespace

TEST_CASE("06_conv2d_direct: every layer is right, without hazards") {
  test::require_trials_of_all_lines(conv2d_direct::stage());
}

TEST_CASE("06_conv2d_direct: traffic is as predicted") {
  test::require_traffic(test::own(conv2d_direct::stage()), kLargeLayers);
  test::require_traffic(
      test::own(conv2d_direct::stage()),
      {conv::parse_label("28-2-3-9-3"), conv::parse_label("15x12-2-5-5-3"),
       conv::parse_label("33x35-1-3-5-4-s2-p0"), conv::parse_label("9x40-3-3-33-2")});
}

TEST_CASE("06_conv2d_direct: what a variant does not take, it names") {
  test::usable_backend();  // few_channels asks what the GPU holds
  const ConvLayer plain({.H = 9, .W = 9, .R = 3, .S = 3});
  for (const Conv2dVariant& each : conv2d_direct::stage().variants) {
    INFO(each.name);
    CHECK(refusal(each.name, plain) ==
          (each.name == "few_channels" ? "it is made for two to four channels" : ""));
  }
  const ConvLayer many({.C = 2, .H = 9, .W = 9, .R = 3, .S = 3});
  CHECK(refusal("one_channel", many) == "it is made for one image, one channel and one filter");
  CHECK(refusal("channels", many).empty());
  const ConvLayer padded({.H = 9, .W = 9, .R = 3, .S = 3, .padding_w = 1});
  CHECK(refusal("one_channel", padded).starts_with("it knows no padding: "));
  CHECK(refusal("channels", padded).starts_with("it knows no padding: "));
  const ConvLayer strided({.H = 9, .W = 9, .R = 3, .S = 3, .stride_h = 2});
  CHECK(refusal("channels", strided) == "it knows no stride but 1");
  CHECK(refusal("stride_padding", strided).empty());

  CHECK(refusal("few_channels", many).empty());
  const std::string windows = "a thread's window has 3 x 3 cells; of three channels 5 x 5 also";
  CHECK(refusal("few_channels", ConvLayer({.C = 2, .H = 9, .W = 9, .R = 5, .S = 5})) == windows);
  CHECK(refusal("few_channels", ConvLayer({.C = 3, .H = 9, .W = 9, .R = 5, .S = 5})).empty());
  CHECK(refusal("few_channels", ConvLayer({.C = 3, .H = 9, .W = 9, .R = 3, .S = 5})) == windows);

  // 16,384 taps fill constant memory: 4 x 64 x 8 x 8.
  const ConvLayer full({.C = 64, .H = 9, .W = 9, .K = 4, .R = 8, .S = 8});
  CHECK(refusal("tile_constant", full).empty());
  const ConvLayer over({.C = 64, .H = 9, .W = 9, .K = 5, .R = 8, .S = 8});
  CHECK(refusal("tile_constant", over) ==
        "its filters must fit into 64 KB of constant memory, 16384 floats");
  // (7 + R) * (31 + S) floats of tile: 12,288 fill 48 KB.
  const ConvLayer tall({.H = 400, .W = 40, .R = 377, .S = 1});
  CHECK(refusal("tile_constant", tall).empty());
  const ConvLayer taller({.H = 400, .W = 40, .R = 378, .S = 1});
  CHECK(refusal("tile_constant", taller) == "its tile must fit into 48 KB of shared memory");
  CHECK(refusal("tile_shared", taller) ==
        "its tile and a filter's taps must fit into 48 KB of shared memory");
  CHECK(refusal("filter_pieces", taller).empty());
  // The taps of one 1,200 cells wide filter fit beside the tile, those of eight don't.
  const ConvLayer wide({.H = 1, .W = 1300, .R = 1, .S = 1200});
  CHECK(refusal("tile_shared", wide).empty());
  CHECK(refusal("filter_group", wide) ==
        "its tile and eight filters' taps must fit into 48 KB of shared memory");
  CHECK(refusal("filter_pieces", wide).empty());

  const ConvLayer wide_steps({.H = 99, .W = 99, .R = 1, .S = 1, .stride_h = 8, .stride_w = 8});
  CHECK_FALSE(refusal("tile_shared", wide_steps).empty());
  CHECK_FALSE(refusal("filter_group", wide_steps).empty());
  CHECK(refusal("filter_pieces", wide_steps) ==
        "with such strides not even the tile of a single tap fits into 48 KB of shared memory");
  CHECK(refusal("stride_padding", wide_steps).empty());
}

TEST_CASE("06_conv2d_direct: the cost of a tile, by hand") {
  // An image of 10 x 34 cells and filters of 3 x 3: one tile of 8 x 32 outputs, 8 warps. A row is 34
  // cells, 4 * 34 = 136 bytes = 4 sectors and 8 bytes: row h begins 2h cells after a sector's start.
  const ConvLayer one({.H = 10, .W = 34, .R = 3, .S = 3});
  const auto direct = test::predict(conv2d_direct::stage(), "one_channel", one);
  CHECK(direct.global_load_requests == 8 * 9 * 2);
  // 32 cells from cell 2 * (p + r) + s on are 4 sectors if that is a multiple of 8, else 5. Over the
  // 8 warps p + r takes each remainder by 4 twice, for s = 0 a multiple of 8 in 2 of 8, for s = 1
  // in none, for s = 2 again in 2 of 8: of 72 requests 12 have 4 sectors.
  CHECK(direct.global_load_sectors == 72 * 5 - 12 + 72);
  CHECK(direct.global_store_requests == 8);
  CHECK(direct.global_store_sectors == 8 * 4);
  CHECK(direct.barriers == 0);

  // Two filters, two channels: the tile is loaded for each of the four pairs, 10 rows by 2 requests.
  const ConvLayer four({.C = 2, .H = 10, .W = 34, .K = 2, .R = 3, .S = 3});
  const auto constant = test::predict(conv2d_direct::stage(), "tile_constant", four);
  CHECK(constant.global_load_requests == 4 * 20);
  CHECK(constant.shared_store_requests == 4 * 20);
  CHECK(constant.shared_load_requests == 4 * 8 * 9);
  CHECK(constant.shared_load_wavefronts == 4 * 8 * 9);
  CHECK(constant.constant_load_requests == 4 * 8 * 9);
  CHECK(constant.barriers == 4 * 2);

  // The taps by one request, 9 cells; and read from shared memory.
  const auto shared = test::predict(conv2d_direct::stage(), "tile_shared", four);
  CHECK(shared.global_load_requests == 4 * 21);
  CHECK(shared.shared_load_requests == 2 * 4 * 8 * 9);
  CHECK(shared.constant_load_requests == 0);
  CHECK(shared.barriers == 4 * 2);

  // Both filters on one tile for each channel.
  const auto group = test::predict(conv2d_direct::stage(), "filter_group", four);
  CHECK(group.global_load_requests == 2 * (20 + 2));
  CHECK(group.shared_load_requests == 2 * 8 * 9 * (1 + 2));
  CHECK(group.global_store_requests == 2 * 8);
  CHECK(group.barriers == 2 * 2);

  // Every second cell: 32 lanes share 16 banks.
  const ConvLayer strided({.H = 15, .W = 63, .R = 1, .S = 1, .stride_h = 2, .stride_w = 2});
  const auto conflicts = test::predict(conv2d_direct::stage(), "tile_constant", strided);
  CHECK(conflicts.shared_load_requests == 8);
  CHECK(conflicts.shared_load_wavefronts == 16);
  CHECK(conflicts.shared_load_conflicts == 8);
}
