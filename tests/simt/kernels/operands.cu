// Structures that are arguments and results of device functions: g++ sees the memory they move
// through only where it inlines the function, as nvcc does. And vectors in shared arrays of floats.
#include <cuda_runtime.h>

#include <new>

#include "device_array.hpp"
#include "operands.hpp"

namespace operands {
namespace {

constexpr int kLanes = 32;

struct Complex {
  float x, y;
};
struct Six {
  float x[6];
};
struct alignas(16) Packed {
  float v[4];
};

__device__ Complex multiply(Complex a, Complex b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
__device__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
__device__ Six make_six(float first) {
  Six six;
  for (int i = 0; i < 6; ++i) six.x[i] = first + i;
  return six;
}
__device__ Packed load(const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  return {{v.x, v.y, v.z, v.w}};
}
__device__ void sum_of(Six six, float* to) { *to = six.x[0] + six.x[5]; }
// A function that cannot be inlined into itself.
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
// Functions that call each other by turns: what is added last must still be there then.
__host__ __device__ __noinline__ int uneven(const int* in, int depth);
__host__ __device__ __noinline__ int even(const int* in, int depth) {
  const int own = in[depth];
  return depth == 0 ? own : own + 2 * uneven(in, depth - 1);
}
__host__ __device__ __noinline__ int uneven(const int* in, int depth) {
  const int own = in[depth];
  return depth == 0 ? own : own + 3 * even(in, depth - 1);
}
struct Shape {
  virtual __device__ float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};

__global__ void result_of_arguments(Complex* data) {
  data[threadIdx.x] = multiply(data[threadIdx.x], data[threadIdx.x]);
}
__global__ void result_of_operator(Complex* data) {
  data[threadIdx.x] = data[threadIdx.x] + multiply(data[threadIdx.x], data[threadIdx.x]);
}
__global__ void result_is_stored(Six* out) { out[threadIdx.x] = make_six(threadIdx.x); }
__global__ void result_is_constructed(Six* out) {
  new (&out[threadIdx.x]) Six(make_six(threadIdx.x));
}
__global__ void argument_is_loaded(const Six* in, float* out) {
  sum_of(in[threadIdx.x], &out[threadIdx.x]);
}
__global__ void result_is_shared(const float* in, float* out) {
  extern __shared__ char raw[];
  Packed* tile = reinterpret_cast<Packed*>(raw);
  tile[threadIdx.x] = load(in + 4 * threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[kLanes - 1 - threadIdx.x].v[0];
}
__global__ void calls_that_stay(float* out) {
  const Square square(3.0f);
  const Shape* shape = threadIdx.x < 99 ? &square : nullptr;
  int (*function)(int) = factorial;
  out[threadIdx.x] = shape->area() + function(static_cast<int>(threadIdx.x % 4));
}

__global__ void stores_out_of_bounds(Six* out) {
  out[threadIdx.x] = make_six(threadIdx.x);  // BUG stores_out_of_bounds
}
__global__ void loads_out_of_bounds(const Six* in, float* out) {
  sum_of(in[threadIdx.x], &out[threadIdx.x]);  // BUG loads_out_of_bounds
}
__global__ void races_by_a_result(float* out) {
  __shared__ Complex tile[kLanes];
  tile[threadIdx.x] = multiply({1, 0}, {float(threadIdx.x), 0});  // BUG races_by_a_result
  out[threadIdx.x] = tile[kLanes - 1 - threadIdx.x].x;
}

// A variable that belongs to no other kernel's array must not shift it.
__global__ void owns_a_flag(int* out) {
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 1;
  __syncthreads();
  out[threadIdx.x] = flag;
}
template <typename T, int N>
__device__ void copy_by_vectors(const float4* in, float4* out) {
  __shared__ T tile[N];
  __shared__ T other[2][N / 2];
  float4* vectors = reinterpret_cast<float4*>(&tile[4 * threadIdx.x]);
  *vectors = in[threadIdx.x];
  reinterpret_cast<float4*>(other)[threadIdx.x] = *vectors;
  __syncthreads();
  out[threadIdx.x] = reinterpret_cast<float4*>(other)[threadIdx.x];
}
__global__ void vectors_in_shared_arrays(const float4* in, float4* out) {
  copy_by_vectors<float, 4 * kLanes>(in, out);
}

__global__ void calls_by_turns(const int* in, int* out) {
  out[threadIdx.x] = even(in, static_cast<int>(threadIdx.x % 8));
}

__global__ void read_clock(clock_t* out) {
  out[0] = clock();
  out[1] = clock();
}

template <typename T>
std::vector<T> zeros(int count) {
  return std::vector<T>(static_cast<std::size_t>(count));
}

}  // namespace

std::vector<Case> counted() {
  // 32 lanes: 8 bytes are 8 sectors, 4 floats of 24 bytes apart 24 sectors each time, and so on.
  return {
      {"result_of_arguments", 2, 16, 2, 16, 0,
       [] {
         DeviceArray<Complex> data(zeros<Complex>(kLanes));
         result_of_arguments<<<1, kLanes>>>(data.get());
       }},
      {"result_of_operator", 2, 16, 2, 16, 0,
       [] {
         DeviceArray<Complex> data(zeros<Complex>(kLanes));
         result_of_operator<<<1, kLanes>>>(data.get());
       }},
      {"result_is_stored", 0, 0, 6, 144, 0,
       [] {
         DeviceArray<Six> out(kLanes);
         result_is_stored<<<1, kLanes>>>(out.get());
       }},
      {"result_is_constructed", 0, 0, 6, 144, 0,
       [] {
         DeviceArray<Six> out(kLanes);
         result_is_constructed<<<1, kLanes>>>(out.get());
       }},
      {"argument_is_loaded", 2, 48, 1, 4, 0,
       [] {
         DeviceArray<Six> in(zeros<Six>(kLanes));
         DeviceArray<float> out(kLanes);
         argument_is_loaded<<<1, kLanes>>>(in.get(), out.get());
       }},
      {"result_is_shared", 1, 16, 1, 4, 1,
       [] {
         DeviceArray<float> in(zeros<float>(4 * kLanes));
         DeviceArray<float> out(kLanes);
         result_is_shared<<<1, kLanes, kLanes * sizeof(Packed)>>>(in.get(), out.get());
       }},
      {"calls_that_stay", 0, 0, 1, 4, 0,
       [] {
         DeviceArray<float> out(kLanes);
         calls_that_stay<<<1, kLanes>>>(out.get());
       }},
      {"vectors_in_shared_arrays", 1, 16, 1, 16, 2,
       [] {
         DeviceArray<float4> in(zeros<float4>(kLanes));
         DeviceArray<float4> out(kLanes);
         vectors_in_shared_arrays<<<1, kLanes>>>(in.get(), out.get());
       }},
      {"owns_a_flag", 0, 0, 1, 4, 0,
       [] {
         DeviceArray<int> out(kLanes);
         owns_a_flag<<<1, kLanes>>>(out.get());
       }},
  };
}

std::vector<Planted> planted() {
  return {
      {"stores_out_of_bounds", "out_of_bounds",
       [] {
         DeviceArray<Six> out(kLanes - 1);
         stores_out_of_bounds<<<1, kLanes>>>(out.get());
       }},
      {"loads_out_of_bounds", "out_of_bounds",
       [] {
         DeviceArray<Six> in(zeros<Six>(kLanes - 1));
         DeviceArray<float> out(kLanes);
         loads_out_of_bounds<<<1, kLanes>>>(in.get(), out.get());
       }},
      {"races_by_a_result", "race",
       [] {
         DeviceArray<float> out(kLanes);
         races_by_a_result<<<1, kLanes>>>(out.get());
       }},
  };
}

bool calls_by_turns_return_the_same() {
  std::vector<int> input(8), expected;
  for (int i = 0; i < 8; ++i) input[static_cast<std::size_t>(i)] = i * i + 1;
  DeviceArray<int> in(input), out(kLanes);
  calls_by_turns<<<1, kLanes>>>(in.get(), out.get());
  for (int t = 0; t < kLanes; ++t) expected.push_back(even(input.data(), t % 8));
  return out.download() == expected;
}

std::vector<long> clocks() {
  DeviceArray<clock_t> out(2);
  read_clock<<<1, 1>>>(out.get());
  return out.download();
}

}  // namespace operands
