// Step 5 of stage 11: a piece is a cell of one image, a float, or of four images that are neighbours, 16 bytes.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace halo::fused_pooling {

// One cell of each of a piece's images, into what was found of their windows so far.
template <bool kAverage>
__device__ __forceinline__ void join(float& result, float cell) {
  result = kAverage ? result + cell : fmaxf(result, cell);
}
template <bool kAverage>
__device__ __forceinline__ void join(float4& result, const float4& cell) {
  join<kAverage>(result.x, cell.x);
  join<kAverage>(result.y, cell.y);
  join<kAverage>(result.z, cell.z);
  join<kAverage>(result.w, cell.w);
}
__device__ __forceinline__ void fill(float& piece, float value) { piece = value; }
__device__ __forceinline__ void fill(float4& piece, float value) {
  piece = make_float4(value, value, value, value);
}
// Changes nothing that it joins.
template <bool kAverage, class Piece>
__device__ __forceinline__ Piece ghost_piece() {
  Piece piece;
  fill(piece, kAverage ? 0.0f : -INFINITY);
  return piece;
}
__device__ __forceinline__ float quotient(float piece, float count) { return piece / count; }
__device__ __forceinline__ float4 quotient(const float4& piece, float count) {
  return make_float4(piece.x / count, piece.y / count, piece.z / count, piece.w / count);
}

}  // namespace halo::fused_pooling
