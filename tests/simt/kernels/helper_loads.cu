// A device function in a file of its own (on a GPU: compile with -rdc=true).
#include "helper_loads.hpp"

__device__ float load_in_another_file(const float* in, int i) {
  return in[i];  // LINE other-file
}
