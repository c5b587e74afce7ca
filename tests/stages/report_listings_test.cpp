// The errors of the report's tiled listings, each caught in the simulator at its line.
#include <cmath>
#include <string>
#include <vector>

#include "common/harness/families/conv1d.hpp"
#include "common/simt/simt.hpp"
#include "tests/catch.hpp"
#include "tests/harness/observed.hpp"
#include "tests/stages/report_listings/listings.hpp"

using namespace halo;
using test::Ran;

namespace {

using Launcher = cudaError_t (*)(const float*, const float*, float*, int, int, int);

const std::vector<float> kMask = {0.3f, 0.2f, 0.8f};

std::vector<float> signal(int n) {
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = 0.25f + static_cast<float>((7 * i) % 11);
  return values;
}

Ran run(Launcher launcher, int n, int threads) {
  return test::observed(
      n, [n](Array& input) { input.write(signal(n)); },
      [=](const float* input, float* output) {
        return launcher(input, kMask.data(), output, n, 3, threads);
      });
}

// The finding of this kind at the bug's line, or null.
const Hazard* found(const Ran& ran, const std::string& kind, const std::string& file,
                    const std::string& bug) {
  return test::found_at(ran, kind, "tests/stages/report_listings/" + file, "[bug:" + bug + "]");
}

double right(const std::vector<float>& input, int i) {
  double sum = 0;
  for (int j = 0; j < 3; ++j) {
    const int k = i - 1 + j;
    if (k >= 0 && k < static_cast<int>(input.size())) sum += double{input[k]} * kMask[j];
  }
  return sum;
}

}  // namespace

TEST_CASE("Code 4 reads past the end of the signal when blocks do not divide it") {
  const Ran ran = run(report_listings::code4, 40, 16);
  INFO(text_of(ran));
  const Hazard* hazard = found(ran, "out_of_bounds", "code4.cu", "first-load");
  REQUIRE(hazard != nullptr);
  CHECK(hazard->block[0] == 2);
  CHECK(hazard->thread[0] == 8);
  CHECK(hazard->count == 8);
  CHECK(ran.seen.error != "");
}

TEST_CASE("Code 4 reads and writes past the end even when blocks divide the signal") {
  const Ran ran = run(report_listings::code4, 48, 16);
  INFO(text_of(ran));
  CHECK(found(ran, "out_of_bounds", "code4.cu", "first-load") == nullptr);
  const Hazard* load = found(ran, "out_of_bounds", "code4.cu", "second-load");
  REQUIRE(load != nullptr);
  CHECK(load->block[0] == 2);
  CHECK(load->count == 2);
  // `||` lets every thread store; the last one's output lies past the end.
  const Hazard* store = found(ran, "out_of_bounds", "code4.cu", "store");
  REQUIRE(store != nullptr);
  CHECK(store->thread[0] == 15);
}

TEST_CASE("Code 4 with its bounds corrected still loses every fraction in its int tile") {
  const Ran ran = run(report_listings::code4_int_tile, 40, 16);
  INFO(text_of(ran));
  CHECK(ran.seen.error == "");
  CHECK(ran.seen.hazards.empty());  // no hazard: only the comparison of values sees it
  const std::vector<float> input = signal(40);
  int wrong = 0;
  for (int i = 1; i < 39; ++i) wrong += std::abs(ran.output[i] - right(input, i)) > 0.1;
  CHECK(wrong == 38);
  // Without fractions nothing is lost, which is how whole-number test data hides it.
  std::vector<float> whole = input;
  for (float& value : whole) value = std::floor(value);
  for (int i = 1; i < 39; ++i) CHECK(ran.output[i] == test::Approx(right(whole, i)));
}

TEST_CASE("Code 5 writes past its tile of 4 with the program's 16 threads a block") {
  const Ran ran = run(report_listings::code5, 48, 16);
  INFO(text_of(ran));
  const Hazard* hazard = found(ran, "out_of_bounds", "code5.cu", "load");
  REQUIRE(hazard != nullptr);
  CHECK(hazard->array == "s_array");
  CHECK(hazard->thread[0] == 4);
  CHECK(hazard->count == 3 * 12);
}

TEST_CASE("Code 5 reads past the end of the signal when blocks do not divide it") {
  const Ran ran = run(report_listings::code5, 18, 4);
  INFO(text_of(ran));
  const Hazard* hazard = found(ran, "out_of_bounds", "code5.cu", "load");
  REQUIRE(hazard != nullptr);
  CHECK(hazard->block[0] == 4);
  CHECK(hazard->thread[0] == 2);
}

TEST_CASE("Code 5 is right for the one case of its text: 16 cells, blocks of 4") {
  const Ran ran = run(report_listings::code5, 16, 4);
  INFO(text_of(ran));
  CHECK(ran.seen.error == "");
  CHECK(ran.seen.hazards.empty());
  const std::vector<float> input = signal(16);
  for (int i = 1; i < 15; ++i) CHECK(ran.output[i] == test::Approx(right(input, i)));
}
