// What nvcc compiles, although it looks like something that it refuses. (With --extended-lambda; what
// stands behind RELAXED needs --expt-relaxed-constexpr as well.)
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// Host functions beside device functions of the same name.
float overloaded(int x) { return static_cast<float>(x); }
__device__ float overloaded(float x) { return x; }
__device__ float declared_first(float x);
float declared_first(float x) { return x; }  // what it was declared first, it is
struct Declared {
  __device__ float method(float x);
  __host__ __device__ Declared() {}
};
float Declared::method(float x) { return x; }
float only_called_by_host(float x) { return x; }
namespace elsewhere {
float square(float x) { return x * x; }
}  // namespace elsewhere
__device__ float square(float x) { return x * x; }
__device__ float max(float x, int y) {
  return x > static_cast<float>(y) ? x : static_cast<float>(y);
}

// Implicit and defaulted members are for both.
struct Plain {
  int x = 2;
  int y[2] = {1, 2};
  Plain() = default;
  Plain(const Plain&) = default;
  Plain& operator=(const Plain&) = default;
  ~Plain() = default;
};
// The host makes a kernel's arguments and destroys them.
class Buffer {
 public:
  explicit Buffer(int n) : n_(n) { cudaMalloc(&data_, static_cast<std::size_t>(n) * sizeof(int)); }
  Buffer(const Buffer& other) : data_(other.data_), n_(other.n_), owner_(false) {}
  ~Buffer() {
    if (owner_) cudaFree(data_);
  }
  __device__ int& operator[](int i) { return data_[i]; }
  __host__ __device__ int size() const { return n_; }
  int* data() const { return data_; }

 private:
  int* data_ = nullptr;
  int n_;
  bool owner_ = true;
};
std::ostream& operator<<(std::ostream& out, const Plain& plain) { return out << plain.x; }

// Constants of the host are part of the code, and what is only measured is not used.
const float kFloat = 1.5f;
const int kInt = 3;
static const double kDouble = 2.0;
constexpr float kConstexpr = 2;
constexpr float kTable[3] = {1, 2, 3};
float measured[4];
int counter = 0;
struct Constants {
  static const int kMember = 3;
  static constexpr float kFloat = 2;
};
enum { kEnumerator = 7 };

template <typename F, typename... A>
__device__ auto call(F&& f, A&&... arguments) {
  return std::forward<F>(f)(std::forward<A>(arguments)...);
}
__device__ int sum(std::initializer_list<int> list) {
  int total = 0;
  for (const int value : list) total += value;
  return total;
}

__global__ void uses(float* out, Plain by_value) {
  Plain plain;
  Plain copy = plain;
  copy = by_value;
  Declared declared;
  out[0] =
      overloaded(out[1]) + declared_first(1.0f) + declared.method(2) + square(3) + max(1.0f, 2);
  out[1] = kFloat + kInt + static_cast<float>(kDouble) + kConstexpr + copy.x + kEnumerator;
  constexpr float third = kTable[2];
  int counter = 3;  // not the host's
  float bounded[kInt];
  bounded[1] = third + Constants::kMember + Constants::kFloat;
  out[2] = sizeof(measured) / sizeof(measured[0]) + bounded[1] + counter;
  decltype(measured[0] + only_called_by_host(1)) value = 2;
  auto twice = [&](float x) { return 2 * x + value; };
  out[3] = twice(1) + call([](float x) { return x; }, out[1]) + sum({1, 2, 3});
  out[4] = std::sqrt(out[1]) + std::abs(-2.0f) + std::fma(out[0], out[1], out[2]) +
           std::isnan(out[1]) + std::pow(out[1], 2.0f) + fabs(out[1]) + abs(-3) + min(1, 2);
  assert(out[0] == out[0]);
  std::printf("%g\n", out[0]);
  static int calls = 0;
  static const float weights[2] = {1, 2};
  out[5] = weights[threadIdx.x] + static_cast<float>(calls++);
  Plain* place = new (out + 8) Plain();
  place->~Plain();
  int rand = 3, time = 4;  // names of the C library
  out[6] = rand + time;
}

__global__ void relaxed(int* out) {  // RELAXED
  out[0] = std::min(out[1], out[2]) + std::numeric_limits<int>::max();
  std::array<int, 3> array{1, 2, 3};
  std::pair<int, int> pair{4, 5};
  std::swap(out[1], out[2]);
  out[3] = array[1] + pair.second;
}

template <typename T>
__global__ typename std::enable_if<sizeof(T) == 4>::type restricted(T* out) {
  out[0] = T(1);
}
__global__ auto trailing(int* out) -> void { *out = 1; }
inline __global__ void inlined(int* out) { *out = 1; }
template <typename F>
__global__ void apply(float* out, F f) {
  out[threadIdx.x] = f(out[threadIdx.x]);
}
__global__ void fill(Buffer buffer, int value) {
  if (threadIdx.x < static_cast<unsigned>(buffer.size())) buffer[threadIdx.x] = value << 1;
}

void launch(void (*kernel)(int*), int* out) { kernel<<<1, 1>>>(out); }

void host(float* out, int* numbers) {
  std::vector<int> values(3);
  std::sort(values.begin(), values.end(), [](int a, int b) { return a < b; });
  uses<<<1, 1>>>(out, Plain());
  restricted<<<1, 1>>>(numbers);
  launch(trailing, numbers);
  auto kernel = inlined;
  kernel<<<1, 1>>>(numbers);
  const float factor = 3;
  apply<<<1, 2>>>(out, [=] __device__(float x) { return factor * x; });
  auto plus = [] __host__ __device__(float x) { return x + 1; };
  apply<<<1, 2>>>(out, plus);
  auto print = [&](const std::string& text) { std::cout << text << Plain() << plus(1) << '\n'; };
  print("done");
  Buffer buffer(32);
  fill<<<1, 32>>>(buffer, ++counter);
  std::cout << buffer.data() << elsewhere::square(2) << only_called_by_host(1) << overloaded(2);
}
