#include "stages/07_single_channel_adaptive/costs.hpp"

#include <algorithm>
#include <vector>

#include "common/harness/traffic.hpp"

namespace halo::single_channel_adaptive {

namespace {

constexpr std::int64_t kWarps = kThreadsPerBlock / kWarpSize;

// The 32 neighbouring cells at a time that a block's warps read from global memory and store on
// chip. The first of them is the block's float number `at`: where a warp's floats begin.
void bring(simt::Counters& counters, Cells cells, std::int64_t at = 0) {
  while (!cells.empty()) {
    const std::int64_t room = kWarpSize - at % kWarpSize;
    const Cells warp{cells.begin, std::min(cells.begin + room, cells.end)};
    counters.global_load_requests += 1;
    counters.global_load_sectors += warp.sectors();
    counters.shared_store_requests += 1;
    counters.shared_store_wavefronts += 1;
    at += warp.end - warp.begin;
    cells.begin = warp.end;
  }
}

// Rows of outputs and filters, ends exclusive.
struct Part {
  Cells rows;
  Cells filters;
};

class Image {
 public:
  Image(const LayerNumbers& layer, std::int64_t number) : layer_(layer), number_(number) {}

  // Cells of the whole input that the outputs of these rows need.
  Cells cells(Cells rows) const {
    const std::int64_t top = std::clamp<std::int64_t>(rows.begin - layer_.padding_h, 0, layer_.H);
    const std::int64_t bottom =
        std::clamp<std::int64_t>(rows.end - 1 + layer_.R - layer_.padding_h, 0, layer_.H);
    return Cells{top * layer_.W, bottom * layer_.W}.shifted(number_ * layer_.H * layer_.W);
  }

  Cells taps(Cells filters) const {
    const std::int64_t taps = std::int64_t{layer_.R} * layer_.S;
    return {filters.begin * taps, filters.end * taps};
  }

  // The outputs of one piece, warp by warp of neighbouring pixels.
  void compute(simt::Counters& counters, const Part& piece) const {
    const std::int64_t pixels = (piece.rows.end - piece.rows.begin) * layer_.Q;
    const std::int64_t filters = piece.filters.end - piece.filters.begin;
    // Where pixels do not need all warps, several share the filters, and each reads the window.
    const std::int64_t pixel_warps = std::min((pixels + kWarpSize - 1) / kWarpSize, kWarps);
    const std::int64_t sharing = std::min(kWarps / pixel_warps, filters);
    const bool keeps_window = layer_.R == layer_.S && layer_.S <= 5 && layer_.S % 2 == 1;
    const std::int64_t taps = std::int64_t{layer_.R} * layer_.S;
    for (std::int64_t first = 0; first < pixels; first += kWarpSize) {
      const Cells lanes{first, std::min(first + kWarpSize, pixels)};
      const Reads window = read_window(piece, lanes);
      // The window once for each warp that shares the filters, and a tap for each cell of it; or for
      // each filter anew, and a tap only beside a cell that exists.
      const std::uint64_t times = static_cast<std::uint64_t>(keeps_window ? sharing : filters);
      const std::uint64_t tap_requests =
          static_cast<std::uint64_t>(filters) *
          (keeps_window ? static_cast<std::uint64_t>(taps) : window.requests);
      counters.shared_load_requests += times * window.requests + tap_requests;
      counters.shared_load_wavefronts += times * window.wavefronts + tap_requests;
      counters.shared_load_conflicts += times * (window.wavefronts - window.requests);
      for (std::int64_t filter = piece.filters.begin; filter < piece.filters.end; ++filter) {
        counters.global_store_requests += 1;
        counters.global_store_sectors +=
            lanes.shifted(((number_ * layer_.K + filter) * layer_.P + piece.rows.begin) * layer_.Q)
                .sectors();
      }
    }
  }

 private:
  struct Reads {
    std::uint64_t requests = 0;
    std::uint64_t wavefronts = 0;
  };

  // Each cell of the windows of a warp's pixels that exists, once.
  Reads read_window(const Part& piece, Cells lanes) const {
    Reads reads;
    const std::int64_t base = cells(piece.rows).begin - number_ * layer_.H * layer_.W;
    std::vector<std::int64_t> read;
    for (int r = 0; r < layer_.R; ++r) {
      for (int s = 0; s < layer_.S; ++s) {
        read.clear();
        for (std::int64_t pixel = lanes.begin; pixel < lanes.end; ++pixel) {
          const std::int64_t y = piece.rows.begin + pixel / layer_.Q + r - layer_.padding_h;
          const std::int64_t x = pixel % layer_.Q + s - layer_.padding_w;
          if (y < 0 || y >= layer_.H || x < 0 || x >= layer_.W) continue;
          read.push_back(y * layer_.W + x - base);
        }
        if (read.empty()) continue;
        // Cells side by side are in different banks, the usual case.
        const bool neighbours =
            read.back() - read.front() + 1 == static_cast<std::int64_t>(read.size());
        reads.requests += 1;
        reads.wavefronts += neighbours ? 1 : wavefronts_of(read);
      }
    }
    return reads;
  }

  const LayerNumbers& layer_;
  std::int64_t number_;
};

// One block, piece after piece: strips within groups, or groups within strips.
void predict_block(simt::Counters& counters, const Image& image, const Part& work,
                   std::int64_t rows, std::int64_t filters, bool strips_inside) {
  if (work.rows.empty() || work.filters.empty()) return;
  const std::int64_t strips = (work.rows.end - work.rows.begin + rows - 1) / rows;
  const std::int64_t groups = (work.filters.end - work.filters.begin + filters - 1) / filters;
  Part before{{-1, -1}, {-1, -1}};
  for (std::int64_t i = 0; i < strips * groups; ++i) {
    const std::int64_t strip = strips_inside ? i % strips : i / groups;
    const std::int64_t group = strips_inside ? i / strips : i % groups;
    const Part piece{
        Cells{0, rows}.shifted(work.rows.begin + strip * rows).within(work.rows),
        Cells{0, filters}.shifted(work.filters.begin + group * filters).within(work.filters)};
    // What is not on chip yet. The first piece is brought in two loops, the next in one.
    std::int64_t at = 0;
    if (piece.rows.begin != before.rows.begin) {
      const Cells cells = image.cells(piece.rows);
      bring(counters, cells);
      if (i > 0) at = cells.end - cells.begin;
    }
    if (piece.filters.begin != before.filters.begin) {
      bring(counters, image.taps(piece.filters), at);
    }
    image.compute(counters, piece);
    before = piece;
  }
  counters.barriers += 2 * strips * groups - 1;
}

}  // namespace

simt::Counters predict_prefetch(const LayerNumbers& layer) {
  simt::Counters counters;
  for (std::int64_t n = 0; n < layer.N; ++n) {
    for (std::int64_t row = 0; row < layer.P; row += kPrefetchBand) {
      for (std::int64_t filter = 0; filter < layer.K; filter += kPrefetchFilters) {
        predict_block(counters, Image(layer, n),
                      {Cells{row, row + kPrefetchBand}.within({0, layer.P}),
                       Cells{filter, filter + kPrefetchFilters}.within({0, layer.K})},
                      prefetch_rows(layer), kPrefetchFilters, true);
      }
    }
  }
  return counters;
}

simt::Counters predict(const LayerNumbers& layer, Method method, const Division& division) {
  const bool by_filters = method == Method::filters_over_sms;
  simt::Counters counters;
  for (std::int64_t n = 0; n < layer.N; ++n) {
    for (std::int64_t share = 0; share < division.shares; ++share) {
      // Rows and filters of an SM, halved between its two blocks.
      const Cells sm_rows =
          Cells{0, division.sm_rows}.shifted(by_filters ? 0 : share * division.sm_rows);
      const Cells sm_filters =
          Cells{0, division.sm_filters}.shifted(by_filters ? share * division.sm_filters : 0);
      for (int i = 0; i < division.row_parts(); ++i) {
        for (int j = 0; j < division.filter_parts(); ++j) {
          const Cells rows = Cells{0, division.block_rows}
                                 .shifted(sm_rows.begin + i * std::int64_t{division.block_rows})
                                 .within(sm_rows)
                                 .within({0, layer.P});
          const Cells filters =
              Cells{0, division.block_filters}
                  .shifted(sm_filters.begin + j * std::int64_t{division.block_filters})
                  .within(sm_filters)
                  .within({0, layer.K});
          predict_block(counters, Image(layer, n), {rows, filters}, division.rows, division.filters,
                        by_filters);
        }
      }
    }
  }
  return counters;
}

}  // namespace halo::single_channel_adaptive
