// A matrix product made faster step by step, and what solves systems.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

template <unsigned BS>
__global__ void gemm_coal(int M, int N, int K, float alpha, const float* A, const float* B,
                          float beta, float* C) {
  const int r = blockIdx.x * BS + threadIdx.x / BS, c = blockIdx.y * BS + threadIdx.x % BS;
  if (r < M && c < N) {
    float t = 0;
    for (int i = 0; i < K; ++i) t += A[r * K + i] * B[i * N + c];
    C[r * N + c] = alpha * t + beta * C[r * N + c];
  }
}

template <int BS>
__global__ void gemm_smem(int M, int N, int K, float alpha, const float* A, const float* B,
                          float beta, float* C) {
  __shared__ float As[BS * BS], Bs[BS * BS];
  const unsigned tc = threadIdx.x % BS, tr = threadIdx.x / BS;
  A += blockIdx.x * BS * K;
  B += blockIdx.y * BS;
  C += blockIdx.x * BS * N + blockIdx.y * BS;
  float t = 0;
  for (int b = 0; b < K; b += BS) {
    As[tr * BS + tc] = A[tr * K + tc];
    Bs[tr * BS + tc] = B[tr * N + tc];
    __syncthreads();
    A += BS;
    B += BS * N;
    for (int d = 0; d < BS; ++d) t += As[tr * BS + d] * Bs[d * BS + tc];
    __syncthreads();
  }
  C[tr * N + tc] = alpha * t + beta * C[tr * N + tc];
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM * BN) / (TM * TN), 1)
    gemm_2d(int M, int N, int K, float alpha, const float* A, const float* B, float beta,
            float* C) {
  const unsigned cR = blockIdx.y, cC = blockIdx.x, nt = BM * BN / (TM * TN);
  const int tc = threadIdx.x % (BN / TN), tr = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK], Bs[BK * BN];
  A += cR * BM * K;
  B += cC * BN;
  C += cR * BM * N + cC * BN;
  const unsigned rA = threadIdx.x / BK, iA = threadIdx.x % BK, sA = nt / BK, rB = threadIdx.x / BN,
                 iB = threadIdx.x % BN, sB = nt / BN;
  float res[TM * TN] = {0}, m[TM], n[TN];
  for (unsigned b = 0; b < K; b += BK) {
    for (unsigned o = 0; o < BM; o += sA) As[(rA + o) * BK + iA] = A[(rA + o) * K + iA];
    for (unsigned o = 0; o < BK; o += sB) Bs[(rB + o) * BN + iB] = B[(rB + o) * N + iB];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned d = 0; d < BK; ++d) {
      for (unsigned i = 0; i < TM; ++i) m[i] = As[(tr * TM + i) * BK + d];
      for (unsigned i = 0; i < TN; ++i) n[i] = Bs[d * BN + tc * TN + i];
      for (unsigned i = 0; i < TM; ++i)
        for (unsigned j = 0; j < TN; ++j) res[i * TN + j] += m[i] * n[j];
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < TM; ++i)
    for (unsigned j = 0; j < TN; ++j)
      C[(tr * TM + i) * N + tc * TN + j] =
          alpha * res[i * TN + j] + beta * C[(tr * TM + i) * N + tc * TN + j];
}

template <int BM, int BN, int BK, int TM, int TN>
__global__ void gemm_vec(int M, int N, int K, float alpha, float* A, float* B, float beta,
                         float* C) {
  const unsigned cR = blockIdx.y, cC = blockIdx.x;
  const int tc = threadIdx.x % (BN / TN), tr = threadIdx.x / (BN / TN);
  __shared__ float As[BM * BK], Bs[BK * BN];
  A += cR * BM * K;
  B += cC * BN;
  C += cR * BM * N + cC * BN;
  const unsigned rA = threadIdx.x / (BK / 4), iA = threadIdx.x % (BK / 4),
                 rB = threadIdx.x / (BN / 4), iB = threadIdx.x % (BN / 4);
  float res[TM * TN] = {0}, m[TM], n[TN];
  for (unsigned b = 0; b < K; b += BK) {
    float4 t = reinterpret_cast<float4*>(&A[rA * K + iA * 4])[0];
    As[(iA * 4 + 0) * BM + rA] = t.x;
    As[(iA * 4 + 1) * BM + rA] = t.y;
    As[(iA * 4 + 2) * BM + rA] = t.z;
    As[(iA * 4 + 3) * BM + rA] = t.w;
    reinterpret_cast<float4*>(&Bs[rB * BN + iB * 4])[0] =
        reinterpret_cast<float4*>(&B[rB * N + iB * 4])[0];
    __syncthreads();
    A += BK;
    B += BK * N;
    for (unsigned d = 0; d < BK; ++d) {
      for (unsigned i = 0; i < TM; ++i) m[i] = As[d * BM + tr * TM + i];
      for (unsigned i = 0; i < TN; ++i) n[i] = Bs[d * BN + tc * TN + i];
      for (unsigned i = 0; i < TM; ++i)
        for (unsigned j = 0; j < TN; ++j) res[i * TN + j] += m[i] * n[j];
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < TM; i += 1)
    for (unsigned j = 0; j < TN; j += 4) {
      float4 t = reinterpret_cast<float4*>(&C[(tr * TM + i) * N + tc * TN + j])[0];
      t.x = alpha * res[i * TN + j] + beta * t.x;
      t.y = alpha * res[i * TN + j + 1] + beta * t.y;
      t.z = alpha * res[i * TN + j + 2] + beta * t.z;
      t.w = alpha * res[i * TN + j + 3] + beta * t.w;
      reinterpret_cast<float4*>(&C[(tr * TM + i) * N + tc * TN + j])[0] = t;
    }
}

// double buffer, prefetch in registers, padded tile
__global__ void gemm_db(int n, const float* __restrict__ A, const float* __restrict__ B,
                        float* __restrict__ C) {
  constexpr int T = 16;
  __shared__ float a[2][T][T + 1], b[2][T][T + 1];
  int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
  float acc = 0, ra = A[row * n + tx], rb = B[ty * n + col];
  int p = 0;
  a[0][ty][tx] = ra;
  b[0][ty][tx] = rb;
  __syncthreads();
  for (int k = T; k <= n; k += T) {
    if (k < n) {
      ra = A[row * n + k + tx];
      rb = B[(k + ty) * n + col];
    }
#pragma unroll
    for (int j = 0; j < T; j++) acc = fmaf(a[p][ty][j], b[p][j][tx], acc);
    if (k < n) {
      a[p ^ 1][ty][tx] = ra;
      b[p ^ 1][ty][tx] = rb;
      p ^= 1;
      __syncthreads();
    }
  }
  C[row * n + col] = acc;
}

// A times B transposed, float2 from both
__global__ void gemm_abt(int n, const float2* A, const float2* B, float* C) {
  __shared__ float2 a[16][8], b[16][8];
  int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16, c = blockIdx.x * 16;
  float s = 0;
  for (int k = 0; k < n / 2; k += 8) {
    if (tx < 8)
      a[ty][tx] = A[(r + ty) * (n / 2) + k + tx];
    else
      b[ty][tx - 8] = B[(c + ty) * (n / 2) + k + tx - 8];
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < 8; ++j) {
      float2 u = a[ty][j], v = b[tx][j];
      s += u.x * v.x + u.y * v.y;
    }
    __syncthreads();
  }
  C[(r + ty) * n + c + tx] = s;
}

// one 4x4 product a thread
struct alignas(16) Mat4 {
  float4 r[4];
};

__global__ void batch4(const Mat4* A, const Mat4* B, Mat4* C, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    Mat4 a = A[i], b = B[i], c;
    for (int r = 0; r < 4; r++) {
      float4 x = a.r[r];
      c.r[r].x = x.x * b.r[0].x + x.y * b.r[1].x + x.z * b.r[2].x + x.w * b.r[3].x;
      c.r[r].y = x.x * b.r[0].y + x.y * b.r[1].y + x.z * b.r[2].y + x.w * b.r[3].y;
      c.r[r].z = x.x * b.r[0].z + x.y * b.r[1].z + x.z * b.r[2].z + x.w * b.r[3].z;
      c.r[r].w = x.x * b.r[0].w + x.y * b.r[1].w + x.z * b.r[2].w + x.w * b.r[3].w;
    }
    C[i] = c;
  }
}

// LU without pivots of 32x32 in shared memory, a block each
__global__ void lu32(const float* in, float* out) {
  __shared__ float m[32][33];
  int x = threadIdx.x, y = threadIdx.y;
  m[y][x] = in[blockIdx.x * 1024 + y * 32 + x] + (x == y ? 64.f : 0.f);
  __syncthreads();
  for (int k = 0; k < 31; ++k) {
    if (x == k && y > k) m[y][k] /= m[k][k];
    __syncthreads();
    if (x > k && y > k) m[y][x] -= m[y][k] * m[k][x];
    __syncthreads();
  }
  out[blockIdx.x * 1024 + y * 32 + x] = m[y][x];
}

// forward substitution, column by column, a warp a system
__global__ void trsv(const float* L, const float* b, float* x) {
  int lane = threadIdx.x;
  const float* l = L + blockIdx.x * 1024;
  float r = b[blockIdx.x * 32 + lane];
  for (int k = 0; k < 32; ++k) {
    float xk = __shfl_sync(~0u, r, k);
    if (lane > k) r -= l[lane * 32 + k] * xk;
  }
  x[blockIdx.x * 32 + lane] = r;
}

__global__ void syrk(const float* A, float* C, int n, int k) {
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (j > i) return;
  float s = 0;
  for (int p = 0; p < k; ++p) s += A[i * k + p] * A[j * k + p];
  C[i * n + j] = s;
}

__global__ void gemv_t(const float* A, const float* x, float* y, int m, int n) {
  __shared__ float part[8][33];
  int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0;
  for (int r = threadIdx.y; r < m; r += 8) s += A[r * n + c] * x[r];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  for (int h = 4; h; h >>= 1) {
    if (threadIdx.y < h) part[threadIdx.y][threadIdx.x] += part[threadIdx.y + h][threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.y == 0) y[c] = part[0][threadIdx.x];
}

__global__ void nbody(const float4* p, float4* o, int n) {
  __shared__ float4 s[64];
  int i = blockIdx.x * 64 + threadIdx.x;
  float4 me = p[i];
  float3 a = {0, 0, 0};
  for (int b = 0; b < n; b += 64) {
    s[threadIdx.x] = p[b + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 64; ++k) {
      float4 q = s[k];
      float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z, d = dx * dx + dy * dy + dz * dz + 1;
      a.x += dx * d;
      a.y += dy * d;
      a.z += dz * d * q.w;
    }
    __syncthreads();
  }
  o[i] = make_float4(a.x, a.y, a.z, 0);
}

}  // namespace

void steps_of_a_product() {
  const int n = 128;
  Array<float> A(n * n), B(n * n);
  {
    Array<float> C(n * n);
    gemm_coal<32><<<dim3(4, 4), 1024>>>(n, n, n, 2.f, A.data(), B.data(), 3.f, C.data());
    tell("coalesced product", C);
  }
  {
    Array<float> C(n * n);
    gemm_smem<16><<<dim3(8, 8), 256>>>(n, n, n, 2.f, A.data(), B.data(), 3.f, C.data());
    tell("product by tiles", C);
  }
  {
    Array<float> C(n * n);
    gemm_2d<32, 32, 16, 4, 2><<<dim3(4, 4), 128>>>(n, n, n, 2.f, A.data(), B.data(), 3.f, C.data());
    tell("product by 4 x 2", C);
  }
  {
    Array<float> C(n * n);
    gemm_vec<64, 64, 8, 4, 8><<<dim3(2, 2), 128>>>(n, n, n, 2.f, A.data(), B.data(), 3.f, C.data());
    tell("product by vectors", C);
  }
  Array<float> C(n * n);
  gemm_db<<<dim3(8, 8), dim3(16, 16)>>>(n, A.data(), B.data(), C.data());
  tell("product with two buffers", C);
  gemm_abt<<<dim3(8, 8), dim3(16, 16)>>>(n, A.as<float2>(), B.as<float2>(), C.data());
  tell("product with a transposed matrix", C);
  batch4<<<3, 96>>>(A.as<Mat4>(), B.as<Mat4>(), C.as<Mat4>(), n * n / 16);
  tell("products of 4 x 4", C);
  lu32<<<4, dim3(32, 32)>>>(A.data(), C.data());
  tell("factors", C);
  trsv<<<8, 32>>>(A.data(), B.data(), C.data());
  tell("forward substitution", C);
  syrk<<<dim3(8, 8), dim3(16, 16)>>>(A.data(), C.data(), n, 40);
  tell("half of a symmetric product", C);
  gemv_t<<<4, dim3(32, 8)>>>(A.data(), B.data(), C.data(), 100, n);
  tell("transposed matrix by vector", C);
  nbody<<<4, 64>>>(A.as<float4>(), C.as<float4>(), 256);
  tell("bodies", C);
}

}  // namespace fidelity
