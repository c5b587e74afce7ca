#include "common/convolve/grouped/plan.hpp"

#include <algorithm>
#include <cstdint>

#include "common/conv/quotient.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kQuad = 4;
// Threads of an SM that are enough, measured on an H200: to have several rows each, and several filters. Of several
// filters each channel takes longer, one after the other.
constexpr int kWithSeveralRows = 128, kWithSeveralFilters = 256;
// Of several channels, too, if rows are quads: few rows read little more there, and wait for each channel.
constexpr int kWithSeveralRowsOfChannels = 512;
constexpr std::int64_t kMostPacked = (std::int64_t{1} << 31) - 4097;
constexpr int kRegistersOfAThread = 96;
constexpr int kRegistersOfAnSm = 65'536;

// {size, stride, filters, rows, columns}
constexpr GroupedShape kShapes[] = {
    {1, 1, 1, 1, 4}, {1, 0, 1, 1, 1},                                    //
    {3, 1, 1, 4, 4}, {3, 1, 1, 2, 4}, {3, 1, 1, 1, 4}, {3, 1, 1, 4, 1},  //
    {3, 2, 1, 2, 2}, {3, 2, 1, 1, 2}, {3, 2, 1, 2, 1}, {3, 0, 1, 1, 1},  //
    {5, 1, 1, 2, 4}, {5, 1, 1, 4, 1}, {5, 2, 1, 2, 2}, {5, 2, 1, 2, 1},  //
    {5, 0, 1, 1, 1},                                                     //
    {7, 1, 1, 2, 4}, {7, 1, 1, 4, 1}, {7, 2, 1, 2, 1}, {7, 0, 1, 1, 1},  //
    {0, 0, 1, 1, 1},                                                     //
    {1, 1, 4, 1, 4}, {1, 0, 4, 1, 1},                                    //
    {3, 1, 4, 2, 4}, {3, 1, 4, 1, 4}, {3, 1, 4, 4, 1}, {3, 2, 4, 2, 1}, {3, 0, 4, 1, 1},
    {0, 0, 4, 1, 1},                   //
    {1, 1, 8, 1, 4}, {1, 0, 8, 1, 1},  //
    {3, 1, 8, 1, 4}, {3, 1, 8, 4, 1}, {3, 2, 8, 2, 1}, {3, 0, 8, 1, 1}, {0, 0, 8, 1, 1},
};

// A plane is taken as one row.
bool is_one_row(const ConvLayer& l) {
  return l.R() == 1 && l.S() == 1 && l.stride_h() == 1 && l.stride_w() == 1 && l.padding_h() == 0 &&
         l.padding_w() == 0;
}

bool allows(const GroupedShape& shape, const ConvLayer& l) {
  if (shape.size == 0) return true;
  if (l.R() != shape.size || l.S() != shape.size) return false;
  if (shape.stride == 0) return true;
  if (l.stride_h() != shape.stride || l.stride_w() != shape.stride) return false;
  if (shape.size > 1 && (l.dilation_h() > 1 || l.dilation_w() > 1)) return false;
  if (shape.columns == 1) return true;
  if (shape.columns == 2) return l.W() % 2 == 0 && l.padding_w() == l.S() / 2;
  if (is_one_row(l)) return std::int64_t{l.P()} * l.Q() % kQuad == 0;
  return shape.size > 1 && l.Q() == l.W() && l.Q() % kQuad == 0 && l.padding_w() == l.S() / 2;
}

// What a thread has.
struct Place {
  std::int64_t n, set, group, p, q;
};

Place place_of(const GroupedDivision& d, const GroupedShape& shape, std::int64_t unit) {
  const std::int64_t strip = unit / d.across.value, map = strip / d.down.value;
  const std::int64_t set = map / d.images.value;
  return {map % d.images.value, set, set / d.sets.value, strip % d.down.value * shape.rows,
          unit % d.across.value * shape.columns};
}

// Of all windows of a thread together.
int rows_of_window(const GroupedShape& shape, int R) {
  return shape.rows > 1 ? (shape.rows - 1) * shape.stride + R : R;
}

// The f-th filter of its set; kNoCell: the group has none.
std::int64_t filter_of(const GroupedDivision& d, const GroupedShape& shape, const Place& at,
                       int f) {
  const std::int64_t own = at.set % d.sets.value * shape.filters + f;
  return own < d.filters ? at.group * d.filters + own : kNoCell;
}

// All warps that have outputs, and how often each is met again, one group or several further.
template <class Visit>
void for_each_warp_of(const ConvLayer& layer, const GroupedDivision& d, Visit visit) {
  for_each_warp(layer.groups(), d.units / layer.groups(), visit);
}

}  // namespace

std::span<const GroupedShape> grouped_shapes() { return kShapes; }

GroupedPlan plan_grouped(const ConvLayer& l, const GroupedShape& shape) {
  GroupedPlan plan;
  if (!allows(shape, l)) {
    plan.refusal = "it is made for other filters, strides or rows";
    return plan;
  }
  plan.shape = shape;
  GroupedDivision& d = plan.division;
  d = {.C = l.C(),
       .H = l.H(),
       .W = l.W(),
       .K = l.K(),
       .P = l.P(),
       .Q = l.Q(),
       .R = l.R(),
       .S = l.S(),
       .stride_h = l.stride_h(),
       .stride_w = l.stride_w(),
       .padding_h = l.padding_h(),
       .padding_w = l.padding_w(),
       .dilation_h = l.dilation_h(),
       .dilation_w = l.dilation_w(),
       .channels = l.filter_channels(),
       .filters = l.K() / l.groups(),
       .pitch = grouped_pitch(l.R() * l.S(), shape.filters),
       .units = 0,
       .sets = {},
       .images = l.N(),
       .across = {},
       .down = {}};
  if (is_one_row(l)) {
    d.W = d.Q = d.P * d.Q;
    d.H = d.P = 1;
  }
  const auto pieces = [](int all, int piece) { return (all - 1) / piece + 1; };
  d.across = pieces(d.Q, shape.columns);
  d.down = pieces(d.P, shape.rows);
  d.sets = pieces(d.filters, shape.filters);
  const int sets = l.groups() * d.sets.value;
  d.units = sets * l.N() * d.down.value * d.across.value;
  plan.packed_floats = 1ll * sets * d.channels * d.pitch;
  plan.blocks = pieces(d.units, kGroupedThreads);
  if (plan.packed_floats > kMostPacked) {
    plan.refusal = "its filters, packed in sets, would be more than 2^31 - 4,097";
  }
  return plan;
}

namespace {

// Of a set: as many as a group has, or fewer, if else there are too few threads.
int filters_of_set(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  const int of_group = layer.K() / layer.groups();
  for (const int filters : {8, 4}) {
    if (of_group <= filters / 2) continue;
    const bool in_quads = allows({layer.R(), 1, filters, 1, kQuad}, layer);
    const std::int64_t sets = std::int64_t{layer.groups()} * quotient_up(of_group, filters);
    const std::int64_t outputs = std::int64_t{layer.N()} * layer.P() * layer.Q();
    if (sets * (in_quads ? outputs / kQuad : outputs) >=
        std::int64_t{gpu.sms} * kWithSeveralFilters) {
      return filters;
    }
  }
  return 1;
}

}  // namespace

GroupedPlan plan_grouped(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  const int filters = filters_of_set(layer, gpu);
  const auto enough_of_an_sm = [&](const GroupedShape& shape) {
    return shape.columns == kQuad && layer.filter_channels() > 1 ? kWithSeveralRowsOfChannels
                                                                 : kWithSeveralRows;
  };
  GroupedPlan plan;
  for (const GroupedShape& shape : kShapes) {
    if (shape.filters != filters || !allows(shape, layer)) continue;
    const bool is_first = plan.shape.filters == 0;
    if (!is_first && (shape.columns < plan.shape.columns || shape.size == 0)) break;
    plan = plan_grouped(layer, shape);
    if (plan.division.units >= std::int64_t{gpu.sms} * enough_of_an_sm(shape)) break;
  }
  return plan;
}

Cost grouped_cost(const ConvLayer& layer, const GroupedPlan& plan) {
  const GroupedDivision& d = plan.division;
  const GroupedShape& shape = plan.shape;
  const std::int64_t H = d.H, W = d.W, P = d.P, Q = d.Q;
  Tally tally;
  tally.launch(plan.blocks, kGroupedThreads);
  for_each_warp_of(layer, d, [&](Cells warp, Again again) {
    const Times channels = again.every(d.channels * H * W) * every(H * W, d.channels);
    const auto load = [&](int width, std::int64_t row, std::int64_t column) {
      tally.load(wide_lanes(width, warp,
                            [&](std::int64_t unit) {
                              const Place at = place_of(d, shape, unit);
                              const std::int64_t h = at.p * d.stride_h - d.padding_h + row;
                              const std::int64_t w = at.q * d.stride_w + column;
                              const std::int64_t map = at.n * d.C + at.group * d.channels;
                              return h >= 0 && h < H && w >= 0 && w < W ? (map * H + h) * W + w
                                                                        : kNoCell;
                            }),
                 channels);
    };
    for (int row = 0; row < rows_of_window(shape, d.R); ++row) {
      if (shape.columns == kQuad) {
        for (const int side : {-kQuad, 0, kQuad}) {
          if (side == 0 || d.S > 1) load(kQuad, row, side);
        }
      } else if (shape.columns == 2) {
        // Pairs that have a cell of the window, from one before it or on its first.
        const int end = shape.stride + d.S - d.padding_w;
        for (int at = -(d.padding_w + 1) / 2 * 2; at < end; at += 2) load(2, row, at);
      } else {
        for (int s = 0; s < d.S; ++s) {
          load(1, row * d.dilation_h, s * d.dilation_w - d.padding_w);
        }
      }
    }
    // Quads of taps; of filters of any size, one by one, a tap.
    const int width = shape.size == 0 && shape.filters == 1 ? 1 : kQuad;
    const std::int64_t taps = shape.size > 0 ? d.pitch : d.R * d.S * shape.filters;
    tally.load(wide_lanes(width, warp,
                          [&](std::int64_t unit) {
                            return place_of(d, shape, unit).set * d.channels * d.pitch;
                          }),
               every(width, taps / width) * every(d.pitch, d.channels) *
                   again.every(std::int64_t{d.sets.value} * d.channels * d.pitch));
    const int together = Q % shape.columns == 0 ? shape.columns : 1;
    for (int f = 0; f < shape.filters; ++f) {
      for (int i = 0; i < shape.rows * shape.columns; i += together) {
        tally.store(wide_lanes(together, warp,
                               [&](std::int64_t unit) {
                                 const Place at = place_of(d, shape, unit);
                                 const std::int64_t k = filter_of(d, shape, at, f);
                                 const std::int64_t p = at.p + i / shape.columns;
                                 const std::int64_t q = at.q + i % shape.columns;
                                 return k >= 0 && p < P && q < Q
                                            ? ((at.n * d.K + k) * P + p) * Q + q
                                            : kNoCell;
                               }),
                    again.every(d.filters * P * Q));
      }
    }
  });
  return tally.cost();
}

Cost grouped_bias_cost(const ConvLayer& layer, const GroupedPlan& plan) {
  const GroupedDivision& d = plan.division;
  Tally tally;
  for_each_warp_of(layer, d, [&](Cells warp, Again again) {
    for (int f = 0; f < plan.shape.filters; ++f) {
      tally.load(lanes(warp,
                       [&](std::int64_t unit) {
                         return filter_of(d, plan.shape, place_of(d, plan.shape, unit), f);
                       }),
                 again.every(d.filters));
    }
  });
  return tally.cost();
}

LaunchWork work_of(const ConvLayer& layer, const GroupedPlan& plan) {
  LaunchWork work;
  work.blocks = static_cast<double>(plan.blocks);
  work.resident = std::max(kRegistersOfAnSm / (kRegistersOfAThread * kGroupedThreads), 1);
  const GroupedShape& s = plan.shape;
  const int loads_of_row = s.columns == kQuad ? (layer.S() > 1 ? 3 : 1)
                           : s.columns == 2   ? (layer.S() + 3) / 2
                                              : layer.S();
  work.steps = 1.0 * plan.division.channels *
               (rows_of_window(s, layer.R()) * loads_of_row + plan.division.pitch / kQuad);
  work.megabytes = 4e-6 * static_cast<double>(layer.input_size() * plan.division.sets.value +
                                              layer.filters_size() + layer.output_size());
  return work;
}

std::string described(const GroupedPlan& plan) {
  const GroupedShape& s = plan.shape;
  return std::to_string(s.rows) + " x " + std::to_string(s.columns) + " outputs of " +
         std::to_string(s.filters) + (s.filters == 1 ? " filter" : " filters") + " per thread; " +
         std::to_string(plan.blocks) + " blocks of " + std::to_string(kGroupedThreads) + " threads";
}

}  // namespace halo::convolve
