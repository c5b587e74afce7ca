#include "stages/04_conv1d_tiled_halo/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d_stage(argc, argv, halo::conv1d_tiled_halo::stage(), halo::make_backend());
}
