// For the programs of this folder: each says what did not hold, and ends with status 1 if anything did not.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>

inline int failures = 0;

inline void expect(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: %s\n", line, what);
  ++failures;
}

inline void expect_error(cudaError_t got, cudaError_t wanted, int line) {
  if (got == wanted) return;
  std::printf("line %d: %s instead of %s\n", line, cudaGetErrorName(got), cudaGetErrorName(wanted));
  ++failures;
}

inline int verdict() {
  if (failures == 0) std::printf("all right\n");
  return failures == 0 ? 0 : 1;
}
