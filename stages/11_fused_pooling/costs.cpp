#include "stages/11_fused_pooling/costs.hpp"

#include <array>
#include <functional>
#include <map>
#include <tuple>

#include "common/harness/traffic.hpp"

namespace halo::fused_pooling {

namespace {

using conv::Layout;
using conv::PoolingLayer;
using simt::Counters;

// A plain kernel reads a window from its first cell that exists on; a tile is gone through from its
// corner, whether that exists or not.
enum class From { first_cell, corner };

// The outputs of a layer along one axis, in tiles of `expansion`, of which the last may be short.
struct Axis {
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
  // The tile is whole, and no cell under it is a ghost.
  bool is_inside(std::int64_t tile) const {
    const Cells reach = reach_of(tile);
    return (tile + 1) * expansion <= outputs && reach.begin >= 0 && reach.end <= cells;
  }
};

Axis down(const PoolingLayer& layer, int expansion) {
  return {layer.H(), layer.R(), layer.P(), layer.stride_h(), layer.padding_h(), expansion};
}

Axis across(const PoolingLayer& layer, int expansion) {
  return {layer.W(), layer.S(), layer.Q(), layer.stride_w(), layer.padding_w(), expansion};
}

// ---- CHWN ----------------------------------------------------------------------------------------

// How often cells are asked for whose number leaves the remainders 0, 1, ... 7 by eight. An array of N
// images per cell begins each of them so many times N floats from a sector's start.
using Remainders = std::array<std::uint64_t, 8>;

// Cells [h][w] for all h and w: number h * size + w.
Remainders rows_of(const Remainders& h, std::int64_t size, const Remainders& w) {
  Remainders both{};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) both[(i * (size % 8) + j) % 8] += h[i] * w[j];
  }
  return both;
}

Remainders once_each(std::int64_t count) {
  Remainders times{};
  for (int i = 0; i < 8 && i < count; ++i) times[i] = (count - i + 7) / 8;
  return times;
}

// Each tile asks for each of its cells once.
Remainders asked(const Axis& axis) {
  Remainders times{};
  for (std::int64_t tile = 0; tile < axis.tiles(); ++tile) {
    const Cells cells = axis.cells_of(tile);
    const std::int64_t count = cells.end - cells.begin;
    for (int i = 0; i < 8 && i < count; ++i) {
      times[(cells.begin + i) % 8] += (count - i + 7) / 8;
    }
  }
  return times;
}

// One request for each cell of `times` and each 32 images, or what there is of them.
void add_requests(const Remainders& times, std::int64_t images, std::uint64_t& requests,
                  std::uint64_t& sectors) {
  const std::uint64_t whole = images / kWarpSize;
  const std::int64_t rest = images % kWarpSize;
  for (int i = 0; i < 8; ++i) {
    const std::int64_t start = i * (images % 8) % 8;
    requests += times[i] * (whole + (rest > 0));
    sectors += times[i] * (whole * Cells{start, start + kWarpSize}.sectors() +
                           Cells{start, start + rest}.sectors());
  }
}

Counters predict_chwn(const PoolingLayer& layer, Expansion expansion) {
  const Remainders channels = once_each(layer.C());
  const Remainders inputs = rows_of(asked(down(layer, expansion.rows)), layer.W(),
                                    asked(across(layer, expansion.columns)));
  const Remainders outputs = rows_of(once_each(layer.P()), layer.Q(), once_each(layer.Q()));
  Counters counters;
  add_requests(rows_of(channels, std::int64_t{layer.H()} * layer.W(), inputs), layer.N(),
               counters.global_load_requests, counters.global_load_sectors);
  add_requests(rows_of(channels, std::int64_t{layer.P()} * layer.Q(), outputs), layer.N(),
               counters.global_store_requests, counters.global_store_sectors);
  return counters;
}

// ---- NCHW ----------------------------------------------------------------------------------------

// Threads are numbered through: planes of rows of tiles, one tile a column. A warp is counted with the
// row that its first lane is in.
class Nchw {
 public:
  Nchw(const PoolingLayer& layer, int rows, From from)
      : layer_(layer),
        down_(down(layer, rows)),
        across_(across(layer, 1)),
        from_(from),
        planes_(std::int64_t{layer.N()} * layer.C()),
        rows_(down_.tiles()),
        columns_(layer.Q()),
        threads_(planes_ * rows_ * columns_) {}

  Counters all() {
    // Planes that the last warps may reach are counted one by one, of the others each 32nd begins
    // alike: with the same lane, and as far from a sector's start.
    const std::int64_t last = std::min(planes_, (kWarpSize - 1) / (rows_ * columns_) + 2);
    const std::int64_t alike = planes_ - last;
    Counters sum;
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      if (plane == kWarpSize) plane = std::max<std::int64_t>(plane, alike);
      const std::int64_t times = plane < alike ? (alike - plane + kWarpSize - 1) / kWarpSize : 1;
      for (std::int64_t row = 0; row < rows_; ++row) add(sum, counted(plane, row), times);
    }
    return sum;
  }

 private:
  struct Lane {
    Cells h, w;                     // what it reads
    std::int64_t first_h, first_w;  // where it begins
    std::int64_t input;             // its plane
    std::int64_t output;            // its first output
    std::int64_t outputs;
  };

  static void add(Counters& sum, const Counters& more, std::uint64_t times) {
    sum.global_load_requests += times * more.global_load_requests;
    sum.global_load_sectors += times * more.global_load_sectors;
    sum.global_store_requests += times * more.global_store_requests;
    sum.global_store_sectors += times * more.global_store_sectors;
  }

  // The warps of a row, counted once for all rows that begin alike.
  const Counters& counted(std::int64_t plane, std::int64_t row) {
    const std::int64_t start = (plane * rows_ + row) * columns_;
    // Rows that a warp of this one may reach.
    const std::int64_t end = row + (columns_ - 1 + kWarpSize - 1) / columns_;
    const bool inside =
        end < rows_ && down_.is_inside(row) && down_.is_inside(end);  // and all between
    const bool reaches_end = start + columns_ - 1 + kWarpSize > threads_;
    const Key key{reaches_end ? plane : -1, inside ? -1 : row, start % kWarpSize,
                  input_of(plane, row) % conv::kSectorFloats,
                  output_of(plane, row) % conv::kSectorFloats};
    const auto [known, is_new] = rows_known_.try_emplace(key);
    if (is_new) known->second = count(start);
    return known->second;
  }

  std::int64_t input_of(std::int64_t plane, std::int64_t row) const {
    return plane * layer_.H() * layer_.W() + row * down_.expansion * down_.stride * layer_.W();
  }
  std::int64_t output_of(std::int64_t plane, std::int64_t row) const {
    return (plane * layer_.P() + row * down_.expansion) * layer_.Q();
  }

  Lane lane_of(std::int64_t thread) const {
    const std::int64_t column = thread % columns_;
    const std::int64_t row = thread / columns_ % rows_;
    const std::int64_t plane = thread / columns_ / rows_;
    Lane lane;
    lane.h = down_.cells_of(row);
    lane.w = across_.cells_of(column);
    lane.first_h = from_ == From::corner ? down_.reach_of(row).begin : lane.h.begin;
    lane.first_w = from_ == From::corner ? across_.reach_of(column).begin : lane.w.begin;
    lane.input = plane * layer_.H() * layer_.W();
    const Cells outputs = down_.outputs_of(row);
    lane.output = output_of(plane, row) + column;
    lane.outputs = outputs.end - outputs.begin;
    return lane;
  }

  // The warps whose first lane is in the row that begins with thread `start`.
  Counters count(std::int64_t start) const {
    const std::int64_t first = (start + kWarpSize - 1) / kWarpSize * kWarpSize;
    Counters sum;
    for (std::int64_t warp = first; warp < start + columns_; warp += kWarpSize) {
      std::vector<Lane> lanes;
      for (std::int64_t thread = warp; thread < std::min(warp + kWarpSize, threads_); ++thread) {
        lanes.push_back(lane_of(thread));
      }
      const std::int64_t steps_h = (down_.expansion - 1) * down_.stride + down_.window;
      for (std::int64_t i = 0; i < steps_h; ++i) {
        for (std::int64_t j = 0; j < across_.window; ++j) {
          std::vector<std::int64_t> cells;
          for (const Lane& lane : lanes) {
            const std::int64_t h = lane.first_h + i;
            const std::int64_t w = lane.first_w + j;
            if (h < lane.h.begin || h >= lane.h.end || w < lane.w.begin || w >= lane.w.end)
              continue;
            cells.push_back(lane.input + h * layer_.W() + w);
          }
          if (cells.empty()) continue;
          ++sum.global_load_requests;
          sum.global_load_sectors += sectors_of(cells);
        }
      }
      for (int e = 0; e < down_.expansion; ++e) {
        std::vector<std::int64_t> cells;
        for (const Lane& lane : lanes) {
          if (e < lane.outputs) cells.push_back(lane.output + e * columns_);
        }
        if (cells.empty()) continue;
        ++sum.global_store_requests;
        sum.global_store_sectors += sectors_of(cells);
      }
    }
    return sum;
  }

  // Plane and row where they matter; the first thread's lane; its cells' and outputs' place in a sector.
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  PoolingLayer layer_;
  Axis down_, across_;
  From from_;
  std::int64_t planes_, rows_, columns_, threads_;
  std::map<Key, Counters> rows_known_;
};

}  // namespace

Counters predict_plain(const PoolingLayer& layer, Layout layout) {
  if (layout == Layout::chwn) return predict_chwn(layer, {});
  return Nchw(layer, 1, From::first_cell).all();
}

Counters predict_reuse(const PoolingLayer& layer, Layout layout, Expansion expansion) {
  if (layout == Layout::chwn) return predict_chwn(layer, expansion);
  return Nchw(layer, expansion.rows, From::corner).all();
}

}  // namespace halo::fused_pooling
