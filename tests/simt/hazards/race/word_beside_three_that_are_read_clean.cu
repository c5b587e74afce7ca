// Three of four words are loaded together, but the fourth is another thread's.
struct Body {
  float x, y, z, mass;
};

__global__ void pull(float* out) {
  __shared__ Body bodies[32];
  const int i = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    bodies[i].x = i;
    bodies[i].y = 2;
    bodies[i].z = 3;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    const Body& other = bodies[i ^ 1];
    out[i] = other.x + other.y * other.z;
  } else {
    bodies[i].mass = 1;
  }
}

int main() {
  float* out;
  cudaMalloc(&out, 32 * sizeof(float));
  pull<<<1, 64>>>(out);
  return cudaDeviceSynchronize();
}
