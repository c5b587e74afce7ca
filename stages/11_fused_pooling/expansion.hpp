// How many outputs a thread computes, chosen from a layer's numbers. Knows no CUDA.
#pragma once

#include <cstdint>
#include <string>

#include "common/conv/pooling.hpp"

namespace halo::fused_pooling {

// Neighbouring outputs of one thread, down and across: 1, 2 or 4 each, in NCHW also 7 down.
struct Expansion {
  int rows = 1;
  int columns = 1;

  bool operator==(const Expansion&) const = default;
};
inline constexpr int kLargestExpansion = 4;
// In NCHW also so many down, where a column has nearly twice as many at least: most that a thread has registers for.
inline constexpr int kLongColumn = 7;

// Cells of one channel of one image that its threads ask for, all together, if each asks once for what
// lies under its outputs. A cell that two threads need counts twice. With Expansion{}: the cells of all
// windows.
std::int64_t cells_asked(const conv::PoolingLayer& layer, Expansion expansion);

// Warps that have an output.
std::int64_t warps(const conv::PoolingLayer& layer, conv::Layout layout, Expansion expansion);

// Why these outputs a thread are not to be had for this layer, as the end of a sentence; or empty.
// More than one only where windows overlap along that axis, and in NCHW only along columns.
std::string why_not(const conv::PoolingLayer& layer, conv::Layout layout, Expansion expansion);

// The choice. It begins with one output and doubles the axis that saves more cells, rows if both save
// as many, for as long as
//   - the windows overlap along that axis, and there are more outputs than a thread has;
//   - it saves kWorth of the cells at least, in NCHW kWorthInNchw: every doubling saves less than the one
//     before, and costs as much, twice the results in registers and half the threads. (In NCHW a thread has one
//     column, so the second doubling still has registers to spare.)
//   - kEnoughWarps are left for each multiprocessor. 16 warps with 25
//     loads of 128 bytes under way (2 x 2 windows of 3) are 51 KB. To be busy, memory of 4,800 GB/s
//     needs 26 KB a multiprocessor under way if a load takes 700 ns.
// In NCHW two or four rows then become kLongColumn, where columns are long enough.
inline constexpr double kWorth = 1.0 / 8;
inline constexpr double kWorthInNchw = 0.095;
inline constexpr std::int64_t kEnoughWarps = 16;
Expansion choose_expansion(const conv::PoolingLayer& layer, conv::Layout layout,
                           int multiprocessors);

// Of chwn_rolling: rows of outputs that a thread goes down. Where windows of two rows overlap, three: seven rows of cells for
// them, and enough strips to fill the GPU. Two, or one, where strips of three would leave less than
// kStripThreads for each multiprocessor.
inline constexpr int kLongestStrip = 3;
inline constexpr int kStripThreads = 512;
int strip_of(const conv::PoolingLayer& layer, int multiprocessors);

}  // namespace halo::fused_pooling
