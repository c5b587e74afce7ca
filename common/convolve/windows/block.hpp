// What windows.cu knows of a block's share of a layer. Plain numbers: host and device both use them. plan.hpp says
// how one is chosen.
#pragma once

namespace halo::convolve {

// Of a block; each thread has up to 255 registers then.
inline constexpr int kMostWindowThreads = 256;

struct WindowBlock {
  int rows,
      columns;  // outputs of a thread: rows x neighbouring columns, of which the window is kept
  int threads_across, threads_down;  // of a block
  int filters;                       // of a block, one after the other
  int groups;                        // of so many filters, all K of them together
  bool one_row;                      // a plane is taken as one row of P * Q outputs
};

}  // namespace halo::convolve
