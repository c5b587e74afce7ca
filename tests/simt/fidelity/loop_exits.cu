// Loops that lanes leave by several ways, each at a round of its own, with work on one of the ways.
#include <cuda_runtime.h>

#include "launches.hpp"

namespace fidelity {
namespace {

constexpr int kThreads = 64;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Ends where it finds something.
__global__ void find_and_return(const int* in, int* out, int n, int wanted) {
  const int t = thread();
  for (int i = 0; i < n; ++i) {
    if (in[(i * 5 + t * 3) & 2047] == wanted) {
      out[t] = i;
      return;
    }
  }
  out[t] = -1;
}
// Fetches something there, and goes on with the others.
__global__ void find_and_fetch(const int* in, const int* table, int* out, int n, int most) {
  const int t = thread();
  int found = -1;
  for (int i = 0; i < n; ++i) {
    const int value = in[(i * 7 + t) & 2047];
    if (value + i > most) {
      found = table[value * 16 + i];
      break;
    }
  }
  out[t] = found;
}
// Work on both ways, and the loop's own end is not reached.
__global__ void two_ways(const int* next, const int* a, const int* b, int* out) {
  const int t = thread();
  int at = t, result = 0;
  for (int rounds = 1;; ++rounds) {
    at = (at * 5 + next[at] + 1) & 1023;
    if (at % 7 == 0) {
      result = a[at] + rounds;
      break;
    }
    if (at % 11 == 3) {
      result = b[at] - rounds;
      break;
    }
  }
  out[t] = result;
}
// Keys by linear probing: the value beside a key, or that it is not there.
__global__ void value_of_key(const int* keys, const int* values, int* out, int mask) {
  const int t = thread(), key = t * 3;
  int at = key * 5 & mask, there = 0;
  while ((there = keys[at]) != -1) {
    if (there == key) {
      out[t] = values[at];
      return;
    }
    at = (at + 1) & mask;
  }
  out[t] = -2;
}
// Until a cell is full: then its neighbours are asked.
__global__ void march(const int* cells, int* out, int width, int steps) {
  const int t = thread();
  int x = 1 + t % (width - 2), y = 1 + t / 16;
  for (int i = 0; i < steps; ++i) {
    if (cells[y * width + x] > 10) {
      out[t] = cells[y * width + x - 1] - cells[y * width + x + 1] +
               4 * (cells[(y - 1) * width + x] - cells[(y + 1) * width + x]);
      return;
    }
    x = 1 + (x + 2) % (width - 2);
    y = 1 + (y + (i & 1)) % (width - 2);
  }
  out[t] = 99;
}
// Two loops at once.
__global__ void leaves_two_loops(const int* in, int* out, int rows, int columns) {
  const int t = thread();
  int sum = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int value = in[(r * 64 + c * 3 + t) & 2047];
      sum += value;
      if (sum > 20 + 5 * (t % 8)) {
        out[t] = sum + in[value] * 100;
        return;
      }
    }
  }
  out[t] = -sum;
}
// Rows are left one by one; each tells where.
__global__ void leaves_each_row(const int* in, int* places, int* out, int rows, int columns) {
  const int t = thread();
  int told = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (in[(r * 67 + c * 5 + t) & 2047] == 12) {
        places[r * gridDim.x * blockDim.x + t] = c;
        ++told;
        break;
      }
    }
  }
  out[t] = told;
}
// An answer of a function that ends early.
__device__ bool all_below(const int* in, int n, int t, int most) {
  for (int i = 0; i < n; ++i) {
    if (in[(t + i * 9) & 2047] >= most) return false;
  }
  return true;
}
__global__ void if_all_below(const int* in, int* out, int n) {
  const int t = thread();
  if (all_below(in, n, t, 12)) {
    out[t] = in[t];
  } else {
    out[t] = in[t + 1024] * 2;
  }
}
// The work on the way out has a loop too.
__global__ void sums_on_the_way_out(const int* in, int* out, int n) {
  const int t = thread();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    if (in[(i * 3 + t) & 2047] == 11) {
      for (int k = 0; k <= i; ++k) sum += in[(k + t) & 2047];
      break;
    }
  }
  out[t] = sum;
}
// A word of shared memory on the way out.
__global__ void counts_on_the_way_out(const int* in, int* out, int n) {
  __shared__ int found[64];
  const int t = threadIdx.x;
  found[t] = 0;
  __syncthreads();
  for (int i = t; i < n; i += 3) {
    if (in[i & 2047] == 7) {
      found[t * 17 & 63] = i;
      break;
    }
  }
  __syncthreads();
  out[thread()] = found[t ^ 1];
}

// Two loops that begin at one place: lanes wait for each other there in every round.
__global__ void words_of_text(const int* in, int* out, int n) {
  const int t = thread(), end = t * 8 + n;
  int i = t * 8, words = 0;
  while (true) {
    while (i < end && in[i & 2047] < 3) ++i;
    if (i >= end) break;
    ++words;
    while (i < end && in[i & 2047] >= 3) ++i;
    if (i >= end) break;
  }
  out[t] = words;
}

// Where it found nothing, work too; all who did not leave come to the end at once.
__global__ void work_on_both_ways(const int* in, int* out, int n) {
  const int t = thread();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const int value = in[(i * 64 + t) & 2047];
    if (value == 9) {
      sum = in[i * 3 + t];
      goto done;
    }
    sum += value;
  }
  sum += in[sum & 1023] + in[(sum * 3) & 1023];
done:
  out[t] = sum;
}
// Three ways, two of which end.
__global__ void three_ways(const int* in, int* a, int* b, int* out, int n) {
  const int t = thread();
  int sum = t;
  for (int i = 0; i < n + (t & 7); ++i) {
    const int value = in[(sum + i) & 2047];
    if (value == 3) {
      a[t] = i;
      return;
    }
    if (value == 10) {
      b[t] = i + in[i];
      return;
    }
    sum += value;
  }
  out[t] = sum + in[sum & 2047];
}
__global__ void ways_that_end(const int* in, int* a, int* b) {
  const int t = thread();
  int sum = t;
  for (;;) {
    const int value = in[sum & 2047];
    if (value == 3) {
      a[t] = sum;
      return;
    }
    sum += value + 1;
    if (sum > 700) {
      b[t] = sum + in[value];
      return;
    }
  }
}
// Stores where it is, or where it would be: lanes wait for each other at one of the two.
__global__ void bisected(const int* sorted, int* where, int n, int keys) {
  const int t = thread();
  if (t >= keys) return;
  const int key = t * 7 % 500;
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2, value = sorted[middle];
    if (value == key) {
      where[t] = middle;
      return;
    }
    if (value < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  where[t] = ~low;
}
// The end of a row, which no round changes, stands in the loop: nvcc moves no load past __ldg().
__global__ void eight_lanes_a_row(const int* ends, const int* columns, const float* x, float* y,
                                  int rows) {
  const int lane = threadIdx.x % 8, row = thread() / 8;
  if (row >= rows) return;
  float sum = 0;
  for (int i = ends[row] + lane; i < ends[row + 1]; i += 8) sum += __ldg(x + columns[i]);
  for (int d = 4; d > 0; d /= 2)
    sum += __shfl_down_sync(0xffu << threadIdx.x % 32 / 8 * 8, sum, d, 8);
  if (lane == 0) y[row] = sum;
}
// From an inner loop to the next round of the outer one, with work or without.
__global__ void next_of_the_outer(const int* in, int* out, int n) {
  const int t = thread();
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 6; ++j) {
      const int value = in[(i * 67 + j * 5 + t) & 2047];
      if (value == 11) {
        sum += in[j * 9 + t];
        goto next;
      }
    }
    sum += in[(sum + t) & 1023] * 2;
  next:
    sum += in[(i + sum) & 1023];
  }
  out[t] = sum;
}
// So many rounds that ptxas writes out all.
__global__ void leaves_64_rounds(const int* in, int* out) {
  __shared__ int values[64];
  const int t = threadIdx.x;
  values[t] = in[(t * 7) & 2047];
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 64; ++i) {
    if (values[(i + t) & 63] > 10 + (t & 1)) {
      sum += values[i];
      break;
    }
    sum += values[(i * 3 + t) & 63];
  }
  out[thread()] = sum;
}
// Keys in tables of the lanes' own.
__global__ void inserts(const int* in, int* table, int* out) {
  const int t = thread();
  int added = 0;
  for (int k = 0; k < 5; ++k) {
    const int key = in[t * 5 + k] + 1;
    int slot = key & 7;
    while (true) {
      const int old = atomicCAS(&table[t * 8 + slot], 0, key);
      if (old == 0) {
        ++added;
        break;
      }
      if (old == key) break;
      slot = (slot + 1) & 7;
    }
  }
  out[t] = added;
}

// A vote ends it, and so its head stands behind its body.
__global__ void until_none(const int* in, int* out, int n) {
  const int t = thread();
  int at = t, sum = 0;
  while (__any_sync(~0u, at < n)) {
    if (at < n) sum += in[at];
    at += 64 + (in[at & 127] & 7);
  }
  out[t] = sum;
}

}  // namespace

void loop_exits() {
  Array<int> in(2048), table(2048, 3), out(256), places(4096);
  find_and_return<<<2, kThreads>>>(in.data(), out.data(), 9, 12);
  tell("found and returned", out);
  find_and_fetch<<<2, kThreads>>>(in.data(), table.data(), out.data(), 30, 22);
  tell("found and fetched", out);
  two_ways<<<2, kThreads>>>(in.data(), in.data(), table.data(), out.data());
  tell("two ways out", out);
  {
    std::vector<int> keys(1024, -1);
    for (int key = 0; key < 384; key += key % 4 == 0 ? 6 : 3) {
      int at = key * 5 & 1023;
      while (keys[at] != -1) at = (at + 1) & 1023;
      keys[at] = key;
    }
    Array<int> hashed(1024);
    require(cudaMemcpy(hashed.data(), keys.data(), 4096, cudaMemcpyHostToDevice), "cudaMemcpy");
    value_of_key<<<2, kThreads>>>(hashed.data(), table.data(), out.data(), 1023);
    tell("value of a key", out);
  }
  march<<<2, kThreads>>>(in.data(), out.data(), 40, 12);
  tell("march to a cell", out);
  leaves_two_loops<<<2, kThreads>>>(in.data(), out.data(), 3, 4);
  tell("two loops left", out);
  leaves_each_row<<<2, kThreads>>>(in.data(), places.data(), out.data(), 6, 9);
  tell("rows left", places);
  if_all_below<<<2, kThreads>>>(in.data(), out.data(), 8);
  tell("all below", out);
  sums_on_the_way_out<<<2, kThreads>>>(in.data(), out.data(), 10);
  tell("sums on the way out", out);
  counts_on_the_way_out<<<2, kThreads>>>(in.data(), out.data(), 600);
  tell("told on the way out", out);
  words_of_text<<<2, kThreads>>>(in.data(), out.data(), 30);
  tell("words of a text", out);
  work_on_both_ways<<<2, kThreads>>>(in.data(), out.data(), 10);
  tell("work on both ways", out);
  three_ways<<<2, kThreads>>>(in.data(), places.data(), places.data() + 256, out.data(), 6);
  tell("three ways out", out);
  ways_that_end<<<2, kThreads>>>(in.data(), places.data(), places.data() + 256);
  tell("ways that end", places);
  std::vector<int> steps(333);
  for (int i = 0; i < 333; ++i) steps[i] = i * 3 / 2;
  Array<int> sorted(333);
  require(cudaMemcpy(sorted.data(), steps.data(), 333 * sizeof(int), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  bisected<<<2, kThreads>>>(sorted.data(), out.data(), 333, 120);
  tell("bisected", out);
  for (int i = 0; i < 333; ++i) steps[i] = i == 0 ? 0 : steps[i - 1] + i * 5 % 23;
  require(cudaMemcpy(sorted.data(), steps.data(), 333 * sizeof(int), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  Array<float> x(64), y(16);
  eight_lanes_a_row<<<2, kThreads>>>(sorted.data(), in.data(), x.data(), y.data(), 16);
  tell("eight lanes a row", y);
  next_of_the_outer<<<2, kThreads>>>(in.data(), out.data(), 7);
  tell("next of the outer", out);
  leaves_64_rounds<<<2, kThreads>>>(in.data(), out.data());
  tell("64 rounds left", out);
  Array<int> empty(2048, 0);
  inserts<<<2, kThreads>>>(in.data(), empty.data(), out.data());
  tell("inserted", out);
  Array<int> values(8192), sums(8192, 2);
  until_none<<<2, kThreads>>>(values.data(), sums.data(), 700);
  tell("sums until none", sums);
}

}  // namespace fidelity
