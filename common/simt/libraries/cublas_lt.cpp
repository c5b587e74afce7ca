// cublasLt as far as samples use it: products of matrices, with what is done to the result. In the library of cuBLAS:
// simcc leads there from both names.
#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <type_traits>

#include "common/simt/libraries/matrices.hpp"

namespace {

using namespace simt::cublas;

struct Layout {
  cudaDataType type;
  cublasLtOrder_t order = CUBLASLT_ORDER_COL;
  std::uint64_t rows, columns;
  std::int64_t leading;
  std::int32_t count = 1;
  std::int64_t stride = 0;
};

struct Product {
  cublasComputeType_t compute;
  cudaDataType factors;
  cublasLtPointerMode_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  cublasOperation_t turns[3] = {CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N};  // of A, B and C
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  std::int32_t bias_type = -1;  // of D's
  const void* bias = nullptr;
  std::int64_t bias_stride = 0;
  void* aux = nullptr;
  std::int64_t aux_leading = 0, aux_stride = 0;
  std::int8_t fast_sum = 0;
  std::int32_t processors = 0;
};

struct Preference {
  std::uint64_t workspace = 0;
};

// What the user has memory for is as large as cublasLt's.
Layout& its(cublasLtMatrixLayout_t layout) {
  static_assert(sizeof(Layout) <= sizeof(cublasLtMatrixLayoutOpaque_t));
  require(layout != nullptr);
  return *reinterpret_cast<Layout*>(layout);
}
Product& its(cublasLtMatmulDesc_t product) {
  static_assert(sizeof(Product) <= sizeof(cublasLtMatmulDescOpaque_t));
  require(product != nullptr);
  return *reinterpret_cast<Product*>(product);
}
Preference& its(cublasLtMatmulPreference_t preference) {
  static_assert(sizeof(Preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t));
  require(preference != nullptr);
  return *reinterpret_cast<Preference*>(preference);
}

template <typename Call>
cublasStatus_t status_of_lt(const Call& call) {
  cublasContext any;
  return status_of(&any, call);
}

template <typename Opaque, typename Ours>
cublasStatus_t created(Opaque** made, const Ours& value) {
  return status_of_lt([&] {
    require(made != nullptr);
    *made = new Opaque{};
    its(*made) = value;
  });
}

[[noreturn]] void refuse(const char* what, long long value) {
  std::fprintf(stderr, "simt: cublasLt: %s %lld is not in the simulator\n", what, value);
  throw Failed{CUBLAS_STATUS_NOT_SUPPORTED};
}

// An attribute, which is as large as ours.
struct Attribute {
  void* value;
  std::size_t size;
};
template <typename T>
Attribute attribute(T& value) {
  return {&value, sizeof(T)};
}

Attribute attribute_of(Layout& layout, cublasLtMatrixLayoutAttribute_t name) {
  switch (name) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE:
      return attribute(layout.type);
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return attribute(layout.order);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return attribute(layout.rows);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return attribute(layout.columns);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return attribute(layout.leading);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return attribute(layout.count);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return attribute(layout.stride);
    default:
      refuse("attribute of a matrix", name);
  }
}

Attribute attribute_of(Product& product, cublasLtMatmulDescAttributes_t name) {
  switch (name) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE:
      return attribute(product.compute);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE:
      return attribute(product.factors);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return attribute(product.pointer_mode);
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return attribute(product.turns[0]);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return attribute(product.turns[1]);
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return attribute(product.turns[2]);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return attribute(product.epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return attribute(product.bias);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return attribute(product.bias_stride);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return attribute(product.bias_type);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return attribute(product.aux);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return attribute(product.aux_leading);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE:
      return attribute(product.aux_stride);
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      return attribute(product.fast_sum);
    case CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET:
      return attribute(product.processors);
    default:
      refuse("attribute of a product", name);
  }
}

template <typename Opaque, typename Name>
cublasStatus_t set(Opaque* object, Name name, const void* value, std::size_t size) {
  return status_of_lt([&] {
    const Attribute there = attribute_of(its(object), name);
    require(value != nullptr && size == there.size);
    std::memcpy(there.value, value, size);
  });
}

template <typename Opaque, typename Name>
cublasStatus_t get(Opaque* object, Name name, void* value, std::size_t size, std::size_t* written) {
  return status_of_lt([&] {
    const Attribute there = attribute_of(its(object), name);
    if (written != nullptr) *written = there.size;
    require(size == 0 ? written != nullptr : value != nullptr && size >= there.size);
    if (size != 0) std::memcpy(value, there.value, there.size);
  });
}

constexpr int kRelu = CUBLASLT_EPILOGUE_RELU, kBias = CUBLASLT_EPILOGUE_BIAS,
              kGelu = CUBLASLT_EPILOGUE_GELU, kAux = 128;

// What is done to each sum. Derivatives for biases, and ReLU's mask, are not here.
void require_known(cublasLtEpilogue_t epilogue) {
  const int parts = epilogue & ~(CUBLASLT_EPILOGUE_DEFAULT | kBias);
  if (parts != 0 && parts != kRelu && parts != kGelu && parts != (kGelu | kAux) &&
      epilogue != CUBLASLT_EPILOGUE_DGELU) {
    refuse("epilogue", epilogue);
  }
}

constexpr double kRootOf2OverPi = 0.797884560802865355879892;

double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(kRootOf2OverPi * (x + 0.044715 * x * x * x)));
}

double slope_of_gelu(double x) {
  const double t = std::tanh(kRootOf2OverPi * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRootOf2OverPi * (1 + 3 * 0.044715 * x * x);
}

// A matrix of the device in either order: one by rows is the transpose of one by columns.
template <typename T>
class Ordered {
 public:
  Ordered(cublasHandle_t handle, const Layout& layout, const T* device)
      : by_rows_(layout.order == CUBLASLT_ORDER_ROW),
        cells_(handle, device, static_cast<int>(by_rows_ ? layout.columns : layout.rows),
               static_cast<int>(by_rows_ ? layout.rows : layout.columns),
               static_cast<int>(layout.leading)) {}
  T& at(int row, int column) { return by_rows_ ? cells_.at(column, row) : cells_.at(row, column); }
  void write_to(T* device) { cells_.write_to(device); }

 private:
  bool by_rows_;
  Matrix<T> cells_;
};

void require_sizes(const Layout& layout) {
  if (layout.order != CUBLASLT_ORDER_COL && layout.order != CUBLASLT_ORDER_ROW) {
    refuse("order of cells", layout.order);
  }
  require(std::max(layout.rows, layout.columns) <= INT32_MAX && layout.leading <= INT32_MAX);
}

// What an H200 with CUDA 13.0 refuses when it is asked which ways there are.
void require_possible(const Product& product, const Layout& a, const Layout& b, const Layout& c,
                      const Layout& d) {
  for (const Layout* const layout : {&a, &b, &c, &d}) require_sizes(*layout);
  require_known(product.epilogue);
  require(c.order == d.order);
  if ((product.epilogue & kAux) != 0) {
    require(product.aux_leading >= static_cast<std::int64_t>(d.rows));
  }
  const bool is_by_rows = d.order == CUBLASLT_ORDER_ROW;
  require(!is_by_rows || (product.epilogue & kBias) == 0, CUBLAS_STATUS_NOT_SUPPORTED);
  if (a.type == CUDA_R_8I && a.order == CUBLASLT_ORDER_COL && b.order == a.order && !is_by_rows) {
    require_words({product.turns[0] != CUBLAS_OP_N, product.turns[1] != CUBLAS_OP_N,
                   static_cast<std::int64_t>(d.rows), static_cast<std::int64_t>(d.columns),
                   a.leading, b.leading, d.leading, d.type});
  }
}

// One product: D = epilogue(alpha op(A) op(B) + beta C). Where beta is 0, C is not read.
template <typename In, typename Out>
void multiply(cublasHandle_t handle, const Product& product, int i, double alpha, double beta,
              const void* a, const Layout& a_is, const void* b, const Layout& b_is, const void* c,
              const Layout& c_is, void* d, const Layout& d_is) {
  const auto part = []<typename T>(T* all, const Layout& layout, int number) {
    return all + number * layout.stride;
  };
  const bool turns_a = product.turns[0] != CUBLAS_OP_N, turns_b = product.turns[1] != CUBLAS_OP_N;
  const int m = static_cast<int>(d_is.rows), n = static_cast<int>(d_is.columns);
  const int k = static_cast<int>(turns_a ? a_is.rows : a_is.columns);
  require(static_cast<int>(turns_a ? a_is.columns : a_is.rows) == m &&
          static_cast<int>(turns_b ? b_is.columns : b_is.rows) == k &&
          static_cast<int>(turns_b ? b_is.rows : b_is.columns) == n && c_is.rows == d_is.rows &&
          c_is.columns == d_is.columns);
  Ordered<In> left(handle, a_is, part(static_cast<const In*>(a), a_is, i));
  Ordered<In> right(handle, b_is, part(static_cast<const In*>(b), b_is, i));
  std::optional<Ordered<Out>> before, aux;
  if (beta != 0) before.emplace(handle, c_is, part(static_cast<const Out*>(c), c_is, i));
  const Layout aux_is{.type = d_is.type,
                      .rows = d_is.rows,
                      .columns = d_is.columns,
                      .leading = product.aux_leading,
                      .stride = product.aux_stride};
  Out* const its_aux = part(static_cast<Out*>(product.aux), aux_is, i);
  const bool is_slope = product.epilogue == CUBLASLT_EPILOGUE_DGELU;
  if ((product.epilogue & kAux) != 0) {
    require(product.aux != nullptr);
    aux.emplace(handle, aux_is, is_slope ? its_aux : nullptr);
  }
  std::vector<double> biases(static_cast<std::size_t>(m), 0.0);
  if ((product.epilogue & kBias) != 0) {
    require(product.bias != nullptr);
    const auto type =
        product.bias_type < 0 ? d_is.type : static_cast<cudaDataType>(product.bias_type);
    with_type(type, [&]<typename T>(T*) {
      Matrix<T> cells(handle, static_cast<const T*>(product.bias) + i * product.bias_stride, m, 1,
                      m);
      for (int row = 0; row < m; ++row)
        biases[static_cast<std::size_t>(row)] = to_double(cells.at(row, 0));
    });
  }
  Ordered<Out> result(handle, d_is, nullptr);
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < m; ++row) {
      double sum = 0;
      for (int j = 0; j < k; ++j) {
        sum += to_double(turns_a ? left.at(j, row) : left.at(row, j)) *
               to_double(turns_b ? right.at(column, j) : right.at(j, column));
      }
      sum = alpha * sum + (before ? beta * to_double(before->at(row, column)) : 0) +
            biases[static_cast<std::size_t>(row)];
      if (is_slope) {
        sum *= slope_of_gelu(to_double(aux->at(row, column)));
      } else if (aux) {
        aux->at(row, column) = rounded<Out>(sum);
      }
      if ((product.epilogue & kRelu) != 0) sum = std::max(sum, 0.0);
      if ((product.epilogue & kGelu) != 0) sum = gelu(sum);
      result.at(row, column) = rounded<Out>(sum);
    }
  }
  result.write_to(part(static_cast<Out*>(d), d_is, i));
  if (aux && !is_slope) aux->write_to(its_aux);
}

}  // namespace

extern "C" {

// A handle of cuBLAS is one of cublasLt too.
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cublasCreate(reinterpret_cast<cublasHandle_t*>(handle));
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return cublasDestroy(reinterpret_cast<cublasHandle_t>(handle));
}
std::size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, std::size_t size,
                                                 cudaDataType type, std::uint64_t rows,
                                                 std::uint64_t columns, std::int64_t leading) {
  return status_of_lt([&] {
    require(size >= sizeof(Layout), CUBLAS_STATUS_ALLOC_FAILED);
    its(layout) = {.type = type, .rows = rows, .columns = columns, .leading = leading};
  });
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  return created(layout,
                 Layout{.type = type, .rows = rows, .columns = columns, .leading = leading});
}
cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t product, std::size_t size,
                                               cublasComputeType_t compute,
                                               cudaDataType_t factors) {
  return status_of_lt([&] {
    require(size >= sizeof(Product), CUBLAS_STATUS_ALLOC_FAILED);
    its(product) = {.compute = compute, .factors = factors};
  });
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t compute,
                                        cudaDataType_t factors) {
  return created(product, Product{.compute = compute, .factors = factors});
}
cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     std::size_t size) {
  return status_of_lt([&] {
    require(size >= sizeof(Preference), CUBLAS_STATUS_ALLOC_FAILED);
    its(preference) = {};
  });
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return created(preference, Preference{});
}

#define SIMT_DESTROY(Name)                                            \
  cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t object) { \
    delete object;                                                    \
    return CUBLAS_STATUS_SUCCESS;                                     \
  }
SIMT_DESTROY(MatrixLayout)
SIMT_DESTROY(MatmulDesc)
SIMT_DESTROY(MatmulPreference)

#define SIMT_ATTRIBUTES(Name, Attributes)                                                 \
  cublasStatus_t cublasLt##Name##SetAttribute(cublasLt##Name##_t object, Attributes name, \
                                              const void* value, std::size_t size) {      \
    return set(object, name, value, size);                                                \
  }                                                                                       \
  cublasStatus_t cublasLt##Name##GetAttribute(cublasLt##Name##_t object, Attributes name, \
                                              void* value, std::size_t size,              \
                                              std::size_t* written) {                     \
    return get(object, name, value, size, written);                                       \
  }
SIMT_ATTRIBUTES(MatrixLayout, cublasLtMatrixLayoutAttribute_t)
SIMT_ATTRIBUTES(MatmulDesc, cublasLtMatmulDescAttributes_t)

// Only one way is here, which needs no workspace: preferences change nothing.
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void* value, std::size_t) {
  return status_of_lt([&] {
    its(preference);
    require(value != nullptr);
  });
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* found) {
  return status_of_lt([&] {
    require(wanted > 0 && results != nullptr && found != nullptr);
    require_possible(its(product), its(a), its(b), its(c), its(d));
    its(preference);
    results[0] = {};
    results[0].state = CUBLAS_STATUS_SUCCESS;
    results[0].wavesCount = 1;
    *found = 1;
  });
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t product,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_is,
                              const void* b, cublasLtMatrixLayout_t b_is, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_is, void* d,
                              cublasLtMatrixLayout_t d_is, const cublasLtMatmulAlgo_t*, void*,
                              std::size_t, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return status_of_lt([&] {
    const Product& its_product = its(product);
    require_possible(its_product, its(a_is), its(b_is), its(c_is), its(d_is));
    if (its_product.pointer_mode > CUBLASLT_POINTER_MODE_DEVICE) {
      refuse("pointer mode", its_product.pointer_mode);
    }
    require(its_product.turns[2] == CUBLAS_OP_N && its(c_is).type == its(d_is).type &&
                its(a_is).type == its(b_is).type,
            CUBLAS_STATUS_NOT_SUPPORTED);
    cublasContext context;
    context.stream = stream;
    context.pointer_mode = static_cast<cublasPointerMode_t>(its_product.pointer_mode);
    double factors[2] = {};
    with_type(its_product.factors, [&]<typename T>(T*) {
      factors[0] = to_double(number(&context, static_cast<const T*>(alpha)));
      factors[1] = to_double(number(&context, static_cast<const T*>(beta)));
    });
    with_type(its(a_is).type, [&]<typename In>(In*) {
      with_type(its(d_is).type, [&]<typename Out>(Out*) {
        for (int i = 0; i < its(d_is).count; ++i) {
          multiply<In, Out>(&context, its_product, i, factors[0], factors[1], a, its(a_is), b,
                            its(b_is), c, its(c_is), d, its(d_is));
        }
      });
    });
  });
}

}  // extern "C"
