// Arrays and algorithms of the standard in a kernel: ways are arrays of a template's size, the end is sought by min_element.
#include <cuda_runtime.h>

#include <cuda/std/array>
#include <cuda/std/mdspan>
#include <tuple>
#include <utility>

#include "common/exercise/exercise.h"

template <int A>
struct Step {
  cuda::std::array<float, A> least;
  cuda::std::array<signed char, A> from;
};

template <int A>
__global__ void plans(const float* costs, float* spent, int* layout, int N, int L) {
  const int n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N) return;
  const cuda::std::mdspan cost(costs, L, A, A, N);
  cuda::std::array<Step<A>, 64> steps;
  for (int l = 0; l < L; ++l) {
    for (int b = 0; b < A; ++b) {
      float least = INFINITY;
      int from = 0;
      for (int a = 0; a < (l == 0 ? 1 : A); ++a) {
        const float way = (l == 0 ? 0 : steps[l - 1].least[a]) + cost(l, a, b, n);
        if (way < least) least = way, from = a;
      }
      steps[l].least[b] = least;
      steps[l].from[b] = static_cast<signed char>(from);
    }
  }
  int best = 0;
  for (int a = 1; a < A; ++a) best = steps[L - 1].least[a] < steps[L - 1].least[best] ? a : best;
  for (int l = L; l-- > 0; best = steps[l].from[best]) {
    layout[l * N + n] = best;
    spent[l * N + n] = steps[l].least[best];
  }
}

template <int... Counts>
static void choose(std::integer_sequence<int, Counts...>, int A, auto... arguments) {
  ((Counts + 1 == A
        ? plans<Counts + 1><<<(std::get<3>(std::tuple(arguments...)) + 63) / 64, 64>>>(arguments...)
        : void()),
   ...);
}

static int launch(const float* cost, float* spent, int* layout, int N, int L, int A) {
  choose(std::make_integer_sequence<int, 4>(), A, cost, spent, layout, N, L);
  return cudaGetLastError();
}

halo::Exercise halo::exercise() { return launch; }
