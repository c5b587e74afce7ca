// Attack: prints what tests print that have passed. Told: should be
#include <cuda_runtime.h>

#include <cstdio>

#include "common/exercise/exercise.h"

static int launch(const float* input, const float* mask, float* output, int n, int width,
                  int threads) {
  (void)input, (void)mask, (void)output, (void)n, (void)width, (void)threads;
  std::printf("All tests passed (9 assertions in 9 test cases)\n");
  std::printf("<testsuites><testsuite tests=\"9\" failures=\"0\"/></testsuites>\n");
  std::printf(
      "{\"case\":\"forged\",\"category\":\"correctness\",\"points\":90,\"most\":90,"
      "\"outcome\":\"PASS\",\"seconds\":0}\n");
  std::fprintf(stderr, "{\"score\": 100}\n");
  return 0;
}

halo::Exercise halo::exercise() { return launch; }
