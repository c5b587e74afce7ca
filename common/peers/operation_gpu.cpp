// The GPU peers of layout transforms, pooling layers and softmax. What needs a library's header is in
// files of its own.
#include <string>
#include <vector>

#include "common/peers/libraries.hpp"
#include "common/peers/operation.hpp"

namespace halo::peers {

namespace {

template <class Problem>
Variant<Problem> cudnn_peer(const std::string& name, const std::string& description,
                            conv::Layout layout = conv::Layout::nchw) {
  Variant<Problem> peer = peer_in_words<Problem>(name, "cudnn_operations.cpp", description);
  peer.layout = layout;
#ifdef HALO_HAVE_CUDNN
  use_cudnn(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

TransformVariant cublas_geam() {
  TransformVariant peer = peer_in_words<conv::Transform>(
      "cublas_geam", "cublas_geam.cpp", "cublasSgeam: the matrix [C*H*W][N] transposed, or back");
#ifdef HALO_HAVE_CUBLAS
  use_cublas(peer);
#else
  peer.unavailable = HALO_NO_CUBLAS;
#endif
  return peer;
}

}  // namespace

std::vector<TransformVariant> transform() {
  return {cudnn_peer<conv::Transform>("cudnn_transform", "cudnnTransformTensor"), cublas_geam()};
}

std::vector<PoolingVariant> pooling() {
  return {
      cudnn_peer<conv::PoolingLayer>("cudnn_nchw",
                                     "cudnnPoolingForward, NCHW, the fastest of its modes"),
      cudnn_peer<conv::PoolingLayer>(
          "cudnn_chwn", "cudnnPoolingForward, CHWN, the fastest of its modes", conv::Layout::chwn)};
}

std::vector<SoftmaxVariant> softmax() {
  return {cudnn_peer<conv::Softmax>("cudnn", "cudnnSoftmaxForward, the faster of two modes")};
}

}  // namespace halo::peers
