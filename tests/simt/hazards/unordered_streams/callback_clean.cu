// A function on the stream says that what comes before it is done; a thread that it starts goes on from there.
#include <atomic>
#include <thread>

struct Work {
  int* data;
  cudaStream_t other;
  std::atomic<bool> is_done;
  std::thread next;
};

__global__ void fill(int* out, int value) { out[threadIdx.x] += value; }

void go_on(void* pointer) {
  Work* work = static_cast<Work*>(pointer);
  work->next = std::thread([work] {
    work->data[0] += 1;
    fill<<<1, 32, 0, work->other>>>(work->data, 2);
    cudaStreamSynchronize(work->other);
  });
  work->is_done = true;
}

int main() {
  Work work{};
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamCreate(&work.other);
  cudaMallocHost(&work.data, 4096);
  for (int i = 0; i < 32; ++i) work.data[i] = 0;
  fill<<<1, 32, 0, stream>>>(work.data, 1);
  cudaLaunchHostFunc(stream, go_on, &work);
  while (!work.is_done) {
  }
  work.next.join();
  return work.data[0] != 4;
}
