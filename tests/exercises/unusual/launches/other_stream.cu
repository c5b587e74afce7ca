// A stream of its own, tied to the caller's by two events.
template <class... Parameters, class... Arguments>
static void start(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, size_t bytes,
                  Arguments... arguments) {
  cudaStream_t stream;
  cudaEvent_t begun, ended;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&ended, cudaEventDisableTiming);
  // [doc:there_and_back]
  cudaEventRecord(begun, nullptr);
  cudaStreamWaitEvent(stream, begun, 0);
  kernel<<<blocks, threads, bytes, stream>>>(arguments...);
  cudaEventRecord(ended, stream);
  cudaStreamWaitEvent(nullptr, ended, 0);
  // [/doc:there_and_back]
  cudaEventDestroy(begun);
  cudaEventDestroy(ended);
  cudaStreamDestroy(stream);
}
