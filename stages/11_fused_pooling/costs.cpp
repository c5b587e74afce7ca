#include "stages/11_fused_pooling/costs.hpp"

#include "common/harness/traffic/tally.hpp"

namespace halo::fused_pooling {

namespace {

using conv::Layout;
using conv::PoolingLayer;

// A plain kernel reads a window from its first cell that exists on; a tile is gone through from its
// corner, whether that exists or not.
enum class From { first_cell, corner };

// The outputs of a layer along one axis, in tiles of `expansion`, of which the last may be short.
struct WindowAxis {
  std::int64_t cells, window, outputs, stride, padding;
  int expansion;

  std::int64_t tiles() const { return (outputs - 1) / expansion + 1; }
  // Outputs of the tile that exist.
  Cells outputs_of(std::int64_t tile) const {
    return Cells{tile * expansion, (tile + 1) * expansion}.within({0, outputs});
  }
  // Cells under them, with ghosts.
  Cells reach_of(std::int64_t tile) const {
    const Cells out = outputs_of(tile);
    return {out.begin * stride - padding, (out.end - 1) * stride - padding + window};
  }
  Cells cells_of(std::int64_t tile) const { return reach_of(tile).within({0, cells}); }
};

WindowAxis down(const PoolingLayer& layer, int expansion) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h(), expansion};
}

WindowAxis across(const PoolingLayer& layer, int expansion) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w(), expansion};
}

// Lanes are images. Each tile asks for each of its cells once: along one axis, whose cells lie `pitch`
// floats apart.
Times asked(const WindowAxis& axis, std::int64_t pitch) {
  Times times = 0;
  for (std::int64_t tile = 0; tile < axis.tiles(); ++tile) {
    const Cells cells = axis.cells_of(tile);
    for (std::int64_t cell = cells.begin; cell < cells.end; ++cell) times.add(cell * pitch);
  }
  return times;
}

Cost predict_chwn(const PoolingLayer& layer, Expansion expansion) {
  const std::int64_t N = layer.N(), C = layer.C(), W = layer.W(), map = W * layer.H();
  const Cells images{0, N};
  // A block has a warp of images of four channels, for each of them a tile.
  constexpr int kChannels = 4;
  Tally tally;
  tally.launch(down(layer, expansion.rows).tiles() * across(layer, expansion.columns).tiles() *
                   Cells{0, C}.pieces(kChannels).count() * images.pieces(kWarpSize).count(),
               kChannels * kWarpSize);
  tally.load(images, every(map * N, C) * asked(down(layer, expansion.rows), W * N) *
                         asked(across(layer, expansion.columns), N));
  tally.store(images, every(N, C * layer.P() * layer.Q()));
  return tally.cost();
}

// Threads are numbered through: planes of rows of tiles, one tile a column. Each goes down and across
// the cells under its outputs, all in step.
Cost predict_nchw(const PoolingLayer& layer, int expansion, From from) {
  const std::int64_t H = layer.H(), W = layer.W(), P = layer.P(), Q = layer.Q();
  const WindowAxis rows = down(layer, expansion);
  const WindowAxis columns = across(layer, 1);
  const std::int64_t threads_of_plane = rows.tiles() * Q;
  const auto row_of = [&](std::int64_t thread) { return thread % threads_of_plane / Q; };
  const auto first_of = [&](const WindowAxis& axis, std::int64_t tile) {
    return from == From::corner ? axis.reach_of(tile).begin : axis.cells_of(tile).begin;
  };
  constexpr int kThreads = 256;
  const Cells threads{0, layer.N() * layer.C() * threads_of_plane};
  Tally tally;
  tally.launch(threads.pieces(kThreads).count(), kThreads);
  for_each_warp(
      std::int64_t{layer.N()} * layer.C(), threads_of_plane, [&](Cells warp, Again planes) {
        for (std::int64_t i = 0; i < (expansion - 1) * rows.stride + rows.window; ++i) {
          for (std::int64_t j = 0; j < columns.window; ++j) {
            const auto cell_of = [&](std::int64_t thread) {
              const std::int64_t row = row_of(thread), column = thread % Q;
              const std::int64_t h = first_of(rows, row) + i, w = first_of(columns, column) + j;
              if (!rows.cells_of(row).contains(h) || !columns.cells_of(column).contains(w)) {
                return kNoCell;
              }
              return (thread / threads_of_plane * H + h) * W + w;
            };
            tally.load(lanes(warp, cell_of), planes.every(H * W));
          }
        }
        for (std::int64_t i = 0; i < expansion; ++i) {
          const auto output_of = [&](std::int64_t thread) {
            const std::int64_t p = row_of(thread) * expansion + i;
            return p < P ? (thread / threads_of_plane * P + p) * Q + thread % Q : kNoCell;
          };
          tally.store(lanes(warp, output_of), planes.every(P * Q));
        }
      });
  return tally.cost();
}

}  // namespace

Cost predict_plain(const PoolingLayer& layer, Layout layout) {
  if (layout == Layout::chwn) return predict_chwn(layer, {});
  return predict_nchw(layer, 1, From::first_cell);
}

Cost predict_reuse(const PoolingLayer& layer, Layout layout, Expansion expansion) {
  if (layout == Layout::chwn) return predict_chwn(layer, expansion);
  return predict_nchw(layer, expansion.rows, From::corner);
}

// Images lie side by side, so a row of outputs takes neighbours: a thread a piece of an output. A window that the compiler
// knows is gone through from its corner, any other from its first cell that exists.
Cost predict_rolling(const PoolingLayer& layer, int strip) {
  const std::int64_t N = layer.N(), C = layer.C(), H = layer.H(), W = layer.W(), Q = layer.Q();
  const int width = N % 4 == 0 ? 4 : 1;
  const bool known = layer.R() == layer.S() && layer.stride_h() == 2 && layer.stride_w() == 2 &&
                     (layer.R() == 2 || layer.R() == 3);
  const WindowAxis rows = down(layer, known ? strip : 1), columns = across(layer, 1);
  constexpr int kThreads = 128;
  const Cells threads{0, Q * (N / width)};
  Tally tally;
  tally.launch(threads.pieces(kThreads).count() * down(layer, strip).tiles() * C, kThreads);
  const Times loads = every(H * W * N, C) * asked(rows, W * N);
  for (const Cells warp : threads.pieces(kWarpSize)) {
    for (std::int64_t s = 0; s < columns.window; ++s) {
      tally.load(wide_lanes(width, warp,
                            [&](std::int64_t i) {
                              const std::int64_t q = i / (N / width);
                              const Cells cells = known ? columns.reach_of(q) : columns.cells_of(q);
                              const std::int64_t w = cells.begin + s;
                              return columns.cells_of(q).contains(w)
                                         ? w * N + i % (N / width) * width
                                         : kNoCell;
                            }),
                 loads);
    }
    tally.store(wide_lanes(width, warp, [&](std::int64_t i) { return i * width; }),
                every(Q * N, C * layer.P()));
  }
  return tally.cost();
}

}  // namespace halo::fused_pooling
