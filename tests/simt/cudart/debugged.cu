// What debug_test.cpp stops: kernels with variables of all kinds.
#include <cstdio>

struct Pair {
  float left;
  int right[2];
};

enum class Colour { red, green };

__constant__ float weights[3] = {1, 2, 3};

__device__ float weighted(float value, int which) {
  float product = value * weights[which];  // in weighted
  return product;
}

__forceinline__ __device__ float halved(float whole) {
  const float part = whole / 2;
  return part;
}

__device__ int triangle(int n) {
  int here = n;
  if (n == 0) return 0;  // in triangle
  const int below = triangle(n - 1);
  return below + here;
}

__global__ void sums(const float* in, float* out, int n) {
  __shared__ float tile[32];
  extern __shared__ int counts[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;  // begin
  float4 four = make_float4(i, 2, 3, 4);
  Pair pair{0.5f, {i, 7}};
  const Colour colour = Colour::green;
  bool is_inside = i < n;
  double grid[2][2] = {{0.25, 1}, {2, 3}};
  tile[threadIdx.x] = is_inside ? in[i] : 0.0f;  // fill
  counts[threadIdx.x] = 10 * i;
  __syncthreads();                                                                // meet
  float total = four.x * 0 + pair.left * 0 + static_cast<float>(grid[0][0]) * 0;  // behind
  for (int k = 0; k < 3; ++k) {
    total += weighted(tile[(threadIdx.x + k) % 32], k);  // add
  }
  total += halved(0.0f);  // inlined
  if (colour == Colour::green) total += triangle(2);
  out[i] = total;  // store
}

__global__ void races(float* out) {
  __shared__ float one[64];
  one[threadIdx.x] = 1;
  out[threadIdx.x] = one[63 - threadIdx.x];  // races
}

__global__ void goes_on(int* out, int rounds) {
  for (int i = 0; i < rounds; ++i) out[threadIdx.x] += i;
}

int main(int argc, char** argv) {
  float *in, *out;
  cudaMalloc(&in, 64 * sizeof(float));
  cudaMalloc(&out, 64 * sizeof(float));
  float values[64];
  for (int i = 0; i < 64; ++i) values[i] = static_cast<float>(i);
  cudaMemcpy(in, values, sizeof values, cudaMemcpyHostToDevice);
  const char which = argc > 1 ? argv[1][0] : 's';
  if (which == 's') sums<<<2, 32, 32 * sizeof(int)>>>(in, out, 64);
  if (which == 'r') races<<<1, 64>>>(out);
  if (which == 'g') {
    cudaMemset(out, 0, sizeof values);
    goes_on<<<1, 32>>>(reinterpret_cast<int*>(out), 2'000'000'000);
  }
  cudaMemcpy(values, out, sizeof values, cudaMemcpyDeviceToHost);
  std::printf("%g %g\n", values[0], values[37]);
}
