// Device functions: barriers, warp exchanges and votes, cached loads and stores, atomics.
// Each is inlined into the kernel, or notes its caller, so that reports name the kernel's own line.
#pragma once

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if __cplusplus > 201703L
#include <source_location>
#else
// What __builtin_source_location() wants to see; C++17 does not have it.
namespace std {
struct source_location {
  struct __impl {
    const char* _M_file_name;
    const char* _M_function_name;
    unsigned _M_line;
    unsigned _M_column;
  };
};
}  // namespace std
#endif

#include "../runtime/runtime.hpp"
#include "device_launch_parameters.h"
#include "math_functions.h"
#include "vector_functions.h"

// ---- copies ----

namespace simt {
namespace detail {
typedef unsigned int Word __attribute__((may_alias));

// True if both addresses and the size allow copying by 4-byte words.
SIMT_INLINE bool in_words(const void* a, const void* b, std::size_t bytes) {
  return (reinterpret_cast<std::size_t>(a) | reinterpret_cast<std::size_t>(b) | bytes) % 4 == 0;
}

template <typename T>
SIMT_INLINE void copy_units(void* to, const void* from, std::size_t count, bool backwards) {
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t i = backwards ? count - 1 - k : k;
    static_cast<T*>(to)[i] = static_cast<const T*>(from)[i];
  }
}
}  // namespace detail

// What memcpy, memmove and memset become in device code: counted and checked as accesses of 4 bytes
// where addresses and size are multiples of 4, else of single bytes. (nvcc may choose wider ones.)
SIMT_INLINE void* device_memmove(void* to, const void* from, std::size_t bytes) {
  const bool backwards = to > from;
  if (detail::in_words(to, from, bytes)) {
    detail::copy_units<detail::Word>(to, from, bytes / 4, backwards);
  } else {
    detail::copy_units<unsigned char>(to, from, bytes, backwards);
  }
  return to;
}
SIMT_INLINE void* device_memcpy(void* to, const void* from, std::size_t bytes) {
  return device_memmove(to, from, bytes);
}
SIMT_INLINE void* device_memset(void* to, int value, std::size_t bytes) {
  const unsigned char byte = static_cast<unsigned char>(value);
  if (detail::in_words(to, to, bytes)) {
    for (std::size_t i = 0; i < bytes / 4; ++i) {
      static_cast<detail::Word*>(to)[i] = byte * 0x01010101u;
    }
  } else {
    for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(to)[i] = byte;
  }
  return to;
}
}  // namespace simt

// ---- thread block clusters ----

SIMT_INLINE void __cluster_barrier_arrive(const void* place = __builtin_source_location()) {
  simt::cluster_arrive(place);
}
SIMT_INLINE void __cluster_barrier_wait(const void* place = __builtin_source_location()) {
  simt::cluster_wait(place);
}
SIMT_INLINE void __cluster_barrier_arrive_relaxed(const void* place = __builtin_source_location()) {
  simt::cluster_arrive_relaxed(place);
}
SIMT_INLINE void* __cluster_map_shared_rank(const void* pointer, unsigned int rank) {
  return simt::map_shared(pointer, rank);
}
SIMT_INLINE unsigned int __cluster_query_shared_rank(const void* pointer) {
  return simt::shared_rank(pointer);
}
SIMT_OUTSIDE(uint2, __cluster_map_shared_multicast, "it has no multicast, store to each block")
SIMT_INLINE dim3 __clusterDim() {
  return dim3(simt::cluster_extent(0), simt::cluster_extent(1), simt::cluster_extent(2));
}
SIMT_INLINE unsigned int __clusterSizeInBlocks() {
  const dim3 extents = __clusterDim();
  return extents.x * extents.y * extents.z;
}
SIMT_INLINE dim3 __clusterRelativeBlockIdx() {
  const dim3 extents = __clusterDim();
  return dim3(blockIdx.x % extents.x, blockIdx.y % extents.y, blockIdx.z % extents.z);
}
SIMT_INLINE unsigned int __clusterRelativeBlockRank() {
  const dim3 extents = __clusterDim();
  const dim3 index = __clusterRelativeBlockIdx();
  return (index.z * extents.y + index.y) * extents.x + index.x;
}
SIMT_INLINE dim3 __clusterIdx() {
  const dim3 extents = __clusterDim();
  return dim3(blockIdx.x / extents.x, blockIdx.y / extents.y, blockIdx.z / extents.z);
}
SIMT_INLINE dim3 __clusterGridDimInClusters() {
  const dim3 extents = __clusterDim();
  return dim3(gridDim.x / extents.x, gridDim.y / extents.y, gridDim.z / extents.z);
}

// Launches that may begin before earlier ones have ended. Here all has been done by then, but what comes before
// the wait is checked.
SIMT_INLINE void cudaGridDependencySynchronize() { simt::wait_for_launches(); }
SIMT_INLINE void cudaTriggerProgrammaticLaunchCompletion() { simt::let_next_launch_begin(); }

// ---- barriers and fences ----

SIMT_INLINE void __syncthreads(const void* place = __builtin_source_location()) {
  simt::block_barrier(place);
}
SIMT_INLINE int __syncthreads_count(int predicate,
                                    const void* place = __builtin_source_location()) {
  return simt::block_barrier_count(predicate, place);
}
SIMT_INLINE int __syncthreads_or(int predicate, const void* place = __builtin_source_location()) {
  return simt::block_barrier_count(predicate, place) != 0;
}
SIMT_INLINE int __syncthreads_and(int predicate, const void* place = __builtin_source_location()) {
  return simt::block_barrier_count(!predicate, place) == 0;
}
SIMT_INLINE void __syncwarp(unsigned int mask = 0xffffffffu) { simt::warp_barrier(mask); }

SIMT_INLINE void __threadfence_block() { simt::fence(false); }
SIMT_INLINE void __threadfence() { simt::fence(true); }
SIMT_INLINE void __threadfence_system() { simt::fence(true); }

SIMT_INLINE void __nanosleep(unsigned int) {}
[[noreturn]] SIMT_INLINE void __trap() { simt::trap(); }

// ---- addresses for inline PTX ----

SIMT_INLINE std::size_t __cvta_generic_to_shared(const void* pointer) {
  return simt::shared_offset(pointer);
}

// ---- warp: exchange, votes, match, reduce ----

namespace simt {
namespace detail {

template <typename T>
SIMT_INLINE std::uint64_t to_bits(T value) {
  std::uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(value));
  return bits;
}

template <typename T>
SIMT_INLINE T from_bits(std::uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

// A shuffle of a value of any size: 8 bytes at a time.
template <typename T>
SIMT_INLINE T exchange_value(unsigned int mask, T value, Exchange kind, unsigned int operand,
                             int width) {
  constexpr std::size_t whole = sizeof(T) / 8 * 8;
  char* const bytes = reinterpret_cast<char*>(&value);
  std::uint64_t bits = 0;
  for (std::size_t done = 0; done < whole; done += 8) {
    __builtin_memcpy(&bits, bytes + done, 8);
    bits = warp_exchange(mask, bits, kind, operand, width);
    __builtin_memcpy(bytes + done, &bits, 8);
  }
  if (whole < sizeof(T)) {
    bits = 0;
    __builtin_memcpy(&bits, bytes + whole, sizeof(T) - whole);
    bits = warp_exchange(mask, bits, kind, operand, width);
    __builtin_memcpy(bytes + whole, &bits, sizeof(T) - whole);
  }
  return value;
}

}  // namespace detail
}  // namespace simt

#define SIMT_SHUFFLE(T, name, kind, Operand)                                          \
  SIMT_INLINE T name(unsigned int mask, T value, Operand operand, int width = 32) {   \
    return simt::detail::from_bits<T>(                                                \
        simt::warp_exchange(mask, simt::detail::to_bits(value), simt::Exchange::kind, \
                            static_cast<unsigned int>(operand), width));              \
  }
#define SIMT_WARP_VALUES(T)                                                               \
  SIMT_SHUFFLE(T, __shfl_sync, index, int)                                                \
  SIMT_SHUFFLE(T, __shfl_up_sync, up, unsigned int)                                       \
  SIMT_SHUFFLE(T, __shfl_down_sync, down, unsigned int)                                   \
  SIMT_SHUFFLE(T, __shfl_xor_sync, butterfly, int)                                        \
  SIMT_INLINE unsigned int __match_any_sync(unsigned int mask, T value) {                 \
    return simt::warp_match_any(mask, simt::detail::to_bits(value));                      \
  }                                                                                       \
  SIMT_INLINE unsigned int __match_all_sync(unsigned int mask, T value, int* predicate) { \
    const unsigned int equal = simt::warp_match_any(mask, simt::detail::to_bits(value));  \
    const bool all = simt::warp_ballot(mask, 1) == equal;                                 \
    *predicate = all;                                                                     \
    return all ? equal : 0u;                                                              \
  }
SIMT_WARP_VALUES(int)
SIMT_WARP_VALUES(unsigned int)
SIMT_WARP_VALUES(long)
SIMT_WARP_VALUES(unsigned long)
SIMT_WARP_VALUES(long long)
SIMT_WARP_VALUES(unsigned long long)
SIMT_WARP_VALUES(float)
SIMT_WARP_VALUES(double)
#undef SIMT_WARP_VALUES
#undef SIMT_SHUFFLE

SIMT_INLINE unsigned int __activemask() { return simt::active_mask(); }
SIMT_INLINE unsigned int __ballot_sync(unsigned int mask, int predicate) {
  return simt::warp_ballot(mask, predicate);
}
SIMT_INLINE int __any_sync(unsigned int mask, int predicate) {
  return simt::warp_ballot(mask, predicate) != 0;
}
SIMT_INLINE int __all_sync(unsigned int mask, int predicate) {
  return simt::warp_ballot(mask, !predicate) == 0;
}

namespace simt {
namespace detail {

// Every lane of the mask adds up the same values in the same order.
template <typename T, typename Combine>
SIMT_INLINE T warp_reduce(unsigned int mask, T value, Combine combine) {
  unsigned int lanes = warp_ballot(mask, 1);
  bool first = true;
  T result = value;
  for (; lanes; lanes &= lanes - 1) {
    const unsigned int lane = static_cast<unsigned int>(__builtin_ctz(lanes));
    const T other = from_bits<T>(warp_exchange(mask, to_bits(value), Exchange::index, lane, 32));
    result = first ? other : combine(result, other);
    first = false;
  }
  return result;
}

}  // namespace detail
}  // namespace simt

#define SIMT_REDUCE(name, T, expression)                                                     \
  SIMT_INLINE T name(unsigned int mask, T value) {                                           \
    return simt::detail::warp_reduce(mask, value, [](T a, T b) -> T { return expression; }); \
  }
SIMT_REDUCE(__reduce_add_sync, unsigned int, a + b)
SIMT_REDUCE(__reduce_min_sync, unsigned int, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, unsigned int, a > b ? a : b)
SIMT_REDUCE(__reduce_add_sync, int,
            static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b)))
SIMT_REDUCE(__reduce_min_sync, int, a < b ? a : b)
SIMT_REDUCE(__reduce_max_sync, int, a > b ? a : b)
SIMT_REDUCE(__reduce_and_sync, unsigned int, a& b)
SIMT_REDUCE(__reduce_or_sync, unsigned int, a | b)
SIMT_REDUCE(__reduce_xor_sync, unsigned int, a ^ b)
#undef SIMT_REDUCE

// ---- loads and stores with a cache hint: plain accesses, on the caller's line ----

#define SIMT_CACHED(T)                                   \
  SIMT_INLINE T __ldg(const T* p) { return *p; }         \
  SIMT_INLINE T __ldca(const T* p) { return *p; }        \
  SIMT_INLINE T __ldcg(const T* p) { return *p; }        \
  SIMT_INLINE T __ldcs(const T* p) { return *p; }        \
  SIMT_INLINE T __ldlu(const T* p) { return *p; }        \
  SIMT_INLINE T __ldcv(const T* p) { return *p; }        \
  SIMT_INLINE void __stwb(T* p, T value) { *p = value; } \
  SIMT_INLINE void __stcg(T* p, T value) { *p = value; } \
  SIMT_INLINE void __stcs(T* p, T value) { *p = value; } \
  SIMT_INLINE void __stwt(T* p, T value) { *p = value; }
SIMT_CACHED(char)
SIMT_CACHED(signed char)
SIMT_CACHED(unsigned char)
SIMT_CACHED(short)
SIMT_CACHED(unsigned short)
SIMT_CACHED(int)
SIMT_CACHED(unsigned int)
SIMT_CACHED(long)
SIMT_CACHED(unsigned long)
SIMT_CACHED(long long)
SIMT_CACHED(unsigned long long)
SIMT_CACHED(float)
SIMT_CACHED(double)
SIMT_CACHED(char2)
SIMT_CACHED(char4)
SIMT_CACHED(uchar2)
SIMT_CACHED(uchar4)
SIMT_CACHED(short2)
SIMT_CACHED(short4)
SIMT_CACHED(ushort2)
SIMT_CACHED(ushort4)
SIMT_CACHED(int2)
SIMT_CACHED(int4)
SIMT_CACHED(uint2)
SIMT_CACHED(uint4)
SIMT_CACHED(longlong2)
SIMT_CACHED(ulonglong2)
SIMT_CACHED(float2)
SIMT_CACHED(float4)
SIMT_CACHED(double2)
#undef SIMT_CACHED

// ---- atomics (device_functions.cpp): noted with the caller's line, then really performed ----

int atomicAdd(int* address, int value);
unsigned int atomicAdd(unsigned int* address, unsigned int value);
unsigned long long atomicAdd(unsigned long long* address, unsigned long long value);
float atomicAdd(float* address, float value);
double atomicAdd(double* address, double value);
int atomicSub(int* address, int value);
unsigned int atomicSub(unsigned int* address, unsigned int value);
int atomicExch(int* address, int value);
unsigned int atomicExch(unsigned int* address, unsigned int value);
unsigned long long atomicExch(unsigned long long* address, unsigned long long value);
float atomicExch(float* address, float value);
int atomicMin(int* address, int value);
unsigned int atomicMin(unsigned int* address, unsigned int value);
long long atomicMin(long long* address, long long value);
unsigned long long atomicMin(unsigned long long* address, unsigned long long value);
int atomicMax(int* address, int value);
unsigned int atomicMax(unsigned int* address, unsigned int value);
long long atomicMax(long long* address, long long value);
unsigned long long atomicMax(unsigned long long* address, unsigned long long value);
unsigned int atomicInc(unsigned int* address, unsigned int limit);
unsigned int atomicDec(unsigned int* address, unsigned int limit);
unsigned short atomicCAS(unsigned short* address, unsigned short compare, unsigned short value);
int atomicCAS(int* address, int compare, int value);
unsigned int atomicCAS(unsigned int* address, unsigned int compare, unsigned int value);
unsigned long long atomicCAS(unsigned long long* address, unsigned long long compare,
                             unsigned long long value);
int atomicAnd(int* address, int value);
unsigned int atomicAnd(unsigned int* address, unsigned int value);
unsigned long long atomicAnd(unsigned long long* address, unsigned long long value);
int atomicOr(int* address, int value);
unsigned int atomicOr(unsigned int* address, unsigned int value);
unsigned long long atomicOr(unsigned long long* address, unsigned long long value);
int atomicXor(int* address, int value);
unsigned int atomicXor(unsigned int* address, unsigned int value);
unsigned long long atomicXor(unsigned long long* address, unsigned long long value);

// The scopes only weaken the order; here all atomics have the strongest.
#define SIMT_SCOPED(name)                                     \
  template <typename T, typename... Values>                   \
  SIMT_INLINE T name##_block(T* address, Values... values) {  \
    return name(address, static_cast<T>(values)...);          \
  }                                                           \
  template <typename T, typename... Values>                   \
  SIMT_INLINE T name##_system(T* address, Values... values) { \
    return name(address, static_cast<T>(values)...);          \
  }
SIMT_SCOPED(atomicAdd)
SIMT_SCOPED(atomicSub)
SIMT_SCOPED(atomicExch)
SIMT_SCOPED(atomicMin)
SIMT_SCOPED(atomicMax)
SIMT_SCOPED(atomicInc)
SIMT_SCOPED(atomicDec)
SIMT_SCOPED(atomicCAS)
SIMT_SCOPED(atomicAnd)
SIMT_SCOPED(atomicOr)
SIMT_SCOPED(atomicXor)
#undef SIMT_SCOPED

// ---- copies in host code ----

namespace simt {

// What they become in the host code of a .cu file: the compiler shows plain accesses of the host, but not
// those of the library.
SIMT_INLINE void* host_memcpy(void* to, const void* from, std::size_t bytes) {
  host_copies(to, from, bytes);
  return __builtin_memcpy(to, from, bytes);
}
SIMT_INLINE void* host_memmove(void* to, const void* from, std::size_t bytes) {
  host_copies(to, from, bytes);
  return __builtin_memmove(to, from, bytes);
}
SIMT_INLINE void* host_memset(void* to, int value, std::size_t bytes) {
  host_copies(to, nullptr, bytes);
  return __builtin_memset(to, value, bytes);
}

}  // namespace simt

// ---- the heap ----

namespace simt {

// What malloc, free, new and delete become in device code: the heap has the size that
// cudaDeviceSetLimit(cudaLimitMallocHeapSize) gives it, and null means that it is full.
void* device_malloc(std::size_t bytes);
void device_free(void* pointer);

struct DeviceHeap {};
inline constexpr DeviceHeap device_heap{};

template <bool array>
struct DeviceDelete {
  template <typename T>
  SIMT_INLINE void operator->*(T* pointer) const {
    if (pointer == nullptr) return;
    if constexpr (array) {
      // Where they have destructors, their number stands before them, in a way of the compiler's.
      static_assert(__has_trivial_destructor(T),
                    "delete[] of objects with destructors in device code is outside the "
                    "simulator's subset: call the destructors and free() the memory");
    } else {
      pointer->~T();
    }
    device_free(pointer);
  }
};

}  // namespace simt

SIMT_INLINE void* operator new(std::size_t bytes, simt::DeviceHeap) noexcept {
  return simt::device_malloc(bytes);
}
SIMT_INLINE void* operator new[](std::size_t bytes, simt::DeviceHeap) noexcept {
  return simt::device_malloc(bytes);
}

// ---- the clock ----

// There is no time here. So that micro-benchmarks run, the clock counts how often it was read: it only
// grows, and differences say nothing.
long long clock64();

namespace simt {
// What clock() becomes in device code.
SIMT_INLINE clock_t device_clock() { return static_cast<clock_t>(clock64()); }
}  // namespace simt

// ---- outside the subset ----

SIMT_OUTSIDE(int, __shfl, "no GPU since 2017 has it, write __shfl_sync(0xffffffff, ...)")
SIMT_OUTSIDE(int, __shfl_up, "no GPU since 2017 has it, write __shfl_up_sync(0xffffffff, ...)")
SIMT_OUTSIDE(int, __shfl_down, "no GPU since 2017 has it, write __shfl_down_sync(0xffffffff, ...)")
SIMT_OUTSIDE(int, __shfl_xor, "no GPU since 2017 has it, write __shfl_xor_sync(0xffffffff, ...)")
SIMT_OUTSIDE(unsigned int, __ballot,
             "no GPU since 2017 has it, write __ballot_sync(0xffffffff, ...)")
SIMT_OUTSIDE(int, __any, "no GPU since 2017 has it, write __any_sync(0xffffffff, ...)")
SIMT_OUTSIDE(int, __all, "no GPU since 2017 has it, write __all_sync(0xffffffff, ...)")

SIMT_OUTSIDE(int, tex1D, "it has no textures, read the array with __ldg")
SIMT_OUTSIDE(int, tex2D, "it has no textures, read the array with __ldg")
SIMT_OUTSIDE(int, tex3D, "it has no textures, read the array with __ldg")
SIMT_OUTSIDE(int, tex1Dfetch, "it has no textures, read the array with __ldg")
SIMT_OUTSIDE(int, surf2Dread, "it has no surfaces, use an ordinary array")
SIMT_OUTSIDE(int, surf2Dwrite, "it has no surfaces, use an ordinary array")
