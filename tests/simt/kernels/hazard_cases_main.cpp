// Runs hazard cases as a program that knows nothing of the simulator: what it found can be seen in
// SIMT_REPORT, on stderr and in the exit status. Usage: hazard_cases --all | NAME...
#include <cstdio>
#include <cstring>

#include "hazards.hpp"

int main(int argc, char** argv) {
  const std::vector<HazardCase>* lists[] = {
      &race_cases(),   &memory_cases(), &synchronisation_cases(), &copy_cases(), &failure_cases(),
      &stream_cases(), &block_cases()};
  if (argc < 2) {
    std::fprintf(stderr, "usage: hazard_cases --all | NAME...\n");
    return 2;
  }
  for (int i = 1; i < argc; ++i) {
    bool known = false;
    for (const auto* list : lists) {
      for (const HazardCase& one : *list) {
        if (std::strcmp(argv[i], "--all") != 0 && std::strcmp(argv[i], one.name) != 0) continue;
        known = true;
        std::printf("%s: CUDA error %d\n", one.name, one.run());
      }
    }
    if (!known) {
      std::fprintf(stderr, "hazard_cases: no case %s\n", argv[i]);
      return 2;
    }
  }
  return 0;
}
