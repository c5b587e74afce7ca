// The four bytes behind `number` belong to nobody, and are copied all the same.
struct Record {
  double value;
  int number;
};

__global__ void make(Record* out) {
  out[threadIdx.x].value = threadIdx.x;
  out[threadIdx.x].number = threadIdx.x;
}
__global__ void copy(const Record* in, Record* out) { out[threadIdx.x] = in[31 - threadIdx.x]; }

int main() {
  Record *in, *out, host[32];
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof host);
  make<<<1, 32>>>(in);
  copy<<<1, 32>>>(in, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  return cudaDeviceSynchronize();
}
