// Lanes that part and meet: branches, loops of different length, early returns, switches, local arrays, calls.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__global__ void branch_by_lane(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i % 2 == 0) {
    out[i] = in[i] * 2;
  } else {
    out[i] = in[n - i] + in[i / 2];
  }
}

__global__ void branch_by_warp(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i / 32 % 2 == 0) {
    out[i] = in[i] * 2;
  } else {
    out[i] = in[n - i] + in[i / 2];
  }
}

__global__ void loops_of_lanes(const int* lengths, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < lengths[i]; ++k) sum += in[(i * 13 + k) % n];
  out[i] = sum;
}

__global__ void leaves_a_loop(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i, steps = 0;
#pragma unroll 1
  while (steps < 50) {
    at = (at * 5 + in[at]) % n;
    if (at % 11 == 0) break;
    ++steps;
  }
  out[i] = steps;
}

__global__ void continues_a_loop(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
#pragma unroll 1
  for (int k = 0; k < 9; ++k) {
    const int value = in[(i + k) % n];
    if (value % 3 == 0) continue;
    sum += in[(value * 31 + i) % n];
  }
  out[i] = sum;
}

__global__ void nested_branches(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int value = in[i];
  int result = in[(i * 3) % n];
  if (value < 6) {
    if (i % 4 < 2) {
      result += in[(i * 7) % n];
    } else {
      result -= in[(i * 11) % n];
    }
    result *= in[(i * 17) % n];
  }
  out[i] = result;
}

__global__ void cases_of_a_switch(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  switch (in[i] % 5) {
    case 0:
      out[i] = in[(i + 1) % n];
      break;
    case 1:
      out[i] = in[(i + 2) % n] * 3;
      break;
    case 2:
      out[i] = in[(i * 2) % n] - in[(i * 3) % n];
      break;
    case 3:
      out[i] = 7;
      break;
    default:
      out[i] = in[(i * 5) % n] << 2;
  }
}

__global__ void returns_early(const float* in, float* out, int n) {
  __shared__ float tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  if (threadIdx.x >= 77) return;
  out[i] = tile[threadIdx.x + 3];
  if (threadIdx.x % 5 == 0) return;
  out[i] += tile[threadIdx.x / 2];
}

__global__ void short_circuit(const float* in, float* out, int rows, int columns) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < columns && y < rows && (x + y) % 3 != 0 && in[y * columns + x] > 4) {
    out[y * columns + x] = in[y * columns + (x + 1) % columns];
  }
}

__global__ void chosen_address(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float* from = i % 3 == 0 ? a : b;
  out[i] = from[i] + (i % 2 ? from[n - 1 - i] : 0.0f);
}

// An index that is known only at run time keeps the array in local memory.
__global__ void local_array(const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float values[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) values[k] = static_cast<float>(i * k);
  if (i < n) out[i] = values[index[i] & 7];
}

__device__ __noinline__ float called(const float* in, int i, int n) { return in[(i * 9) % n] * 2; }

__global__ void calls_a_function(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = called(in, i, n);
  if (i % 4 == 1) sum += called(in, i + 5, n);
  out[i] = sum;
}

__global__ void binary_search(const int* sorted, const int* keys, int* out, int count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int key = keys[i] * 11 + i % 5;
  int low = 0, high = count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  out[i] = low;
}

__global__ void fill_sorted(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = i * 2;
}

__global__ void collatz(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int value = i + 1, steps = 0;
  while (value != 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++steps;
  }
  out[i] = steps;
}

__global__ void mandelbrot(int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const float cx = -2 + 2.5f * x / width, cy = -1 + 2.0f * y / height;
  float zx = 0, zy = 0;
  int step = 0;
  while (step < 40 && zx * zx + zy * zy < 4) {
    const float next = zx * zx - zy * zy + cx;
    zy = 2 * zx * zy + cy;
    zx = next;
    ++step;
  }
  out[y * width + x] = step;
}

}  // namespace

void control_flow() {
  constexpr int kN = 1000;
  Array<float> in(4096), out(4096);
  Array<int> numbers(4096), more(4096);
  branch_by_lane<<<8, 128>>>(in.data(), out.data(), kN);
  tell("branch by lane", out);
  branch_by_warp<<<8, 128>>>(in.data(), out.data(), kN);
  tell("branch by warp", out);
  loops_of_lanes<<<8, 128>>>(numbers.data(), in.data(), out.data(), kN);
  tell("loops of lanes", out);
  leaves_a_loop<<<8, 128>>>(numbers.data(), more.data(), kN);
  tell("leaves a loop", more);
  continues_a_loop<<<8, 128>>>(numbers.data(), more.data(), kN);
  tell("continues a loop", more);
  nested_branches<<<8, 128>>>(numbers.data(), more.data(), kN);
  tell("nested branches", more);
  cases_of_a_switch<<<8, 128>>>(numbers.data(), more.data(), kN);
  tell("switch", more);
  returns_early<<<8, 128>>>(in.data(), out.data(), kN);
  tell("returns early", out);
  short_circuit<<<dim3(2, 8), dim3(24, 4)>>>(in.data(), out.data(), 30, 45);
  tell("short circuit", out);
  chosen_address<<<8, 128>>>(in.data(), in.data() + 2000, out.data(), kN);
  tell("chosen address", out);
  local_array<<<8, 128>>>(numbers.data(), out.data(), kN);
  tell("local array", out);
  calls_a_function<<<8, 128>>>(in.data(), out.data(), kN);
  tell("calls a function", out);
  fill_sorted<<<2, 128>>>(more.data(), 200);
  tell("fill", more);
  Array<int> found(4096);
  binary_search<<<8, 128>>>(more.data(), numbers.data(), found.data(), 200, kN);
  tell("binary search", found);
  collatz<<<4, 64>>>(more.data(), 250);
  tell("collatz", more);
  mandelbrot<<<dim3(3, 6), dim3(16, 8)>>>(more.data(), 48, 44);
  tell("mandelbrot", more);
}

}  // namespace fidelity
