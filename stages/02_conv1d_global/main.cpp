#include "common/peers/conv1d.hpp"
#include "stages/02_conv1d_global/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_conv1d(argc, argv, {halo::conv1d_global::stage()}, halo::peers::conv1d(),
                          halo::make_backend());
}
