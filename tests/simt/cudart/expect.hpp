// For the programs of this folder: each says what did not hold, and ends with status 1 if anything did not. Most run on a GPU,
// too, and hold there (tests/on_gpu.sh foreign).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

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

/// What only the simulator answers, and a GPU leaves undefined or tells otherwise, is asked there only.
inline bool is_simulated() {
  cudaDeviceProp device{};
  return cudaGetDeviceProperties(&device, 0) == cudaSuccess &&
         std::strstr(device.name, "(simulated)") != nullptr;
}

inline int verdict() {
  if (failures == 0) std::printf("all right\n");
  return failures == 0 ? 0 : 1;
}
