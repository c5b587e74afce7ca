// The 2D stages on a GPU, beside their peers.
#include "common/peers/conv2d.hpp"
#include "stages/06_conv2d_direct/stage.hpp"
#include "stages/07_single_channel_adaptive/stage.hpp"
#include "stages/08_multi_channel_stride_fixed/stage.hpp"
#include "stages/09_cuconv_two_stage/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv2d(
      argc, argv,
      {halo::conv2d_direct::stage(), halo::single_channel::stage(),
       halo::multi_channel_stride_fixed::stage(), halo::cuconv_two_stage::stage()},
      halo::peers::conv2d(), halo::make_backend());
}
