// What register_tile.cu must cost, counted from the division alone.
#include <algorithm>

#include "common/convolve/register_tile/plan.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

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
    // Before the first segment, and after each; where sums leave by shared memory, and where a cluster has begun.
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
        const Lanes from = wide_lanes(4, warp, [&](std::int64_t i) {
          const std::int64_t k = group * shape_.filters + i % quads * 4;
          return i / quads * order_.row + std::min<std::int64_t>(k, order_.row - 4);
        });
        tally_.copy(from, wide_lanes(4, warp, [](std::int64_t i) { return 4 * i; }),
                    tiles_ * segments_);
      }
    }
  }

  void copy_pixels() {
    const bool few =
        order_.of_tap == 0;  // then ghosts are not copied, and a thread has all channels
    const std::int64_t row = shape_.pixels / tile_.at_once;  // threads for those of a channel
    const std::int64_t plane = std::int64_t{layer_.H()} * layer_.W();
    const auto to = [&](Cells warp) {
      return wide_lanes(tile_.at_once, warp,
                        [&](std::int64_t thread) { return thread * tile_.at_once; });
    };
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
          // A ghost's cell is not behind.
          behind.each(Times::kLine, [&](int at, std::uint64_t times) {
            const Lanes from = wide_lanes(tile_.at_once, warp, [&](std::int64_t thread) {
              const std::int64_t output = tile * shape_.pixels + thread % row * tile_.at_once;
              const std::int64_t cell = cell_of(output, tap, thread / row);
              return cell != kNoCell ? cell + at : few ? kNoCell : kZeros + order_.floats;
            });
            const auto often = static_cast<std::int64_t>(times);
            few ? tally_.copy_or_zero(from, to(warp), often) : tally_.copy(from, to(warp), often);
          });
        }
      }
    }
    if (!few) return;
    copy_places();
    const std::int64_t taps = std::int64_t{layer_.R()} * layer_.S() * layer_.C();
    for (const Cells warp : warps()) {
      tally_.copy_or_zero(Lanes(), to(warp),
                          groups_ * tiles_ * (segments_ * kSegmentChannels - taps));
    }
  }

  // Of each part the places of the first segments' taps come on chip; then with each segment those of the next but one.
  // All threads read them at once.
  void copy_places() {
    const std::int64_t tiles = groups_ * tiles_;
    for (const auto& [floats, times] : {std::pair{(kStages - 1) * kTapNumbers, tiles * tile_.parts},
                                        {kTapNumbers, tiles * segments_}}) {
      tally_.copy(quads_of(floats), quads_of(floats), times);
    }
    tally_.shared_load(wide_lanes(4, {0, kWarpSize}, [](std::int64_t) { return 0; }),
                       tiles * segments_ * kSegmentChannels * (shape_.threads() / kWarpSize));
    tally_.barriers(tiles * tile_.parts);
  }

  // The input's cell that this output has for a tap and a channel. Outputs that do not exist take output 0's.
  std::int64_t cell_of(std::int64_t output, std::int64_t tap, std::int64_t c) const {
    if (output >= outputs_) output = 0;
    const std::int64_t h = output / layer_.Q() % layer_.P() * layer_.stride_h() -
                           layer_.padding_h() + tap / layer_.S();
    const std::int64_t w =
        output % layer_.Q() * layer_.stride_w() - layer_.padding_w() + tap % layer_.S();
    if (h < 0 || h >= layer_.H() || w < 0 || w >= layer_.W()) return kNoCell;
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

  // The rows of a tile as they lie in the blocks that add them up, one after the other, the parts of each together.
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

Cost register_tile_cost(const conv::ConvLayer& layer, const RegisterTile& tile) {
  return TileWalk(layer, tile).cost();
}

Cost register_tile_bias_cost(const conv::ConvLayer& layer, const RegisterTile& tile) {
  return TileWalk(layer, tile).cost_of_bias();
}

}  // namespace halo::convolve
