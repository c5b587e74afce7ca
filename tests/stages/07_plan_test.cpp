// Stage 07's planner: the paper's own numbers, cases computed by hand, and the properties that
// every plan must have, against a search that tries every divisor.
#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/data/layer_table.hpp"
#include "stages/07_single_channel_adaptive/plan.hpp"
#include "tests/catch.hpp"
#include "tests/gpus/small_gpu.hpp"

using namespace halo;
using namespace halo::single_channel_adaptive;
using halo::conv::ConvLayer;
using halo::test::Approx;
using halo::test::contains;

using halo::test::message_of;
using halo::test::small_gpu;

namespace {

std::vector<Problem> paper_grid() {
  std::vector<Problem> problems;
  for (const auto& named : halo::data::paper_layer_table("chang_onishi_single")) {
    problems.push_back(problem_of(named.layer));
  }
  return problems;
}

std::int64_t up(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

// D and F as the formulas say, in whole numbers; no code shared with the planner.
struct Counted {
  std::int64_t bytes;
  std::int64_t fma;
};

Counted counted(const Problem& p, std::int64_t rows, std::int64_t filters) {
  return {4 * (p.Wx * (rows + p.K - 1) + p.K * p.K * filters), p.K * p.K * filters * p.Wx * rows};
}

Counted with_divisor(const gpus::GpuFigures& gpu, const Problem& p, Method method,
                     std::int64_t divisor) {
  return method == Method::filters_over_sms ? counted(p, up(p.Wy, divisor), up(p.M, gpu.sms))
                                            : counted(p, up(p.Wy, gpu.sms), up(p.M, divisor));
}

// Tries every divisor.
struct Searched {
  std::int64_t first_in_range = 0;  // 0: none
  std::int64_t first_that_fits = 0;
  std::int64_t last_that_feeds = 0;
};

Searched search(const Plan& plan, Method method) {
  Searched found;
  const std::int64_t most = method == Method::filters_over_sms ? plan.problem.Wy : plan.problem.M;
  for (std::int64_t divisor = 1; divisor <= most; ++divisor) {
    const Counted piece = with_divisor(plan.gpu, plan.problem, method, divisor);
    const bool fits =
        piece.bytes <= plan.shared_bytes &&
        (divisor == 1 || !plan.options.prefetch_in_registers || piece.bytes <= plan.register_bytes);
    const bool feeds = piece.fma >= plan.n_fma;
    if (fits && found.first_that_fits == 0) found.first_that_fits = divisor;
    if (feeds) found.last_that_feeds = divisor;
    if (fits && feeds && found.first_in_range == 0) found.first_in_range = divisor;
  }
  return found;
}

void check_candidate(const Plan& plan, const Candidate& candidate) {
  const Searched searched = search(plan, candidate.method);
  CHECK(candidate.highest == searched.last_that_feeds);
  CHECK(candidate.lowest == searched.first_that_fits);
  CHECK(candidate.in_range == (searched.first_in_range != 0));
  CHECK(candidate.divisor == std::max<std::int64_t>(searched.first_in_range, 1));
  const Counted piece = with_divisor(plan.gpu, plan.problem, candidate.method, candidate.divisor);
  CHECK(candidate.piece.bytes == piece.bytes);
  CHECK(candidate.piece.fma == piece.fma);
}

// What must hold of every plan with rounded quotients.
void check_plan(const Plan& plan) {
  const Problem& p = plan.problem;
  INFO(explain(plan));
  check_candidate(plan, plan.filters_over_sms);
  check_candidate(plan, plan.map_over_sms);

  const std::int64_t D1 = plan.filters_over_sms.piece.bytes;
  const std::int64_t D2 = plan.map_over_sms.piece.bytes;
  CHECK(plan.method == (D1 < D2 ? Method::filters_over_sms : Method::map_over_sms));
  const Candidate& chosen = plan.chosen();
  CHECK(chosen.method == plan.method);
  CHECK(chosen.piece.bytes == std::min(D1, D2));

  const bool first = plan.method == Method::filters_over_sms;
  CHECK((first ? plan.Q : plan.P) == 1);
  const std::int64_t divisor = first ? plan.P : plan.Q;
  CHECK(plan.piece.bytes <= plan.shared_bytes);
  switch (plan.decision) {
    case Decision::smallest_in_range:
      CHECK(divisor == chosen.divisor);
      CHECK(divisor >= chosen.lowest);
      CHECK(divisor <= chosen.highest);
      CHECK(plan.share_pieces == 1);
      CHECK(plan.piece == chosen.piece);
      break;
    case Decision::set_to_one:
      CHECK_FALSE(chosen.in_range);
      CHECK(divisor == 1);
      CHECK(plan.share_pieces == 1);
      CHECK(plan.piece == chosen.piece);
      break;
    case Decision::divided_again:
      CHECK_FALSE(chosen.in_range);
      CHECK(chosen.piece.bytes > plan.shared_bytes);
      CHECK(plan.piece.pieces > 1);
      if (plan.options.prefetch_in_registers) CHECK(plan.piece.bytes <= plan.register_bytes);
      if (plan.share_pieces == 1) CHECK(divisor == chosen.lowest);
      if (plan.share_pieces > 1) {
        CHECK(chosen.lowest == 0);
        // One piece fewer would not do.
        const std::int64_t share = up(up(first ? p.M : p.Wy, plan.gpu.sms), plan.share_pieces - 1);
        const Counted larger =
            first ? counted(p, plan.piece.rows, share) : counted(p, share, plan.piece.filters);
        const bool fits =
            larger.bytes <= plan.shared_bytes &&
            (!plan.options.prefetch_in_registers || larger.bytes <= plan.register_bytes);
        CHECK_FALSE(fits);
      }
      break;
  }

  // The pieces cover the work, and the largest is as counted.
  const std::int64_t strips = first ? plan.P : plan.share_pieces;
  const std::int64_t groups = first ? plan.share_pieces : plan.Q;
  CHECK(plan.piece.pieces == strips * groups);
  CHECK(plan.piece.rows * strips * (first ? 1 : plan.piece.sms) >= p.Wy);
  CHECK(plan.piece.filters * groups * (first ? plan.piece.sms : 1) >= p.M);
  CHECK(plan.piece.sms <= plan.gpu.sms);
  const Counted piece = counted(p, plan.piece.rows, plan.piece.filters);
  CHECK(plan.piece.bytes == piece.bytes);
  CHECK(plan.piece.fma == piece.fma);
  CHECK(plan.piece.in_flight == plan.piece.bytes * plan.piece.sms);

  const bool prefetch = plan.piece.pieces > 1 && plan.piece.fma >= plan.n_fma;
  const bool volume = plan.piece.in_flight >= plan.volume.whole_bytes;
  CHECK(plan.hiding == (prefetch ? Hiding::prefetch : volume ? Hiding::volume : Hiding::neither));
}

}  // namespace

TEST_CASE("the paper's Table 1 comes out of its GPU's figures") {
  const gpus::GpuFigures& gpu = gpus::built_in_gpu("gtx1080ti");
  CHECK(gpu.latency_cycles == 258);
  CHECK(gpu.bandwidth_gb_s == 484);
  CHECK(gpu.clock_mhz == 1480);
  CHECK(gpu.sms == 28);
  CHECK(bytes_per_cycle(gpu) == 327);
  const VolumeToHideLatency volume = volume_to_hide_latency(gpu);
  CHECK(volume.bytes == 84366);
  CHECK(volume.threads == 21120);
  CHECK(volume.threads_per_sm == 768);
  CHECK(volume.warps_per_sm == 24);
  CHECK(volume.bytes_per_sm == 3072);
  CHECK(volume.whole_bytes == 86016);
  CHECK(volume.words_per_sm == 754);  // 84,366 / 112 = 753.3
  CHECK(loads_per_thread(gpu) == 1);
  CHECK(gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_printed) == 66048);
  CHECK(gpus::fma_to_hide_latency(gpu, gpus::FmaCount::as_hardware) == 33024);

  const std::string text = explain(gpu);
  for (const char* number : {"258", "484", "1480", "28", "327", "84,366", "768 of 2,048", "24",
                             "3,072", "86,016", "66,048", "33,024"}) {
    CHECK_THAT(text, contains(std::string(" ") + number + "\n"));
  }
}

TEST_CASE("on an H200 one float a thread does not fill the memory's pipe") {
  const gpus::GpuFigures& gpu = gpus::built_in_gpu("h200");
  CHECK(bytes_per_cycle(gpu) == 2424);
  const VolumeToHideLatency volume = volume_to_hide_latency(gpu);
  CHECK(volume.bytes == 650 * 2424);  // 1.58 MB
  CHECK(volume.bytes / 132.0 == Approx(11.9e3).epsilon(0.005));
  CHECK(volume.words_per_sm == 2985);  // 2,984.1, rounded up
  CHECK(volume.threads_per_sm == 3008);
  CHECK(volume.threads_per_sm > gpu.threads_per_sm);
  CHECK(loads_per_thread(gpu) == 3);
  CHECK_THAT(explain(gpu), contains("3,008 of 2,048, too few"));
  CHECK_THAT(explain(plan(gpu, {28, 28, 3, 512})),
             contains("V_s takes 3 4-byte loads in flight from each thread"));
}

TEST_CASE("every built-in figure has one source, and what is inferred is marked") {
  for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
    INFO(gpu.key);
    CHECK_NOTHROW(require_usable(gpu));
    CHECK(&gpus::built_in_gpu(gpu.key) == &gpu);
    std::map<std::string, int> sources;
    for (const gpus::FigureSource& source : gpu.sources) {
      ++sources[source.figure];
      CHECK_FALSE(source.source.empty());
      const std::string text = explain(gpu);
      CHECK_THAT(text, contains(source.source + (source.inferred ? " (inferred)\n" : "\n")));
      // Of these GPUs, only the paper's own has a latency that somebody states for it.
      CHECK(source.inferred == (source.figure == "latency_cycles" && gpu.key != "gtx1080ti"));
    }
    CHECK(sources == std::map<std::string, int>{{"sms", 1},
                                                {"cores_per_sm", 1},
                                                {"latency_cycles", 1},
                                                {"bandwidth_gb_s", 1},
                                                {"clock_mhz", 1},
                                                {"shared_per_sm", 1},
                                                {"shared_per_block", 1},
                                                {"shared_reserved_per_block", 1},
                                                {"registers_per_sm", 1},
                                                {"threads_per_sm", 1}});
  }
}

TEST_CASE("1024 x 1024, 32 filters of 1x1 on a GTX 1080 Ti: nothing both fits and feeds") {
  const gpus::GpuFigures& gpu = gpus::built_in_gpu("gtx1080ti");
  const Problem problem{1024, 1024, 1, 32};

  SECTION("with the formulas as printed") {
    const Plan found = plan(gpu, problem, {.quotients = Quotients::exact});
    CHECK(found.input_bytes == 4194432);
    // 98,304 >= 4 (1024 * 1024/P + 32/28): P >= 42.67.
    CHECK(found.filters_over_sms.lowest_shared == 43);
    CHECK(found.filters_over_sms.lowest == 43);
    // 32/28 * 1024 * 1024/P >= 66,048: P <= 18.1.
    CHECK(found.filters_over_sms.highest == 18);
    CHECK_FALSE(found.filters_over_sms.in_range);
    CHECK(found.filters_over_sms.divisor == 1);
    CHECK_THAT(explain(found), contains("P <= 18\n"));
    CHECK_THAT(explain(found), contains("P >= 43\n"));
    CHECK_THAT(explain(found), contains("none in range, set to 1: P = 1"));
  }
  SECTION("with whole rows and filters") {
    const Plan found = plan(gpu, problem);
    // 24 rows of 4,096 bytes are all of the 98,304, and 2 filters come on top: 23 rows.
    CHECK(found.filters_over_sms.lowest_shared == 45);
    // 2 filters * 1024 * rows >= 66,048: 33 rows, and 1024/31 is 33.03.
    CHECK(found.filters_over_sms.highest == 31);
    CHECK_FALSE(found.filters_over_sms.in_range);
    // Nor can method 2 divide its filters until its 37 rows fit.
    CHECK(found.map_over_sms.lowest == 0);
    CHECK_FALSE(found.map_over_sms.in_range);
    CHECK(found.filters_over_sms.piece.bytes == 4 * (1024 * 1024 + 2));
    CHECK(found.map_over_sms.piece.bytes == 4 * (1024 * 37 + 32));
    // So an SM's 37 rows are cut in two.
    CHECK(found.method == Method::map_over_sms);
    CHECK(found.decision == Decision::divided_again);
    CHECK(found.P == 1);
    CHECK(found.Q == 1);
    CHECK(found.share_pieces == 2);
    CHECK(found.piece.rows == 19);
    CHECK(found.piece.bytes == 4 * (1024 * 19 + 32));
    CHECK(found.piece.in_flight == 28 * 77952);
    CHECK(found.piece.in_flight >= found.volume.whole_bytes);
    CHECK_THAT(explain(found), contains("decided by 2.2"));
    CHECK_THAT(explain(found), contains("an SM's share in 2 pieces"));
  }
  SECTION("counted as the hardware does, 45 strips feed as well") {
    const Plan found = plan(gpu, problem, {.fma = gpus::FmaCount::as_hardware});
    CHECK(found.filters_over_sms.highest == 63);  // 17 rows
    CHECK(found.method == Method::filters_over_sms);
    CHECK(found.decision == Decision::smallest_in_range);
    CHECK(found.P == 45);
    CHECK(found.hiding == Hiding::prefetch);
  }
}

TEST_CASE("method 1, by hand") {
  // 2 filters an SM. D1 = 32 (r + 2) + 72 <= 512 for r <= 11 rows; F1 = 144 r >= 40 always.
  // 3 rows an SM. D2 = 160 + 36 f, 376 for all 6 filters; F2 = 216 f >= 40 always.
  const Plan found = plan(small_gpu(), {8, 12, 3, 6});
  CHECK(found.n_fma == 40);
  CHECK(found.volume.whole_bytes == 512);
  CHECK(found.shared_bytes == 512);
  CHECK(found.filters_over_sms.lowest == 2);
  CHECK(found.filters_over_sms.highest == 12);
  CHECK(found.map_over_sms.lowest == 1);
  CHECK(found.map_over_sms.highest == 6);
  CHECK(found.map_over_sms.piece.bytes == 376);
  CHECK(found.map_over_sms.piece.fma == 1296);
  CHECK(found.method == Method::filters_over_sms);
  CHECK(found.decision == Decision::smallest_in_range);
  CHECK(found.P == 2);
  CHECK(found.Q == 1);
  CHECK(found.piece == Piece{.rows = 6,
                             .filters = 2,
                             .pieces = 2,
                             .sms = 3,
                             .bytes = 328,
                             .fma = 864,
                             .in_flight = 984});
  CHECK(found.hiding == Hiding::prefetch);
  CHECK(found.threads_per_block == 512);
  CHECK(found.blocks_per_sm == 2);
  check_plan(found);
}

TEST_CASE("method 2, by hand") {
  // 10 filters an SM. D1 = 16 r + 392 <= 512 for r <= 7 rows: 2 strips of 4 rows, 456 bytes.
  // 2 rows an SM. D2 = 64 + 36 f <= 512 for f <= 12 filters: 4 groups of 10, 424 bytes.
  const Plan found = plan(small_gpu(), {4, 8, 3, 40});
  CHECK(found.filters_over_sms.divisor == 2);
  CHECK(found.filters_over_sms.piece.bytes == 456);
  CHECK(found.filters_over_sms.piece.fma == 1440);
  CHECK(found.map_over_sms.lowest == 4);
  CHECK(found.map_over_sms.highest == 40);
  CHECK(found.method == Method::map_over_sms);
  CHECK(found.P == 1);
  CHECK(found.Q == 4);
  CHECK(found.piece == Piece{.rows = 2,
                             .filters = 10,
                             .pieces = 4,
                             .sms = 4,
                             .bytes = 424,
                             .fma = 720,
                             .in_flight = 1696});
  CHECK(found.hiding == Hiding::prefetch);
  check_plan(found);
}

TEST_CASE("where no divisor feeds, it is 1, by hand") {
  // 1 filter an SM: F1 = 4 r <= 16 of 40. 1 row an SM: F2 = 4 f <= 8.
  const Plan found = plan(small_gpu(), {4, 4, 1, 2});
  CHECK(found.filters_over_sms.highest == 0);
  CHECK(found.filters_over_sms.piece.bytes == 68);
  CHECK(found.map_over_sms.highest == 0);
  CHECK(found.map_over_sms.piece.bytes == 24);
  CHECK(found.method == Method::map_over_sms);
  CHECK(found.decision == Decision::set_to_one);
  CHECK(found.P == 1);
  CHECK(found.Q == 1);
  CHECK(found.piece.in_flight == 96);
  CHECK(found.hiding == Hiding::neither);
  CHECK_THAT(explain(found), contains("latency shows: FMAs of a piece < N_FMA"));
  check_plan(found);

  // A longer map starves the cores as well (F2 = 4 * 7, 4 * 8), but from 32 rows on enough bytes
  // fly: 4 SMs * 4 (4 * 7 + 1) < 512 <= 4 SMs * 4 (4 * 8 + 1).
  const Plan shorter = plan(small_gpu(), {4, 28, 1, 1});
  CHECK(shorter.method == Method::map_over_sms);
  CHECK(shorter.piece.in_flight == 464);
  CHECK(shorter.hiding == Hiding::neither);
  const Plan longer = plan(small_gpu(), {4, 32, 1, 1});
  CHECK(longer.method == Method::map_over_sms);
  CHECK(longer.decision == Decision::set_to_one);
  CHECK(longer.piece.fma == 32);
  CHECK(longer.piece.in_flight == 528);
  CHECK(longer.hiding == Hiding::volume);
}

TEST_CASE("where 1 does not fit it is divided again, by hand") {
  // As method 2 above, with N_FMA = 2,000: F1 = 360 r feeds with 6 rows or more, so undivided (520
  // bytes, too many); F2 = 72 f with 28 filters or more, so undivided (1,504 bytes).
  gpus::GpuFigures gpu = small_gpu();
  gpu.latency_cycles = 500;
  const Problem problem{4, 8, 3, 40};
  const Plan found = plan(gpu, problem);
  CHECK(found.filters_over_sms.highest == 1);
  CHECK(found.filters_over_sms.lowest == 2);
  CHECK(found.filters_over_sms.piece.bytes == 520);
  CHECK(found.map_over_sms.highest == 1);
  CHECK(found.map_over_sms.lowest == 4);
  CHECK(found.map_over_sms.piece.bytes == 1504);
  CHECK(found.method == Method::filters_over_sms);
  CHECK(found.decision == Decision::divided_again);
  CHECK(found.P == 2);
  CHECK(found.share_pieces == 1);
  CHECK(found.piece.bytes == 456);
  CHECK(found.piece.in_flight == 1824);
  CHECK(found.volume.whole_bytes == 4096);
  CHECK(found.hiding == Hiding::neither);
  check_plan(found);

  gpu.bandwidth_gb_s = 1;  // 500 bytes, 512 in whole warps
  const Plan slow_memory = plan(gpu, problem);
  CHECK(slow_memory.P == 2);
  CHECK(slow_memory.hiding == Hiding::volume);
  check_plan(slow_memory);

  // Filters that no number of strips makes room for: the 8 of 7x7 of an SM are 1,568 bytes. One at
  // a time is 196, beside 7 rows and 6 halo rows of 4, 208 bytes; two would make 600.
  gpu.latency_cycles = 5000;  // N_FMA = 20,000, and F1 = 10,976, F2 = 12,544 undivided
  const Plan large_filters = plan(gpu, {4, 7, 7, 32});
  CHECK(large_filters.filters_over_sms.lowest == 0);
  CHECK(large_filters.filters_over_sms.piece.bytes == 1776);
  CHECK(large_filters.map_over_sms.piece.bytes == 6400);
  CHECK(large_filters.method == Method::filters_over_sms);
  CHECK(large_filters.decision == Decision::divided_again);
  CHECK(large_filters.P == 1);
  CHECK(large_filters.share_pieces == 8);
  CHECK(large_filters.piece.rows == 7);
  CHECK(large_filters.piece.filters == 1);
  CHECK(large_filters.piece.bytes == 404);
  check_plan(large_filters);
}

TEST_CASE("registers bound a piece that must be prefetched, and no other") {
  gpus::GpuFigures gpu = gpus::built_in_gpu("gtx1080ti");
  gpu.registers_per_sm = 54 * 1024;
  // 54 registers, of which 40 are taken: 14 x 1,024 threads x 4 bytes.
  // D1 = 896 r + 1,900: 107 rows fit the shared memory, 61 the registers.
  const Problem problem{224, 224, 3, 64};
  const Plan found = plan(gpu, problem);
  CHECK(found.register_bytes == 57344);
  CHECK(found.filters_over_sms.lowest_shared == 3);
  CHECK(found.filters_over_sms.lowest_registers == 4);
  CHECK(found.filters_over_sms.divisor == 4);
  const Plan direct = plan(gpu, problem, {.prefetch_in_registers = false});
  CHECK(direct.filters_over_sms.divisor == 3);
  CHECK(direct.register_bytes == 0);
  // 3 rows fewer than 107: undivided, nothing waits in registers.
  const Plan undivided = plan(gpu, {224, 104, 3, 64});
  CHECK(undivided.filters_over_sms.lowest_registers == 2);
  CHECK(undivided.filters_over_sms.lowest == 1);
  CHECK(undivided.filters_over_sms.piece.bytes > undivided.register_bytes);
  check_plan(found);
  check_plan(direct);
  check_plan(undivided);
}

TEST_CASE("every plan of the paper's grid respects its bounds, on every built-in GPU") {
  const std::vector<Problem> grid = paper_grid();
  REQUIRE(grid.size() == 27);
  for (const gpus::GpuFigures& gpu : gpus::built_in_gpus()) {
    for (const Problem& problem : grid) {
      const Plan printed = plan(gpu, problem);
      const Plan hardware = plan(gpu, problem, {.fma = gpus::FmaCount::as_hardware});
      CHECK(printed.n_fma == 2 * hardware.n_fma);
      check_plan(printed);
      check_plan(hardware);
      // Half the operations to find: a divisor in range stays in range.
      CHECK((!printed.filters_over_sms.in_range || hardware.filters_over_sms.in_range));
      CHECK((!printed.map_over_sms.in_range || hardware.map_over_sms.in_range));
    }
  }
}

TEST_CASE("every plan of random problems and GPUs respects its bounds") {
  std::mt19937 random(halo::test::seed());
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  std::map<Decision, int> decisions;
  int cut_shares = 0;
  int refused = 0;
  for (int i = 0; i < 2000; ++i) {
    gpus::GpuFigures gpu = small_gpu();
    gpu.sms = draw(1, 40);
    gpu.cores_per_sm = draw(1, 16);
    gpu.latency_cycles = draw(1, 300);
    gpu.bandwidth_gb_s = draw(1, 50);
    gpu.shared_per_sm = 2 * draw(100, 2000);
    gpu.shared_per_block = draw(100, 2000);
    gpu.shared_reserved_per_block = draw(0, 40);
    Problem problem{draw(1, 40), draw(1, 60), draw(1, 7), draw(1, 90)};
    if (draw(0, 1) == 0) {
      // More shared memory than the registers can prefetch, 40 to 64 KB, and wide maps to fill it.
      gpu.registers_per_sm = 54 * 1024;
      gpu.shared_per_sm = 2 * draw(10000, 60000);
      gpu.shared_per_block = gpu.shared_per_sm / 2;
      problem.Wx = draw(1, 3000);
    }
    PlanOptions options;
    options.fma = draw(0, 1) == 0 ? gpus::FmaCount::as_printed : gpus::FmaCount::as_hardware;
    options.prefetch_in_registers = draw(0, 1) == 0;
    try {
      const Plan found = plan(gpu, problem, options);
      check_plan(found);
      ++decisions[found.decision];
      cut_shares += found.share_pieces > 1;
    } catch (const std::invalid_argument&) {
      // Only if really nothing fits.
      ++refused;
      const std::int64_t block =
          std::min(gpu.shared_per_block, gpu.shared_per_sm / 2 - gpu.shared_reserved_per_block);
      // 40 for the work, and never more than 24 to prefetch into.
      const std::int64_t registers = std::min(24, gpu.registers_per_sm / 1024 - 40);
      CHECK(
          counted(problem, 1, 1).bytes >
          (options.prefetch_in_registers ? std::min(2 * block, 4 * 1024 * registers) : 2 * block));
    }
  }
  // All roads were taken, so the properties above were checked on each.
  CHECK(decisions[Decision::smallest_in_range] > 0);
  CHECK(decisions[Decision::set_to_one] > 0);
  CHECK(decisions[Decision::divided_again] > 0);
  CHECK(cut_shares > 0);
  CHECK(refused > 0);
}

TEST_CASE("a layer becomes the paper's problem") {
  const ConvLayer same({.H = 28, .W = 30, .K = 5, .R = 3, .S = 3, .padding_h = 1, .padding_w = 1});
  CHECK(problem_of(same) == Problem{.Wx = 30, .Wy = 28, .K = 3, .M = 5});
  // Without padding there are fewer rows of outputs to cut, and as many columns to load.
  const ConvLayer valid({.N = 4, .H = 28, .W = 30, .K = 5, .R = 3, .S = 3});
  CHECK(problem_of(valid) == Problem{.Wx = 30, .Wy = 26, .K = 3, .M = 5});
  const ConvLayer wide({.H = 28, .W = 30, .K = 5, .R = 3, .S = 3, .padding_h = 4, .padding_w = 4});
  CHECK(problem_of(wide) == Problem{.Wx = 36, .Wy = 34, .K = 3, .M = 5});
}

TEST_CASE("the explanation shows every step") {
  const std::string text = explain(plan(gpus::built_in_gpu("gtx1080ti"), {28, 28, 1, 512}));
  for (const char* line :
       {"NVIDIA GeForce GTX 1080 Ti: map 28 x 28, 512 filters of 1x1, input 5,184 bytes\n",
        "  N_FMA = 258 x 128 cores x 2, as printed = 66,048 FMAs per SM\n",
        "  V_s = 327 bytes/cycle x 258 = 84,366 bytes, in whole warps 768 x 28 SMs x 4 = 86,016\n",
        "  shared memory 98,304 bytes per SM, registers to prefetch into 98,304 bytes\n",
        "  (1) F1 >= N_FMA and P <= 28: none, even P = 1 has too few FMAs\n",
        "  (2) D1 <= shared memory: P >= 1\n", "  (3) none in range, set to 1: P = 1\n",
        "      D1 = 3,212 bytes, F1 = 14,896 FMAs, 86,724 bytes in flight\n",
        "      D2 = 2,160 bytes, F2 = 14,336 FMAs, 60,480 bytes in flight\n",
        "  (4) D1 = 3,212 >= D2 = 2,160: method 2, P = 1\n",
        "  decided by step 3: no Q in range, so 1\n", "  method 2, P 1, Q 1: 1 piece per SM\n",
        "  2 blocks per SM of 512 threads\n",
        // 2.2 asks for V_s here, and 3.1 takes the division that misses it.
        "  (method 1 would reach V_s with 86,724 bytes in flight; step 4 does not look)\n"}) {
    CHECK_THAT(text, contains(line));
  }
}

TEST_CASE("bad input is one line") {
  const auto refusal = [](auto change) {
    gpus::GpuFigures gpu = small_gpu();
    change(gpu);
    return message_of([&] { plan(gpu, {8, 8, 3, 4}); });
  };
  CHECK(refusal([](gpus::GpuFigures& gpu) { gpu.sms = 0; }) ==
        "Small: the number of SMs must be from 1 to 1,000,000,000");
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.latency_cycles = -1; }), contains("latency"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.cores_per_sm = 0; }), contains("cores"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) {
               gpu.bandwidth_gb_s = std::numeric_limits<double>::quiet_NaN();
             }),
             contains("bandwidth in GB/s"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.clock_mhz = 0; }), contains("clock"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.clock_mhz = 8001; }),
             contains("bytes per cycle"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.shared_per_sm = 0; }),
             contains("shared memory"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.shared_per_block = 0; }),
             contains("per block"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.shared_reserved_per_block = 256; }),
             contains("no shared memory is left for 2 blocks"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.threads_per_sm = 1023; }),
             contains("1023 threads per SM; the plan launches 1024"));
  CHECK_THAT(refusal([](gpus::GpuFigures& gpu) { gpu.registers_per_sm = 41 * 1024 - 1; }),
             contains("registers per SM; the plan needs 41"));
  CHECK_THAT(message_of([] { gpus::built_in_gpu("gtx9999"); }),
             contains("'gtx9999': there are gtx1080ti, gtxtitanx, v100, h200"));

  const auto problem_refusal = [](const Problem& problem) {
    return message_of([&] { plan(gpus::built_in_gpu("h200"), problem); });
  };
  CHECK_THAT(problem_refusal({0, 8, 3, 4}), contains("Wx = 0, must be from 1 to 2147479551"));
  CHECK_THAT(problem_refusal({8, -8, 3, 4}), contains("Wy = -8"));
  CHECK_THAT(problem_refusal({8, 8, 0, 4}), contains("K = 0"));
  CHECK_THAT(problem_refusal({8, 8, 3, std::int64_t{1} << 40}), contains("M = 1099511627776"));
  CHECK_THAT(problem_refusal({1 << 16, 1 << 16, 3, 4}), contains("the map has more than"));
  CHECK_THAT(problem_refusal({8, 8, 1 << 16, 1}), contains("a filter has more than"));
  CHECK_THAT(problem_refusal({8, 8, 1 << 10, 1 << 12}), contains("the set of filters has more"));
  CHECK_THAT(problem_refusal({1 << 12, 1 << 12, 1, 1 << 10}), contains("the output has more than"));
  CHECK_THAT(problem_refusal({60000, 8, 1, 1}),
             contains("one row of outputs (1 row of 60,000 cells) and one filter do not fit"));

  const auto layer_refusal = [](const halo::conv::LayerShape& shape) {
    return message_of([&] { problem_of(ConvLayer(shape)); });
  };
  CHECK_THAT(layer_refusal({.C = 3, .H = 8, .W = 8, .R = 3, .S = 3}), contains("3 channels"));
  CHECK_THAT(layer_refusal({.H = 8, .W = 8, .R = 3, .S = 3, .stride_w = 2}), contains("stride 1"));
  CHECK_THAT(layer_refusal({.H = 8, .W = 8, .R = 3, .S = 5}), contains("square"));
}
