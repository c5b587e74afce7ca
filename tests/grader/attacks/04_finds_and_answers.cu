// Attack: answers in the place of the worker with a function that it finds in memory. Told: does not answer as one
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/exercise/exercise.h"

//+ find.inc

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  const auto send = reinterpret_cast<long (*)(int, const void*, unsigned long)>(find("write"));
  const char seen[] =
      "{\"error\":\"\",\"unsupported\":false,\"kernels\":1,\"counted\":{\"global_load_sectors\":1},"
      "\"fp64_operations\":0,\"tensor_instructions\":0,\"unfreed_bytes\":0,\"copied_bytes\":0,"
      "\"local_sectors\":0,\"mbarrier_phases\":0,\"most_requests\":1,"
      "\"host\":[0,0,0,0],"
      "\"lines\":[],\"fp64_lines\":[],\"tensor_lines\":[],\"printed\":[],\"printed_total\":0,"
      "\"launches\":[[1,1,32,0]],\"hazards\":[]}";
  struct {
    unsigned kind;
    float value;
    unsigned long address, count, bytes;
  } header = {0, 0, 0, 0, sizeof seen - 1};
  send(3, &header, sizeof header);
  send(3, seen, sizeof seen - 1);
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
