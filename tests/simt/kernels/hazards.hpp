// Kernels with planted bugs and their correct twins (hazards_*.cu). The line to be named carries
// the comment `// BUG name`, the second party of a race or a divergent barrier `// OTHER name`.
#pragma once

#include <vector>

struct HazardCase {
  const char* name;
  int (*run)();  // starts from a reset device, launches one kernel, returns the CUDA error of it
};

const std::vector<HazardCase>& race_cases();
const std::vector<HazardCase>& memory_cases();
const std::vector<HazardCase>& synchronisation_cases();
const std::vector<HazardCase>& copy_cases();     // asynchronous copies
const std::vector<HazardCase>& stream_cases();   // order between streams and with the host
const std::vector<HazardCase>& block_cases();    // races between blocks
const std::vector<HazardCase>& failure_cases();  // kernels that end themselves or crash
