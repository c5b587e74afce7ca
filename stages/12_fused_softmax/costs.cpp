// What the kernels of stage 12 must cost.
#include <algorithm>

#include "common/harness/families/softmax.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/12_fused_softmax/blocks.h"
#include "stages/12_fused_softmax/registers.h"

namespace halo::fused_softmax {

namespace {

using conv::Softmax;

// Blocks of so many images, one after the other, the first of them at cell `begin`.
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
  // What is kept of the row begins at a multiple of 16 bytes.
  tally.launch(softmax.N(), threads_for(softmax.C()),
               kept.size() * sizeof(float) + (reduction_bytes + 15) / 16 * 16);
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
  const Cells images{0, softmax.N()};          // a thread per image
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
  // Thread 0 reads what four warps have left at once, but of the first four, of which one is its own, only where there
  // are 16; of two, one of the reductions takes both by themselves.
  const std::int64_t fours = warps / 4 + (warps < 16);
  const std::int64_t by_first = warps == 1 ? 0 : warps == 2 ? 3 : 2 * fours;
  tally.shared_load(one(0), N * (2 * warps + by_first));
  tally.barriers(4 * N);
  return tally.cost();
}

// Pieces of 16 bytes or a float each, as a warp's lanes have them: `rows` rows from the first on, of lanes / rows threads
// each, all of them the pieces from `first` on.
Lanes pieces_of(const Team& team, std::int64_t C, std::int64_t rows, std::int64_t first) {
  const std::int64_t lanes_of_row = std::min(team.threads, kWarpSize);
  return wide_lanes(team.width, {0, kWarpSize}, [&](std::int64_t l) {
    const std::int64_t piece = first + l % lanes_of_row;
    const bool exists = l / lanes_of_row < rows && piece < C / team.width;
    return exists ? l / lanes_of_row * C + piece * team.width : kNoCell;
  });
}

constexpr std::int64_t kPartBytes = 2 * sizeof(float);

// Each warp of a block leaves its part, and reads those of all.
void add_parts(Tally& tally, std::int64_t warps, std::int64_t blocks) {
  tally.shared_store(pairs(Cells{0, 2}), blocks * warps);
  tally.shared_load(pairs(Cells{0, 2 * warps}), blocks * warps);
}

Cost predict_cluster(const Softmax& softmax, const ClusterTeam& team) {
  const std::int64_t N = softmax.N(), C = softmax.C();
  const std::int64_t blocks = N * team.blocks, warps = team.threads / kWarpSize;
  Tally tally;
  // The barrier comes first, and arrays begin at multiples of 16 bytes.
  tally.launch(blocks, team.threads, 16 + (warps + kMostBlocks) * kPartBytes);
  const Run row = C % 4 == 0 ? quads(Cells{0, C}) : Run(Cells{0, C});
  tally.load(row, every(C, N));
  tally.store(row, every(C, N));
  add_parts(tally, warps, blocks);
  // A lane a block takes the block's part there, to the own one as well. Then every warp reads those of all blocks.
  tally.dshared_store(wide_lanes(2, {0, team.blocks}, [](std::int64_t l) { return l * kWarpSize; }),
                      blocks);
  tally.shared_load(pairs(Cells{0, 2 * team.blocks}), blocks * warps);
  tally.barriers(blocks * (1 + 1));
  return tally.cost();
}

Cost predict_one_read(const Softmax& softmax) {
  const std::int64_t N = softmax.N(), C = softmax.C();
  const Team team = team_of(softmax.N(), softmax.C());
  if (team.threads == 0) {
    const ClusterTeam cluster = cluster_of(softmax.N(), softmax.C());
    return cluster.blocks == 0 ? predict_fused_parallel(softmax)
                               : predict_cluster(softmax, cluster);
  }
  const std::int64_t rows_of_block = std::int64_t{team.block_rows()} * team.rows;
  const std::int64_t blocks = (N - 1) / rows_of_block + 1;
  const std::int64_t warps = std::max(team.threads / kWarpSize, 1);  // of a row
  Tally tally;
  // Where a row is one warp's there are no parts, and no memory for them.
  tally.launch(blocks, team.block_threads(), team.threads > kWarpSize ? warps * kPartBytes : 0);
  if (team.threads > kWarpSize) {
    add_parts(tally, warps, N);
    tally.barriers(N);
  }
  // A warp has so many rows at a time, or a part of one.
  const std::int64_t rows = std::max(kWarpSize / team.threads, 1);
  for (std::int64_t first = 0; first * team.width < C; first += std::min(team.threads, kWarpSize)) {
    const Lanes full = pieces_of(team, C, rows, first);
    tally.load(full, every(rows * C, N / rows));
    tally.store(full, every(rows * C, N / rows));
    if (N % rows != 0) {
      Times last = 0;
      last.add(N / rows * rows * C);
      const Lanes rest = pieces_of(team, C, N % rows, first);
      tally.load(rest, last);
      tally.store(rest, last);
    }
  }
  return tally.cost();
}

}  // namespace

void complete(SoftmaxStage& stage) {
  variant(stage, "five_kernels").must_cost(predict_five_kernels);
  variant(stage, "fused").must_cost(predict_fused);
  variant(stage, "fused_parallel").must_cost(predict_fused_parallel);
  variant(stage, "fused_cub").must_cost(predict_fused_cub);
  variant(stage, "one_read").must_cost(predict_one_read);
}

}  // namespace halo::fused_softmax
