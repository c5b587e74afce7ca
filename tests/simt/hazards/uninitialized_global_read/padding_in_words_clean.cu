// Structures go through registers as words, as CUB reduces them: their padding is carried along, and matters to nobody.
#include <cstring>

struct Item {
  char name;
  double weight;
};

__global__ void fill(Item* items) {
  items[threadIdx.x].name = static_cast<char>(threadIdx.x);
  items[threadIdx.x].weight = threadIdx.x % 7;
}

__global__ void heaviest(const Item* items, Item* out) {
  unsigned long long words[2], other[2];
  words[0] = __ldg(reinterpret_cast<const unsigned long long*>(items) + 2 * threadIdx.x);
  words[1] = __ldg(reinterpret_cast<const unsigned long long*>(items) + 2 * threadIdx.x + 1);
  for (int step = 16; step > 0; step /= 2) {
    for (int i = 0; i < 2; ++i) other[i] = __shfl_down_sync(0xffffffff, words[i], step);
    if (__longlong_as_double(other[1]) <= __longlong_as_double(words[1])) continue;
    for (int i = 0; i < 2; ++i) words[i] = other[i];
  }
  if (threadIdx.x == 0) memcpy(out, words, sizeof *out);
}

int main() {
  Item *items, *out;
  cudaMalloc(&items, 32 * sizeof(Item));
  cudaMalloc(&out, sizeof(Item));
  fill<<<1, 32>>>(items);
  heaviest<<<1, 32>>>(items, out);
  return cudaDeviceSynchronize();
}
