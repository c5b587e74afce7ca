// Kernels of which the simulator's speed is measured (measure_engine.py).
// Usage: kernels NAME LAUNCHES. Prints `cpu S wall S` for each launch, and fails if a result is wrong. Data are whole
// numbers, so that sums are the same in any order.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <vector>

constexpr int kMaskWidth = 9;
constexpr int kThreads = 256;
constexpr int kSide = 32;  // of a tile of a matrix
constexpr int kRows = 8;   // of threads that move a tile

__constant__ float mask[kMaskWidth];

__global__ void conv1d(const float* in, float* out, int n) {
  constexpr int kTile = kThreads + kMaskWidth - 1;
  __shared__ float tile[kTile];
  const int t = threadIdx.x;
  const int first = blockIdx.x * kThreads - kMaskWidth / 2;
  for (int s = t; s < kTile; s += kThreads) {
    const int k = first + s;
    tile[s] = k >= 0 && k < n ? in[k] : 0.0f;
  }
  __syncthreads();
  const int i = blockIdx.x * kThreads + t;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < kMaskWidth; ++j) sum += tile[t + j] * mask[j];
  out[i] = sum;
}

__global__ void matrix_product(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[kSide][kSide], b_tile[kSide][kSide];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * kSide + y, column = blockIdx.x * kSide + x;
  float sum = 0;
  for (int begin = 0; begin < n; begin += kSide) {
    a_tile[y][x] = a[row * n + begin + x];
    b_tile[y][x] = b[(begin + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kSide; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void transpose_tiled(const float* in, float* out, int n) {
  __shared__ float tile[kSide][kSide + 1];
  const int x = threadIdx.x;
  const int left = blockIdx.x * kSide, top = blockIdx.y * kSide;
  for (int y = threadIdx.y; y < kSide; y += kRows) tile[y][x] = in[(top + y) * n + left + x];
  __syncthreads();
  for (int y = threadIdx.y; y < kSide; y += kRows) out[(left + y) * n + top + x] = tile[x][y];
}

__global__ void transpose_naive(const float* in, float* out, int n) {
  const int column = blockIdx.x * kSide + threadIdx.x;
  for (int y = threadIdx.y; y < kSide; y += kRows) {
    const int row = blockIdx.y * kSide + y;
    out[column * n + row] = in[row * n + column];
  }
}

__global__ void reduce_tree(const float* in, float* out, int n) {
  __shared__ float part[kThreads];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) sum += in[i];
  part[t] = sum;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void reduce_shuffle(const float* in, float* out, int n) {
  __shared__ float part[kThreads / 32];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = blockIdx.x * kThreads + t; i < n; i += gridDim.x * kThreads) sum += in[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (t % 32 == 0) part[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  sum = t < kThreads / 32 ? part[t] : 0;
  for (int d = 4; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (t == 0) out[blockIdx.x] = sum;
}

__global__ void stencil(const float* in, float* out, int n) {
  const int x = blockIdx.x * kSide + threadIdx.x, y = blockIdx.y * kRows + threadIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int i = y * n + x;
  out[i] = in[i - n] + in[i - 1] - 4 * in[i] + in[i + 1] + in[i + n];
}

__global__ void one_block(float* out) { out[threadIdx.x] = 1; }

namespace {

using Values = std::vector<float>;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

struct Case {
  const char* name;
  std::size_t in, out;  // cells
  std::function<void(const float* in, float* out)> launch;
  std::function<void(const Values& in, Values& out)> reference;
};

void transposed(const Values& in, Values& out, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) out[j * n + i] = in[i * n + j];
}
void block_sums(const Values& in, Values& out) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i / kThreads % out.size()] += in[i];
}

std::vector<Case> cases() {
  constexpr int kLine = 100'000, kSize = 256, kEdge = 512, kMany = 1 << 20, kBlocks = 512;
  constexpr std::size_t kCells = std::size_t{kEdge} * kEdge;
  const dim3 tiles(kEdge / kSide, kEdge / kSide), rows(kSide, kRows);
  return {
      {"conv1d", kLine, kLine,
       [](const float* in, float* out) {
         conv1d<<<(kLine + kThreads - 1) / kThreads, kThreads>>>(in, out, kLine);
       },
       [](const Values& in, Values& out) {
         float its[kMaskWidth];
         for (int j = 0; j < kMaskWidth; ++j) its[j] = static_cast<float>(j - 3);
         for (int i = 0; i < kLine; ++i) {
           for (int j = 0; j < kMaskWidth; ++j) {
             const int k = i + j - kMaskWidth / 2;
             if (k >= 0 && k < kLine) out[i] += in[k] * its[j];
           }
         }
       }},
      {"matrix_product", 2 * kSize * kSize, kSize * kSize,
       [](const float* in, float* out) {
         matrix_product<<<dim3(kSize / kSide, kSize / kSide), dim3(kSide, kSide)>>>(
             in, in + kSize * kSize, out, kSize);
       },
       [](const Values& in, Values& out) {
         for (int i = 0; i < kSize; ++i)
           for (int k = 0; k < kSize; ++k)
             for (int j = 0; j < kSize; ++j)
               out[i * kSize + j] += in[i * kSize + k] * in[kSize * kSize + k * kSize + j];
       }},
      {"transpose_tiled", kCells, kCells,
       [=](const float* in, float* out) { transpose_tiled<<<tiles, rows>>>(in, out, kEdge); },
       [](const Values& in, Values& out) { transposed(in, out, kEdge); }},
      {"transpose_naive", kCells, kCells,
       [=](const float* in, float* out) { transpose_naive<<<tiles, rows>>>(in, out, kEdge); },
       [](const Values& in, Values& out) { transposed(in, out, kEdge); }},
      {"reduce_tree", kMany, kBlocks,
       [](const float* in, float* out) { reduce_tree<<<kBlocks, kThreads>>>(in, out, kMany); },
       block_sums},
      {"reduce_shuffle", kMany, kBlocks,
       [](const float* in, float* out) { reduce_shuffle<<<kBlocks, kThreads>>>(in, out, kMany); },
       block_sums},
      {"stencil", kCells, kCells,
       [=](const float* in, float* out) {
         stencil<<<dim3(kEdge / kSide, kEdge / kRows), rows>>>(in, out, kEdge);
       },
       [](const Values& in, Values& out) {
         for (int y = 1; y < kEdge - 1; ++y) {
           for (int x = 1; x < kEdge - 1; ++x) {
             const int i = y * kEdge + x;
             out[i] = in[i - kEdge] + in[i - 1] - 4 * in[i] + in[i + 1] + in[i + kEdge];
           }
         }
       }},
      {"one_block", 1, 32, [](const float*, float* out) { one_block<<<1, 32>>>(out); },
       [](const Values&, Values& out) { out.assign(out.size(), 1); }},
  };
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void run(const Case& its, int launches) {
  Values in(its.in), out(its.out), expected(its.out);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>((i * 7 + i / 11) % 17) - 3;
  float weights[kMaskWidth];
  for (int j = 0; j < kMaskWidth; ++j) weights[j] = static_cast<float>(j - 3);
  cudaMemcpyToSymbol(mask, weights, sizeof weights);
  float *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, in.size() * sizeof(float));
  cudaMalloc(&device_out, out.size() * sizeof(float));
  cudaMemcpy(device_in, in.data(), in.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(device_out, 0, out.size() * sizeof(float));
  for (int l = 0; l < launches; ++l) {
    const double cpu = cpu_seconds();
    const auto start = std::chrono::steady_clock::now();
    its.launch(device_in, device_out);
    require(cudaDeviceSynchronize() == cudaSuccess, "the launch failed");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("cpu %.9f wall %.9f\n", cpu_seconds() - cpu, took.count());
  }
  cudaMemcpy(out.data(), device_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
  its.reference(in, expected);
  require(out == expected, "a result is wrong");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (const Case& its : cases()) {
    if (std::strcmp(its.name, argv[1]) != 0) continue;
    run(its, std::atoi(argv[2]));
    return 0;
  }
  return 2;
}
