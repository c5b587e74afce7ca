// Attack: answers the layers of the page and no others. Told: should be
#include <cuda_runtime.h>

#include "common/exercise/exercise.h"

__global__ void answer(int* method, int* pieces, int* bytes, bool is_first) {
  const int i = threadIdx.x;
  method[i] = 2 - i;
  pieces[i] = i == 0 ? 1 : 45;
  bytes[i] = is_first ? 912 : 94'216;
}

static int launch(const float* layers, int* method, int* pieces, int* bytes, int N, int sms,
                  int shared_bytes, int n_fma) {
  (void)layers, (void)N, (void)shared_bytes, (void)n_fma;
  answer<<<1, 2>>>(method, pieces, bytes, sms == 132);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
