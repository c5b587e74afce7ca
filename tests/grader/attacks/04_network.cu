// Attack: calls a server. Told: opens the network
#include <cuda_runtime.h>
#include <sys/socket.h>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  if (socket(AF_INET, SOCK_STREAM, 0) >= 0) return 1;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
