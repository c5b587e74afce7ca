// Calls through pointers to several functions, whose lanes meet again behind them, or do not.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct Shape {
  __device__ virtual float area(const float* sides) const = 0;
};
struct Square : Shape {
  int at;
  __device__ Square(int at) : at(at) {}
  __device__ float area(const float* sides) const override { return sides[at] * sides[at]; }
};
struct Rectangle : Shape {
  int at;
  __device__ Rectangle(int at) : at(at) {}
  __device__ float area(const float* sides) const override { return sides[at] * sides[at + 1]; }
};

__global__ void areas(const float* sides, float* out) {
  const int t = thread();
  const Square square(t);
  const Rectangle rectangle(t + 3);
  const Shape* const its = t % 3 == 1 ? static_cast<const Shape*>(&square) : &rectangle;
  out[t] = its->area(sides);
}

__global__ void areas_guarded(const float* sides, float* out, int n) {
  const int t = thread();
  const Square square(t);
  const Rectangle rectangle(t + 3);
  const Shape* const its = t % 3 == 1 ? static_cast<const Shape*>(&square) : &rectangle;
  float area = 0;
  if (t < n) area = its->area(sides);
  out[t] = area;
}

__global__ void areas_in_loop(const float* sides, float* out, int n) {
  const int t = thread();
  float area = 0;
  const Square square(t);
  const Rectangle rectangle(t + 3);
  for (int i = 0; i < n; ++i) {
    const Shape* const its = (t + i) % 3 == 1 ? static_cast<const Shape*>(&square) : &rectangle;
    area += its->area(sides + i) + sides[i];
  }
  out[t] = area;
}

__global__ void areas_synced(const float* sides, float* out) {
  const int t = thread();
  const Square square(t);
  const Rectangle rectangle(t + 3);
  const Shape* const its = t % 3 == 1 ? static_cast<const Shape*>(&square) : &rectangle;
  const float area = its->area(sides);
  __syncwarp();
  out[t] = area;
}

using Operation = float (*)(float, const float*);
__device__ __noinline__ float sum(float x, const float* by) { return x + by[3]; }
__device__ __noinline__ float product(float x, const float* by) { return x * by[7]; }
__device__ Operation table[2] = {sum, product};

__global__ void by_table(const float* in, float* out) {
  const int t = thread();
  const float result = table[t & 1](in[t], in);
  out[t] = result + in[t + 1];
}

}  // namespace

void calls_by_address() {
  Array<float> in(65536), out(65536, 2);
  areas<<<2, 64>>>(in.data(), out.data());
  tell("areas", out);
  areas_guarded<<<2, 64>>>(in.data(), out.data(), 111);
  tell("areas guarded", out);
  areas_in_loop<<<2, 64>>>(in.data(), out.data(), 5);
  tell("areas in loop", out);
  areas_synced<<<2, 64>>>(in.data(), out.data());
  tell("areas synced", out);
  by_table<<<2, 64>>>(in.data(), out.data());
  tell("by table", out);
}

}  // namespace fidelity
