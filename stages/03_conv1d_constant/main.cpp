#include "common/peers/conv1d.hpp"
#include "stages/03_conv1d_constant/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d(argc, argv, {halo::conv1d_constant::stage()}, halo::peers::conv1d(),
                          halo::make_backend());
}
