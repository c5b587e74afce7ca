// Sorts, merges, sparse matrices, graphs, texts: lanes that go ways of their own.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

__global__ void brent_kung(const int* X, int* Y, int n) {
  __shared__ int XY[512];
  int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    XY[threadIdx.x] = X[i];
  else
    XY[threadIdx.x] = 0;
  if (i + blockDim.x < n)
    XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  else
    XY[threadIdx.x + blockDim.x] = 0;
  for (unsigned s = 1; s <= blockDim.x; s *= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * 2 * s - 1;
    if (k < 512) XY[k] += XY[k - s];
  }
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    int k = (threadIdx.x + 1) * s * 2 - 1;
    if (k + s < 512) XY[k + s] += XY[k];
  }
  __syncthreads();
  if (i < n) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < n) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// four elements a thread, warps by shuffles, totals in shared memory
__global__ void scan4(const int4* in, int4* out) {
  __shared__ int tot[8];
  int t = threadIdx.x, l = t & 31, w = t >> 5;
  int4 v = in[blockIdx.x * blockDim.x + t];
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  int s = v.w;
  for (int o = 1; o < 32; o *= 2) {
    int u = __shfl_up_sync(~0u, s, o);
    if (l >= o) s += u;
  }
  if (l == 31) tot[w] = s;
  __syncthreads();
  if (w == 0 && l < 8) {
    int q = tot[l];
    for (int o = 1; o < 8; o *= 2) {
      int u = __shfl_up_sync(0xff, q, o);
      if (l >= o) q += u;
    }
    tot[l] = q;
  }
  __syncthreads();
  int add = s - v.w + (w ? tot[w - 1] : 0);
  v.x += add;
  v.y += add;
  v.z += add;
  v.w += add;
  out[blockIdx.x * blockDim.x + t] = v;
}

// two elements a thread, bitonic, in shared memory
__global__ void bitonic2(int* d, int n) {
  __shared__ int s[512];
  int t = threadIdx.x;
  s[t] = d[t];
  s[t + 256] = d[t + 256];
  for (unsigned size = 2; size < 512; size <<= 1) {
    unsigned ddd = (t & (size / 2)) != 0;
    for (unsigned st = size / 2; st > 0; st >>= 1) {
      __syncthreads();
      unsigned p = 2 * t - (t & (st - 1));
      int a = s[p], b = s[p + st];
      if ((a > b) != ddd) {
        s[p] = b;
        s[p + st] = a;
      }
    }
  }
  for (unsigned st = 256; st > 0; st >>= 1) {
    __syncthreads();
    unsigned p = 2 * t - (t & (st - 1));
    int a = s[p], b = s[p + st];
    if (a > b) {
      s[p] = b;
      s[p + st] = a;
    }
  }
  __syncthreads();
  d[t] = s[t];
  d[t + 256] = s[t + 256];
}

// a pass of a radix sort by one bit, in shared memory
__global__ void split_sort(unsigned* d, int bits) {
  __shared__ unsigned s[256], sc[8];
  int t = threadIdx.x, l = t & 31, w = t >> 5;
  unsigned v = d[blockIdx.x * 256 + t];
  for (int b = 0; b < bits; b++) {
    unsigned one = (v >> b) & 1, m = __ballot_sync(~0u, !one);
    if (l == 0) sc[w] = __popc(m);
    __syncthreads();
    unsigned before = 0, zeros = 0;
    for (int k = 0; k < 8; ++k) {
      unsigned c = sc[k];
      if (k < w) before += c;
      zeros += c;
    }
    unsigned z = before + __popc(m & ((1u << l) - 1));
    unsigned pos = one ? zeros + t - z : z;
    s[pos] = v;
    __syncthreads();
    v = s[t];
    __syncthreads();
  }
  d[blockIdx.x * 256 + t] = v;
}

__device__ int lower(const int* a, int n, int v) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int m = (lo + hi) / 2;
    if (a[m] < v)
      lo = m + 1;
    else
      hi = m;
  }
  return lo;
}

__device__ int upper(const int* a, int n, int v) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int m = (lo + hi) >> 1;
    if (a[m] <= v)
      lo = m + 1;
    else
      hi = m;
  }
  return lo;
}

// merge sort of 256 in shared memory, ranks by binary search
__global__ void merge_sort(int* d) {
  __shared__ int a[256], b[256];
  int t = threadIdx.x;
  int *s = a, *o = b;
  s[t] = d[blockIdx.x * 256 + t];
  __syncthreads();
  for (int w = 1; w < 256; w *= 2) {
    int run = t / w, base = (run / 2) * 2 * w;
    int v = s[t];
    int pos = base + (run & 1 ? t - base - w + upper(s + base, w, v)
                              : t - base + lower(s + base + w, w, v));
    o[pos] = v;
    __syncthreads();
    int* q = s;
    s = o;
    o = q;
  }
  d[blockIdx.x * 256 + t] = s[t];
}

// merge path: a diagonal a thread
__global__ void merge_path(const int* a, int na, const int* b, int nb, int* c) {
  const int V = 4;
  int diag = min((int)(blockIdx.x * blockDim.x + threadIdx.x) * V, na + nb);
  int lo = max(0, diag - nb), hi = min(diag, na);
  while (lo < hi) {
    int m = (lo + hi) >> 1;
    if (a[m] <= b[diag - 1 - m])
      lo = m + 1;
    else
      hi = m;
  }
  int i = lo, j = diag - lo;
  for (int k = 0; k < V && diag + k < na + nb; k++) {
    bool pa = j >= nb || (i < na && a[i] <= b[j]);
    c[diag + k] = pa ? a[i++] : b[j++];
  }
}

// bytes of counters a thread each, as NVIDIA's 64 bins
__global__ void hist64(const uchar4* in, unsigned* out, int n) {
  __shared__ unsigned char s[64 * 64];
  int t = threadIdx.x;
  for (int i = t; i < 64 * 16; i += 64) ((unsigned*)s)[i] = 0;
  __syncthreads();
  int p = (t & ~63) | ((t & 15) << 2) | ((t & 48) >> 4);
  for (int i = t; i < n; i += 64) {
    uchar4 v = in[i];
    s[p + (v.x & 63) * 64]++;
    s[p + (v.y & 63) * 64]++;
    s[p + (v.z & 63) * 64]++;
    s[p + (v.w & 63) * 64]++;
  }
  __syncthreads();
  unsigned sum = 0;
  const unsigned char* b = s + t * 64;
  for (int i = 0, pos = t & 15; i < 64; ++i) {
    sum += b[pos];
    if (++pos == 64) pos = 0;
  }
  out[t] = sum;
}

__global__ void insertion(int* d, int len) {
  int* a = d + (blockIdx.x * blockDim.x + threadIdx.x) * len;
  for (int i = 1; i < len; ++i) {
    int v = a[i], j = i - 1;
    while (j >= 0 && a[j] > v) {
      a[j + 1] = a[j];
      --j;
    }
    a[j + 1] = v;
  }
}

__global__ void csr_make(int* row, int* col, float* val,
                         int n) {  // one thread: rows of 0 to 12 entries
  int k = 0;
  for (int r = 0; r < n; ++r) {
    row[r] = k;
    int len = (r * 7) % 13;
    for (int j = 0; j < len; ++j) {
      col[k] = (r * 31 + j * 17) % n;
      val[k] = (r + j) % 9;
      ++k;
    }
  }
  row[n] = k;
}

template <int W>
__global__ void csr_vector(const int* row, const int* col, const float* val, const float* x,
                           float* y, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, r = t / W, l = t % W;
  float s = 0;
  if (r < n)
    for (int j = row[r] + l; j < row[r + 1]; j += W) s += val[j] * x[col[j]];
  for (int o = W / 2; o; o /= 2) s += __shfl_down_sync(~0u, s, o, W);
  if (r < n && l == 0) y[r] = s;
}

__global__ void ell(const int* col, const float* val, const float* x, float* y, int n, int w) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float s = 0;
  for (int j = 0; j < w; ++j) {
    int c = col[j * n + r] % n;
    if (c % 3) s += val[j * n + r] * x[c];
  }
  y[r] = s;
}

__global__ void triangles(const int* row, const int* col, int* out, int n) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  if (u >= n) return;
  int c = 0;
  for (int i = row[u]; i < row[u + 1]; ++i) {
    int v = col[i];
    for (int a = row[u], b = row[v]; a < row[u + 1] && b < row[v + 1];) {
      int x = col[a], y = col[b];
      if (x == y) {
        ++c;
        ++a;
        ++b;
      } else if (x < y)
        ++a;
      else
        ++b;
    }
  }
  out[u] = c;
}

// string search, all starts, a lane each
__global__ void search(const char* text, int n, const char* word, int m, int* hits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > n) return;
  int k = 0;
  while (k < m && text[i + k] == word[k]) ++k;
  if (k == m) atomicAdd(hits, 1);
}

__global__ void levenshtein(const char* a, const char* b, int* out) {  // a diagonal at a time
  __shared__ int d[3][65];
  int t = threadIdx.x;
  for (int k = 0; k < 3; ++k) d[k][t] = 0;
  if (t == 0) d[0][64] = d[1][64] = d[2][64] = 0;
  __syncthreads();
  for (int s = 0; s <= 128; ++s) {
    int *c = d[s % 3], *p = d[(s + 2) % 3], *q = d[(s + 1) % 3];
    int i = t, j = s - t;
    if (j >= 0 && j <= 64) {
      c[i] = i == 0   ? j
             : j == 0 ? i
                      : min(min(p[i - 1], p[i]) + 1, q[i - 1] + (a[i - 1] != b[j - 1]));
    }
    __syncthreads();
  }
  out[t] = d[128 % 3][t];
}

}  // namespace

void sorts_and_graphs() {
  Array<int> in(4096), out(4096);
  brent_kung<<<8, 256>>>(in.data(), out.data(), 4000);
  tell("brent kung", out);
  scan4<<<4, 256>>>(in.as<int4>(), out.as<int4>());
  tell("scan of four a thread", out);
  {
    Array<int> d(512);
    bitonic2<<<1, 256>>>(d.data(), 512);
    tell("bitonic of pairs", d);
  }
  {
    Array<unsigned> d(1024);
    split_sort<<<4, 256>>>(d.data(), 5);
    tell("sort by bits", d);
  }
  {
    Array<int> d(1024);
    merge_sort<<<4, 256>>>(d.data());
    tell("sort by merging", d);
    merge_path<<<2, 64>>>(d.data(), 250, d.data() + 256, 201, out.data());
    tell("merge by diagonals", out);
  }
  {
    Array<unsigned char> b(6000);
    Array<unsigned> h(256, 0);
    hist64<<<1, 64>>>(b.as<uchar4>(), h.data(), 1500);
    tell("histogram of bytes", h);
  }
  {
    Array<int> d(64 * 20);
    insertion<<<2, 32>>>(d.data(), 20);
    tell("insertion sort", d);
  }
  const int n = 500;
  Array<int> row(n + 1), col(4000);
  Array<float> val(4000), x(n);
  csr_make<<<1, 1>>>(row.data(), col.data(), val.data(), n);
  tell("rows made", col);
  {
    Array<float> y(n);
    csr_vector<8><<<32, 128>>>(row.data(), col.data(), val.data(), x.data(), y.data(), n);
    tell("rows by eight lanes", y);
    ell<<<5, 100>>>(col.data(), val.data(), x.data(), y.data(), n, 7);
    tell("rows of equal length", y);
  }
  triangles<<<4, 128>>>(row.data(), col.data(), out.data(), n);
  tell("triangles", out);
  {
    Array<char> t(3000), w(8);
    Array<int> h(1, 0);
    search<<<12, 256>>>(t.data(), 3000, w.data(), 6, h.data());
    tell("word in a text", h);
  }
  {
    Array<char> a(64), b(64, 3);
    levenshtein<<<1, 65>>>(a.data(), b.data(), out.data());
    tell("distance of words", out);
  }
}

}  // namespace fidelity
