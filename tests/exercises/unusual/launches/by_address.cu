// cudaLaunchKernel: the kernel's address, and addresses of its arguments.
#include <tuple>

template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  std::tuple<Parameters...> own(arguments...);
  std::apply(
      [&](auto&... each) {
        void* addresses[] = {&each...};
        cudaLaunchKernel(kernel, blocks, threads, addresses, bytes, nullptr);
      },
      own);
}
