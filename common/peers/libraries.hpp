// The libraries that may be missing, behind one function each. Private to the peers.
#pragma once

#include "common/harness/conv1d.hpp"

namespace halo::peers {

#ifdef HALO_HAVE_CUDNN
/// cudnn.cpp. Sets launch and detail.
void use_cudnn(Conv1dVariant& variant);
#endif

#ifdef HALO_HAVE_NPP
/// npp_row_filter.cpp. Sets launch, set_mask and detail.
void use_npp_row_filter(Conv1dVariant& variant);
#endif

}  // namespace halo::peers
