// The other thread of the host waits for this one, and this one for the kernel.
#include <condition_variable>
#include <mutex>
#include <thread>

__global__ void wait_for(const volatile int* flag) {
  while (*flag == 0) {
  }
}

int main() {
  int* flag;
  cudaMallocManaged(&flag, sizeof(int));
  *flag = 0;
  std::mutex mutex;
  std::condition_variable may_end;
  bool is_over = false;
  std::thread other([&] {
    std::unique_lock lock(mutex);
    may_end.wait(lock, [&] { return is_over; });
  });
  wait_for<<<1, 1>>>(flag);
  int unlocked = 0;
  cudaMemcpy(&unlocked, flag, sizeof(int), cudaMemcpyDeviceToHost);
  {
    const std::lock_guard lock(mutex);
    is_over = true;
  }
  may_end.notify_one();
  other.join();
  return 0;
}
