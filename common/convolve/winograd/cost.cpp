// What Winograd's method must cost, counted from the division alone: by blocks, chunks and warps, as the method
// lays them out (winograd.cu).
#include "common/convolve/winograd/plan.hpp"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

constexpr std::int64_t kQuad = 4;

class WinogradWalk {
 public:
  WinogradWalk(const conv::ConvLayer& layer, const WinogradPlan& plan)
      : layer_(layer),
        division_(plan.division),
        shape_(kWinogradShapes[plan.division.shape]),
        cells_(shape_.cells()),
        threads_(plan.threads),
        blocks_(plan.blocks),
        with_all_channels_(plan.blocks / plan.division.parts),
        chunks_(with_all_channels_ * plan.division.chunks),
        line_(std::int64_t{shape_.tiles} * cells_),
        row_(std::int64_t{shape_.channels} * shape_.tiles) {}

  // Before the first chunk: zeros for two chunks of patches.
  void clear(Tally& tally) const {
    tally.shared_store(quads({0, 2 * shape_.channels * cells_ * line_}), blocks_);
  }

  // Patches: a thread has a column of a tile, and one of the lines of some channels. Each group of filters reads
  // them again.
  void copy_patches(Tally& tally) const {
    const std::int64_t plane = std::int64_t{layer_.H()} * layer_.W();
    for (std::int64_t first = 0; first < division_.tiles; first += shape_.tiles) {
      // Of a line of all channels, so many warps.
      for (std::int64_t row = 0; row < cells_; ++row) {
        for (const Cells warp : Cells{0, line_}.pieces(kWarpSize)) {
          const Lanes from = lanes(warp, [&](std::int64_t i) {
            const std::int64_t tile = first + i / cells_;
            if (tile >= division_.tiles) return kNoCell;
            const std::int64_t h = top_of(tile) - layer_.padding_h() + row;
            const std::int64_t w = left_of(tile) - layer_.padding_w() + i % cells_;
            if (h < 0 || h >= layer_.H() || w < 0 || w >= layer_.W()) return kNoCell;
            return image_of(tile) * layer_.C() * plane + h * layer_.W() + w;
          });
          if (from.empty()) continue;
          // Those of one line: neighbours on chip.
          tally.copy(from, lanes(warp, [&](std::int64_t i) { return i; }),
                     Times(division_.groups) * every(plane, layer_.C()));
        }
      }
    }
  }

  // Filters: one run of float4 a chunk, for every block with these filters.
  void copy_filters(Tally& tally) const {
    const Run run =
        quads({0, std::int64_t{shape_.frequencies()} * shape_.channels * shape_.filters});
    tally.copy(run, run, chunks_);
  }

  // Patches to frequencies: a thread has two rows of a patch's frequencies. For 0 and infinity it reads all rows of
  // the patch, else all but the first and the last one.
  void transform_inputs(Tally& tally) const {
    for (const Cells warp : Cells{0, row_}.pieces(kWarpSize)) {
      const Lanes patch = wide_lanes(2, warp, [&](std::int64_t i) {
        return i / shape_.tiles * cells_ * line_ + i % shape_.tiles * cells_;
      });
      const std::int64_t rows = cells_ + (cells_ / 2 - 1) * (cells_ - 2);
      tally.shared_load(patch, chunks_ * rows * (cells_ / 2));
      tally.shared_store(warp, chunks_ * shape_.frequencies());
    }
  }

  // For each frequency and channel each lane reads 8 filters and 4 or 8 tiles, four at a time.
  void multiply(Tally& tally) const {
    const Cells warp{0, kWarpSize};
    const std::int64_t products = chunks_ * shape_.frequencies() * shape_.channels;
    tally.shared_load(wide_lanes(4, warp, [&](std::int64_t i) { return own_filter(i); }),
                      products * (8 / kQuad));
    tally.shared_load(wide_lanes(4, warp, [&](std::int64_t i) { return own_tile(i); }),
                      products * (columns() / kQuad));
  }

  // All sums into shared memory, and what is made of them there.
  void transform_sums(Tally& tally) const {
    const Cells warp{0, kWarpSize};
    tally.shared_store(
        wide_lanes(4, warp,
                   [&](std::int64_t i) {
                     const std::int64_t pair = own_filter(i) * shape_.tiles + own_tile(i);
                     const std::int64_t fours = own_filter(i) / kQuad;
                     return pair ^ (fours % 2) << 4 ^ (fours / 2 % 2) << 3;  // for the banks
                   }),
        blocks_ * shape_.frequencies() * 8 * (columns() / kQuad));
    const std::int64_t warps = std::int64_t{shape_.filters} * shape_.tiles / kWarpSize;
    tally.shared_load(warp, blocks_ * warps * shape_.frequencies());
    // A row of outputs from each lane, to the block of the cluster that adds it up, or without a cluster to the own one.
    const Lanes rows = wide_lanes(static_cast<int>(outputs()), warp,
                                  [&](std::int64_t i) { return i * outputs(); });
    if (division_.parts > 1) {
      tally.dshared_store(rows, blocks_ * warps * outputs());
    } else {
      tally.shared_store(rows, blocks_ * warps * outputs());
    }
  }

  // Each output from the sums of all parts. Neighbouring lanes have neighbouring outputs of a tile's row, and of one
  // filter: where they store, they read its bias.
  void store_outputs(Tally& tally, bool only_bias = false) const {
    const std::int64_t plane = std::int64_t{layer_.P()} * layer_.Q();
    for (std::int64_t first = 0; first < division_.tiles; first += shape_.tiles) {
      for (std::int64_t row = 0; row < outputs(); ++row) {
        for (const Cells warp : Cells{0, shape_.tiles * outputs()}.pieces(kWarpSize)) {
          const auto exists = [&](std::int64_t i) {
            const std::int64_t tile = first + i / outputs();
            return tile < division_.tiles && top_of(tile) + row < layer_.P() &&
                   left_of(tile) + i % outputs() < layer_.Q();
          };
          const Lanes to = lanes(warp, [&](std::int64_t i) {
            if (!exists(i)) return kNoCell;
            const std::int64_t tile = first + i / outputs();
            return image_of(tile) * layer_.K() * plane + (top_of(tile) + row) * layer_.Q() +
                   left_of(tile) + i % outputs();
          });
          if (only_bias) {
            if (!to.empty()) tally.load(one(0), layer_.K());
            continue;
          }
          tally.store(to, every(plane, layer_.K()));
          const Lanes sums = lanes(warp, [&](std::int64_t i) { return exists(i) ? i : kNoCell; });
          tally.shared_load(sums, std::int64_t{layer_.K()} * division_.parts);
        }
      }
    }
  }

  // One before each step, of which there are two more than chunks, two with the sums, and the cluster's or, without one,
  // one more.
  std::int64_t barriers() const { return chunks_ + blocks_ * (2 + 2 + 1); }

 private:
  std::int64_t outputs() const { return shape_.outputs; }
  std::int64_t columns() const {
    return std::int64_t{shape_.filters} * shape_.tiles / (8 * kWarpSize);
  }
  std::int64_t in_image(std::int64_t tile) const {
    return tile % (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t image_of(std::int64_t tile) const {
    return tile / (std::int64_t{division_.tiles_down} * division_.tiles_across);
  }
  std::int64_t top_of(std::int64_t tile) const {
    return in_image(tile) / division_.tiles_across * outputs();
  }
  std::int64_t left_of(std::int64_t tile) const {
    return in_image(tile) % division_.tiles_across * outputs();
  }
  // Of the 8 x 4 places that lanes have, four filters or tiles each.
  static std::int64_t of_eight(std::int64_t lane) { return lane % 2 + lane / 4 % 4 * 2; }
  static std::int64_t of_four(std::int64_t lane) { return lane / 2 % 2 + lane / 16 * 2; }
  std::int64_t own_filter(std::int64_t lane) const {
    return kQuad * (shape_.filters == 64 ? of_eight(lane) : of_four(lane));
  }
  std::int64_t own_tile(std::int64_t lane) const {
    return kQuad * (shape_.filters == 64 ? of_four(lane) : of_eight(lane));
  }

  const conv::ConvLayer& layer_;
  WinogradDivision division_;
  WinogradShape shape_;
  std::int64_t cells_;
  std::int64_t threads_;
  std::int64_t blocks_;
  std::int64_t with_all_channels_;  // blocks, if each had all channels
  std::int64_t chunks_;             // of all blocks together
  std::int64_t line_;               // of a row of all patches
  std::int64_t row_;                // of a frequency
};

}  // namespace

Cost winograd_cost(const conv::ConvLayer& layer, const WinogradPlan& plan) {
  const WinogradWalk walk(layer, plan);
  Tally tally;
  tally.launch(plan.blocks, plan.threads, plan.shared_bytes);
  walk.clear(tally);
  walk.copy_patches(tally);
  walk.copy_filters(tally);
  walk.transform_inputs(tally);
  walk.multiply(tally);
  walk.transform_sums(tally);
  walk.store_outputs(tally);
  tally.barriers(walk.barriers());
  return tally.cost();
}

Cost winograd_bias_cost(const conv::ConvLayer& layer, const WinogradPlan& plan) {
  Tally tally;
  WinogradWalk(layer, plan).store_outputs(tally, true);
  return tally.cost();
}

}  // namespace halo::convolve
