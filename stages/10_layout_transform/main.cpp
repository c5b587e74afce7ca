#include "common/peers/operation.hpp"
#include "stages/10_layout_transform/stage.hpp"

int main(int argc, char** argv) {
  return halo::run_operation(argc, argv, halo::layout_transform::stage(), halo::peers::transform(),
                             halo::make_backend());
}
