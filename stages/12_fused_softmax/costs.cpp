// What the kernels of stage 12 must cost.
#include "common/harness/families/softmax.hpp"
#include "common/harness/traffic.hpp"
#include "stages/12_fused_softmax/blocks.h"

namespace halo::fused_softmax {

namespace {

using conv::Softmax;

struct Requests {
  std::uint64_t requests = 0;
  std::uint64_t sectors = 0;

  Requests& operator+=(const Requests& other) {
    requests += other.requests;
    sectors += other.sectors;
    return *this;
  }
};

void add_loads(simt::Counters& counters, const Requests& added) {
  counters.global_load_requests += added.requests;
  counters.global_load_sectors += added.sectors;
}

void add_stores(simt::Counters& counters, const Requests& added) {
  counters.global_store_requests += added.requests;
  counters.global_store_sectors += added.sectors;
}

// Requests for shared memory, of `wavefronts` together.
void add_shared_loads(simt::Counters& counters, std::uint64_t requests, std::uint64_t wavefronts) {
  counters.shared_load_requests += requests;
  counters.shared_load_wavefronts += wavefronts;
  counters.shared_load_conflicts += wavefronts - requests;
}

void add_shared_stores(simt::Counters& counters, std::uint64_t requests, std::uint64_t wavefronts) {
  counters.shared_store_requests += requests;
  counters.shared_store_wavefronts += wavefronts;
  counters.shared_store_conflicts += wavefronts - requests;
}

std::int64_t groups_of(std::int64_t cells) { return (cells + kWarpSize - 1) / kWarpSize; }

// `count` runs of `length` neighbours, the first of which begins at cell `begin` and each other one
// `pitch` cells after the one before. 32 cells a request, from the beginning of the run on.
Requests runs(std::int64_t count, std::int64_t pitch, std::int64_t begin, std::int64_t length) {
  Requests all;
  if (length <= 0) return all;
  const std::int64_t last = (groups_of(length) - 1) * kWarpSize;  // where the last request begins
  for (int i = 0; i < 8 && i < count; ++i) {
    // Run i and every eighth after it begin at the same place of a sector.
    const std::uint64_t alike = (count - i + 7) / 8;
    const std::int64_t start = (begin + i * (pitch % 8)) % 8;
    all.requests += alike * groups_of(length);
    all.sectors += alike * (last / kWarpSize * Cells{start, start + kWarpSize}.sectors() +
                            Cells{start + last, start + length}.sectors());
  }
  return all;
}

// ---- step 1 --------------------------------------------------------------------------------------

// A thread an image walks along its row: 32 lanes are C cells apart.
Requests columns(const Softmax& softmax) {
  Requests all;
  const std::int64_t C = softmax.C();
  const auto add = [&](std::uint64_t warps, int lanes) {
    if (warps == 0) return;
    // A warp's first cell is a multiple of 32 * C, so the categories c and c + 8 fall alike.
    for (std::int64_t c = 0; c < 8 && c < C; ++c) {
      const std::uint64_t alike = warps * ((C - c + 7) / 8);
      std::vector<std::int64_t> cells;
      for (int n = 0; n < lanes; ++n) cells.push_back(n * C + c);
      all.requests += alike;
      all.sectors += alike * sectors_of(cells);
    }
  };
  add(softmax.N() / kWarpSize, kWarpSize);
  if (softmax.N() % kWarpSize > 0) add(1, softmax.N() % kWarpSize);
  return all;
}

// A thread a cell reads what belongs to its image.
Requests images_of_cells(const Softmax& softmax) {
  const std::int64_t C = softmax.C();
  const auto sectors = [&](std::int64_t images) {  // for the cells of the first so many
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < images * C; i += kWarpSize) {
      const std::int64_t last = std::min(i + kWarpSize, images * C) - 1;
      sum += Cells{i / C, last / C + 1}.sectors();
    }
    return sum;
  };
  // After 32 images everything begins anew.
  const std::int64_t N = softmax.N();
  const std::uint64_t again = N < kWarpSize ? 0 : N / kWarpSize * sectors(kWarpSize);
  return {static_cast<std::uint64_t>(groups_of(N * C)), again + sectors(N % kWarpSize)};
}

simt::Counters predict_five_kernels(const Softmax& softmax) {
  simt::Counters counters;
  const Requests cells = runs(1, 0, 0, softmax.input_size());  // by a thread a cell
  const Requests images = runs(1, 0, 0, softmax.N());          // by a thread an image
  // max
  add_loads(counters, columns(softmax));
  add_stores(counters, images);
  // subtract
  add_loads(counters, cells);
  add_loads(counters, images_of_cells(softmax));
  add_stores(counters, cells);
  // exp
  add_loads(counters, cells);
  add_stores(counters, cells);
  // sum
  add_loads(counters, columns(softmax));
  add_stores(counters, images);
  // divide
  add_loads(counters, cells);
  add_loads(counters, images_of_cells(softmax));
  add_stores(counters, cells);
  return counters;
}

// ---- step 2 --------------------------------------------------------------------------------------

// `blocks` blocks of so many images, one behind the other, the first of them at cell `begin`.
simt::Counters predict_tiles(const Softmax& softmax, const Tile& tile, std::uint64_t blocks,
                             std::int64_t images, std::int64_t begin) {
  simt::Counters counters;
  if (blocks == 0) return counters;
  const std::int64_t C = softmax.C();
  const std::int64_t kept = images * tile.kept;
  const std::int64_t others = images * (C - tile.kept);
  const std::int64_t pitch = images * C;

  // All threads: cells in, exponentials, cells out. Rows that are not kept whole are alone in their
  // block, so what is kept is one run in any case, and the others another.
  const Requests kept_cells = runs(blocks, pitch, begin, kept);
  const Requests other_cells = runs(blocks, pitch, begin + tile.kept, others);
  add_loads(counters, kept_cells);
  add_loads(counters, other_cells);
  add_stores(counters, kept_cells);
  add_stores(counters, other_cells);
  // Where a row ends inside a warp, its lanes step over the rest of the pitch.
  std::uint64_t wavefronts = 0;
  for (std::int64_t i = 0; i < kept; i += kWarpSize) {
    std::vector<std::int64_t> cells;
    for (std::int64_t cell = i; cell < std::min(i + kWarpSize, kept); ++cell) {
      cells.push_back(cell / tile.kept * tile.pitch + cell % tile.kept);
    }
    wavefronts += wavefronts_of(cells);
  }
  const std::uint64_t groups = groups_of(kept);
  const std::uint64_t other_groups = groups_of(others);
  add_shared_stores(counters, 2 * blocks * groups, 2 * blocks * wavefronts);
  add_shared_loads(counters, 2 * blocks * groups, 2 * blocks * wavefronts);
  // The image's maximum with each exponential, its sum with each division.
  const std::uint64_t vectors = blocks * (groups + other_groups + groups + other_groups);
  add_shared_loads(counters, vectors, vectors);

  // One warp: maximum and sum, all images of a category at once, an odd pitch apart. It stores both
  // and reads the maxima again.
  const std::uint64_t reductions = 2 * blocks * tile.kept + blocks;
  add_shared_loads(counters, reductions, reductions);
  add_shared_stores(counters, 2 * blocks, 2 * blocks);
  add_loads(counters, {2 * blocks * others, 2 * blocks * others});  // one lane: cells not kept
  counters.barriers += 4 * blocks;
  return counters;
}

simt::Counters predict_fused(const Softmax& softmax) {
  const Tile tile = tile_of(softmax.C());
  const std::int64_t full = softmax.N() / tile.images;
  const std::int64_t rest = softmax.N() % tile.images;
  simt::Counters counters = predict_tiles(softmax, tile, full, tile.images, 0);
  counters += predict_tiles(softmax, tile, rest > 0, rest, full * tile.images * softmax.C());
  return counters;
}

// ---- steps 3 and 4 -------------------------------------------------------------------------------

simt::Counters predict_rows(const Softmax& softmax) {
  simt::Counters counters;
  const std::int64_t N = softmax.N();
  const std::int64_t C = softmax.C();
  const std::int64_t kept = std::min<std::int64_t>(C, kKeptFloats);
  const Requests others = runs(N, C, kept, C - kept);
  add_loads(counters, runs(N, C, 0, C));
  add_loads(counters, others);  // for the sum
  add_loads(counters, others);  // for the output
  add_stores(counters, runs(N, C, 0, C));
  const std::uint64_t groups = N * groups_of(kept);
  add_shared_stores(counters, 2 * groups, 2 * groups);
  add_shared_loads(counters, 2 * groups, 2 * groups);
  return counters;
}

simt::Counters predict_fused_parallel(const Softmax& softmax) {
  simt::Counters counters = predict_rows(softmax);
  const std::uint64_t N = softmax.N();
  const std::uint64_t warps = threads_for(softmax.C()) / kWarpSize;
  add_shared_stores(counters, 2 * N * warps, 2 * N * warps);
  add_shared_loads(counters, 2 * N * warps, 2 * N * warps);
  counters.barriers += 2 * N;
  return counters;
}

simt::Counters predict_fused_cub(const Softmax& softmax) {
  simt::Counters counters = predict_rows(softmax);
  const std::uint64_t N = softmax.N();
  const std::uint64_t warps = threads_for(softmax.C()) / kWarpSize;
  // Each warp leaves its result; thread 0 reads those of the others and leaves the block's; each warp
  // reads that.
  add_shared_stores(counters, 2 * N * (warps + 1), 2 * N * (warps + 1));
  add_shared_loads(counters, 2 * N * (warps - 1 + warps), 2 * N * (warps - 1 + warps));
  counters.barriers += 4 * N;
  return counters;
}

}  // namespace

void complete(SoftmaxStage& stage) {
  variant(stage, "five_kernels").predict = predict_five_kernels;
  variant(stage, "fused").predict = predict_fused;
  variant(stage, "fused_parallel").predict = predict_fused_parallel;
  variant(stage, "fused_cub").predict = predict_fused_cub;
}

}  // namespace halo::fused_softmax
