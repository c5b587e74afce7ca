// What the GPU peers compute, and that they are compared fairly: the same arrays, true fp32,
// nothing allocated or waited for in a call that is timed.
#include <cuda_runtime.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/conv/inputs.hpp"
#include "common/harness/backend/copy.hpp"
#include "common/peers/conv1d.hpp"
#include "tests/peers/gpu_peers.hpp"

using namespace halo;

namespace {

// The peers of one role whose library is there. Skips the test case if there are none.
std::vector<Conv1dVariant> available(Role role) {
  std::vector<Conv1dVariant> found;
  for (const Conv1dVariant& peer : peers::conv1d()) {
    if (peer.role != role) continue;
    if (peer.unavailable.empty()) {
      found.push_back(peer);
    } else {
      WARN(peer.name << " NOT RUN: " << peer.unavailable);
    }
  }
  return found;
}

// One problem in device memory.
struct Scene {
  Scene(Backend& backend, const conv::Problem1d& of, std::vector<float> cells,
        std::vector<float> taps)
      : problem(of),
        input(std::move(cells)),
        mask(std::move(taps)),
        device_input(backend, input.size()),
        device_mask(backend, mask.size()),
        device_output(backend, input.size()) {
    device_input.write(input);
    device_mask.write(mask);
    device_output.poison();
    call.length = static_cast<int>(problem.length());
    call.mask_width = problem.mask_width();
    call.first = static_cast<int>(problem.first_output());
    call.last = static_cast<int>(problem.end_output());
    call.threads = 256;
    call.input = device_input.data();
    call.mask = device_mask.data();
    call.output = device_output.data();
  }
  Scene(Backend& backend, const conv::Problem1d& of)
      : Scene(backend, of, conv::adversarial_input(of, test::seed()),
              conv::adversarial_mask(of, test::seed())) {}

  void set_mask(const Conv1dVariant& peer) const {
    const auto set_up = peer.prepared(asked()).set_up;
    if (set_up) REQUIRE(set_up(mask.data()) == cudaSuccess);
  }

  Conv1dProblem asked() const { return {problem, call.threads}; }

  // What is in the output now.
  std::vector<float> result() const {
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<float> values(input.size());
    device_output.read(values);
    return values;
  }

  conv::Problem1d problem;
  std::vector<float> input, mask;
  Array device_input, device_mask, device_output;
  Conv1dCall call;
};

std::string detail_of(const Conv1dVariant& peer, const Conv1dProblem& problem) {
  const auto detail = peer.prepared(problem).detail;
  return detail ? detail() : "";
}

// Whether the peer takes the shape. If not it must say so with this one code, launch nothing and
// give a reason.
bool takes(const Conv1dVariant& peer, const Scene& scene) {
  scene.set_mask(peer);
  const int code = peer.prepared(scene.asked()).launch(scene.call);
  if (code != cudaErrorNotSupported) return true;  // another error is the check's to find
  INFO(peer.name << ", length " << scene.call.length << ", mask " << scene.call.mask_width);
  REQUIRE(peer.prepared(scene.asked()).detail);
  CHECK(detail_of(peer, scene.asked()).size() > 10);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  WARN(peer.name << " does not take length " << scene.call.length << ", mask "
                 << scene.call.mask_width << ": " << detail_of(peer, scene.asked()));
  return false;
}

}  // namespace

TEST_CASE("peers-gpu: every shape is right") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::peer)) {
    int tried = 0;
    const auto trials = adversarial<Conv1dProblem>(test::seed());
    for (const Conv1dProblem& trial : trials) {
      if (!takes(peer, Scene(*backend, trial.problem))) continue;
      ++tried;
      Row row;
      Progress progress;
      check_trials(peer, *backend, std::vector{trial}, test::seed(), row, progress);
      INFO(peer.name << ": " << row.check.reason << "\n" << detail_of(peer, trial));
      CHECK(row.check.outcome == Outcome::good);
    }
    INFO(peer.name);
    CHECK(tried > static_cast<int>(trials.size()) / 2);
  }
}

TEST_CASE("peers-gpu: long signals are within the fp32 bound, with every mask up to 63 taps") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::peer)) {
    for (const int length : {1'000'000, 1'000'003, 70'001}) {
      for (const int width : {1, 3, 5, 7, 9, 15, 17, 31, 33, 63}) {
        const conv::Problem1d problem(length, width);
        INFO(peer.name << ", length " << length << ", mask " << width);
        if (!takes(peer, Scene(*backend, problem))) continue;
        Row row;
        check_problem(peer, *backend, Conv1dProblem(problem, 256), test::seed(), row);
        INFO(row.check.reason << "\n" << detail_of(peer, Conv1dProblem(problem, 256)));
        CHECK(row.check.outcome == Outcome::good);
        CHECK(row.check.worst_share <= 1);
      }
    }
  }
}

TEST_CASE("peers-gpu: no factor is rounded, so no TF32, with narrow and wide masks") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::peer)) {
    // A transform rounds, however simple its inputs.
    const conv::Demand demand = conv::is_transform(peer.demand) ? peer.demand : conv::Demand::exact;
    for (const int width : {1, 3, 9, 31, 63, 255, 1023}) {
      const conv::Problem1d problem(10'007, width);
      INFO(peer.name << ", mask " << width);
      // One tap of 1: the output is the input, all 24 bits of it.
      std::vector<float> one_tap(static_cast<std::size_t>(width));
      one_tap[static_cast<std::size_t>(width / 3)] = 1.0f;
      Scene cells(*backend, problem, conv::adversarial_input(problem, test::seed()), one_tap);
      if (!takes(peer, cells)) continue;
      cells.device_output.poison();
      REQUIRE(peer.prepared(cells.asked()).launch(cells.call) == cudaSuccess);
      const auto kept = conv::check(problem, cells.input, cells.mask, cells.result(), demand);
      CHECK(kept.passed());
      // One cell of 1: the output is the mask.
      std::vector<float> one_cell(10'007);
      one_cell[5'000] = 1.0f;
      const Scene taps(*backend, problem, one_cell, conv::adversarial_mask(problem, test::seed()));
      taps.set_mask(peer);
      REQUIRE(peer.prepared(taps.asked()).launch(taps.call) == cudaSuccess);
      const auto shown = conv::check(problem, taps.input, taps.mask, taps.result(), demand);
      CHECK(shown.passed());
    }
  }
}

TEST_CASE("peers-gpu: cuDNN computes with CUDNN_FMA_MATH and says with which algorithm") {
  const auto backend = test::usable_backend();
  const auto peers = available(Role::peer);
  const auto cudnn = std::find_if(peers.begin(), peers.end(),
                                  [](const Conv1dVariant& peer) { return peer.name == "cudnn"; });
  if (cudnn == peers.end()) test::skip("cuDNN was not found when this was built");
  int taken = 0;
  for (const int width : {3, 9, 31, 255}) {
    const Scene scene(*backend, conv::Problem1d(100'003, width));
    if (!takes(*cudnn, scene)) continue;
    ++taken;
    const std::string detail =
        cudnn->prepared(scene.asked()).detail();  // read back from the descriptor in use
    INFO(detail);
    CHECK_THAT(detail, test::contains("CUDNN_FMA_MATH"));
    CHECK_THAT(detail, test::contains("cuDNN "));
    CHECK_THAT(detail, test::contains("workspace "));
  }
  CHECK(taken > 0);
}

TEST_CASE(
    "peers-gpu: after the first call of a shape nothing is allocated, and calls can be captured") {
  const auto backend = test::usable_backend();
  std::vector<Conv1dVariant> all = available(Role::peer);
  for (const Conv1dVariant& peer : available(Role::copy)) all.push_back(peer);
  for (const Conv1dVariant& peer : all) {
    INFO(peer.name);
    const conv::Problem1d problem(1'000'003, 9);
    Scene first(*backend, problem);
    Scene second(*backend, problem);  // other arrays of the same shape: as for a cold cache
    if (!takes(peer, first)) continue;
    const std::vector<float> expected = first.result();
    second.device_output.poison();
    first.device_output.poison();

    test::replay([&] { return peer.prepared(first.asked()).launch(first.call); },
                 [&] { return peer.prepared(second.asked()).launch(second.call); });
    CHECK(first.result() == expected);
    CHECK(second.result() == expected);

    test::require_no_allocation(*backend,
                                [&] { return peer.prepared(first.asked()).launch(first.call); });
  }
}

TEST_CASE("peers-gpu: a plan is made outside of a capture or not at all") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::peer)) {
    if (peer.name == "thrust_transform") continue;  // it needs no plan
    INFO(peer.name);
    const Scene scene(*backend, conv::Problem1d(12'347, 9));
    scene.set_mask(peer);
    test::require_no_first_call_in_a_capture(
        [&] { return peer.prepared(scene.asked()).launch(scene.call); });
    CHECK(takes(peer, scene));
  }
}

TEST_CASE("peers-gpu: copies move the cells of the outputs and no other") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::copy)) {
    for (const int length : {1, 2, 3, 5, 64, 1000, 8191, 8192, 100'003, 1'000'000}) {
      for (const conv::Border border : {conv::Border::zero, conv::Border::report}) {
        if (border == conv::Border::report && length < 5) continue;
        INFO(peer.name << ", length " << length << ", border " << conv::to_string(border));
        const Scene scene(*backend, conv::Problem1d(length, 5 > length ? 1 : 5, border));
        REQUIRE(peer.prepared(scene.asked()).launch(scene.call) == cudaSuccess);
        const auto output = scene.result();
        int wrong = 0;
        for (int i = 0; i < length; ++i) {
          const bool copied = i >= scene.call.first && i < scene.call.last;
          wrong += copied ? output[i] != scene.input[i] : !conv::is_poison(output[i]);
        }
        CHECK(wrong == 0);
        CHECK(scene.device_output.stray_write("output") == "");
      }
    }
  }
}

TEST_CASE("peers-gpu: the copy kernel takes any count and any alignment") {
  const auto backend = test::usable_backend();
  constexpr int kSpare = 16;
  for (const int count : {0, 1, 2, 3, 4, 5, 7, 8, 15, 2047, 2048, 2049, 8191, 8192, 8195, 16'387}) {
    const auto size = static_cast<std::size_t>(count + 2 * kSpare);
    const conv::Problem1d problem(static_cast<std::int64_t>(size), 1);
    const auto values = conv::adversarial_input(problem, test::seed());
    Array from(*backend, size);
    Array to(*backend, size);
    from.write(values);
    for (int from_offset = 0; from_offset < 4; ++from_offset) {
      for (int to_offset = 0; to_offset < 4; ++to_offset) {
        to.poison();
        REQUIRE(launch_copy(from.data() + from_offset, to.data() + to_offset, count) ==
                cudaSuccess);
        REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
        std::vector<float> found(size);
        to.read(found);
        int wrong = 0;
        for (int i = 0; i < static_cast<int>(size); ++i) {
          const int cell = i - to_offset;
          const bool copied = cell >= 0 && cell < count;
          wrong += copied ? found[i] != values[cell + from_offset] : !conv::is_poison(found[i]);
        }
        INFO(count << " cells, from " << from_offset << " to " << to_offset);
        CHECK(wrong == 0);
      }
    }
  }
}

// Last, since a library that can't bear a reset may take the program with it.
TEST_CASE("peers-gpu: plans are made anew after the device was reset") {
  const auto backend = test::usable_backend();
  for (const Conv1dVariant& peer : available(Role::peer)) {
    INFO(peer.name);
    const conv::Problem1d problem(10'007, 9);
    {
      const Scene before(*backend, problem);
      REQUIRE(takes(peer, before));
      REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    }
    REQUIRE(backend->recover());
    const Scene after(*backend, problem);
    after.set_mask(peer);
    CHECK(peer.prepared(after.asked()).launch(after.call) == cudaSuccess);
    CHECK(conv::check(problem, after.input, after.mask, after.result(), peer.demand).passed());
  }
}
