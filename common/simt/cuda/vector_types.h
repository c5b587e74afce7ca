// The built-in vector types (char1 .. double4), dim3, and the types of threadIdx and its kin.
//
// A GPU moves a vector of 2, 4, 8 or 16 bytes with one instruction; a host compiler would split such
// a copy into its members before anyone can count it. So these types have a copy constructor and an
// assignment that move the whole value through a register the compiler may not look into. Vectors of
// other sizes move as nvcc moves them: member by member, or as two halves of 16 bytes.
//
// They keep a trivial default constructor (they can stand in __shared__ arrays and unions) and can be
// initialised with braces as the aggregates they are in CUDA. What is lost against CUDA: designated
// initialisers, brace elision, and copying a union that holds one.
#pragma once
#define __VECTOR_TYPES_H__

#include "host_defines.h"

// A copy that may run at compile time needs C++20; before that, only the other constructors may.
#if __cplusplus >= 202002L
#define SIMT_CONSTEXPR_COPY constexpr
#define SIMT_AT_COMPILE_TIME __builtin_is_constant_evaluated()
#else
#define SIMT_CONSTEXPR_COPY
#define SIMT_AT_COMPILE_TIME false
#endif

// To g++ a memset of such a vector looks suspicious, which it is not.
#if defined(__CUDACC__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wclass-memaccess"
#endif

namespace simt {
namespace detail {

template <int kBytes>
struct Register;  // the register type for a whole value of so many bytes
template <>
struct Register<2> {
  typedef unsigned short Type __attribute__((may_alias));
};
template <>
struct Register<4> {
  typedef unsigned int Type __attribute__((may_alias));
};
template <>
struct Register<8> {
  typedef unsigned long long Type __attribute__((may_alias));
};
template <>
struct Register<16> {
  typedef float Type __attribute__((vector_size(16), may_alias));
};

template <int kBytes>
SIMT_INLINE void copy_whole(void* to, const void* from) {
  using Type = typename Register<kBytes>::Type;
  Type value = *static_cast<const Type*>(from);
  __asm__("" : "+r"(value));
  *static_cast<Type*>(to) = value;
}

template <>
SIMT_INLINE void copy_whole<16>(void* to, const void* from) {
  using Type = Register<16>::Type;
  Type value = *static_cast<const Type*>(from);
#if defined(__x86_64__)
  __asm__("" : "+x"(value));
#elif defined(__aarch64__)
  __asm__("" : "+w"(value));
#else
#error "the simulator needs x86-64 or AArch64: add the register class of 16-byte vectors here"
#endif
  *static_cast<Type*>(to) = value;
}

template <>
SIMT_INLINE void copy_whole<32>(void* to, const void* from) {
  copy_whole<16>(to, from);
  copy_whole<16>(static_cast<char*>(to) + 16, static_cast<const char*>(from) + 16);
}

// Lets `float4 v = {1.0f}` through, but not `float4 v = 1.0f`: that would take two conversions.
template <typename T>
struct First {
  T value;
  SIMT_INLINE constexpr First(T first) : value(first) {}
};

}  // namespace detail

// The type of threadIdx, blockIdx, blockDim and gridDim. It has no constructor, or g++ would count
// every look at them as a memory access.
struct BuiltinIndex {
  unsigned int x, y, z;
};

}  // namespace simt

#define SIMT_VECTOR_1(Name, T) \
  struct Name {                \
    T x;                       \
  };

#define SIMT_VECTOR_2(Name, T)                                                        \
  struct alignas(2 * sizeof(T)) Name {                                                \
    T x, y;                                                                           \
    Name() = default;                                                                 \
    SIMT_INLINE constexpr Name(simt::detail::First<T> first) : x(first.value), y() {} \
    SIMT_INLINE constexpr Name(T x_, T y_) : x(x_), y(y_) {}                          \
    SIMT_INLINE SIMT_CONSTEXPR_COPY Name(const Name& other) {                         \
      if (SIMT_AT_COMPILE_TIME) {                                                     \
        x = other.x, y = other.y;                                                     \
      } else {                                                                        \
        simt::detail::copy_whole<2 * sizeof(T)>(this, &other);                        \
      }                                                                               \
    }                                                                                 \
    SIMT_INLINE SIMT_CONSTEXPR_COPY Name& operator=(const Name& other) {              \
      if (SIMT_AT_COMPILE_TIME) {                                                     \
        x = other.x, y = other.y;                                                     \
      } else {                                                                        \
        simt::detail::copy_whole<2 * sizeof(T)>(this, &other);                        \
      }                                                                               \
      return *this;                                                                   \
    }                                                                                 \
  };

// Three members have no register of their own: they move one by one.
#define SIMT_VECTOR_3(Name, T, ...)                                                        \
  struct Name {                                                                            \
    T x, y, z;                                                                             \
    Name() = default;                                                                      \
    SIMT_INLINE constexpr Name(simt::detail::First<T> first) : x(first.value), y(), z() {} \
    SIMT_INLINE constexpr Name(T x_, T y_) : x(x_), y(y_), z() {}                          \
    SIMT_INLINE constexpr Name(T x_, T y_, T z_) : x(x_), y(y_), z(z_) {}                  \
    __VA_ARGS__                                                                            \
    SIMT_INLINE constexpr Name(const Name& other) : x(other.x), y(other.y), z(other.z) {}  \
    SIMT_INLINE constexpr Name& operator=(const Name& other) {                             \
      x = other.x, y = other.y, z = other.z;                                               \
      return *this;                                                                        \
    }                                                                                      \
  };

#define SIMT_VECTOR_4(Name, T, alignment)                                                       \
  struct alignas(alignment) Name {                                                              \
    T x, y, z, w;                                                                               \
    Name() = default;                                                                           \
    SIMT_INLINE constexpr Name(simt::detail::First<T> first) : x(first.value), y(), z(), w() {} \
    SIMT_INLINE constexpr Name(T x_, T y_) : x(x_), y(y_), z(), w() {}                          \
    SIMT_INLINE constexpr Name(T x_, T y_, T z_) : x(x_), y(y_), z(z_), w() {}                  \
    SIMT_INLINE constexpr Name(T x_, T y_, T z_, T w_) : x(x_), y(y_), z(z_), w(w_) {}          \
    SIMT_INLINE SIMT_CONSTEXPR_COPY Name(const Name& other) {                                   \
      if (SIMT_AT_COMPILE_TIME) {                                                               \
        x = other.x, y = other.y, z = other.z, w = other.w;                                     \
      } else {                                                                                  \
        simt::detail::copy_whole<4 * sizeof(T)>(this, &other);                                  \
      }                                                                                         \
    }                                                                                           \
    SIMT_INLINE SIMT_CONSTEXPR_COPY Name& operator=(const Name& other) {                        \
      if (SIMT_AT_COMPILE_TIME) {                                                               \
        x = other.x, y = other.y, z = other.z, w = other.w;                                     \
      } else {                                                                                  \
        simt::detail::copy_whole<4 * sizeof(T)>(this, &other);                                  \
      }                                                                                         \
      return *this;                                                                             \
    }                                                                                           \
  };

#define SIMT_VECTORS(name, T) \
  SIMT_VECTOR_1(name##1, T)   \
  SIMT_VECTOR_2(name##2, T)   \
  SIMT_VECTOR_3(name##3, T, ) \
  SIMT_VECTOR_4(name##4, T, (sizeof(T) < 4 ? 4 * sizeof(T) : 16))

SIMT_VECTORS(char, signed char)
SIMT_VECTORS(uchar, unsigned char)
SIMT_VECTORS(short, short)
SIMT_VECTORS(ushort, unsigned short)
SIMT_VECTORS(int, int)
SIMT_VECTOR_1(uint1, unsigned int)
SIMT_VECTOR_2(uint2, unsigned int)
SIMT_VECTOR_3(uint3, unsigned int, SIMT_INLINE constexpr uint3(const simt::BuiltinIndex& i)
              : x(i.x), y(i.y), z(i.z){})
SIMT_VECTOR_4(uint4, unsigned int, 16)
SIMT_VECTORS(long, long)
SIMT_VECTORS(ulong, unsigned long)
SIMT_VECTORS(longlong, long long)
SIMT_VECTORS(ulonglong, unsigned long long)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)

// CUDA 13 names the alignment of the four-wide vectors of 8-byte members.
SIMT_VECTOR_4(long4_16a, long, 16)
SIMT_VECTOR_4(ulong4_16a, unsigned long, 16)
SIMT_VECTOR_4(longlong4_16a, long long, 16)
SIMT_VECTOR_4(ulonglong4_16a, unsigned long long, 16)
SIMT_VECTOR_4(double4_16a, double, 16)
SIMT_VECTOR_4(long4_32a, long, 32)
SIMT_VECTOR_4(ulong4_32a, unsigned long, 32)
SIMT_VECTOR_4(longlong4_32a, long long, 32)
SIMT_VECTOR_4(ulonglong4_32a, unsigned long long, 32)
SIMT_VECTOR_4(double4_32a, double, 32)

#undef SIMT_VECTORS
#undef SIMT_VECTOR_1
#undef SIMT_VECTOR_2
#undef SIMT_VECTOR_3
#undef SIMT_VECTOR_4

// Extents of a grid or a block; what is not given is 1.
struct dim3 {
  unsigned int x, y, z;
  SIMT_INLINE constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
      : x(x_), y(y_), z(z_) {}
  SIMT_INLINE constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  SIMT_INLINE constexpr dim3(const simt::BuiltinIndex& i) : x(i.x), y(i.y), z(i.z) {}
  SIMT_INLINE constexpr operator uint3() const { return uint3(x, y, z); }
};
