// All threads look for the text that follows them in a window of bytes, which some fill anew before all have looked.
__global__ void longest(const unsigned char* text, int* best) {
  __shared__ unsigned char window[256];
  window[threadIdx.x] = text[threadIdx.x];
  __syncthreads();
  int longest = 0;
  for (unsigned begin = 0; begin < 64; ++begin) {
    int length = 0;
    while (length < 8 && window[begin + length] == window[threadIdx.x / 2 + length]) ++length;
    longest = max(longest, length);
  }
  best[threadIdx.x] = longest;
  window[threadIdx.x] = text[256 + threadIdx.x];  // no barrier before this
  __syncthreads();
  best[256 + threadIdx.x] = window[255 - threadIdx.x];
}

int main() {
  unsigned char* text;
  int* best;
  cudaMalloc(&text, 512);
  cudaMalloc(&best, 512 * sizeof(int));
  cudaMemset(text, 1, 512);
  longest<<<1, 256>>>(text, best);
  return cudaDeviceSynchronize();
}
