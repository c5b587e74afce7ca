// Never comes back from the launch.
#include <cuda_runtime.h>
#include <unistd.h>

#include "common/exercise/exercise.h"

static int launch(const float*, float*, int) {
  while (true) pause();
}

halo::Exercise halo::exercise() { return launch; }
