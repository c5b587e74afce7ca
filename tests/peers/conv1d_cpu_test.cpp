// The copy on the CPU; and what the checks would say to a peer that computes in TF32.
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/peers/conv1d.hpp"
#include "tests/catch.hpp"
#include "tests/peers/tf32.hpp"

using namespace halo;
using test::to_tf32;

namespace {

std::vector<float> convolve(const std::vector<float>& input, const std::vector<float>& mask) {
  const int n = static_cast<int>(input.size());
  const int width = static_cast<int>(mask.size());
  std::vector<float> output(input.size());
  for (int i = 0; i < n; ++i) {
    float sum = 0.0f;
    for (int j = 0; j < width; ++j) {
      const int k = i - width / 2 + j;
      if (k >= 0 && k < n) sum += input[k] * mask[j];
    }
    output[i] = sum;
  }
  return output;
}

}  // namespace

TEST_CASE("TF32 is a rounding to 10 bits") {
  CHECK(to_tf32(1.0f) == 1.0f);
  CHECK(to_tf32(1.0f + 0x1p-10f) == 1.0f + 0x1p-10f);
  CHECK(to_tf32(1.0f + 0x1p-11f) == 1.0f);              // a tie, to even
  CHECK(to_tf32(1.0f + 0x1.8p-10f) == 1.0f + 0x1p-9f);  // a tie, to even
  CHECK(to_tf32(-1.0f - 0x1.1p-11f) == -1.0f - 0x1p-10f);
}

TEST_CASE("the fp32 bound catches a peer that computes in TF32") {
  for (const int width : {1, 3, 5, 9, 31, 63, 127, 255}) {
    const conv::Problem1d problem(20'000, width);
    const auto input = conv::adversarial_input(problem, test::seed());
    const auto mask = conv::adversarial_mask(problem, test::seed());
    INFO("mask " << width);
    // The same sums, in the same order: only what goes in is rounded.
    const auto fp32 = conv::check(problem, input, mask, convolve(input, mask));
    CHECK(fp32.passed());
    const auto tf32 = conv::check(problem, input, mask, convolve(to_tf32(input), to_tf32(mask)));
    CHECK(!tf32.passed());
    CHECK(tf32.worst_share > 1);
  }
}

TEST_CASE("one tap among zeros catches TF32 with a mask of any width") {
  // The bound grows with the width, and TF32's error does not: from some width on it hides below.
  const conv::Problem1d problem(3'000, 1023);
  const auto input = conv::adversarial_input(problem, test::seed());
  std::vector<float> mask(1023);
  mask[100] = 1.0f;
  CHECK(conv::check(problem, input, mask, convolve(input, mask), conv::Demand::exact).passed());
  CHECK(!conv::check(problem, input, mask, convolve(to_tf32(input), mask), conv::Demand::exact)
             .passed());
}

TEST_CASE("peers-cpu: the copy moves the cells of the outputs and no other") {
  const auto peers = peers::conv1d();
  REQUIRE(peers.size() == 1);
  for (const int length : {1, 2, 15, 16, 17, 1000, 4099, 100'003}) {
    for (const int threads : {1, 2, 3, 7, 64}) {
      for (const int halo : {0, 1, 31}) {
        if (length <= 2 * halo) continue;
        const conv::Problem1d problem(length, 1);
        const auto input = conv::adversarial_input(problem, test::seed());
        std::vector<float> output(input.size(), conv::poison());
        Conv1dCall call;
        call.length = length;
        call.mask_width = 2 * halo + 1;
        call.first = halo;
        call.last = length - halo;
        call.threads = threads;
        call.input = input.data();
        call.output = output.data();
        REQUIRE(peers.front()
                    .prepared(Conv1dProblem(call.length, call.mask_width, call.threads))
                    .launch(call) == 0);
        int wrong = 0;
        for (int i = 0; i < length; ++i) {
          const bool copied = i >= call.first && i < call.last;
          wrong += copied ? output[i] != input[i] : !conv::is_poison(output[i]);
        }
        INFO("length " << length << ", " << threads << " threads, halo " << halo);
        CHECK(wrong == 0);
      }
    }
  }
}
