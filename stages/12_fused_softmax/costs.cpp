// What the kernels of stage 12 must cost.
#include <algorithm>

#include "common/harness/families/softmax.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/12_fused_softmax/blocks.h"

namespace halo::fused_softmax {

namespace {

using conv::Softmax;

// Blocks of so many images, one behind the other, the first of them at cell `begin`.
void add_blocks(Tally& tally, const Softmax& softmax, const Tile& tile, std::int64_t blocks,
                std::int64_t images, std::int64_t begin) {
  const std::int64_t C = softmax.C();
  // Rows that are not kept whole are alone in their block, so what is kept is one run in any case,
  // and the others another.
  const Cells kept{begin, begin + images * tile.kept};
  const Cells others = Cells{0, images * (C - tile.kept)}.shifted(begin + tile.kept);
  const Times each = every(images * C, blocks);
  // All threads: cells in, exponentials, cells out. Where a row ends inside a warp, its lanes step
  // over the rest of the pitch.
  for (const Cells cells : {kept, others}) {
    tally.load(cells, each);
    tally.store(cells, each);
    // The image's maximum with each exponential, its sum with each division.
    tally.shared_load(one(0), each * 2 * Run(cells).requests());
  }
  for (const Cells warp : Cells{0, kept.size()}.pieces(kWarpSize)) {
    const Lanes cells = lanes(
        warp, [&](std::int64_t cell) { return cell / tile.kept * tile.pitch + cell % tile.kept; });
    tally.shared_store(cells, 2 * blocks);
    tally.shared_load(cells, 2 * blocks);
  }
  // One warp: maximum and sum, all images of a category at once. It stores both and reads the maxima
  // again. One lane reads the cells that are not kept.
  tally.shared_load(strided(0, images, tile.pitch), 2 * blocks * tile.kept);
  tally.load(one(0), 2 * blocks * others.size());
  tally.shared_store(Cells{0, images}, 2 * blocks);
  tally.shared_load(Cells{0, images}, blocks);
  tally.barriers(4 * blocks);
}

// A block an image: its cells in, exponentials, cells out. On chip the first of them, and so many bytes
// besides.
void add_rows(Tally& tally, const Softmax& softmax, std::int64_t reduction_bytes) {
  const std::int64_t C = softmax.C();
  const Cells kept{0, std::min<std::int64_t>(C, kKeptFloats)};
  tally.launch(softmax.N(), threads_for(softmax.C()),
               kept.size() * sizeof(float) + reduction_bytes);
  const Times each = every(C, softmax.N());
  tally.load(Cells{0, C}, each);
  tally.load(Cells{kept.end, C}, each * 2);  // the others again, for the sum and for the output
  tally.store(Cells{0, C}, each);
  tally.shared_store(kept, each * 2);
  tally.shared_load(kept, each * 2);
}

std::int64_t warps_of(const Softmax& softmax) { return threads_for(softmax.C()) / kWarpSize; }

Cost predict_five_kernels(const Softmax& softmax) {
  const std::int64_t C = softmax.C();
  const Cells cells{0, softmax.input_size()};  // a thread a cell
  const Cells images{0, softmax.N()};          // a thread an image
  constexpr int kCellThreads = 256;
  Tally tally;
  tally.launch(images.pieces(kWarpSize).count(), kWarpSize, 0, 2);
  tally.launch(cells.pieces(kCellThreads).count(), kCellThreads, 0, 3);
  // max and sum: for each category the lanes are C cells apart.
  tally.load(strided(0, images.size(), C), every(1, C) * 2);
  tally.store(images, 2);
  // subtract, exp and divide; the first and the last need their image's maximum, and its sum.
  tally.load(cells, 3);
  tally.store(cells, 3);
  for_each_warp(softmax.N(), C, [&](Cells warp, Again again) {
    tally.load(lanes(warp, [&](std::int64_t cell) { return cell / C; }), again.every(1) * 2);
  });
  return tally.cost();
}

Cost predict_fused(const Softmax& softmax) {
  const Tile tile = tile_of(softmax.C());
  const std::int64_t full = softmax.N() / tile.images;
  const std::int64_t rest = softmax.N() % tile.images;
  // On chip the cells, whose last row has no pitch, and a maximum and a sum for each image.
  const std::int64_t floats = (tile.images - 1) * tile.pitch + tile.kept + 2 * kImages;
  Tally tally;
  tally.launch(full + (rest > 0), 256, floats * sizeof(float));
  add_blocks(tally, softmax, tile, full, tile.images, 0);
  add_blocks(tally, softmax, tile, rest > 0, rest, full * tile.images * softmax.C());
  return tally.cost();
}

// Twice each warp leaves its result, and reads those of all.
Cost predict_fused_parallel(const Softmax& softmax) {
  const std::int64_t N = softmax.N();
  const std::int64_t warps = warps_of(softmax);
  Tally tally;
  add_rows(tally, softmax, 2 * warps * sizeof(float));  // a float of each warp, twice
  tally.shared_store(one(0), 2 * N * warps);
  tally.shared_load(Cells{0, warps}, 2 * N * warps);
  tally.barriers(2 * N);
  return tally.cost();
}

// Twice each warp leaves its result; thread 0 reads those of the others and leaves the block's; each
// warp reads that.
Cost predict_fused_cub(const Softmax& softmax) {
  const std::int64_t N = softmax.N();
  const std::int64_t warps = warps_of(softmax);
  Tally tally;
  // CUB keeps a float and a byte of each warp, in whole floats, and the block's; then come both results.
  add_rows(tally, softmax, (warps + (warps + 3) / 4 + 1 + 2) * sizeof(float));
  tally.shared_store(one(0), 2 * N * (warps + 1));
  tally.shared_load(one(0), 2 * N * (warps - 1 + warps));
  tally.barriers(4 * N);
  return tally.cost();
}

}  // namespace

void complete(SoftmaxStage& stage) {
  variant(stage, "five_kernels").predict = predict_five_kernels;
  variant(stage, "fused").predict = predict_fused;
  variant(stage, "fused_parallel").predict = predict_fused_parallel;
  variant(stage, "fused_cub").predict = predict_fused_cub;
}

}  // namespace halo::fused_softmax
