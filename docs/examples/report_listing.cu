// Runs one of the BU report's listings as printed (tests/stages/report_listings) on 1,000 cells, for
// the findings shown on the pages of stages 04 and 05. docs/results/make_findings.py sets LISTING,
// THREADS and WIDTH.
#include <cmath>
#include <cstdio>
#include <vector>

#include "tests/stages/report_listings/listings.hpp"

// Outputs h ... n - h - 1 that differ from the same sum on the CPU by more than rounding can explain.
static int wrong_outputs(float step) {
  const int n = 1000, halo = (WIDTH - 1) / 2;
  std::vector<float> input(n), mask(WIDTH), output(n);
  for (int i = 0; i < n; ++i) input[i] = step * (i % 17 + 1);
  for (int j = 0; j < WIDTH; ++j) mask[j] = j + 1;

  float *device_input, *device_output;
  cudaMalloc(&device_input, n * sizeof(float));
  cudaMalloc(&device_output, n * sizeof(float));
  cudaMemcpy(device_input, input.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  halo::report_listings::LISTING(device_input, mask.data(), device_output, n, WIDTH, THREADS);
  cudaMemcpy(output.data(), device_output, n * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0;
  for (int i = halo; i < n - halo; ++i) {
    double sum = 0;
    for (int j = 0; j < WIDTH; ++j) sum += static_cast<double>(input[i - halo + j]) * mask[j];
    wrong += !(std::fabs(output[i] - sum) <= 1e-5 * sum);  // all terms are positive
  }
  cudaFree(device_input);
  cudaFree(device_output);
  return wrong;
}

// First with whole numbers, then with tenths.
int main() {
  const int inner = 1000 - (WIDTH - 1);
  std::printf("%d of %d outputs wrong\n", wrong_outputs(1.0f), inner);
  std::printf("%d of %d outputs wrong\n", wrong_outputs(0.7f), inner);
}
