// Mathematics and bit operations of device code that the C library does not have under CUDA's names.
// sqrtf, fmaf, expf, erff and so on are the host's own: results agree with a GPU's within the error
// bounds of both. The fast forms (__expf ...) lose what they lose on a GPU, see there.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "vector_types.h"

// What the simulator does not have is a compile-time error with a sentence, not a link error.
#define SIMT_OUTSIDE(Result, name, instead)                              \
  template <typename... Arguments>                                       \
  inline Result name(Arguments&&...) {                                   \
    static_assert(sizeof...(Arguments) > 999,                            \
                  #name " is outside the simulator's subset: " instead); \
    return {};                                                           \
  }

namespace simt {
namespace detail {

template <typename To, typename From>
SIMT_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs equal sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

// A value that the compiler may not fuse into a multiply-add.
SIMT_INLINE float unfused(float v) {
#if defined(__aarch64__)
  __asm__("" : "+w"(v));
#endif
  return v;
}
SIMT_INLINE double unfused(double v) {
#if defined(__aarch64__)
  __asm__("" : "+w"(v));
#endif
  return v;
}

// A GPU's conversion to integers saturates. NaN becomes 0 from float to 32 bits, else the top bit.
template <typename Integer, typename Real>
SIMT_INLINE Integer to_integer(Real rounded) {
  constexpr bool kSigned = Integer(-1) < Integer(0);
  constexpr int kBits = 8 * sizeof(Integer);
  constexpr Integer kMin = kSigned ? Integer(1ull << (kBits - 1)) : Integer(0);
  constexpr Integer kMax = Integer(~kMin);
  const Real limit = __builtin_ldexp(1.0, kSigned ? kBits - 1 : kBits);
  if (rounded != rounded) {
    return sizeof(Real) == 4 && kBits == 32 ? Integer(0) : Integer(1ull << (kBits - 1));
  }
  if (rounded >= limit) return kMax;
  if (rounded <= (kSigned ? -limit : Real(0))) return kMin;
  return static_cast<Integer>(rounded);
}

}  // namespace detail
}  // namespace simt

// ---- min and max: the overloads of CUDA, mixed signs included ----

#define SIMT_MIN_MAX(Result, A, B)             \
  SIMT_INLINE constexpr Result min(A a, B b) { \
    const Result x = static_cast<Result>(a);   \
    const Result y = static_cast<Result>(b);   \
    return x < y ? x : y;                      \
  }                                            \
  SIMT_INLINE constexpr Result max(A a, B b) { \
    const Result x = static_cast<Result>(a);   \
    const Result y = static_cast<Result>(b);   \
    return x > y ? x : y;                      \
  }
SIMT_MIN_MAX(int, int, int)
SIMT_MIN_MAX(unsigned int, unsigned int, unsigned int)
SIMT_MIN_MAX(unsigned int, int, unsigned int)
SIMT_MIN_MAX(unsigned int, unsigned int, int)
SIMT_MIN_MAX(long, long, long)
SIMT_MIN_MAX(unsigned long, unsigned long, unsigned long)
SIMT_MIN_MAX(unsigned long, long, unsigned long)
SIMT_MIN_MAX(unsigned long, unsigned long, long)
SIMT_MIN_MAX(long long, long long, long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, long long, unsigned long long)
SIMT_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef SIMT_MIN_MAX

SIMT_INLINE float min(float a, float b) { return ::fminf(a, b); }
SIMT_INLINE float max(float a, float b) { return ::fmaxf(a, b); }
SIMT_INLINE double min(double a, double b) { return ::fmin(a, b); }
SIMT_INLINE double max(double a, double b) { return ::fmax(a, b); }
SIMT_INLINE double min(float a, double b) { return ::fmin(double(a), b); }
SIMT_INLINE double max(float a, double b) { return ::fmax(double(a), b); }
SIMT_INLINE double min(double a, float b) { return ::fmin(a, double(b)); }
SIMT_INLINE double max(double a, float b) { return ::fmax(a, double(b)); }

SIMT_INLINE unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
SIMT_INLINE unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
SIMT_INLINE long long llmin(long long a, long long b) { return a < b ? a : b; }
SIMT_INLINE long long llmax(long long a, long long b) { return a > b ? a : b; }
SIMT_INLINE unsigned long long ullmin(unsigned long long a, unsigned long long b) {
  return a < b ? a : b;
}
SIMT_INLINE unsigned long long ullmax(unsigned long long a, unsigned long long b) {
  return a > b ? a : b;
}

// ---- single precision ----
// noexcept, because newer C libraries declare some of these names themselves, and so.

SIMT_INLINE float rsqrtf(float x) noexcept { return 1.0f / ::sqrtf(x); }
SIMT_INLINE float rcbrtf(float x) noexcept { return 1.0f / ::cbrtf(x); }
SIMT_INLINE float fdividef(float x, float y) noexcept { return x / y; }
SIMT_INLINE float rhypotf(float x, float y) noexcept { return 1.0f / ::hypotf(x, y); }
SIMT_INLINE float norm3df(float x, float y, float z) noexcept {
  return static_cast<float>(::sqrt(double(x) * x + double(y) * y + double(z) * z));
}
SIMT_INLINE float norm4df(float x, float y, float z, float w) noexcept {
  return static_cast<float>(::sqrt(double(x) * x + double(y) * y + double(z) * z + double(w) * w));
}
SIMT_INLINE float rnorm3df(float x, float y, float z) noexcept { return 1.0f / norm3df(x, y, z); }
SIMT_INLINE float rnorm4df(float x, float y, float z, float w) noexcept {
  return 1.0f / norm4df(x, y, z, w);
}
// The argument is reduced exactly before it is multiplied by pi.
SIMT_INLINE double sinpi(double x) noexcept {
  const double r = ::fmod(x, 2.0);
  return r == ::rint(r) ? ::copysign(0.0, x) : ::sin(r * 3.14159265358979323846);
}
SIMT_INLINE double cospi(double x) noexcept {
  const double r = ::fabs(::fmod(x, 2.0));
  return r == 0.5 || r == 1.5 ? 0.0 : ::cos(r * 3.14159265358979323846);
}
SIMT_INLINE float sinpif(float x) noexcept { return static_cast<float>(sinpi(double(x))); }
SIMT_INLINE float cospif(float x) noexcept { return static_cast<float>(cospi(double(x))); }
SIMT_INLINE void sincospif(float x, float* sine, float* cosine) noexcept {
  *sine = sinpif(x);
  *cosine = cospif(x);
}
SIMT_INLINE float normcdff(float x) noexcept {
  return static_cast<float>(0.5 * ::erfc(-double(x) * 0.70710678118654752440));
}

SIMT_INLINE float __saturatef(float x) noexcept { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
// The fast forms. A GPU has instructions for 2^x, log2, sine, cosine and 1/x with some 22 bits, and CUDA
// makes these functions of them, by products that are rounded as well: the error of __expf grows with
// its argument. So do these, within the bounds that the CUDA C++ Programming Guide states for each.
namespace simt {
namespace detail {

// The value without the last bits of its fraction: a result of an instruction that has fewer.
SIMT_INLINE float without_last_bits(float x, int bits) noexcept {
  return bit_cast<float>(bit_cast<unsigned>(x) & ~0u << bits);
}
SIMT_INLINE float fast_exp2(float x) noexcept {
  return without_last_bits(static_cast<float>(::exp2(double(x))), 1);
}
SIMT_INLINE float fast_log2(float x) noexcept {
  const double exact = ::log2(double(x));
  // Near 1 it is the absolute error that is bounded, by 2^-22.
  if (x >= 0.5f && x <= 2.0f) return static_cast<float>(::trunc(exact * 0x1p23) * 0x1p-23);
  return without_last_bits(static_cast<float>(exact), 1);
}
SIMT_INLINE float fast_reciprocal(float x) noexcept {
  // What would be subnormal is 0.
  const float limit = 0x1p126f;
  if (x > limit || x < -limit) return ::copysignf(0.0f, x);
  return 1.0f / x;
}
// Sine and cosine take turns, not radians.
SIMT_INLINE double fast_turn(float x) noexcept {
  return double(x * 0.159154943f) * 6.28318530717958647692;
}

}  // namespace detail
}  // namespace simt

SIMT_INLINE float __fdividef(float x, float y) noexcept {
  return x * simt::detail::fast_reciprocal(y);
}
SIMT_INLINE float __expf(float x) noexcept { return simt::detail::fast_exp2(x * 1.442695041f); }
SIMT_INLINE float __exp10f(float x) noexcept { return simt::detail::fast_exp2(x * 3.321928095f); }
SIMT_INLINE float __log2f(float x) noexcept { return simt::detail::fast_log2(x); }
SIMT_INLINE float __logf(float x) noexcept { return simt::detail::fast_log2(x) * 0.693147181f; }
SIMT_INLINE float __log10f(float x) noexcept { return simt::detail::fast_log2(x) * 0.301029996f; }
SIMT_INLINE float __powf(float x, float y) noexcept {
  return simt::detail::fast_exp2(y * simt::detail::fast_log2(x));
}
SIMT_INLINE float __sinf(float x) noexcept {
  return simt::detail::without_last_bits(static_cast<float>(::sin(simt::detail::fast_turn(x))), 2);
}
SIMT_INLINE float __cosf(float x) noexcept {
  return simt::detail::without_last_bits(static_cast<float>(::cos(simt::detail::fast_turn(x))), 2);
}
SIMT_INLINE float __tanf(float x) noexcept { return __fdividef(__sinf(x), __cosf(x)); }
SIMT_INLINE float __tanhf(float x) noexcept {
  return simt::detail::without_last_bits(::tanhf(x), 12);
}
SIMT_INLINE void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = __sinf(x);
  *cosine = __cosf(x);
}

// Rounded to nearest and never fused.
SIMT_INLINE float __fadd_rn(float a, float b) { return simt::detail::unfused(a + b); }
SIMT_INLINE float __fsub_rn(float a, float b) { return simt::detail::unfused(a - b); }
SIMT_INLINE float __fmul_rn(float a, float b) { return simt::detail::unfused(a * b); }
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return ::fmaf(a, b, c); }
SIMT_INLINE float __fdiv_rn(float a, float b) { return a / b; }
SIMT_INLINE float __frcp_rn(float x) { return 1.0f / x; }
SIMT_INLINE float __fsqrt_rn(float x) { return ::sqrtf(x); }
SIMT_INLINE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / ::sqrt(double(x))); }

// ---- double precision ----

SIMT_INLINE double rsqrt(double x) noexcept { return 1.0 / ::sqrt(x); }
SIMT_INLINE float rsqrt(float x) noexcept { return rsqrtf(x); }
SIMT_INLINE double rcbrt(double x) noexcept { return 1.0 / ::cbrt(x); }
SIMT_INLINE double rhypot(double x, double y) noexcept { return 1.0 / ::hypot(x, y); }
SIMT_INLINE double norm3d(double x, double y, double z) noexcept {
  return ::hypot(::hypot(x, y), z);
}
SIMT_INLINE double norm4d(double x, double y, double z, double w) noexcept {
  return ::hypot(::hypot(x, y), ::hypot(z, w));
}
SIMT_INLINE double rnorm3d(double x, double y, double z) noexcept { return 1.0 / norm3d(x, y, z); }
SIMT_INLINE double rnorm4d(double x, double y, double z, double w) noexcept {
  return 1.0 / norm4d(x, y, z, w);
}
SIMT_INLINE void sincospi(double x, double* sine, double* cosine) noexcept {
  *sine = sinpi(x);
  *cosine = cospi(x);
}
SIMT_INLINE double normcdf(double x) noexcept { return 0.5 * ::erfc(-x * 0.70710678118654752440); }
SIMT_INLINE double __dadd_rn(double a, double b) { return simt::detail::unfused(a + b); }
SIMT_INLINE double __dsub_rn(double a, double b) { return simt::detail::unfused(a - b); }
SIMT_INLINE double __dmul_rn(double a, double b) { return simt::detail::unfused(a * b); }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }
SIMT_INLINE double __ddiv_rn(double a, double b) { return a / b; }
SIMT_INLINE double __drcp_rn(double x) { return 1.0 / x; }
SIMT_INLINE double __dsqrt_rn(double x) { return ::sqrt(x); }

#define SIMT_DIRECTED(Real, name)                                              \
  SIMT_OUTSIDE(Real, name##_rz, "it rounds to nearest only, use the _rn form") \
  SIMT_OUTSIDE(Real, name##_ru, "it rounds to nearest only, use the _rn form") \
  SIMT_OUTSIDE(Real, name##_rd, "it rounds to nearest only, use the _rn form")
SIMT_DIRECTED(float, __fadd)
SIMT_DIRECTED(float, __fsub)
SIMT_DIRECTED(float, __fmul)
SIMT_DIRECTED(float, __fmaf)
SIMT_DIRECTED(float, __fdiv)
SIMT_DIRECTED(float, __frcp)
SIMT_DIRECTED(float, __fsqrt)
SIMT_DIRECTED(double, __dadd)
SIMT_DIRECTED(double, __dsub)
SIMT_DIRECTED(double, __dmul)
SIMT_DIRECTED(double, __fma)
SIMT_DIRECTED(double, __ddiv)
SIMT_DIRECTED(double, __drcp)
SIMT_DIRECTED(double, __dsqrt)
SIMT_DIRECTED(float, __int2float)
SIMT_DIRECTED(float, __uint2float)
SIMT_DIRECTED(float, __ll2float)
SIMT_DIRECTED(float, __ull2float)
SIMT_DIRECTED(double, __ll2double)
SIMT_DIRECTED(double, __ull2double)
SIMT_DIRECTED(float, __double2float)
#undef SIMT_DIRECTED

// ---- conversions ----

SIMT_INLINE int __float_as_int(float x) { return simt::detail::bit_cast<int>(x); }
SIMT_INLINE unsigned int __float_as_uint(float x) { return simt::detail::bit_cast<unsigned>(x); }
SIMT_INLINE float __int_as_float(int x) { return simt::detail::bit_cast<float>(x); }
SIMT_INLINE float __uint_as_float(unsigned int x) { return simt::detail::bit_cast<float>(x); }
SIMT_INLINE long long __double_as_longlong(double x) {
  return simt::detail::bit_cast<long long>(x);
}
SIMT_INLINE double __longlong_as_double(long long x) { return simt::detail::bit_cast<double>(x); }
SIMT_INLINE int __double2hiint(double x) { return int(__double_as_longlong(x) >> 32); }
SIMT_INLINE int __double2loint(double x) { return int(__double_as_longlong(x)); }
SIMT_INLINE double __hiloint2double(int high, int low) {
  return __longlong_as_double((static_cast<long long>(high) << 32) | static_cast<unsigned>(low));
}

#define SIMT_TO_INTEGER(name, Integer, Real, suffix)                          \
  SIMT_INLINE Integer name##_rn(Real x) {                                     \
    return simt::detail::to_integer<Integer>(__builtin_nearbyint##suffix(x)); \
  }                                                                           \
  SIMT_INLINE Integer name##_rz(Real x) {                                     \
    return simt::detail::to_integer<Integer>(__builtin_trunc##suffix(x));     \
  }                                                                           \
  SIMT_INLINE Integer name##_ru(Real x) {                                     \
    return simt::detail::to_integer<Integer>(__builtin_ceil##suffix(x));      \
  }                                                                           \
  SIMT_INLINE Integer name##_rd(Real x) {                                     \
    return simt::detail::to_integer<Integer>(__builtin_floor##suffix(x));     \
  }
SIMT_TO_INTEGER(__float2int, int, float, f)
SIMT_TO_INTEGER(__float2uint, unsigned int, float, f)
SIMT_TO_INTEGER(__float2ll, long long, float, f)
SIMT_TO_INTEGER(__float2ull, unsigned long long, float, f)
SIMT_TO_INTEGER(__double2int, int, double, )
SIMT_TO_INTEGER(__double2uint, unsigned int, double, )
SIMT_TO_INTEGER(__double2ll, long long, double, )
SIMT_TO_INTEGER(__double2ull, unsigned long long, double, )
#undef SIMT_TO_INTEGER

SIMT_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
SIMT_INLINE float __uint2float_rn(unsigned int x) { return static_cast<float>(x); }
SIMT_INLINE float __ll2float_rn(long long x) { return static_cast<float>(x); }
SIMT_INLINE float __ull2float_rn(unsigned long long x) { return static_cast<float>(x); }
SIMT_INLINE double __int2double_rn(int x) { return x; }
SIMT_INLINE double __uint2double_rn(unsigned int x) { return x; }
SIMT_INLINE double __ll2double_rn(long long x) { return static_cast<double>(x); }
SIMT_INLINE double __ull2double_rn(unsigned long long x) { return static_cast<double>(x); }
SIMT_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }

// ---- integers and bits ----

SIMT_INLINE int __popc(unsigned int x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SIMT_INLINE int __clzll(long long x) {
  return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64;
}
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned int __brev(unsigned int x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
// Three bits of each nibble of the selector name one of the 8 bytes of y:x.
SIMT_INLINE unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned int result = 0;
  for (int i = 0; i < 32; i += 8) {
    const unsigned int byte = selector >> (i / 2) & 7u;
    result |= (static_cast<unsigned int>(bytes >> (8 * byte)) & 255u) << i;
  }
  return result;
}
SIMT_INLINE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>(
      ((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u)) >> 32);
}
SIMT_INLINE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(high) << 32 | low) >>
                                   (shift & 31u));
}
SIMT_INLINE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
SIMT_INLINE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}
SIMT_INLINE int __mulhi(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
SIMT_INLINE unsigned int __umulhi(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
SIMT_INLINE long long __mul64hi(long long x, long long y) {
  __extension__ typedef __int128 Wide;
  return static_cast<long long>((static_cast<Wide>(x) * y) >> 64);
}
SIMT_INLINE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  __extension__ typedef unsigned __int128 Wide;
  return static_cast<unsigned long long>((static_cast<Wide>(x) * y) >> 64);
}
SIMT_INLINE unsigned int __umul24(unsigned int x, unsigned int y) {
  return (x & 0xffffffu) * (y & 0xffffffu);
}
SIMT_INLINE int __mul24(int x, int y) {
  const long long a = static_cast<int>(static_cast<unsigned>(x) << 8) >> 8;
  const long long b = static_cast<int>(static_cast<unsigned>(y) << 8) >> 8;
  return static_cast<int>(a * b);
}
SIMT_INLINE unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) {
  return (x > y ? x - y : y - x) + z;
}
SIMT_INLINE unsigned int __sad(int x, int y, unsigned int z) {
  return (x > y ? static_cast<unsigned>(x) - static_cast<unsigned>(y)
                : static_cast<unsigned>(y) - static_cast<unsigned>(x)) +
         z;
}
SIMT_INLINE int __hadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
SIMT_INLINE int __rhadd(int x, int y) {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
SIMT_INLINE unsigned int __uhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
SIMT_INLINE unsigned int __urhadd(unsigned int x, unsigned int y) {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}
SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) {
    c += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
  }
  return c;
}
SIMT_INLINE unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int c) {
  for (int i = 0; i < 32; i += 8) c += (a >> i & 255u) * (b >> i & 255u);
  return c;
}
