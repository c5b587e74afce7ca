// The errors of the softmax listing in Li et al. (SC'16), Fig. 9, and what the simulator sees of each.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "common/harness/backend/backend.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/kernel.h"
#include "tests/catch.hpp"
#include "tests/harness/observed.hpp"
#include "tests/stages/sc16_figure9/figure9.hpp"

namespace halo::fused_softmax {
SoftmaxKernel fused_parallel();  // the stage's kernel
}

using namespace halo;
using test::Ran;

namespace {

std::vector<float> cells(int images, int categories) {
  std::vector<float> values(images * categories);
  for (int i = 0; i < images * categories; ++i) values[i] = 0.125f * ((11 * i) % 37);
  return values;
}

// Gives the launch device memory whose every row holds `written` cells of `input`; the rest of each
// row nobody has written.
Ran run(int images, int categories, int written,
        const std::function<int(float* input, float* output)>& launch) {
  const std::vector<float> values = cells(images, categories);
  const auto fill = [&](Array& input) {
    for (int n = 0; n < images; ++n) {
      input.write(std::span(values).subspan(n * categories, written), n * categories);
    }
  };
  return test::observed(values.size(), fill, launch);
}

Ran run_listing(int images, int categories, dim3 threads) {
  return run(images, categories, categories, [&](float* input, float* output) {
    return sc16_figure9::figure9(input, output, images, categories, threads);
  });
}

// Softmax of rows whose category c holds what the input holds at place(c).
std::vector<double> softmax_of(int images, int categories, const std::function<int(int)>& place) {
  const std::vector<float> input = cells(images, categories);
  std::vector<double> result;
  for (int n = 0; n < images; ++n) {
    std::vector<double> row;
    for (int c = 0; c < categories; ++c) row.push_back(input[n * categories + place(c)]);
    const double largest = *std::max_element(row.begin(), row.end());
    double sum = 0;
    for (double& cell : row) sum += cell = std::exp(cell - largest);
    for (double cell : row) result.push_back(cell / sum);
  }
  return result;
}

std::vector<double> right(int images, int categories) {
  return softmax_of(images, categories, [](int c) { return c; });
}

int different(const std::vector<float>& output, const std::vector<double>& expected) {
  int count = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    count += !(std::abs(output[i] - expected[i]) <= 1e-5 * expected[i]);
  }
  return count;
}

}  // namespace

TEST_CASE("Fig. 9 is right with a thread for each category, which hides its index") {
  for (const int categories : {1, 10, 40, 1000, 1024}) {
    const Ran ran = run_listing(3, categories, dim3(categories));
    INFO(categories << " categories: " << text_of(ran));
    CHECK(ran.seen.error == "");
    CHECK(ran.seen.hazards.empty());
    CHECK(different(ran.output, right(3, categories)) == 0);
  }
}

TEST_CASE(
    "Fig. 9 with fewer threads than categories computes with the first cells, again and again") {
  const Ran ran = run_listing(3, 100, dim3(32));
  INFO(text_of(ran));
  // Every access is lawful: no hazard, only wrong values.
  CHECK(ran.seen.error == "");
  CHECK(ran.seen.hazards.empty());
  CHECK(different(ran.output, right(3, 100)) == 3 * 100);
  CHECK(different(ran.output, softmax_of(3, 100, [](int c) { return c % 32; })) == 0);
  // A row should be 100 cells in 4 requests. The address does not change in the loop, so nvcc reads before it: 32
  // cells once. Rows begin 400 bytes apart, which is 12 sectors and a half.
  CHECK(ran.seen.cost.global_load_requests == 3);
  CHECK(ran.seen.cost.global_load_sectors == 4 + 5 + 4);

  // So it does not notice that the other cells are missing, as the stage's kernel does.
  const auto listing = [](float* input, float* output) {
    return sc16_figure9::figure9(input, output, 3, 100, dim3(32));
  };
  const Ran without = run(3, 100, 32, listing);
  INFO(text_of(without));
  CHECK(without.seen.hazards.empty());
  CHECK(different(without.output, softmax_of(3, 100, [](int c) { return c % 32; })) == 0);
  const Ran corrected = run(3, 100, 32, [](float* input, float* output) {
    return fused_softmax::fused_parallel().launch({3, 100, input, output, nullptr});
  });
  REQUIRE(corrected.seen.hazards.size() == 1);
  CHECK(corrected.seen.hazards[0].kind == "uninitialized_global_read");
  CHECK(corrected.seen.hazards[0].count == 3 * 68);
}

TEST_CASE("Fig. 9 is wrong in blocks of two rows even with a thread for each category") {
  const Ran ran = run_listing(2, 100, dim3(50, 2));
  INFO(text_of(ran));
  CHECK(ran.seen.hazards.empty());
  CHECK(different(ran.output, right(2, 100)) == 2 * 100);
  CHECK(different(ran.output, softmax_of(2, 100, [](int c) { return c % 50; })) == 0);
}

TEST_CASE("A stage's check finds Fig. 9 out") {
  SoftmaxVariant printed;
  printed.name = "figure9";
  printed.launches([](const ProblemCall<conv::Softmax>& c) {
    // The listing takes its input as float*, and does not write it.
    return sc16_figure9::figure9(const_cast<float*>(c.input), c.output, c.problem.N(),
                                 c.problem.C(), dim3(32));
  });
  const auto backend = make_backend();
  const auto outcome = [&](const conv::Softmax& problem) {
    Row row;
    Progress progress;
    check_trials(printed, *backend, std::vector{problem}, test::seed(), row, progress);
    return row.check.outcome;
  };
  CHECK(outcome(conv::Softmax(14, 32)) == Outcome::good);
  CHECK(outcome(conv::Softmax(14, 33)) == Outcome::bad);
}

TEST_CASE("Fig. 9's launch fails above 1,024 categories, and its shared memory above 11 K") {
  const Ran too_many = run_listing(2, 1025, dim3(1025));
  INFO(text_of(too_many));
  CHECK(too_many.seen.error.find("invalid configuration") != std::string::npos);
  CHECK(too_many.seen.kernels == 0);
  // 11 * 1,024 floats and the reduction's 1,024 are 48 KB: it launches, with the wrong cells.
  const Ran largest = run_listing(1, 11 * 1024, dim3(1024));
  CHECK(largest.seen.error == "");
  CHECK(different(largest.output, right(1, 11 * 1024)) > 0);
  const Ran too_large = run_listing(1, 11 * 1024 + 1, dim3(1024));
  INFO(text_of(too_large));
  CHECK(too_large.seen.error != "");
  CHECK(too_large.seen.kernels == 0);

  // The stage's kernel takes both.
  for (const int categories : {1025, 11 * 1024 + 1}) {
    const Ran ran = run(2, categories, categories, [&](float* input, float* output) {
      return fused_softmax::fused_parallel().launch({2, categories, input, output, nullptr});
    });
    INFO(text_of(ran));
    CHECK(ran.seen.hazards.empty());
    CHECK(different(ran.output, right(2, categories)) == 0);
  }
}
