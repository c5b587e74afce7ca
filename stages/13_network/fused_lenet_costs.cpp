// What 5_fused_lenet.cu must cost.
#include "common/harness/traffic/tally.hpp"
#include "stages/13_network/costs.hpp"
#include "stages/13_network/fused_lenet.hpp"

namespace halo::network {

namespace {

constexpr std::int64_t kThreads = 392, kPairs = kLenetFilters / 2, kTaps = 25;

// Threads that go through `count` items in turn: visit(warp), the items of its lanes.
template <class Visit>
void for_each_warp_of_turns(std::int64_t count, Visit visit) {
  for (const Cells turn : Cells{0, count}.pieces(kThreads)) {
    for (const Cells warp : turn.pieces(kWarpSize)) visit(warp);
  }
}

struct LenetTally {
  Tally& tally;
  std::int64_t images;

  // From memory to shared memory, in pairs of filters that have `filter` taps each.
  void fetch_taps(std::int64_t filter) const {
    for_each_warp_of_turns(kLenetFilters * filter, [&](Cells warp) {
      tally.load(warp, images);
      tally.shared_store(lanes(warp,
                               [&](std::int64_t i) {
                                 return i / filter / 2 * 2 * filter + i % filter * 2 +
                                        i / filter % 2;
                               }),
                         images);
    });
  }

  void convolve(std::int64_t channels, std::int64_t size, std::int64_t to_pitch) const {
    const std::int64_t pitch = size + 4, half = size / 2, windows = half * half;
    const Times of_sums = every(kLenetFilters * size * size, images);
    const Times of_pooled = every(kLenetFilters * windows, images);
    for_each_warp_of_turns(kPairs * windows, [&](Cells warp) {
      const auto p = [&](std::int64_t i) { return i % windows / half; };
      const auto q = [&](std::int64_t i) { return i % half; };
      const Lanes cells =
          wide_lanes(2, warp, [&](std::int64_t i) { return 2 * p(i) * pitch + 2 * q(i); });
      tally.shared_load(cells, images * channels * 18);
      const Lanes taps =
          wide_lanes(2, warp, [&](std::int64_t i) { return i / windows * channels * kTaps * 2; });
      tally.shared_load(taps, images * channels * kTaps);
      for (std::int64_t j = 0; j < 2; ++j) {
        const auto k = [&](std::int64_t i) { return i / windows * 2 + j; };
        tally.load(lanes(warp, k), images);
        for (std::int64_t row = 0; row < 2; ++row) {
          tally.store(wide_lanes(2, warp,
                                 [&](std::int64_t i) {
                                   return (k(i) * size + 2 * p(i) + row) * size + 2 * q(i);
                                 }),
                      of_sums);
        }
        tally.store(lanes(warp, [&](std::int64_t i) { return k(i) * windows + i % windows; }),
                    of_pooled);
        const auto place = [&](std::int64_t i) {
          return (k(i) * to_pitch + p(i)) * to_pitch + q(i);
        };
        tally.shared_store(lanes(warp, place), images);
      }
    });
  }

  void connect(std::int64_t features, std::int64_t outputs) const {
    tally.load(quads(Cells{0, features}), every(features, outputs) * images);
    tally.shared_load(quads(Cells{0, features}), outputs * images);
    tally.load(one(0), every(1, outputs) * images);
    tally.store(one(0), every(1, outputs) * every(outputs, images));
    tally.shared_store(one(0), outputs * images);
  }
};

}  // namespace

Cost predict_fused_lenet(std::int64_t images) {
  Tally tally;
  tally.launch(images, kThreads, kLenetFloats * sizeof(float));
  tally.barriers(6 * images);
  for_each_warp_of_turns(kImagePitch * kImagePitch, [&](Cells warp) {
    tally.load(lanes(warp,
                     [](std::int64_t i) {
                       const std::int64_t h = i / kImagePitch - 2, w = i % kImagePitch - 2;
                       return h >= 0 && h < 28 && w >= 0 && w < 28 ? h * 28 + w : kNoCell;
                     }),
               every(28 * 28, images));
    tally.shared_store(warp, images);
  });
  for_each_warp_of_turns(16 * 18 * 18, [&](Cells warp) { tally.shared_store(warp, images); });
  const LenetTally layers{tally, images};
  layers.fetch_taps(kTaps);
  layers.fetch_taps(16 * kTaps);
  layers.convolve(1, 28, 18);
  layers.convolve(16, 14, 7);
  layers.connect(784, 120);
  layers.connect(120, 84);
  layers.connect(84, 10);
  // Softmax: each of ten threads reads all ten features, two quads and a pair, and its own.
  for (const int width : {4, 4, 2}) {
    tally.shared_load(wide_lanes(width, {0, 10}, [](std::int64_t) { return 0; }), images);
  }
  tally.shared_load(Cells{0, 10}, images);
  tally.store(Cells{0, 10}, every(10, images));
  return tally.cost();
}

}  // namespace halo::network
