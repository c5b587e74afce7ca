// What cuBLAS's routines share: a call, and matrices of the device. Plain loops on the host, in double precision. Operands
// are copied from the device and results to it by the runtime library, in the handle's stream, so that bounds and what
// nobody wrote are checked; the work itself is not counted, and a line on stderr says so. Unlike cuBLAS, a call waits for
// its stream.
#pragma once

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

// The handle's type is cuBLAS's; what is in it is ours.
struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointer_mode = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
};

namespace simt::cublas {

inline void say_once_what_this_is() {
  static std::atomic_flag is_said;
  if (is_said.test_and_set()) return;
  std::fputs(
      "simt: note: cuBLAS is a plain implementation on the host here: its results are right to "
      "rounding, its traffic is not counted\n",
      stderr);
}

// A failure ends the call, with its status.
struct Failed {
  cublasStatus_t status;
};

inline void require(bool is_right, cublasStatus_t status = CUBLAS_STATUS_INVALID_VALUE) {
  if (!is_right) throw Failed{status};
}
inline void require(cudaError_t error) {
  require(error == cudaSuccess, CUBLAS_STATUS_EXECUTION_FAILED);
}

template <typename Call>
cublasStatus_t status_of(cublasHandle_t handle, const Call& call) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  say_once_what_this_is();
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(handle->stream, &capture);
  if (capture == cudaStreamCaptureStatusActive) {
    std::fputs("simt: cuBLAS in a stream that is captured is not in the simulator\n", stderr);
  }
  try {
    call();
    return CUBLAS_STATUS_SUCCESS;
  } catch (const Failed& failed) {
    return failed.status;
  } catch (const std::bad_alloc&) {
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
}

// A matrix of the device, by columns, on the host: no more is read or written than its rows.
template <typename T>
class Matrix {
 public:
  Matrix(cublasHandle_t handle, const T* device, int rows, int columns, int leading)
      : stream_(handle->stream), rows_(rows), columns_(columns), leading_(leading) {
    require(rows >= 0 && columns >= 0 && leading >= (rows > 1 ? rows : 1));
    cells_.resize(static_cast<std::size_t>(rows) * columns);
    if (device != nullptr) copy(cells_.data(), rows, device, leading, cudaMemcpyDeviceToHost);
  }
  T& at(int row, int column) { return cells_[static_cast<std::size_t>(column) * rows_ + row]; }
  void write_to(T* device) { copy(device, leading_, cells_.data(), rows_, cudaMemcpyHostToDevice); }

 private:
  void copy(T* to, int to_leading, const T* from, int from_leading, cudaMemcpyKind kind) {
    if (cells_.empty()) return;
    require(cudaMemcpy2DAsync(to, sizeof(T) * to_leading, from, sizeof(T) * from_leading,
                              sizeof(T) * rows_, columns_, kind, stream_));
    require(cudaStreamSynchronize(stream_));
  }

  cudaStream_t stream_;
  int rows_, columns_, leading_;
  std::vector<T> cells_;
};

template <typename T>
T number(cublasHandle_t handle, const T* where) {
  require(where != nullptr);
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) return *where;
  return Matrix<T>(handle, where, 1, 1, 1).at(0, 0);
}

template <typename T>
double to_double(T value) {
  return static_cast<double>(value);
}
inline double to_double(__half value) { return __half2float(value); }
inline double to_double(__nv_bfloat16 value) { return __bfloat162float(value); }

template <typename T>
T rounded(double value) {
  return static_cast<T>(value);
}
template <>
inline __half rounded<__half>(double value) {
  return __double2half(value);
}
template <>
inline __nv_bfloat16 rounded<__nv_bfloat16>(double value) {
  return __double2bfloat16(value);
}

// op(A), rows by columns.
template <typename T>
class Operand {
 public:
  Operand(cublasHandle_t handle, cublasOperation_t operation, const T* device, int rows,
          int columns, int leading)
      : is_turned_(operation != CUBLAS_OP_N),
        cells_(handle, device, is_turned_ ? columns : rows, is_turned_ ? rows : columns, leading) {
    require(operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C);
  }
  double at(int row, int column) {
    return to_double(is_turned_ ? cells_.at(column, row) : cells_.at(row, column));
  }

 private:
  bool is_turned_;
  Matrix<T> cells_;
};

// Of a product whose factors are bytes.
struct OfBytes {
  bool turns_a, turns_b;
  std::int64_t m, n, lda, ldb, ldc;
  cudaDataType result;
};

// An H200 with CUDA 13.0 has kernels for whole words of them.
inline void require_words(const OfBytes& its) {
  const bool has_a = its.lda % 4 == 0 || (!its.turns_a && its.m == 1);
  const bool has_b =
      its.turns_b ? its.n == 1 || (its.ldb % 4 == 0 && its.n % 4 == 0) : its.ldb % 4 == 0;
  const bool is_any_c = its.result != CUDA_R_8I && !(its.turns_a && its.turns_b);
  if (has_a && has_b && (is_any_c || its.m == 1 || its.ldc % 4 == 0)) return;
  std::fprintf(
      stderr,
      "simt: cuBLAS: a GPU has no product of bytes with %lld rows, %lld columns and leading "
      "dimensions %lld, %lld and %lld: make them multiples of 4\n",
      static_cast<long long>(its.m), static_cast<long long>(its.n), static_cast<long long>(its.lda),
      static_cast<long long>(its.ldb), static_cast<long long>(its.ldc));
  require(false, CUBLAS_STATUS_NOT_SUPPORTED);
}

// Calls it with a null pointer to a number of this type.
template <typename Call>
void with_type(cudaDataType type, const Call& call) {
  switch (type) {
    case CUDA_R_16F:
      return call(static_cast<__half*>(nullptr));
    case CUDA_R_16BF:
      return call(static_cast<__nv_bfloat16*>(nullptr));
    case CUDA_R_32F:
      return call(static_cast<float*>(nullptr));
    case CUDA_R_64F:
      return call(static_cast<double*>(nullptr));
    case CUDA_R_8I:
      return call(static_cast<std::int8_t*>(nullptr));
    case CUDA_R_32I:
      return call(static_cast<std::int32_t*>(nullptr));
    default:
      std::fprintf(stderr, "simt: cuBLAS: numbers of type %d are not in the simulator\n",
                   static_cast<int>(type));
      require(false, CUBLAS_STATUS_NOT_SUPPORTED);
  }
}

inline cudaDataType type_of_factors(cublasComputeType_t compute, cudaDataType result) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
      return CUDA_R_16F;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
      return CUDA_R_64F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      return result == CUDA_R_32I ? CUDA_R_32I : CUDA_R_32F;
    default:
      return CUDA_R_32F;
  }
}

}  // namespace simt::cublas
