#include "stages/13_network/costs.hpp"

#include "common/harness/traffic/tally.hpp"

namespace halo::network {

using conv::Layout;

// The kernels' numbers: a tile of images and outputs, the features that are in shared memory at a time,
// threads across a tile; images of a warp.
constexpr int kTile = 64;
constexpr int kTileStep = 32;
constexpr int kTileSide = 16;
constexpr int kLaneImages = 4;

Cost predict_tiled(const conv::ConvLayer& layer, Layout layout) {
  const std::int64_t N = layer.N(), F = layer.products_per_output(), K = layer.K();
  const bool in_nchw = layout == Layout::nchw;
  const std::int64_t image_tiles = (N - 1) / kTile + 1;
  const std::int64_t output_tiles = (K - 1) / kTile + 1;
  const std::int64_t steps = image_tiles * output_tiles * ((F - 1) / kTileStep + 1);
  constexpr int kTilePitch = kTile + 1;  // floats from a feature to the next
  Tally tally;
  tally.launch(image_tiles * output_tiles, kTileSide * kTileSide,
               2 * kTileStep * kTilePitch * sizeof(float));
  // Reading: the filters once for each tile of images, the images once for each tile of outputs.
  tally.load(Cells{0, F}, every(F, K) * image_tiles);
  if (in_nchw) {
    tally.load(Cells{0, F}, every(F, N) * output_tiles);
  } else {
    tally.load(Cells{0, N}, every(N, F) * output_tiles);
  }
  // Both tiles are written whole, whether their cells exist or not.
  tally.shared_store(Cells{0, kTileStep * kTile}, steps * 2);
  // For each of a step's features a thread reads 4 cells of both; lanes read runs of at most 16.
  constexpr std::int64_t kWarps = kTileSide * kTileSide / kWarpSize;
  tally.shared_load(Cells{0, kTileSide}, steps * kTileStep * kWarps * 8);
  tally.barriers(steps * 2);

  // Writing: a warp has two neighbouring lines of a tile, 16 cells of each at a time.
  const std::int64_t lines = in_nchw ? N : K;
  const Cells line{0, in_nchw ? K : N};
  for (const Cells piece : line.pieces(kTileSide)) {
    const auto cell_of = [&](std::int64_t lane) {
      const std::int64_t cell = piece.begin + lane % kTileSide;
      return cell < piece.end ? lane / kTileSide * line.size() + cell : kNoCell;
    };
    tally.store(lanes({0, 2 * kTileSide}, cell_of), every(2 * line.size(), lines / 2));
    // The last line of an odd number is alone.
    if (lines % 2 != 0) tally.store(piece.shifted((lines - 1) * line.size()));
  }
  return tally.cost();
}

Cost predict_lanes(const conv::ConvLayer& layer, Layout layout) {
  const std::int64_t N = layer.N(), F = layer.products_per_output(), K = layer.K();
  constexpr int kLaneWarps = 8;  // and so outputs, of a block
  Tally tally;
  tally.launch(Cells{0, N}.pieces(kLaneImages).count() * Cells{0, K}.pieces(kLaneWarps).count(),
               kLaneWarps * kWarpSize);
  tally.load(Cells{0, F}, every(F, K) * ((N - 1) / kLaneImages + 1));
  if (layout == Layout::nchw) {
    tally.load(Cells{0, F}, every(F, N) * K);
  } else {
    tally.load(strided(0, F, N), every(1, N) * K);  // lanes are N cells apart
  }
  tally.store(one(0), N * K);  // one lane writes, image by image
  return tally.cost();
}

Cost predict_rows(const conv::ConvLayer& layer) {
  const std::int64_t F = layer.products_per_output(), K = layer.K();
  constexpr int kRowWarps = 8;  // and so outputs, of a block
  const int width = F % 4 == 0 ? 4 : 1;
  Tally tally;
  tally.launch(Cells{0, K}.pieces(kRowWarps).count(), kRowWarps * kWarpSize);
  for (const Cells warp : Cells{0, F / width}.pieces(kWarpSize)) {
    const Lanes features = wide_lanes(width, warp, [&](std::int64_t i) { return i * width; });
    tally.load(features, every(F, K));
    tally.load(features, K);
  }
  tally.store(one(0), K);
  return tally.cost();
}

Cost bias_of_tiled(const conv::ConvLayer& layer, Layout layout) {
  const std::int64_t N = layer.N(), K = layer.K();
  Tally tally;
  if (layout == Layout::chwn) {  // where a warp stores: two lines, a filter each
    const std::int64_t pieces = Cells{0, N}.pieces(kTileSide).count();
    tally.load(lanes({0, 2 * kTileSide}, [](std::int64_t lane) { return lane / kTileSide; }),
               every(2, K / 2) * pieces);
    if (K % 2 != 0) tally.load(one(K - 1), pieces);
    return tally.cost();
  }
  // Two images, the same filters.
  for (const Cells piece : Cells{0, K}.pieces(kTileSide)) {
    tally.load(piece, (N + 1) / 2);
  }
  return tally.cost();
}

Cost bias_of_lanes(const conv::ConvLayer& layer, Layout) {
  Tally tally;
  tally.load(one(0), layer.K() * Cells{0, layer.N()}.pieces(kLaneImages).count());
  return tally.cost();
}

Cost bias_of_rows(const conv::ConvLayer& layer) {
  Tally tally;
  tally.load(one(0), layer.K());
  return tally.cost();
}

int inner_of(const BiasRelu& problem) {
  const conv::Images& images = problem.images;
  return images.H() * images.W() * (problem.layout == Layout::chwn ? images.N() : 1);
}

Cost predict_bias_relu(const BiasRelu& problem) {
  const Cells cells{0, problem.images.size()};
  const std::int64_t inner = inner_of(problem);
  const std::int64_t channels = problem.images.C();
  constexpr int kThreads = 256;
  Tally tally;
  tally.launch(cells.pieces(kThreads).count(), kThreads);
  tally.load(cells);
  tally.store(cells);
  // The biases: those of neighbouring channels, and from the last one on again the first.
  for_each_warp(cells.size() / (inner * channels), inner * channels, [&](Cells warp, Again images) {
    const auto bias_of = [&](std::int64_t cell) { return cell / inner % channels; };
    tally.load(lanes(warp, bias_of), images.every(0));
  });
  return tally.cost();
}

}  // namespace halo::network
