// x and y interleaved as float2, two streams that take turns over chunks, events, a kernel template with a functor, a table
// that the compiler makes; the host checks the result before it writes it.
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

constexpr std::array<float, 13> make_table() {
  std::array<float, 13> table{};
  for (int i = 0; i < 13; ++i) table[i] = static_cast<float>(i) - 6.0f;
  return table;
}
constexpr std::array<float, 13> kTable = make_table();

struct Error {
  std::string words;
};
static void ok(cudaError_t error) {
  if (error != cudaSuccess) throw Error{cudaGetErrorName(error)};
}

class Stream {
 public:
  Stream() { ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() {
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  void close() {
    const cudaStream_t own = stream_;
    stream_ = nullptr;
    ok(cudaStreamDestroy(own));
  }
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

struct Axpy {
  float a;
  __device__ float operator()(float2 pair) const { return a * pair.x + pair.y; }
};

template <class Function>
__global__ void mapped(const float2* pairs, float* out, int count,
                       const __grid_constant__ Function function) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    out[i] = function(pairs[i]);
  }
}

static std::vector<float> computed(int n, float a) {
  constexpr int kChunk = 1 << 14;
  std::vector<float2> pairs(n);
  std::vector<float> out(n);
  for (int i = 0; i < n; ++i) pairs[i] = {1.0f + 0.25f * (i % 1009), kTable[i % 13]};
  float2* on_device = nullptr;
  float* result = nullptr;
  ok(cudaMalloc(&on_device, n * sizeof(float2)));
  ok(cudaMalloc(&result, n * sizeof(float)));
  {
    Stream streams[2];
    for (int first = 0, turn = 0; first < n; first += kChunk, turn ^= 1) {
      const int count = std::min(kChunk, n - first);
      ok(cudaMemcpyAsync(on_device + first, pairs.data() + first, count * sizeof(float2),
                         cudaMemcpyHostToDevice, streams[turn]));
      mapped<<<(count + 1023) / 1024, 256, 0, streams[turn]>>>(on_device + first, result + first,
                                                               count, Axpy{a});
      ok(cudaGetLastError());
      ok(cudaMemcpyAsync(out.data() + first, result + first, count * sizeof(float),
                         cudaMemcpyDeviceToHost, streams[turn]));
    }
    for (Stream& stream : streams) {
      ok(cudaStreamSynchronize(stream));
      stream.close();
    }
  }
  ok(cudaFree(on_device));
  ok(cudaFree(result));
  for (int i = 0; i < n; ++i) {
    const double expected = double(a) * pairs[i].x + pairs[i].y;
    if (!(std::fabs(out[i] - expected) <= 1e-6 * (std::fabs(a * pairs[i].x) + 6)))
      throw Error{"the GPU is wrong"};
  }
  return out;
}

int main(int argc, char** argv) try {
  char *end = nullptr, *end_of_a = nullptr;
  const long n = argc == 4 ? std::strtol(argv[1], &end, 10) : 0;
  const float a = argc == 4 ? std::strtof(argv[2], &end_of_a) : 0;
  if (argc != 4 || n < 1 || n > 2'000'000'000 || *end != 0 || end_of_a == argv[2] ||
      *end_of_a != 0 || !std::isfinite(a)) {
    std::fputs("first_program N A OUTPUT\n", stderr);
    return 2;
  }
  const std::vector<float> out = computed(static_cast<int>(n), a);
  std::FILE* const file = std::fopen(argv[3], "w");
  if (file == nullptr) throw Error{"OUTPUT cannot be written"};
  for (const float value : out) std::fprintf(file, "%.9g\n", value);
  if (std::fclose(file) != 0) throw Error{"OUTPUT cannot be written"};
} catch (const Error& error) {
  std::fprintf(stderr, "first_program: %s\n", error.words.c_str());
  return 1;
}
