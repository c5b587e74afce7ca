// The thread that launches waits for the kernel; another raises the flag, later.
#include <chrono>
#include <thread>

__global__ void wait_for(const volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 1;
}

int main() {
  int *flag, *out;
  cudaMallocManaged(&flag, sizeof(int));
  cudaMallocManaged(&out, sizeof(int));
  *flag = *out = 0;
  wait_for<<<1, 1>>>(flag, out);
  std::thread later([flag] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *static_cast<volatile int*>(flag) = 1;
  });
  const bool is_good = cudaDeviceSynchronize() == cudaSuccess;
  later.join();
  return is_good && *out == 1 ? 0 : 1;
}
