// The 1D stages on a GPU, beside their peers.
#include "common/peers/conv1d.hpp"
#include "stages/02_conv1d_global.hpp"
#include "stages/03_conv1d_constant.hpp"
#include "stages/04_conv1d_tiled_halo.hpp"
#include "stages/05_conv1d_tiled_cached.hpp"

int main(int argc, char** argv) {
  return halo::run_program<halo::Conv1dProblem>(
      argc, argv,
      {halo::conv1d_global::stage(), halo::conv1d_constant::stage(),
       halo::conv1d_tiled_halo::stage(), halo::conv1d_tiled_cached::stage()},
      halo::peers::conv1d(), halo::make_backend());
}
