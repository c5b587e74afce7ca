// The 2D stages on a GPU, beside their peers.
#include "common/peers/conv2d.hpp"
#include "common/peers/fft_convolution.hpp"
#include "stages/06_conv2d_direct.hpp"
#include "stages/07_single_channel_adaptive/stage.hpp"
#include "stages/08_multi_channel_stride_fixed.hpp"
#include "stages/09_cuconv_two_stage/stage.hpp"
#include "stages/10_layout_convolution/stage.hpp"

int main(int argc, char** argv) {
  // Convolution by FFT is compared where layouts are (stage 10), not on every paper's layers.
  halo::Conv2dStage layouts = halo::layout_convolution::stage();
  for (const auto& peer : halo::peers::fft_convolution()) layouts.variants.push_back(peer);
  return halo::run_program<halo::conv::ConvLayer>(
      argc, argv,
      {halo::conv2d_direct::stage(), halo::single_channel::stage(),
       halo::multi_channel_stride_fixed::stage(), halo::cuconv_two_stage::stage(), layouts},
      halo::peers::conv2d(), halo::make_backend());
}
