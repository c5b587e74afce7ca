// CUDA's mathematical functions, at arguments of all sizes: what they leave is made of approximations, carries and sums that
// may be fused, so a bit that the engine has otherwise comes out here.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>

#include "launches.hpp"

namespace fidelity {
namespace {

// clang-format off
#define ONE_ARGUMENT(X) \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) \
  X(exp) X(exp2) X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(rsqrt) X(cbrt) \
  X(rcbrt) X(erf) X(erfc) X(erfinv) X(erfcinv) X(erfcx) X(tgamma) X(lgamma) X(ceil) X(trunc) \
  X(round) X(rint) X(logb) X(sinpi) X(cospi) X(normcdf) X(normcdfinv) X(j0) X(y1) X(cyl_bessel_i0)
#define TWO_ARGUMENTS(X) \
  X(pow) X(atan2) X(fmod) X(remainder) X(hypot) X(rhypot) X(fdim) X(nextafter) X(copysign)
#define FAST_FLOAT(X) \
  X(__expf) X(__exp10f) X(__logf) X(__log2f) X(__log10f) X(__sinf) X(__cosf) X(__tanf) X(__frsqrt_rn)
#define OF_HALVES(X) \
  X(hsin) X(hcos) X(hexp) X(hexp2) X(hexp10) X(hlog) X(hlog2) X(hlog10) X(hsqrt) X(hrsqrt) X(hrcp) \
  X(htanh) X(htanh_approx) X(hrint)
// clang-format on

__device__ unsigned mixed(unsigned v) {
  v = (v ^ v >> 16) * 0x7feb352du;
  v = (v ^ v >> 15) * 0x846ca68bu;
  return v ^ v >> 16;
}
// An eighth of any size; half between 2^-12 and 2^8; the others evenly between -12 and 4.
__device__ float argument(unsigned i, float) {
  const unsigned a = mixed(i), b = mixed(i + 99991);
  if (i % 8 == 0) return __uint_as_float(a);
  if (i % 8 < 5) return __uint_as_float((a & 0x807fffff) | ((115 + b % 20) << 23));
  return static_cast<float>(a >> 8) * 0x1p-20f - 12;
}
__device__ double argument(unsigned i, double) {
  const unsigned a = mixed(i), b = mixed(i + 99991), c = mixed(i + 7);
  if (i % 8 == 0) return __hiloint2double(a, b);
  if (i % 8 < 5) return __hiloint2double((a & 0x800fffff) | ((1011 + c % 20) << 20), b);
  return (a >> 8) * 0x1p-20 - 12 + b * 0x1p-50;
}
// Which NaN it is is left open.
template <typename T>
__device__ T settled(T value) {
  return isnan(value) ? T{12345} : value;
}

template <typename T>
__global__ void one_argument(T* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = argument(i, T{});
#define CALL(f) out[i] = settled(static_cast<T>(f(x))), i += gridDim.x * blockDim.x;
  ONE_ARGUMENT(CALL)
#undef CALL
}
template <typename T>
__global__ void two_arguments(T* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const T x = argument(i, T{}), y = argument(i + 1234567, T{});
#define CALL(f) out[i] = settled(static_cast<T>(f(x, y))), i += gridDim.x * blockDim.x;
  TWO_ARGUMENTS(CALL)
#undef CALL
}
__global__ void fast_functions(float* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = argument(i, 0.0f), y = argument(i + 1234567, 0.0f);
#define CALL(f) out[i] = settled(f(x)), i += gridDim.x * blockDim.x;
  FAST_FLOAT(CALL)
#undef CALL
  out[i] = settled(__powf(x, y)), i += gridDim.x * blockDim.x;
  out[i] = settled(__fdividef(x, y)), i += gridDim.x * blockDim.x;
  out[i] = settled((x + 1) * (x - 1) / (x * x + 3));
}
// At all of their values.
template <typename T>
__global__ void of_halves(unsigned short* out) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  T x;
  const auto bits = static_cast<unsigned short>(i);
  memcpy(&x, &bits, sizeof x);
#define CALL(f) \
  out[i] = __hisnan(f(x)) ? 1 : *reinterpret_cast<unsigned short*>(&(y = f(x))), i += 65536;
  T y;
  OF_HALVES(CALL)
#undef CALL
}
// A product that only sums use is rounded with each of them; one that something else uses, too, by itself.
template <typename T>
__global__ void sums_with_a_product(T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  const auto drawn = [&](unsigned which) { return T(2e-3f * (mixed(5 * i + which) & 1023) - 1); };
  const T a = drawn(0), b = drawn(1), c = drawn(2), d = drawn(3), e = drawn(4);
  const T product = a * b, other = c * d;
  out[i] = product + c;
  out[i + all] = product - d;
  out[i + 2 * all] = e - product;
  out[i + 3 * all] = other + product;
  out[i + 4 * all] = other * e;
  const T shown = b * e;
  out[i + 5 * all] = shown;
  out[i + 6 * all] = shown - a * c;
}

}  // namespace

void math_functions() {
  {
    Array<float> out(43 * 16384);
    one_argument<<<128, 128>>>(out.data());
    tell("functions of a float", out);
    two_arguments<<<128, 128>>>(out.data());
    tell("functions of two floats", out);
    fast_functions<<<128, 128>>>(out.data());
    tell("fast functions", out);
  }
  {
    Array<double> out(43 * 4096);
    one_argument<<<32, 128>>>(out.data());
    tell("functions of a double", out);
    two_arguments<<<32, 128>>>(out.data());
    tell("functions of two doubles", out);
  }
  Array<unsigned short> out(14 * 65536);
  of_halves<__half><<<512, 128>>>(out.data());
  tell("functions of a half", out);
  of_halves<__nv_bfloat16><<<512, 128>>>(out.data());
  tell("functions of a bfloat16", out);
  {
    Array<float> floats(7 * 4096);
    Array<double> doubles(7 * 4096);
    Array<__half> halves(7 * 4096);
    Array<__nv_bfloat16> brain(7 * 4096);
    sums_with_a_product<<<32, 128>>>(floats.data());
    tell("sums with a product of floats", floats);
    sums_with_a_product<<<32, 128>>>(doubles.data());
    tell("sums with a product of doubles", doubles);
    sums_with_a_product<<<32, 128>>>(halves.data());
    tell("sums with a product of halves", halves);
    sums_with_a_product<<<32, 128>>>(brain.data());
    tell("sums with a product of bfloat16", brain);
  }
}

}  // namespace fidelity
