// What fully_connected is on every backend. Private to the peers.
#pragma once

#include <string>

#include "common/harness/families/conv2d.hpp"

namespace halo::peers {

/// The variant without launch, version and detail.
inline Conv2dVariant describe_fully_connected(conv::Layout layout) {
  Conv2dVariant peer;
  peer.name = std::string("cublas_sgemm_") + conv::to_string(layout);
  peer.source = "common/peers/cublas_sgemm.cpp";
  peer.description =
      std::string("cublasSgemm for fully connected layers, ") + conv::to_string(layout);
  peer.role = Role::peer;
  peer.layout = layout;
  peer.refuses([](const conv::ConvLayer& layer) -> std::string {
    return layer.filters_cover_map() ? ""
                                     : "its filters must cover the whole image, without padding";
  });
  return peer;
}

}  // namespace halo::peers
