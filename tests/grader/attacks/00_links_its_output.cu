// Attack: lets its output be another file. Told: opens files
#include <cuda_runtime.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  return symlink("/dev/zero", argv[3]);
}
