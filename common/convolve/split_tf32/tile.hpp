// What split_tf32.cu knows of a block's share of a layer, and what it and the plan must agree on. Plain numbers: host and
// device both use them. plan.hpp says how a tile is chosen.
#pragma once

namespace halo::convolve {

struct SplitTile {
  int filters;  // of a block: 64 or 128; it has twice as many threads
  int at_once;  // pixels of a copy: 4 where those of a channel are one run of quads, else 1
};

// Outputs of a block, of all images, numbered through over n, p and q.
constexpr int kTilePixels = 128;
// A piece of the sum: one tap of so many channels. Of 24 channels a third of the second piece is zeros.
constexpr int kPieceChannels = 16;
// A stage is two pieces, three stages are on chip: one in use, two on their way.
constexpr int kStagePieces = 2;
constexpr int kStages = 3;
// Floats on chip of a piece's filters, each in two parts, and from one channel's pixels to the next one's.
// Rows of 128 would have bank conflicts: with 8 more the four rows that a warp reads at a time have none.
constexpr int piece_filters(int filters) { return 2 * filters * kPieceChannels; }
constexpr int kPixelRow = kTilePixels + 8;
constexpr int piece_floats(int filters) {
  return piece_filters(filters) + kPieceChannels * kPixelRow;
}
// The outputs' way to memory: rows of a filter's outputs, with 4 more for the same reason.
constexpr int kOutputRow = kTilePixels + 4;

constexpr int split_shared_bytes(int filters) {
  return kStages * kStagePieces * piece_floats(filters) * static_cast<int>(sizeof(float));
}

}  // namespace halo::convolve
