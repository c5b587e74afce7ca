// What the kernels of stage 07 know of a block's share of a layer. Plain numbers: host and device
// both use them. plan.hpp says how a Division is made.
#pragma once

namespace halo::single_channel_adaptive {

/// How the outputs of one image are dealt to blocks: an SM's share of rows of outputs and filters, a
/// block's part of the share, and a piece, which a block has on chip at a time. The last of each are
/// perhaps less. An SM has two blocks, which halve its rows or its filters; one, where there is
/// nothing to halve.
struct Division {
  int shares;         // SMs that have work
  int sm_rows;        // of an SM's share; all rows if filters are over SMs
  int sm_filters;     // of an SM's share; all filters if the map is over SMs
  int block_rows;     // of a block's part of it
  int block_filters;  //
  int rows;           // of a piece
  int filters;        //

  int row_parts() const { return block_rows < sm_rows ? 2 : 1; }
  int filter_parts() const { return block_filters < sm_filters ? 2 : 1; }
  int blocks() const { return shares * row_parts() * filter_parts(); }  // of one image
  // Floats on chip, of the map for a piece and with its filters' taps; Layer has H, W, R and S.
  template <class Layer>
  int cells(const Layer& layer) const {
    return (rows + layer.R - 1 < layer.H ? rows + layer.R - 1 : layer.H) * layer.W;
  }
  template <class Layer>
  int shared_floats(const Layer& layer) const {
    return cells(layer) + filters * layer.R * layer.S;
  }
};

}  // namespace halo::single_channel_adaptive
