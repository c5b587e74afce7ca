// Beside the usual peers stands convolution by FFT, which the paper compares layouts with (Fig. 5).
#include "common/peers/conv2d.hpp"
#include "common/peers/fft_convolution.hpp"
#include "stages/10_layout_convolution/stage.hpp"

int main(int argc, char** argv) {
  halo::Conv2dStage stage = halo::layout_convolution::stage();
  for (const auto& peer : halo::peers::fft_convolution()) stage.variants.push_back(peer);
  return halo::run_program<halo::conv::ConvLayer>(argc, argv, {stage}, halo::peers::conv2d(),
                                                  halo::make_backend());
}
