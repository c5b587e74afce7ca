// The GPU's FFT peers of the 2D family. What needs a library's header is in a file of its own.
#include <string>

#include "common/peers/fft_convolution.hpp"
#include "common/peers/libraries.hpp"

namespace halo::peers {

namespace {

Conv2dVariant cufft_peer(const std::string& name, const std::string& description,
                         [[maybe_unused]] FftTiling tiling) {
  Conv2dVariant peer = peer_in_words<conv::ConvLayer>(name, "cufft_convolution.cpp", description);
  peer.demand = conv::Demand::transformed;
#if defined(HALO_HAVE_CUFFT) && defined(HALO_HAVE_CUBLAS)
  use_cufft(peer, tiling);
#elif defined(HALO_HAVE_CUFFT)
  peer.unavailable = HALO_NO_CUBLAS;
#else
  peer.unavailable = HALO_NO_CUFFT;
#endif
  return peer;
}

}  // namespace

std::vector<Conv2dVariant> fft_convolution() {
  return {cufft_peer("cufft", "cuFFT over the whole image, cublasCgemm for the channels' sums",
                     FftTiling::whole),
          cufft_peer("cufft_tiled", "the same over tiles of 32 x 32 cells, overlap-save",
                     FftTiling::tiled)};
}

}  // namespace halo::peers
