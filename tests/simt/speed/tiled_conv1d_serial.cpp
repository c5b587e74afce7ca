// The work of tiled_conv1d.cu as plain serial C++: the same tiles, one after the other.
// Usage: tiled_conv1d_serial LENGTH RUNS OUTPUT-FILE. Prints `seconds S` for each run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int kMaskWidth = 9;
constexpr int kThreads = 256;
constexpr int kTile = kThreads + kMaskWidth - 1;

__attribute__((noinline)) static void tiled_conv1d(const float* N, const float* mask, float* P,
                                                   int n) {
  float tile[kTile];
  for (int block = 0; block * kThreads < n; ++block) {
    const int first = block * kThreads - kMaskWidth / 2;
    for (int s = 0; s < kTile; ++s) {
      const int k = first + s;
      tile[s] = k >= 0 && k < n ? N[k] : 0.0f;
    }
    const int outputs = std::min(kThreads, n - block * kThreads);
    for (int t = 0; t < outputs; ++t) {
      float acc = 0;
      for (int j = 0; j < kMaskWidth; ++j) acc += tile[t + j] * mask[j];
      P[block * kThreads + t] = acc;
    }
  }
}

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const int n = std::atoi(argv[1]);
  const int runs = std::atoi(argv[2]);
  const float mask[kMaskWidth] = {1, -2, 3, 5, -7, 4, 6, -1, 2};
  std::vector<float> N(n), P(n);
  for (int i = 0; i < n; ++i) N[i] = static_cast<float>((i * 7 + i / 11) % 17 - 3);
  for (int r = 0; r < runs; ++r) {
    const auto start = std::chrono::steady_clock::now();
    tiled_conv1d(N.data(), mask, P.data(), n);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::printf("seconds %.9f\n", took.count());
  }
  std::FILE* file = std::fopen(argv[3], "wb");
  if (!file || std::fwrite(P.data(), sizeof(float), n, file) != static_cast<std::size_t>(n)) {
    return 1;
  }
  return std::fclose(file) == 0 ? 0 : 1;
}
