#include "stages/08_multi_channel_stride_fixed/block_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "common/conv/quotient.hpp"
#include "common/report/command_line.hpp"

namespace halo::multi_channel_stride_fixed {

namespace {

constexpr int kWarp = 32;
constexpr int kMostThreads = 1024;
constexpr int kFloat = 4;  // bytes

int pitch_of(std::int64_t taps) { return static_cast<int>(rounded_up(taps, 4)); }

// Segments after which their places in the filter's rows and channels come again.
std::int64_t distinct_segments(const conv::ConvLayer& layer, int segment) {
  const std::int64_t taps = layer.products_per_output();
  const std::int64_t filter = std::int64_t{layer.R()} * layer.S();
  return std::min(quotient_up(taps, segment), filter / std::gcd<std::int64_t>(segment, filter));
}

// Lines that lie on chip, when a tile needs `channel_lines` of each channel, from the first one that a
// segment needs to the last one of `segments` segments, itself among them: the most over all segments.
std::int64_t lines_on_chip(const conv::ConvLayer& layer, int segment, std::int64_t channel_lines,
                           int segments) {
  const std::int64_t taps = layer.products_per_output();
  const std::int64_t filter = std::int64_t{layer.R()} * layer.S();
  const auto line_of = [&](std::int64_t tap) {  // that the first row of targets needs
    return tap / filter * channel_lines + tap % filter / layer.S();
  };
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < distinct_segments(layer, segment); ++i) {
    const std::int64_t first = i * segment;
    const std::int64_t last = std::min(first + std::int64_t{segments} * segment, taps) - 1;
    // channel_lines - R more for the last row of targets.
    most = std::max(most, line_of(last) + channel_lines - layer.R() + 1 - line_of(first));
  }
  return most;
}

// A tile of at most `targets` outputs, and the lines it needs. Numbers that may not fit an int yet.
struct Geometry {
  std::int64_t tile_rows, tile_columns, line, channel_lines, ring;
};

Geometry geometry_of(const conv::ConvLayer& layer, int segment, std::int64_t targets) {
  Geometry g{};
  g.tile_columns = std::min<std::int64_t>(layer.Q(), targets);
  g.tile_rows = std::min<std::int64_t>(layer.P(), targets / g.tile_columns);
  g.line = (g.tile_columns - 1) * layer.stride_w() + layer.S();
  g.channel_lines = (g.tile_rows - 1) * layer.stride_h() + layer.R();
  g.ring = lines_on_chip(layer, segment, g.channel_lines, 2);
  return g;
}

// Fewer targets than that: one row less, or half a row.
std::int64_t fewer_targets(const Geometry& g) {
  return g.tile_rows > 1 ? (g.tile_rows - 1) * g.tile_columns : quotient_up(g.tile_columns, 2);
}

// Fills in a plan for `filters` filters a block whose taps take `filter_floats` floats on chip, and
// refuses it if it does not fit.
BlockPlan plan_of(const conv::ConvLayer& layer, int segment, std::int64_t pixels, Geometry g,
                  int filters, int rows_of_threads, int pitch, std::int64_t filter_floats,
                  const gpus::GpuLimits& gpu) {
  BlockPlan plan;
  plan.threads = static_cast<int>(pixels) * rows_of_threads;
  // Each factor may be as large as 2^31, so that bytes could be too many for 64 bits.
  constexpr std::int64_t kTooMany = std::numeric_limits<int>::max() / kFloat;
  const bool countable = g.line <= kTooMany && g.ring <= kTooMany / g.line &&
                         filter_floats <= kTooMany &&
                         g.channel_lines <= std::numeric_limits<int>::max() / layer.C();
  plan.shared_bytes =
      countable ? kFloat * (filter_floats + g.ring * g.line) : std::int64_t{1} << 40;
  if (plan.threads > kMostThreads) {
    plan.refusal = std::to_string(plan.threads) + " threads are more than a block can have";
    return plan;
  }
  if (plan.shared_bytes > gpu.shared_per_block) {
    plan.refusal = "what a block needs on chip does not fit in its " +
                   std::to_string(gpu.shared_per_block) + " bytes of shared memory";
    return plan;
  }
  plan.block.segment = segment;
  plan.block.pixels = static_cast<int>(pixels);
  plan.block.filters = filters;
  plan.block.pitch = pitch;
  plan.block.tile_rows = static_cast<int>(g.tile_rows);
  plan.block.tile_columns = static_cast<int>(g.tile_columns);
  plan.block.tiles_down = static_cast<int>(quotient_up(layer.P(), g.tile_rows));
  plan.block.tiles_across = static_cast<int>(quotient_up(layer.Q(), g.tile_columns));
  plan.block.groups = static_cast<int>(quotient_up(layer.K(), filters));
  plan.block.line = static_cast<int>(g.line);
  plan.block.channel_lines = static_cast<int>(g.channel_lines);
  plan.block.ring = static_cast<int>(g.ring);
  return plan;
}

int segment_within(const conv::ConvLayer& layer, int segment) {
  return static_cast<int>(std::min<std::int64_t>(segment, layer.products_per_output()));
}

// Bytes of one of the two buffers, as the paper counts them: straddled lines in both.
std::int64_t buffer_bytes(const conv::ConvLayer& layer, const Block& block) {
  const std::int64_t lines = lines_on_chip(layer, block.segment, block.channel_lines, 1);
  return kFloat * (std::int64_t{block.filters} * block.pitch + lines * block.line);
}

// A block of the block method, for `pixels` threads along x, which have the targets of g.
BlockPlan plan_of_both(const conv::ConvLayer& layer, int segment, int pixels, int filters,
                       const Geometry& g, const gpus::GpuLimits& gpu) {
  const int pitch = pitch_of(segment);
  BlockPlan plan = plan_of(layer, segment, pixels, g, filters, filters / kFiltersPerThread, pitch,
                           2 * std::int64_t{filters} * pitch, gpu);
  if (plan.refusal.empty() && buffer_bytes(layer, plan.block) > gpu.shared_per_sm / 2) {
    plan.refusal = "a buffer of " + with_commas(buffer_bytes(layer, plan.block)) +
                   " bytes is more than half of an SM's shared memory";
  }
  return plan;
}

}  // namespace

SegmentExtent segment_extent(const conv::ConvLayer& layer, int segment) {
  SegmentExtent extent;
  segment = segment_within(layer, segment);
  const std::int64_t taps = layer.products_per_output();
  const std::int64_t filter = std::int64_t{layer.R()} * layer.S();
  extent.paper_lines = static_cast<int>(quotient_up(segment, layer.S()));
  for (std::int64_t s = 0; s < distinct_segments(layer, segment); ++s) {
    const std::int64_t first = s * segment;
    const std::int64_t last = std::min(first + segment, taps) - 1;
    extent.lines =
        std::max(extent.lines, static_cast<int>(last / layer.S() - first / layer.S() + 1));
    extent.maps = std::max(extent.maps, static_cast<int>(last / filter - first / filter + 1));
  }
  return extent;
}

BlockPlan exact_block(const conv::ConvLayer& layer, int segment, int pixels, int filters,
                      const gpus::GpuLimits& gpu) {
  if (segment < 1 || pixels < 1 || pixels % kWarp != 0 || filters < 1 ||
      filters % kFiltersPerThread != 0) {
    throw std::invalid_argument("a block has segments of 1 tap or more, a multiple of " +
                                std::to_string(kWarp) + " pixels and a multiple of " +
                                std::to_string(kFiltersPerThread) + " filters");
  }
  segment = segment_within(layer, segment);
  return plan_of_both(layer, segment, pixels, filters, geometry_of(layer, segment, pixels), gpu);
}

BlockPlan plan_blocks(const conv::ConvLayer& layer, int segment, const gpus::GpuLimits& gpu,
                      int pixels, int filters) {
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  segment = segment_within(layer, segment);
  pixels = static_cast<int>(std::min<std::int64_t>(pixels, rounded_up(map, kWarp)));
  filters =
      static_cast<int>(std::min<std::int64_t>(filters, rounded_up(layer.K(), kFiltersPerThread)));
  std::int64_t targets = pixels;
  for (;;) {
    const Geometry g = geometry_of(layer, segment, targets);
    const BlockPlan plan = plan_of_both(layer, segment, pixels, filters, g, gpu);
    if (plan.refusal.empty()) return plan;
    // The larger of the two gives way.
    const std::int64_t filter_bytes = 2 * std::int64_t{filters} * pitch_of(segment) * kFloat;
    if (filters > kFiltersPerThread &&
        (pixels == kWarp || filter_bytes > plan.shared_bytes - filter_bytes)) {
      filters = static_cast<int>(rounded_up(filters / 2, kFiltersPerThread));
    } else if (pixels > kWarp) {
      pixels = static_cast<int>(rounded_up(pixels / 2, kWarp));
      targets = pixels;
    } else if (targets > 1) {
      targets = fewer_targets(g);
    } else {
      return plan;
    }
  }
}

BlockPlan plan_channels_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
  BlockPlan plan = plan_blocks(layer, kSegment32, gpu);
  const std::int64_t most = std::max<std::int64_t>(
      1, std::min<std::int64_t>(gpu.sms, kMostPartialSums / layer.output_size()));
  const std::int64_t channels = quotient_up(layer.C(), most);
  plan.parts = static_cast<int>(quotient_up(layer.C(), channels));  // none of them empty
  plan.workspace_floats = plan.parts * layer.output_size();
  return plan;
}

BlockPlan plan_filters_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  const std::int64_t share = quotient_up(layer.K(), gpu.sms);
  int filters = 1;
  while (filters < share && filters < 8) filters *= 2;
  const int segment = segment_within(layer, kSegment32);
  const int pitch = pitch_of(layer.products_per_output());
  std::int64_t targets = std::min<std::int64_t>(512, map);
  for (;;) {
    const Geometry g = geometry_of(layer, segment, targets);
    const BlockPlan plan = plan_of(layer, segment, rounded_up(targets, kWarp), g, filters, 1, pitch,
                                   std::int64_t{filters} * pitch, gpu);
    if (plan.refusal.empty()) return plan;
    // Fewer targets only cost halos; fewer filters cost the whole input once more.
    if (targets > 1) {
      targets = fewer_targets(g);
    } else if (filters > 1) {
      filters /= 2;
      targets = std::min<std::int64_t>(512, map);
    } else {
      return plan;
    }
  }
}

BlockPlan plan_maps_divided(const conv::ConvLayer& layer, const gpus::GpuLimits& gpu) {
  const std::int64_t map = std::int64_t{layer.P()} * layer.Q();
  std::int64_t targets =
      std::min<std::int64_t>({quotient_up(layer.N() * map, gpu.sms), map, kMostThreads / 2});
  const int segment = segment_within(layer, kSegment32);
  const int pitch = pitch_of(segment);
  for (;;) {
    const std::int64_t pixels = rounded_up(targets, kWarp);
    const int rows_of_threads = static_cast<int>(
        std::min<std::int64_t>(512 / pixels, quotient_up(layer.K(), kFiltersPerThread)));
    const int filters = rows_of_threads * kFiltersPerThread;
    Geometry g = geometry_of(layer, segment, targets);
    // All lines of all channels; as many as that is, plan_of must not be led to overflow.
    g.ring = g.channel_lines > std::numeric_limits<int>::max() / layer.C()
                 ? std::numeric_limits<int>::max()
                 : layer.C() * g.channel_lines;
    const BlockPlan plan = plan_of(layer, segment, pixels, g, filters, rows_of_threads, pitch,
                                   2 * std::int64_t{filters} * pitch, gpu);
    if (plan.refusal.empty() || targets == 1) return plan;
    targets = fewer_targets(g);
  }
}

std::string explain(const conv::ConvLayer& layer, int segment, const gpus::GpuLimits& gpu,
                    const std::vector<FmaNeed>& needs) {
  const SegmentExtent extent = segment_extent(layer, segment);
  const BlockPlan plan = plan_blocks(layer, segment, gpu);
  std::string text = "S = " + with_commas(std::int64_t{segment} * kFloat) + " bytes\n";
  const auto line = [&](const std::string& what) { text += "  " + what + "\n"; };
  line("1. segment: " + with_commas(plan.block.segment) + " of the " +
       with_commas(layer.products_per_output()) + " taps of a filter at a time, " +
       with_commas(quotient_up(layer.products_per_output(), segment)) + " rounds");
  if (!plan.refusal.empty()) {
    line("no block: " + plan.refusal);
    return text;
  }
  const Block& b = plan.block;
  line("2. W'x = " + with_commas(b.pixels) + " pixels: tiles of " + with_commas(b.tile_rows) +
       " x " + with_commas(b.tile_columns) + " outputs, " +
       with_commas(std::int64_t{layer.N()} * b.tiles_down * b.tiles_across) + " of them");
  line("   W'y = ceil(S / 4K) = " + with_commas(extent.paper_lines) + "; touched in truth: up to " +
       with_commas(extent.lines) + " lines of " + with_commas(extent.maps) +
       (extent.maps == 1 ? " map" : " maps") + " for a row of targets");
  line("3. M' = " + with_commas(b.filters) + " filters, " + with_commas(b.groups) +
       (b.groups == 1 ? " group" : " groups"));
  const std::int64_t fma = std::int64_t{b.segment} * b.filters * b.pixels;
  for (const FmaNeed& need : needs) {
    line("   (S/4) M' W'x = " + with_commas(fma) + (fma >= need.n_fma ? " >= " : " < ") +
         "N_FMA = " + with_commas(need.n_fma) + " (" + need.how + "); M' >= " +
         with_commas(quotient_up(need.n_fma, std::int64_t{b.segment} * b.pixels)) + " would do");
  }
  line("4. a buffer: " + with_commas(buffer_bytes(layer, b)) + " bytes of " +
       with_commas(gpu.shared_per_sm / 2) + ", half of an SM's shared memory; on chip with " +
       "straddled lines once: " + with_commas(plan.shared_bytes) + " bytes");
  line(
      "blocks: " + with_commas(std::int64_t{layer.N()} * b.tiles_down * b.tiles_across * b.groups) +
      " of " + with_commas(plan.threads) + " threads, on " + with_commas(gpu.sms) + " SMs");
  return text;
}

}  // namespace halo::multi_channel_stride_fixed
