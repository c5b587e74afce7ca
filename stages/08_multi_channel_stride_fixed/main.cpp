#include "common/peers/conv2d.hpp"
#include "stages/08_multi_channel_stride_fixed/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_program<halo::conv::ConvLayer>(argc, argv,
                                                  {halo::multi_channel_stride_fixed::stage()},
                                                  halo::peers::conv2d(), halo::make_backend());
}
