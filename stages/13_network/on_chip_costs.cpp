// What 4_on_chip.cu must cost.
#include <algorithm>

#include "common/conv/quotient.hpp"
#include "common/harness/traffic/tally.hpp"
#include "stages/13_network/on_chip_division.hpp"

namespace halo::network {

namespace {

// One block of the cluster, for all images.
struct BlockOf {
  Tally& tally;
  int blocks, rank;
  std::int64_t N;

  Cells channels(const OnChipStep& step) const {
    const Cells all{0, step.K};
    return all.within(Cells{0, step.share}.shifted(std::int64_t{rank} * step.share));
  }
  Times each_image(std::int64_t floats) const { return every(floats, N); }
};

// Warps that go through `items` in turn: visit(threads), the numbers of their lanes' items.
template <class Visit>
void for_each_warp_of(std::int64_t items, Visit visit) {
  for (const Cells warp : Cells{0, items}.pieces(kWarpSize)) visit(warp);
}

// Where for_each_cell() of on_chip.cuh has its items: the i-th float of so many channels.
struct Place {
  std::int64_t i, c, h, w;
};
template <class Visit>
void for_each_warp_of(const OnChipMap& map, std::int64_t channels, Visit visit) {
  for_each_warp_of(rounded_up(channels * map.plane, 4), [&](Cells warp) {
    visit(warp, [&](std::int64_t i) {
      const std::int64_t in_plane = i % map.plane.value, row = in_plane / map.pitch.value;
      return Place{i, i / map.plane.value, row - map.above, in_plane % map.pitch.value - map.left};
    });
  });
}

bool is_of(const Place& at, std::int64_t channels, int rows, int columns) {
  return at.c < channels && at.h >= 0 && at.h < rows && at.w >= 0 && at.w < columns;
}

void fetch(const BlockOf& block, const OnChip& net) {
  const std::int64_t image = std::int64_t{net.C} * net.H * net.W;
  for_each_warp_of(net.input, net.C, [&](Cells warp, auto place) {
    const auto cells = [&](bool of_image, auto cell_of) {
      return lanes(warp, [&](std::int64_t i) {
        const Place at = place(i);
        return is_of(at, net.C, net.H, net.W) == of_image ? cell_of(at) : kNoCell;
      });
    };
    const auto on_chip = [&](const Place& at) { return net.input.begin + at.i; };
    block.tally.copy(
        cells(true, [&](const Place& at) { return (at.c * net.H + at.h) * net.W + at.w; }),
        cells(true, on_chip), block.each_image(image));
    block.tally.shared_store(cells(false, on_chip), block.N);
  });
}

// What fills up the last quad of single outputs: a lane each, one float after the other.
void fill_up(const BlockOf& block, const OnChip& net) {
  for (int j = 0; j < 3; ++j) {
    block.tally.shared_store(lanes({0, net.count},
                                   [&](std::int64_t i) {
                                     const OnChipStep& step = net.step[i];
                                     const int k = step.K + j;
                                     const bool fills = step.size == 0 && k < rounded_up(step.K, 4);
                                     return fills ? step.to.begin + k : kNoCell;
                                   }),
                             block.N);
  }
}

void convolve(const BlockOf& block, const OnChipStep& step, int tap_pitch) {
  const Cells channels = block.channels(step);
  const int across = step.across, down = step.down, parts = 1 << step.parts_bits;
  const std::int64_t items = channels.size() * down * across * parts;
  for_each_warp_of(items, [&](Cells warp) {
    const Cells lanes_of_warp{warp.begin,
                              warp.begin + kWarpSize};  // those beyond do as the last one
    struct Tile {
      std::int64_t part, k, p, q;
    };
    const auto tile_of = [&](std::int64_t item) {
      const std::int64_t tile = item / parts;
      return Tile{item % parts, tile / across / down, tile / across % down * step.rows,
                  tile % across * kOnChipColumns};
    };
    const auto last = [&](std::int64_t item) { return tile_of(std::min(item, items - 1)); };
    // A round is a channel for each part that has one. Its loads lie alike in the banks, but for those of the last
    // round, which fewer parts may have.
    const int pairs = (step.size + 1) / 2;
    const auto rounds = [&](std::int64_t busy, std::int64_t times) {
      block.tally.shared_load(wide_lanes(2, lanes_of_warp,
                                         [&](std::int64_t item) {
                                           const Tile tile = last(item);
                                           return tile.part >= busy
                                                      ? kNoCell
                                                      : step.from.begin +
                                                            tile.part * step.from.plane.value +
                                                            tile.p * step.from.pitch.value + tile.q;
                                         }),
                              times * (step.rows + step.size - 1) * pairs);
      // Of the last quad only the first tap is used, an odd square, and nvcc reads no more of it.
      for (const int width : {4, 1}) {
        block.tally.shared_load(wide_lanes(width, lanes_of_warp,
                                           [&](std::int64_t item) {
                                             const Tile tile = last(item);
                                             return tile.part >= busy
                                                        ? kNoCell
                                                        : step.taps + tile.k * step.row +
                                                              tile.part * tap_pitch;
                                           }),
                                width == 4 ? times * (tap_pitch / 4 - 1) : times);
      }
    };
    rounds(parts, block.N * (step.C / parts));
    if (step.C % parts != 0) rounds(step.C % parts, block.N);
    // Of a tile's outputs each part stores its share, on chip and in memory; or several have one, which one stores.
    const int outputs = step.rows * kOnChipColumns;
    const int share = std::max(outputs / parts, 1);
    const int sharers = std::max(parts / outputs, 1);
    const auto stores = [&](std::int64_t item) {
      return item < items && tile_of(item).part % sharers == 0;
    };
    block.tally.shared_load(
        lanes(lanes_of_warp,
              [&](std::int64_t item) {
                return stores(item) ? step.taps + (tile_of(item).k + 1) * step.row - 4 : kNoCell;
              }),
        block.N);
    for (int i = 0; i < share; ++i) {
      const auto sums_in = [&](std::int64_t first) {
        return lanes(lanes_of_warp, [&](std::int64_t item) {
          const Tile tile = tile_of(item);
          const std::int64_t output = tile.part / sharers * share + i;
          const std::int64_t p = tile.p + output / kOnChipColumns;
          const std::int64_t q = tile.q + output % kOnChipColumns;
          if (!stores(item) || p >= step.P || q >= step.Q) return kNoCell;
          return first + (tile.k * step.P + p) * step.Q + q;
        });
      };
      const std::int64_t map = std::int64_t{step.P} * step.Q;
      block.tally.shared_store(sums_in(step.own), block.N);
      block.tally.store(sums_in(channels.begin * map), block.each_image(step.K * map));
    }
  });
}

void pool(const BlockOf& block, const OnChipStep& step) {
  const Cells channels = block.channels(step);
  const bool of_sums = step.size > 0;
  const std::int64_t plane = of_sums ? step.P * step.Q : step.from.plane.value;
  const std::int64_t pitch = of_sums ? step.Q : step.from.pitch.value;
  const std::int64_t from = of_sums ? step.own : step.from.begin + channels.begin * plane;
  const std::int64_t to = step.to.begin + channels.begin * step.to.plane.value;
  const int window = std::max(step.window, 1), stride = step.stride;
  for_each_warp_of(step.to, channels.size(), [&](Cells warp, auto place) {
    const auto outputs = [&](auto cell_of) {
      return lanes(warp, [&](std::int64_t i) {
        const Place at = place(i);
        return is_of(at, channels.size(), step.PP, step.PQ) ? cell_of(at) : kNoCell;
      });
    };
    for (int i = 0; i < window * window; ++i) {
      block.tally.shared_load(
          outputs([&](const Place& at) {
            const std::int64_t h = at.h * stride + i / window, w = at.w * stride + i % window;
            return h < step.P && w < step.Q ? from + at.c * plane + h * pitch + w : kNoCell;
          }),
          block.N);
    }
    if (step.window > 0) {
      block.tally.store(outputs([&](const Place& at) {
                          return ((channels.begin + at.c) * step.PP + at.h) * step.PQ + at.w;
                        }),
                        block.each_image(std::int64_t{step.K} * step.PP * step.PQ));
    }
    block.tally.shared_store(Cells(warp.shifted(to)), block.N);
  });
}

void connect(const BlockOf& block, const OnChipStep& step, const OnChipStep& next) {
  const Cells channels = block.channels(step);
  const std::int64_t often = channels.size() * block.N;
  // Cells serve two outputs, those of a warp.
  constexpr std::int64_t kWarps = kOnChipThreads / kWarpSize;
  std::int64_t pairs = 0;
  for (std::int64_t k = 0; k < channels.size(); k += 2 * kWarps) {
    pairs += std::min(kWarps, channels.size() - k);
  }
  block.tally.shared_load(quads({0, step.row - 4}), often + pairs * block.N);
  block.tally.shared_load(one(0), often);  // the bias
  const Times stores = block.each_image(step.K) * (step.window > 0 ? 2 : 1);
  for (std::int64_t k = channels.begin; k < channels.end; ++k) block.tally.store(one(k), stores);
  // To its own map; to all blocks', where the cells lie in other sectors; or to the first one's, which goes on alone.
  if (step.alone || block.blocks == 1) {
    block.tally.shared_store(one(0), often);
  } else {
    block.tally.dshared_store(strided(0, next.alone ? 1 : block.blocks, kWarpSize), often);
  }
}

}  // namespace

Cost predict_on_chip(const std::vector<Layer>& layers, int blocks) {
  const OnChipDivision division = divide_on_chip(layers, blocks);
  const OnChip& net = division.net;
  const std::int64_t N = input_of(layers.front()).N();
  Tally tally;
  tally.launch(N * blocks, kOnChipThreads, net.bytes);
  for (int rank = 0; rank < blocks; ++rank) {
    const BlockOf block{tally, blocks, rank, N};
    const Cells packed{0, 4 * net.packed_quads};
    tally.copy(quads(packed.shifted(rank * packed.size())), quads(packed), N);
    fetch(block, net);
    fill_up(block, net);
    // The block awaits its copies, and the cluster, unless others have nothing to do.
    tally.barriers(N * (net.step[0].alone && rank > 0 ? 1 : 2));
    for (int i = 0; i < net.count; ++i) {
      const OnChipStep& step = net.step[i];
      if (step.alone && rank > 0) break;
      const bool alone = step.alone || blocks == 1;
      tally.barriers(N * ((step.size != 0 ? 2 : 0) + (alone ? 1 : 0)));
      const Cells channels = block.channels(step);
      if (channels.empty()) continue;
      if (step.size == 0) {
        connect(block, step, net.step[i + 1]);
        continue;
      }
      if (step.size > 0) convolve(block, step, division.pitch[static_cast<std::size_t>(i)]);
      pool(block, step);
      if (alone) continue;
      const Cells floats{0, rounded_up(channels.size() * step.to.plane, 4)};
      const Run handed = quads(floats.shifted(step.to.begin + channels.begin * step.to.plane));
      tally.shared_load(handed, N * (blocks - 1));
      tally.dshared_store(handed, N * (blocks - 1));
    }
  }
  const Cells categories{0, net.categories};
  tally.shared_load(categories, N);
  tally.store(categories, every(net.categories, N));
  return tally.cost();
}

}  // namespace halo::network
