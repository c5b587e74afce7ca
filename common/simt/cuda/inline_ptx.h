// What simcc makes of the PTX instructions that it knows (inline_ptx.hpp): each a function whose template
// arguments say, register by register, which operand of the asm statement stands there.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../runtime/runtime.hpp"
#include "host_defines.h"

namespace simt {
namespace ptx {

// ---- operands, by their constraints ----

template <typename T>
constexpr bool is_r = sizeof(T) == 4 && (std::is_integral<T>::value || std::is_enum<T>::value);
template <typename T>
constexpr bool is_f = std::is_same<T, float>::value;

template <typename T>
SIMT_INLINE std::uint32_t in_r(T value) {
  static_assert(is_r<T>, "an asm operand \"r\" is an integer of 32 bits (nvcc refuses others)");
  return static_cast<std::uint32_t>(value);
}
template <typename T>
SIMT_INLINE std::uint32_t in_f(T value) {
  static_assert(is_f<T>, "an asm operand \"f\" is a float (nvcc refuses others)");
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// "=r", "=f", "+r", "+f". Read only where the instruction reads it.
template <typename T>
struct Output {
  T& to;
  SIMT_INLINE void set(std::uint32_t bits) const {
    T value;
    __builtin_memcpy(&value, &bits, sizeof(value));
    to = value;
  }
  SIMT_INLINE void set(float value) const { to = static_cast<T>(value); }
};
template <typename T>
SIMT_INLINE Output<T> out_r(T& to) {
  static_assert(is_r<T>, "an asm operand \"=r\" is an integer of 32 bits (nvcc refuses others)");
  return {to};
}
template <typename T>
SIMT_INLINE Output<T> out_f(T& to) {
  static_assert(is_f<T>, "an asm operand \"=f\" is a float (nvcc refuses others)");
  return {to};
}

SIMT_INLINE std::uint32_t bits_of(std::uint32_t bits) { return bits; }
template <typename T>
SIMT_INLINE std::uint32_t bits_of(const Output<T>& both) {
  std::uint32_t bits;
  const T value = both.to;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}
template <typename Operand>
SIMT_INLINE float float_of(const Operand& operand) {
  const std::uint32_t bits = bits_of(operand);
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

// The operand with this number.
template <unsigned number, typename First, typename... Rest>
SIMT_INLINE const auto& nth(const First& first, const Rest&... rest) {
  if constexpr (number == 0) {
    return first;
  } else {
    return nth<number - 1>(rest...);
  }
}

// ---- instructions ----

// D = A B + C, of the whole warp.
template <unsigned d0, unsigned d1, unsigned d2, unsigned d3, unsigned a0, unsigned a1, unsigned a2,
          unsigned a3, unsigned b0, unsigned b1, unsigned c0, unsigned c1, unsigned c2, unsigned c3,
          typename... Operands>
SIMT_INLINE void mma_m16n8k8(const Operands&... all) {
  const MmaSums d =
      warp_mma_tf32(8, bits_of(nth<a0>(all...)), bits_of(nth<a1>(all...)), bits_of(nth<a2>(all...)),
                    bits_of(nth<a3>(all...)), bits_of(nth<b0>(all...)), bits_of(nth<b1>(all...)),
                    {float_of(nth<c0>(all...)), float_of(nth<c1>(all...)),
                     float_of(nth<c2>(all...)), float_of(nth<c3>(all...))});
  nth<d0>(all...).set(d.s0);
  nth<d1>(all...).set(d.s1);
  nth<d2>(all...).set(d.s2);
  nth<d3>(all...).set(d.s3);
}

template <unsigned d0, unsigned d1, unsigned d2, unsigned d3, unsigned a0, unsigned a1, unsigned b0,
          unsigned c0, unsigned c1, unsigned c2, unsigned c3, typename... Operands>
SIMT_INLINE void mma_m16n8k4(const Operands&... all) {
  const MmaSums d = warp_mma_tf32(4, bits_of(nth<a0>(all...)), bits_of(nth<a1>(all...)), 0, 0,
                                  bits_of(nth<b0>(all...)), 0,
                                  {float_of(nth<c0>(all...)), float_of(nth<c1>(all...)),
                                   float_of(nth<c2>(all...)), float_of(nth<c3>(all...))});
  nth<d0>(all...).set(d.s0);
  nth<d1>(all...).set(d.s1);
  nth<d2>(all...).set(d.s2);
  nth<d3>(all...).set(d.s3);
}

// To the nearest number of 10 bits after the point, ties away from zero; the 13 bits behind are zero.
// As sm_90 does it: an infinity stays one, and so does a NaN whose first bits say so.
SIMT_INLINE std::uint32_t to_tf32(std::uint32_t bits) {
  constexpr std::uint32_t infinity = 0x7f800000u, half = 0x1000u, kept = 0xffffe000u;
  if ((bits & infinity) != infinity) bits += half;
  return bits & kept;
}

// Registers first, the address last.
template <unsigned d0, unsigned address, typename... Operands>
SIMT_INLINE void ldmatrix(const Operands&... all) {
  nth<d0>(all...).set(warp_load_matrices(1, bits_of(nth<address>(all...))).r0);
}
template <unsigned d0, unsigned d1, unsigned address, typename... Operands>
SIMT_INLINE void ldmatrix(const Operands&... all) {
  const MatrixRegisters d = warp_load_matrices(2, bits_of(nth<address>(all...)));
  nth<d0>(all...).set(d.r0);
  nth<d1>(all...).set(d.r1);
}
template <unsigned d0, unsigned d1, unsigned d2, unsigned d3, unsigned address,
          typename... Operands>
SIMT_INLINE void ldmatrix(const Operands&... all) {
  const MatrixRegisters d = warp_load_matrices(4, bits_of(nth<address>(all...)));
  nth<d0>(all...).set(d.r0);
  nth<d1>(all...).set(d.r1);
  nth<d2>(all...).set(d.r2);
  nth<d3>(all...).set(d.r3);
}

template <unsigned d, unsigned a, typename... Operands>
SIMT_INLINE void cvt_rna_tf32(const Operands&... all) {
  nth<d>(all...).set(to_tf32(bits_of(nth<a>(all...))));
}

}  // namespace ptx
}  // namespace simt
