// Graphs of work with conditional nodes, whose conditions kernels set.
#include "expect.hpp"

__global__ void countdown(int* left, cudaGraphConditionalHandle again) {
  --*left;
  cudaGraphSetConditional(again, *left > 0);
}

__global__ void choose(const int* number, cudaGraphConditionalHandle which) {
  cudaGraphSetConditional(which, *number);
}

__global__ void write(int* to, int value) { *to = value; }

template <class... Arguments>
static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t* before,
                                  void (*kernel)(Arguments...), Arguments... arguments) {
  void* pointers[] = {&arguments...};
  cudaGraphNodeParams its = {cudaGraphNodeTypeKernel};
  its.kernel.func = reinterpret_cast<void*>(kernel);
  its.kernel.gridDim = its.kernel.blockDim = dim3(1);
  its.kernel.kernelParams = pointers;
  cudaGraphNode_t node;
  expect_error(cudaGraphAddNode(&node, graph, before, nullptr, before != nullptr, &its),
               cudaSuccess, __LINE__);
  return node;
}

static cudaGraph_t* add_condition(cudaGraph_t graph, cudaGraphNode_t* before,
                                  cudaGraphConditionalHandle handle,
                                  cudaGraphConditionalNodeType type, unsigned bodies) {
  cudaGraphNodeParams its = {cudaGraphNodeTypeConditional};
  its.conditional.handle = handle;
  its.conditional.type = type;
  its.conditional.size = bodies;
  cudaGraphNode_t node;
  expect_error(cudaGraphAddNode(&node, graph, before, nullptr, before != nullptr, &its),
               cudaSuccess, __LINE__);
  return its.conditional.phGraph_out;
}

// At each launch the condition holds at first, as was asked.
static void a_body_goes_round(int* number) {
  cudaGraph_t graph;
  cudaGraphConditionalHandle again;
  cudaGraphCreate(&graph, 0);
  expect_error(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault),
               cudaSuccess, __LINE__);
  cudaGraph_t* const body = add_condition(graph, nullptr, again, cudaGraphCondTypeWhile, 1);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCaptureToGraph(stream, body[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal);
  countdown<<<1, 1, 0, stream>>>(number, again);
  expect_error(cudaStreamEndCapture(stream, nullptr), cudaSuccess, __LINE__);
  cudaGraphExec_t ready;
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  for (int launch = 0; launch < 2; ++launch) {
    *number = 5;
    expect_error(cudaGraphLaunch(ready, nullptr), cudaSuccess, __LINE__);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
    expect(*number == 0, "the body goes round while its condition holds", __LINE__);
  }
}

static void one_of_several_bodies_runs(cudaGraphConditionalNodeType type, unsigned bodies,
                                       int* number, int* written) {
  cudaGraph_t graph;
  cudaGraphConditionalHandle which;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandleCreate(&which, graph);
  cudaGraphNode_t first =
      add_kernel(graph, nullptr, choose, static_cast<const int*>(number), which);
  cudaGraph_t* const body = add_condition(graph, &first, which, type, bodies);
  for (unsigned i = 0; i < bodies; ++i)
    add_kernel(body[i], nullptr, write, written, 100 + static_cast<int>(i));
  cudaGraphExec_t ready;
  expect_error(cudaGraphInstantiate(&ready, graph, 0), cudaSuccess, __LINE__);
  for (int value = 0; value < 4; ++value) {
    *number = value;
    *written = -1;
    cudaGraphLaunch(ready, nullptr);
    expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
    const int chosen = type == cudaGraphCondTypeSwitch ? value : value == 0;
    expect(*written == (chosen < static_cast<int>(bodies) ? 100 + chosen : -1),
           "the body that the condition names runs", __LINE__);
  }
}

int main() {
  int *number, *written;
  cudaMallocManaged(&number, sizeof(int));
  cudaMallocManaged(&written, sizeof(int));
  a_body_goes_round(number);
  one_of_several_bodies_runs(cudaGraphCondTypeIf, 1, number, written);
  one_of_several_bodies_runs(cudaGraphCondTypeIf, 2, number, written);
  one_of_several_bodies_runs(cudaGraphCondTypeSwitch, 3, number, written);
  return verdict();
}
