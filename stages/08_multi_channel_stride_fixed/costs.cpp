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
      tally.load(lanes(warp,
                       [&](std::int64_t i) {
                         const std::int64_t k = first_filter + i / taps.size();
                         return k < layer_.K() ? k * layer_.products_per_output() + taps.begin +
                                                     i % taps.size()
                                               : kNoCell;
                       }),
                 times);
      tally.shared_store(
          lanes(warp,
                [&](std::int64_t i) { return i / taps.size() * block_.pitch + i % taps.size(); }),
          times);
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
      tally.load(lanes(warp,
                       [&](std::int64_t i) {
                         const std::int64_t line = i / block_.line;
                         const std::int64_t row = top + line % block_.channel_lines;
                         const std::int64_t column = left + i % block_.line;
                         if (row < 0 || row >= layer_.H() || column < 0 || column >= layer_.W())
                           return kNoCell;
                         const std::int64_t plane = n * layer_.C() + line / block_.channel_lines;
                         return (plane * layer_.H() + row) * layer_.W() + column;
                       }),
                 times);
      tally.shared_store(lanes(warp,
                               [&](std::int64_t i) {
                                 return i / block_.line % block_.ring * block_.line +
                                        i % block_.line;
                               }),
                         times);
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

namespace {

// What the kernel with tiles of registers asks for, of one layer and one tile.
class TileWalk {
 public:
  TileWalk(const conv::ConvLayer& layer, const RegisterTile& tile)
      : layer_(layer),
        tile_(tile),
        shape_(kRegisterShapes[static_cast<std::size_t>(tile.shape)]),
        order_(packed_filters(layer.C(), layer.K(), layer.R(), layer.S())),
        map_(std::int64_t{layer.P()} * layer.Q()),
        outputs_(layer.N() * map_),
        tiles_((outputs_ - 1) / shape_.pixels + 1),
        groups_((layer.K() - 1) / shape_.filters + 1),
        segments_(order_.segments) {}

  Cost cost() {
    const bool quads = map_ % 4 == 0;
    const int floats = shape_.floats(order_.of_tap == 0, tile_.parts, quads);
    const std::int64_t blocks = groups_ * tiles_ * tile_.parts;
    tally_.launch(blocks, shape_.threads(), floats * std::int64_t{sizeof(float)});
    // Before the first segment, and behind each; where sums leave by shared memory, and where a cluster has begun.
    tally_.barriers(blocks * (tile_.parts == 1 && quads ? 1 : 2) + groups_ * tiles_ * segments_);
    copy_filters();
    copy_pixels();
    read_quads();
    if (tile_.parts > 1) {
      send_and_add();
    } else {
      quads ? store_quads() : store_rows();
    }
    return tally_.cost();
  }

  // The first part of each tile: a thread's filters, one after the other; of those that there are not, the last.
  Cost cost_of_bias() {
    for (std::int64_t group = 0; group < groups_; ++group) {
      for (const Cells warp : warps()) {
        for (int i = 0; i < shape_.thread_filters; ++i) {
          const Lanes of_filters = lanes(warp, [&](std::int64_t thread) {
            const std::int64_t k =
                group * shape_.filters + own_filter(thread) + i / 4 * 4 * kRows + i % 4;
            return std::min<std::int64_t>(k, layer_.K() - 1);
          });
          tally_.load(of_filters, tiles_);
        }
      }
    }
    return tally_.cost();
  }

 private:
  static constexpr int kRows = 4;
  static constexpr int kColumns = 8;
  // Whose cell is read for a ghost: in another array, so far from all others.
  static constexpr std::int64_t kZeros = std::int64_t{1} << 40;

  Cells::Pieces warps() const { return Cells{0, shape_.threads()}.pieces(kWarpSize); }
  // The first of a thread's filters and pixels.
  std::int64_t own_filter(std::int64_t thread) const {
    const std::int64_t lane = thread % kWarpSize;
    const std::int64_t down = shape_.filters / (kRows * shape_.thread_filters);
    return thread / kWarpSize % down * kRows * shape_.thread_filters +
           (lane / 2 % 2 + lane / 16 * 2) * 4;
  }
  std::int64_t own_pixel(std::int64_t thread) const {
    const std::int64_t lane = thread % kWarpSize;
    const std::int64_t down = shape_.filters / (kRows * shape_.thread_filters);
    return thread / kWarpSize / down * kColumns * shape_.thread_pixels +
           (lane % 2 + lane / 4 % 4 * 2) * 4;
  }

  // A quad a thread, row after row of the segment; segments are whole sectors apart.
  void copy_filters() {
    const std::int64_t quads = shape_.filters / 4;
    for (std::int64_t group = 0; group < groups_; ++group) {
      for (const Cells warp : Cells{0, quads * kSegmentChannels}.pieces(kWarpSize)) {
        tally_.load(wide_lanes(4, warp,
                               [&](std::int64_t i) {
                                 const std::int64_t k = group * shape_.filters + i % quads * 4;
                                 return i / quads * order_.row +
                                        std::min<std::int64_t>(k, order_.row - 4);
                               }),
                    tiles_ * segments_);
      }
    }
    tally_.shared_store(quads_of(kSegmentChannels * shape_.filters), groups_ * tiles_ * segments_);
  }

  void copy_pixels() {
    const bool few =
        order_.of_tap == 0;  // then ghosts are not copied, and a thread has all channels
    const std::int64_t row = shape_.pixels / tile_.at_once;  // threads for those of a channel
    const std::int64_t plane = std::int64_t{layer_.H()} * layer_.W();
    Times behind(0);  // the channels, those that two segments have twice
    if (few) {
      for (std::int64_t c = 0; c < layer_.C(); ++c) behind.add(c * plane, groups_);
    }
    for (std::int64_t segment = 0; segment < order_.of_tap; ++segment) {
      const std::int64_t first =
          std::min<std::int64_t>(segment * kSegmentChannels, layer_.C() - kSegmentChannels);
      for (std::int64_t c = 0; c < kSegmentChannels; c += shape_.threads() / row) {
        behind.add((first + c) * plane, groups_);
      }
    }
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      for (std::int64_t tap = 0; tap < std::int64_t{layer_.R()} * layer_.S(); ++tap) {
        for (const Cells warp : warps()) {
          tally_.load(wide_lanes(tile_.at_once, warp,
                                 [&](std::int64_t thread) {
                                   const std::int64_t output =
                                       tile * shape_.pixels + thread % row * tile_.at_once;
                                   return cell_of(output, tap, thread / row,
                                                  few ? kNoCell : kZeros);
                                 }),
                      behind);
        }
      }
    }
    if (few) copy_places();
    const std::int64_t floats = kSegmentChannels * shape_.pixels;
    tally_.shared_store(tile_.at_once == 4 ? quads_of(floats) : Run(Cells{0, floats}),
                        groups_ * tiles_ * segments_);
  }

  // Of each part the places of the first segments' taps come on chip; then with each segment those of the next but one.
  // All threads read them at once.
  void copy_places() {
    const std::int64_t tiles = groups_ * tiles_;
    tally_.load(quads_of((kStages - 1) * kTapNumbers), tiles * tile_.parts);
    tally_.shared_store(quads_of((kStages - 1) * kTapNumbers), tiles * tile_.parts);
    tally_.load(quads_of(kTapNumbers), tiles * segments_);
    tally_.shared_store(quads_of(kTapNumbers), tiles * segments_);
    tally_.shared_load(wide_lanes(4, {0, kWarpSize}, [](std::int64_t) { return 0; }),
                       tiles * segments_ * kSegmentChannels * (shape_.threads() / kWarpSize));
    tally_.barriers(tiles * tile_.parts);
  }

  // The input's cell that this output has for a tap and a channel. Outputs that do not exist take output 0's.
  std::int64_t cell_of(std::int64_t output, std::int64_t tap, std::int64_t c,
                       std::int64_t ghost) const {
    if (output >= outputs_) output = 0;
    const std::int64_t h = output / layer_.Q() % layer_.P() * layer_.stride_h() -
                           layer_.padding_h() + tap / layer_.S();
    const std::int64_t w =
        output % layer_.Q() * layer_.stride_w() - layer_.padding_w() + tap % layer_.S();
    if (h < 0 || h >= layer_.H() || w < 0 || w >= layer_.W()) return ghost;
    return ((output / map_ * layer_.C() + c) * layer_.H() + h) * layer_.W() + w;
  }

  static Run quads_of(std::int64_t floats) { return quads(Cells{0, floats}); }

  // Each channel of each segment: a warp's lanes read quads of filters and quads of pixels.
  void read_quads() {
    const std::int64_t times =
        groups_ * tiles_ * segments_ * kSegmentChannels * (shape_.threads() / kWarpSize);
    const Cells warp{0, kWarpSize};
    tally_.shared_load(wide_lanes(4, warp, [&](std::int64_t i) { return own_filter(i); }),
                       times * (shape_.thread_filters / 4));
    tally_.shared_load(wide_lanes(4, warp, [&](std::int64_t i) { return own_pixel(i); }),
                       times * (shape_.thread_pixels / 4));
  }

  // The cell of an output, or none.
  std::int64_t output_cell(std::int64_t output, std::int64_t k) const {
    if (output >= outputs_ || k >= layer_.K()) return kNoCell;
    return (output / map_ * layer_.K() + k) * map_ + output % map_;
  }

  void store_quads() {
    for (std::int64_t at = 0; at < groups_ * tiles_; ++at) {
      for (const Cells warp : warps()) {
        for (int i = 0; i < shape_.thread_filters; ++i) {
          for (int j = 0; j < shape_.thread_pixels; j += 4) {
            tally_.store(wide_lanes(4, warp, [&](std::int64_t thread) {
              return output_cell(
                  at / groups_ * shape_.pixels + own_pixel(thread) + j * kColumns,
                  at % groups_ * shape_.filters + own_filter(thread) + i / 4 * 4 * kRows + i % 4);
            }));
          }
        }
      }
    }
  }

  void store_rows() {
    const std::int64_t pitch = shape_.pixels + 4;
    tally_.shared_store(
        wide_lanes(4, {0, kWarpSize},
                   [&](std::int64_t i) { return own_filter(i) * pitch + own_pixel(i); }),
        groups_ * tiles_ * (shape_.threads() / kWarpSize) * shape_.thread_filters *
            (shape_.thread_pixels / 4));
    store_sums(pitch, 1);
  }

  // The rows of a tile as they lie in the blocks that add them up, one behind the other, the parts of each together.
  void send_and_add() {
    for (const Cells warp : warps()) {
      for (int i = 0; i < shape_.thread_filters; ++i) {
        const Lanes to = wide_lanes(4, warp, [&](std::int64_t thread) {
          const std::int64_t row = own_filter(thread) + i / 4 * 4 * kRows + i % 4;
          return row * tile_.parts * shape_.pixels + own_pixel(thread);
        });
        tally_.dshared_store(to, groups_ * tiles_ * tile_.parts * (shape_.thread_pixels / 4));
      }
    }
    store_sums(shape_.pixels, tile_.parts);
  }

  // Warps read the pixels of a row, which are `pitch` long, so many parts of it, and store them.
  void store_sums(std::int64_t pitch, std::int64_t parts) {
    for (std::int64_t at = 0; at < groups_ * tiles_; ++at) {
      const Cells pixels =
          Cells{0, shape_.pixels}.within({0, outputs_ - at / groups_ * shape_.pixels});
      for (std::int64_t row = 0; row < shape_.filters; ++row) {
        const std::int64_t k = at % groups_ * shape_.filters + row;
        if (k >= layer_.K()) break;
        for (const Cells warp : pixels.pieces(kWarpSize)) {
          tally_.shared_load(warp.shifted(row * pitch), parts);
          tally_.store(lanes(warp, [&](std::int64_t i) {
            return output_cell(at / groups_ * shape_.pixels + i, k);
          }));
        }
      }
    }
  }

  const conv::ConvLayer& layer_;
  const RegisterTile tile_;
  const RegisterShape shape_;
  const PackedFilters order_;
  const std::int64_t map_;
  const std::int64_t outputs_;  // of one filter
  const std::int64_t tiles_;
  const std::int64_t groups_;
  const std::int64_t segments_;  // of a tile, all parts together
  Tally tally_;
};

}  // namespace

Cost predict_register_tile(const conv::ConvLayer& layer, const RegisterTile& tile) {
  return TileWalk(layer, tile).cost();
}

Cost bias_of_register_tile(const conv::ConvLayer& layer, const RegisterTile& tile) {
  return TileWalk(layer, tile).cost_of_bias();
}

}  // namespace halo::multi_channel_stride_fixed
