// What the kernels of stage 10's transforms must cost, and the copy that stands beside them.
#include <algorithm>
#include <vector>

#include "common/harness/backend/copy.hpp"
#include "common/harness/families/transform.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/10_layout_transform/shapes.h"

namespace halo::layout_transform {

namespace {

using conv::Transform;

constexpr std::int64_t kTile = 32;  // the side of a tile

bool to_nchw(const Transform& transform) { return transform.to() == conv::Layout::nchw; }
std::int64_t images(const Transform& transform) { return transform.images().N(); }
std::int64_t cells_of_image(const Transform& transform) {
  return transform.input_size() / transform.images().N();
}

std::int64_t tiles(std::int64_t rows, std::int64_t columns) {
  return ((rows - 1) / kTile + 1) * ((columns - 1) / kTile + 1);
}

// A block a cell, a lane an image: in CHWN, [cells][N], lanes are neighbours; in NCHW, [N][cells], they
// are an image apart.
Cost predict_naive(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  Tally tally;
  tally.launch(cells, std::min<std::int64_t>(N, 1024));
  if (to_nchw(transform)) {
    tally.load(Cells{0, N}, every(N, cells));
    tally.store(strided(0, N, cells), every(1, cells));
  } else {
    tally.load(strided(0, N, cells), every(1, cells));
    tally.store(Cells{0, N}, every(N, cells));
  }
  return tally.cost();
}

// The input is a matrix whose rows are gone through by warps of neighbours, and so is the output, whose
// rows are the columns of the input. A tile is written by rows and read by columns.
Cost predict_tiled(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  const std::int64_t rows = to_nchw(transform) ? cells : N;
  const std::int64_t columns = to_nchw(transform) ? N : cells;
  Tally tally;
  tally.launch(tiles(rows, columns), kTile * kTile, kTile * (kTile + 1) * sizeof(float));
  tally.load(Cells{0, columns}, every(columns, rows));
  tally.shared_store(Cells{0, columns}, rows);
  tally.barriers(tiles(rows, columns));
  tally.shared_load(strided(0, rows, kTile + 1), columns);
  tally.store(Cells{0, rows}, every(rows, columns));
  return tally.cost();
}

// In CHWN a lane has two images, 8 bytes. In NCHW it has a cell of the one and then of the other, both
// with one access to the tile [cell][pair].
Cost predict_tiled_float2(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  if (N % 2 != 0) return predict_tiled(transform);
  const Run chwn = pairs({0, N});
  const Run nchw = Cells{0, cells};
  const Run column{.lanes = cells, .stride = 2 * (kTile + 1), .width = 2};
  Tally tally;
  tally.launch(tiles(cells, N / 2), kTile * kTile, kTile * (kTile + 1) * 2 * sizeof(float));
  if (to_nchw(transform)) {
    tally.load(chwn, every(N, cells));
    tally.shared_store(chwn, cells);
    tally.shared_load(column, N / 2);
    tally.store(nchw, every(cells, N));
  } else {
    tally.load(nchw, every(cells, N));
    tally.shared_store(column, N / 2);
    tally.shared_load(chwn, cells);
    tally.store(chwn, every(N, cells));
  }
  tally.barriers(tiles(cells, N / 2));
  return tally.cost();
}

// Tiles of a matrix, by how many of their rows and columns exist: full ones, and those at the two edges. `origins` are their
// first cells, in the input and in the output.
template <class Visit>
void for_each_kind_of_tile(const TileShape& shape, std::int64_t rows, std::int64_t columns,
                           Visit visit) {
  struct Side {
    std::int64_t exist, first, times;
  };
  const auto sides = [](std::int64_t all, std::int64_t size) {
    std::vector<Side> found;
    if (all >= size) found.push_back({size, 0, all / size});
    if (all % size != 0) found.push_back({all % size, all - all % size, 1});
    return found;
  };
  const auto behind = [](std::int64_t cells) {
    Times times = 0;
    times.add(cells);
    return times;
  };
  for (const Side& down : sides(rows, shape.rows)) {
    for (const Side& across : sides(columns, shape.columns)) {
      visit(down.exist, across.exist,
            behind(down.first * columns + across.first) * every(shape.rows * columns, down.times) *
                every(shape.columns, across.times),
            behind(across.first * rows + down.first) * every(shape.rows, down.times) *
                every(shape.columns * rows, across.times));
    }
  }
}

// A warp's 4 x 4 cells a thread, from the tile's cell on: four rows of 16 bytes in.
template <class Visit>
void for_each_warp_of_tile(const TileShape& shape, Visit visit) {
  const std::int64_t threads = std::int64_t{shape.rows} * shape.columns / 16;
  for (std::int64_t warp = 0; warp < threads; warp += kWarpSize) {
    const Cells all{warp, std::min(warp + kWarpSize, threads)};
    for (std::int64_t i = 0; i < 4; ++i) visit(all, i);
  }
}

// Turned in registers, and out at once.
void add_registers(Tally& tally, const TileShape& shape, std::int64_t rows, std::int64_t columns) {
  const std::int64_t across = shape.columns / 4;
  tally.launch(tiles_of(shape, static_cast<int>(rows), static_cast<int>(columns)),
               std::int64_t{shape.rows} * shape.columns / 16);
  for_each_kind_of_tile(
      shape, rows, columns, [&](std::int64_t h, std::int64_t w, const Times& in, const Times& out) {
        for_each_warp_of_tile(shape, [&](Cells all, std::int64_t i) {
          const auto lanes_at = [&](auto place) {
            return wide_lanes(4, all, [&](std::int64_t t) {
              const std::int64_t row = t / across * 4, column = t % across * 4;
              return row < h && column < w ? place(row, column) : kNoCell;
            });
          };
          tally.load(
              lanes_at([&](std::int64_t r, std::int64_t c) { return (r + i) * columns + c; }), in);
          tally.store(lanes_at([&](std::int64_t r, std::int64_t c) { return (c + i) * rows + r; }),
                      out);
        });
      });
}

// A thread has 4 x 4 cells: four rows of 16 bytes in, four columns on chip; then warps go through the turned tile.
void add_quads(Tally& tally, const TileShape& shape, std::int64_t rows, std::int64_t columns) {
  const std::int64_t across = shape.columns / 4, down = shape.rows / 4;
  const std::int64_t shift = shape.columns >= 32 ? 1 : 32 / shape.columns;  // kQuadShift
  const std::int64_t threads = across * down;
  tally.launch(tiles_of(shape, static_cast<int>(rows), static_cast<int>(columns)), threads,
               (shape.columns * down + across * shift) * 16);
  for_each_kind_of_tile(
      shape, rows, columns, [&](std::int64_t h, std::int64_t w, const Times& in, const Times& out) {
        const std::int64_t tiles = static_cast<std::int64_t>(in.total());
        for_each_warp_of_tile(shape, [&](Cells all, std::int64_t i) {
          tally.load(wide_lanes(4, all,
                                [&](std::int64_t t) {
                                  const std::int64_t row = t / across * 4 + i,
                                                     column = t % across * 4;
                                  return row < h && column < w ? row * columns + column : kNoCell;
                                }),
                     in);
          tally.shared_store(wide_lanes(4, all,
                                        [&](std::int64_t t) {
                                          const std::int64_t a = t % across;
                                          return 4 * ((4 * a + i) * down + t / across + a * shift);
                                        }),
                             tiles);
        });
        for (std::int64_t first = 0; first < shape.columns * down; first += kWarpSize) {
          const Cells all{first, first + kWarpSize};
          const auto exists = [&](std::int64_t at) { return at / down < w && at % down * 4 < h; };
          tally.shared_load(wide_lanes(4, all,
                                       [&](std::int64_t at) {
                                         return exists(at) ? 4 * (at + at / down / 4 * shift)
                                                           : kNoCell;
                                       }),
                            tiles);
          tally.store(wide_lanes(4, all,
                                 [&](std::int64_t at) {
                                   return exists(at) ? at / down * rows + at % down * 4 : kNoCell;
                                 }),
                      out);
        }
        tally.barriers(tiles);
      });
}

void add_floats(Tally& tally, const TileShape& shape, std::int64_t rows, std::int64_t columns) {
  const std::int64_t pitch = shape.columns + 1;
  tally.launch(tiles_of(shape, static_cast<int>(rows), static_cast<int>(columns)), kFloatThreads,
               shape.rows * pitch * 4);
  for_each_kind_of_tile(
      shape, rows, columns, [&](std::int64_t h, std::int64_t w, const Times& in, const Times& out) {
        const std::int64_t tiles = static_cast<std::int64_t>(in.total());
        for (std::int64_t first = 0; first < std::int64_t{shape.rows} * shape.columns;
             first += kWarpSize) {
          const Cells all{first, first + kWarpSize};
          const auto cell = [&](std::int64_t row, std::int64_t column, std::int64_t at) {
            return row < h && column < w ? at : kNoCell;
          };
          const auto by_rows = [&](auto place) {
            return lanes(all, [&](std::int64_t at) {
              const std::int64_t row = at / shape.columns, column = at % shape.columns;
              return cell(row, column, place(row, column));
            });
          };
          const auto by_columns = [&](auto place) {
            return lanes(all, [&](std::int64_t at) {
              const std::int64_t row = at % shape.rows, column = at / shape.rows;
              return cell(row, column, place(row, column));
            });
          };
          const auto on_chip = [&](std::int64_t row, std::int64_t column) {
            return row * pitch + column;
          };
          tally.load(by_rows([&](std::int64_t r, std::int64_t c) { return r * columns + c; }), in);
          tally.shared_store(by_rows(on_chip), tiles);
          tally.shared_load(by_columns(on_chip), tiles);
          tally.store(by_columns([&](std::int64_t r, std::int64_t c) { return c * rows + r; }),
                      out);
        }
        tally.barriers(tiles);
      });
}

// A run of whole rows of CHWN, as it lies in memory, and four cells of an image at a time.
void add_runs(Tally& tally, std::int64_t N, std::int64_t cells, bool to_chwn) {
  const Cells::Pieces blocks = Cells{0, cells}.pieces(kRunCells);
  tally.launch(blocks.count(), kRunThreads, kRunCells * N * sizeof(float));
  tally.barriers(blocks.count());
  const std::int64_t across = kRunCells / 4;
  const auto add_kind = [&](std::int64_t exist, std::int64_t first, std::int64_t times) {
    Times nchw = 0, chwn = 0;
    nchw.add(first);
    chwn.add(first * N);
    nchw = nchw * every(kRunCells, times);
    chwn = chwn * every(kRunCells * N, times);
    const Run run = quads(Cells{0, exist * N});
    for (const Cells warp : Cells{0, across * N}.pieces(kWarpSize)) {
      const auto cell = [&](std::int64_t t) { return t % across * 4; };
      const Lanes images = wide_lanes(4, warp, [&](std::int64_t t) {
        return cell(t) < exist ? t / across * cells + cell(t) : kNoCell;
      });
      if (to_chwn) {
        tally.load(images, nchw);
      } else {
        tally.store(images, nchw);
      }
      for (std::int64_t i = 0; i < 4; ++i) {
        const Lanes on_chip = lanes(warp, [&](std::int64_t t) {
          return cell(t) < exist ? (cell(t) + i) * N + t / across : kNoCell;
        });
        if (to_chwn) {
          tally.shared_store(on_chip, times);
        } else {
          tally.shared_load(on_chip, times);
        }
      }
    }
    if (to_chwn) {
      tally.shared_load(run, times);
      tally.store(run, chwn);
    } else {
      tally.load(run, chwn);
      tally.shared_store(run, times);
    }
  };
  if (cells >= kRunCells) add_kind(kRunCells, 0, cells / kRunCells);
  if (cells % kRunCells != 0) add_kind(cells % kRunCells, cells - cells % kRunCells, 1);
}

Cost predict_quads(const Transform& transform) {
  const std::int64_t N = images(transform), cells = cells_of_image(transform);
  const std::int64_t rows = to_nchw(transform) ? cells : N;
  const std::int64_t columns = to_nchw(transform) ? N : cells;
  const TileShape shape =
      shape_of(static_cast<int>(rows), static_cast<int>(columns), !to_nchw(transform));
  Tally tally;
  switch (shape.way) {
    case Way::registers:
      add_registers(tally, shape, rows, columns);
      break;
    case Way::quads:
      add_quads(tally, shape, rows, columns);
      break;
    case Way::runs:
      add_runs(tally, N, cells, !to_nchw(transform));
      break;
    case Way::floats:
      add_floats(tally, shape, rows, columns);
      break;
  }
  return tally.cost();
}

// 16 bytes a lane, and what is left over of 16 bytes in a request of its own.
Cost predict_copy(const Transform& transform) {
  const std::int64_t floats = transform.input_size();
  const Cells whole{0, floats / 4 * 4};
  const Cells rest{whole.end, floats};
  Tally tally;
  constexpr int kCopyThreads = 128;
  tally.launch(std::max<std::int64_t>((floats / 4 + kCopyThreads - 1) / kCopyThreads, 1),
               kCopyThreads);
  tally.load(quads(whole));
  tally.load(rest);
  tally.store(quads(whole));
  tally.store(rest);
  return tally.cost();
}

}  // namespace

void complete(TransformStage& stage) {
  variant(stage, "naive").must_cost(predict_naive);
  variant(stage, "tiled").must_cost(predict_tiled);
  TransformVariant& pairs = variant(stage, "tiled_float2");
  pairs.must_cost(predict_tiled_float2);
  pairs.tells([](const Transform& transform) -> std::string {
    return transform.images().N() % 2 == 0 ? "" : "odd N: as tiled";
  });

  variant(stage, "quads").must_cost(predict_quads);

  TransformVariant copy;
  copy.name = "copy";
  copy.source = "common/harness/backend/copy.cu";
  copy.description = "no transform: our kernel that copies as many bytes";
  copy.role = Role::copy;
  copy.launches([](const ProblemCall<Transform>& c) {
    return launch_copy(c.input, c.output, c.problem.input_size());
  });
  copy.must_cost(predict_copy);
  stage.variants.push_back(copy);
}

}  // namespace halo::layout_transform
