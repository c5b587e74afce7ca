// The libraries that may be missing, behind one function each. Private to the peers.
#pragma once

#include "common/harness/conv1d.hpp"
#include "common/harness/conv2d.hpp"

namespace halo::peers {

#ifdef HALO_HAVE_CUDNN
/// cudnn_algorithms.cpp. Set launch, version and detail.
void use_cudnn(Conv1dVariant& variant);
void use_cudnn(Conv2dVariant& variant);

/// cudnn_graph.cpp. Sets launch, version and detail.
void use_cudnn_graph(Conv2dVariant& variant);
#endif

#ifdef HALO_HAVE_NPP
/// npp_row_filter.cpp. Sets launch, set_mask and detail.
void use_npp_row_filter(Conv1dVariant& variant);
#endif

}  // namespace halo::peers
