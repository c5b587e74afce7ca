// Runs Fig. 7b of Li et al. (SC'16) as printed (tests/stages/sc16_figure7) on some batches, for what
// the page of stage 10 shows. docs/results/make_findings.py sets CHANNELS: 16 for the branch that the
// simulator stops, 32 for the one where only values show what is wrong.
#include <cstdio>
#include <cstring>
#include <vector>

#include "tests/stages/sc16_figure7/figure7.hpp"

// N images of C channels and 6 pixels, by a row of blocks.
static void run(int N, int C, int blocks) {
  const int cells = C * 6;
  std::vector<float> input(N * cells), output(N * cells);
  for (int i = 0; i < N * cells; ++i) input[i] = i;
  float *device_input, *device_output;
  cudaMalloc(&device_input, input.size() * sizeof(float));
  cudaMalloc(&device_output, output.size() * sizeof(float));
  cudaMemcpy(device_input, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(device_output, 0xff, output.size() * sizeof(float));  // NaN, to see what stays
  halo::sc16_figure7::float2_tile(device_input, device_output, N, C, blocks, 1);
  cudaMemcpy(output.data(), device_output, output.size() * sizeof(float), cudaMemcpyDeviceToHost);

  int wrong = 0, unwritten = 0;
  for (int n = 0; n < N; ++n) {
    for (int cell = 0; cell < cells; ++cell) {
      const float got = output[n * cells + cell];
      if (got != got) {
        ++unwritten;
      } else {
        wrong += got != input[cell * N + n];
      }
    }
  }
  std::printf("%d images, %d channels, %d blocks: of %d outputs %d wrong, %d not written\n", N, C,
              blocks, N * cells, wrong, unwritten);
  cudaFree(device_input);
  cudaFree(device_output);
}

int main() {
  if (CHANNELS == 16) {
    run(64, 16, 6);
    return 0;
  }
  run(64, 32, 6);    // C*H*W / 32 blocks: right
  run(128, 64, 12);  // the same
  run(128, 64, 6);   // a block for each pixel, as W x H blocks are
  run(96, 32, 6);    // images in no multiple of 64
  run(65, 32, 6);    // an odd number
}
