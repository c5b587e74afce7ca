#include "common/convolve/windows/plan.hpp"

#include <algorithm>
#include <cstdint>

#include "common/harness/kernel.h"
#include "common/harness/traffic/tally.hpp"

namespace halo::convolve {

namespace {

using conv::ConvLayer;

constexpr int kQuad = 4;
constexpr int kThreads = 128;        // of a block, about
constexpr int kMostOfGrid = 65'535;  // blocks down, and images times groups of filters

// {channels, size, stride, rows, columns, fewest and most filters}
constexpr WindowShape kOneChannel[] = {
    {1, 1, 1, 1, 4, 1, 8},   //
    {1, 1, 0, 1, 1, 1, 8},   //
    {1, 3, 1, 2, 4, 8, 64},  // fewer filters would not pay for the window of two rows
    {1, 3, 1, 1, 4, 2, 64},  //
    {1, 3, 1, 4, 1, 2, 64},  //
    {1, 3, 0, 1, 1, 2, 64},  //
    {1, 5, 1, 2, 4, 4, 32},  //
    {1, 5, 1, 1, 4, 2, 32},  //
    {1, 5, 1, 4, 1, 2, 32},  //
    {1, 5, 0, 1, 1, 2, 32},
};
constexpr WindowShape kFewChannels[] = {
    {2, 3, 1, 2, 4, 2, 32}, {2, 3, 2, 3, 1, 2, 64}, {2, 3, 0, 1, 1, 2, 64}, {3, 3, 1, 2, 4, 2, 32},
    {3, 3, 2, 3, 1, 2, 64}, {3, 3, 0, 1, 1, 2, 64}, {3, 5, 1, 1, 4, 2, 32}, {3, 5, 0, 1, 1, 2, 32},
    {4, 3, 1, 2, 4, 2, 32}, {4, 3, 2, 3, 1, 2, 64}, {4, 3, 0, 1, 1, 2, 64},
};

std::int64_t pieces(std::int64_t all, std::int64_t piece) { return (all - 1) / piece + 1; }

// Threads for so many, as even as may be: no more than `most`, and as few as so many turns allow.
int even(std::int64_t all, int most) { return static_cast<int>(pieces(all, pieces(all, most))); }

bool is_one_row(const ConvLayer& l) {
  return l.S() == 1 && l.R() == 1 && l.stride_h() == 1 && l.stride_w() == 1 && l.padding_h() == 0 &&
         l.padding_w() == 0;
}

bool allows(const WindowShape& shape, const ConvLayer& l) {
  if (shape.channels != l.C() || shape.size != l.S() || shape.size != l.R()) return false;
  if (shape.stride != 0 && (l.stride_h() != shape.stride || l.stride_w() != shape.stride)) {
    return false;
  }
  if (shape.columns == 1) return true;
  if (is_one_row(l)) return std::int64_t{l.P()} * l.Q() % kQuad == 0;
  return l.Q() == l.W() && l.Q() % kQuad == 0 && l.padding_w() == l.S() / 2;
}

// None of the shapes: blocks is 0.
WindowPlan plan_windows(std::span<const WindowShape> shapes, const ConvLayer& layer,
                        const gpus::GpuLimits& gpu) {
  WindowPlan plan;
  const bool one_row = is_one_row(layer);
  const std::int64_t P = one_row ? 1 : layer.P();
  const std::int64_t Q = one_row ? std::int64_t{layer.P()} * layer.Q() : layer.Q();
  const std::int64_t enough = std::int64_t{gpu.sms} * 3 / 2;
  for (const WindowShape& shape : shapes) {
    if (!allows(shape, layer)) continue;
    if (plan.blocks > 0 && shape.columns < plan.block.columns)
      break;  // few blocks of quads: so be it
    const std::int64_t across = pieces(Q, shape.columns), down = pieces(P, shape.rows);
    WindowBlock block{};
    block.rows = shape.rows;
    block.columns = shape.columns;
    block.one_row = one_row;
    block.threads_across = even(across, one_row ? kThreads : kWarpSize);
    block.threads_down = even(down, std::max(kThreads / block.threads_across, 1));
    const std::int64_t tiles_down = pieces(down, block.threads_down);
    const std::int64_t tiles = pieces(across, block.threads_across) * tiles_down * layer.N();
    block.filters = shape.most_filters;
    while (block.filters > shape.fewest_filters &&
           tiles * pieces(layer.K(), block.filters) < enough) {
      block.filters /= 2;
    }
    block.filters = even(layer.K(), block.filters);
    block.groups = static_cast<int>(pieces(layer.K(), block.filters));
    plan.block = block;
    plan.blocks = tiles * block.groups;
    plan.refusal = tiles_down > kMostOfGrid ? "a grid has at most 65,535 tiles, one below the other"
                   : std::int64_t{layer.N()} * block.groups > kMostOfGrid
                       ? "a grid has at most 65,535 images times groups of filters"
                       : "";
    if (plan.blocks >= enough) break;
  }
  return plan;
}

}  // namespace

std::span<const WindowShape> one_channel_shapes() { return kOneChannel; }
std::span<const WindowShape> few_channel_shapes() { return kFewChannels; }

WindowPlan plan_one_channel(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  WindowPlan plan = plan_windows(kOneChannel, layer, gpu);
  if (plan.blocks == 0) {
    plan.refusal = layer.C() != 1 ? "it is made for one channel"
                                  : "the window of a thread has 1 x 1, 3 x 3 or 5 x 5 cells";
  }
  return plan;
}

WindowPlan plan_few_channels(const ConvLayer& layer, const gpus::GpuLimits& gpu) {
  WindowPlan plan = plan_windows(kFewChannels, layer, gpu);
  if (plan.blocks == 0) {
    plan.refusal = layer.C() < 2 || layer.C() > 4
                       ? "it is made for two to four channels"
                       : "a thread's window has 3 x 3 cells; of three channels 5 x 5 also";
  }
  return plan;
}

Cost window_cost(const ConvLayer& layer, const WindowBlock& block) {
  const std::int64_t N = layer.N(), C = layer.C(), K = layer.K();
  const std::int64_t H = block.one_row ? 1 : layer.H(), P = block.one_row ? 1 : layer.P();
  const std::int64_t Q = block.one_row ? std::int64_t{layer.P()} * layer.Q() : layer.Q();
  const std::int64_t W = block.one_row ? Q : layer.W();
  const std::int64_t size = layer.S(), area = size * size, many_taps = C * area;
  const std::int64_t pitch = many_taps == 1 ? 1 : pieces(many_taps, kQuad) * kQuad;
  const std::int64_t threads = std::int64_t{block.threads_across} * block.threads_down;
  const Cells::Pieces groups = Cells{0, K}.pieces(block.filters);
  const Cells::Pieces across = Cells{0, Q}.pieces(block.threads_across * block.columns);
  const Cells::Pieces down = Cells{0, P}.pieces(block.threads_down * block.rows);
  const std::int64_t tiles = across.count() * down.count() * N;
  Tally tally;
  tally.launch(tiles * groups.count(), threads, block.filters * pitch * sizeof(float));
  tally.barriers(tiles * groups.count());

  // A block's filters: each thread a tap, until all are there.
  for (const Cells group : groups) {
    const Cells taps{group.begin * many_taps, group.end * many_taps};
    for (const Cells turn : Cells{0, taps.size()}.pieces(threads)) {
      for (const Cells warp : turn.pieces(kWarpSize)) {
        tally.copy(
            lanes(warp, [&](std::int64_t i) { return taps.begin + i; }),
            lanes(warp, [&](std::int64_t i) { return i / many_taps * pitch + i % many_taps; }),
            tiles);
      }
    }
  }
  const Times maps = every(H * W, N * C) * groups.count();
  const Times planes = every(P * Q, N * K);
  const std::int64_t window_rows =
      (block.rows - 1) * (block.rows > 1 ? layer.stride_h() : 0) + size;
  for (const Cells tile_rows : down) {
    for (const Cells tile_columns : across) {
      for (const Cells warp : Cells{0, threads}.pieces(kWarpSize)) {
        // A thread's first output, and cells of its window.
        const auto p_of = [&](std::int64_t t) {
          return tile_rows.begin + t / block.threads_across * block.rows;
        };
        const auto q_of = [&](std::int64_t t) {
          return tile_columns.begin + t % block.threads_across * block.columns;
        };
        const auto has_output = [&](std::int64_t t) { return p_of(t) < P && q_of(t) < Q; };
        const auto load = [&](int width, std::int64_t row, std::int64_t column) {
          tally.load(wide_lanes(width, warp,
                                [&](std::int64_t t) {
                                  const std::int64_t h =
                                      p_of(t) * layer.stride_h() - layer.padding_h() + row;
                                  const std::int64_t w = q_of(t) * layer.stride_w() + column;
                                  const bool exists =
                                      has_output(t) && h >= 0 && h < H && w >= 0 && w < W;
                                  return exists ? h * W + w : kNoCell;
                                }),
                     maps);
        };
        for (std::int64_t row = 0; row < window_rows; ++row) {
          if (block.columns == kQuad && C == 1) {  // three quads, or the one under the outputs
            for (const int side : {-kQuad, 0, kQuad}) {
              if (side == 0 || size > 1) load(kQuad, row, side);
            }
            continue;
          }
          if (block.columns == kQuad) load(kQuad, row, 0);
          for (std::int64_t s = 0; s < block.columns + size - 1; ++s) {
            const std::int64_t column = s - layer.padding_w();
            if (block.columns == 1 || column < 0 || column >= kQuad) load(1, row, column);
          }
        }
        const auto tap = [&](int width) {
          return wide_lanes(width, warp,
                            [&](std::int64_t t) { return has_output(t) ? 0 : kNoCell; });
        };
        tally.shared_load(tap(kQuad), N * K * (many_taps / kQuad));
        // nvcc reads those that are left at once: two as a pair, three as a quad.
        const int left = static_cast<int>(many_taps % kQuad);
        if (many_taps == 1) {  // and the taps of two filters together
          for (const Cells group : groups) {
            tally.shared_load(tap(2), N * (group.size() / 2));
            tally.shared_load(tap(1), N * (group.size() % 2));
          }
        } else if (left > 0) {
          tally.shared_load(tap(left == 3 ? kQuad : left), N * K);
        }
        for (std::int64_t row = 0; row < block.rows; ++row) {
          tally.store(wide_lanes(block.columns, warp,
                                 [&](std::int64_t t) {
                                   const std::int64_t p = p_of(t) + row;
                                   return has_output(t) && p < P ? p * Q + q_of(t) : kNoCell;
                                 }),
                      planes);
        }
      }
    }
  }
  return tally.cost();
}

Cost window_bias_cost(const ConvLayer& layer, const WindowBlock& block) {
  const std::int64_t P = block.one_row ? 1 : layer.P();
  const std::int64_t Q = block.one_row ? std::int64_t{layer.P()} * layer.Q() : layer.Q();
  const Cells threads{0, std::int64_t{block.threads_across} * block.threads_down};
  std::int64_t warps = 0;
  for (const Cells down : Cells{0, P}.pieces(block.threads_down * block.rows)) {
    for (const Cells across : Cells{0, Q}.pieces(block.threads_across * block.columns)) {
      for (const Cells warp : threads.pieces(kWarpSize)) {
        const Lanes with_output = lanes(warp, [&](std::int64_t t) {
          const bool is_there = down.begin + t / block.threads_across * block.rows < P &&
                                across.begin + t % block.threads_across * block.columns < Q;
          return is_there ? 0 : kNoCell;
        });
        warps += !with_output.empty();
      }
    }
  }
  Tally tally;
  tally.load(one(0), warps * layer.N() * layer.K());
  return tally.cost();
}

std::string described(const WindowPlan& plan) {
  const WindowBlock& b = plan.block;
  return std::to_string(b.rows) + " x " + std::to_string(b.columns) + " outputs per thread; " +
         std::to_string(plan.blocks) + " blocks of " + std::to_string(b.threads_down) + " x " +
         std::to_string(b.threads_across) + " threads and " + std::to_string(b.filters) +
         (b.filters == 1 ? " filter" : " filters");
}

}  // namespace halo::convolve
