#include "stages/08_multi_channel_stride_fixed/costs.hpp"

#include <algorithm>
#include <map>

#include "common/harness/traffic/tally.hpp"

namespace halo::multi_channel_stride_fixed {

namespace {

// What the taps [begin, end) of one output have in common with those of all others: where a segment
// starts, which lines it needs. A walk starts with a channel.
class Walk {
 public:
  Walk(const conv::ConvLayer& layer, const Block& block, std::int64_t begin, std::int64_t end)
      : layer_(layer), block_(block), begin_(begin), end_(end) {}

  // Calls visit(first tap, number of taps, first line that is new, line after the last one needed).
  template <class Visit>
  void for_each_segment(Visit visit) const {
    std::int64_t known = channel_of(begin_) * block_.channel_lines;
    for (std::int64_t first = begin_; first < end_; first += block_.segment) {
      const std::int64_t count = std::min<std::int64_t>(block_.segment, end_ - first);
      const std::int64_t needed =
          line_of(first + count - 1) + std::int64_t{block_.tile_rows - 1} * layer_.stride_h() + 1;
      visit(first, count, known, needed);
      known = needed;
    }
  }

  std::int64_t rounds() const { return (end_ - begin_ + block_.segment - 1) / block_.segment; }

  // Filters: all segments of `many` filters from `first_filter` on, whose cells on chip lie `pitch`
  // apart.
  void copy_filters(Tally& tally, std::int64_t first_filter, int many, std::int64_t times) const {
    for_each_segment([&](std::int64_t first, std::int64_t count, std::int64_t, std::int64_t) {
      copy_taps(tally, first_filter, many, {first, first + count}, times);
    });
  }

  // One copy of these taps of each filter, tap by tap, filter by filter. Of filters that don't exist
  // zeros are stored.
  void copy_taps(Tally& tally, std::int64_t first_filter, int many, Cells taps,
                 std::int64_t times) const {
    for (const Cells warp : Cells{0, many * taps.size()}.pieces(kWarpSize)) {
      const Lanes from = lanes(warp, [&](std::int64_t i) {
        const std::int64_t k = first_filter + i / taps.size();
        return k < layer_.K() ? k * layer_.products_per_output() + taps.begin + i % taps.size()
                              : kNoCell;
      });
      const Lanes to = lanes(
          warp, [&](std::int64_t i) { return i / taps.size() * block_.pitch + i % taps.size(); });
      tally.copy_or_zero(from, to, times);
    }
  }

  // Maps: these lines of one tile, with zeros for ghost cells.
  void copy_lines(Tally& tally, std::int64_t tile, Cells lines, std::int64_t times) const {
    const std::int64_t in_image = tile % (std::int64_t{block_.tiles_down} * block_.tiles_across);
    const std::int64_t n = tile / (std::int64_t{block_.tiles_down} * block_.tiles_across);
    const std::int64_t top =
        in_image / block_.tiles_across * block_.tile_rows * layer_.stride_h() - layer_.padding_h();
    const std::int64_t left =
        in_image % block_.tiles_across * block_.tile_columns * layer_.stride_w() -
        layer_.padding_w();
    const Cells cells{lines.begin * block_.line, lines.end * block_.line};
    for (const Cells warp : cells.pieces(kWarpSize)) {
      const Lanes from = lanes(warp, [&](std::int64_t i) {
        const std::int64_t line = i / block_.line;
        const std::int64_t row = top + line % block_.channel_lines;
        const std::int64_t column = left + i % block_.line;
        if (row < 0 || row >= layer_.H() || column < 0 || column >= layer_.W()) return kNoCell;
        const std::int64_t plane = n * layer_.C() + line / block_.channel_lines;
        return (plane * layer_.H() + row) * layer_.W() + column;
      });
      const Lanes to = lanes(warp, [&](std::int64_t i) {
        return i / block_.line % block_.ring * block_.line + i % block_.line;
      });
      tally.copy_or_zero(from, to, times);
    }
  }

  void copy_all_lines(Tally& tally, std::int64_t tile, std::int64_t times) const {
    for_each_segment([&](std::int64_t, std::int64_t, std::int64_t known, std::int64_t needed) {
      copy_lines(tally, tile, {known, needed}, times);
    });
  }

  // Products: what the warps of one row of threads read from shared memory for `targets` targets
  // with `sums` filters each.
  void multiply(Tally& tally, std::int64_t targets, int sums, std::int64_t times) const {
    for (const Cells warp : Cells{0, targets}.pieces(kWarpSize)) {
      for_each_segment([&](std::int64_t first, std::int64_t count, std::int64_t, std::int64_t) {
        // The pixel of each tap.
        for (std::int64_t tap = first; tap < first + count; ++tap) {
          tally.shared_load(lanes(warp,
                                  [&](std::int64_t t) {
                                    const std::int64_t line =
                                        line_of(tap) + t / block_.tile_columns * layer_.stride_h();
                                    return line % block_.ring * block_.line +
                                           t % block_.tile_columns * layer_.stride_w() +
                                           tap % layer_.S();
                                  }),
                            times);
        }
        // The taps, four at a time; all lanes agree.
        const Run four{.lanes = warp.size(), .stride = 0, .width = 4};
        tally.shared_load(four, times * sums * (count / 4));
        tally.shared_load(one(0), times * sums * (count % 4));
      });
    }
  }

 private:
  std::int64_t channel_of(std::int64_t tap) const { return tap / (layer_.R() * layer_.S()); }
  // The line that the first row of targets needs for a tap.
  std::int64_t line_of(std::int64_t tap) const {
    return channel_of(tap) * block_.channel_lines + tap % (layer_.R() * layer_.S()) / layer_.S();
  }

  const conv::ConvLayer& layer_;
  const Block& block_;
  std::int64_t begin_;
  std::int64_t end_;
};

std::int64_t tiles_of(const conv::ConvLayer& layer, const Block& block) {
  return std::int64_t{layer.N()} * block.tiles_down * block.tiles_across;
}

// Outputs of a tile: whole rows of a map, or a piece of one row.
std::int64_t targets_of(const conv::ConvLayer& layer, const Block& block, std::int64_t tile) {
  const std::int64_t in_image = tile % (std::int64_t{block.tiles_down} * block.tiles_across);
  const std::int64_t p = in_image / block.tiles_across * block.tile_rows;
  const std::int64_t q = in_image % block.tiles_across * block.tile_columns;
  return std::min<std::int64_t>(block.tile_rows, layer.P() - p) *
         std::min<std::int64_t>(block.tile_columns, layer.Q() - q);
}

// How many tiles have how many targets: four kinds at most.
std::map<std::int64_t, std::int64_t> kinds_of_tiles(const conv::ConvLayer& layer,
                                                    const Block& block) {
  std::map<std::int64_t, std::int64_t> kinds;
  for (std::int64_t tile = 0; tile < tiles_of(layer, block); ++tile) {
    kinds[targets_of(layer, block, tile)] += 1;
  }
  return kinds;
}

// All outputs, stored once, when output 0 is `base` floats from the start of its array. The targets
// of a tile are neighbours in memory.
void store_outputs(Tally& tally, const conv::ConvLayer& layer, const Block& block,
                   std::int64_t base) {
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t in_image = std::int64_t{block.tiles_down} * block.tiles_across;
  for (std::int64_t tile = 0; tile < tiles_of(layer, block); ++tile) {
    const std::int64_t p = tile % in_image / block.tiles_across * block.tile_rows;
    const std::int64_t q = tile % in_image % block.tiles_across * block.tile_columns;
    const std::int64_t targets = targets_of(layer, block, tile);
    for (std::int64_t k = 0; k < layer.K(); ++k) {
      const std::int64_t first = base + (tile / in_image * layer.K() + k) * map + p * layer.Q() + q;
      tally.store(Cells{first, first + targets});
    }
  }
}

// Blocks with a thread for each pixel and so many filters, and room for the lines of a tile and two
// segments of the filters: the next one comes while one is used.
void add_launch(Tally& tally, const Block& block, std::int64_t blocks) {
  tally.launch(blocks, block.pixels * (block.filters / kFiltersPerThread),
               (2 * block.filters * block.pitch + block.ring * block.line) * sizeof(float));
}

// The block method over the channels [c_begin, c_end) and all outputs, stored from `base` on.
void add_block_method(Tally& tally, const conv::ConvLayer& layer, const Block& block,
                      std::int64_t c_begin, std::int64_t c_end, std::int64_t base) {
  const std::int64_t filter = std::int64_t{layer.R()} * layer.S();
  const Walk walk(layer, block, c_begin * filter, c_end * filter);
  const std::int64_t tiles = tiles_of(layer, block);
  for (std::int64_t group = 0; group < block.groups; ++group) {
    walk.copy_filters(tally, group * block.filters, block.filters, tiles);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    walk.copy_all_lines(tally, tile, block.groups);
  }
  const std::int64_t rows_of_threads =
      std::int64_t{block.groups} * (block.filters / kFiltersPerThread);
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    walk.multiply(tally, targets, kFiltersPerThread, many * rows_of_threads);
  }
  store_outputs(tally, layer, block, base);
  tally.barriers(tiles * block.groups * walk.rounds());
}

}  // namespace

Cost predict_stride_fixed(const conv::ConvLayer& layer, const BlockPlan& plan) {
  Tally tally;
  add_launch(tally, plan.block, tiles_of(layer, plan.block) * plan.block.groups);
  add_block_method(tally, layer, plan.block, 0, layer.C(), 0);
  return tally.cost();
}

Cost predict_channels_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  Tally tally;
  add_launch(tally, plan.block, tiles_of(layer, plan.block) * plan.block.groups * plan.parts);
  const std::int64_t channels = (layer.C() - 1) / plan.parts + 1;
  for (std::int64_t part = 0; part < plan.parts; ++part) {
    add_block_method(tally, layer, plan.block, part * channels,
                     std::min<std::int64_t>((part + 1) * channels, layer.C()),
                     part * layer.output_size());
  }
  // The second kernel: each part of 32 outputs, and the outputs.
  constexpr int kAddThreads = 256;
  tally.launch(Cells{0, layer.output_size()}.pieces(kAddThreads).count(), kAddThreads);
  tally.load(Cells{0, layer.output_size()}, every(layer.output_size(), plan.parts));
  tally.store(Cells{0, layer.output_size()});
  return tally.cost();
}

Cost predict_filters_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  const Block& block = plan.block;
  const Walk walk(layer, block, 0, layer.products_per_output());
  const std::int64_t tiles = tiles_of(layer, block);
  Tally tally;
  // Blocks keep their filters' taps, all of them.
  tally.launch(block.groups, block.pixels,
               (block.filters * block.pitch + block.ring * block.line) * sizeof(float));
  for (std::int64_t group = 0; group < block.groups; ++group) {
    walk.copy_taps(tally, group * block.filters, block.filters, {0, layer.products_per_output()},
                   1);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    walk.copy_all_lines(tally, tile, block.groups);
  }
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    walk.multiply(tally, targets, block.filters, many * block.groups);
  }
  store_outputs(tally, layer, block, 0);
  // One more before each tile but the first.
  tally.barriers(block.groups * (tiles * walk.rounds() + tiles - 1));
  return tally.cost();
}

Cost predict_maps_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  const Block& block = plan.block;
  const Walk walk(layer, block, 0, layer.products_per_output());
  const std::int64_t tiles = tiles_of(layer, block);
  Tally tally;
  add_launch(tally, block, tiles);
  for (std::int64_t group = 0; group < block.groups; ++group) {
    walk.copy_filters(tally, group * block.filters, block.filters, tiles);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    walk.copy_lines(tally, tile, {0, block.ring}, 1);
  }
  const std::int64_t rows_of_threads =
      std::int64_t{block.groups} * (block.filters / kFiltersPerThread);
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    walk.multiply(tally, targets, kFiltersPerThread, many * rows_of_threads);
  }
  store_outputs(tally, layer, block, 0);
  tally.barriers(tiles * block.groups * walk.rounds());
  return tally.cost();
}

}  // namespace halo::multi_channel_stride_fixed
