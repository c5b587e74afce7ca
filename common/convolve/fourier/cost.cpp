// What convolution by Fourier's transform must cost, slice by slice (fourier.cu, fourier_split.cu).
#include <algorithm>

#include "common/conv/quotient.hpp"
#include "common/convolve/fourier/plan.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

class FourierWalk {
  // In floats: a complex number, and four floats that one lane takes at once.
  static constexpr std::int64_t kPair = 2, kQuad = 4;
  static constexpr std::int64_t kThreads = 128, kWarps = kThreads / kWarpSize, kChunk = 16;

 public:
  FourierWalk(const conv::ConvLayer& layer, const FourierDivision& division)
      : layer_(layer),
        division_(division),
        size_(division.size),
        half_(size_ / 2),
        frequencies_(size_ * size_ / 2 + 2),
        block_tiles_(2 * kThreads / size_),
        warp_tiles_(block_tiles_ / kWarps),
        pitch_(division.tile_pitch) {}

  // A warp has columns of two tiles for every `size` lanes, cell by cell; then rows; then all frequencies of a block's
  // tiles leave, neighbouring tiles together.
  void inputs(Tally& tally, std::int64_t first, std::int64_t images) const {
    const std::int64_t map = std::int64_t{layer_.H()} * layer_.W(), C = layer_.C();
    const std::int64_t blocks = pitch_ / block_tiles_ * C;
    tally.launch(blocks, kThreads, bytes_on_chip());
    tally.barriers(2 * blocks);
    for (std::int64_t tile = 0; tile < pitch_; tile += warp_tiles_) {
      for (std::int64_t second = 0; second < 2; ++second) {
        for (std::int64_t i = 0; i < size_; ++i) {
          const Lanes cells = lanes({0, kWarpSize}, [&](std::int64_t lane) {
            const std::int64_t own = tile + lane / size_ * 2 + second;
            const std::int64_t h = top(own) - layer_.padding_h() + i;
            const std::int64_t w = left(own) - layer_.padding_w() + lane % size_;
            const bool exists =
                image(own) < images && h >= 0 && h < layer_.H() && w >= 0 && w < layer_.W();
            return exists ? image(own) * C * map + h * layer_.W() + w : kNoCell;
          });
          tally.load(cells, behind(first * C * map) * every(map, C));
        }
      }
    }
    const std::int64_t warps = blocks * kWarps;
    tally.shared_store(columns(), warps * half_ * 2);
    tally.shared_load(rows(), warps * size_);
    tally.shared_store(inner_rows(), warps * size_);
    tally.shared_store(outer_row(), warps * (half_ + 1) * 2);
    for (const Cells warp : Cells{0, frequencies_ * block_tiles_}.pieces(kWarpSize)) {
      tally.shared_load(on_chip(warp), blocks);
      tally.store(in_memory(warp, C), blocks);
    }
  }

  // Blocks of filters and tiles, and for each chunk what its threads bring, two complex numbers each; then each lane
  // reads eight filters and its tiles for every channel of the chunk.
  void products(Tally& tally) const {
    const std::int64_t C = layer_.C(), K = layer_.K(), side = division_.side;
    const std::int64_t groups = quotient_up(K, side), tiles = quotient_up(pitch_, side);
    const std::int64_t blocks = groups * tiles * frequencies_, warps = side / kWarpSize;
    const std::int64_t chunks = quotient_up(C, kChunk), runs = side / 16;
    tally.launch(blocks, side, 2 * kChunk * 2 * side * 8);
    tally.barriers(blocks * chunks);
    pieces(tally, division_.filter_pitch, groups, side, tiles);
    pieces(tally, pitch_, tiles, side, groups);
    const Cells warp{0, kWarpSize};
    const std::int64_t reads = blocks * warps * chunks * kChunk;
    tally.shared_load(wide_lanes(kQuad, warp, [](std::int64_t l) { return kQuad * few(l); }),
                      4 * reads);
    tally.shared_load(wide_lanes(kQuad, warp, [](std::int64_t l) { return kQuad * many(l); }),
                      runs * reads);
    for (std::int64_t first = 0; first < groups * side; first += kWarpSize) {
      for (std::int64_t t = 0; t < tiles * side; t += side) {
        for (std::int64_t i = 0; i < 8; ++i) {
          for (std::int64_t run = 0; run < runs; ++run) {
            const Lanes to = wide_lanes(kQuad, warp, [&](std::int64_t l) {
              const std::int64_t k = first + 2 * (few(l) + i / 2 * 4) + i % 2;
              const std::int64_t at = t + 2 * (many(l) + run * 8);
              return k < K && at < pitch_ ? kPair * (k * pitch_ + at) : kNoCell;
            });
            tally.store(to, every(kPair * K * pitch_, frequencies_));
          }
        }
      }
    }
  }

  // The same on tensor cores: rows on chip are longer, a warp reads ahead, and 32 filters and tiles are its own.
  void split_products(Tally& tally) const {
    const std::int64_t C = layer_.C(), K = layer_.K(), filters = division_.side;
    constexpr std::int64_t kTiles = kSplitTiles, kSteps = 2, kFragments = 2 * 4;
    const std::int64_t groups = quotient_up(K, filters), tiles = quotient_up(pitch_, kTiles);
    const std::int64_t blocks = groups * tiles * frequencies_, warps = filters / 16;
    const std::int64_t chunks = quotient_up(C, kChunk);
    tally.launch(blocks, 2 * filters, fourier_split_bytes(division_.side));
    // One before the first step, and one a chunk.
    tally.barriers(blocks * (chunks + 1));
    pieces(tally, division_.filter_pitch, groups, filters, tiles, kSplitFilterMore,
           kSplitStages - 1);
    pieces(tally, pitch_, tiles, kTiles, groups, kSplitTileMore, kSplitStages - 1);
    // Once more than there are steps: the first before, and one after the last that nobody needs.
    const std::int64_t reads = blocks * warps * (chunks * kSteps + 1);
    const Cells warp{0, kWarpSize};
    tally.shared_load(wide_lanes(kQuad, warp,
                                 [&](std::int64_t l) {
                                   return kQuad *
                                          (l % 4 * (filters / 2 + kSplitFilterMore) + l / 4);
                                 }),
                      4 * reads);
    tally.shared_load(wide_lanes(kQuad, warp,
                                 [&](std::int64_t l) {
                                   const std::int64_t row = l % 4 * (kTiles / 2 + kSplitTileMore);
                                   return kQuad * (row + l / 8 + l / 4 % 2 * 4);
                                 }),
                      4 * reads);
    // Gauss's three products, three for each of them.
    tally.tensor(blocks * warps * chunks * kSteps * 3 * 3 * kFragments);
    for (std::int64_t first = 0; first < groups * filters; first += 16) {
      for (std::int64_t t = 0; t < tiles * kTiles; t += 16) {
        for (std::int64_t i = 0; i < 4; ++i) {
          const Lanes to = wide_lanes(kQuad, warp, [&](std::int64_t l) {
            const std::int64_t k = first + 2 * (l / 4) + i / 2;
            const std::int64_t at = t + 2 * (l % 4 + 4 * (i % 2));
            return k < K && at < pitch_ ? kPair * (k * pitch_ + at) : kNoCell;
          });
          tally.store(to, every(kPair * K * pitch_, frequencies_));
        }
      }
    }
  }

  // The way back.
  void outputs(Tally& tally, std::int64_t first, std::int64_t images) const {
    const std::int64_t P = layer_.P(), Q = layer_.Q(), K = layer_.K();
    const std::int64_t blocks = pitch_ / block_tiles_ * K;
    tally.launch(blocks, kThreads, bytes_on_chip());
    tally.barriers(2 * blocks);
    for (const Cells warp : Cells{0, frequencies_ * block_tiles_}.pieces(kWarpSize)) {
      tally.copy(in_memory(warp, K), on_chip(warp), blocks);
    }
    const std::int64_t warps = blocks * kWarps;
    tally.shared_load(inner_rows(), warps * size_);
    tally.shared_load(outer_row(), warps * (half_ + 1) * 2);
    tally.shared_store(rows(), warps * size_);
    tally.shared_load(columns(), warps * half_ * 2);
    for (std::int64_t tile = 0; tile < pitch_; tile += warp_tiles_) {
      for (std::int64_t second = 0; second < 2; ++second) {
        for (std::int64_t i = 0; i < division_.outputs_down; ++i) {
          const Lanes to = lanes({0, kWarpSize}, [&](std::int64_t lane) {
            const std::int64_t own = tile + lane / size_ * 2 + second, column = lane % size_;
            const std::int64_t p = top(own) + i, q = left(own) + column;
            const bool exists =
                image(own) < images && column < division_.outputs_across && p < P && q < Q;
            return exists ? (image(own) * K * P + p) * Q + q : kNoCell;
          });
          tally.store(to, behind(first * K * P * Q) * every(P * Q, K));
        }
      }
    }
  }

  // Every warp reads its filter's.
  void bias(Tally& tally) const {
    tally.load(one(0), every(1, layer_.K()) * Times(pitch_ / warp_tiles_));
  }

 private:
  // Rows of a matrix of one frequency, [C][pitch]: pieces of `side` columns, each for `readers` blocks. A warp brings 64
  // / side neighbouring rows; those that do not exist are zeros on chip, and no read. On chip rows are `more` float4
  // longer, and after the last chunk come so many of `zeros`.
  void pieces(Tally& tally, std::int64_t pitch, std::int64_t count, std::int64_t side,
              std::int64_t readers, std::int64_t more = 0, std::int64_t zeros = 0) const {
    const std::int64_t C = layer_.C(), in_row = side / 2;
    for (std::int64_t piece = 0; piece < count; ++piece) {
      const std::int64_t copied = (quotient_up(C, kChunk) + zeros) * kChunk;
      for (std::int64_t c = 0; c < copied; c += kWarpSize / in_row) {
        const Lanes from = wide_lanes(kQuad, {0, kWarpSize}, [&](std::int64_t l) {
          const std::int64_t column = piece * side + l % in_row * 2;
          const std::int64_t channel = c + l / in_row;
          return channel < C && column < pitch ? kPair * (channel * pitch + column) : kNoCell;
        });
        const Lanes to = wide_lanes(kQuad, {0, kWarpSize}, [&](std::int64_t l) {
          return kQuad * ((c + l / in_row) * (in_row + more) + l % in_row);
        });
        tally.copy_or_zero(from, to, Times(readers) * every(kPair * C * pitch, frequencies_));
      }
    }
  }

  // On chip, half transformed: [tiles][half][size + 1].
  std::int64_t bytes_on_chip() const { return block_tiles_ * half_ * (size_ + 1) * 8; }
  Lanes columns() const {
    return wide_lanes(kPair, {0, kWarpSize}, [&](std::int64_t lane) {
      return kPair * (lane / size_ * 2 * half_ * (size_ + 1) + lane % size_);
    });
  }
  Lanes rows() const {
    return wide_lanes(kPair, {0, kWarpSize},
                      [&](std::int64_t lane) { return kPair * lane * (size_ + 1); });
  }
  // On chip, transformed: [frequencies][tiles], one or two more numbers after every `size`
  // frequencies.
  std::int64_t place(std::int64_t frequency, std::int64_t tile) const {
    return kPair * (frequency * block_tiles_ + frequency / size_ * (kWarpSize / size_) + tile);
  }
  Lanes inner_rows() const {
    return wide_lanes(kPair, {0, kWarpSize}, [&](std::int64_t lane) {
      const std::int64_t row = lane % half_;
      return row > 0 ? place((row - 1) * size_, lane / half_) : kNoCell;
    });
  }
  Lanes outer_row() const {
    return wide_lanes(kPair, {0, kWarpSize}, [&](std::int64_t lane) {
      return lane % half_ == 0 ? place(0, lane / half_) : kNoCell;
    });
  }
  Lanes on_chip(Cells numbers) const {
    return wide_lanes(kPair, numbers,
                      [&](std::int64_t i) { return place(i / block_tiles_, i % block_tiles_); });
  }
  // [frequencies][rows][pitch], of which blocks begin on a sector.
  Lanes in_memory(Cells numbers, std::int64_t rows) const {
    return wide_lanes(kPair, numbers, [&](std::int64_t i) {
      return kPair * (i / block_tiles_ * rows * pitch_ + i % block_tiles_);
    });
  }

  std::int64_t in_image(std::int64_t tile) const {
    return tile % (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t image(std::int64_t tile) const {
    return tile / (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t top(std::int64_t tile) const {
    return in_image(tile) / division_.tiles_across * division_.outputs_down;
  }
  std::int64_t left(std::int64_t tile) const {
    return in_image(tile) % division_.tiles_across * division_.outputs_across;
  }
  static std::int64_t many(std::int64_t lane) { return lane % 2 + lane / 4 % 4 * 2; }
  static std::int64_t few(std::int64_t lane) { return lane / 2 % 2 + lane / 16 * 2; }

  const conv::ConvLayer& layer_;
  FourierDivision division_;
  std::int64_t size_;
  std::int64_t half_;
  std::int64_t frequencies_;
  std::int64_t block_tiles_;
  std::int64_t warp_tiles_;
  std::int64_t pitch_;
};

template <class Products>
Cost predict(const conv::ConvLayer& layer, const FourierPlan& plan, Products products) {
  const FourierWalk walk(layer, plan.division);
  Tally tally;
  for (std::int64_t n = 0; n < layer.N(); n += plan.division.images) {
    const std::int64_t images = std::min<std::int64_t>(plan.division.images, layer.N() - n);
    walk.inputs(tally, n, images);
    products(walk, tally);
    walk.outputs(tally, n, images);
  }
  return tally.cost();
}

}  // namespace

Cost fourier_cost(const conv::ConvLayer& layer, const FourierPlan& plan) {
  return predict(layer, plan, [](const FourierWalk& walk, Tally& tally) { walk.products(tally); });
}

Cost fourier_split_cost(const conv::ConvLayer& layer, const FourierPlan& plan) {
  return predict(layer, plan,
                 [](const FourierWalk& walk, Tally& tally) { walk.split_products(tally); });
}

Cost fourier_bias_cost(const conv::ConvLayer& layer, const FourierPlan& plan) {
  const FourierWalk walk(layer, plan.division);
  Tally tally;
  for (std::int64_t n = 0; n < layer.N(); n += plan.division.images) walk.bias(tally);
  return tally.cost();
}

}  // namespace halo::convolve
