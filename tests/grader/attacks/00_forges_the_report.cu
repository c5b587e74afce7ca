// Attack: writes the simulator's report itself. Told: reads the environment
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  std::FILE* file = std::fopen(std::getenv("SIMT_REPORT"), "w");
  if (file != nullptr) std::fputs("{\"launches\": []}", file);
  return 0;
}
