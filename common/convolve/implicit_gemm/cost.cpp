// What implicit_gemm must cost in memory traffic, worked out from the method.
#include <algorithm>

#include "common/convolve/cells.hpp"
#include "common/convolve/implicit_gemm/plan.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

// Where lane l stands in the 4 x 8 lanes.
std::int64_t filters_of_lane(std::int64_t l) { return (l >> 1 & 1) | (l >> 4) << 1; }
std::int64_t columns_of_lane(std::int64_t l) { return (l & 1) | (l >> 2 & 3) << 1; }

// What implicit_gemm asks for, tile by tile. A row of the reduction is read by one warp of one block, so it does
// not matter for the loads which; what warps and blocks have to say to each other is counted by blocks.
class Gemm {
 public:
  Gemm(const ConvLayer& layer, const GemmPlan& plan)
      : layer_(layer),
        numbers_(numbers_of(layer)),
        plan_(plan),
        fours_(columns_in_fours(numbers_)),
        columns_(columns_of(numbers_)),
        map_(std::int64_t{layer.H()} * layer.W()),
        outputs_(std::int64_t{layer.P()} * layer.Q()),
        column_tiles_((columns_ + kColumns - 1) / kColumns),
        filter_tiles_((layer.K() + plan.filters - 1) / plan.filters) {}

  Cost cost() {
    const std::int64_t blocks = column_tiles_ * filter_tiles_ * plan_.split;
    tally_.launch(blocks, plan_.slices * kWarpSize, shared_bytes(plan_));
    // The warps meet, and the blocks of a cluster at their begin.
    tally_.barriers(blocks * (plan_.split > 1 ? 2 : 1));
    filters();
    for (std::int64_t tile = 0; tile < column_tiles_; ++tile) {
      for (int r = 0; r < layer_.R(); ++r) {
        for (int s = 0; s < layer_.S(); ++s) cells(tile * kColumns, r, s);
      }
      stores(tile * kColumns);
    }
    quads_on_chip();
    sums_on_chip();
    return tally_.cost();
  }

 private:
  std::int64_t tiles() const { return column_tiles_ * filter_tiles_; }
  std::int64_t tile4() const { return std::int64_t{plan_.filters} * kColumns / 4; }

  // A quad of a tile's filters: lane l brings four of row l / (filters / 4), or one of four rows.
  void filters() {
    if (!plan_.packed) return unpacked_filters();
    const std::int64_t pitch = packed_row(numbers_);
    for (std::int64_t tile = 0; tile < filter_tiles_; ++tile) {
      const Lanes quad =
          wide_lanes(4, {0, std::min(plan_.filters, kWarpSize)}, [&](std::int64_t l) {
            const std::int64_t in_row = plan_.filters / 4;
            return l / in_row * pitch + tile * plan_.filters + l % in_row * 4;
          });
      tally_.load(quad, every(kQuad * pitch, quads_of(numbers_)) * column_tiles_);
    }
  }

  // Lane l brings four channels of filter l, each by itself where rows are not whole quads.
  void unpacked_filters() {
    const std::int64_t full = layer_.C() / kQuad, rest = layer_.C() % kQuad;
    for (std::int64_t tile = 0; tile < filter_tiles_; ++tile) {
      const Cells lanes_of_tile{0, plan_.filters};
      const auto place = [&](std::int64_t l) {
        return std::min<std::int64_t>(tile * plan_.filters + l, layer_.K() - 1) * layer_.C();
      };
      if (is_pointwise(numbers_)) {
        tally_.load(wide_lanes(4, lanes_of_tile, place), every(kQuad, full) * column_tiles_);
        continue;
      }
      for (std::int64_t i = 0; i < kQuad; ++i) {
        if (full > 0) {
          tally_.load(lanes(lanes_of_tile, place), behind(i) * every(kQuad, full) * column_tiles_);
        }
        if (i < rest) {
          tally_.load(lanes(lanes_of_tile, place), behind(full * kQuad + i) * column_tiles_);
        }
      }
    }
  }

  // All channels of one tap, for all tiles of filters.
  void cells(std::int64_t first_column, int r, int s) {
    const std::int64_t full = layer_.C() / kQuad, rest = layer_.C() % kQuad;
    const Times all = every(kQuad * map_, full) * filter_tiles_;
    if (fours_) {
      tally_.load(wide_lanes(4, {0, kWarpSize},
                             [&](std::int64_t l) {
                               const std::int64_t m =
                                   std::min(first_column + l % 8 * 4, columns_ - 4);
                               return cell_of(layer_, m, 0, 0) + l / 8 * map_;
                             }),
                  all);
      return;
    }
    const Lanes column = lanes({0, kWarpSize}, [&](std::int64_t l) {
      return cell_of(layer_, std::min(first_column + l, columns_ - 1), r, s);
    });
    const Times last = behind(full * kQuad * map_) * filter_tiles_;
    if (column.empty()) return;
    for (std::int64_t row = 0; row < kQuad; ++row) {
      if (full > 0) tally_.load(column, behind(row * map_) * all);
      if (row < rest) tally_.load(column, behind(row * map_) * last);
    }
  }

  // Into shared memory, and out of it for the products.
  void quads_on_chip() {
    const std::int64_t quads = quads_of(numbers_);
    const std::int64_t times = quads * tiles();
    if (plan_.packed) {
      tally_.shared_store(halo::quads(Cells{0, 4 * std::min(plan_.filters, kWarpSize)}), times);
    } else {
      tally_.shared_store(Cells{0, plan_.filters}, times * kQuad);
    }
    if (fours_) {
      tally_.shared_store(halo::quads(Cells{0, 4 * kWarpSize}), times);
    } else {
      tally_.shared_store(Cells{0, kWarpSize}, times * kQuad);
    }
    // Each row is read once ahead, and the first of every two quads once more.
    const std::int64_t share = quads_of_slice(numbers_, plan_);
    std::int64_t reads = 0;
    for (std::int64_t first = 0; first < quads; first += share) {
      const std::int64_t own = std::min(share, quads - first);
      reads += kQuad * own + (own + 1) / 2;
    }
    const auto lanes_of = [](auto place) {
      return wide_lanes(4, {0, kWarpSize}, [&](std::int64_t l) { return 4 * place(l); });
    };
    tally_.shared_load(lanes_of(filters_of_lane), reads * tiles() * (plan_.filters / 16));
    tally_.shared_load(lanes_of(columns_of_lane), reads * tiles());
  }

  // Sums of the slices, and of the blocks: a warp's in float4, those that are stored as they are stored.
  void sums_on_chip() {
    const Run warp = halo::quads(Cells{0, 4 * kWarpSize});
    const std::int64_t blocks = tiles() * plan_.split;
    const std::int64_t times = blocks * plan_.slices * (tile4() / kWarpSize);
    tally_.shared_store(warp, times);
    const std::int64_t parts = plan_.split > 1 ? plan_.split : plan_.slices;
    const std::int64_t groups = tiles() * (plan_.filters / rows_together());
    if (fours_) {
      tally_.shared_load(halo::quads(Cells{0, kColumns * rows_together()}), groups * parts);
    } else {
      tally_.shared_load(Cells{0, kColumns}, groups * parts);
    }
    if (plan_.split == 1) return;
    tally_.shared_load(warp, times);
    const std::int64_t share = tile4() / plan_.split;
    for (std::int64_t rank = 0; rank < plan_.split; ++rank) {
      for (const Cells some : Cells{0, tile4()}.pieces(kWarpSize)) {
        // To a block of the cluster, which may be the own one.
        tally_.dshared_store(wide_lanes(4, some,
                                        [&](std::int64_t at) {
                                          return 4 *
                                                 (at / share * tile4() + rank * share + at % share);
                                        }),
                             tiles());
      }
    }
  }

  // Rows of a tile that a warp adds up and stores together: one of 32 outputs, or four of eight times four, of which
  // a block of a cluster may have fewer.
  std::int64_t rows_together() const {
    return fours_ ? std::min<std::int64_t>(4, plan_.filters / plan_.split) : 1;
  }

  // The outputs of the columns from this one on, of all filters.
  void stores(std::int64_t first_column) {
    const int width = fours_ ? 4 : 1;
    const std::int64_t row = kColumns / width, together = rows_together();
    const auto rows = [&](std::int64_t count) {
      return wide_lanes(width, {0, count * row}, [&](std::int64_t l) {
        const std::int64_t m = first_column + l % row * width;
        if (m >= columns_) return kNoCell;
        return (m / outputs_ * (layer_.K() - 1) + l / row) * outputs_ + m;
      });
    };
    const std::int64_t full = layer_.K() / together, rest = layer_.K() % together;
    if (full > 0) tally_.store(rows(together), every(together * outputs_, full));
    if (rest > 0) tally_.store(rows(rest), behind(full * together * outputs_));
  }

  const ConvLayer& layer_;
  const LayerNumbers numbers_;
  const GemmPlan plan_;
  const bool fours_;
  const std::int64_t columns_, map_, outputs_, column_tiles_, filter_tiles_;
  Tally tally_;
};

}  // namespace

Cost gemm_cost(const ConvLayer& layer, const GemmPlan& plan) { return Gemm(layer, plan).cost(); }

Cost gemm_bias_cost(const ConvLayer& layer, const GemmPlan& plan) {
  Tally tally;
  const std::int64_t column_tiles = (columns_of(numbers_of(layer)) + kColumns - 1) / kColumns;
  // One warp of each tile, a filter of its four or eight at a time; of those that there are not, the last one's.
  for (std::int64_t first = 0; first < layer.K(); first += plan.filters) {
    for (std::int64_t i = 0; i < plan.filters / 4; ++i) {
      const Lanes of_filters = lanes({0, kWarpSize}, [&](std::int64_t l) {
        const std::int64_t k = first + i / 4 * 16 + filters_of_lane(l) * 4 + i % 4;
        return std::min<std::int64_t>(k, layer.K() - 1);
      });
      tally.load(of_filters, column_tiles);
    }
  }
  return tally.cost();
}

}  // namespace halo::convolve
