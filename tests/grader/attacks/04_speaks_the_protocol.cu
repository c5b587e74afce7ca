// Attack: answers in the place of the worker, from a global object. Told: send, which opens the network
#include <cuda_runtime.h>
#include <sys/socket.h>

#include "common/exercise/exercise.h"

struct Early {
  Early() {
    const char answer[32] = {};
    send(3, answer, sizeof answer, 0);
  }
} early;

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
