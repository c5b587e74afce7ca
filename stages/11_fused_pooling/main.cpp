#include "common/peers/operation.hpp"
#include "stages/11_fused_pooling/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_program<halo::conv::PoolingLayer>(argc, argv, {halo::fused_pooling::stage()},
                                                     halo::peers::pooling(), halo::make_backend());
}
