// What nvcc refuses and g++ would not: the marked lines must be, and no others.
#include <cuda_runtime.h>

float tap(float x) { return x; }
template <typename T>
T generic(T x) {
  return x;
}
constexpr float computed(float x) { return 2 * x; }
namespace mathematics {
inline float square(float x) { return x * x; }
}  // namespace mathematics
extern "C" int in_c(int x);
[[nodiscard]] static int attributed(int x) { return x; }

float scale = 1;
static int counters[3];
const float weights[3] = {1, 2, 3};
constexpr float more_weights[3] = {1, 2, 3};
const char* const name = "host";
float* pointer;
struct Static {
  static float member;
};

struct Constructed {
  int x;
  Constructed() : x(3) {}
};
struct Destroyed {
  int x;
  ~Destroyed() {}
};
struct Called {
  int x;
  int method() const { return x; }
  float operator()(float y) const { return y; }
  int operator[](int i) const { return i; }
};
struct Added {
  int x;
};
Added operator+(Added a, Added b) { return {a.x + b.x}; }

__device__ float helper(float x) {
  return tap(x);  // REFUSED tap
}

struct Method {
  __device__ float of_a_class(float x) {
    return tap(x) +  // REFUSED tap
           scale;    // REFUSED scale
  }
  float after() { return tap(scale); }
};

__global__ void functions(float* out) {
  out[0] = tap(out[1]);                  // REFUSED tap
  out[0] = generic(out[1]);              // REFUSED generic
  out[0] = computed(out[1]);             // REFUSED computed
  out[0] = mathematics::square(out[1]);  // REFUSED square
  out[0] = in_c(3);                      // REFUSED in_c
  out[0] = attributed(3);                // REFUSED attributed
  float (*function)(float) = tap;        // REFUSED tap
  out[0] = function(1);
}

__global__ void variables(float* out, int n) {
  out[0] = scale;                      // REFUSED scale
  out[0] = counters[1];                // REFUSED counters
  out[0] = weights[threadIdx.x];       // REFUSED weights
  out[0] = more_weights[threadIdx.x];  // REFUSED more_weights
  out[0] = name[0];                    // REFUSED name
  pointer[0] = 1;                      // REFUSED pointer
  out[0] = Static::member;             // REFUSED member
  float array[n];                      // REFUSED array
  out[1] = array[0];
}

__global__ void classes(float* out, Called called, Added added) {
  Constructed constructed;     // REFUSED Constructed
  Destroyed destroyed;         // REFUSED ~Destroyed
  out[0] = called.method();    // REFUSED method
  out[0] = called(1);          // REFUSED operator()
  out[0] = called[1];          // REFUSED operator[]
  out[0] = (added + added).x;  // REFUSED operator+
  out[1] = constructed.x + destroyed.x;
}

template <typename F>
__global__ void apply(float* out, F f) {
  out[0] = f(1);  // REFUSED operator()
}

int main() {
  const float value = tap(generic(computed(mathematics::square(scale)))) + counters[0];
  apply<<<1, 1>>>(&scale, Called{in_c(1)});
  return static_cast<int>(value + attributed(1) + weights[0] + more_weights[1] + *pointer +
                          name[0]);
}
