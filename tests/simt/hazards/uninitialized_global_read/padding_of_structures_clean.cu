// Padding that is whole words, or halves of them: it goes along when a structure is copied, and means nothing.
struct Gap {
  int first;
  double second;
};
struct Tail {
  char first;
  int second;
  double third;
  char last;
};
struct __align__(16) Point {
  float x, y, z;
};

__global__ void set(Gap* gaps, Tail* tails, Point* points) {
  const int t = threadIdx.x;
  gaps[t].first = t;
  gaps[t].second = t;
  tails[t].first = 1;
  tails[t].second = t;
  tails[t].third = t;
  tails[t].last = 2;
  points[t].x = points[t].y = points[t].z = t;
}

__device__ __noinline__ Tail moved(Tail its, int by) {
  its.second += by;
  return its;
}

__global__ void copy(Gap* gaps, Tail* tails, Point* points) {
  __shared__ Tail tile[32];
  __shared__ Point near[32];
  const int t = threadIdx.x, other = 31 - t;
  tile[t] = tails[t];
  near[t] = points[t];
  __syncthreads();
  gaps[32 + t] = gaps[t];
  const Tail its = tile[other];
  tails[32 + t] = its.second > 7 ? its : tails[t];
  tails[64 + t] = moved(tails[other], t);
  const Point point = near[other];
  points[32 + t] = point;
  gaps[t].first = its.first + its.last + point.x;
}

int main() {
  Gap* gaps;
  Tail* tails;
  Point* points;
  cudaMalloc(&gaps, 64 * sizeof(Gap));
  cudaMalloc(&tails, 96 * sizeof(Tail));
  cudaMalloc(&points, 64 * sizeof(Point));
  set<<<1, 32>>>(gaps, tails, points);
  copy<<<1, 32>>>(gaps, tails, points);
  return cudaDeviceSynchronize();
}
