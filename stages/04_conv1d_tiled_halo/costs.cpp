// What the kernels of stage 04 must cost.
#include "common/harness/families/conv1d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::conv1d_tiled_halo {

namespace {

Cost predict_tiled_halo(const Conv1dShape& shape) {
  const Cells signal{0, shape.length};
  const Cells tile{0, shape.threads + 2 * shape.halo()};
  const auto blocks = signal.pieces(shape.threads);
  Tally tally;
  tally.launch(blocks.count(), shape.threads, tile.size() * sizeof(float));
  for (const Cells block : blocks) {
    // Loading: each cell of the tile is written, each that exists is read.
    for (const Cells turn : tile.pieces(shape.threads)) {
      for (const Cells warp : turn.pieces(kWarpSize)) {
        tally.load(warp.shifted(block.begin - shape.halo()).within(signal));
        tally.shared_store(warp);
      }
    }
    tally.barriers(1);
    // Computing: a tap is one read of the tile and one of constant memory.
    for (const Cells lanes : block.pieces(kWarpSize)) {
      const Cells warp = lanes.within({shape.first, shape.last});
      if (warp.empty()) continue;
      tally.shared_load(warp, shape.mask_width);
      tally.constant_load(shape.mask_width);
      tally.store(warp);
    }
  }
  return tally.cost();
}

Cost predict_warp_tile(const Conv1dShape& shape) {
  const Cells signal{0, shape.length};
  const Cells outputs{shape.first, shape.last};
  const int outputs_of_thread = shape.mask_width <= 31 ? 20 : 36;
  const int shift = (4 - shape.halo() % 4) % 4;  // the tile starts at a multiple of 16 bytes
  const Cells tile{0, kWarpSize * outputs_of_thread};
  const std::int64_t quads_read = (tile.end + shift + shape.mask_width - 1 + 3) / 4;
  // Four cells of each lane, whose own begin one thread's outputs after those of the lane before.
  const Run own{.lanes = kWarpSize, .stride = outputs_of_thread, .width = 4};
  // A block is two warps, each with a tile of its own.
  constexpr int kWarps = 2;
  Tally tally;
  tally.launch(signal.pieces(kWarps * tile.size()).count(), kWarps * kWarpSize,
               kWarps * 4 * quads_read * sizeof(float));
  for (std::int64_t start = 0; start < shape.length; start += tile.end) {
    // Loading: 16 bytes a lane if all of the tile exists, else cell by cell.
    const Cells read = Cells{0, 4 * quads_read}.shifted(start - shape.halo() - shift);
    if (signal.contains(read)) {
      tally.load(quads(read));
      tally.shared_store(quads(read));
    } else {
      for (const Cells row : read.pieces(kWarpSize)) tally.load(row.within(signal));
      tally.shared_store(read);
    }
    // Computing: 16 taps at a time, then the rest; each time the window.
    for (const Cells taps : Cells{0, shape.mask_width}.pieces(16)) {
      // Of the first and the last quad nvcc reads what is used: with 3 taps the last cell of the first one, and where lanes
      // want 4 bytes each, 80 bytes apart, four of them meet in a bank.
      const std::int64_t window = shift + outputs_of_thread + taps.size() - 1;
      const auto read_quad = [&](std::int64_t used) {
        Run cells = own;
        if (used <= 2) cells.width = static_cast<int>(used);
        tally.shared_load(cells);
      };
      read_quad(4 - shift);
      tally.shared_load(own, (window + 3) / 4 - 2);
      read_quad((window - 1) % 4 + 1);
      tally.constant_load(taps.size());
    }
    // Storing: into the tile, and from there, again 16 bytes a lane or cell by cell.
    const Cells written = tile.shifted(start);
    tally.shared_store(own, outputs_of_thread / 4);
    if (outputs.contains(written)) {
      tally.shared_load(quads(written));
      tally.store(quads(written));
    } else {
      for (const Cells row : written.pieces(kWarpSize)) {
        tally.shared_load(row.within(outputs));
        tally.store(row.within(outputs));
      }
    }
  }
  return tally.cost();
}

Cost predict_overlap_save(const Conv1dShape& shape) {
  constexpr int kThreads = 256, kNumbers = 16;  // of a thread
  constexpr int kPoints = kNumbers * kThreads;
  constexpr int kRow = kNumbers * (kNumbers + 1);  // numbers of a row on chip
  const Cells signal{0, shape.length};
  const Cells outputs{shape.first, shape.last};
  const std::int64_t valid = (kPoints + 1 - shape.mask_width) / 32 * 32;
  const auto blocks = signal.pieces(2 * valid);
  Tally tally;
  tally.launch(blocks.count(), kThreads, kNumbers * kRow * 2 * sizeof(float));
  // What all blocks do alike: a number is two cells.
  Tally block;
  block.barriers(2);
  for (const Cells warp : Cells{0, kThreads}.pieces(kWarpSize)) {
    // Half a warp has a row, and each lane a column of it, or 17 numbers apart a row of a square.
    const auto in_rows = [&](std::int64_t pitch) {
      return wide_lanes(2, warp, [pitch](std::int64_t t) {
        return 2 * (t / kNumbers * kRow + t % kNumbers * pitch);
      });
    };
    const Run contiguous = pairs({2 * warp.begin, 2 * warp.end});
    const Lanes columns = in_rows(1), squares = in_rows(kNumbers + 1);
    block.load(contiguous, 1 + kNumbers);  // the thread's root, the spectrum
    block.load(wide_lanes(2, warp, [](std::int64_t t) { return 2 * (t % kNumbers) * kNumbers; }));
    block.shared_store(contiguous, kNumbers);
    block.shared_load(columns, kNumbers);
    block.shared_store(columns, kNumbers);
    block.shared_load(squares, kNumbers);
    // And back.
    block.shared_store(squares, kNumbers);
    block.shared_load(columns, kNumbers);
    block.shared_store(columns, kNumbers);
    block.shared_load(contiguous, kNumbers);
  }
  for (const Cells both : blocks) {
    tally.add(block);
    for (const std::int64_t start : {both.begin, both.begin + valid}) {
      for (const Cells warp : Cells{0, kPoints}.pieces(kWarpSize)) {
        tally.load(warp.shifted(start - shape.halo()).within(signal));
        tally.store(warp.within({0, valid}).shifted(start).within(outputs));
      }
    }
  }
  return tally.cost();
}

}  // namespace

void complete(Conv1dStage& stage) {
  variant(stage, "tiled_halo").must_cost(predict_tiled_halo);
  variant(stage, "warp_tile").must_cost(predict_warp_tile);
  variant(stage, "overlap_save").must_cost(predict_overlap_save);
}

}  // namespace halo::conv1d_tiled_halo
