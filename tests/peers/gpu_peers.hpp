// What the tests of the GPU peers share: the peers that are there, and what a call that is timed may not do.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/harness/core/variant.hpp"
#include "tests/backend.hpp"

namespace halo::test {

// Those whose library is there. Skips the test case if there are none.
template <class Peer>
std::vector<Peer> peers_there(const std::vector<Peer>& all) {
  std::vector<Peer> found;
  std::string reason = "there are no peers";
  for (const Peer& one : all) {
    if (one.role != Role::peer) continue;
    if (one.unavailable.empty()) {
      found.push_back(one);
    } else {
      reason = one.unavailable;
    }
  }
  if (found.empty()) skip(reason);
  return found;
}

inline void begin_capture() {
  REQUIRE(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeThreadLocal) ==
          cudaSuccess);
}

// A plan or a choice is made outside of a capture or not at all.
template <class Call>
void require_no_first_call_in_a_capture(const Call& call) {
  begin_capture();
  CHECK(call() == cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(cudaStreamPerThread, &graph) == cudaSuccess);
  if (graph != nullptr) cudaGraphDestroy(graph);
  cudaGetLastError();
}

// The calls again, from a graph: they may neither allocate nor wait.
template <class... Calls>
void replay(const Calls&... calls) {
  begin_capture();
  const std::vector<int> codes = {calls()...};
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(cudaStreamPerThread, &graph);
  for (const int code : codes) CHECK(code == cudaSuccess);
  REQUIRE(ended == cudaSuccess);
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(ready, cudaStreamPerThread) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
}

// Exactly: each of these calls would take 4 MB and more if it kept anything of its own.
template <class Call>
void require_no_allocation(Backend& backend, const Call& call) {
  const std::int64_t free = backend.free_memory();
  for (int i = 0; i < 3; ++i) REQUIRE(call() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(backend.free_memory() == free);
}

}  // namespace halo::test
