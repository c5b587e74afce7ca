#include "stages/03_conv1d_constant/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d_stage(argc, argv, halo::conv1d_constant::stage(), halo::make_backend());
}
