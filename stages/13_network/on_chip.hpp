// How the last layers of a small network are divided over a cluster of blocks that keeps their maps on chip
// (4_on_chip.cu). Plain structs.
#pragma once

#include "common/harness/divisor.h"
#include "common/harness/kernel.h"

namespace halo::network {

constexpr int kOnChipThreads = 256;
constexpr int kOnChipSteps = 6;  // most
constexpr int kMostCategories = kWarpSize;
// Outputs of a thread that convolves: 1, 2 or 4 rows of so many columns.
constexpr int kOnChipColumns = 2;
constexpr int kMostPartsBits = 3;

// Floats from a channel's taps to the next one's: whole fours.
constexpr int on_chip_tap_pitch(int size) { return (size * size + 3) / 4 * 4; }

// A map in the shared memory of each block: floats from its start, with a frame of zeros where the layer that
// reads it has padding. A channel begins on a quad, or all have one cell.
struct OnChipMap {
  int begin;             // of shared memory
  int above, left;       // rows and columns of zeros before a channel's first cell
  Divisor plane, pitch;  // from channel to channel, from row to row
};

// Filters, with pooling after them where there is any; or pooling alone.
struct OnChipStep {
  OnChipMap from, to;
  float* sums;     // [N][K][P][Q]; null where there are no filters
  float* pooled;   // [N][K][PP][PQ]; null where there is no pooling
  int C, K, P, Q;  // of the sums, or of what is pooled
  int size;        // filters are size x size; 0: they cover the map; -1: none
  int rows;        // of a thread's outputs
  int parts_bits;  // 2^parts_bits lanes share the channels of an output: 1, 2, 4 or 8
  int share;       // channels of a block: block b has those from b * share on
  int taps,
      row;  // [share][row], the block's filters: begin; floats of each, the fourth from its end its bias
  int own;                     // [share][P][Q], what the block found
  int window, stride, PP, PQ;  // window 0: no pooling, stride 1, PP = P, PQ = Q
  Divisor across, down;        // tiles of a thread's outputs
  bool average, relu;
  bool alone;  // the first block has all of it, and whatever follows
};

struct OnChip {
  OnChipMap input;
  int C, H, W;
  int packed_quads;        // taps and biases of a block, at the start of shared memory
  int full;                // where a barrier for each step lies, if there are several blocks
  int bytes;               // of shared memory
  int categories, logits;  // logits: where
  int count;
  OnChipStep step[kOnChipSteps + 1];  // after the last one none that is `alone`
};

}  // namespace halo::network
