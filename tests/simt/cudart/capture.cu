// What may not be called while streams are being captured: on an H200 CUDA 13.0 answers the same.
#include <thread>

#include "expect.hpp"

__global__ void nothing() {}

namespace {

struct Answer {
  cudaError_t of_call = cudaSuccess;
  cudaStreamCaptureStatus after = cudaStreamCaptureStatusActive;
  cudaError_t of_end = cudaSuccess;
};
constexpr Answer kAllowed;
constexpr Answer forbidden(cudaError_t error) {
  return {error, cudaStreamCaptureStatusInvalidated, cudaErrorStreamCaptureInvalidated};
}
constexpr Answer kUnsupported = forbidden(cudaErrorStreamCaptureUnsupported);
constexpr Answer kImplicit = forbidden(cudaErrorStreamCaptureImplicit);

// Makes the call while `stream`, which has a kernel already, is being captured.
template <class Call>
void during_capture(cudaStream_t stream, cudaStreamCaptureMode mode, Call call, Answer wanted,
                    int line) {
  cudaStreamBeginCapture(stream, mode);
  nothing<<<1, 1, 0, stream>>>();
  expect_error(call(), wanted.of_call, line);
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(stream, &status);
  expect(status == wanted.after, "another status", line);
  cudaGraph_t graph = nullptr;
  expect_error(cudaStreamEndCapture(stream, &graph), wanted.of_end, line);
  expect((graph != nullptr) == (wanted.of_end == cudaSuccess), "a graph, or none", line);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
}

}  // namespace

int main() {
  cudaStream_t blocking, independent, other;
  cudaStreamCreate(&blocking);
  cudaStreamCreateWithFlags(&independent, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t event, before;
  cudaEventCreate(&event);
  cudaEventCreate(&before);
  cudaEventRecord(before, other);
  char* memory;
  cudaMalloc(&memory, 64);
  char host[64] = {};
  void* more = nullptr;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  cudaGraphCreate(&graph, 0);
  cudaGraphInstantiate(&ready, graph, 0);

  constexpr auto kGlobal = cudaStreamCaptureModeGlobal;
  constexpr auto kOfThread = cudaStreamCaptureModeThreadLocal;
  constexpr auto kRelaxed = cudaStreamCaptureModeRelaxed;
  const auto allocate = [&] { return cudaMalloc(&more, 16); };
  const auto copy = [&] { return cudaMemcpy(memory, host, 16, cudaMemcpyHostToDevice); };

  // What could wait, in two of three modes.
  during_capture(blocking, kGlobal, allocate, kUnsupported, __LINE__);
  during_capture(blocking, kOfThread, allocate, kUnsupported, __LINE__);
  during_capture(blocking, kRelaxed, allocate, kAllowed, __LINE__);
  cudaFree(more);
  during_capture(
      blocking, kGlobal, [] { return cudaFree(nullptr); }, kUnsupported, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return cudaStreamSynchronize(other); }, kUnsupported, __LINE__);
  during_capture(
      blocking, kRelaxed, [&] { return cudaStreamSynchronize(other); }, kAllowed, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return cudaEventSynchronize(before); }, kUnsupported, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return cudaMallocAsync(&more, 16, other); }, kUnsupported, __LINE__);
  cudaGraphExec_t another;
  during_capture(
      blocking, kGlobal, [&] { return cudaGraphInstantiate(&another, graph, 0); }, kUnsupported,
      __LINE__);
  // Another thread, which only a capture of all threads forbids.
  const auto elsewhere = [&] {
    cudaError_t error;
    std::thread([&] { error = allocate(); }).join();
    return error;
  };
  during_capture(blocking, kGlobal, elsewhere, kUnsupported, __LINE__);
  during_capture(blocking, kOfThread, elsewhere, kAllowed, __LINE__);
  cudaFree(more);
  auto mode = kRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  during_capture(blocking, kGlobal, allocate, kAllowed, __LINE__);
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaFree(more);

  // What waits for the stream itself, or for all.
  for (const cudaStream_t stream : {blocking, independent}) {
    during_capture(
        stream, kRelaxed, [&] { return cudaStreamSynchronize(stream); }, kUnsupported, __LINE__);
    during_capture(
        stream, kRelaxed, [] { return cudaDeviceSynchronize(); }, kUnsupported, __LINE__);
    during_capture(
        stream, kRelaxed, [&] { return cudaGraphLaunch(ready, stream); }, kUnsupported, __LINE__);
  }

  // The default stream waits for blocking streams, and they for it.
  const auto launch = [] { return nothing<<<1, 1>>>(), cudaGetLastError(); };
  during_capture(blocking, kRelaxed, copy, kImplicit, __LINE__);
  during_capture(independent, kGlobal, copy, kAllowed, __LINE__);
  during_capture(blocking, kRelaxed, launch, kImplicit, __LINE__);
  during_capture(independent, kGlobal, launch, kAllowed, __LINE__);
  during_capture(
      blocking, kRelaxed, [&] { return cudaEventRecord(event, nullptr); }, kImplicit, __LINE__);

  // Events say where in the graph they are, in one capture.
  const auto recorded = [&](auto then) {
    return [=] { return cudaEventRecord(event, blocking), then(); };
  };
  during_capture(blocking, kGlobal, recorded([&] { return cudaEventQuery(event); }),
                 forbidden(cudaErrorCapturedEvent), __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return cudaStreamWaitEvent(blocking, before); },
      forbidden(cudaErrorStreamCaptureIsolation), __LINE__);
  during_capture(
      independent, kGlobal,
      [&] { return cudaEventRecord(event, independent), cudaStreamWaitEvent(nullptr, event); },
      kImplicit, __LINE__);
  during_capture(blocking, kGlobal, recorded([] { return cudaSuccess; }), kAllowed, __LINE__);
  expect_error(cudaEventQuery(event), cudaErrorInvalidValue, __LINE__);
  expect_error(cudaStreamWaitEvent(other, event), cudaErrorInvalidValue, __LINE__);
  cudaEventRecord(event, other);
  expect_error(cudaEventSynchronize(event), cudaSuccess, __LINE__);
  cudaStreamBeginCapture(independent, kRelaxed);
  cudaEventRecord(event, independent);
  during_capture(
      blocking, kRelaxed, [&] { return cudaStreamWaitEvent(blocking, event); },
      forbidden(cudaErrorStreamCaptureMerge), __LINE__);
  cudaStreamEndCapture(independent, &graph);
  cudaGetLastError();

  // What is on another stream has to be waited for.
  const auto fork = [&] {
    return cudaEventRecord(event, blocking), cudaStreamWaitEvent(other, event);
  };
  const auto join = [&] {
    return cudaEventRecord(event, other), cudaStreamWaitEvent(blocking, event);
  };
  const auto work = [&] { return nothing<<<1, 1, 0, other>>>(), cudaGetLastError(); };
  const Answer unjoined = {.of_end = cudaErrorStreamCaptureUnjoined};
  during_capture(blocking, kGlobal, fork, kAllowed, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return fork(), work(); }, unjoined, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return fork(), work(), join(); }, kAllowed, __LINE__);
  during_capture(
      blocking, kGlobal, [&] { return fork(), work(), join(), work(); }, unjoined, __LINE__);

  // One that is waited for may go.
  const auto come_and_go = [&] {
    cudaStream_t passing;
    cudaStreamCreateWithFlags(&passing, cudaStreamNonBlocking);
    cudaEventRecord(event, blocking);
    cudaStreamWaitEvent(passing, event);
    nothing<<<1, 1, 0, passing>>>();
    cudaEventRecord(event, passing);
    cudaStreamWaitEvent(blocking, event);
    return cudaStreamDestroy(passing);
  };
  during_capture(blocking, kGlobal, come_and_go, kAllowed, __LINE__);

  during_capture(
      blocking, kGlobal, [&] { return fork(), cudaStreamEndCapture(other, &graph); },
      forbidden(cudaErrorStreamCaptureUnmatched), __LINE__);

  // A launch that fails, and an end in another thread.
  during_capture(
      blocking, kGlobal, [&] { return nothing<<<1, 1, 1 << 20, blocking>>>(), cudaGetLastError(); },
      forbidden(cudaErrorInvalidValue), __LINE__);
  cudaStreamBeginCapture(blocking, kGlobal);
  std::thread([&] {
    expect_error(cudaStreamEndCapture(blocking, &graph), cudaErrorStreamCaptureWrongThread,
                 __LINE__);
  }).join();
  expect_error(cudaStreamEndCapture(blocking, &graph), cudaErrorIllegalState, __LINE__);
  return verdict();
}
