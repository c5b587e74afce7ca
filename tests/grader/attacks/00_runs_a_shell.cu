// Attack: runs a shell. Told: system, which starts
#include <cuda_runtime.h>

#include <cstdlib>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  return std::system("touch /tmp/halo-was-here");
}
