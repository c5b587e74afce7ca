// Searches of graphs, tables, texts and programs; functions that are called by address; atomics that ptxas makes loops.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <new>

#include "launches.hpp"

namespace fidelity {
namespace {

namespace cg = cooperative_groups;

__device__ int thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

// Who has found a neighbour waits for the others, who end where they are.
__global__ void pulled(const int* counts, const int* edges, const int* level, int* next, int* any,
                       int now, int n) {
  const int node = thread();
  if (node < n && level[node] > 6) {
    for (int e = 0; e < counts[node]; ++e) {
      if (level[edges[node * 12 + e]] == now) {
        next[node] = now + 1;
        *any = 1;
        break;
      }
    }
  }
}

// Sums of the blocks before, from the last whose sum is known.
__global__ void looked_back(const int* in, int* out, volatile int* state, volatile int* own,
                            volatile int* sums) {
  __shared__ int tile[128];
  __shared__ int before;
  const int t = threadIdx.x, block = blockIdx.x + 3;
  tile[t] = in[thread()];
  __syncthreads();
  for (int step = 1; step < 128; step *= 2) {
    const int other = t >= step ? tile[t - step] : 0;
    __syncthreads();
    tile[t] += other;
    __syncthreads();
  }
  if (t == 127) {
    own[block] = tile[127];
    __threadfence();
    int sum = 0;
    for (int b = 2; b >= 0; --b) {
      int its;
      while ((its = state[b]) == 0) {
      }
      __threadfence();
      if (its >= 14) {
        sum += sums[b];
        break;
      }
      sum += own[b];
    }
    before = sum;
    sums[block] = sum + tile[127];
    __threadfence();
    state[block] = 2;
  }
  __syncthreads();
  out[thread()] = tile[t] + before;
}

__global__ void by_digits(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned of_warp[4][16];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  for (int i = t; i < 64; i += blockDim.x) of_warp[i / 16][i % 16] = 0;
  __syncthreads();
  const unsigned key = thread() < n ? in[thread()] : ~0u, digit = key >> 2 & 15;
  unsigned same = ~0u;
#pragma unroll
  for (int bit = 0; bit < 4; ++bit) {
    const bool has = (digit >> bit & 1) != 0;
    const unsigned votes = __ballot_sync(~0u, has);
    same &= has ? votes : ~votes;
  }
  const unsigned rank = __popc(same & ((1u << lane) - 1));
  if (rank == 0) of_warp[warp][digit] = __popc(same);
  __syncthreads();
  if (t < 16) {
    unsigned sum = 0;
    for (int w = 0; w < 4; ++w) {
      const unsigned count = of_warp[w][t];
      of_warp[w][t] = sum;
      sum += count;
    }
  }
  __syncthreads();
  if (thread() < n) {
    out[(digit * gridDim.x + blockIdx.x) * 128 + of_warp[warp][digit] + rank] = key;
  }
}

__global__ void best_four(const float* in, float* out, int n) {
  __shared__ float all[64 * 4];
  float best[4] = {-1, -1, -1, -1};
  for (int i = threadIdx.x; i < n; i += 64) {
    if (in[i] <= best[3]) continue;
    best[3] = in[i];
#pragma unroll
    for (int k = 3; k > 0; --k) {
      if (best[k] > best[k - 1]) {
        const float kept = best[k];
        best[k] = best[k - 1];
        best[k - 1] = kept;
      }
    }
  }
  for (int k = 0; k < 4; ++k) all[threadIdx.x * 4 + k] = best[k];
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) {
      float *a = all + threadIdx.x * 4, *b = a + step * 4, merged[4];
      int i = 0, j = 0;
      for (int k = 0; k < 4; ++k) merged[k] = a[i] >= b[j] ? a[i++] : b[j++];
      for (int k = 0; k < 4; ++k) a[k] = merged[k];
    }
  }
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = all[threadIdx.x];
}

struct Slot {
  unsigned key, value;
};
__global__ void looked_up(const Slot* table, const int* keys, int* out, int n, unsigned size) {
  const int i = thread();
  if (i >= n) return;
  const unsigned key = keys[i] * 5;
  for (unsigned slot = key % size;; slot = (slot + 1) % size) {
    if (table[slot].key == key) {
      out[i] = table[slot].value;
      return;
    }
    if (table[slot].key == 0) {
      out[i] = -1;
      return;
    }
  }
}

__global__ void tokens(const char* text, int* out, int n) {
  const char* const own = text + thread() * n;
  int state = 0, words = 0, numbers = 0;
  for (int i = 0; i < n; ++i) {
    const char c = own[i];
    switch (state) {
      case 0:
        if (c < 4) {
          state = 1;
        } else if (c < 8) {
          state = 2;
          ++numbers;
        }
        break;
      case 1:
        if (c > 9) {
          state = 0;
          ++words;
        } else if (c == 5) {
          state = 3;
        }
        break;
      case 2:
        if (c == 0) {
          state = 0;
        } else {
          numbers += c;
        }
        break;
      default:
        state = own[(i + 1) % n] > 6 ? 0 : 1;
        break;
    }
  }
  out[thread()] = words * 100 + numbers;
}

__global__ void interpreter(const unsigned char* code, const int* in, int* out, int n) {
  int sum = in[thread()], at = thread() % 3, kept = 0;
  while (true) {
    const unsigned char op = code[at++];
    if (at >= n) break;
    if (op == 0) continue;
    if (op < 3) {
      sum += in[op];
      if (sum > 60) break;
    } else if (op == 3) {
      kept = sum;
    } else if (op < 6) {
      sum ^= kept;
    } else if (op == 7) {
      if ((sum & 1) != 0) at += 2;
    } else if (op > 11) {
      out[thread() + 64] = sum;
    } else {
      sum += 2;
    }
  }
  out[thread()] = sum;
}

// Into the next case, and out of the kernel.
__global__ void falls_through(const int* ops, const int* a, int* out, int n) {
  const int i = thread();
  if (i >= n) return;
  const int value = a[i];
  int result;
  switch (ops[i]) {
    case 0:
      result = value;
      break;
    case 1:
      result = value + a[i + 1];
      break;
    case 3:
      result = value * a[i + 3];
      [[fallthrough]];
    case 4:
      result = value | a[i + 4];
      break;
    case 7:
    case 8:
      out[i + n] = value;
      result = 2;
      break;
    case 9:
      result = a[value];
      break;
    case 10:
      return;
    default:
      result = -1;
      out[i + 2 * n] = 0;
  }
  out[i] = result;
}

__global__ void labelled(const int* in, int* sums) {
  const int value = in[thread()];
  const auto group = cg::labeled_partition(cg::coalesced_threads(), value & 3);
  const int sum = cg::reduce(group, value, cg::plus<int>());
  if (group.thread_rank() == 0) atomicAdd(&sums[value & 3], sum);
}

// One of them has a loop.
struct Rule {
  int k;
  __device__ virtual int of(int value, const int* in) const = 0;
};
struct Sum : Rule {
  __device__ int of(int value, const int* in) const override { return value + in[k]; }
};
struct Scaled : Rule {
  int rounds;
  __device__ int of(int value, const int* in) const override {
    int sum = 0;
    for (int i = 0; i < rounds; ++i) sum += in[value + i] * k;
    return sum;
  }
};
__device__ Rule* rules[2];
__global__ void rules_made(Sum* sum, Scaled* scaled, int* out) {
  rules[0] = new (sum) Sum;
  rules[1] = new (scaled) Scaled;
  sum->k = out[0] = 3;
  scaled->k = 2;
  scaled->rounds = 3;
}
__global__ void by_rules(const int* in, int* out) {
  const int value = in[thread()];
  out[thread()] = rules[value & 1]->of(value, in);
}

__global__ void halves_added(__half* halves, __nv_bfloat16* others, __half2* pairs) {
  atomicAdd(halves + threadIdx.x % 13, __float2half(1));
  atomicAdd(others + threadIdx.x * 3, __float2bfloat16(2));
  atomicAdd(pairs + threadIdx.x % 11, __float2half2_rn(1));
}
__global__ void shorts_swapped(unsigned short* shorts) {
  atomicCAS(shorts + threadIdx.x * 2, static_cast<unsigned short>(0),
            static_cast<unsigned short>(3));
}
// The address of either memory.
__global__ void counted_in_either(const int* in, int* out) {
  __shared__ int own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  const int value = in[threadIdx.x];
  int* const counts = value > 5 ? out : own;
  atomicAdd(counts + value, 1);
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x + 16] = own[threadIdx.x];
}

}  // namespace

void searches_and_tables() {
  Array<int> in(4096), out(4096), any(4, 0);
  pulled<<<5, 64>>>(in.data(), in.data() + 5, in.data() + 2, out.data(), any.data(), 3, 300);
  tell("pulled", out);
  {
    Array<int> state(16, 2), own(16), sums(16);
    looked_back<<<4, 128>>>(in.data(), out.data(), state.data() + 1, own.data(), sums.data());
    tell("looked back", out);
  }
  {
    Array<unsigned> keys(512, 17), sorted(8192);
    by_digits<<<4, 128>>>(keys.data(), sorted.data(), 500);
    tell("by digits", sorted);
  }
  {
    Array<float> values(900), best(4);
    best_four<<<1, 64>>>(values.data(), best.data(), 900);
    tell("best four", best);
  }
  {
    Array<unsigned> table(512, 5);
    looked_up<<<2, 64>>>(table.as<Slot>(), in.data(), out.data(), 120, 256);
    tell("looked up", out);
  }
  {
    Array<char> text(2000);
    tokens<<<2, 32>>>(text.data(), out.data(), 20);
    tell("tokens", out);
    interpreter<<<2, 32>>>(text.as<unsigned char>(), in.data(), out.data(), 50);
    tell("interpreter", out);
  }
  falls_through<<<2, 96>>>(in.data(), in.data() + 5, out.data(), 180);
  tell("falls through", out);
  labelled<<<2, 64>>>(in.data(), any.data());
  tell("labelled", any);
  {
    Array<char> sum(64), scaled(64);
    rules_made<<<1, 1>>>(sum.as<Sum>(), scaled.as<Scaled>(), any.data());
    tell("rules made", any);
    by_rules<<<2, 64>>>(in.data(), out.data());
    tell("by rules", out);
  }
  {
    Array<__half> halves(16), pairs(22);
    Array<__nv_bfloat16> others(96);
    halves_added<<<1, 32>>>(halves.data(), others.data(), pairs.as<__half2>());
    tell("halves added", others);
    Array<unsigned short> shorts(64);
    shorts_swapped<<<1, 32>>>(shorts.data());
    tell("shorts swapped", shorts);
  }
  counted_in_either<<<1, 64>>>(in.data(), out.data());
  tell("counted in either", out);
}

}  // namespace fidelity
