// The GPU peers of layout transforms, pooling layers and softmax. What needs a library's header is in
// files of its own.
#include <string>
#include <vector>

#include "common/peers/libraries.hpp"
#include "common/peers/operation.hpp"

namespace halo::peers {

namespace {

template <class Problem>
Variant<Problem> cudnn_peer(std::string name, std::string description,
                            conv::Layout layout = conv::Layout::nchw) {
  Variant<Problem> peer;
  peer.name = std::move(name);
  peer.source = "common/peers/cudnn_operations.cpp";
  peer.description = std::move(description);
  peer.role = Role::peer;
  peer.layout = layout;
#ifdef HALO_HAVE_CUDNN
  use_cudnn(peer);
#else
  peer.unavailable = HALO_NO_CUDNN;
#endif
  return peer;
}

TransformVariant cublas_geam() {
  TransformVariant peer;
  peer.name = "cublas_geam";
  peer.source = "common/peers/cublas_geam.cpp";
  peer.description = "cublasSgeam: the matrix [C*H*W][N] transposed, or back";
  peer.role = Role::peer;
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
