// Attack: throws where it should say what to call. Told: before the first call
#include <cuda_runtime.h>

#include <stdexcept>

#include "common/exercise/exercise.h"

halo::Exercise halo::exercise() { throw std::runtime_error("PASSED 130 of 130 points"); }
