// Stands in for NVIDIA's <mma.h>: matrices of a warp, of the shape 16 x 16 x 8 with TF32 inputs. A lane holds
// the elements that nvcc gives it for sm_90, and loads, stores and multiplies with the instructions that nvcc
// makes: the traffic is theirs.
#pragma once

#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <typename Use, int m, int n, int k, typename T, typename Layout = void>
class fragment {
  static_assert(sizeof(Use) == 0,
                "this wmma::fragment is outside the simulator's subset: it has 16 x 16 x 8 with "
                "precision::tf32, and float sums");
};

// Elements of a lane and their numbers.
template <typename T, int size>
struct __frag_base {
  typedef T element_type;
  typedef float storage_element_type;
  enum { num_elements = size, num_storage_elements = size };
  float x[size];
};
template <typename Layout>
class fragment<matrix_a, 16, 16, 8, precision::tf32, Layout>
    : public __frag_base<precision::tf32, 4> {};
template <typename Layout>
class fragment<matrix_b, 16, 16, 8, precision::tf32, Layout>
    : public __frag_base<precision::tf32, 4> {};
template <>
class fragment<accumulator, 16, 16, 8, float> : public __frag_base<float, 8> {};

}  // namespace wmma
}  // namespace nvcuda

namespace simt {
namespace detail {

// Lane 4 g + t.
struct MatrixLane {
  unsigned int g, t;
};
SIMT_INLINE MatrixLane matrix_lane() {
  const unsigned int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  return {thread % 32 / 4, thread % 4};
}

// Of a and b: whether lines of memory are what g counts, or t.
SIMT_INLINE const float* matrix_element(const float* p, unsigned int ldm, bool g_lines,
                                        unsigned int g, unsigned int t) {
  return p + (g_lines ? g * ldm + t : t * ldm + g);
}

}  // namespace detail
}  // namespace simt

namespace nvcuda {
namespace wmma {

SIMT_INLINE float __float_to_tf32(float value) {
  return __uint_as_float(simt::ptx::to_tf32(__float_as_uint(value)));
}

template <typename Fragment>
SIMT_INLINE void fill_fragment(Fragment& f, const float& value) {
  const float its = value;
  for (float& element : f.x) element = its;
}

// (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4), with 4 bytes each. `ldm` floats lie between the beginnings
// of lines.
template <typename Layout>
SIMT_INLINE void load_matrix_sync(fragment<matrix_a, 16, 16, 8, precision::tf32, Layout>& f,
                                  const float* p, unsigned int ldm) {
  simt::warp_aligned();
  constexpr bool rows = std::is_same<Layout, row_major>::value;
  const auto [g, t] = simt::detail::matrix_lane();
  f.x[0] = *simt::detail::matrix_element(p, ldm, rows, g, t);
  f.x[1] = *simt::detail::matrix_element(p, ldm, rows, g + 8, t);
  f.x[2] = *simt::detail::matrix_element(p, ldm, rows, g, t + 4);
  f.x[3] = *simt::detail::matrix_element(p, ldm, rows, g + 8, t + 4);
}

// (t, g), (t + 4, g), (t, g + 8), (t + 4, g + 8).
template <typename Layout>
SIMT_INLINE void load_matrix_sync(fragment<matrix_b, 16, 16, 8, precision::tf32, Layout>& f,
                                  const float* p, unsigned int ldm) {
  simt::warp_aligned();
  constexpr bool columns = std::is_same<Layout, col_major>::value;
  const auto [g, t] = simt::detail::matrix_lane();
  f.x[0] = *simt::detail::matrix_element(p, ldm, columns, g, t);
  f.x[1] = *simt::detail::matrix_element(p, ldm, columns, g, t + 4);
  f.x[2] = *simt::detail::matrix_element(p, ldm, columns, g + 8, t);
  f.x[3] = *simt::detail::matrix_element(p, ldm, columns, g + 8, t + 4);
}

// (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1), and the same eight columns on: of rows two at once.
SIMT_INLINE void load_matrix_sync(fragment<accumulator, 16, 16, 8, float>& f, const float* p,
                                  unsigned int ldm, layout_t layout) {
  simt::warp_aligned();
  const auto [g, t] = simt::detail::matrix_lane();
  if (layout == mem_row_major) {
    const float2* const pairs = reinterpret_cast<const float2*>(p) + g * (ldm / 2) + t;
    for (int i = 0; i < 4; ++i) {
      const float2 pair = pairs[i % 2 * 8 * (ldm / 2) + i / 2 * 4];
      f.x[2 * i] = pair.x;
      f.x[2 * i + 1] = pair.y;
    }
  } else {
    const float* const its = p + 2 * t * ldm + g;
    for (int i = 0; i < 8; ++i) f.x[i] = its[(i % 2 + i / 4 * 8) * ldm + i / 2 % 2 * 8];
  }
}

SIMT_INLINE void store_matrix_sync(float* p, const fragment<accumulator, 16, 16, 8, float>& f,
                                   unsigned int ldm, layout_t layout) {
  simt::warp_aligned();
  const auto [g, t] = simt::detail::matrix_lane();
  if (layout == mem_row_major) {
    float2* const pairs = reinterpret_cast<float2*>(p) + g * (ldm / 2) + t;
    for (int i = 0; i < 4; ++i) {
      pairs[i % 2 * 8 * (ldm / 2) + i / 2 * 4] = make_float2(f.x[2 * i], f.x[2 * i + 1]);
    }
  } else {
    float* const its = p + 2 * t * ldm + g;
    for (int i = 0; i < 8; ++i) its[(i % 2 + i / 4 * 8) * ldm + i / 2 % 2 * 8] = f.x[i];
  }
}

// Four m16n8k4: for the left and the right half of the columns, the first and the last four of the depth.
template <typename LayoutA, typename LayoutB>
SIMT_INLINE void mma_sync(fragment<accumulator, 16, 16, 8, float>& d,
                          const fragment<matrix_a, 16, 16, 8, precision::tf32, LayoutA>& a,
                          const fragment<matrix_b, 16, 16, 8, precision::tf32, LayoutB>& b,
                          const fragment<accumulator, 16, 16, 8, float>& c) {
  float sums[8];
  for (int i = 0; i < 8; ++i) sums[i] = c.x[i];
  for (int half = 0; half < 2; ++half) {
    for (int part = 0; part < 2; ++part) {
      float* const its = sums + 4 * half;
      const simt::MmaSums next = simt::warp_mma_tf32(
          4, __float_as_uint(a.x[2 * part]), __float_as_uint(a.x[2 * part + 1]), 0, 0,
          __float_as_uint(b.x[2 * half + part]), 0, {its[0], its[1], its[2], its[3]});
      its[0] = next.s0;
      its[1] = next.s1;
      its[2] = next.s2;
      its[3] = next.s3;
    }
  }
  for (int i = 0; i < 8; ++i) d.x[i] = sums[i];
}

}  // namespace wmma
}  // namespace nvcuda
