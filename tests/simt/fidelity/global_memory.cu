// How lanes spread over global memory: widths, strides, structures, alignment, caches.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

template <typename T>
__global__ void copy_elements(const T* in, T* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

template <int kStride>
__global__ void strided_read(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * kStride];
}

__global__ void strided_by_argument(const float* in, float* out, int n, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i * stride % n] = in[i];
}

__global__ void misaligned_read(const float* in, float* out, int n, int offset) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}

struct Particle {
  float x, y, z, mass;
  float vx, vy, vz, charge;
};

__global__ void array_of_structures(Particle* particles, float step, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  particles[i].x += step * particles[i].vx;
  particles[i].y += step * particles[i].vy;
  particles[i].z += step * particles[i].vz;
}

__global__ void structure_of_arrays(float* __restrict__ x, const float* __restrict__ v, float step,
                                    int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] += step * v[i];
  x[i + n] += step * v[i + n];
  x[i + 2 * n] += step * v[i + 2 * n];
}

__global__ void whole_structure(const Particle* in, Particle* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];
}

struct alignas(16) Aligned {
  float x, y, z, w;
};

__global__ void aligned_structure(const Aligned* in, Aligned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Aligned one = in[i];
  out[i] = Aligned{one.w, one.z, one.y, one.x};
}

// Two of four components are used: ptxas may load fewer bytes than the source says.
__global__ void half_of_a_float4(const float4* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 one = in[i];
  out[i] = one.x + one.y;
}

__global__ void ends_of_a_float4(const float4* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 one = in[i];
  out[i] = one.x + one.w;
}

__global__ void last_of_a_float4(const float4* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i].w;
}

__global__ void four_neighbours(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 >= n) return;
  out[i] = in[i + 3];
  out[i + 1] = in[i + 2];
  out[i + 2] = in[i + 1];
  out[i + 3] = in[i];
}

__global__ void gather(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[(index[i] * 97 + i) % n];
}

__global__ void scatter(const int* index, const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[(i * 33 + index[i] * 0) % n] = in[i];
}

__global__ void grid_stride_sum(const float* in, float* out, int n) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = first; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  out[first] = sum;
}

__global__ void cache_hints(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __stcs(out + i, __ldcg(in + i) + __ldca(in + n - 1 - i) + __ldcs(in + i / 2));
}

__global__ void read_only(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ldg(in + i) + __ldg(in + (i + 1) % n);
}

__global__ void saxpy(float a, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void rows_of_a_matrix(const float* in, float* out, int rows, int columns) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int c = 0; c < columns; ++c) sum += in[row * columns + c];
  out[row] = sum;
}

__global__ void columns_of_a_matrix(const float* in, float* out, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= columns) return;
  float sum = 0;
  for (int r = 0; r < rows; ++r) sum += in[r * columns + column];
  out[column] = sum;
}

__global__ void volume(const float* in, float* out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] = in[(x * ny + y) * nz + z];
}

__constant__ float table[256] = {1, 2, 3, 4, 5, 6, 7, 8};

__global__ void constant_table(const int* index, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]] + table[3];
}

}  // namespace

void global_memory() {
  constexpr int kN = 5000;
  Array<float> in(32 * kN), out(32 * kN);
  Array<int> index(kN);
  Array<double> doubles(kN), more_doubles(kN);
  const int blocks = (kN + 127) / 128;
  copy_elements<<<blocks, 128>>>(in.as<char>(), out.as<char>(), kN);
  tell("copy char", out);
  copy_elements<<<blocks, 128>>>(in.as<short>(), out.as<short>(), kN);
  tell("copy short", out);
  copy_elements<<<blocks, 128>>>(in.as<int2>(), out.as<int2>(), kN);
  tell("copy int2", out);
  copy_elements<<<blocks, 128>>>(in.as<float3>(), out.as<float3>(), kN);
  tell("copy float3", out);
  copy_elements<<<blocks, 128>>>(in.as<float4>(), out.as<float4>(), kN);
  tell("copy float4", out);
  copy_elements<<<blocks, 128>>>(in.as<uchar4>(), out.as<uchar4>(), kN);
  tell("copy uchar4", out);
  copy_elements<<<blocks, 128>>>(doubles.as<double>(), more_doubles.as<double>(), kN);
  tell("copy double", more_doubles);
  strided_read<2><<<blocks, 128>>>(in.data(), out.data(), kN);
  tell("stride 2", out);
  strided_read<3><<<blocks, 96>>>(in.data(), out.data(), kN);
  tell("stride 3", out);
  strided_read<8><<<blocks, 128>>>(in.data(), out.data(), kN);
  tell("stride 8", out);
  strided_read<32><<<blocks, 128>>>(in.data(), out.data(), kN);
  tell("stride 32", out);
  strided_by_argument<<<blocks, 128>>>(in.data(), out.data(), kN, 7);
  tell("stride argument", out);
  for (const int offset : {1, 4, 8, 11}) {
    misaligned_read<<<blocks, 128>>>(in.data(), out.data(), kN, offset);
    tell("misaligned", out);
  }
  array_of_structures<<<blocks, 128>>>(out.as<Particle>(), 2.0f, kN / 2);
  tell("array of structures", out);
  structure_of_arrays<<<blocks, 128>>>(out.data(), in.data(), 2.0f, kN);
  tell("structure of arrays", out);
  whole_structure<<<blocks, 128>>>(in.as<Particle>(), out.as<Particle>(), 2000);
  tell("whole structure", out);
  aligned_structure<<<blocks, 128>>>(in.as<Aligned>(), out.as<Aligned>(), kN);
  tell("aligned structure", out);
  half_of_a_float4<<<blocks, 128>>>(in.as<float4>(), out.data(), kN);
  tell("half of a float4", out);
  ends_of_a_float4<<<blocks, 128>>>(in.as<float4>(), out.data(), kN);
  tell("ends of a float4", out);
  last_of_a_float4<<<blocks, 128>>>(in.as<float4>(), out.data(), kN);
  tell("last of a float4", out);
  four_neighbours<<<(kN / 4 + 127) / 128, 128>>>(in.data(), out.data(), kN);
  tell("four neighbours", out);
  gather<<<blocks, 128>>>(index.data(), in.data(), out.data(), kN);
  tell("gather", out);
  scatter<<<blocks, 128>>>(index.data(), in.data(), out.data(), kN);
  tell("scatter", out);
  grid_stride_sum<<<6, 160>>>(in.data(), out.data(), kN);
  tell("grid stride", out);
  cache_hints<<<blocks, 128>>>(in.data(), out.data(), kN);
  tell("cache hints", out);
  read_only<<<blocks, 128>>>(in.data(), out.data(), kN);
  tell("read only", out);
  saxpy<<<blocks, 128>>>(3.0f, in.data(), out.data(), kN);
  tell("saxpy", out);
  rows_of_a_matrix<<<2, 64>>>(in.data(), out.data(), 100, 37);
  tell("rows of a matrix", out);
  columns_of_a_matrix<<<2, 64>>>(in.data(), out.data(), 37, 100);
  tell("columns of a matrix", out);
  volume<<<dim3(3, 3, 4), dim3(8, 4, 4)>>>(in.data(), out.data(), 20, 11, 14);
  tell("volume", out);
  constant_table<<<blocks, 128>>>(index.data(), out.data(), kN);
  tell("constant table", out);
}

}  // namespace fidelity
