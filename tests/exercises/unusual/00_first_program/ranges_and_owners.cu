// C++20: ranges make the inputs, owners free the memory, what fails throws.
#include <cuda_runtime.h>

#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <string>
#include <vector>

void require(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

struct Free {
  void operator()(float* memory) const { cudaFree(memory); }
};
using Owner = std::unique_ptr<float, Free>;
Owner allocate(std::size_t count) {
  float* memory = nullptr;
  require(cudaMalloc(&memory, count * sizeof(float)));
  return Owner(memory);
}

__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = fmaf(a, x[i], y[i]);
  }
}

std::vector<float> made(int n, auto value) {
  std::vector<float> all;
  for (const float one : std::views::iota(0, n) | std::views::transform(value)) all.push_back(one);
  return all;
}

void run(int n, float a, const char* output) {
  auto x = made(n, [](int i) { return 1.0f + 0.25f * (i % 1009); });
  auto y = made(n, [](int i) { return (i % 13) - 6.0f; });
  const std::size_t bytes = n * sizeof(float);
  Owner on_device[] = {allocate(n), allocate(n)};
  require(cudaMemcpy(on_device[0].get(), x.data(), bytes, cudaMemcpyHostToDevice));
  require(cudaMemcpy(on_device[1].get(), y.data(), bytes, cudaMemcpyHostToDevice));
  saxpy<<<(n + 511) / 512, 256>>>(n, a, on_device[0].get(), on_device[1].get());
  require(cudaGetLastError());
  require(cudaMemcpy(y.data(), on_device[1].get(), bytes, cudaMemcpyDeviceToHost));
  for (Owner& one : on_device) require(cudaFree(one.release()));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(output, "w"), std::fclose);
  if (file == nullptr) throw std::runtime_error("cannot write");
  for (const float number : y) std::fprintf(file.get(), "%.9g\n", number);
}

template <class Number>
std::optional<Number> parsed(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

int main(int argc, char** argv) {
  const auto n = argc == 4 ? parsed<int>(argv[1]) : std::nullopt;
  const auto a = argc == 4 ? parsed<float>(argv[2]) : std::nullopt;
  if (!n || *n < 1 || !a || !std::isfinite(*a)) {
    std::fprintf(stderr, "usage: first_program N A OUTPUT\n");
    return 2;
  }
  try {
    run(*n, *a, argv[3]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "first_program: %s\n", error.what());
    return 1;
  }
}
