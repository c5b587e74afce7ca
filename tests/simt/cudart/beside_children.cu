// What a kernel does after it has launched others runs beside them; what it did before, and what waits for its end, do not.
__global__ void child(int* in, int* out, int* count) {
  *out = *in;           // READS
  atomicAdd(count, 1);  // UPDATES
}
__global__ void grandchild(int* out) {
  *out = 1;  // WRITES
}
__global__ void launches_one(int* out) { grandchild<<<1, 1>>>(out); }
__global__ void last(int* in, int* out) { *out += *in; }

__global__ void right(int* values, int* out, int* count) {
  values[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  child<<<1, 1>>>(values + 1, out, count);
  values[0] = 2;
  atomicAdd(count, 1);
  last<<<1, 1, 0, cudaStreamTailLaunch>>>(values, out);
}
__global__ void writes_what_it_reads(int* values, int* out, int* count) {
  child<<<1, 1>>>(values, out, count);
  values[0] = 3;  // AFTER child
}
__global__ void reads_what_it_writes(int* values, int* out) {
  launches_one<<<1, 1>>>(out);
  values[0] = *out;  // AFTER grandchild
}
__global__ void lowers(int* least, int* times) {
  const int before = *least;  // TESTS
  if (before > 1 && atomicMin(least, 1) == before) atomicAdd(times, 1);
}
__global__ void updates_what_it_tests(int* values, int* times) {
  lowers<<<1, 1>>>(values, times);
  atomicMin(values, 2);  // AFTER test
}
__global__ void reads_what_it_updates(int* values, int* out, int* count) {
  child<<<1, 1>>>(values, out, count);
  out[1] = *count;  // AFTER updater
}
// The first of its launches, not the second, runs beside what it does between.
__global__ void between(int* values, int* out, int* count) {
  launches_one<<<1, 1>>>(out);
  values[0] = 4;
  child<<<1, 1>>>(values, out + 1, count);
}
__global__ void fill(int* out, int from) {
  out[threadIdx.x] = from + threadIdx.x;  // FILLS
}
// Side by side are those of different blocks, and of different streams that no event orders.
__global__ void on_two_streams(int* out, int apart, bool is_ordered) {
  cudaStream_t one, other;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  fill<<<1, 16, 0, one>>>(out, 1);
  cudaEventRecord(filled, one);
  if (is_ordered) cudaStreamWaitEvent(other, filled, 0);
  fill<<<1, 16, 0, other>>>(out + apart, 2);
  fill<<<1, 16, 0, other>>>(out + apart, 3);
  fill<<<1, 16, 0, cudaStreamTailLaunch>>>(out, 4);
}
// So are copies and memsets that it asks for.
__global__ void copies(int* out, int* values, bool is_last) {
  values[1] = 6;
  const cudaStream_t stream = is_last ? cudaStreamTailLaunch : nullptr;
  cudaMemcpyAsync(out, values, 2 * sizeof(int), cudaMemcpyDeviceToDevice, stream);  // COPIES
  values[0] = 5;                                                                    // AFTER copy
}
__global__ void sets(int* out, bool is_ordered) {
  cudaStream_t one, other;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaMemsetAsync(out + 15, 0, sizeof(int), is_ordered ? one : other);  // SETS
  fill<<<1, 16, 0, one>>>(out, 1);
}
__global__ void of_each_block(int* out) {
  const int first = blockIdx.x;
  fill<<<1, 16>>>(out + 8 * first, first);
}

int main(int argc, char** argv) {
  int *values, *out, *count;
  cudaMalloc(&values, 32 * sizeof(int));
  cudaMalloc(&out, 2 * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMemset(values, 0, 32 * sizeof(int));
  cudaMemset(out, 0, 2 * sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  if (argc == 1) {
    right<<<1, 32>>>(values, out, count);
    between<<<1, 1>>>(values, out, count);
    on_two_streams<<<1, 1>>>(values, 16, false);
    on_two_streams<<<1, 1>>>(values, 0, true);
    copies<<<1, 1>>>(out, values, true);
    sets<<<1, 1>>>(values, true);
    cudaStream_t stream;
    int* shared;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMallocManaged(&shared, 32 * sizeof(int));
    of_each_block<<<1, 1, 0, stream>>>(shared);
    cudaStreamSynchronize(stream);
    if (shared[5] != 5) return 1;
  } else if (argv[1][0] == 's') {
    on_two_streams<<<1, 1>>>(values, 15, false);
  } else if (argv[1][0] == 'b') {
    of_each_block<<<2, 1>>>(values);
  } else if (argv[1][0] == 'h') {
    cudaStream_t one, other;
    cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    of_each_block<<<1, 1, 0, one>>>(values);
    of_each_block<<<1, 1, 0, other>>>(values);
  } else if (argv[1][0] == 'm') {
    copies<<<1, 1>>>(out, values, false);
    sets<<<1, 1>>>(values, false);
  } else if (argv[1][0] == 'w') {
    writes_what_it_reads<<<1, 1>>>(values, out, count);
  } else if (argv[1][0] == 'u') {
    updates_what_it_tests<<<1, 1>>>(values, count);
  } else if (argv[1][0] == 'c') {
    reads_what_it_updates<<<1, 1>>>(values, out, count);
  } else {
    reads_what_it_writes<<<1, 1>>>(values, out);
  }
  return cudaDeviceSynchronize() != cudaSuccess;
}
