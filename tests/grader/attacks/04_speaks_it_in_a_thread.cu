// Attack: answers in the place of the worker, from a thread. Told: pthread_create, which starts threads
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

void* speak(void*) {
  const char answer[32] = {};
  return write(3, answer, sizeof answer) < 0 ? nullptr : nullptr;
}

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  pthread_t thread;
  pthread_create(&thread, nullptr, speak, nullptr);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
