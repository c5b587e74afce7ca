// The GPU peers of the 2D family. What needs cuDNN's header is in files of its own.
#include <string>
#include <vector>

#include "common/peers/conv2d.hpp"
#include "common/peers/libraries.hpp"
#include "common/peers/true_fp32.hpp"

namespace halo::peers {

namespace {

// A peer that cuDNN runs, as `use` says; unavailable in a build without it.
template <class Use>
Conv2dVariant cudnn_peer(const std::string& name, const std::string& file,
                         const std::string& description, conv::Demand demand,
                         [[maybe_unused]] Use use) {
  Conv2dVariant peer = peer_in_words<conv::ConvLayer>(name, file, description);
  peer.demand = demand;
  peer.takes_groups = true;
  peer.takes_dilation = true;
#ifdef HALO_HAVE_CUDNN
  use(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

}  // namespace

// Generic: what a build without cuDNN does not have is not looked up.
std::vector<Conv2dVariant> conv2d() {
  // Both may choose Winograd's method or an FFT, in float.
  std::vector<Conv2dVariant> all = {
      cudnn_peer("cudnn", "cudnn_algorithms.cpp",
                 "the fastest of cuDNN's eight forward algorithms, true fp32",
                 conv::Demand::transformed, [](auto& peer) { use_cudnn(peer); }),
      cudnn_peer("cudnn_graph", "cudnn_graph.cpp",
                 "the fastest of the plans of cuDNN's graph API, true fp32",
                 conv::Demand::transformed, [](auto& peer) { use_cudnn_graph(peer); })};
  if (tf32_is_asked_for()) {
    all.push_back(cudnn_peer("cudnn_tf32", "cudnn_graph.cpp",
                             "the fastest of cuDNN's algorithms and plans in TF32",
                             conv::Demand::tf32, [](auto& peer) { use_cudnn_tf32(peer); }));
    all.back().role = Role::beside;
  }
  return all;
}

}  // namespace halo::peers
