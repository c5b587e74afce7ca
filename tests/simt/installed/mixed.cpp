// Of C++, C and device code of two files: a launch, and what only the simulator knows.
#include <cuda_runtime.h>

#include <cstdio>
#include <simt/simulator.hpp>

extern "C" void launch_doubled(float* data, int n);
extern "C" int one_more(int x);

int main() {
  float host[32];
  for (int i = 0; i < 32; ++i) host[i] = static_cast<float>(i);
  float* data = nullptr;
  cudaMalloc(&data, sizeof host);
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  launch_doubled(data, 32);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  const simt::Simulator* const simulator = simt::simulator();
  const std::size_t launches = simulator != nullptr ? simulator->take_launches().size() : 0;
  std::printf("%g, %d, launches: %zu\n", host[31], one_more(1), launches);
}
