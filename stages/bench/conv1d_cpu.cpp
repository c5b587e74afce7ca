// The 1D stages on the CPU, beside their peers.
#include "common/peers/conv1d.hpp"
#include "stages/01_conv1d_cpu/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_program<halo::Conv1dProblem>(argc, argv, {halo::conv1d_cpu::stage()},
                                                halo::peers::conv1d(), halo::make_backend());
}
