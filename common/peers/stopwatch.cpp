#include "common/peers/stopwatch.hpp"

#include <algorithm>
#include <chrono>

namespace halo::peers {

namespace {

// Milliseconds beside which the host's share of a call is nothing: no graph is needed.
constexpr double kLong = 100;

// Null if the calls can't be captured.
cudaGraphExec_t capture(const std::function<int()>& call, int calls) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  if (cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal) ==
      cudaSuccess) {
    bool good = true;
    for (int i = 0; i < calls && good; ++i) good = call() == cudaSuccess;
    good = cudaStreamEndCapture(cudaStreamPerThread, &graph) == cudaSuccess && good;
    if (good && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = nullptr;
    if (graph != nullptr) cudaGraphDestroy(graph);
  }
  cudaGetLastError();
  return ready;
}

}  // namespace

Stopwatch::Stopwatch() {
  cudaEventCreate(&start_);
  cudaEventCreate(&stop_);
}

Stopwatch::~Stopwatch() {
  cudaEventDestroy(start_);
  cudaEventDestroy(stop_);
}

double Stopwatch::once(const std::function<int()>& call, cudaError_t& code) {
  const auto begun = std::chrono::steady_clock::now();
  code = static_cast<cudaError_t>(call());
  if (code == cudaSuccess) code = cudaStreamSynchronize(cudaStreamPerThread);
  if (code != cudaSuccess) return -1;
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - begun;
  return taken.count();
}

double Stopwatch::time(const std::function<int()>& call, double expected, cudaError_t& code) {
  code = cudaSuccess;
  if (expected > kLong) return expected;
  const int calls = std::clamp(static_cast<int>(2.0 / expected), 1, 20);

  cudaGraphExec_t graph = capture(call, calls);
  double best = -1;
  for (int round = 0; round < 4 && code == cudaSuccess; ++round) {
    cudaEventRecord(start_, cudaStreamPerThread);
    if (graph != nullptr) {
      code = cudaGraphLaunch(graph, cudaStreamPerThread);
    } else {
      for (int i = 0; i < calls && code == cudaSuccess; ++i) {
        code = static_cast<cudaError_t>(call());
      }
    }
    cudaEventRecord(stop_, cudaStreamPerThread);
    if (code == cudaSuccess) code = cudaEventSynchronize(stop_);
    float taken = 0;
    if (code == cudaSuccess) code = cudaEventElapsedTime(&taken, start_, stop_);
    // The first round also uploads the graph.
    if (round > 0 && (best < 0 || taken < best)) best = taken;
  }
  if (graph != nullptr) cudaGraphExecDestroy(graph);
  return code == cudaSuccess ? best / calls : -1;
}

}  // namespace halo::peers
