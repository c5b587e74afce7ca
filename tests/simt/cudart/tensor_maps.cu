// Tensor maps by the driver's own names.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

int main() {
  float* data = nullptr;
  if (cudaMalloc(&data, 4096) != cudaSuccess) return 1;
  CUtensorMap map;
  const cuuint64_t sizes[] = {32, 32}, strides[] = {128};
  const cuuint32_t steps[] = {1, 1};
  const auto encode = [&](cuuint32_t columns) {
    const cuuint32_t box[] = {columns, 8};
    return cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, data, sizes, strides,
                                  box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  if (encode(16) != CUDA_SUCCESS) return 2;
  if (encode(3) != CUDA_ERROR_INVALID_VALUE) return 3;
  if (cuTensorMapReplaceAddress(&map, data + 4) != CUDA_SUCCESS) return 4;
  if (cuTensorMapReplaceAddress(&map, data + 1) != CUDA_ERROR_INVALID_VALUE) return 5;
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                       cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess || function == nullptr) {
    return 6;
  }
  std::puts("all right");
  return cudaFree(data) == cudaSuccess ? 0 : 7;
}
