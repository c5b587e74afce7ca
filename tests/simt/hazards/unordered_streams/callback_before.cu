// The function stands on the stream before the kernel, so it does not say that this is done.
#include <thread>

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

void begin(void* pointer) { *static_cast<bool*>(pointer) = true; }

int main() {
  int* data;
  cudaStream_t stream;
  bool has_begun = false;
  cudaStreamCreate(&stream);
  cudaMallocHost(&data, 4096);
  cudaLaunchHostFunc(stream, begin, &has_begun);
  fill<<<1, 32, 0, stream>>>(data);
  int first = 0;
  std::thread reader([&] { first = data[0]; });
  reader.join();
  return cudaDeviceSynchronize() + (first - first);
}
