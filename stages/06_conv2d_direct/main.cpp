#include "common/peers/conv2d.hpp"
#include "stages/06_conv2d_direct/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv2d(argc, argv, {halo::conv2d_direct::stage()}, halo::peers::conv2d(),
                          halo::make_backend());
}
