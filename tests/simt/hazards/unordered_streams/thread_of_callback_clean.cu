// A function of the stream starts a thread, which reads what the stream did before.
#include <cuda_runtime.h>

#include <cstdio>
#include <thread>

__global__ void fill(int* data) { data[threadIdx.x] = threadIdx.x; }

int* pinned;
std::thread reader;
int sum = 0;

void read() {
  for (int i = 0; i < 64; ++i) sum += pinned[i];
}

void start_reader(void*) { reader = std::thread(read); }

int main() {
  int* data;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMallocHost(&pinned, 64 * sizeof(int));
  fill<<<1, 64, 0, stream>>>(data);
  cudaMemcpyAsync(pinned, data, 64 * sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaLaunchHostFunc(stream, start_reader, nullptr);
  cudaStreamSynchronize(stream);
  reader.join();
  return sum == 64 * 63 / 2 ? 0 : 1;
}
