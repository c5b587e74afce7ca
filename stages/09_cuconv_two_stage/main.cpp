#include "common/peers/conv2d.hpp"
#include "stages/09_cuconv_two_stage/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_program<halo::conv::ConvLayer>(argc, argv, {halo::cuconv_two_stage::stage()},
                                                  halo::peers::conv2d(), halo::make_backend());
}
