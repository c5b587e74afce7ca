#include "stages/11_fused_pooling.hpp"

#include "stages/11_fused_pooling/expansion.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage_checks.hpp"

namespace halo::fused_pooling {
int chwn_reuse(const PoolingCall& call, int rows, int columns);
int nchw_reuse(const PoolingCall& call, int rows);
}  // namespace halo::fused_pooling

using namespace halo;
using conv::Layout;
using conv::parse_pooling;
using conv::PoolingLayer;
using fused_pooling::cells_asked;
using fused_pooling::choose_expansion;
using fused_pooling::Expansion;

namespace {

constexpr int kH200 = 132;  // multiprocessors

// Every expansion, as a stage of its own.
PoolingStage searched() {
  PoolingStage stage = fused_pooling::stage();
  stage.variants = stage.searched;
  return stage;
}

// Large enough that choose_expansion takes more than one output: 2 x 2 with windows that the compiler
// knows, 1 x 4 and 4 x 4 with others.
const std::vector<PoolingLayer> kExpandedLayers = {parse_pooling("16-97-3-36-s2-ceil"),
                                                   parse_pooling("9x40-33-1x5-14-s1-average"),
                                                   parse_pooling("19-34-4x3-45-s1-p1")};

}  // namespace

TEST_CASE("11_fused_pooling: every layer is right, without hazards") {
  test::require_trials_of_all_lines(fused_pooling::stage());
}

TEST_CASE("11_fused_pooling: what the search tries is right, without hazards", "[all]") {
  test::require_trials(searched());
}

TEST_CASE("11_fused_pooling: traffic is as predicted") {
  test::require_traffic(fused_pooling::stage(), kExpandedLayers);
  test::require_traffic(searched());
}

TEST_CASE("11_fused_pooling: the paper's layers, and how many outputs a thread has") {
  for (const char* label : {"28-128-2-16", "14-128-2-16"}) {  // PL1, PL2: nothing overlaps
    INFO(label);
    CHECK(choose_expansion(parse_pooling(label), Layout::chwn, kH200) == Expansion{1, 1});
    CHECK(choose_expansion(parse_pooling(label), Layout::nchw, kH200) == Expansion{1, 1});
  }
  // PL3 to PL10: in NCHW four rows where they save a tenth of the cells that two ask for, and seven where there are
  // thirteen at least.
  struct Chosen {
    const char* label;
    int nchw_rows;
  };
  for (const Chosen& one : {Chosen{"24-128-3-64-s2-ceil", 4},
                            {"12-128-3-64-s2-ceil", 2},
                            {"55-128-3-96-s2", 7},
                            {"27-128-3-192-s2", 7},
                            {"13-128-3-256-s2", 2},
                            {"110-64-3-96-s2-ceil", 7},
                            {"26-64-3-256-s2-ceil", 7},
                            {"13-64-3-256-s2", 2}}) {
    INFO(one.label);
    CHECK(choose_expansion(parse_pooling(one.label), Layout::chwn, kH200) == Expansion{2, 2});
    CHECK(choose_expansion(parse_pooling(one.label), Layout::nchw, kH200) ==
          Expansion{one.nchw_rows, 1});
  }
  // 13 x 25 outputs in 13 planes: with seven rows a thread 21 warps, enough for one multiprocessor and not for two.
  CHECK(choose_expansion(parse_pooling("27x51-1-3-13-s2"), Layout::nchw, 1).rows == 7);
  CHECK(choose_expansion(parse_pooling("27x51-1-3-13-s2"), Layout::nchw, 2).rows == 2);
  // Much overlap: doubling again still saves an eighth.
  CHECK(choose_expansion(parse_pooling("55-128-5-96-s1"), Layout::chwn, kH200) == Expansion{4, 4});
  // It overlaps one way only.
  CHECK(choose_expansion(parse_pooling("55-128-5x2-96-s2"), Layout::chwn, kH200) ==
        Expansion{4, 1});
  CHECK(choose_expansion(parse_pooling("55-128-2x5-96-s2"), Layout::chwn, kH200) ==
        Expansion{1, 4});
  // 4 * 33 * 16 warps with one output a thread are 2,112: none to give away.
  CHECK(choose_expansion(parse_pooling("9-128-3-33-s2"), Layout::chwn, kH200) == Expansion{1, 1});
  CHECK(choose_expansion(parse_pooling("9-128-3-66-s2"), Layout::chwn, kH200) == Expansion{2, 1});
  CHECK(choose_expansion(parse_pooling("9-128-3-132-s2"), Layout::chwn, kH200) == Expansion{2, 2});
  // One output: nothing to expand.
  CHECK(choose_expansion(parse_pooling("7-128-7-4096-s1"), Layout::chwn, kH200) == Expansion{1, 1});
  CHECK(choose_expansion(kExpandedLayers[0], Layout::chwn, kH200) == Expansion{2, 2});
  CHECK(choose_expansion(kExpandedLayers[0], Layout::nchw, kH200) == Expansion{2, 1});
  CHECK(choose_expansion(kExpandedLayers[1], Layout::chwn, kH200) == Expansion{1, 4});
  CHECK(choose_expansion(kExpandedLayers[2], Layout::chwn, kH200) == Expansion{4, 4});
}

TEST_CASE("11_fused_pooling: outputs a thread that no kernel was compiled for are an error") {
  const PoolingLayer layer = parse_pooling("9-2-3-2-s2");
  const PoolingCall call = {numbers_of(layer), false, nullptr, nullptr};
  constexpr int kInvalidConfiguration = 9;
  CHECK(fused_pooling::chwn_reuse(call, 3, 1) == kInvalidConfiguration);
  CHECK(fused_pooling::chwn_reuse(call, 1, 7) == kInvalidConfiguration);
  CHECK(fused_pooling::nchw_reuse(call, 3) == kInvalidConfiguration);
}

TEST_CASE("11_fused_pooling: how many outputs a rolling thread goes down") {
  using fused_pooling::strip_of;
  CHECK(strip_of(parse_pooling("28-128-2-16"), kH200) == 1);  // nothing overlaps
  CHECK(strip_of(parse_pooling("55-128-3-96-s2"), kH200) == 3);
  // 32 channels, 12 columns, 32 pieces of four images: 12,288 threads a strip. Four strips of three are too few for 132
  // multiprocessors, six of two are enough.
  CHECK(strip_of(parse_pooling("24-128-3-32-s2-ceil"), kH200) == 2);
  CHECK(strip_of(parse_pooling("24-126-3-32-s2-ceil"), kH200) == 3);  // a thread an image
  CHECK(strip_of(parse_pooling("24-128-3-32-s2-ceil"), 66) == 3);
  CHECK(strip_of(parse_pooling("9-1-3-1-s2"), kH200) == 1);
}

TEST_CASE("11_fused_pooling: cells that threads ask for, by hand") {
  // 24 rows, windows of 3, stride 2: eleven whole windows and one of two cells.
  const PoolingLayer layer = parse_pooling("24-32-3-1-s2-ceil");
  REQUIRE(layer.P() == 12);
  CHECK(cells_asked(layer, {1, 1}) == 35 * 35);
  // Tiles of two: five of five rows, the last of four. Tiles of four: 9, 9 and 8 rows.
  CHECK(cells_asked(layer, {2, 1}) == 29 * 35);
  CHECK(cells_asked(layer, {2, 2}) == 29 * 29);
  CHECK(cells_asked(layer, {1, 4}) == 35 * 26);
  CHECK(cells_asked(layer, {4, 4}) == 26 * 26);
  // Thirteen outputs in tiles of four: the last has one.
  CHECK(cells_asked(parse_pooling("27-32-3-1-s2"), {4, 1}) == (3 * 9 + 3) * 39);
  // Padding 1 and stride 1 on 4 cells: windows of 2, 3, 3, 2; tiles of two: 3 and 3; all: 4.
  const PoolingLayer padded = parse_pooling("4-32-3-1-s1-p1");
  CHECK(cells_asked(padded, {1, 1}) == 10 * 10);
  CHECK(cells_asked(padded, {2, 4}) == 6 * 4);
}

TEST_CASE("11_fused_pooling: the cost of a warp, by hand") {
  const PoolingStage stage = fused_pooling::stage();
  // CHWN: 32 images are 4 sectors, wherever the cell lies.
  const PoolingLayer pl3 = parse_pooling("24-32-3-2-s2-ceil");
  const auto chwn = test::predict(stage, "chwn", pl3);
  CHECK(chwn.global_load_requests == 2 * 35 * 35);
  CHECK(chwn.global_load_sectors == 4 * 2 * 35 * 35);
  CHECK(chwn.global_store_requests == 2 * 144);
  CHECK(chwn.global_store_sectors == 4 * 2 * 144);
  const auto reuse = test::predict(searched(), "chwn_2x2", pl3);
  CHECK(reuse.global_load_sectors == 4 * 2 * 29 * 29);
  CHECK(reuse.global_store_sectors == chwn.global_store_sectors);
  // 36 images: a warp of 32 and one of 4. Cells begin 0 or 4 floats after a sector's start, so the 32
  // are 4 or 5 sectors and the 4 are 1: of 9 cells five begin on a sector.
  const auto narrow = test::predict(stage, "chwn", parse_pooling("3-36-3-1"));
  CHECK(narrow.global_load_requests == 9 * 2);
  CHECK(narrow.global_load_sectors == 5 * (4 + 1) + 4 * (5 + 1));

  // NCHW: one warp of 32 outputs in a row. Its cells of tap (r, s) begin 65 r + s cells from the start,
  // r + s after a sector's, and reach over 63: 8 sectors if r + s is 0 or 1, in three of nine taps, else
  // 9.
  const auto nchw = test::predict(stage, "nchw", parse_pooling("3x65-1-3-1-s2"));
  CHECK(nchw.global_load_requests == 9);
  CHECK(nchw.global_load_sectors == 3 * 8 + 6 * 9);
  CHECK(nchw.global_store_sectors == 4);
  // Two rows of outputs: 18 requests in two warps, the second without an 8. With both rows in a thread
  // 15, one for each row of cells and column of the window.
  const auto two = test::predict(stage, "nchw", parse_pooling("5x65-1-3-1-s2"));
  CHECK(two.global_load_sectors == 78 + 81);
  const auto shared = test::predict(searched(), "nchw_2x1", parse_pooling("5x65-1-3-1-s2"));
  CHECK(shared.global_load_requests == 15);
  CHECK(shared.global_load_sectors == 3 * 8 + 12 * 9);
  CHECK(shared.global_store_requests == 2);
  CHECK(shared.global_store_sectors == 8);

  // A strip of three outputs of one column of windows of 3: seven rows of three cells, each a piece of four images. Two
  // channels; 32 pieces are 16 sectors.
  const auto rolling = test::predict(searched(), "chwn_rolling_3", parse_pooling("7x3-128-3-2-s2"));
  CHECK(rolling.global_load_requests == 2 * 7 * 3);
  CHECK(rolling.global_load_sectors == 16 * 2 * 7 * 3);
  CHECK(rolling.global_store_sectors == 16 * 2 * 3);

  // The largest layer, PL8: 164 rows asked for of 110, two warps of images.
  const auto pl8 = test::predict(stage, "chwn", parse_pooling("110-64-3-96-s2-ceil"));
  CHECK(pl8.global_load_sectors == 4ull * 2 * 96 * 164 * 164);
}

TEST_CASE("11_fused_pooling: expansions are refused where nothing overlaps") {
  const PoolingStage stage = searched();
  const PoolingLayer apart = parse_pooling("28-32-2-2");
  CHECK(refusal(test::variant_of(stage, "chwn_1x1"), apart).empty());
  CHECK(refusal(test::variant_of(stage, "chwn_2x1"), apart) ==
        "its windows do not overlap downwards, so there are no rows to share");
  CHECK(refusal(test::variant_of(stage, "chwn_1x4"), apart) ==
        "its windows do not overlap sideways, so there are no columns to share");
  CHECK(refusal(test::variant_of(stage, "nchw_4x1"), apart) ==
        "its windows do not overlap downwards, so there are no rows to share");
  const PoolingLayer tall = parse_pooling("28-32-3x2-2-s2");
  CHECK(refusal(test::variant_of(stage, "chwn_4x1"), tall).empty());
  CHECK_FALSE(refusal(test::variant_of(stage, "chwn_4x2"), tall).empty());
  for (const PoolingVariant& each : fused_pooling::stage().variants) {
    CHECK(refusal(each, apart).empty());
  }
}
