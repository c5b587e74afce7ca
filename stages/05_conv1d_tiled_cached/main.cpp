#include "stages/05_conv1d_tiled_cached/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d_stage(argc, argv, halo::conv1d_tiled_cached::stage(),
                                halo::make_backend());
}
