// Of a word with one byte that is written, another byte decides.
__global__ void fill(unsigned* words) { reinterpret_cast<char*>(words + threadIdx.x)[0] = 1; }

__global__ void count(const unsigned* words, int* out) {
  if ((words[threadIdx.x] >> 16 & 255) != 0) atomicAdd(out, 1);
}

int main() {
  unsigned* words;
  int* out;
  cudaMalloc(&words, 32 * sizeof(unsigned));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  fill<<<1, 32>>>(words);
  count<<<1, 32>>>(words, out);
  return cudaDeviceSynchronize();
}
