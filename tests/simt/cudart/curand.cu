// cuRAND's host functions: the numbers are those that NVIDIA's library gives for the same seed. With an argument: into an array
// that is too small.
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <vector>

#include "expect.hpp"

#define EXPECT(holds) expect(holds, #holds, __LINE__)

template <typename T, typename Generate>
std::vector<T> numbers(curandRngType type, std::size_t count, Generate generate) {
  curandGenerator_t generator;
  EXPECT(curandCreateGenerator(&generator, type) == CURAND_STATUS_SUCCESS);
  EXPECT(curandSetPseudoRandomGeneratorSeed(generator, 77) == CURAND_STATUS_SUCCESS);
  T* data;
  cudaMalloc(&data, count * sizeof(T));
  EXPECT(generate(generator, data) == CURAND_STATUS_SUCCESS);
  std::vector<T> values(count);
  cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(data);
  EXPECT(curandDestroyGenerator(generator) == CURAND_STATUS_SUCCESS);
  return values;
}

bool is_near(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); }

// What NVIDIA's cuRAND 10 gives on the host, with seed 77.
struct Known {
  curandRngType type;
  unsigned int first, second, last;  // of 10,000
  double uniform, normal, normal_double;
};
constexpr Known kKnown[] = {
    {CURAND_RNG_PSEUDO_XORWOW, 760051865u, 1217524717u, 2193095553u, 0.283477068, 4.1521883,
     0.48794563069187546},
    {CURAND_RNG_PSEUDO_MRG32K3A, 1070940377u, 2947977507u, 279840568u, 0.686379492, 1.31986213,
     1.3198613052872195},
    {CURAND_RNG_PSEUDO_PHILOX4_32_10, 885466479u, 1207298927u, 2375316370u, 0.28109619, 2.3099699,
     0.0978086688791171},
};

int main(int argc, char**) {
  constexpr std::size_t kCount = 10000;
  if (argc > 1) {
    numbers<float>(CURAND_RNG_PSEUDO_DEFAULT, 8, [](curandGenerator_t generator, float* to) {
      return curandGenerateUniform(generator, to, 9) == CURAND_STATUS_LAUNCH_FAILURE
                 ? CURAND_STATUS_SUCCESS
                 : CURAND_STATUS_INTERNAL_ERROR;
    });
    return 0;
  }
  for (const Known& known : kKnown) {
    // In two calls as in one.
    const auto bits = numbers<unsigned int>(known.type, kCount,
                                            [](curandGenerator_t generator, unsigned int* to) {
                                              curandGenerate(generator, to, 3);
                                              return curandGenerate(generator, to + 3, kCount - 3);
                                            });
    EXPECT(bits.front() == known.first);
    EXPECT(bits[1] == known.second);
    EXPECT(bits.back() == known.last);
    const auto later =
        numbers<unsigned int>(known.type, 1, [](curandGenerator_t generator, unsigned int* to) {
          curandSetGeneratorOffset(generator, kCount - 1);
          return curandGenerate(generator, to, 1);
        });
    EXPECT(later.front() == known.last);
    EXPECT(is_near(numbers<float>(known.type, 2,
                                  [](curandGenerator_t generator, float* to) {
                                    return curandGenerateUniform(generator, to, 2);
                                  })[1],
                   known.uniform));
    EXPECT(is_near(numbers<float>(known.type, 2,
                                  [](curandGenerator_t generator, float* to) {
                                    return curandGenerateNormal(generator, to, 2, 3, 2);
                                  })[1],
                   known.normal));
    EXPECT(is_near(numbers<double>(known.type, 2,
                                   [](curandGenerator_t generator, double* to) {
                                     return curandGenerateNormalDouble(generator, to, 2, 3, 2);
                                   })[1],
                   known.normal_double));
  }
  curandGenerator_t generator;
  EXPECT(curandCreateGenerator(&generator, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_TYPE_ERROR);
  EXPECT(curandSetQuasiRandomGeneratorDimensions(nullptr, 2) == CURAND_STATUS_TYPE_ERROR);
  return verdict();
}
