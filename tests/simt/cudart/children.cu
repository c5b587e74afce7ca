// Kernels that launch kernels: what they are given, and in which order they run.
#include "expect.hpp"

struct Given {
  double factor;
  char what[6];
};

__global__ void leaf(int* out, Given given, short add) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = static_cast<int>(out[i] * given.factor) + add + given.what[5];
}
__global__ void last(int* out) { out[9] = out[0] + out[8]; }

__global__ void parent(int* out, int depth, int* errors) {
  out[8] += 1;
  if (depth > 0) {
    parent<<<1, 1>>>(out, depth - 1, errors);
    return;
  }
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
  Given given = {1, "1234"};
  given.what[5] = 3;
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  leaf<<<2, 2, 64, stream>>>(out, given, 40);
  given.factor = 0.5;
  leaf<<<2, 2, 0, stream>>>(out, given, -1);
  cudaStreamDestroy(stream);
  *errors += cudaGetLastError() != cudaSuccess;
}

// As children do, copies begin when the kernel that asks for them has ended.
__global__ void copies(int* out, int* errors) {
  *errors += cudaMemsetAsync(out + 2, 1, 2 * sizeof(int)) != cudaSuccess;
  *errors +=
      cudaMemcpyAsync(out + 4, out, 4 * sizeof(int), cudaMemcpyDeviceToDevice) != cudaSuccess;
  *errors += cudaMemcpy2DAsync(out + 8, 2 * sizeof(int), out + 4, sizeof(int), sizeof(int), 4,
                               cudaMemcpyDeviceToDevice) != cudaSuccess;
  *errors += cudaMemset2DAsync(out + 9, 2 * sizeof(int), 0, sizeof(int), 3) != cudaSuccess;
  out[0] = 5;
  int device = -1, count = 0, threads = 0;
  *errors += cudaGetDevice(&device) != cudaSuccess || device != 0;
  *errors += cudaGetDeviceCount(&count) != cudaSuccess || count != 1;
  *errors +=
      cudaDeviceGetAttribute(&threads, cudaDevAttrWarpSize, 0) != cudaSuccess || threads != 32;
}

static void copies_of_kernels(int* out, int* errors) {
  for (int i = 0; i < 16; ++i) out[i] = i;
  *errors = 0;
  copies<<<1, 1>>>(out, errors);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  const int wanted[16] = {5, 1, 0x1010101, 0x1010101, 5,         1, 0x1010101, 0x1010101,
                          5, 0, 1,         0,         0x1010101, 0, 0x1010101, 15};
  for (int i = 0; i < 16; ++i) expect(out[i] == wanted[i], "copies run in their order", __LINE__);
  expect(*errors == 0, "no error", __LINE__);
}

int main() {
  int *out, *errors;
  cudaMallocManaged(&out, 16 * sizeof(int));
  cudaMallocManaged(&errors, sizeof(int));
  for (int i = 0; i < 10; ++i) out[i] = i;
  *errors = 0;
  parent<<<1, 1>>>(out, 3, errors);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  for (int i = 0; i < 4; ++i) {
    expect(out[i] == (i + 43) / 2 + 2, "children run in their stream's order", __LINE__);
  }
  expect(out[8] == 12, "each level has run once", __LINE__);
  expect(out[9] == out[0] + out[8], "a tail launch comes last", __LINE__);
  expect(*errors == 0, "no error", __LINE__);
  copies_of_kernels(out, errors);
  return verdict();
}
