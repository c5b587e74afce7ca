// Convolution through Fourier transforms with cuFFT: the peers of Li et al. (SC'16), fig. 5, which are
// cuDNN's FFT algorithms, whole and tiled. (Those themselves take part in the peer cudnn, conv2d.hpp.)
//
//   gpu  cufft        one transform covers the whole image, padded
//        cufft_tiled  overlap-save: tiles of 32 x 32 cells (larger for filters wider than 16), whose
//                     outputs that wrapped round are thrown away
//   sim  none: nothing is timed there
//
// NCHW, stride 1. A call does all the work, the filters' transforms included. In terms of matrices, for
// each frequency [images * tiles][C] times [C][K], conjugated:
//   pad (a kernel of ours), cuFFT, transpose to [frequency][plane] (cublasCgeam),
//   cublasCgemmStridedBatched over the frequencies,
//   transpose back, cuFFT, crop (a kernel of ours).
// The sum over channels is a matrix product so that its factors are reused in registers: a kernel that
// multiplies frequency by frequency reads two complex numbers for each product. The price is the two
// transpositions, a pass over the spectra each.
//
// The workspace is the caller's (workspace_floats) but for cuFFT's own work area, and both together
// take at most 1 GiB: what does not fit is done in passes over images and filters. A layer that does
// not fit either way is refused. Otherwise as the other peers (conv2d.hpp). They are judged with
// Demand::transformed.
#pragma once

#include <vector>

#include "common/harness/families/conv2d.hpp"

namespace halo::peers {

/// The FFT peers of the 2D family on this backend.
std::vector<Conv2dVariant> fft_convolution();

}  // namespace halo::peers
