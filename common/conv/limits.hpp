// The limits of a 1D problem, each stated once. Plain constants, so that a stage's own header can
// include this file where a kernel file must stay light.
#pragma once

namespace halo::conv {

/// Widest mask, in taps. It has to be odd. 1023 floats are 4092 bytes, a sixteenth of the 64 KB of
/// constant memory, and the halo of 511 cells on each side is still smaller than the largest block
/// (1024 threads), so that a block can load tile and halo in two steps.
inline constexpr int kMaxMaskWidth = 1023;

/// How far past the last cell a kernel may number cells before it checks: the grid is rounded up to
/// a block (at most 1023 cells), a tile loads one more block (1024), and a mask reaches over the
/// end of it (1022). 4096 is the next power of two.
inline constexpr int kIndexHeadroom = 4096;

/// Longest signal, in cells: every number a kernel forms must fit a 32-bit int. 2,147,479,551.
inline constexpr int kMaxLength = 2147483647 - kIndexHeadroom;

}  // namespace halo::conv
