// What 4_on_chip.cu must cost.
#include <algorithm>

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

// Behind the packed filters, but for what other blocks hand over of the first step's map.
void make_frames(const BlockOf& block, const OnChip& net) {
  const OnChipStep& step = net.step[0];
  const Cells channels = block.channels(step);
  const std::int64_t begin = step.to.begin / 4, own = begin + channels.begin * step.to.plane / 4;
  const std::int64_t own_end = own + (channels.size() * step.to.plane + 3) / 4;
  const std::int64_t end =
      begin + (step.size != 0 ? (std::int64_t{step.K} * step.to.plane + 3) / 4 : 0);
  for_each_warp_of(net.quads - net.packed_quads, [&](Cells warp) {
    block.tally.shared_store(wide_lanes(4, warp,
                                        [&](std::int64_t item) {
                                          const std::int64_t i = net.packed_quads + item;
                                          const bool theirs =
                                              i >= begin && i < end && (i < own || i >= own_end);
                                          return theirs ? kNoCell : 4 * i;
                                        }),
                             block.N);
  });
}

void convolve(const BlockOf& block, const OnChipStep& step, int tap_pitch) {
  const Cells channels = block.channels(step);
  const int across = (step.Q + kOnChipColumns - 1) / kOnChipColumns;
  const int down = (step.P + kOnChipRows - 1) / kOnChipRows;
  const std::int64_t items = channels.size() * down * across * step.parts;
  const std::int64_t rounds = block.N * (step.C / step.parts);
  for_each_warp_of(items, [&](Cells warp) {
    const Cells lanes_of_warp{warp.begin,
                              warp.begin + kWarpSize};  // those beyond do as the last one
    struct Tile {
      std::int64_t part, k, p, q;
    };
    const auto tile_of = [&](std::int64_t item) {
      const std::int64_t tile = item / step.parts;
      return Tile{item % step.parts, tile / across / down, tile / across % down * kOnChipRows,
                  tile % across * kOnChipColumns};
    };
    const auto last = [&](std::int64_t item) { return tile_of(std::min(item, items - 1)); };
    // A round is a channel for each part. Its loads lie alike in the banks: only the first is looked at.
    constexpr int kRowsBesides = kOnChipRows - 1;
    const int pairs = (step.size + 1) / 2;
    block.tally.shared_load(wide_lanes(2, lanes_of_warp,
                                       [&](std::int64_t item) {
                                         const Tile tile = last(item);
                                         return step.from.begin + tile.part * step.from.plane +
                                                tile.p * step.from.pitch + tile.q;
                                       }),
                            rounds * (step.size + kRowsBesides) * pairs);
    block.tally.shared_load(wide_lanes(4, lanes_of_warp,
                                       [&](std::int64_t item) {
                                         const Tile tile = last(item);
                                         return step.taps + tile.k * step.row +
                                                tile.part * tap_pitch;
                                       }),
                            rounds * (tap_pitch / 4));
    // Of a tile's outputs each part stores its share.
    block.tally.shared_load(
        lanes(lanes_of_warp,
              [&](std::int64_t item) {
                return item < items ? step.taps + (tile_of(item).k + 1) * step.row - 4 : kNoCell;
              }),
        block.N);
    const int share = kOnChipOutputs / step.parts;
    for (int i = 0; i < share; ++i) {
      const auto at = [&](std::int64_t item) {
        const Tile tile = tile_of(item);
        const std::int64_t output = tile.part * share + i;
        const std::int64_t p = tile.p + output / kOnChipColumns;
        const std::int64_t q = tile.q + output % kOnChipColumns;
        if (item >= items || p >= step.P || q >= step.Q) return kNoCell;
        return step.own + (tile.k * step.P + p) * step.Q + q;
      };
      block.tally.shared_store(lanes(lanes_of_warp, at), block.N);
    }
  });
}

void pool(const BlockOf& block, const OnChipStep& step) {
  const Cells channels = block.channels(step);
  const bool of_sums = step.size > 0;
  const std::int64_t plane = of_sums ? step.P * step.Q : step.from.plane;
  const std::int64_t pitch = of_sums ? step.Q : step.from.pitch;
  const std::int64_t from = of_sums ? step.own : step.from.begin + channels.begin * plane;
  const std::int64_t to = step.to.begin + step.to.first + channels.begin * step.to.plane;
  const int window = std::max(step.window, 1), stride = step.stride;
  for_each_warp_of(channels.size() * step.PP * step.PQ, [&](Cells warp) {
    for (int i = 0; i < window * window; ++i) {
      block.tally.shared_load(
          lanes(warp,
                [&](std::int64_t item) {
                  const std::int64_t h = item / step.PQ % step.PP * stride + i / window;
                  const std::int64_t w = item % step.PQ * stride + i % window;
                  const std::int64_t k = item / step.PQ / step.PP;
                  return h < step.P && w < step.Q ? from + k * plane + h * pitch + w : kNoCell;
                }),
          block.N);
    }
    block.tally.shared_store(lanes(warp,
                                   [&](std::int64_t item) {
                                     const std::int64_t line = item / step.PQ;
                                     return to + line / step.PP * step.to.plane +
                                            line % step.PP * step.to.pitch + item % step.PQ;
                                   }),
                             block.N);
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
  block.tally.shared_load(one(0), often);   // the bias
  block.tally.shared_store(one(0), often);  // to the own map
  if (step.alone) return;
  // And to the other blocks', where the cells lie in other sectors; or to the first one's, if that goes on alone.
  const std::int64_t others = !next.alone ? block.blocks - 1 : block.rank > 0 ? 1 : 0;
  block.tally.dshared_store(strided(0, others, kWarpSize), often);
}

// What a block has found, once more.
void store(const BlockOf& block, const OnChipStep& step) {
  const Cells channels = block.channels(step);
  const auto put = [&](std::int64_t map) {
    const Cells maps{0, channels.size() * map};
    block.tally.store(Cells(maps.shifted(channels.begin * map)), block.each_image(step.K * map));
    return maps;
  };
  if (step.size >= 0) {
    block.tally.shared_load(put(std::int64_t{step.P} * step.Q), block.N);
  }
  if (step.window == 0) return;
  for_each_warp_of(put(std::int64_t{step.PP} * step.PQ).size(), [&](Cells warp) {
    block.tally.shared_load(lanes(warp,
                                  [&](std::int64_t item) {
                                    const std::int64_t line = item / step.PQ;
                                    return line / step.PP * step.to.plane +
                                           line % step.PP * step.to.pitch + item % step.PQ;
                                  }),
                            block.N);
  });
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
    tally.load(quads(packed.shifted(rank * packed.size())), N);
    tally.shared_store(quads({0, 4 * net.packed_quads}), N);
    make_frames(block, net);
    const std::int64_t cells = std::int64_t{net.C} * net.H * net.W;
    tally.load(Cells{0, cells}, every(cells, N));
    for_each_warp_of(cells, [&](Cells warp) {
      tally.shared_store(lanes(warp,
                               [&](std::int64_t cell) {
                                 const std::int64_t line = cell / net.W;
                                 return net.input.begin + net.input.first +
                                        line / net.H * net.input.plane +
                                        line % net.H * net.input.pitch + cell % net.W;
                               }),
                         N);
    });
    tally.barriers(3 * N);
    for (int i = 0; i < net.count; ++i) {
      const OnChipStep& step = net.step[i];
      if (step.alone && rank > 0) break;
      store(block, step);
      tally.barriers(N * (step.size == 0 ? 1 : 3));
      const Cells channels = block.channels(step);
      if (channels.empty()) continue;
      if (step.size == 0) {
        connect(block, step, net.step[i + 1]);
        continue;
      }
      if (step.size > 0) convolve(block, step, division.pitch[static_cast<std::size_t>(i)]);
      pool(block, step);
      if (blocks == 1) continue;
      const Cells floats{0, (channels.size() * step.to.plane + 3) / 4 * 4};
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
