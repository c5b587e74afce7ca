#include "stages/07_single_channel_adaptive/costs.hpp"

#include <algorithm>

#include "common/harness/traffic/tally.hpp"

namespace halo::single_channel_adaptive {

namespace {

constexpr std::int64_t kWarps = kThreadsPerBlock / kWarpSize;

// What a block's warps read from global memory and store on chip. The first of the cells is the block's
// float number `at`: where a warp's floats begin.
void bring(Tally& tally, Cells cells, std::int64_t at = 0) {
  tally.load(from_lane(at, cells));
  tally.shared_store(from_lane(at, cells));
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
  void compute(Tally& tally, const Part& piece) const {
    const std::int64_t pixels = (piece.rows.end - piece.rows.begin) * layer_.Q;
    const std::int64_t filters = piece.filters.end - piece.filters.begin;
    // Where pixels do not need all warps, several share the filters, and each reads the window.
    const std::int64_t pixel_warps = std::min((pixels + kWarpSize - 1) / kWarpSize, kWarps);
    const std::int64_t sharing = std::min(kWarps / pixel_warps, filters);
    const bool keeps_window = layer_.R == layer_.S && layer_.S <= 5 && layer_.S % 2 == 1;
    const std::int64_t taps = std::int64_t{layer_.R} * layer_.S;
    for (const Cells lanes : Cells{0, pixels}.pieces(kWarpSize)) {
      // The window once for each warp that shares the filters, and a tap for each cell of it; or for
      // each filter anew, and a tap only beside a cell that exists.
      const std::int64_t requests =
          read_window(tally, piece, lanes, keeps_window ? sharing : filters);
      tally.shared_load(one(0), filters * (keeps_window ? taps : requests));
      const std::int64_t first_output =
          ((number_ * layer_.K + piece.filters.begin) * layer_.P + piece.rows.begin) * layer_.Q;
      tally.store(lanes.shifted(first_output), every(std::int64_t{layer_.P} * layer_.Q, filters));
    }
  }

 private:
  // Each cell of the windows of a warp's pixels that exists, so often. Returns the requests of one time.
  std::int64_t read_window(Tally& tally, const Part& piece, Cells pixels,
                           std::int64_t times) const {
    std::int64_t requests = 0;
    const std::int64_t base = cells(piece.rows).begin - number_ * layer_.H * layer_.W;
    for (int r = 0; r < layer_.R; ++r) {
      for (int s = 0; s < layer_.S; ++s) {
        const Lanes read = lanes(pixels, [&](std::int64_t pixel) {
          const std::int64_t y = piece.rows.begin + pixel / layer_.Q + r - layer_.padding_h;
          const std::int64_t x = pixel % layer_.Q + s - layer_.padding_w;
          if (y < 0 || y >= layer_.H || x < 0 || x >= layer_.W) return kNoCell;
          return y * layer_.W + x - base;
        });
        tally.shared_load(read, times);
        requests += !read.empty();
      }
    }
    return requests;
  }

  const LayerNumbers& layer_;
  std::int64_t number_;
};

// One block, piece after piece: strips within groups, or groups within strips.
void add_block(Tally& tally, const Image& image, const Part& work, std::int64_t rows,
               std::int64_t filters, bool strips_inside) {
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
      bring(tally, cells);
      if (i > 0) at = cells.end - cells.begin;
    }
    if (piece.filters.begin != before.filters.begin) {
      bring(tally, image.taps(piece.filters), at);
    }
    image.compute(tally, piece);
    before = piece;
  }
  tally.barriers(2 * strips * groups - 1);
}

}  // namespace

Cost predict_prefetch(const LayerNumbers& layer) {
  const std::int64_t rows = std::min(prefetch_rows(layer) + layer.R - 1, layer.H);
  const std::int64_t floats = rows * layer.W + kPrefetchFilters * layer.R * layer.S;
  Tally tally;
  tally.launch(layer.N * Cells{0, layer.P}.pieces(kPrefetchBand).count() *
                   Cells{0, layer.K}.pieces(kPrefetchFilters).count(),
               kThreadsPerBlock, floats * sizeof(float));
  for (std::int64_t n = 0; n < layer.N; ++n) {
    for (std::int64_t row = 0; row < layer.P; row += kPrefetchBand) {
      for (std::int64_t filter = 0; filter < layer.K; filter += kPrefetchFilters) {
        add_block(tally, Image(layer, n),
                  {Cells{row, row + kPrefetchBand}.within({0, layer.P}),
                   Cells{filter, filter + kPrefetchFilters}.within({0, layer.K})},
                  prefetch_rows(layer), kPrefetchFilters, true);
      }
    }
  }
  return tally.cost();
}

Cost predict(const LayerNumbers& layer, Method method, const Division& division) {
  const bool by_filters = method == Method::filters_over_sms;
  Tally tally;
  tally.launch(std::int64_t{layer.N} * division.blocks(), kThreadsPerBlock,
               division.shared_floats(layer) * sizeof(float));
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
          add_block(tally, Image(layer, n), {rows, filters}, division.rows, division.filters,
                    by_filters);
        }
      }
    }
  }
  return tally.cost();
}

}  // namespace halo::single_channel_adaptive
