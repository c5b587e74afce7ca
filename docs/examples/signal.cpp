// A signal smoothed by 9 taps, and by 255.
// [doc:program]
#include <cuda_runtime.h>

#include <cstdio>
#include <halo/convolve.hpp>
#include <vector>

int main() try {
  constexpr int kLength = 10'000;
  float* input = nullptr;
  float* output = nullptr;
  cudaMalloc(&input, sizeof(float) * kLength);
  cudaMalloc(&output, sizeof(float) * kLength);
  cudaMemset(input, 0, sizeof(float) * kLength);

  for (const int taps : {9, 255}) {
    const std::vector<float> mask(taps, 1.0f / taps);
    const halo::Convolve1dPlan plan(kLength, mask.data(), taps);
    plan.run(input, output);
    std::printf("%d taps: %s\n", taps, plan.kernel().c_str());
    cudaDeviceSynchronize();
  }
} catch (const halo::ConvolveError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
// [/doc:program]
