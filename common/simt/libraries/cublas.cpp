// cuBLAS as far as samples use it.
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

#include "common/simt/libraries/matrices.hpp"

namespace {

using namespace simt::cublas;

constexpr int kMajor = CUBLAS_VER_MAJOR, kMinor = CUBLAS_VER_MINOR, kPatch = CUBLAS_VER_PATCH;

// A vector is a matrix of one row: its stride is the leading dimension. With a negative one it is read from its end.
template <typename T>
class Vector {
 public:
  Vector(cublasHandle_t handle, const T* device, int length, int stride)
      : cells_(handle, device, length > 0 ? 1 : 0, length > 0 ? length : 0, std::abs(stride)),
        last_(length - 1),
        is_reversed_(stride < 0) {
    require(stride != 0);
  }
  T& operator[](int i) { return cells_.at(0, is_reversed_ ? last_ - i : i); }
  void write_to(T* device) { cells_.write_to(device); }

 private:
  Matrix<T> cells_;
  int last_;
  bool is_reversed_;
};

template <typename T>
void give(cublasHandle_t handle, T value, T* where) {
  require(where != nullptr);
  if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
    *where = value;
    return;
  }
  Matrix<T> its(handle, nullptr, 1, 1, 1);
  its.at(0, 0) = value;
  its.write_to(where);
}

// C = alpha op(A) op(B) + beta C. Where beta is 0, C is not read, where alpha is, neither A nor B.
template <typename In, typename Out>
void gemm(cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b,
          int m, int n, int k, double alpha, const In* a, int lda, const In* b, int ldb,
          double beta, Out* c, int ldc) {
  require(m >= 0 && n >= 0 && k >= 0);
  Matrix<Out> sum(handle, beta != 0 ? c : nullptr, m, n, ldc);
  const int depth = alpha != 0 ? k : 0;
  const bool reads = depth > 0 && m > 0 && n > 0;
  Operand<In> left(handle, operation_a, reads ? a : nullptr, m, k, lda);
  Operand<In> right(handle, operation_b, reads ? b : nullptr, k, n, ldb);
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      double products = 0;
      for (int i = 0; i < depth; ++i) products += left.at(row, i) * right.at(i, column);
      const double before = beta != 0 ? beta * to_double(sum.at(row, column)) : 0;
      sum.at(row, column) = rounded<Out>(alpha * products + before);
    }
  }
  sum.write_to(c);
}

// C = alpha op(A) + beta op(B). What is taken 0 times is not read.
template <typename T>
void geam(cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b,
          int m, int n, T alpha, const T* a, int lda, T beta, const T* b, int ldb, T* c, int ldc) {
  Operand<T> left(handle, operation_a, alpha != T(0) ? a : nullptr, m, n, lda);
  Operand<T> right(handle, operation_b, beta != T(0) ? b : nullptr, m, n, ldb);
  Matrix<T> sum(handle, nullptr, m, n, ldc);
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      sum.at(row, column) =
          static_cast<T>(alpha * left.at(row, column) + beta * right.at(row, column));
    }
  }
  sum.write_to(c);
}

// y = alpha op(A) x + beta y, A of m rows and n columns.
template <typename T>
void gemv(cublasHandle_t handle, cublasOperation_t operation, int m, int n, T alpha, const T* a,
          int lda, const T* x, int incx, T beta, T* y, int incy) {
  const bool is_turned = operation != CUBLAS_OP_N;
  const int rows = is_turned ? n : m, columns = is_turned ? m : n;
  require(m >= 0 && n >= 0);
  Vector<T> sum(handle, beta != T(0) ? y : nullptr, rows, incy);
  const bool reads = alpha != T(0);
  Operand<T> matrix(handle, operation, reads ? a : nullptr, rows, columns, lda);
  Vector<T> factor(handle, reads ? x : nullptr, columns, incx);
  for (int row = 0; row < rows; ++row) {
    double products = 0;
    for (int i = 0; reads && i < columns; ++i) products += matrix.at(row, i) * factor[i];
    const double before = beta != T(0) ? double{beta} * sum[row] : 0;
    sum[row] = static_cast<T>(alpha * products + before);
  }
  sum.write_to(y);
}

template <typename T>
void axpy(cublasHandle_t handle, int n, T alpha, const T* x, int incx, T* y, int incy) {
  Vector<T> from(handle, x, n, incx), to(handle, y, n, incy);
  for (int i = 0; i < n; ++i) to[i] = static_cast<T>(double{alpha} * from[i] + to[i]);
  to.write_to(y);
}

template <typename T>
void scal(cublasHandle_t handle, int n, T alpha, T* x, int incx) {
  Vector<T> its(handle, x, n, incx);
  for (int i = 0; i < n; ++i) its[i] *= alpha;
  its.write_to(x);
}

template <typename T>
T dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy) {
  Vector<T> left(handle, x, n, incx), right(handle, y, n, incy);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += double{left[i]} * right[i];
  return static_cast<T>(sum);
}

template <typename T>
T nrm2(cublasHandle_t handle, int n, const T* x, int incx) {
  Vector<T> its(handle, x, n, incx);
  double length = 0;
  for (int i = 0; i < n; ++i) length = std::hypot(length, double{its[i]});
  return static_cast<T>(length);
}

template <typename T>
T asum(cublasHandle_t handle, int n, const T* x, int incx) {
  Vector<T> its(handle, x, n, incx);
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += std::abs(double{its[i]});
  return static_cast<T>(sum);
}

template <typename T>
void copy(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {
  Vector<T> from(handle, x, n, incx), to(handle, y, n, incy);
  for (int i = 0; i < n; ++i) to[i] = from[i];
  to.write_to(y);
}

// The first of the greatest, counted from 1; 0 where there is none.
template <typename T>
int amax(cublasHandle_t handle, int n, const T* x, int incx) {
  Vector<T> its(handle, x, n, incx);
  int best = 0;
  for (int i = 0; i < n; ++i) {
    if (best == 0 || std::abs(its[i]) > std::abs(its[best - 1])) best = i + 1;
  }
  return best;
}

// Decomposes a square matrix into L and U, with rows exchanged if `pivots` is given; which one was 0, or 0.
template <typename T>
int getrf(cublasHandle_t handle, int n, T* device, int leading, int* pivots) {
  Matrix<T> a(handle, device, n, n, leading);
  int singular = 0;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int row = k + 1; pivots != nullptr && row < n; ++row) {
      if (std::abs(a.at(row, k)) > std::abs(a.at(best, k))) best = row;
    }
    if (pivots != nullptr) pivots[k] = best + 1;
    if (a.at(best, k) == T(0)) {
      if (singular == 0) singular = k + 1;
      continue;
    }
    for (int column = 0; column < n && best != k; ++column) {
      std::swap(a.at(k, column), a.at(best, column));
    }
    for (int row = k + 1; row < n; ++row) {
      const T factor = a.at(row, k) /= a.at(k, k);
      for (int column = k + 1; column < n; ++column) a.at(row, column) -= factor * a.at(k, column);
    }
  }
  a.write_to(device);
  return singular;
}

// The addresses of a batch are in memory of the device.
template <typename T>
std::vector<T*> addresses(cublasHandle_t handle, T* const* array, int count) {
  require(count >= 0);
  std::vector<T*> all(static_cast<std::size_t>(count));
  if (count == 0) return all;
  require(cudaMemcpyAsync(all.data(), array, sizeof(T*) * all.size(), cudaMemcpyDeviceToHost,
                          handle->stream));
  require(cudaStreamSynchronize(handle->stream));
  return all;
}

// In a stream where there is one.
cublasStatus_t copied(int rows, int columns, int size, const void* from, int from_leading, void* to,
                      int to_leading, cudaMemcpyKind kind, const cudaStream_t* stream = nullptr) {
  if (rows < 0 || columns < 0 || size <= 0 || from_leading < 1 || to_leading < 1) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  const auto bytes = [&](int count) { return static_cast<std::size_t>(count) * size; };
  const auto columns_there = static_cast<std::size_t>(columns);
  const cudaError_t error =
      stream == nullptr ? cudaMemcpy2D(to, bytes(to_leading), from, bytes(from_leading),
                                       bytes(rows), columns_there, kind)
                        : cudaMemcpy2DAsync(to, bytes(to_leading), from, bytes(from_leading),
                                            bytes(rows), columns_there, kind, *stream);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

// The numbers of a product whose types are named. Both operands are of one.
struct ProductEx {
  cublasHandle_t handle;
  cublasOperation_t operation_a, operation_b;
  int m, n, k;
  const void* alpha;
  cudaDataType type_a;
  int lda;
  cudaDataType type_b;
  int ldb;
  const void* beta;
  cudaDataType type_c;
  int ldc;
  cublasComputeType_t compute;
};

// Each of `count`, whose arrays `at` gives.
template <typename At>
cublasStatus_t gemm_ex(const ProductEx& its, int count, const At& at) {
  return status_of(its.handle, [&] {
    require(count >= 0);
    require(its.type_a == its.type_b, CUBLAS_STATUS_NOT_SUPPORTED);
    if (its.type_a == CUDA_R_8I) {
      require_words({its.operation_a != CUBLAS_OP_N, its.operation_b != CUBLAS_OP_N, its.m, its.n,
                     its.lda, its.ldb, its.ldc, its.type_c});
    }
    double factors[2] = {};
    with_type(type_of_factors(its.compute, its.type_c), [&]<typename T>(T*) {
      factors[0] = to_double(number(its.handle, static_cast<const T*>(its.alpha)));
      factors[1] = to_double(number(its.handle, static_cast<const T*>(its.beta)));
    });
    with_type(its.type_a, [&]<typename In>(In*) {
      with_type(its.type_c, [&]<typename Out>(Out*) {
        for (int i = 0; i < count; ++i) {
          const auto [a, b, c] = at.template operator()<In, Out>(i);
          if (std::is_same_v<In, std::int8_t>) {
            const auto begins =
                reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b);
            require(begins % 4 == 0, CUBLAS_STATUS_NOT_SUPPORTED);
          }
          gemm(its.handle, its.operation_a, its.operation_b, its.m, its.n, its.k, factors[0], a,
               its.lda, b, its.ldb, factors[1], c, its.ldc);
        }
      });
    });
  });
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = kMajor * 10000 + kMinor * 100 + kPatch;
  return CUBLAS_STATUS_SUCCESS;
}

#define SIMT_PROPERTY(Set, Get, type, member)                    \
  cublasStatus_t Set(cublasHandle_t handle, type value) {        \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
    handle->member = value;                                      \
    return CUBLAS_STATUS_SUCCESS;                                \
  }                                                              \
  cublasStatus_t Get(cublasHandle_t handle, type* value) {       \
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED; \
    if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;    \
    *value = handle->member;                                     \
    return CUBLAS_STATUS_SUCCESS;                                \
  }

SIMT_PROPERTY(cublasSetStream, cublasGetStream, cudaStream_t, stream)
SIMT_PROPERTY(cublasSetPointerMode, cublasGetPointerMode, cublasPointerMode_t, pointer_mode)
SIMT_PROPERTY(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math)

const char* cublasGetStatusName(cublasStatus_t status) {
  switch (status) {
#define SIMT_STATUS(name) \
  case name:              \
    return #name;
    SIMT_STATUS(CUBLAS_STATUS_SUCCESS)
    SIMT_STATUS(CUBLAS_STATUS_NOT_INITIALIZED)
    SIMT_STATUS(CUBLAS_STATUS_ALLOC_FAILED)
    SIMT_STATUS(CUBLAS_STATUS_INVALID_VALUE)
    SIMT_STATUS(CUBLAS_STATUS_ARCH_MISMATCH)
    SIMT_STATUS(CUBLAS_STATUS_MAPPING_ERROR)
    SIMT_STATUS(CUBLAS_STATUS_EXECUTION_FAILED)
    SIMT_STATUS(CUBLAS_STATUS_INTERNAL_ERROR)
    SIMT_STATUS(CUBLAS_STATUS_NOT_SUPPORTED)
    SIMT_STATUS(CUBLAS_STATUS_LICENSE_ERROR)
#undef SIMT_STATUS
  }
  return "unknown";
}

const char* cublasGetStatusString(cublasStatus_t status) { return cublasGetStatusName(status); }

cublasStatus_t cublasSetVector(int n, int size, const void* from, int from_stride, void* to,
                               int to_stride) {
  return copied(1, n, size, from, from_stride, to, to_stride, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetVector(int n, int size, const void* from, int from_stride, void* to,
                               int to_stride) {
  return copied(1, n, size, from, from_stride, to, to_stride, cudaMemcpyDeviceToHost);
}

cublasStatus_t cublasSetMatrix(int rows, int columns, int size, const void* from, int from_leading,
                               void* to, int to_leading) {
  return copied(rows, columns, size, from, from_leading, to, to_leading, cudaMemcpyHostToDevice);
}

cublasStatus_t cublasGetMatrix(int rows, int columns, int size, const void* from, int from_leading,
                               void* to, int to_leading) {
  return copied(rows, columns, size, from, from_leading, to, to_leading, cudaMemcpyDeviceToHost);
}

#define SIMT_COPIES(Way, kind)                                                                \
  cublasStatus_t cublas##Way##VectorAsync(int n, int size, const void* from, int from_stride, \
                                          void* to, int to_stride, cudaStream_t stream) {     \
    return copied(1, n, size, from, from_stride, to, to_stride, kind, &stream);               \
  }                                                                                           \
  cublasStatus_t cublas##Way##MatrixAsync(int rows, int columns, int size, const void* from,  \
                                          int from_leading, void* to, int to_leading,         \
                                          cudaStream_t stream) {                              \
    return copied(rows, columns, size, from, from_leading, to, to_leading, kind, &stream);    \
  }

SIMT_COPIES(Set, cudaMemcpyHostToDevice)
SIMT_COPIES(Get, cudaMemcpyDeviceToHost)

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                            cublasOperation_t operation_b, int m, int n, int k, const void* alpha,
                            const void* a, cudaDataType type_a, int lda, const void* b,
                            cudaDataType type_b, int ldb, const void* beta, void* c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm) {
  return cublasGemmStridedBatchedEx(handle, operation_a, operation_b, m, n, k, alpha, a, type_a,
                                    lda, 0, b, type_b, ldb, 0, beta, c, type_c, ldc, 0, 1, compute,
                                    algorithm);
}

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                          cublasOperation_t operation_b, int m, int n, int k,
                                          const void* alpha, const void* a, cudaDataType type_a,
                                          int lda, long long int stride_a, const void* b,
                                          cudaDataType type_b, int ldb, long long int stride_b,
                                          const void* beta, void* c, cudaDataType type_c, int ldc,
                                          long long int stride_c, int count,
                                          cublasComputeType_t compute, cublasGemmAlgo_t) {
  return gemm_ex({handle, operation_a, operation_b, m, n, k, alpha, type_a, lda, type_b, ldb, beta,
                  type_c, ldc, compute},
                 count, [&]<typename In, typename Out>(int i) {
                   return std::tuple(static_cast<const In*>(a) + i * stride_a,
                                     static_cast<const In*>(b) + i * stride_b,
                                     static_cast<Out*>(c) + i * stride_c);
                 });
}

cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t operation_a,
                                   cublasOperation_t operation_b, int m, int n, int k,
                                   const void* alpha, const void* const a[], cudaDataType type_a,
                                   int lda, const void* const b[], cudaDataType type_b, int ldb,
                                   const void* beta, void* const c[], cudaDataType type_c, int ldc,
                                   int count, cublasComputeType_t compute, cublasGemmAlgo_t) {
  std::vector<const void*> all_a, all_b;
  std::vector<void*> all_c;
  const cublasStatus_t status = status_of(handle, [&] {
    all_a = addresses(handle, a, count);
    all_b = addresses(handle, b, count);
    all_c = addresses(handle, c, count);
  });
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return gemm_ex({handle, operation_a, operation_b, m, n, k, alpha, type_a, lda, type_b, ldb, beta,
                  type_c, ldc, compute},
                 count, [&]<typename In, typename Out>(int number) {
                   const auto i = static_cast<std::size_t>(number);
                   return std::tuple(static_cast<const In*>(all_a[i]),
                                     static_cast<const In*>(all_b[i]), static_cast<Out*>(all_c[i]));
                 });
}

cublasStatus_t cublasSgemmEx(cublasHandle_t handle, cublasOperation_t operation_a,
                             cublasOperation_t operation_b, int m, int n, int k, const float* alpha,
                             const void* a, cudaDataType type_a, int lda, const void* b,
                             cudaDataType type_b, int ldb, const float* beta, void* c,
                             cudaDataType type_c, int ldc) {
  return cublasGemmEx(handle, operation_a, operation_b, m, n, k, alpha, a, type_a, lda, b, type_b,
                      ldb, beta, c, type_c, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
}

// Of each type: H, S and D.
#define SIMT_PRODUCTS(Type, T)                                                                     \
  cublasStatus_t cublas##Type##gemm(cublasHandle_t handle, cublasOperation_t operation_a,          \
                                    cublasOperation_t operation_b, int m, int n, int k,            \
                                    const T* alpha, const T* a, int lda, const T* b, int ldb,      \
                                    const T* beta, T* c, int ldc) {                                \
    return status_of(handle, [&] {                                                                 \
      gemm(handle, operation_a, operation_b, m, n, k, to_double(number(handle, alpha)), a, lda, b, \
           ldb, to_double(number(handle, beta)), c, ldc);                                          \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##Type##gemmBatched(                                                        \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const T* alpha, const T* const a[], int lda, const T* const b[], int ldb,      \
      const T* beta, T* const c[], int ldc, int count) {                                           \
    return status_of(handle, [&] {                                                                 \
      const auto all_a = addresses(handle, a, count), all_b = addresses(handle, b, count);         \
      const auto all_c = addresses(handle, c, count);                                              \
      for (std::size_t i = 0; i < all_a.size(); ++i) {                                             \
        gemm(handle, operation_a, operation_b, m, n, k, to_double(number(handle, alpha)),          \
             all_a[i], lda, all_b[i], ldb, to_double(number(handle, beta)), all_c[i], ldc);        \
      }                                                                                            \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##Type##gemmStridedBatched(                                                 \
      cublasHandle_t handle, cublasOperation_t operation_a, cublasOperation_t operation_b, int m,  \
      int n, int k, const T* alpha, const T* a, int lda, long long int stride_a, const T* b,       \
      int ldb, long long int stride_b, const T* beta, T* c, int ldc, long long int stride_c,       \
      int count) {                                                                                 \
    return status_of(handle, [&] {                                                                 \
      require(count >= 0);                                                                         \
      for (int i = 0; i < count; ++i) {                                                            \
        gemm(handle, operation_a, operation_b, m, n, k, to_double(number(handle, alpha)),          \
             a + i * stride_a, lda, b + i * stride_b, ldb, to_double(number(handle, beta)),        \
             c + i * stride_c, ldc);                                                               \
      }                                                                                            \
    });                                                                                            \
  }

SIMT_PRODUCTS(H, __half)
SIMT_PRODUCTS(S, float)
SIMT_PRODUCTS(D, double)

// S and D.
#define SIMT_ROUTINES(Type, Lower, T)                                                              \
  cublasStatus_t cublas##Type##geam(cublasHandle_t handle, cublasOperation_t operation_a,          \
                                    cublasOperation_t operation_b, int m, int n, const T* alpha,   \
                                    const T* a, int lda, const T* beta, const T* b, int ldb, T* c, \
                                    int ldc) {                                                     \
    return status_of(handle, [&] {                                                                 \
      geam<T>(handle, operation_a, operation_b, m, n, number(handle, alpha), a, lda,               \
              number(handle, beta), b, ldb, c, ldc);                                               \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##Type##asum(cublasHandle_t handle, int n, const T* x, int incx,            \
                                    T* result) {                                                   \
    return status_of(handle, [&] { give(handle, asum<T>(handle, n, x, incx), result); });          \
  }                                                                                                \
  cublasStatus_t cublas##Type##gemv(cublasHandle_t handle, cublasOperation_t operation, int m,     \
                                    int n, const T* alpha, const T* a, int lda, const T* x,        \
                                    int incx, const T* beta, T* y, int incy) {                     \
    return status_of(handle, [&] {                                                                 \
      gemv<T>(handle, operation, m, n, number(handle, alpha), a, lda, x, incx,                     \
              number(handle, beta), y, incy);                                                      \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##Type##axpy(cublasHandle_t handle, int n, const T* alpha, const T* x,      \
                                    int incx, T* y, int incy) {                                    \
    return status_of(handle,                                                                       \
                     [&] { axpy<T>(handle, n, number(handle, alpha), x, incx, y, incy); });        \
  }                                                                                                \
  cublasStatus_t cublas##Type##scal(cublasHandle_t handle, int n, const T* alpha, T* x,            \
                                    int incx) {                                                    \
    return status_of(handle, [&] { scal<T>(handle, n, number(handle, alpha), x, incx); });         \
  }                                                                                                \
  cublasStatus_t cublas##Type##dot(cublasHandle_t handle, int n, const T* x, int incx, const T* y, \
                                   int incy, T* result) {                                          \
    return status_of(handle, [&] { give(handle, dot<T>(handle, n, x, incx, y, incy), result); });  \
  }                                                                                                \
  cublasStatus_t cublas##Type##copy(cublasHandle_t handle, int n, const T* x, int incx, T* y,      \
                                    int incy) {                                                    \
    return status_of(handle, [&] { copy<T>(handle, n, x, incx, y, incy); });                       \
  }                                                                                                \
  cublasStatus_t cublasI##Lower##amax(cublasHandle_t handle, int n, const T* x, int incx,          \
                                      int* result) {                                               \
    return status_of(handle, [&] { give(handle, amax<T>(handle, n, x, incx), result); });          \
  }                                                                                                \
  cublasStatus_t cublas##Type##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda,   \
                                            int* pivots, int* infos, int count) {                  \
    return status_of(handle, [&] {                                                                 \
      const auto all = addresses(handle, a, count);                                                \
      for (std::size_t i = 0; i < all.size(); ++i) {                                               \
        Matrix<int> order(handle, nullptr, n, 1, n), info(handle, nullptr, 1, 1, 1);               \
        info.at(0, 0) = getrf<T>(handle, n, all[i], lda,                                           \
                                 pivots != nullptr && n > 0 ? &order.at(0, 0) : nullptr);          \
        if (pivots != nullptr) order.write_to(pivots + i * static_cast<std::size_t>(n));           \
        info.write_to(infos + i);                                                                  \
      }                                                                                            \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublas##Type##nrm2(cublasHandle_t handle, int n, const T* x, int incx,            \
                                    T* result) {                                                   \
    return status_of(handle, [&] { give(handle, nrm2<T>(handle, n, x, incx), result); });          \
  }

SIMT_ROUTINES(S, s, float)
SIMT_ROUTINES(D, d, double)

}  // extern "C"
