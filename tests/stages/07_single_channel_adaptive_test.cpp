#include "stages/07_single_channel_adaptive.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

#include "common/conv/layer_inputs.hpp"
#include "common/gpus/present_gpu.hpp"
#include "stages/07_single_channel_adaptive/adaptive.hpp"
#include "stages/07_single_channel_adaptive/costs.hpp"
#include "stages/07_single_channel_adaptive/measure/kernels.hpp"
#include "stages/07_single_channel_adaptive/measure/measure.hpp"
#include "tests/catch.hpp"
#include "tests/gpus/small_gpu.hpp"
#include "tests/stages/stage.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;
using namespace halo::single_channel_adaptive;
using conv::ConvLayer;
using halo::test::contains;
using halo::test::message_of;
using halo::test::small_gpu;

namespace {

ConvLayer same(std::int64_t N, std::int64_t H, std::int64_t W, std::int64_t K, std::int64_t R) {
  return ConvLayer({.N = N,
                    .H = H,
                    .W = W,
                    .K = K,
                    .R = R,
                    .S = R,
                    .padding_h = (R - 1) / 2,
                    .padding_w = (R - 1) / 2});
}

// A file of this text, gone with the object.
class JsonFile {
 public:
  explicit JsonFile(const std::string& text)
      : path_((std::filesystem::temp_directory_path() / "halo-test-XXXXXX.json").string()) {
    const int descriptor = mkstemps(path_.data(), 5);
    REQUIRE(descriptor >= 0);
    close(descriptor);
    std::ofstream(path_) << text;
  }
  ~JsonFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Runs the plan on the backend: every output right, no hazard, and the traffic as predicted.
void check_launch(Backend& backend, const ConvLayer& layer, const Plan& plan) {
  const LayerNumbers numbers = numbers_of(layer);
  const Division division = divide(plan, layer);
  INFO(explain(plan));
  INFO(conv::label(layer) << ": " << division.blocks() << " blocks, " << strips(division)
                          << " strips, " << groups(division) << " groups");
  CHECK(4 * division.shared_floats(numbers) <= plan.shared_bytes / kBlocksPerSm);

  const std::vector<float> in = conv::exact_input(layer, test::seed());
  const std::vector<float> filters = conv::exact_filters(layer, test::seed());
  Array device_in(backend, in.size());
  Array device_filters(backend, filters.size());
  Array device_out(backend, static_cast<std::size_t>(layer.output_size()));
  device_in.write(in);
  device_filters.write(filters);
  device_out.poison();
  const Observation seen = backend.run([&]() -> int {
    return adaptive({numbers, device_in.data(), device_filters.data(), device_out.data(), nullptr},
                    plan, division);
  });
  CHECK(seen.error.empty());
  for (const Hazard& hazard : seen.hazards) {
    FAIL_CHECK(hazard.file << ":" << hazard.line << ": " << hazard.message);
  }
  std::vector<float> out(static_cast<std::size_t>(layer.output_size()));
  device_out.read(out);
  CHECK(conv::check(layer, in, filters, out, conv::Demand::exact).passed());
  CHECK(device_out.stray_write("output") == "");
  if (!backend.observes()) return;
  CHECK(seen.kernels == 1);
  const auto predicted = backend.by_name(predict(numbers, plan.method, division));
  const auto counted = backend.by_name(seen.cost);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    INFO(counted[i].first);
    CHECK(predicted[i].second == counted[i].second);
  }
}

}  // namespace

TEST_CASE("07_single_channel_adaptive: every layer is right, without hazards") {
  test::require_trials_of_all_lines(stage());
}

TEST_CASE("07_single_channel_adaptive: traffic is as predicted") {
  test::require_traffic(test::own(stage()),
                        {same(1, 28, 28, 64, 3), same(1, 28, 28, 16, 5), same(2, 56, 56, 3, 1),
                         same(1, 100, 300, 2, 3), same(1, 9, 13, 300, 3), same(3, 7, 7, 20, 7)});
}

TEST_CASE("07_single_channel_adaptive: the plan of every GPU runs, and both methods do", "[all]") {
  const auto backend = test::usable_backend();
  for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
    for (const ConvLayer& layer :
         {same(1, 28, 28, 40, 1), same(1, 28, 28, 33, 3), same(2, 14, 15, 150, 5),
          same(1, 150, 9, 3, 3), same(1, 1, 1, 1, 1), same(1, 1, 40, 70, 3),
          ConvLayer({.N = 2, .H = 11, .W = 13, .K = 6, .R = 3, .S = 3}),
          ConvLayer({.H = 5, .W = 6, .K = 9, .R = 3, .S = 3, .padding_h = 4, .padding_w = 5}),
          ConvLayer({.H = 12, .W = 10, .K = 5, .R = 4, .S = 4, .padding_h = 2, .padding_w = 1})}) {
      for (const auto& only : {std::optional<Method>(), std::optional(Method::filters_over_sms),
                               std::optional(Method::map_over_sms)}) {
        check_launch(*backend, layer, plan(gpu, problem_of(layer), {.only = only}));
      }
    }
  }
}

TEST_CASE("07_single_channel_adaptive: shares that had to be divided again run as well", "[all]") {
  const auto backend = test::usable_backend();
  std::mt19937 random(static_cast<std::mt19937::result_type>(test::seed()));
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  // 8 filters of 7x7 for an SM are more than its 200 floats, whatever becomes of the map's 7 rows.
  gpus::GpuFigures tight = small_gpu();
  tight.latency_cycles = 5000;
  tight.shared_per_block = 400;
  tight.shared_per_sm = 800;
  const ConvLayer large_filters = same(1, 7, 4, 32, 7);
  const Plan cut_filters =
      plan(tight, problem_of(large_filters), {.only = Method::filters_over_sms});
  CHECK(cut_filters.share_pieces == 3);
  check_launch(*backend, large_filters, cut_filters);

  int again = 0;
  int cut_rows = 0;
  int more_pieces = 0;  // than planned, since two blocks hold some of it twice
  int refused = 0;
  for (int i = 0; i < 120; ++i) {
    gpus::GpuFigures gpu = small_gpu();
    gpu.sms = draw(1, 6);
    gpu.latency_cycles = draw(1, 3000);
    gpu.shared_per_block = draw(60, 400);
    gpu.shared_per_sm = 2 * gpu.shared_per_block;
    const int size = draw(1, 5);
    const int padding = draw(0, size);
    const ConvLayer layer({.N = draw(1, 2),
                           .H = draw(5, 30),
                           .W = draw(5, 12),
                           .K = draw(1, 20),
                           .R = size,
                           .S = size,
                           .padding_h = padding,
                           .padding_w = draw(0, 2)});
    const auto only = draw(0, 1) == 0 ? Method::filters_over_sms : Method::map_over_sms;
    try {
      const Plan found = plan(gpu, problem_of(layer), {.only = only});
      const Division division = divide(found, layer);
      again += found.decision == Decision::divided_again;
      cut_rows += only == Method::map_over_sms && found.share_pieces > 1;
      more_pieces += strips(division) * groups(division) > found.piece.pieces;
      check_launch(*backend, layer, found);
    } catch (const std::invalid_argument&) {
      ++refused;
    }
  }
  CHECK(again > 0);
  CHECK(cut_rows > 0);
  CHECK(more_pieces > 0);
  CHECK(refused < 60);
}

TEST_CASE("07_single_channel_adaptive: two blocks share an SM's work, by hand") {
  // 12 rows, 6 filters on 4 SMs: 2 filters an SM, on 3 of them. Halving the rows, a block needs (3 +
  // 2) x 8 cells of a strip of 3 rows and 18 taps, 58 floats; halving the filters, 8 x 8 and 9, 73.
  const ConvLayer layer = same(1, 12, 8, 6, 3);
  const Plan found = plan(small_gpu(), problem_of(layer));
  CHECK(found.method == Method::filters_over_sms);
  CHECK(found.P == 2);
  const Division division = divide(found, layer);
  CHECK(division.shares == 3);
  CHECK(division.row_parts() == 2);
  CHECK(division.filter_parts() == 1);
  CHECK(division.blocks() == 6);
  CHECK(division.sm_filters == 2);
  CHECK(division.block_rows == 6);
  CHECK(division.block_filters == 2);
  CHECK(division.rows == 3);
  CHECK(strips(division) == 2);
  CHECK(division.cells(numbers_of(layer)) == 40);
  CHECK(division.shared_floats(numbers_of(layer)) == 58);

  // With 57 floats for a block, two strips no longer do, though D1 is still 328 of 456 bytes.
  gpus::GpuFigures gpu = small_gpu();
  gpu.shared_per_sm = 456;
  const Plan tighter = plan(gpu, problem_of(layer));
  CHECK(tighter.P == 2);
  CHECK(strips(divide(tighter, layer)) == 3);

  // The traffic of the first, by hand. 6 blocks; each loads twice: the upper strip of a block of the
  // upper half has 4 rows (one of its 5 does not exist), the lower one 5; the other way round in the
  // lower half. Warps of 32 cells: 1 + 2, and 1 for 18 taps.
  const simt::Counters counters = predict(numbers_of(layer), found.method, division);
  CHECK(counters.global_load_requests == 6 * (1 + 2 + 1));
  CHECK(counters.barriers == 6 * 3);
  // 24 pixels, one warp; it stores once for each filter of each strip, 24 cells from a multiple of
  // 8 on.
  CHECK(counters.global_store_requests == 6 * 2 * 2);
  CHECK(counters.global_store_sectors == 6 * 2 * 2 * 3);
  // 2 filters of 9 taps, by 2 warps; each of the two reads the 9 cells of its windows.
  CHECK(counters.shared_load_requests == 6 * 2 * (2 * 9 + 2 * 9));
}

TEST_CASE("07_single_channel_adaptive: adaptive is the method that the planner chooses") {
  const auto backend = test::usable_backend();
  const Conv2dStage stage = single_channel_adaptive::stage();
  const Conv2dVariant& adaptive = stage.variants.at(3);
  REQUIRE(adaptive.name == "adaptive");
  int chosen[2] = {};
  for (const ConvLayer& layer : {same(1, 28, 28, 512, 3), same(1, 512, 512, 64, 3),
                                 same(1, 64, 64, 256, 5), same(1, 1024, 1024, 32, 1)}) {
    const Plan found = plan(gpus::present_gpu(), problem_of(layer));
    const std::string name =
        found.method == Method::filters_over_sms ? "filters_over_sms" : "map_over_sms";
    ++chosen[found.method == Method::map_over_sms];
    CHECK(adaptive.prepared(layer).runs_as() == name);
    for (const Conv2dVariant& variant : stage.variants) {
      if (variant.name != name) continue;
      CHECK(adaptive.prepared(layer).detail() == variant.prepared(layer).detail());
      if (!backend->observes()) continue;
      CHECK(adaptive.prepared(layer).cost() == variant.prepared(layer).cost());
    }
    const std::string text = stage.plan(layer, "");
    CHECK_THAT(text, contains(explain(found)));
    CHECK_THAT(text, contains(explain(gpus::present_gpu())));
    CHECK_THAT(text, contains(adaptive.prepared(layer).detail()));
  }
  // The layers above are chosen so that both occur, on most GPUs.
  if (gpus::present_gpu().key == "h200") {
    CHECK(chosen[0] > 0);
    CHECK(chosen[1] > 0);
  }
  for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
    CHECK_THAT(stage.plan(same(1, 28, 28, 512, 3), gpu.key), contains(gpu.name + ": map 28 x 28"));
  }
  CHECK_THAT(message_of([&] { stage.plan(same(1, 28, 28, 512, 3), "gtx9999"); }),
             contains("'gtx9999': there are gtx1080ti"));
}

TEST_CASE("07_single_channel_adaptive: what can't be done is refused in words") {
  test::usable_backend();
  const auto refusals = [](const ConvLayer& layer) {
    std::vector<std::string> reasons;
    for (const Conv2dVariant& variant : stage().variants)
      reasons.push_back(refusal(variant, layer));
    return reasons;
  };
  for (const std::string& reason : refusals(same(1, 28, 28, 8, 3))) CHECK(reason == "");
  for (const std::string& reason : refusals(ConvLayer({.C = 2, .H = 9, .W = 9, .R = 3, .S = 3}))) {
    CHECK(reason == "it is made for one channel");
  }
  const auto strided = refusals(ConvLayer({.H = 9, .W = 9, .R = 3, .S = 3, .stride_h = 2}));
  for (int i = 0; i < 4; ++i) CHECK(strided[i] == "it is made for stride 1");
  CHECK(strided[4] == "");
  const auto oblong = refusals(ConvLayer({.H = 9, .W = 9, .R = 3, .S = 5}));
  CHECK(oblong[0] == "");
  const std::string windows = "the window of a thread has 1 x 1, 3 x 3 or 5 x 5 cells";
  CHECK(oblong[4] == windows);
  CHECK(refusals(ConvLayer({.H = 9, .W = 9, .R = 2, .S = 2}))[4] == windows);
  for (int i = 1; i < 4; ++i) CHECK(oblong[i] == "the planner's formulas are for square filters");
  const auto wide = refusals(same(1, 4, 1'000'000, 1, 3));
  CHECK(wide[0] == "48 KB of shared memory don't hold 3 rows of 1000000 cells and 16 filters");
  for (int i = 1; i < 4; ++i) CHECK_THAT(wide[i], contains("do not fit on an SM"));
  CHECK(wide[4] == "");
  CHECK(refusals(ConvLayer({.N = 65'536, .H = 3, .W = 3, .R = 3, .S = 3}))[4] ==
        "a grid has at most 65,535 images times groups of filters");
  CHECK(refusals(ConvLayer({.H = 2'000'000, .W = 3, .R = 3, .S = 3, .padding_w = 1}))[4] == "");
  CHECK(refusals(ConvLayer({.H = 200'000'000, .W = 3, .R = 3, .S = 3, .padding_w = 1}))[4] ==
        "a grid has at most 65,535 tiles, one below the other");
  // On an SM, but not in one of its blocks: a row of 49,152 bytes and 4 more for a tap.
  const gpus::GpuFigures& pascal = gpus::built_in_gpu("gtx1080ti");
  const ConvLayer row = same(1, 4, 12'288, 1, 1);
  CHECK_THAT(message_of([&] { divide(plan(pascal, problem_of(row)), row); }),
             contains("can't hold 1 rows of 12288 cells and a filter"));
}

TEST_CASE("07_single_channel_adaptive: the micro-benchmarks read what they should") {
  const auto backend = test::usable_backend();
  CHECK(measure::check(*backend, test::seed()) == std::vector<std::string>{});
  // Every segment has a place of its own, and neighbours are not near each other.
  for (const int bits : {9, 10, 15, 20}) {
    const unsigned count = 1u << bits;
    std::vector<int> visits(count);
    unsigned near = 0;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned place = measure::scattered_place(i, bits);
      REQUIRE(place < count);
      ++visits[place];
      near += i > 0 && place - measure::scattered_place(i - 1, bits) + 4 <= 8;
    }
    CHECK(std::count(visits.begin(), visits.end(), 1) == count);
    CHECK(near < count / 16);
  }
}

TEST_CASE("07_single_channel_adaptive: measured figures make a plan") {
  test::usable_backend();
  const JsonFile file(R"({"figures": {"name": "Some GPU", "sms": 28,
      "cores_per_sm": 128, "latency_cycles": 258, "bandwidth_gb_s": 484, "clock_mhz": 1480,
      "shared_per_sm": 98304, "shared_per_block": 49152, "shared_reserved_per_block": 0,
      "registers_per_sm": 65536, "threads_per_sm": 2048}})");
  const std::string text = stage().plan(same(1, 28, 28, 512, 3), file.path());
  CHECK_THAT(text, contains("Some GPU as measured: map 28 x 28"));
  CHECK_THAT(text, contains("= 86,016\n"));
  CHECK_THROWS_WITH(stage().plan(same(1, 28, 28, 512, 3), "/none/of.json"),
                    contains("cannot read '/none/of.json': there is no such file"));
  const JsonFile other("{}");
  CHECK_THAT(message_of([&] { stage().plan(same(1, 28, 28, 512, 3), other.path()); }),
             contains("not a file that --measure wrote"));
}

TEST_CASE("filters over SMs are tried with the next strip and the next filters at once",
          "[all][07_single_channel_adaptive]") {
  const auto backend = test::usable_backend();
  const TinyGpu tiny(*backend);
  if (!tiny.is_there()) test::skip("no tiny GPU here");
  const auto here = stage();
  const auto& variant = test::variant_of(here, "filters_over_sms");
  int both = 0;
  for (const Trial<ConvLayer>& trial : trials(variant, test::seed())) {
    if (trial.on != TrialOn::tiny_gpu || !refusal(variant, trial.problem).empty()) continue;
    const Plan plan = single_channel_adaptive::plan(gpus::present_gpu(), problem_of(trial.problem),
                                                    {.only = Method::filters_over_sms});
    const Division division = divide(plan, trial.problem);
    both += strips(division) > 1 && groups(division) > 1;
  }
  CHECK(both > 0);
}
