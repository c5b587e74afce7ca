// An object with virtual functions is copied as it is: its table of functions is the host's.
struct Shape {
  __host__ __device__ virtual int area() const { return 0; }
};
struct Square : Shape {
  int side = 2;
  __host__ __device__ int area() const override { return side * side; }
};

__global__ void ask(const Shape* shape, int* area) { *area = shape->area(); }

int main() {
  const Square square;
  Square* shape;
  int* area;
  cudaMalloc(&shape, sizeof square);
  cudaMalloc(&area, sizeof(int));
  cudaMemcpy(shape, &square, sizeof square, cudaMemcpyHostToDevice);
  ask<<<1, 1>>>(shape, area);
  return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
