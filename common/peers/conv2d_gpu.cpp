// The GPU peers of the 2D family. What needs cuDNN's header is in files of its own.
#include <vector>

#include "common/peers/conv2d.hpp"
#include "common/peers/cudnn_tf32.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/true_fp32.hpp"

namespace halo::peers {

namespace {

// Both may choose Winograd's method or an FFT, in float.
Conv2dVariant cudnn_peer() {
  Conv2dVariant peer;
  peer.name = "cudnn";
  peer.source = "common/peers/cudnn_algorithms.cpp";
  peer.description = "the fastest of cuDNN's eight forward algorithms, true fp32";
  peer.role = Role::peer;
  peer.demand = conv::Demand::transformed;
#ifdef HALO_HAVE_CUDNN
  use_cudnn(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

Conv2dVariant cudnn_graph_peer() {
  Conv2dVariant peer;
  peer.name = "cudnn_graph";
  peer.source = "common/peers/cudnn_graph.cpp";
  peer.description = "the fastest of the plans of cuDNN's graph API, true fp32";
  peer.role = Role::peer;
  peer.demand = conv::Demand::transformed;
#ifdef HALO_HAVE_CUDNN
  use_cudnn_graph(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

}  // namespace

std::vector<Conv2dVariant> cudnn_tf32() {
  if (!tf32_is_asked_for()) return {};
  Conv2dVariant peer;
  peer.name = "cudnn_tf32";
  peer.source = "common/peers/cudnn_graph.cpp";
  peer.description = "the fastest of cuDNN's algorithms and plans in TF32";
  peer.role = Role::beside;
  peer.demand = conv::Demand::tf32;
#ifdef HALO_HAVE_CUDNN
  use_cudnn_tf32(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return {peer};
}

std::vector<Conv2dVariant> conv2d() { return {cudnn_peer(), cudnn_graph_peer()}; }

}  // namespace halo::peers
