#include "common/peers/conv2d.hpp"
#include "common/planning/measure/measure.hpp"
#include "stages/07_single_channel_adaptive.hpp"

int main(int argc, char** argv) {
  namespace measure = halo::planning::measure;
  if (measure::asked_for(argc, argv)) return measure::run(argc, argv, halo::make_backend());
  return halo::run_program<halo::conv::ConvLayer>(argc, argv,
                                                  {halo::single_channel_adaptive::stage()},
                                                  halo::peers::conv2d(), halo::make_backend());
}
