#include "common/peers/operation.hpp"
#include "stages/12_fused_softmax/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_operation(argc, argv, halo::fused_softmax::stage(), halo::peers::softmax(),
                             halo::make_backend());
}
