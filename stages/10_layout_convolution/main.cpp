#include "common/peers/conv2d.hpp"
#include "stages/10_layout_convolution/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv2d(argc, argv, {halo::layout_convolution::stage()}, halo::peers::conv2d(),
                          halo::make_backend());
}
