#include "stages/09_cuconv_two_stage.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "common/conv/layer_inputs.hpp"
#include "common/data/layer_table.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/09_cuconv_two_stage/costs.hpp"
#include "stages/09_cuconv_two_stage/two_stage.hpp"
#include "tests/catch.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using namespace halo::cuconv_two_stage;
using conv::ConvLayer;

namespace {

constexpr int kH200 = 132;  // multiprocessors

int products_of_row(const ConvLayer& layer) { return layer.N() * layer.P() * layer.Q(); }
int taps_of(const ConvLayer& layer) { return layer.R() * layer.S(); }

Chunks chunks_of(const ConvLayer& layer, std::int64_t cap = kTemporariesCap) {
  return chunk_temporaries(layer.K(), products_of_row(layer), taps_of(layer), cap);
}

// The stage with another limit for its temporaries.
Conv2dStage stage_with(std::int64_t cap) {
  Conv2dStage stage;
  stage.name = "09_cuconv_two_stage";
  add_variants(stage, cap);
  return stage;
}

const Conv2dVariant& variant_of(const Conv2dStage& stage, const std::string& name) {
  for (const Conv2dVariant& variant : stage.variants) {
    if (variant.name == name) return variant;
  }
  FAIL("no variant " << name);
  throw std::logic_error("not reached");
}

// The two of cuConv's method.
std::vector<Conv2dVariant> two_stages() { return stage_with(kTemporariesCap).variants; }

// A square map and filter, one image unless said, padded or not.
ConvLayer square(int map, int filter, int padding, int images = 1, int channels = 8) {
  return ConvLayer({.N = images,
                    .C = channels,
                    .H = map,
                    .W = map,
                    .R = filter,
                    .S = filter,
                    .padding_h = padding,
                    .padding_w = padding});
}

}  // namespace

TEST_CASE("09_cuconv_two_stage: every layer is right, without hazards") {
  test::require_trials_of_all_lines(stage());
}

TEST_CASE("09_cuconv_two_stage: traffic is as predicted") {
  test::require_traffic(test::own(stage()),
                        {
                            // Rows of more products than a block has threads, over two images.
                            ConvLayer({.N = 2, .C = 2, .H = 33, .W = 37, .K = 2, .R = 3, .S = 3}),
                            ConvLayer({.N = 3, .C = 3, .H = 25, .W = 25, .K = 2, .R = 1, .S = 1}),
                        });
}

TEST_CASE("09_cuconv_two_stage: the same in chunks of filters, and of products of one filter",
          "[all]") {
  // 4096 bytes are 113 products of one 3x3 filter, and 8 of an 11x11.
  test::require_trials(stage_with(4096));
  test::require_traffic(stage_with(4096));
  // With 16 times as many most trials are one chunk, as without a limit.
  const ConvLayer row({.H = 3, .W = 1030, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  const ConvLayer map({.C = 3, .H = 28, .W = 33, .K = 7, .R = 3, .S = 3});
  CHECK(chunks_of(row, 65536).filters == 1);
  CHECK(chunks_of(row, 65536).count > row.K());
  CHECK(chunks_of(map, 65536).filters > 1);
  CHECK(chunks_of(map, 65536).count > 1);
  test::require_traffic(stage_with(65536), {row, map});
  // They were cut both ways.
  const ConvLayer layer({.N = 2, .C = 2, .H = 7, .W = 7, .K = 9, .R = 3, .S = 3});
  CHECK(chunks_of(layer, 4096).filters == 2);
  CHECK(chunks_of(layer, 4096).count == 5);
  CHECK(chunks_of(layer, 1024).filters == 1);
  CHECK(chunks_of(layer, 1024).products == 25);
  CHECK(chunks_of(layer, 1024).count == 18);
}

TEST_CASE("09_cuconv_two_stage: the cost of one small layer, by hand") {
  // Two filters of 3x3 and 2 channels on a 3x3 map with padding: 18 filter rows, 9 products each.
  const ConvLayer layer(
      {.C = 2, .H = 3, .W = 3, .K = 2, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  for (const char* name : {"two_stage", "two_stage_simple"}) {
    const auto cost = test::predict(stage(), name, layer);
    CHECK(cost.barriers == 18);
    // A row: one request; its 2 values are 36 bytes apart, in two sectors, so 36 in all. The input:
    // a request a channel. The sum: 18 outputs are one warp, a request a tap.
    CHECK(cost.global_load_requests == 18 + 18 * 2 + 9);
    CHECK(cost.shared_store_requests == 18);
    // Both channels' values by one request, of nine lanes.
    CHECK(cost.shared_load_requests == 18);
    CHECK(cost.shared_load_wavefronts == 18);
    CHECK(cost.shared_load_conflicts == 0);
    CHECK(cost.global_store_requests == 18 + 1);
    // Input sectors: channel 0 is cells 0-8, channel 1 cells 9-17. By taps, from the upper left:
    // cells 0-4, 0-5, 1-5, 0-7, 0-8, 1-8, 3-7, 3-8, 4-8 of a channel.
    const std::uint64_t first = 1 + 1 + 1 + 1 + 2 + 2 + 1 + 2 + 2;
    const std::uint64_t second = 1 + 1 + 1 + 2 + 2 + 2 + 2 + 2 + 2;
    // Temporaries are [9][2][9], written by filter and read for both filters at once. Of tap t and
    // filter f they begin at 18t + 9f; a tap's that exist, in a map, are
    // 4-8, 3-8, 3-7, 1-8, 0-8, 0-7, 1-5, 0-5, 0-4.
    constexpr std::pair<int, int> kStored[9] = {{4, 8}, {3, 8}, {3, 7}, {1, 8}, {0, 8},
                                                {0, 7}, {1, 5}, {0, 5}, {0, 4}};
    std::uint64_t written = 0;
    std::uint64_t read = 0;
    for (int t = 0; t < 9; ++t) {
      const auto [from, to] = kStored[t];
      written += (18 * t + to) / 8 - (18 * t + from) / 8 + 1;
      written += (18 * t + 9 + to) / 8 - (18 * t + 9 + from) / 8 + 1;
      std::set<int> sectors;
      // Holes are no wider than 4 cells here, but a filter's last and the next one's first cell may
      // leave a sector out.
      for (int f = 0; f < 2; ++f) {
        for (int cell = from; cell <= to; ++cell) {
          const int x = cell % 3 + t % 3 - 1;
          const int y = cell / 3 + t / 3 - 1;
          if (x >= 0 && x < 3 && y >= 0 && y < 3) sectors.insert((18 * t + 9 * f + cell) / 8);
        }
      }
      read += sectors.size();
    }
    CHECK(cost.global_load_sectors == 36 + 2 * (first + second) + read);
    CHECK(cost.global_store_sectors == written + 3);
  }
}

TEST_CASE("09_cuconv_two_stage: 1x1 filters take one kernel and no temporaries") {
  const ConvLayer layer({.N = 2, .C = 40, .H = 7, .W = 7, .K = 3, .R = 1, .S = 1});
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& variant : two_stages()) {
    CHECK(variant.prepared(layer).workspace_floats == 0);
    CHECK(variant.prepared(layer).detail().find("no temporaries") != std::string::npos);
    if (!backend->observes()) continue;
    Array input(*backend, layer.input_size());
    Array filters(*backend, layer.filters_size());
    Array output(*backend, layer.output_size());
    input.write(conv::exact_input(layer, test::seed()));
    filters.write(conv::exact_filters(layer, test::seed()));
    const Observation seen = backend->run([&] {
      return variant.prepared(layer).launch(
          {layer, input.data(), filters.data(), output.data(), nullptr});
    });
    CHECK(seen.error.empty());
    CHECK(seen.kernels == 1);
    CHECK(seen.hazards.empty());
  }
}

TEST_CASE("09_cuconv_two_stage: what is refused is a row that shared memory can't hold") {
  const ConvLayer most({.C = kMaxChannels, .H = 1, .W = 1, .R = 1, .S = 1});
  const ConvLayer more({.C = kMaxChannels + 1, .H = 1, .W = 1, .R = 1, .S = 1});
  const auto backend = test::usable_backend();
  for (const Conv2dVariant& variant : two_stages()) {
    CHECK(refusal(variant, most).empty());
    CHECK(
        refusal(variant, more) ==
        "a filter row of 12289 channels does not fit the shared memory of a block (at most 12288)");
    Row row;
    Progress progress;
    check_trials(variant, *backend, std::vector{most}, test::seed(), row, progress);
    INFO(test::faults(row));
    CHECK(row.check.outcome == Outcome::good);
  }
}

TEST_CASE("09_cuconv_two_stage: the division of the paper's layers") {
  // Table 3 and its text: 256 and 1,024 blocks for A and B, and for C more threads in a block.
  CHECK(divide(Rows::split, 7 * 7, 256, kH200) == Division{1, 64, 64});
  CHECK(divide(Rows::split, 14 * 14, 1024, kH200) == Division{1, 224, 224});
  CHECK(divide(Rows::split, 27 * 27, 256, kH200) == Division{1, 736, 736});
  CHECK(divide(Rows::one_block, 7 * 7, 256, kH200) == Division{1, 49, 64});

  // More products than threads.
  CHECK(divide(Rows::split, 1024, 132, kH200) == Division{1, 1024, 1024});
  CHECK(divide(Rows::split, 1025, 132, kH200) == Division{2, 544, 544});
  CHECK(divide(Rows::one_block, 1025, 132, kH200) == Division{1, 1025, 1024});
  // Fewer rows than multiprocessors: 7-1-1-32-832 on 132 and on the paper's 80.
  CHECK(divide(Rows::split, 7 * 7, 32, kH200) == Division{2, 32, 32});
  CHECK(divide(Rows::split, 28 * 28, 16, kH200) == Division{9, 96, 96});
  CHECK(divide(Rows::split, 28 * 28, 16, 80) == Division{5, 160, 160});
  CHECK(divide(Rows::one_block, 28 * 28, 16, kH200) == Division{1, 784, 800});
  // Nothing to split.
  CHECK(divide(Rows::split, 1, 1, kH200) == Division{1, 32, 32});
}

TEST_CASE("09_cuconv_two_stage: divisions make each product once, with whole warps") {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 20'000; ++i) {
    const auto up_to = [&](std::int64_t most) {
      // All orders of magnitude alike.
      const int bits = static_cast<int>(random() % 32);
      return static_cast<int>(std::clamp<std::int64_t>(
          static_cast<std::int64_t>(random() % (std::int64_t{1} << bits)), 1, most));
    };
    const int products = up_to(conv::kMaxElements);
    const int rows = static_cast<int>(std::max<std::int64_t>(
        1, std::min<std::int64_t>(up_to(conv::kMaxElements), conv::kMaxElements / products)));
    const int multiprocessors = 1 + static_cast<int>(random() % 200);
    for (const Rows how : {Rows::split, Rows::one_block}) {
      INFO(products << " products, " << rows << " rows, " << multiprocessors << " multiprocessors");
      const Division d = divide(how, products, rows, multiprocessors);
      REQUIRE(d.threads % 32 == 0);
      REQUIRE(d.threads >= 32);
      REQUIRE(d.threads <= kMaxThreads);
      REQUIRE(std::int64_t{d.blocks} * d.share >= products);
      REQUIRE((d.blocks - std::int64_t{1}) * d.share < products);
      REQUIRE(std::int64_t{rows} * d.blocks <= std::numeric_limits<int>::max());
      if (how == Rows::split) {
        REQUIRE(d.share == d.threads);
        // Blocks enough, or warps too few to give each one, or what rounding to warps takes.
        REQUIRE((std::int64_t{rows} * d.blocks >= multiprocessors || d.threads <= 32 ||
                 (std::int64_t{multiprocessors} + rows - 1) / rows * (d.threads - 32) < products));
      } else {
        REQUIRE(d.blocks == 1);
      }
    }
  }
}

TEST_CASE("09_cuconv_two_stage: chunks, by hand") {
  // The largest of the paper: 64 filters of 3x3 on 256 images of 224x224, 4 * 9*64*256*224*224.
  const Chunks largest = chunk_temporaries(64, 256 * 224 * 224, 9);
  CHECK(largest.whole_bytes == 29'595'009'024);
  CHECK(largest.filters == 2);  // 462 MB each
  CHECK(largest.products == 256 * 224 * 224);
  CHECK(largest.count == 32);
  CHECK(largest.floats == std::int64_t{9} * 2 * 256 * 224 * 224);

  // Equal chunks: 5 of 52, 52, 52, 52 and 48 filters, where 57 would fit.
  CHECK(chunk_temporaries(256, 256 * 27 * 27, 25).filters == 52);
  CHECK(chunk_temporaries(256, 256 * 27 * 27, 25).count == 5);
  // Exactly the limit is one chunk, one float more is two.
  CHECK(chunk_temporaries(2, 1 << 20, 128).count == 1);
  CHECK(chunk_temporaries(2, 1 << 20, 128).floats == kTemporariesCap / 4);
  CHECK(chunk_temporaries(1, (1 << 20) + 1, 256).count == 2);
  CHECK(chunk_temporaries(1, (1 << 20) + 1, 256).products == (1 << 19) + 1);
  // 1x1: none.
  CHECK(chunk_temporaries(2048, 256 * 49, 1) == Chunks{2048, 256 * 49, 1, 0, 0});

  CHECK(test::message_of([] { chunk_temporaries(1, 1, 9, 35); }) ==
        "a limit of 35 bytes for temporaries: it must be from 36 (one product) to 1073741824");
  CHECK_NOTHROW(chunk_temporaries(1, 1, 9, 36));
  CHECK_THROWS_AS(chunk_temporaries(1, 1, 9, kTemporariesCap + 1), std::invalid_argument);
}

TEST_CASE("09_cuconv_two_stage: chunks cover each product of each filter once, within the limit") {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 500; ++i) {
    const int K = 1 + static_cast<int>(random() % 40);
    const int products = 1 + static_cast<int>(random() % 60);
    const int taps = 1 + static_cast<int>(random() % 30);
    const std::int64_t cap = 4 * taps + static_cast<std::int64_t>(random() % 20'000);
    const Chunks chunks = chunk_temporaries(K, products, taps, cap);
    INFO(K << " filters, " << products << " products, " << taps << " taps, cap " << cap);
    std::vector<int> made(static_cast<std::size_t>(K) * products);
    std::int64_t count = 0;
    std::int64_t most = 0;
    for_each_chunk(chunks, K, products, [&](const Chunk& chunk) {
      ++count;
      most = std::max(most, std::int64_t{taps} * chunk.filters * chunk.products);
      for (int k = 0; k < chunk.filters; ++k) {
        for (int m = 0; m < chunk.products; ++m) {
          ++made[static_cast<std::size_t>(chunk.first_filter + k) * products + chunk.first_product +
                 m];
        }
      }
    });
    REQUIRE(count == chunks.count);
    REQUIRE(std::all_of(made.begin(), made.end(), [](int n) { return n == 1; }));
    if (taps == 1) continue;
    REQUIRE(most == chunks.floats);
    REQUIRE(4 * most <= cap);
    REQUIRE(chunks.whole_bytes == std::int64_t{4} * taps * K * products);
  }
}

TEST_CASE("09_cuconv_two_stage: the paper's 86 layers at seven batch sizes fit", "[all]") {
  int both_stages = 0;
  int chunked = 0;
  std::pair<std::int64_t, std::string> largest;
  for (const data::NamedLayer& row : data::paper_layer_table("cuconv")) {
    for (const int batch : {1, 8, 16, 32, 64, 128, 256}) {
      const ConvLayer layer = row.layer.with_batch(batch);
      INFO(conv::label(layer));
      const Chunks chunks = chunks_of(layer);
      CHECK(4 * chunks.floats <= kTemporariesCap);
      both_stages += taps_of(layer) > 1;
      chunked += chunks.count > 1;
      largest = std::max(largest, {chunks.whole_bytes, conv::label(layer)});
      // One filter is never too large here.
      CHECK(chunks.products == products_of_row(layer));
      for (const Rows how : {Rows::split, Rows::one_block}) {
        const std::int64_t rows = std::int64_t{taps_of(layer)} * chunks.filters;
        const Division d = divide(how, chunks.products, static_cast<int>(rows), kH200);
        CHECK(rows * d.blocks <= std::numeric_limits<int>::max());
      }
      for (const Conv2dVariant& variant : two_stages()) {
        CHECK(refusal(variant, layer).empty());
        CHECK(variant.prepared(layer).workspace_floats == chunks.floats);
        CHECK((variant.prepared(layer).detail().find("chunk") != std::string::npos) ==
              (chunks.count > 1));
      }
    }
  }
  CHECK(both_stages == 41 * 7);  // the others, 45 of 86, are 1x1
  CHECK(chunked == 42);
  CHECK(largest == std::pair<std::int64_t, std::string>{29'595'009'024, "224-256-3-64-64"});
}

TEST_CASE("09_cuconv_two_stage: blocks of the 86 layers at batch 1, as on the page") {
  int few_rows = 0;   // fewer filter rows than multiprocessors
  int still_few = 0;  // and after the split
  int split = 0;
  int few_tiles = 0;  // fewer tiles of 64 filters x 64 outputs, as a matrix product has
  for (const data::NamedLayer& row : data::paper_layer_table("cuconv")) {
    const ConvLayer& layer = row.layer;
    const int rows = taps_of(layer) * layer.K();
    const Division d = divide(Rows::split, products_of_row(layer), rows, kH200);
    few_rows += rows < kH200;
    still_few += rows * d.blocks < kH200;
    split += d.blocks > 1;
    few_tiles += (layer.K() + 63) / 64 * ((products_of_row(layer) + 63) / 64) < kH200;
    CHECK((rows >= kH200 || taps_of(layer) == 1));
  }
  CHECK(few_rows == 26);
  CHECK(still_few == 6);
  CHECK(split == 37);
  CHECK(few_tiles == 78);
}

TEST_CASE("09_cuconv_two_stage: a row of the table says what was divided") {
  const Conv2dStage all = stage();
  const ConvLayer large = conv::parse_label("224-256-3-64-64");
  CHECK(variant_of(all, "two_stage").prepared(large).detail() ==
        "225792 blocks of 1024 threads; temporaries 29.6 GB in 32 chunks of 2 filters");
  CHECK(variant_of(all, "two_stage_simple").prepared(large).detail() ==
        "18 blocks of 1024 threads; temporaries 29.6 GB in 32 chunks of 2 filters");
  const ConvLayer wide({.H = 6000, .W = 6000, .R = 3, .S = 3});
  CHECK(
      variant_of(all, "two_stage_simple").prepared(wide).detail() ==
      "9 blocks of 1024 threads; temporaries 1.3 GB in 2 chunks of 1 filter and 17988002 products "
      "of each row");
}

TEST_CASE("09_cuconv_two_stage: the plan of a layer") {
  test::counting_backend();  // as if on an H200
  const ConvLayer layer = square(7, 3, 1, 8, 192);
  CHECK(
      stage().plan(layer, "") ==
      "7-8-3-1-192: 9 filter rows of 192 channels, each with 392 products; 132 multiprocessors\n"
      "  two_stage: 117 blocks of 32 threads; temporaries 14.1 kB\n"
      "  two_stage_simple: 9 blocks of 416 threads; temporaries 14.1 kB\n"
      "  input, either way: 22272 requests of 4.65 sectors; 96.6 % cross the end of a row, 46.6 % "
      "that of an image\n");
  // In chunks it is the chunks' reads; and no count of none is divided by.
  CHECK(stage_with(3600).plan(layer, "").find("in 4 chunks of 1 filter and 98 products") !=
        std::string::npos);
  const ConvLayer ghosts = conv::parse_label("1-1-1-1-1-s3-p1");
  CHECK(stage().plan(ghosts, "").find("0 requests of 0.00 sectors; 0.0 %") != std::string::npos);
  CHECK(test::message_of([&] { stage().plan(layer, "v100"); }).find("SIMT_GPU") !=
        std::string::npos);
  const ConvLayer refused({.C = kMaxChannels + 1, .H = 1, .W = 1, .R = 1, .S = 1});
  CHECK_THROWS_AS(stage().plan(refused, ""), std::invalid_argument);
}

namespace {

// [doc:row_ends]
// Square maps of one image and 8 channels, one filter, stride 1.
struct RowEnds {
  int map, filter, padding;
  int requests;      // for input, all 8 channels and all taps
  int rows_crossed;  // of them, those whose cells lie in several rows of the map
  int sectors;       // that they touch
  int without_gaps;  // and would touch if each one's cells were neighbours
};
constexpr RowEnds kRowEnds[] = {
    {7, 3, 0, 72, 72, 360, 288},          {7, 3, 1, 144, 144, 519, 487},
    {13, 3, 0, 288, 288, 1521, 1341},     {13, 3, 1, 408, 360, 1791, 1726},
    {14, 3, 0, 360, 360, 1772, 1596},     {14, 3, 1, 480, 432, 2112, 2032},
    {28, 3, 0, 1584, 1512, 7800, 7384},   {28, 3, 1, 1776, 1680, 8376, 8208},
    {56, 3, 0, 6624, 3600, 32592, 31776}, {56, 3, 1, 7008, 2976, 31888, 30896},
};
// [/doc:row_ends]

}  // namespace

TEST_CASE("09_cuconv_two_stage: requests that cross row ends, as on the page, and as counted") {
  for (const RowEnds& known : kRowEnds) {
    const ConvLayer layer = square(known.map, known.filter, known.padding);
    INFO("map " << known.map << ", padding " << known.padding);
    const InputReads reads = input_reads(layer);
    CHECK(reads.requests == known.requests);
    CHECK(reads.rows_crossed == known.rows_crossed);
    CHECK(reads.images_crossed == 0);
    CHECK(reads.sectors == known.sectors);
    CHECK(reads.sectors_without_gaps == known.without_gaps);
  }

  const auto backend = test::counting_backend();
  const ConvLayer more[] = {
      square(7, 3, 1, 3),
      square(9, 5, 0, 2, 5),
      square(11, 1, 0, 4, 9),
      ConvLayer(
          {.N = 2, .C = 3, .H = 12, .W = 9, .K = 3, .R = 3, .S = 2, .stride_h = 2, .stride_w = 3}),
  };
  std::vector<ConvLayer> layers(std::begin(more), std::end(more));
  for (const RowEnds& known : kRowEnds) {
    if (known.map < 56) layers.push_back(square(known.map, known.filter, known.padding));
  }
  for (const ConvLayer& layer : layers) {
    INFO(conv::label(layer));
    Array input(*backend, layer.input_size());
    Array filters(*backend, layer.filters_size());
    const bool final = taps_of(layer) == 1;
    Array results(*backend, final ? layer.output_size() : chunks_of(layer).floats);
    input.write(conv::exact_input(layer, test::seed()));
    filters.write(conv::exact_filters(layer, test::seed()));

    const Chunk chunk = {0, layer.K(), 0, products_of_row(layer)};
    const Division division =
        divide(Rows::split, chunk.products, taps_of(layer) * layer.K(), kH200);
    const Observation seen = backend->run([&] {
      return scalar_products(
          {numbers_of(layer), input.data(), filters.data(), results.data(), results.data()}, chunk,
          division);
    });
    REQUIRE(seen.error.empty());
    CHECK(seen.hazards.empty());

    // The kernel's other loads are those of the filter row.
    std::uint64_t row_sectors = 0;
    for (int k = 0; k < layer.K(); ++k) {
      for (int tap = 0; tap < taps_of(layer); ++tap) {
        Tally row;
        row.load(strided(k * layer.C() * taps_of(layer) + tap, layer.C(), taps_of(layer)));
        row_sectors += row.counters().global_load_sectors;
      }
    }
    const std::uint64_t blocks = std::uint64_t(layer.K()) * taps_of(layer) * division.blocks;
    const InputReads reads = input_reads(layer);
    CHECK(seen.cost.global_load_requests == blocks + reads.requests);
    CHECK(seen.cost.global_load_sectors == row_sectors * division.blocks + reads.sectors);
  }
}

TEST_CASE("09_cuconv_two_stage: crossings, counted product by product", "[all]") {
  std::mt19937_64 random(test::seed());
  for (int i = 0; i < 60; ++i) {
    const auto up_to = [&](int most) { return 1 + static_cast<int>(random() % most); };
    conv::LayerShape shape = {.N = up_to(4),
                              .C = up_to(3),
                              .H = up_to(12),
                              .W = up_to(40),
                              .K = up_to(3),
                              .R = up_to(3),
                              .S = up_to(4)};
    shape.stride_h = up_to(2);
    shape.stride_w = up_to(2);
    shape.padding_h = up_to(4) - 1;
    shape.padding_w = up_to(4) - 1;
    if (shape.H + 2 * shape.padding_h < shape.R || shape.W + 2 * shape.padding_w < shape.S)
      continue;
    const ConvLayer layer(shape);
    INFO(conv::label(layer));
    // One block a row: its warps are 32 products each, from the first on.
    std::int64_t requests = 0;
    std::int64_t rows_crossed = 0;
    std::int64_t images_crossed = 0;
    for (int r = 0; r < layer.R(); ++r) {
      for (int s = 0; s < layer.S(); ++s) {
        std::vector<std::set<std::pair<int, int>>> rows(products_of_row(layer) / 32 + 1);
        std::vector<std::set<int>> images(rows.size());
        int m = 0;
        for (int n = 0; n < layer.N(); ++n) {
          for (int p = 0; p < layer.P(); ++p) {
            for (int q = 0; q < layer.Q(); ++q, ++m) {
              const int y = p * layer.stride_h() - layer.padding_h() + r;
              const int x = q * layer.stride_w() - layer.padding_w() + s;
              if (y < 0 || y >= layer.H() || x < 0 || x >= layer.W()) continue;
              rows[m / 32].insert({n, y});
              images[m / 32].insert(n);
            }
          }
        }
        for (std::size_t warp = 0; warp < rows.size(); ++warp) {
          requests += !rows[warp].empty();
          rows_crossed += rows[warp].size() > 1;
          images_crossed += images[warp].size() > 1;
        }
      }
    }
    const InputReads reads = input_reads(layer);
    const std::int64_t each = std::int64_t{layer.C()} * layer.K();
    CHECK(reads.requests == requests * each);
    CHECK(reads.rows_crossed == rows_crossed * each);
    CHECK(reads.images_crossed == images_crossed * each);
  }
}

TEST_CASE("09_cuconv_two_stage: with stride 1 and maps of the input's size, row ends cost nothing",
          "[all]") {
  // A lane's address is the number of its product plus a constant, so a warp of one image never
  // touches more than the 5 sectors that 32 neighbours may.
  for (const data::NamedLayer& row : data::paper_layer_table("cuconv")) {
    if (row.layer.H() > 56) continue;  // seconds
    const InputReads reads = input_reads(row.layer);
    INFO(row.name);
    CHECK(reads.requests > 0);
    CHECK(reads.sectors <= 5 * reads.requests);
    CHECK(reads.images_crossed == 0);
  }
  // Not even a width of seven warps makes every request 4 sectors: where a tap looks one cell to a
  // side, six warps of seven begin one cell off. (4 + 2 * (4 + 6 * 5) / 7) / 3 on average.
  const InputReads wide = input_reads(square(224, 3, 1));
  CHECK(wide.rows_crossed == 0);
  CHECK(wide.sectors * 21 == wide.requests * 96);
  // It is not so without padding: 32 outputs of a 7x7 map and their gaps of 2 are 40 cells.
  CHECK(input_reads(square(7, 3, 0, 2)).sectors > 5 * input_reads(square(7, 3, 0, 2)).requests);
}
