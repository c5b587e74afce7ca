// Attack: never ends. Told: took more than
#include <cuda_runtime.h>

int main(int argc, char** argv) {
  (void)argc, (void)argv;
  for (volatile int i = 0;; i = i + 1) {
  }
}
