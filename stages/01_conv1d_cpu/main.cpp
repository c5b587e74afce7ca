#include "stages/01_conv1d_cpu/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d_stage(argc, argv, halo::conv1d_cpu::stage(), halo::make_backend());
}
