// Layers for methods that transform tiles: these end within the map and beyond it, there are ghost cells on one side only,
// and filters, channels and tiles of several blocks.
#pragma once

#include <vector>

#include "common/conv/layer.hpp"

namespace halo::test {

inline std::vector<conv::ConvLayer> tiled_layers() {
  return {
      conv::ConvLayer({.N = 3,
                       .C = 41,
                       .H = 9,
                       .W = 18,
                       .K = 66,
                       .R = 3,
                       .S = 3,
                       .padding_h = 1,
                       .padding_w = 1}),
      conv::ConvLayer({.N = 2, .C = 17, .H = 12, .W = 30, .K = 40, .R = 3, .S = 3}),
      conv::ConvLayer({.N = 2,
                       .C = 35,
                       .H = 6,
                       .W = 13,
                       .K = 65,
                       .R = 5,
                       .S = 5,
                       .padding_h = 4,
                       .padding_w = 1}),
  };
}

}  // namespace halo::test
