// Each vertex takes the greatest label about, round after round until none changes: what one store undoes of another's, the
// next round does again. The label is stored as it was read, and nothing is made of it.
__global__ void spread(const int2* edges, int count, volatile int2* label) {
  bool changed;
  do {
    changed = false;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
      const int v = edges[i].x, w = edges[i].y;
      const int own = label[v].x, other = label[w].x;
      int most = own;
      if (most > v) most = label[most].x;
      if (other < most) {
        label[w].x = most;
        changed = true;
      }
      if (own < most) {
        label[v].x = most;
        changed = true;
      }
    }
  } while (__syncthreads_or(changed));
}

int main() {
  constexpr int kCount = 64;
  int2 edges[2 * kCount], begin[kCount], end[kCount];
  for (int i = 0; i < kCount; ++i) {
    begin[i] = make_int2(i, 0);
    edges[2 * i] = make_int2(i, (i + 1) % kCount);
    edges[2 * i + 1] = make_int2(i, (i * 7) % kCount);
  }
  int2 *on_device, *label;
  cudaMalloc(&on_device, sizeof edges);
  cudaMalloc(&label, sizeof begin);
  cudaMemcpy(on_device, edges, sizeof edges, cudaMemcpyHostToDevice);
  cudaMemcpy(label, begin, sizeof begin, cudaMemcpyHostToDevice);
  spread<<<1, 128>>>(on_device, 2 * kCount, label);
  cudaMemcpy(end, label, sizeof end, cudaMemcpyDeviceToHost);
  return end[0].x == kCount - 1 ? 0 : 1;
}
