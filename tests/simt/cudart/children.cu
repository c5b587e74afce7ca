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
  out[0] = 5;
  *errors += cudaMemsetAsync(out + 2, 1, 2 * sizeof(int)) != cudaSuccess;
  *errors +=
      cudaMemcpyAsync(out + 4, out, 4 * sizeof(int), cudaMemcpyDeviceToDevice) != cudaSuccess;
  *errors += cudaMemcpy2DAsync(out + 8, 2 * sizeof(int), out + 4, sizeof(int), sizeof(int), 4,
                               cudaMemcpyDeviceToDevice) != cudaSuccess;
  *errors += cudaMemset2DAsync(out + 9, 2 * sizeof(int), 0, sizeof(int), 3) != cudaSuccess;
  int device = -1, count = 0, threads = 0;
  *errors += cudaGetDevice(&device) != cudaSuccess || device != 0;
  *errors += cudaGetDeviceCount(&count) != cudaSuccess || count != 1;
  *errors +=
      cudaDeviceGetAttribute(&threads, cudaDevAttrWarpSize, 0) != cudaSuccess || threads != 32;
}

__device__ int is_text(const char* text, const char* wanted) {
  for (; *text == *wanted; ++text, ++wanted) {
    if (*text == '\0') return 1;
  }
  return 0;
}

__global__ void asks(int* volume, int* errors) {
  *errors += !is_text(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  *errors += !is_text(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  std::size_t stack = 0;
  *errors += cudaDeviceGetLimit(&stack, cudaLimitStackSize) != cudaSuccess || stack != 1024;
  int version = 0, blocks = 0;
  *errors += cudaRuntimeGetVersion(&version) != cudaSuccess || version != CUDART_VERSION;
  *errors += cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, asks, 1024, 0) != cudaSuccess ||
             blocks != 2;
  cudaFuncAttributes attributes;
  *errors += cudaFuncGetAttributes(&attributes, asks) != cudaSuccess ||
             attributes.maxThreadsPerBlock != 1024;
  // Of a volume of 2 x 2 x 4 the second plane, then the first column of all.
  const cudaPitchedPtr plane = {volume + 4, 2 * sizeof(int), 2, 2};
  *errors += cudaMemset3DAsync(plane, 1, cudaExtent{2 * sizeof(int), 2, 1}) != cudaSuccess;
  cudaMemcpy3DParms column = {};
  column.srcPtr = column.dstPtr = cudaPitchedPtr{volume, 2 * sizeof(int), 2, 2};
  column.dstPos = cudaPos{sizeof(int), 0, 0};
  column.extent = cudaExtent{sizeof(int), 2, 3};
  column.kind = cudaMemcpyDeviceToDevice;
  *errors += cudaMemcpy3DAsync(&column) != cudaSuccess;
}

static void kernels_ask(int* volume, int* errors) {
  for (int i = 0; i < 16; ++i) volume[i] = i;
  *errors = 0;
  asks<<<1, 1>>>(volume, errors);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, __LINE__);
  const int one = 0x1010101;
  const int wanted[16] = {0, 0, 2, 2, one, one, one, one, 8, 8, 10, 10, 12, 13, 14, 15};
  for (int i = 0; i < 16; ++i) expect(volume[i] == wanted[i], "volumes", __LINE__);
  expect(*errors == 0, "kernels may ask", __LINE__);
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
  kernels_ask(out, errors);
  return verdict();
}
