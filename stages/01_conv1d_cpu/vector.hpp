// Vectors of floats, as wide as the registers of the processor that this is built for.
#pragma once

#include <cstring>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace halo::conv1d_cpu {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif
typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));

// A block's sums: 8 registers hide the latency of a multiply-add, and leave as many for the rest.
inline constexpr int kSums = 8;
inline constexpr int kBlock = kSums * kLanes;

// Need not be aligned.
inline Vector load(const float* cells) {
  Vector vector;
  std::memcpy(&vector, cells, sizeof vector);
  return vector;
}

// A store that goes to memory past the caches. An ordinary one first reads the line it is about to
// overwrite: three transfers where two would do. `to` is aligned to a Vector.
inline void store_past_caches(float* to, Vector vector) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, vector);
#elif defined(__AVX__)
  _mm256_stream_ps(to, vector);
#elif defined(__SSE__)
  _mm_stream_ps(to, vector);
#else
  std::memcpy(to, &vector, sizeof vector);
#endif
}

// Stores past the caches are not ordered with others: call this before another thread is told of
// them.
inline void finish_stores() {
#if defined(__SSE__)
  _mm_sfence();
#endif
}

// Stores a block's sums.
inline void store(float* to, const Vector (&sums)[kSums], bool past_caches) {
  if (past_caches) {
#pragma GCC unroll kSums
    for (int v = 0; v < kSums; ++v) store_past_caches(to + v * kLanes, sums[v]);
  } else {
#pragma GCC unroll kSums
    for (int v = 0; v < kSums; ++v) std::memcpy(to + v * kLanes, &sums[v], sizeof sums[v]);
  }
}

}  // namespace halo::conv1d_cpu
