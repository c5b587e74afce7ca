// Attack: starts a thread that ends the program later. Told: std::thread
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::thread([] { _exit(0); }).detach();
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
