#include "stages/07_single_channel_adaptive.hpp"
#include "stages/07_single_channel_adaptive/measure/measure.hpp"

int main(int argc, char** argv) {
  namespace measure = halo::single_channel_adaptive::measure;
  if (measure::asked_for(argc, argv)) return measure::run(argc, argv, halo::make_backend());
  return halo::single_channel_adaptive::run(argc, argv);
}
