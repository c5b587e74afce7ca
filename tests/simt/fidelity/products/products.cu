// Products by wgmma of random numbers, and of random bits: 64 of 64 x 8 results for each type and layout. Prints of each the
// name and a checksum of all results' bits.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

constexpr int kProducts = 64, kThreads = 128;
constexpr int kWords = 1024;   // of an operand in shared memory, all of which are set
constexpr int kResults = 512;  // words of a product's results

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

#define PRODUCT(NAME, FORM, RESULTS, TAIL)                                                     \
  __global__ void NAME(const U32* left, const U32* right, const U32* before, U32* after,       \
                       U64 describes_left, U64 describes_right) {                              \
    __shared__ __align__(1024) U32 tile[2 * kWords];                                           \
    const int t = threadIdx.x;                                                                 \
    for (int i = t; i < kWords; i += kThreads) {                                               \
      tile[i] = left[blockIdx.x * kWords + i];                                                 \
      tile[kWords + i] = right[blockIdx.x * kWords + i];                                       \
    }                                                                                          \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                               \
    __syncthreads();                                                                           \
    U32 d[4];                                                                                  \
    for (int i = 0; i < 4; ++i) d[i] = before[blockIdx.x * kResults + t * 4 + i];              \
    const U64 base = __cvta_generic_to_shared(tile) >> 4;                                      \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                    \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\nwgmma.mma_async.sync.aligned." FORM \
                 " " RESULTS ", %4, %5, p" TAIL                                                \
                 ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n}"    \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                              \
                 : "l"(describes_left + base), "l"(describes_right + base + kWords * 4 / 16),  \
                   "r"(1)                                                                      \
                 : "memory");                                                                  \
    for (int i = 0; i < 4; ++i) after[blockIdx.x * kResults + t * 4 + i] = d[i];               \
  }
#define FOUR "{%0, %1, %2, %3}"
#define TWO "{%0, %1}"
PRODUCT(f16, "m64n8k16.f32.f16.f16", FOUR, ", 1, 1, 0, 0")
PRODUCT(bf16, "m64n8k16.f32.bf16.bf16", FOUR, ", 1, 1, 0, 0")
PRODUCT(tf32, "m64n8k8.f32.tf32.tf32", FOUR, ", 1, 1")
PRODUCT(e4m3, "m64n8k32.f32.e4m3.e4m3", FOUR, ", 1, 1")
PRODUCT(e5m2, "m64n8k32.f32.e5m2.e5m2", FOUR, ", 1, 1")
PRODUCT(e4m3_to_f16, "m64n8k32.f16.e4m3.e4m3", TWO, ", 1, 1")
PRODUCT(e5m2_to_f16, "m64n8k32.f16.e5m2.e4m3", TWO, ", 1, 1")
PRODUCT(f16_to_f16, "m64n8k16.f16.f16.f16", TWO, ", 1, 1, 0, 0")
PRODUCT(s8, "m64n8k32.s32.s8.s8", FOUR, "")
PRODUCT(u8_saturated, "m64n8k32.s32.u8.s8.satfinite", FOUR, "")
PRODUCT(negated, "m64n8k16.f32.f16.f16", FOUR, ", -1, 1, 0, 0")
PRODUCT(both_across, "m64n8k16.f32.f16.f16", FOUR, ", 1, 1, 1, 1")
PRODUCT(left_across, "m64n8k16.f32.f16.f16", FOUR, ", 1, 1, 1, 0")

// xorshift64
U64 state = 88172645463325252u;
U32 next() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return static_cast<U32>(state >> 16);
}
// With so many places and bits of exponent, within 2^-spread to 2^spread.
U32 number(int places, int exponent_bits, int spread) {
  const int most = (1 << exponent_bits) - 2;
  int exponent = most / 2 + static_cast<int>(next() % (2 * spread + 1)) - spread;
  exponent = exponent < 0 ? 0 : exponent > most ? most : exponent;
  const U32 sign = (next() & 1) << (places + exponent_bits);
  return sign | static_cast<U32>(exponent) << places | (next() & ((1u << places) - 1));
}

U64 described(unsigned leading, unsigned stride, unsigned mode) {
  return static_cast<U64>(leading >> 4) << 16 | static_cast<U64>(stride >> 4) << 32 |
         static_cast<U64>(mode) << 62;
}

enum class Start { f32, f16, bits };
struct Case {
  const char* name;
  void (*product)(const U32*, const U32*, const U32*, U32*, U64, U64);
  int bytes, places, exponent_bits;  // of a number; 0 bytes: any bits
  Start start;
  U64 left, right;
  int spread;
};

std::vector<Case> cases() {
  const U64 plain = described(128, 256, 0);
  std::vector<Case> all;
  for (const int spread : {1, 4, 20}) {
    all.push_back({"f16", f16, 2, 10, 5, Start::f32, plain, plain, spread});
    all.push_back({"bf16", bf16, 2, 7, 8, Start::f32, plain, plain, spread});
    all.push_back({"tf32", tf32, 4, 23, 8, Start::f32, plain, plain, spread});
    all.push_back({"e4m3", e4m3, 1, 3, 4, Start::f32, plain, plain, spread});
    all.push_back({"e5m2", e5m2, 1, 2, 5, Start::f32, plain, plain, spread});
    all.push_back({"e4m3 to f16", e4m3_to_f16, 1, 3, 4, Start::f16, plain, plain, spread});
    all.push_back({"e5m2 to f16", e5m2_to_f16, 1, 2, 5, Start::f16, plain, plain, spread});
    all.push_back({"f16 to f16", f16_to_f16, 2, 10, 5, Start::f16, plain, plain, spread});
  }
  all.push_back({"s8", s8, 0, 0, 0, Start::bits, plain, plain, 0});
  all.push_back({"u8 saturated", u8_saturated, 0, 0, 0, Start::bits, plain, plain, 0});
  all.push_back({"negated", negated, 2, 10, 5, Start::f32, plain, plain, 2});
  all.push_back({"f16 of any bits", f16, 0, 0, 0, Start::f32, plain, plain, 3});
  all.push_back({"tf32 of any bits", tf32, 0, 0, 0, Start::f32, plain, plain, 3});
  all.push_back({"e4m3 of any bits", e4m3, 0, 0, 0, Start::f32, plain, plain, 3});
  all.push_back({"e5m2 of any bits", e5m2, 0, 0, 0, Start::f32, plain, plain, 3});
  const auto halves = [&](const char* name, auto* product, U64 left, U64 right) {
    all.push_back({name, product, 2, 10, 5, Start::f32, left, right, 2});
  };
  const U64 by_128 = described(16, 1024, 1);
  halves("along 128", f16, by_128, by_128);
  halves("along 128 further on", f16, by_128 + 2, by_128 + 4);
  halves("along 64", f16, described(16, 512, 2), described(16, 512, 2));
  halves("along 32", f16, described(16, 256, 3), described(16, 256, 3));
  halves("across 16", left_across, plain, plain);
  halves("across 128", left_across, described(2048, 1024, 1), plain);
  halves("across 64", left_across, described(1024, 512, 2), plain);
  halves("across 32", left_across, described(512, 256, 3), plain);
  halves("both across 16", both_across, plain, plain);
  halves("both across 64", both_across, described(1024, 512, 2), described(1024, 512, 2));
  return all;
}

U32* on_device(const std::vector<U32>& words) {
  U32* to = nullptr;
  require(cudaMalloc(&to, words.size() * sizeof(U32)));
  require(cudaMemcpy(to, words.data(), words.size() * sizeof(U32), cudaMemcpyHostToDevice));
  return to;
}

}  // namespace

int main() {
  for (const Case& one : cases()) {
    const auto operand = [&] {
      std::vector<U32> words(kProducts * kWords);
      for (U32& word : words) {
        if (one.bytes == 0) {
          word = next();
          continue;
        }
        word = 0;
        for (int j = 0; j < 4 / one.bytes; ++j) {
          word |= number(one.places, one.exponent_bits, one.spread) << 8 * one.bytes * j;
        }
      }
      return words;
    };
    U32 *const left = on_device(operand()), *const right = on_device(operand());
    std::vector<U32> results(kProducts * kResults);
    for (U32& word : results) {
      if (one.start == Start::bits) {
        word = next();
      } else if (one.start == Start::f32) {
        word = number(23, 8, one.spread + 2);
      } else {
        const U32 low = number(10, 5, 3);
        word = low | number(10, 5, 3) << 16;
      }
    }
    U32 *const before = on_device(results), *const after = on_device(results);
    one.product<<<kProducts, kThreads>>>(left, right, before, after, one.left, one.right);
    require(cudaDeviceSynchronize());
    require(
        cudaMemcpy(results.data(), after, results.size() * sizeof(U32), cudaMemcpyDeviceToHost));
    for (U32* const memory : {left, right, before, after}) require(cudaFree(memory));
    U64 sum = 14695981039346656037u;  // FNV-1a
    for (const U32 word : results) {
      for (int i = 0; i < 4; ++i) sum = (sum ^ (word >> 8 * i & 255)) * 1099511628211u;
    }
    std::printf("%s %d,%016llx\n", one.name, one.spread, static_cast<unsigned long long>(sum));
  }
}
