// How data lie: structures, transposes of every width, pointers of any space, parts of words.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

namespace cg = cooperative_groups;

__global__ void heat3d(const float* u, float* v, int nx, int ny, int nz) {
  __shared__ float s[10][34];
  int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y, tx = threadIdx.x + 1,
      ty = threadIdx.y + 1, p = nx * ny;
  bool in = i < nx && j < ny;
  float below = 0, cur = in ? u[j * nx + i] : 0, above = in ? u[p + j * nx + i] : 0;
  for (int k = 1; k < nz - 1; ++k) {
    below = cur;
    cur = above;
    above = in ? u[(k + 1) * p + j * nx + i] : 0;
    __syncthreads();
    s[ty][tx] = cur;
    if (in && threadIdx.x == 0 && i > 0) s[ty][0] = u[k * p + j * nx + i - 1];
    if (in && threadIdx.x == 31 && i < nx - 1) s[ty][33] = u[k * p + j * nx + i + 1];
    if (in && threadIdx.y == 0 && j > 0) s[0][tx] = u[k * p + (j - 1) * nx + i];
    if (in && threadIdx.y == 7 && j < ny - 1) s[9][tx] = u[k * p + (j + 1) * nx + i];
    __syncthreads();
    if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1)
      v[k * p + j * nx + i] = cur + 0.125f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] +
                                              s[ty + 1][tx] + below + above - 6 * cur);
  }
}

__global__ void sobel(const uchar4* in, short* out, int w, int h) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  __shared__ int g[18][19];
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 18 * 18; i += 256) {
    int xx = min(max((int)(blockIdx.x * 16) + i % 18 - 1, 0), w - 1),
        yy = min(max((int)(blockIdx.y * 16) + i / 18 - 1, 0), h - 1);
    uchar4 p = in[yy * w + xx];
    g[i / 18][i % 18] = (p.x * 77 + p.y * 151 + p.z * 28) >> 8;
  }
  __syncthreads();
  if (x >= w || y >= h) return;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int gx = g[ty - 1][tx + 1] + 2 * g[ty][tx + 1] + g[ty + 1][tx + 1] - g[ty - 1][tx - 1] -
           2 * g[ty][tx - 1] - g[ty + 1][tx - 1],
      gy = g[ty + 1][tx - 1] + 2 * g[ty + 1][tx] + g[ty + 1][tx + 1] - g[ty - 1][tx - 1] -
           2 * g[ty - 1][tx] - g[ty - 1][tx + 1];
  out[y * w + x] = abs(gx) + abs(gy);
}

template <typename T, int P>
__global__ void tr_t(const T* in, T* out, int n) {
  __shared__ T t[16][16 + P];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  t[threadIdx.y][threadIdx.x] = in[y * n + x];
  __syncthreads();
  out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] =
      t[threadIdx.x][threadIdx.y];
}

__global__ void tr_xor(const double2* in, double2* out, int n) {
  __shared__ double2 t[16 * 16];
  int x = threadIdx.x, y = threadIdx.y;
  t[y * 16 + (x ^ y)] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];
  __syncthreads();
  out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = t[x * 16 + (x ^ y)];
}

struct P5 {
  float a, b, c, d, e;
};

struct alignas(8) P6 {
  float a;
  short b, c;
  float d, e;
  char f;
};

__global__ void six(const P6* in, P6* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    P6 p = in[i];
    p.b += p.c;
    p.f++;
    out[i] = p;
  }
}

__global__ void five_shared(const P5* in, P5* out, int n) {
  __shared__ P5 s[96];
  int i = blockIdx.x * 96 + threadIdx.x;
  s[threadIdx.x] = in[i];
  __syncthreads();
  P5 q = s[95 - threadIdx.x];
  q.a += s[threadIdx.x].b;
  out[i] = q;
}

__global__ void generic_lanes(const float* g, float* out, int n) {
  __shared__ float s[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  s[t] = g[i] * 2;
  __syncthreads();
  const float* p = (t % 3) ? g + i : s + (127 - t);
  float w = *p;
  __syncthreads();
  out[i] = w;
  float* q = (t % 5) ? out + n + i : s + t;
  *q = w + 1;
  __syncthreads();
  if (t % 5 == 0) out[n + i] = s[t];
}

__global__ void local_index(const int* in, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int h[16] = {};
  for (int k = 0; k < 20; ++k) h[in[(i + k * 37) % n] & 15]++;
  int b = 0;
  for (int k = 0; k < 16; ++k)
    if (h[k] > h[b]) b = k;
  out[i] = b * 100 + h[b];
}

union U {
  float f;
  unsigned u;
  unsigned char b[4];
  short h[2];
};

__global__ void unions(const U* in, U* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    U u = in[i];
    u.b[0] = i;
    u.b[3] ^= 128;
    U v;
    v.h[0] = u.h[1];
    v.h[1] = u.h[0];
    out[i] = v;
  }
}

struct Big {
  int a[64];
  float* out;
  int n;
};

__global__ void big_param(Big b, const int* idx) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < b.n) b.out[i] = b.a[idx[i] & 63];
}

__global__ void shared_shorts(const short* in, short* o) {
  __shared__ short s[1024];
  int t = threadIdx.x;
  for (int k = 0; k < 4; ++k) s[t * 4 + k] = in[k * 256 + t];
  __syncthreads();
  short v = 0;
  for (int k = 0; k < 4; ++k) v += s[t * 4 + k];
  for (int k = 0; k < 8; ++k) v += s[(t * 8 + k) & 1023];
  o[t] = v;
}

__global__ void shared_pairs(const float* in, float* o) {
  __shared__ float s[512];
  int t = threadIdx.x;
  s[t] = in[t];
  s[t + 256] = in[t + 256];
  __syncthreads();
  o[t] = s[2 * t] + s[2 * t + 1] * 2;
  o[t + 256] = s[(4 * t) & 511] + s[((4 * t) & 511) + 1] + s[((4 * t) & 511) + 3];
}

__global__ void shared_struct(const float4* in, float* o) {
  struct S {
    float x, y, z, w;
    int id;
  };
  __shared__ S s[128];
  int t = threadIdx.x;
  float4 v = in[t];
  s[t] = {v.x, v.y, v.z, v.w, t};
  __syncthreads();
  S q = s[(t * 3) & 127];
  o[t] = q.x * q.w + q.id;
}

__global__ void labels(const int* in, int* o) {
  auto w = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto g = cg::labeled_partition(w, in[i] % 3);
  auto b = cg::binary_partition(w, in[i] > 5);
  o[i] = cg::reduce(g, in[i], cg::plus<int>()) * 100 + b.thread_rank();
}

// Narrow members beside each other.
struct Tagged {
  float x, y;
  unsigned char kind, flags;
  unsigned short count;
};
__global__ void tagged(const Tagged* in, Tagged* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Tagged its = in[t];
  if (its.kind & 1) {
    its.x += 1;
    its.flags = its.kind;
  } else {
    its.y -= 1;
  }
  out[t] = its;
}
struct Four {
  unsigned char a, b, c, d;
};
__global__ void four_bytes(const Four* in, Four* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const Four its = in[t];
  out[t] = Four{its.d, its.c, its.b, its.a};
}
struct ShortsBehindKey {
  int key;
  short low, high;
};
__global__ void shorts_behind_key(const ShortsBehindKey* in, ShortsBehindKey* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  ShortsBehindKey its = in[t];
  its.key += its.low;
  const short low = its.low;
  its.low = its.high;
  its.high = low;
  out[t] = its;
}
struct Narrowing {
  double d;
  int i;
  short s;
  char c, e;
};
__global__ void narrowing(const Narrowing* in, Narrowing* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  Narrowing its = in[t];
  its.d *= 2;
  its.c += its.e;
  its.s += 1;
  its.i = its.s;
  out[t] = its;
}
struct KeyFirst {
  short a;
  char b, c;
  int d;
};
__global__ void key_first(const KeyFirst* in, KeyFirst* out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  KeyFirst its = in[t];
  its.a += its.c;
  its.b = its.c + 1;
  its.d += its.a;
  out[t] = its;
}

}  // namespace

void layouts() {
  {
    Array<float> u(70 * 20 * 12), v(70 * 20 * 12);
    heat3d<<<dim3(3, 3), dim3(32, 8)>>>(u.data(), v.data(), 70, 20, 12);
    tell("planes in registers", v);
  }
  {
    Array<unsigned char> u(90 * 40);
    Array<short> o(22 * 40);
    sobel<<<dim3(2, 3), dim3(16, 16)>>>(u.as<uchar4>(), o.data(), 22, 40);
    tell("sobel", o);
  }
  Array<float> a(16384), o(16384);
  Array<int> in(4096), io(4096);
  tr_t<double, 1><<<dim3(4, 4), dim3(16, 16)>>>(a.as<double>(), o.as<double>(), 64);
  tell("transpose of doubles", o);
  tr_t<float4, 0><<<dim3(2, 2), dim3(16, 16)>>>(a.as<float4>(), o.as<float4>(), 32);
  tell("transpose of float4", o);
  tr_t<float4, 1><<<dim3(2, 2), dim3(16, 16)>>>(a.as<float4>(), o.as<float4>(), 32);
  tell("padded transpose of float4", o);
  tr_t<unsigned char, 4>
      <<<dim3(8, 8), dim3(16, 16)>>>(a.as<unsigned char>(), o.as<unsigned char>(), 128);
  tell("transpose of bytes", o);
  tr_xor<<<dim3(2, 2), dim3(16, 16)>>>(a.as<double2>(), o.as<double2>(), 32);
  tell("swizzled transpose of double2", o);
  six<<<3, 128>>>(a.as<P6>(), o.as<P6>(), 333);
  tell("mixed structure", o);
  five_shared<<<3, 96>>>(a.as<P5>(), o.as<P5>(), 288);
  tell("five floats in shared memory", o);
  generic_lanes<<<4, 128>>>(a.data(), o.data(), 512);
  tell("pointers of either space", o);
  local_index<<<4, 128>>>(in.data(), io.data(), 500);
  tell("histogram of a lane", io);
  unions<<<4, 128>>>(a.as<U>(), o.as<U>(), 500);
  tell("parts of words", o);
  {
    Big b;
    for (int i = 0; i < 64; ++i) b.a[i] = i * 3;
    b.out = o.data();
    b.n = 500;
    big_param<<<4, 128>>>(b, in.data());
    tell("indexed parameter", o);
  }
  shared_shorts<<<1, 256>>>(in.as<short>(), io.as<short>());
  tell("four shorts a thread", io);
  shared_pairs<<<1, 256>>>(a.data(), o.data());
  tell("three of four words", o);
  shared_struct<<<1, 128>>>(a.as<float4>(), o.data());
  tell("structure in shared memory", o);
  labels<<<4, 96>>>(in.data(), io.data());
  tell("groups by label", io);
  Array<int> records(512), changed(512, 0);
  tagged<<<2, 64>>>(records.as<Tagged>(), changed.as<Tagged>());
  tell("tagged", changed);
  four_bytes<<<2, 64>>>(records.as<Four>(), changed.as<Four>());
  tell("four bytes", changed);
  shorts_behind_key<<<2, 64>>>(records.as<ShortsBehindKey>(), changed.as<ShortsBehindKey>());
  tell("shorts behind key", changed);
  narrowing<<<2, 64>>>(records.as<Narrowing>(), changed.as<Narrowing>());
  tell("narrowing", changed);
  key_first<<<2, 64>>>(records.as<KeyFirst>(), changed.as<KeyFirst>());
  tell("key first", changed);
}

}  // namespace fidelity
