struct Item {
  char kind;
  int value;
  int unused;
  unsigned is_set : 1, is_last : 1;
};
struct Stack {
  int items[8];
  int count;
};

__device__ __noinline__ int top(const Stack& stack) { return stack.items[stack.count - 1]; }

__global__ void mix(const int* in, Item* items, int* out) {
  int part[8];
  for (int k = 0; k < 6; ++k) part[in[k]] = k;
  // A choice, whichever was read.
  int sum = 0;
  for (int k = 0; k < 8; ++k) {
    const int its = part[in[k]];
    sum += in[k] < 6 ? its : 0;
  }
  // Swapped, with what nobody has set.
  Item own[4];
  for (int k = 0; k < 4; ++k) {
    own[in[k]].kind = 'a';
    own[in[k]].value = sum + k;
    own[in[k]].is_set = k & 1;
    own[in[k]].is_last = k == 3;
  }
  for (int k = 0; k < 3; ++k) {
    const Item its = own[in[k]];
    own[in[k]] = own[in[k + 1]];
    own[in[k + 1]] = its;
  }
  int set = 0;
  for (int k = 0; k < 4; ++k) set += own[in[k]].is_set + own[in[k]].value;
  Stack stack;
  stack.count = 0;
  for (int k = 0; k < in[3]; ++k) stack.items[stack.count++] = in[k];
  const Stack kept = stack;
  out[threadIdx.x] = set + top(kept) + top(stack);
  // Whole, with padding and what is not set.
  items[threadIdx.x] = own[in[threadIdx.x & 3]];
}

int main() {
  int host[16], *in, *out;
  Item* items;
  for (int k = 0; k < 16; ++k) host[k] = k;
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMalloc(&items, 16 * sizeof(Item));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  mix<<<1, 16>>>(in, items, out);
  return cudaDeviceSynchronize();
}
