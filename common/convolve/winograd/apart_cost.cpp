// What Winograd's method in three kernels must cost, slice by slice (winograd_apart.cu).
#include <algorithm>
#include <numeric>

#include "common/conv/quotient.hpp"
#include "common/convolve/winograd/plan.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

class ApartWalk {
  static constexpr std::int64_t kThreads = 128, kQuad = 4;

 public:
  ApartWalk(const conv::ConvLayer& layer, const ApartDivision& division)
      : layer_(layer),
        division_(division),
        shape_(kApartShapes[division.shape]),
        cells_(shape_.cells()),
        frequencies_(shape_.frequencies()),
        pitch_(division.tile_pitch),
        matrices_(frequencies_ * layer.groups()),
        tile_blocks_(quotient_up(pitch_, kThreads)) {}

  // A lane a tile: the cells of its patch that exist, of all channels and phases, and its frequencies.
  void inputs(Tally& tally, std::int64_t first, std::int64_t images) const {
    const std::int64_t map = std::int64_t{layer_.H()} * layer_.W(), C = layer_.C();
    tally.launch(tile_blocks_ * division_.channels, kThreads);
    for (std::int64_t phase = 0; phase < division_.phases; ++phase) {
      for (const Cells warp : Cells{0, pitch_}.pieces(kWarpSize)) {
        for (std::int64_t i = 0; i < frequencies_; ++i) {
          const Lanes cells =
              lanes(warp, [&](std::int64_t tile) { return cell(tile, phase, i, images); });
          tally.load(cells, behind(first * C * map) * every(map, C));
        }
      }
    }
    for (const Cells warp : Cells{0, pitch_}.pieces(kWarpSize)) {
      tally.store(warp, every(pitch_, frequencies_ * division_.channels));
    }
  }

  // Blocks of filters and tiles, and for each chunk what its threads bring, four floats each; then each lane reads eight
  // or four filters and as many tiles for every channel of the chunk.
  void products(Tally& tally) const {
    const std::int64_t C = division_.group_channels.value, K = division_.group_filters;
    const ApartBlock& block = kApartBlocks[division_.block];
    const std::int64_t filters = block.filters, columns = block.tiles, threads = block.threads();
    const std::int64_t groups = quotient_up(K, filters), tiles = quotient_up(pitch_, columns);
    const std::int64_t blocks = groups * tiles * matrices_;
    const std::int64_t chunks = quotient_up(C, kApartChannels);
    tally.launch(blocks, threads, block.shared_bytes());
    tally.barriers(blocks * chunks);
    rows(tally, filters, division_.filter_pitch, groups, tiles);
    rows(tally, columns, pitch_, tiles, groups);
    const Cells warp{0, kWarpSize};
    // Lanes with four filters each, and with four tiles: 8 x 4 of them, or 4 x 8.
    const bool many_tiles = columns >= 32;
    const auto filter = [&](std::int64_t l) { return many_tiles ? few(l) : many(l); };
    const auto tile = [&](std::int64_t l) { return many_tiles ? many(l) : few(l); };
    const std::int64_t reads = blocks * (threads / kWarpSize) * chunks * kApartChannels;
    tally.shared_load(wide_lanes(kQuad, warp, filter), reads * (block.rows / kQuad));
    tally.shared_load(wide_lanes(kQuad, warp, tile), reads * (block.columns / kQuad));
    const std::int64_t down = kQuad * (many_tiles ? 4 : 8), across = kQuad * (many_tiles ? 8 : 4);
    for (std::int64_t first = 0; first < groups * filters; first += down) {
      for (std::int64_t t = 0; t < tiles * columns; t += across) {
        for (std::int64_t i = 0; i < kQuad; ++i) {
          tally.store(wide_lanes(kQuad, warp,
                                 [&](std::int64_t l) {
                                   const std::int64_t k = first + filter(l) + i, at = t + tile(l);
                                   return k < K && at < pitch_ ? k * pitch_ + at : kNoCell;
                                 }),
                      every(K * pitch_, matrices_));
        }
      }
    }
  }

  // A lane a tile: its frequencies of all filters, and its outputs that exist.
  void sums(Tally& tally, std::int64_t first, std::int64_t images, bool only_bias) const {
    const std::int64_t P = layer_.P(), Q = layer_.Q(), K = layer_.K();
    const std::int64_t tiles = tiles_of(images);
    const int piece = in_one_store();
    if (!only_bias) tally.launch(tile_blocks_ * K, kThreads);
    for (const Cells warp : Cells{0, tiles}.pieces(kWarpSize)) {
      if (only_bias) {
        tally.load(one(0), every(1, K));
        continue;
      }
      tally.load(warp, every(pitch_, frequencies_ * K));
      for (std::int64_t i = 0; i < shape_.outputs; ++i) {
        for (std::int64_t j = 0; j < shape_.outputs; j += piece) {
          tally.store(
              wide_lanes(piece, warp, [&](std::int64_t tile) { return output(0, tile, i, j); }),
              behind(first * K * P * Q) * every(P * Q, K));
        }
      }
    }
  }

  // The same for products on tensor cores, which these numbers of channels and tiles fill up: a warp has 4 channels of 8
  // tiles.
  void split_inputs(Tally& tally, std::int64_t first, std::int64_t images, std::int64_t channels,
                    std::int64_t tiles) const {
    const std::int64_t map = std::int64_t{layer_.H()} * layer_.W(), phases = division_.phases;
    tally.launch(channels / 16 * (tiles / 8), kThreads);
    tally.store(Cells{0, kWarpSize}, 2 * frequencies_ * (channels / 4) * (tiles / 8));
    // Warps with all phases of a channel are alike, or with four channels that have one.
    const std::int64_t together = std::lcm(phases, std::int64_t{4});
    for_each_alike(division_.channels, together, [&](Cells alike, std::int64_t times) {
      for (const Cells four : alike.pieces(4)) {
        for (std::int64_t t = 0; t < tiles; t += 8) {
          for (std::int64_t i = 0; i < frequencies_; ++i) {
            const Lanes cells = lanes({0, kWarpSize}, [&](std::int64_t lane) {
              const std::int64_t channel = four.begin + lane % 4;
              const std::int64_t at = cell(t + lane / 4, channel % phases, i, images);
              return at == kNoCell || !four.contains(channel) ? kNoCell
                                                              : at + channel / phases * map;
            });
            tally.load(cells,
                       behind(first * layer_.C() * map) * every(together / phases * map, times));
          }
        }
      }
    });
  }

  // A warp has 8 filters of 4 tiles.
  void split_sums(Tally& tally, std::int64_t first, std::int64_t images, bool only_bias) const {
    const std::int64_t P = layer_.P(), Q = layer_.Q(), K = layer_.K();
    const std::int64_t row = division_.filter_pitch, tiles = tiles_of(images);
    const int piece = in_one_store();
    if (!only_bias) {
      tally.launch(quotient_up(K, 32) * quotient_up(division_.tile_pitch, 4), kThreads);
    }
    for_each_alike(K, 8, [&](Cells filters, std::int64_t times) {
      for (const Cells four : Cells{0, tiles}.pieces(4)) {
        // Of each lane the place of its filter and tile, or none.
        const auto places = [&](int width, auto place) {
          return wide_lanes(width, {0, kWarpSize}, [&](std::int64_t lane) {
            const std::int64_t k = filters.begin + lane % 8, tile = four.begin + lane / 8;
            return filters.contains(k) && four.contains(tile) ? place(k, tile) : kNoCell;
          });
        };
        if (only_bias) {
          tally.load(places(1, [](std::int64_t k, std::int64_t) { return k; }), every(8, times));
          continue;
        }
        tally.load(places(1, [&](std::int64_t k, std::int64_t tile) { return tile * row + k; }),
                   every(8, times) * every(division_.tile_pitch * row, frequencies_));
        for (std::int64_t i = 0; i < shape_.outputs; ++i) {
          for (std::int64_t j = 0; j < shape_.outputs; j += piece) {
            const auto place = [&](std::int64_t k, std::int64_t tile) {
              return output(k, tile, i, j);
            };
            tally.store(places(piece, place), behind(first * K * P * Q) * every(8 * P * Q, times));
          }
        }
      }
    });
  }

 private:
  // What is done for so many at a time: visit(the first ones, how often), and what is left over.
  template <class Visit>
  static void for_each_alike(std::int64_t all, std::int64_t together, Visit visit) {
    const std::int64_t times = all / together;
    if (times > 0) visit(Cells{0, together}, times);
    if (all % together != 0) visit(Cells{times * together, all}, 1);
  }

  // Number i of a tile's patch, in the first channel of its image; none if it is a ghost.
  std::int64_t cell(std::int64_t tile, std::int64_t phase, std::int64_t i,
                    std::int64_t images) const {
    const std::int64_t h = (top(tile) + i / cells_) * layer_.stride_h() - layer_.padding_h() +
                           phase / layer_.stride_w();
    const std::int64_t w = (left(tile) + i % cells_) * layer_.stride_w() - layer_.padding_w() +
                           phase % layer_.stride_w();
    const bool exists =
        image(tile) < images && h >= 0 && h < layer_.H() && w >= 0 && w < layer_.W();
    return exists ? (image(tile) * layer_.C() * layer_.H() + h) * layer_.W() + w : kNoCell;
  }

  // Row i, column j of a tile's outputs of filter k; none if it does not exist.
  std::int64_t output(std::int64_t k, std::int64_t tile, std::int64_t i, std::int64_t j) const {
    const std::int64_t p = top(tile) + i, q = left(tile) + j, P = layer_.P(), Q = layer_.Q();
    return p < P && q < Q ? ((image(tile) * layer_.K() + k) * P + p) * Q + q : kNoCell;
  }
  // Of a row of a tile's outputs.
  int in_one_store() const {
    return layer_.Q() % shape_.outputs == 0 && shape_.outputs % 2 == 0 ? shape_.outputs : 1;
  }
  std::int64_t tiles_of(std::int64_t images) const {
    return images * division_.tiles_down * division_.tiles_across;
  }

  // Rows of a matrix of one frequency and group, [C][pitch]: pieces of `width` columns, each for `readers` blocks. A warp brings 32 / (width /
  // 4) neighbouring rows; those that do not exist are zeros on chip, and no read.
  void rows(Tally& tally, std::int64_t width, std::int64_t pitch, std::int64_t pieces,
            std::int64_t readers) const {
    const std::int64_t C = division_.group_channels.value, in_row = width / kQuad;
    const Lanes on_chip =
        wide_lanes(kQuad, {0, kWarpSize}, [](std::int64_t l) { return l * kQuad; });
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      for (std::int64_t c = 0; c < quotient_up(C, kApartChannels) * kApartChannels;
           c += kWarpSize / in_row) {
        const Lanes from = wide_lanes(kQuad, {0, kWarpSize}, [&](std::int64_t l) {
          const std::int64_t column = piece * width + l % in_row * kQuad;
          const std::int64_t channel = c + l / in_row;
          return channel < C && column < pitch ? channel * pitch + column : kNoCell;
        });
        tally.copy_or_zero(from, on_chip, Times(readers) * every(C * pitch, matrices_));
      }
    }
  }

  std::int64_t in_image(std::int64_t tile) const {
    return tile % (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t image(std::int64_t tile) const {
    return tile / (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t top(std::int64_t tile) const {
    return in_image(tile) / division_.tiles_across * shape_.outputs;
  }
  std::int64_t left(std::int64_t tile) const {
    return in_image(tile) % division_.tiles_across * shape_.outputs;
  }
  static std::int64_t many(std::int64_t lane) { return kQuad * (lane % 2 + lane / 4 % 4 * 2); }
  static std::int64_t few(std::int64_t lane) { return kQuad * (lane / 2 % 2 + lane / 16 * 2); }

  const conv::ConvLayer& layer_;
  ApartDivision division_;
  ApartShape shape_;
  std::int64_t cells_;
  std::int64_t frequencies_;
  std::int64_t pitch_;
  std::int64_t matrices_;  // of frequencies and groups
  std::int64_t tile_blocks_;
};

// visit(first image, images) for each slice.
template <class Visit>
void for_each_slice(const conv::ConvLayer& layer, const ApartDivision& division, Visit visit) {
  for (std::int64_t n = 0; n < layer.N(); n += division.images) {
    visit(n, std::min<std::int64_t>(division.images, layer.N() - n));
  }
}

}  // namespace

Cost winograd_apart_cost(const conv::ConvLayer& layer, const ApartPlan& plan) {
  const ApartWalk walk(layer, plan.division);
  Tally tally;
  for_each_slice(layer, plan.division, [&](std::int64_t n, std::int64_t images) {
    walk.inputs(tally, n, images);
    walk.products(tally);
    walk.sums(tally, n, images, false);
  });
  return tally.cost();
}

Cost winograd_apart_bias_cost(const conv::ConvLayer& layer, const ApartPlan& plan) {
  const ApartWalk walk(layer, plan.division);
  Tally tally;
  for_each_slice(layer, plan.division,
                 [&](std::int64_t n, std::int64_t images) { walk.sums(tally, n, images, true); });
  return tally.cost();
}

Cost winograd_split_cost(const conv::ConvLayer& layer, const WinogradSplitPlan& plan) {
  const ApartWalk walk(layer, plan.division);
  const WarpgroupPlan& products = plan.products;
  const Cost of_products = warpgroup_cost(winograd_matrices(plan.division), products);
  Cost all;
  for_each_slice(layer, plan.division, [&](std::int64_t n, std::int64_t images) {
    Tally before, after;
    walk.split_inputs(before, n, images, std::int64_t{products.tiles.pieces} * kWarpgroupChannels,
                      std::int64_t{products.tiles.groups.value} * products.tile.filters);
    walk.split_sums(after, n, images, false);
    all.add(before.cost());
    all.add(of_products);
    all.add(after.cost());
  });
  return all;
}

Cost winograd_split_bias_cost(const conv::ConvLayer& layer, const WinogradSplitPlan& plan) {
  const ApartWalk walk(layer, plan.division);
  Tally tally;
  for_each_slice(layer, plan.division, [&](std::int64_t n, std::int64_t images) {
    walk.split_sums(tally, n, images, true);
  });
  return tally.cost();
}

}  // namespace halo::convolve
