// Grids, particles, sequences, and the layers of networks.
#include <cuda_runtime.h>
#include <mma.h>

#include <cstring>

#include "launches.hpp"

namespace fidelity {
namespace {

namespace wmma = nvcuda::wmma;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

struct Cell {
  float centre, north, south, east, west;
};
__global__ void streamed(const Cell* from, Cell* to, int width) {
  const int x = thread(), i = blockIdx.y * width + x;
  if (x < 1 || x >= width - 1) return;
  Cell its;
  its.centre = from[i].centre;
  its.east = from[i - 1].east;
  its.west = from[i + 1].west;
  its.north = from[i + width].north;
  its.south = from[i + 2 * width].south;
  const float sum = its.centre + its.north + its.south + its.east + its.west;
  its.centre += sum;
  its.north -= sum;
  to[i] = its;
}

// A transform of 256, four values a thread, whose halves change places in turn.
__global__ void transform(float2* data) {
  __shared__ float tile[256 + 16];
  const int t = threadIdx.x;
  const auto place = [](int i) { return i + i / 16; };
  float2 v[4];
  for (int k = 0; k < 4; ++k) v[k] = data[blockIdx.x * 256 + t + k * 64];
  for (int size = 1; size < 256; size *= 4) {
    const float2 a = {v[0].x + v[2].x, v[0].y + v[2].y}, b = {v[0].x - v[2].x, v[0].y - v[2].y};
    const float2 c = {v[1].x + v[3].x, v[1].y + v[3].y}, d = {v[1].y - v[3].y, v[3].x - v[1].x};
    v[0] = {a.x + c.x, a.y + c.y};
    v[1] = {b.x + d.x, b.y + d.y};
    v[2] = {a.x - c.x, a.y - c.y};
    v[3] = {b.x - d.x, b.y - d.y};
    const int first = t / size * size * 4 + t % size;
    for (int k = 0; k < 4; ++k) tile[place(first + k * size)] = v[k].x;
    __syncthreads();
    for (int k = 0; k < 4; ++k) v[k].x = tile[place(t + 64 * k)];
    __syncthreads();
    for (int k = 0; k < 4; ++k) tile[place(first + k * size)] = v[k].y;
    __syncthreads();
    for (int k = 0; k < 4; ++k) v[k].y = tile[place(t + 64 * k)];
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k) data[blockIdx.x * 256 + t + k * 64] = v[k];
}

// Needleman and Wunsch, a tile by diagonals.
__global__ void aligned(const int* scores, int* table, int columns, int gap) {
  __shared__ int tile[17][17], score[16][16];
  const int t = threadIdx.x;
  if (t == 0) tile[0][0] = table[0];
  for (int y = 0; y < 16; ++y) score[y][t] = scores[columns * (y + 1) + t + 1];
  tile[t + 1][0] = table[columns * (t + 1)];
  tile[0][t + 1] = table[t + 1];
  __syncthreads();
  const auto fill = [&](int x, int y) {
    tile[y][x] = max(max(tile[y - 1][x - 1] + score[y - 1][x - 1], tile[y][x - 1] - gap),
                     tile[y - 1][x] - gap);
  };
  for (int m = 0; m < 16; ++m) {
    if (t <= m) fill(t + 1, m - t + 1);
    __syncthreads();
  }
  for (int m = 14; m >= 0; --m) {
    if (t <= m) fill(t + 16 - m, 16 - t);
    __syncthreads();
  }
  for (int y = 0; y < 16; ++y) table[columns * (y + 1) + t + 1] = tile[y + 1][t + 1];
}

__global__ void cheapest_way(const int* wall, const int* from, int* to, int columns, int rounds) {
  __shared__ int before[64], now[64];
  const int t = threadIdx.x, first = (64 - rounds * 2) * blockIdx.x - rounds, x = first + t;
  const int least = first < 0 ? -first : 0;
  const int most = first + 63 > columns - 1 ? 63 - (first + 63 - columns + 1) : 63;
  const int west = max(t - 1, least), east = min(t + 1, most);
  const bool is_inside = t >= least && t <= most;
  if (x >= 0 && x < columns) before[t] = from[x];
  __syncthreads();
  bool is_computed = false;
  for (int i = 0; i < rounds; ++i) {
    is_computed = t >= i + 1 && t <= 62 - i && is_inside;
    if (is_computed) {
      now[t] = min(min(before[west], before[t]), before[east]) + wall[columns * i + x];
    }
    __syncthreads();
    if (i == rounds - 1) break;
    if (is_computed) before[t] = now[t];
    __syncthreads();
  }
  if (is_computed) to[x] = now[t];
}

// Systems of three diagonals, interleaved.
__global__ void solved(const float* a, const float* c, float* d, float* out, int n, int systems) {
  const int t = thread();
  if (t >= systems) return;
  float pivot = c[t];
  for (int i = 1; i < n; ++i) {
    pivot = c[i * systems + t] - pivot;
    d[i * systems + t] -= a[i * systems + t] * (static_cast<int>(d[(i - 1) * systems + t]) & 7);
  }
  float x = out[(n - 1) * systems + t] = d[(n - 1) * systems + t] + pivot;
  for (int i = n - 2; i >= 0; --i) {
    x = d[i * systems + t] - (static_cast<int>(x) & 7);
    out[i * systems + t] = x;
  }
}

struct Quantised {
  unsigned short scale;
  signed char values[32];
};
// Blocks of 34 bytes, read by halves of a word.
__global__ void quantised_product(const Quantised* a, const Quantised* b, float* out, int blocks) {
  const int lane = threadIdx.x;
  float sum = 0;
  for (int i = lane / 8; i < blocks; i += 4) {
    const Quantised& its = a[blockIdx.x * blocks + i];
    const auto four = [&](const Quantised& one) {
      const auto* const halves =
          reinterpret_cast<const unsigned short*>(one.values) + 2 * (lane % 8);
      return halves[0] | halves[1] << 16;
    };
    sum += static_cast<float>(__dp4a(four(its), four(b[i]), 0) * (its.scale & 7));
  }
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) out[blockIdx.x] = sum;
}

// Softmax is left out.
__global__ void attention(const float* query, const float* key, const float* value, float* out,
                          int n) {
  constexpr int kRows = 32, kDepth = 12;
  extern __shared__ float all[];
  float *q = all, *k = q + kRows * kDepth, *v = k + kRows * kDepth, *s = v + kRows * kDepth;
  const int t = threadIdx.x, first = blockIdx.x * n * kDepth;
  for (int j = 0; j < n / kRows; ++j) {
    for (int x = 0; x < kDepth; ++x) {
      k[t * kDepth + x] = key[first + (kRows * j + t) * kDepth + x];
      v[t * kDepth + x] = value[first + (kRows * j + t) * kDepth + x];
    }
    __syncthreads();
    for (int i = 0; i < n / kRows; ++i) {
      const int row = first + (kRows * i + t) * kDepth;
      for (int x = 0; x < kDepth; ++x) q[t * kDepth + x] = query[row + x];
      for (int y = 0; y < kRows; ++y) {
        float sum = 0;
        for (int x = 0; x < kDepth; ++x) sum += q[t * kDepth + x] * k[y * kDepth + x];
        s[kRows * t + y] = sum > 100 ? 1 : 0;
      }
      for (int x = 0; x < kDepth; ++x) {
        float sum = 0;
        for (int y = 0; y < kRows; ++y) sum += s[kRows * t + y] * v[y * kDepth + x];
        out[row + x] += sum;
      }
    }
    __syncthreads();
  }
}

__global__ void layer_norm(const float* in, const float* gain, float* out, int n) {
  const int row = blockIdx.x * 2 + threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto sum_of = [](float sum) {
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    return sum;
  };
  const float* const x = in + row * n;
  float sum = 0, squares = 0;
  for (int i = lane; i < n; i += 32) sum += x[i];
  const float mean = static_cast<int>(sum_of(sum) / n);
  for (int i = lane; i < n; i += 32) squares += (x[i] - mean) * (x[i] - mean);
  const float scale = sum_of(squares) > 100 ? 2 : 1;
  for (int i = lane; i < n; i += 32) {
    __stcs(out + row * n + i, scale * (__ldcs(x + i) - mean) * gain[i]);
  }
}

template <class T, class Of, class A, class B, int depth>
__global__ void fragments(const T* a, const T* b, Of* out) {
  wmma::fragment<wmma::matrix_a, 16, 16, depth, A, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, depth, B, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, depth, Of> sum;
  wmma::load_matrix_sync(fa, a, 48 / static_cast<int>(sizeof(T)));
  wmma::load_matrix_sync(fb, b, 32);
  wmma::load_matrix_sync(sum, out + 512, 20, wmma::mem_row_major);
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(out, sum, 24, wmma::mem_col_major);
}

// A warp fetches, the others add.
__global__ void fetched_by_one(const float* in, float* out) {
  __shared__ float tile[2][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (warp == 0) tile[k % 2][lane] = in[k * 32 + lane];
    __syncthreads();
    if (warp != 0) sum += tile[k % 2][(lane + warp) % 32];
  }
  if (warp != 0) out[(warp - 1) * 32 + lane] = sum;
}

struct Particle {
  int kind;
  float at[3];
  short mass, charge;
};
__global__ void charged(Particle* all, int n) {
  const int i = thread();
  if (i >= n) return;
  Particle its = all[i];
  if ((its.kind & 1) == 0) return;
  its.at[its.kind % 3] += 1;
  its.charge = its.mass;
  all[i] = its;
}

__global__ void unaligned(const unsigned char* in, unsigned char* out) {
  int word;
  std::memcpy(&word, in + 5 * thread() + 1, 4);
  word += 3;
  std::memcpy(out + 5 * thread(), &word, 4);
  out[5 * thread() + 4] = 7;
}

}  // namespace

void science_and_networks() {
  Array<float> in(4096), other(4096), out(4096);
  streamed<<<dim3(2, 6), 32>>>(in.as<Cell>(), out.as<Cell>(), 50);
  tell("streamed", out);
  transform<<<2, 64>>>(out.as<float2>());
  tell("transform", out);
  {
    Array<int> scores(17 * 17), table(17 * 17);
    aligned<<<1, 16>>>(scores.data(), table.data(), 17, 2);
    tell("aligned", table);
    Array<int> wall(130 * 5), from(130), to(130);
    cheapest_way<<<3, 64>>>(wall.data(), from.data(), to.data(), 130, 5);
    tell("cheapest way", to);
  }
  solved<<<2, 32>>>(in.data(), in.data() + 5, other.data(), out.data(), 16, 50);
  tell("solved", out);
  {
    Array<unsigned short> a(17 * 40), b(17 * 10);
    quantised_product<<<4, 32>>>(a.as<Quantised>(), b.as<Quantised>(), out.data(), 10);
    tell("quantised product", out);
  }
  attention<<<2, 32, (3 * 32 * 12 + 32 * 32) * sizeof(float)>>>(in.data(), in.data() + 1,
                                                                in.data() + 2, out.data(), 64);
  tell("attention", out);
  layer_norm<<<2, 64>>>(in.data(), in.data() + 3, out.data(), 90);
  tell("layer norm", out);
  {
    Array<signed char> a(1024), b(1024);
    Array<int> sums(1024);
    fragments<signed char, int, signed char, signed char, 16>
        <<<1, 32>>>(a.data(), b.data(), sums.data());
    tell("fragments of signed bytes", sums);
  }
  fragments<float, float, wmma::precision::tf32, wmma::precision::tf32, 8>
      <<<1, 32>>>(in.data(), in.data() + 32, out.data());
  tell("fragments of tf32", out);
  fetched_by_one<<<1, 96>>>(in.data(), out.data());
  tell("fetched by one warp", out);
  {
    Array<int> all(1000);
    charged<<<2, 96>>>(all.as<Particle>(), 180);
    tell("charged", all);
  }
  {
    Array<unsigned char> bytes(1024), moved(1024);
    unaligned<<<2, 64>>>(bytes.data(), moved.data());
    tell("unaligned", moved);
  }
}

}  // namespace fidelity
