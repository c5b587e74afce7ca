// Attack: asks the preprocessor where the solution is. Told: asks for files
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

#if __has_include("/srv/course/solutions/assignment.json")
#define FOUND
#endif

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
