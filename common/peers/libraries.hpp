// The libraries that may be missing, behind one function each. Private to the peers.
#pragma once

#include <string>

#include "common/harness/families/conv1d.hpp"
#include "common/harness/families/conv2d.hpp"
#include "common/harness/families/pooling.hpp"
#include "common/harness/families/softmax.hpp"
#include "common/harness/families/transform.hpp"
#include "common/peers/fft_plan.hpp"
#include "common/peers/network.hpp"

namespace halo::peers {

/// A peer in words, from a file of this folder; what it runs is still to be set.
template <class Problem>
Variant<Problem> peer_in_words(const std::string& name, const std::string& file,
                               const std::string& description) {
  Variant<Problem> peer;
  peer.name = name;
  peer.source = "common/peers/" + file;
  peer.description = description;
  peer.role = Role::peer;
  return peer;
}

#ifdef HALO_HAVE_CUDNN
/// cudnn_algorithms.cpp. Set launch, version and detail.
void use_cudnn(Conv1dVariant& variant);
void use_cudnn(Conv2dVariant& variant);

/// cudnn_graph.cpp. Sets launch, version and detail.
void use_cudnn_graph(Conv2dVariant& variant);
/// The same, of both interfaces, in TF32.
void use_cudnn_tf32(Conv2dVariant& variant);

/// cudnn_operations.cpp. Set launch, version, detail and differs; pooling in the variant's layout.
void use_cudnn(TransformVariant& variant);
void use_cudnn(PoolingVariant& variant);
void use_cudnn(SoftmaxVariant& variant);

/// cudnn_network.cpp. Set launch, version and detail.
void use_cudnn(BiasRelu& step);
void use_cudnn(ConvolutionBiasRelu& step);
#endif

#ifdef HALO_HAVE_CUBLAS
/// cublas_geam.cpp. Sets launch, version, detail and differs.
void use_cublas(TransformVariant& variant);
/// cublas_sgemm.cpp, for fully connected layers in the variant's layout. Sets launch, version and
/// detail.
void use_cublas(Conv2dVariant& variant);

#ifdef HALO_HAVE_CUFFT
/// cufft_convolution.cpp. Sets launch, refuses, workspace_floats, version and detail.
void use_cufft(Conv2dVariant& variant, FftTiling tiling);
#endif
#endif

#ifdef HALO_HAVE_CUFFT
/// cufft_signal.cpp. Sets launch, set_up, version and detail.
void use_cufft(Conv1dVariant& variant);
#endif

#ifdef HALO_HAVE_NPP
/// npp_row_filter.cpp. Sets launch, set_mask and detail.
void use_npp_row_filter(Conv1dVariant& variant);
#endif

}  // namespace halo::peers
