// The discrete Fourier transform of 16 complex numbers in a thread's registers, of which larger ones are made.
#pragma once

namespace halo::conv1d_tiled_halo {

constexpr int kRadix = 16;

__device__ inline float2 times(float2 a, float2 b) {
  return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

// The discrete Fourier transform of v[0], v[kStep], v[2 kStep], v[3 kStep], in place.
template <int kStep>
__device__ void transform4(float2* v) {
  const float2 a = v[0], b = v[kStep], c = v[2 * kStep], d = v[3 * kStep];
  const float2 p = {a.x + c.x, a.y + c.y}, q = {a.x - c.x, a.y - c.y};
  const float2 r = {b.x + d.x, b.y + d.y}, s = {b.x - d.x, b.y - d.y};
  v[0] = {p.x + r.x, p.y + r.y};
  v[kStep] = {q.x + s.y, q.y - s.x};
  v[2 * kStep] = {p.x - r.x, p.y - r.y};
  v[3 * kStep] = {q.x - s.y, q.y + s.x};
}

// The same of 16 numbers: four times four, with roots of unity between.
__device__ inline void transform16(float2 (&v)[kRadix]) {
  constexpr float kCos[] = {1,  0.923879533f,  0.707106781f,  0.382683432f,
                            0,  -0.382683432f, -0.707106781f, -0.923879533f,
                            -1, -0.923879533f};
  constexpr float kSin[] = {0, 0.382683432f, 0.707106781f, 0.923879533f,
                            1, 0.923879533f, 0.707106781f, 0.382683432f,
                            0, -0.382683432f};
#pragma unroll
  for (int i = 0; i < 4; ++i) transform4<4>(v + i);
  float2 turned[kRadix];
#pragma unroll
  for (int i = 0; i < kRadix; ++i) {
    const int turn = i % 4 * (i / 4);  // of 16; for none the compiler would multiply all the same
    turned[i] = turn == 0 ? v[i] : times(v[i], {kCos[turn], -kSin[turn]});
  }
#pragma unroll
  for (int j = 0; j < 4; ++j) transform4<1>(turned + 4 * j);
#pragma unroll
  for (int k = 0; k < kRadix; ++k) v[k] = turned[4 * (k % 4) + k / 4];
}

// v[j] times root^j. Each power is a product of two of half its size, so that few roundings add up.
__device__ inline void turn(float2 (&v)[kRadix], float2 root) {
  float2 powers[kRadix] = {{1, 0}, root};
#pragma unroll
  for (int j = 2; j < kRadix; ++j) powers[j] = times(powers[j / 2], powers[j - j / 2]);
#pragma unroll
  for (int j = 1; j < kRadix; ++j) v[j] = times(v[j], powers[j]);
}

}  // namespace halo::conv1d_tiled_halo
