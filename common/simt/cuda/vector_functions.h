// make_float4(x, y, z, w) and its kin.
#pragma once
#define __VECTOR_FUNCTIONS_H__

#include "vector_types.h"

#define SIMT_MAKE(name, T)                                                                 \
  SIMT_INLINE constexpr name##1 make_##name##1(T x) { return name##1 {x}; }                \
  SIMT_INLINE constexpr name##2 make_##name##2(T x, T y) { return name##2(x, y); }         \
  SIMT_INLINE constexpr name##3 make_##name##3(T x, T y, T z) { return name##3(x, y, z); } \
  SIMT_INLINE constexpr name##4 make_##name##4(T x, T y, T z, T w) { return name##4(x, y, z, w); }

SIMT_MAKE(char, signed char)
SIMT_MAKE(uchar, unsigned char)
SIMT_MAKE(short, short)
SIMT_MAKE(ushort, unsigned short)
SIMT_MAKE(int, int)
SIMT_MAKE(uint, unsigned int)
SIMT_MAKE(long, long)
SIMT_MAKE(ulong, unsigned long)
SIMT_MAKE(longlong, long long)
SIMT_MAKE(ulonglong, unsigned long long)
SIMT_MAKE(float, float)
SIMT_MAKE(double, double)
#undef SIMT_MAKE

#define SIMT_MAKE_ALIGNED(name, T)                                         \
  SIMT_INLINE constexpr name##_16a make_##name##_16a(T x, T y, T z, T w) { \
    return name##_16a(x, y, z, w);                                         \
  }                                                                        \
  SIMT_INLINE constexpr name##_32a make_##name##_32a(T x, T y, T z, T w) { \
    return name##_32a(x, y, z, w);                                         \
  }

SIMT_MAKE_ALIGNED(long4, long)
SIMT_MAKE_ALIGNED(ulong4, unsigned long)
SIMT_MAKE_ALIGNED(longlong4, long long)
SIMT_MAKE_ALIGNED(ulonglong4, unsigned long long)
SIMT_MAKE_ALIGNED(double4, double)
#undef SIMT_MAKE_ALIGNED
