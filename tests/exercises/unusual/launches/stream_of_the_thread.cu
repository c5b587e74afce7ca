// The host thread's own stream, from a generic lambda.
template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  const auto go = [=](auto... each) {
    kernel<<<blocks, threads, bytes, cudaStreamPerThread>>>(each...);
  };
  go(arguments...);
}
