// cudaLaunchKernelExC, into a stream of low priority; the scratch of a pool comes and goes beside it.
#include <tuple>

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  std::tuple<Parameters...> own(arguments...);
  int least = 0, greatest = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  cudaStream_t stream;
  cudaStreamCreateWithPriority(&stream, cudaStreamDefault, least);
  void* scratch = nullptr;
  cudaMallocAsync(&scratch, 1 << 12, stream);
  cudaMemsetAsync(scratch, 0, 1 << 12, stream);
  std::apply(
      [&](auto&... each) {
        void* addresses[] = {&each...};
        cudaLaunchConfig_t config = {};
        config.gridDim = blocks;
        config.blockDim = threads;
        config.dynamicSmemBytes = bytes;
        config.stream = stream;
        cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), addresses);
      },
      own);
  cudaFreeAsync(scratch, stream);
  cudaStreamDestroy(stream);
}
