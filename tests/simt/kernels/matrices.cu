// Matrices of one warp: <mma.h>, and ldmatrix by inline PTX. The numbers are whole and small, so sums are
// exact.
#include <cuda_runtime.h>
#include <mma.h>

#include "device_array.hpp"
#include "matrices.hpp"

namespace matrices {
namespace {

namespace wmma = nvcuda::wmma;

constexpr int kM = 16, kN = 16, kK = 8;

template <typename Layout>
using Left = wmma::fragment<wmma::matrix_a, kM, kN, kK, wmma::precision::tf32, Layout>;
template <typename Layout>
using Right = wmma::fragment<wmma::matrix_b, kM, kN, kK, wmma::precision::tf32, Layout>;
using Sum = wmma::fragment<wmma::accumulator, kM, kN, kK, float>;

// d = a b + c, row after row, without a gap.
__global__ void by_rows(const float* a, const float* b, const float* c, float* d) {
  Left<wmma::row_major> left;
  Right<wmma::row_major> right;
  Sum sum;
  wmma::load_matrix_sync(left, a, kK);
  wmma::load_matrix_sync(right, b, kN);
  wmma::load_matrix_sync(sum, c, kN, wmma::mem_row_major);
  for (int i = 0; i < left.num_elements; ++i) left.x[i] = wmma::__float_to_tf32(left.x[i]);
  for (int i = 0; i < right.num_elements; ++i) right.x[i] = wmma::__float_to_tf32(right.x[i]);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, kN, wmma::mem_row_major);
}

// The same with columns: of a 20 floats apart, of b 12, of c 16, of d 24.
__global__ void by_columns(const float* a, const float* b, const float* c, float* d) {
  Left<wmma::col_major> left;
  Right<wmma::col_major> right;
  Sum sum, product;
  wmma::load_matrix_sync(left, a, 20);
  wmma::load_matrix_sync(right, b, 12);
  wmma::load_matrix_sync(sum, c, kM, wmma::mem_col_major);
  wmma::mma_sync(product, left, right, sum);
  wmma::store_matrix_sync(d, product, 24, wmma::mem_col_major);
}

// Without c, through shared memory: rows of a 12 floats apart, of b 20, of the result 20.
__global__ void through_shared(const float* a, const float* b, float* d) {
  __shared__ __align__(32) float left_tile[kM * 12];
  __shared__ __align__(32) float right_tile[kK * 20];
  __shared__ __align__(32) float sum_tile[kM * 20];
  for (int i = threadIdx.x; i < kM * kK; i += 32) left_tile[i / kK * 12 + i % kK] = a[i];
  for (int i = threadIdx.x; i < kK * kN; i += 32) right_tile[i / kN * 20 + i % kN] = b[i];
  __syncwarp();
  Left<wmma::row_major> left;
  Right<wmma::row_major> right;
  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  wmma::load_matrix_sync(left, left_tile, 12);
  wmma::load_matrix_sync(right, right_tile, 20);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(sum_tile, sum, 20, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < kM * kN; i += 32) d[i] = sum_tile[i / kN * 20 + i % kN];
}

// out[i * 32 + lane] = the lane's register i: of the 8 x 4 matrix i of floats, (lane / 4, lane % 4). Its
// rows are `stride` floats apart.
template <int kMatrices, int kStride>
__global__ void load_fragments(const uint32_t* in, uint32_t* out) {
  __shared__ __align__(16) uint32_t rows[8 * kMatrices * kStride];
  for (int i = threadIdx.x; i < 8 * kMatrices * 4; i += 32) {
    rows[i / 4 * kStride + i % 4] = in[i];
  }
  __syncwarp();
  // Lanes 0 to 7 name the rows of the first matrix, 8 to 15 those of the second, ...
  const uint32_t row = static_cast<uint32_t>(
      __cvta_generic_to_shared(&rows[threadIdx.x % (8 * kMatrices) * kStride]));
  uint32_t its[4] = {};
  if (kMatrices == 4) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(its[0]), "=r"(its[1]), "=r"(its[2]), "=r"(its[3])
                 : "r"(row));
  } else if (kMatrices == 2) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(its[0]), "=r"(its[1])
                 : "r"(row));
  } else {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(its[0]) : "r"(row));
  }
  for (int i = 0; i < kMatrices; ++i) out[i * 32 + threadIdx.x] = its[i];
}

// ---- the cases ----

std::vector<float> whole_numbers(int count, int seed) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed) % 23 - 11));
  return values;
}

float at(const std::vector<float>& values, int i) { return values[static_cast<std::size_t>(i)]; }

// The same numbers with `stride` between the columns.
std::vector<float> in_columns(const std::vector<float>& values, int rows, int columns, int stride) {
  std::vector<float> all(static_cast<std::size_t>(columns * stride));
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      all[static_cast<std::size_t>(column * stride + row)] = at(values, row * columns + column);
    }
  }
  return all;
}

// Whether element (row, column) of the result, at row * row_step + column * column_step, is right.
bool is_product(const std::vector<float>& a, const std::vector<float>& b,
                const std::vector<float>& c, const std::vector<float>& d, int row_step,
                int column_step) {
  if (d.empty()) return false;
  bool good = true;
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      float sum = c.empty() ? 0 : at(c, row * kN + column);
      for (int k = 0; k < kK; ++k) sum += at(a, row * kK + k) * at(b, k * kN + column);
      good = good && at(d, row * row_step + column * column_step) == sum;
    }
  }
  return good;
}

const std::vector<float>& left_numbers() {
  static const std::vector<float> all = whole_numbers(kM * kK, 1);
  return all;
}
const std::vector<float>& right_numbers() {
  static const std::vector<float> all = whole_numbers(kK * kN, 5);
  return all;
}
const std::vector<float>& sum_numbers() {
  static const std::vector<float> all = whole_numbers(kM * kN, 9);
  return all;
}

bool run_by_rows() {
  DeviceArray<float> a(left_numbers()), b(right_numbers()), c(sum_numbers()), d(kM * kN);
  by_rows<<<1, 32>>>(a.get(), b.get(), c.get(), d.get());
  return is_product(left_numbers(), right_numbers(), sum_numbers(), d.download(), kN, 1);
}

bool run_by_columns() {
  DeviceArray<float> a(in_columns(left_numbers(), kM, kK, 20));
  DeviceArray<float> b(in_columns(right_numbers(), kK, kN, 12));
  DeviceArray<float> c(in_columns(sum_numbers(), kM, kN, kM));
  DeviceArray<float> d(std::vector<float>(kN * 24));
  by_columns<<<1, 32>>>(a.get(), b.get(), c.get(), d.get());
  return is_product(left_numbers(), right_numbers(), sum_numbers(), d.download(), 1, 24);
}

bool run_through_shared() {
  DeviceArray<float> a(left_numbers()), b(right_numbers()), d(kM * kN);
  through_shared<<<1, 32>>>(a.get(), b.get(), d.get());
  return is_product(left_numbers(), right_numbers(), {}, d.download(), kN, 1);
}

template <int kMatrices, int kStride>
bool run_load_fragments() {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < 32 * kMatrices; ++i) values.push_back(i * 2654435761u);
  DeviceArray<uint32_t> in(values), out(values.size());
  load_fragments<kMatrices, kStride><<<1, 32>>>(in.get(), out.get());
  return out.download() == values;
}

}  // namespace

const std::vector<Case>& cases() {
  // Sums of what each instruction of the warp costs; in shared memory rows that lie so that they share banks.
  static const std::vector<Case> all = {
      {{"by_rows", run_by_rows, global_only(12, 80, 4, 32)}, 4},
      {{"by_columns", run_by_columns, global_only(16, 88, 8, 32)}, 4},
      {{"through_shared", run_through_shared,
        with_shared(global_only(8, 32, 8, 32), {16, 28, 12}, {12, 32, 16})},
       4},
      {{"ldmatrix_x4", run_load_fragments<4, 4>,
        with_shared(global_only(4, 16, 4, 16), {1, 4, 0}, {4, 4, 0})}},
      {{"ldmatrix_x4_apart", run_load_fragments<4, 32>,
        with_shared(global_only(4, 16, 4, 16), {1, 32, 28}, {4, 32, 28})}},
      {{"ldmatrix_x2", run_load_fragments<2, 8>,
        with_shared(global_only(2, 8, 2, 8), {1, 4, 2}, {2, 4, 2})}},
      {{"ldmatrix_x1", run_load_fragments<1, 4>,
        with_shared(global_only(1, 4, 1, 4), {1, 1, 0}, {1, 1, 0})}},
  };
  return all;
}

}  // namespace matrices
