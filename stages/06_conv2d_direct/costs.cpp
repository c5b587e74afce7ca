// What the kernels of stage 06 must cost.

#include "common/convolve/windows/windows.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::conv2d_direct {

namespace {

using conv::ConvLayer;

// A block's outputs, and how many filters it applies to a tile from step 6 on.
constexpr int kTileRows = 8;
constexpr int kTileColumns = 32;
constexpr int kFilterGroup = 8;

// A thread for each output of a tile, a block for each tile of `maps` maps.
void add_launch(Tally& tally, const ConvLayer& layer, std::int64_t maps,
                std::int64_t shared_floats) {
  const std::int64_t tiles = Cells{0, layer.P()}.pieces(kTileRows).count() *
                             Cells{0, layer.Q()}.pieces(kTileColumns).count();
  tally.launch(tiles * maps, kTileRows * kTileColumns, shared_floats * sizeof(float));
}

// A warp has up to 32 neighbouring outputs of a row, in each plane alike.
void add_stores(Tally& tally, const ConvLayer& layer) {
  const std::int64_t P = layer.P(), Q = layer.Q();
  const Times maps = every(P * Q, layer.shape().N * layer.shape().K);
  for (std::int64_t p = 0; p < P; ++p) {
    for (const Cells warp : Cells{p * Q, p * Q + Q}.pieces(kTileColumns)) tally.store(warp, maps);
  }
}

// Steps 1 to 3: for each product a request for the cells and one for the tap, unless all lanes have a ghost cell.
Cost predict_direct(const ConvLayer& layer) {
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const Times planes = every(H * W, N * C) * K;
  Tally tally;
  add_launch(tally, layer, N * K, 0);
  for (std::int64_t p = 0; p < layer.P(); ++p) {
    for (const Cells warp : Cells{0, layer.Q()}.pieces(kTileColumns)) {
      for (std::int64_t r = 0; r < R; ++r) {
        const std::int64_t h = p * u - a + r;
        if (h < 0 || h >= H) continue;
        for (std::int64_t s = 0; s < S; ++s) {
          const Lanes cells = lanes(warp, [&](std::int64_t q) {
            const std::int64_t w = q * v - b + s;
            return w >= 0 && w < W ? h * W + w : kNoCell;
          });
          tally.load(cells, planes);
          if (!cells.empty()) tally.load(one(0), planes);
        }
      }
    }
  }
  add_stores(tally, layer);
  return tally.cost();
}

enum class Taps { in_constant, in_shared };

// How much of a filter's channel is worked through at a time.
struct Piece {
  int rows, columns;
};
Piece whole(const ConvLayer& layer) { return {layer.R(), layer.S()}; }

// Step 7: the largest piece that fits into 48 KB, with the tile that it needs: whole rows, or a part of
// one.
Piece largest_piece(const ConvLayer& layer) {
  constexpr std::int64_t kFloats = 48 * 1024 / 4;
  const std::int64_t down = std::int64_t{kTileRows - 1} * layer.stride_h();
  const std::int64_t across = std::int64_t{kTileColumns - 1} * layer.stride_w();
  const std::int64_t S = layer.S();
  const std::int64_t rows = (kFloats - down * (across + S)) / (across + S + kFilterGroup * S);
  if (rows >= 1) return {static_cast<int>(std::min<std::int64_t>(rows, layer.R())), layer.S()};
  const std::int64_t columns = (kFloats - (down + 1) * across) / (down + 1 + kFilterGroup);
  return {1, static_cast<int>(std::min(columns, S))};
}

// Steps 4 to 7: blocks that load a tile for each channel and piece of a filter, once for each group of
// so many filters.
Cost predict_tiled(const ConvLayer& layer, Taps taps, Piece piece, std::int64_t group) {
  const auto& [N, C, H, W, K, R, S, u, v, a, b, G, d, e] = layer.shape();
  const std::int64_t groups = (K - 1) / group + 1;
  const Times planes = every(H * W, N * C) * groups;
  const Times filters = every(R * S, K * C) * N;
  const std::int64_t tile_floats =
      ((kTileRows - 1) * u + piece.rows) * ((kTileColumns - 1) * v + piece.columns);
  const std::int64_t taps_floats = taps == Taps::in_shared ? group * piece.rows * piece.columns : 0;
  Tally tally;
  add_launch(tally, layer, N * groups, tile_floats + taps_floats);
  for (const Cells r : Cells{0, R}.pieces(piece.rows)) {
    for (const Cells s : Cells{0, S}.pieces(piece.columns)) {
      const Cells taps_of_piece = Cells{0, r.size() * s.size()}.shifted(r.begin * S + s.begin);
      for (const Cells p : Cells{0, layer.P()}.pieces(kTileRows)) {
        for (const Cells q : Cells{0, layer.Q()}.pieces(kTileColumns)) {
          // Loading: the tile, whose rows are a warp's each, and the taps.
          const std::int64_t top = p.begin * u - a + r.begin;
          const Cells columns =
              Cells{0, (kTileColumns - 1) * v + s.size()}.shifted(q.begin * v - b + s.begin);
          for (std::int64_t h = top; h < top + (kTileRows - 1) * u + r.size(); ++h) {
            tally.shared_store(columns, planes);
            if (h < 0 || h >= H) continue;
            for (const Cells warp : columns.pieces(kWarpSize)) {
              tally.load(warp.within({0, W}).shifted(h * W), planes);
            }
          }
          if (taps == Taps::in_shared) {
            tally.load(taps_of_piece, filters);
            tally.shared_store(taps_of_piece, filters);
          }
          tally.barriers(2 * planes.total());
          // Computing: a row of outputs needs a cell once for each group, a tap once for each filter.
          const std::int64_t row_taps = p.size() * taps_of_piece.size();
          tally.shared_load(strided(0, q.size(), v), planes * row_taps);
          if (taps == Taps::in_constant) {
            tally.constant_load(filters.total() * row_taps);
          } else {
            tally.shared_load(one(0), filters * row_taps);
          }
        }
      }
    }
  }
  add_stores(tally, layer);
  return tally.cost();
}

}  // namespace

void complete(Conv2dStage& stage) {
  variant(stage, "one_channel").must_cost(predict_direct);
  variant(stage, "channels").must_cost(predict_direct);
  variant(stage, "stride_padding").must_cost(predict_direct);
  variant(stage, "tile_constant").must_cost([](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_constant, whole(layer), 1);
  });
  variant(stage, "tile_shared").must_cost([](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, whole(layer), 1);
  });
  variant(stage, "filter_group").must_cost([](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, whole(layer), kFilterGroup);
  });
  variant(stage, "filter_pieces").must_cost([](const ConvLayer& layer) {
    return predict_tiled(layer, Taps::in_shared, largest_piece(layer), kFilterGroup);
  });
  stage.variants.push_back(convolve::few_channels());
}

}  // namespace halo::conv2d_direct
