// Has another parameter than the contract asks for.
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

static int launch(const float*, const float*, float*, int) { return cudaGetLastError(); }

halo::Exercise halo::exercise() { return launch; }
