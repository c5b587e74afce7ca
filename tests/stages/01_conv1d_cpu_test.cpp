#include "stages/01_conv1d_cpu.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "common/conv/inputs.hpp"
#include "stages/01_conv1d_cpu/team.hpp"
#include "tests/catch.hpp"
#include "tests/stages/signals.hpp"
#include "tests/stages/stage_checks.hpp"

using namespace halo;

TEST_CASE("01_conv1d_cpu: every shape is right") { test::require_trials(conv1d_cpu::stage()); }

TEST_CASE("01_conv1d_cpu: the report's Figure 1") {
  // N = 1..5 between zeros, M = 0.3, 0.2, 0.8.
  const float input[7] = {0, 1, 2, 3, 4, 5, 0};
  const float mask[3] = {0.3f, 0.2f, 0.8f};
  const float expected[7] = {0, 1.8f, 3.1f, 4.4f, 5.7f, 2.2f, 0};
  for (const Conv1dVariant& variant : conv1d_cpu::stage().variants) {
    INFO(variant.name);
    float output[7] = {};
    Conv1dCall call;
    call.length = 7;
    call.mask_width = 3;
    call.first = 1;  // the report leaves the borders alone
    call.last = 6;
    call.threads = 2;
    call.input = input;
    call.mask = mask;
    call.output = output;
    REQUIRE(
        variant.prepared(Conv1dProblem(call.length, call.mask_width, call.threads)).launch(call) ==
        0);
    for (int i = 0; i < 7; ++i) CHECK(output[i] == test::Approx(expected[i]).margin(1e-6));
  }
}

TEST_CASE("01_conv1d_cpu: long signals are cut among threads and stored past the caches", "[all]") {
  constexpr std::int64_t kShortPeriod = 10'007;
  constexpr std::size_t kGuard = 64;
  const conv::Problem1d problems[] = {
      {5'000'011, 3},  // too long for the caches
      {4'400'000, 1, conv::Border::report},
      {5'000'011, 9, conv::Border::report},
      {700'001, 31},
      {1'100'003, 63, conv::Border::report},
      {150'001, 1023},
  };
  for (const conv::Problem1d& problem : problems) {
    const auto input = conv::adversarial_input(problem, test::seed(), kShortPeriod);
    const auto mask = conv::adversarial_mask(problem, test::seed());
    const conv::Checker checker(problem, input, mask, conv::Demand::bounded, kShortPeriod);
    const auto length = static_cast<std::size_t>(problem.length());
    for (const Conv1dVariant& variant : conv1d_cpu::stage().variants) {
      // Outputs that begin with a line of the cache, with a vector, and with neither.
      for (const std::size_t offset : {0, 8, 13}) {
        for (const int threads : {1, 3}) {
          if (variant.name == "loop" && (threads > 1 || offset > 0)) continue;
          INFO(variant.name << ", length " << length << ", mask " << mask.size() << ", offset "
                            << offset << ", " << threads << " threads");
          std::vector<float> block(length + 3 * kGuard, conv::poison());
          const auto line = reinterpret_cast<std::uintptr_t>(block.data()) / sizeof(float) % 16;
          const std::size_t start = kGuard + (16 - line) + offset;
          Conv1dCall call;
          call.length = static_cast<int>(length);
          call.mask_width = problem.mask_width();
          call.first = static_cast<int>(problem.first_output());
          call.last = static_cast<int>(problem.end_output());
          call.threads = threads;
          call.input = input.data();
          call.mask = mask.data();
          call.output = block.data() + start;
          REQUIRE(variant.prepared(Conv1dProblem(call.length, call.mask_width, call.threads))
                      .launch(call) == 0);
          const conv::Comparison result = checker.judge(0, {call.output, length});
          INFO(result.describe());
          CHECK(result.passed());
          CHECK(result.compared == problem.length());
          std::size_t strays = 0;
          for (std::size_t i = 0; i < block.size(); ++i) {
            const bool is_output = i >= start && i < start + length;
            if (!is_output && !conv::is_poison(block[i])) ++strays;
          }
          CHECK(strays == 0);
        }
      }
    }
  }
}

TEST_CASE("a team does every part once, however many threads it is given") {
  conv1d_cpu::Team& team = conv1d_cpu::Team::instance();
  for (int round = 0; round < 2000; ++round) {
    const int threads = 1 + round % 7;
    const int parts = round % 11;
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
    team.run(threads, parts, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
    // All at once when run returns: nothing may still be under way.
    for (const std::atomic<int>& times : done) REQUIRE(times == 1);
  }
}

TEST_CASE("a team uses the threads it is given") {
  // Each part waits for the other: one thread alone would never end.
  std::atomic<int> arrived = 0;
  conv1d_cpu::Team::instance().run(2, 2, [&](int) {
    ++arrived;
    arrived.notify_all();
    for (int seen = arrived; seen < 2; seen = arrived) arrived.wait(seen);
  });
  CHECK(arrived == 2);
}

TEST_CASE("the CPU times its calls in order and says how") {
  const auto backend = make_backend();
  std::vector<int> made;
  const auto remember = [&](int call) {
    made.push_back(call);
    return 0;
  };
  const auto batch = backend->batch(remember, 3);
  CHECK(made.empty());
  CHECK(batch->run() >= 0);
  CHECK(made == std::vector<int>{0, 1, 2});
  CHECK(batch->method() == "wall clock, 3 calls");
  CHECK(backend->batch(remember, 1)->method() == "wall clock, 1 call");
  const auto failing = backend->batch([](int call) { return call == 1 ? 7 : 0; }, 2);
  CHECK_THROWS_AS(failing->run(), std::runtime_error);
}

TEST_CASE("the CPU's roofs are measured, its clock is not") {
  // A machine that others use too can be slow: nothing is said of how fast it must be.
  const Roofs roofs = make_backend()->measure_roofs();
  CHECK(roofs.copy_gb_per_s > 0.1);
  CHECK(roofs.copy_gb_per_s < 1e4);
  CHECK(roofs.fp32_gflop_per_s > 1);
  CHECK(roofs.fp32_gflop_per_s < 1e6);
  CHECK(roofs.clock_mhz < 0);
  CHECK(roofs.to_gpu_gb_per_s < 0);
}
