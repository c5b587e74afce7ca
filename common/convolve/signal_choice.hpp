// Which of the course's fast kernels computes a convolution in 1D.
#pragma once

#include <string>

namespace halo::convolve {

/// quad (stage 05), warp_tile or overlap_save (stage 04): the one that is fastest for so many taps and so long a signal. The
/// first two add products up as the definition has them; overlap_save goes by a Fourier transform and has a transform's
/// errors.
std::string choose_signal_kernel(int taps, int length);

}  // namespace halo::convolve
