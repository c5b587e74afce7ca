#include "stages/08_multi_channel_stride_fixed/costs.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "common/harness/traffic.hpp"

namespace halo::multi_channel_stride_fixed {

namespace {

// Counters of something that happens `times` times.
simt::Counters times(simt::Counters once, std::int64_t times) {
  for (const simt::CounterField& field : simt::counter_fields()) once.*field.member *= times;
  return once;
}

// A copy to shared memory by one warp: a request to each side. `from` has only the cells that exist.
void count_copy(simt::Counters& counters, const std::vector<std::int64_t>& from,
                const std::vector<std::int64_t>& to) {
  if (!from.empty()) {
    counters.global_load_requests += 1;
    counters.global_load_sectors += sectors_of(from);
  }
  const std::uint64_t wavefronts = wavefronts_of(to);
  counters.shared_store_requests += 1;
  counters.shared_store_wavefronts += wavefronts;
  counters.shared_store_conflicts += wavefronts - 1;
}

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
  // apart, copied by `segments_at_once` taps a round.
  simt::Counters filter_copies(std::int64_t first_filter, int many) const {
    simt::Counters counters;
    for_each_segment([&](std::int64_t first, std::int64_t count, std::int64_t, std::int64_t) {
      counters += filter_copy(first_filter, many, first, count);
    });
    return counters;
  }

  // One copy of `count` taps of each filter, tap by tap, filter by filter.
  simt::Counters filter_copy(std::int64_t first_filter, int many, std::int64_t first,
                             std::int64_t count) const {
    simt::Counters counters;
    const std::int64_t taps = layer_.products_per_output();
    std::vector<std::int64_t> from, to;
    for (std::int64_t start = 0; start < many * count; start += kWarpSize) {
      from.clear();
      to.clear();
      for (std::int64_t i = start; i < std::min(start + kWarpSize, many * count); ++i) {
        const std::int64_t k = first_filter + i / count;
        if (k < layer_.K()) from.push_back(k * taps + first + i % count);
        to.push_back(i / count * block_.pitch + i % count);
      }
      count_copy(counters, from, to);
    }
    return counters;
  }

  // Maps: lines [first, end) of one tile.
  simt::Counters line_copy(std::int64_t tile, std::int64_t first, std::int64_t end) const {
    simt::Counters counters;
    const std::int64_t in_image = tile % (std::int64_t{block_.tiles_down} * block_.tiles_across);
    const std::int64_t n = tile / (std::int64_t{block_.tiles_down} * block_.tiles_across);
    const std::int64_t top =
        in_image / block_.tiles_across * block_.tile_rows * layer_.stride_h() - layer_.padding_h();
    const std::int64_t left =
        in_image % block_.tiles_across * block_.tile_columns * layer_.stride_w() -
        layer_.padding_w();
    std::vector<std::int64_t> from, to;
    for (std::int64_t start = first * block_.line; start < end * block_.line; start += kWarpSize) {
      from.clear();
      to.clear();
      for (std::int64_t i = start; i < std::min(start + kWarpSize, end * block_.line); ++i) {
        const std::int64_t line = i / block_.line;
        const std::int64_t row = top + line % block_.channel_lines;
        const std::int64_t column = left + i % block_.line;
        if (row >= 0 && row < layer_.H() && column >= 0 && column < layer_.W()) {
          from.push_back(((n * layer_.C() + line / block_.channel_lines) * layer_.H() + row) *
                             layer_.W() +
                         column);
        }
        to.push_back(line % block_.ring * block_.line + i % block_.line);
      }
      count_copy(counters, from, to);
    }
    return counters;
  }

  simt::Counters line_copies(std::int64_t tile) const {
    simt::Counters counters;
    for_each_segment([&](std::int64_t, std::int64_t, std::int64_t known, std::int64_t needed) {
      counters += line_copy(tile, known, needed);
    });
    return counters;
  }

  // Products: what the warps of one row of threads read from shared memory for `targets` targets
  // with `sums` filters each.
  simt::Counters products(std::int64_t targets, int sums) const {
    simt::Counters counters;
    std::vector<std::int64_t> pixels;
    for (std::int64_t warp = 0; warp < targets; warp += kWarpSize) {
      const std::int64_t lanes = std::min<std::int64_t>(kWarpSize, targets - warp);
      for_each_segment([&](std::int64_t first, std::int64_t count, std::int64_t, std::int64_t) {
        // The pixel of each tap.
        for (std::int64_t tap = first; tap < first + count; ++tap) {
          pixels.clear();
          for (std::int64_t t = warp; t < warp + lanes; ++t) {
            const std::int64_t line = line_of(tap) + t / block_.tile_columns * layer_.stride_h();
            pixels.push_back(line % block_.ring * block_.line +
                             t % block_.tile_columns * layer_.stride_w() + tap % layer_.S());
          }
          const std::uint64_t wavefronts = wavefronts_of(pixels);
          counters.shared_load_requests += 1;
          counters.shared_load_wavefronts += wavefronts;
          counters.shared_load_conflicts += wavefronts - 1;
        }
        // The taps, four at a time; all lanes agree, so that 16 of them share a pass.
        counters.shared_load_requests += sums * (count / 4 + count % 4);
        counters.shared_load_wavefronts +=
            sums * (count / 4 * (lanes > kWarpSize / 2 ? 2 : 1) + count % 4);
      });
    }
    return counters;
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
simt::Counters stores(const conv::ConvLayer& layer, const Block& block, std::int64_t base) {
  simt::Counters counters;
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t in_image = std::int64_t{block.tiles_down} * block.tiles_across;
  for (std::int64_t tile = 0; tile < tiles_of(layer, block); ++tile) {
    const std::int64_t p = tile % in_image / block.tiles_across * block.tile_rows;
    const std::int64_t q = tile % in_image % block.tiles_across * block.tile_columns;
    const std::int64_t targets = targets_of(layer, block, tile);
    for (std::int64_t k = 0; k < layer.K(); ++k) {
      const std::int64_t first = base + (tile / in_image * layer.K() + k) * map + p * layer.Q() + q;
      for (std::int64_t warp = 0; warp < targets; warp += kWarpSize) {
        counters.global_store_requests += 1;
        counters.global_store_sectors +=
            Cells{first + warp, first + std::min<std::int64_t>(warp + kWarpSize, targets)}
                .sectors();
      }
    }
  }
  return counters;
}

// The block method over the channels [c_begin, c_end) and all outputs, stored from `base` on.
simt::Counters block_method(const conv::ConvLayer& layer, const Block& block, std::int64_t c_begin,
                            std::int64_t c_end, std::int64_t base) {
  const std::int64_t filter = std::int64_t{layer.R()} * layer.S();
  const Walk walk(layer, block, c_begin * filter, c_end * filter);
  const std::int64_t tiles = tiles_of(layer, block);
  simt::Counters counters;
  for (std::int64_t group = 0; group < block.groups; ++group) {
    counters += times(walk.filter_copies(group * block.filters, block.filters), tiles);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    counters += times(walk.line_copies(tile), block.groups);
  }
  const std::int64_t rows_of_threads =
      std::int64_t{block.groups} * (block.filters / kFiltersPerThread);
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    counters += times(walk.products(targets, kFiltersPerThread), many * rows_of_threads);
  }
  counters += stores(layer, block, base);
  counters.barriers += tiles * block.groups * walk.rounds();
  return counters;
}

}  // namespace

simt::Counters predict_stride_fixed(const conv::ConvLayer& layer, const BlockPlan& plan) {
  return block_method(layer, plan.block, 0, layer.C(), 0);
}

simt::Counters predict_channels_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  simt::Counters counters;
  const std::int64_t channels = (layer.C() - 1) / plan.parts + 1;
  for (std::int64_t part = 0; part < plan.parts; ++part) {
    counters += block_method(layer, plan.block, part * channels,
                             std::min<std::int64_t>((part + 1) * channels, layer.C()),
                             part * layer.output_size());
  }
  // The second kernel: each part of 32 outputs, and the outputs.
  for (std::int64_t i = 0; i < layer.output_size(); i += kWarpSize) {
    const Cells warp{i, std::min<std::int64_t>(i + kWarpSize, layer.output_size())};
    for (std::int64_t part = 0; part < plan.parts; ++part) {
      counters.global_load_requests += 1;
      counters.global_load_sectors += warp.shifted(part * layer.output_size()).sectors();
    }
    counters.global_store_requests += 1;
    counters.global_store_sectors += warp.sectors();
  }
  return counters;
}

simt::Counters predict_filters_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  const Block& block = plan.block;
  const Walk walk(layer, block, 0, layer.products_per_output());
  const std::int64_t tiles = tiles_of(layer, block);
  simt::Counters counters;
  for (std::int64_t group = 0; group < block.groups; ++group) {
    counters +=
        walk.filter_copy(group * block.filters, block.filters, 0, layer.products_per_output());
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    counters += times(walk.line_copies(tile), block.groups);
  }
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    counters += times(walk.products(targets, block.filters), many * block.groups);
  }
  counters += stores(layer, block, 0);
  // One more before each tile but the first.
  counters.barriers += block.groups * (tiles * walk.rounds() + tiles - 1);
  return counters;
}

simt::Counters predict_maps_divided(const conv::ConvLayer& layer, const BlockPlan& plan) {
  const Block& block = plan.block;
  const Walk walk(layer, block, 0, layer.products_per_output());
  const std::int64_t tiles = tiles_of(layer, block);
  simt::Counters counters;
  for (std::int64_t group = 0; group < block.groups; ++group) {
    counters += times(walk.filter_copies(group * block.filters, block.filters), tiles);
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    counters += walk.line_copy(tile, 0, block.ring);
  }
  const std::int64_t rows_of_threads =
      std::int64_t{block.groups} * (block.filters / kFiltersPerThread);
  for (const auto& [targets, many] : kinds_of_tiles(layer, block)) {
    counters += times(walk.products(targets, kFiltersPerThread), many * rows_of_threads);
  }
  counters += stores(layer, block, 0);
  counters.barriers += tiles * block.groups * walk.rounds();
  return counters;
}

}  // namespace halo::multi_channel_stride_fixed
