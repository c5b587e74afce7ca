#include "common/planning/measure/measure.hpp"
#include "stages/07_single_channel_adaptive.hpp"

int main(int argc, char** argv) {
  namespace measure = halo::planning::measure;
  if (measure::asked_for(argc, argv)) return measure::run(argc, argv, halo::make_backend());
  return halo::single_channel_adaptive::run(argc, argv);
}
