// Addresses that come out of memory, functions that call themselves, and counts that only memory knows.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

struct Node {
  Node* next;
  float value;
  int key;
};

// Every lane starts at another node; lists end after different numbers of them.
__global__ void link_nodes(Node* nodes, const int* steps, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int to = i + 1 + steps[i] % 5;
  nodes[i].next = to < n ? &nodes[to] : nullptr;
  nodes[i].value = static_cast<float>(i % 11);
  nodes[i].key = i * 3;
  out[i] = static_cast<float>(to);
}
__global__ void sum_of_list(const Node* nodes, float* out, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (const Node* at = &nodes[i * step]; at != nullptr; at = at->next) sum += at->value;
  out[i] = sum;
}
__global__ void key_in_list(const Node* nodes, float* out, int step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const Node* at = &nodes[i * step];
  int rounds = 0;
  while (at != nullptr && at->key < 900) {
    at = at->next;
    ++rounds;
  }
  out[i] = at != nullptr ? at->value + rounds : -1;
}

// The next index by the last one's element.
__global__ void chained_indices(const int* next, float* out, int rounds) {
  int at = threadIdx.x;
  for (int r = 0; r < rounds; ++r) at = (at * 5 + next[at]) & 1023;
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(at);
}
__global__ void chained_in_shared_memory(const int* next, float* out, int rounds) {
  __shared__ int table[1024];
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) table[i] = (i * 5 + next[i]) & 1023;
  __syncthreads();
  int at = threadIdx.x;
  for (int r = 0; r < rounds; ++r) at = table[at];
  out[threadIdx.x] = static_cast<float>(at);
}

// Keys by linear probing: 2 i is at the first free place from 6 i on.
__global__ void look_up(const int* keys, const int* wanted, float* out, int mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, key = wanted[i];
  int at = key * 3 & mask;
  while (keys[at] != key && keys[at] != -1) at = (at + 1) & mask;
  out[i] = keys[at] == key ? static_cast<float>(at) : -1;
}

// Of a whole binary tree in an array, below one of its nodes: by calls, and by a stack of its own.
__device__ __noinline__ float sum_below(const float* tree, int node, int nodes) {
  if (node >= nodes) return 0;
  return tree[node] + sum_below(tree, 2 * node + 1, nodes) - sum_below(tree, 2 * node + 2, nodes);
}
__global__ void tree_by_calls(const float* tree, float* out, int nodes) {
  out[threadIdx.x] = sum_below(tree, threadIdx.x, nodes);
}
__global__ void tree_by_a_stack(const float* tree, float* out, int nodes) {
  int stack[12], top = 0;
  float sum = 0;
  stack[top++] = threadIdx.x;
  while (top > 0) {
    const int node = stack[--top];
    sum += tree[node];
    if (2 * node + 2 < nodes) stack[top++] = 2 * node + 2;
    if (2 * node + 1 < nodes) stack[top++] = 2 * node + 1;
  }
  out[threadIdx.x] = sum;
}
__device__ __noinline__ int greatest_divisor(int a, int b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}
__global__ void divisors(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = greatest_divisor(i + 1, in[i] * 12);
}

// A count and a step that are read by each block, and by each warp.
__global__ void counts_of_blocks(const int* counts, const float* in, float* out) {
  const int n = counts[blockIdx.x] * 3 + 1;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i * blockDim.x + threadIdx.x];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
__global__ void counts_of_warps(const int* counts, const float* in, float* out, int step) {
  __shared__ float tile[256];
  const int t = threadIdx.x;
  tile[t] = in[t];
  __syncthreads();
  const int n = counts[t / 32];
  float sum = 0;
#pragma unroll 2
  for (int i = 0; i < n; ++i) sum += tile[(t + i * step) & 255] * in[i];
  out[t] = sum;
}

}  // namespace

void chains() {
  constexpr int n = 512;
  Array<int> numbers(2048), results(512);
  Array<float> in(16384), out(2048);
  Node* nodes = nullptr;
  require(cudaMalloc(&nodes, n * sizeof(Node)), "cudaMalloc");
  link_nodes<<<4, 128>>>(nodes, numbers.data(), out.data(), n);
  tell("nodes linked", out);
  sum_of_list<<<2, 64>>>(nodes, out.data(), 4);
  tell("sum of a list", out);
  key_in_list<<<2, 64>>>(nodes, out.data(), 3);
  tell("key in a list", out);
  cudaFree(nodes);
  chained_indices<<<2, 128>>>(numbers.data(), out.data(), 9);
  tell("chained indices", out);
  chained_in_shared_memory<<<1, 128>>>(numbers.data(), out.data(), 9);
  tell("chained in shared memory", out);
  {
    std::vector<int> keys(512, -1), wanted(256);
    for (int i = 0; i < 300; ++i) {
      int at = i * 6 & 511;
      while (keys[at] != -1) at = (at + 1) & 511;
      keys[at] = 2 * i;
    }
    for (int i = 0; i < 256; ++i) wanted[i] = i * 7 % 640;
    Array<int> table(512), asked(256);
    require(cudaMemcpy(table.data(), keys.data(), 2048, cudaMemcpyHostToDevice), "cudaMemcpy");
    require(cudaMemcpy(asked.data(), wanted.data(), 1024, cudaMemcpyHostToDevice), "cudaMemcpy");
    look_up<<<2, 128>>>(table.data(), asked.data(), out.data(), 511);
    tell("look up", out);
  }
  tree_by_calls<<<1, 64>>>(in.data(), out.data(), 1023);
  tell("tree by calls", out);
  tree_by_a_stack<<<1, 64>>>(in.data(), out.data(), 1023);
  tell("tree by a stack", out);
  divisors<<<2, 128>>>(numbers.data(), results.data());
  tell("divisors", results);
  counts_of_blocks<<<6, 64>>>(numbers.data(), in.data(), out.data());
  tell("counts of blocks", out);
  counts_of_warps<<<1, 256>>>(numbers.data(), in.data(), out.data(), 5);
  tell("counts of warps", out);
}

}  // namespace fidelity
