// Attack: ends with a good status and no output. Told: it wrote no OUTPUT
#include <cuda_runtime.h>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  return 0;
}
