#include "stages/02_conv1d_global/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d_stage(argc, argv, halo::conv1d_global::stage(), halo::make_backend());
}
