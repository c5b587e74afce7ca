// What device functions return, and how vector types move.
#include <cuda_runtime.h>

#include "device_array.hpp"
#include "device_functions.hpp"

namespace device_functions {

// ---- functions whose results are exact ----

// What an H200 gives (CUDA 13.0) stands beside each.
__global__ void exact(Exact* out, float zero) {
  int i = 0;
  const auto gives = [&](long long got, long long expected) { out[i++] = {got, expected}; };
  const float nan = zero / zero, inf = 1.0f / zero;
  const double dnan = nan, dinf = inf;
  constexpr long long kLeast = -9223372036854775807 - 1;
  gives(__popc(0xf0f00001u), 9);
  gives(__popcll(0xf0f0000100000003ull), 11);
  gives(__clz(0), 32);
  gives(__clz(1), 31);
  gives(__clz(-1), 0);
  gives(__clzll(0), 64);
  gives(__clzll(1ll << 40), 23);
  gives(__ffs(0), 0);
  gives(__ffs(0x50), 5);
  gives(__ffsll(1ll << 40), 41);
  gives(__brev(0x12345678u), 510274632);
  gives(__brevll(0x123456789abcdef0ull), 1115552785675988040);
  gives(__byte_perm(0x33221100u, 0x77665544u, 0x7531u), 2002072337);
  gives(__byte_perm(0x33221180u, 0x77665544u, 0x0e98u), 2154172800);
  gives(__funnelshift_l(0x12345678u, 0x9abcdef0u, 8), 3168727058);
  gives(__funnelshift_l(0x12345678u, 0x9abcdef0u, 40), 3168727058);
  gives(__funnelshift_r(0x12345678u, 0x9abcdef0u, 8), 4027724886);
  gives(__funnelshift_r(0x12345678u, 0x9abcdef0u, 0), 305419896);
  gives(__funnelshift_lc(0x12345678u, 0x9abcdef0u, 40), 305419896);
  gives(__funnelshift_rc(0x12345678u, 0x9abcdef0u, 40), 2596069104);
  gives(__mulhi(-123456789, 987654321), -28389653);
  gives(__umulhi(4000000000u, 4000000001u), 3725290299);
  gives(__mul64hi(-1234567890123456789ll, 987654321098765432ll), -66099811787816347);
  gives(__umul64hi(~0ull, 12345678901234567890ull), -6101065172474983727);
  gives(__mul24(0x00ffffff, 3), -3);
  gives(__mul24(0x7f800001, -5), 41943035);
  gives(__umul24(0xff000003u, 0xffffffu), 50331645);
  gives(__sad(-2000000000, 2000000000, 7u), 4000000007);
  gives(__usad(3u, 4000000000u, 7u), 4000000004);
  gives(__hadd(-7, 2), -3);
  gives(__rhadd(-7, 2), -2);
  gives(__uhadd(4000000000u, 4000000001u), 4000000000);
  gives(__urhadd(4000000000u, 4000000001u), 4000000001);
  gives(__dp4a(0x0102ff80, 0x7f80ff7f, 1000), -15384);
  gives(__dp4a(0x0102ff80u, 0x7f80ff7fu, 1000u), 82664);
  const struct {
    float x;
    long long expected[13];  // of the conversions below, in their order
  } reals[] = {
      {2.5f, {2, 2, 3, 2, 2, 2, 2, 2, 3, 2, 2, 2, 1065353216}},
      {3.5f, {4, 3, 4, 3, 4, 3, 4, 3, 4, 3, 3, 4, 1065353216}},
      {-2.5f, {-2, -2, -2, -3, 0, 0, -2, 0, -2, 0, -2, 0, 0}},
      {-0.5f, {0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {1e10f,
       {2147483647, 2147483647, 2147483647, 2147483647, 4294967295, 4294967295, 10000000000,
        10000000000, 2147483647, 4294967295, 10000000000, 10000000000, 1065353216}},
      {-1e10f,
       {-2147483648, -2147483648, -2147483648, -2147483648, 0, 0, -10000000000, 0, -2147483648, 0,
        -10000000000, 0, 0}},
      {nan, {0, 0, 0, 0, 0, 0, kLeast, kLeast, -2147483648, 2147483648, kLeast, kLeast, 0}},
      {inf,
       {2147483647, 2147483647, 2147483647, 2147483647, 4294967295, 4294967295, 9223372036854775807,
        -1, 2147483647, 4294967295, 9223372036854775807, -1, 1065353216}},
      {-inf,
       {-2147483648, -2147483648, -2147483648, -2147483648, 0, 0, kLeast, 0, -2147483648, 0, kLeast,
        0, 0}},
      {1e20f,
       {2147483647, 2147483647, 2147483647, 2147483647, 4294967295, 4294967295, 9223372036854775807,
        -1, 2147483647, 4294967295, 9223372036854775807, -1, 1065353216}},
      {-1e20f,
       {-2147483648, -2147483648, -2147483648, -2147483648, 0, 0, kLeast, 0, -2147483648, 0, kLeast,
        0, 0}},
  };
  for (const auto& [x, expected] : reals) {
    const long long* next = expected;
    gives(__float2int_rn(x), *next++);
    gives(__float2int_rz(x), *next++);
    gives(__float2int_ru(x), *next++);
    gives(__float2int_rd(x), *next++);
    gives(__float2uint_rn(x), *next++);
    gives(__float2uint_rz(x), *next++);
    gives(__float2ll_rn(x), *next++);
    gives(static_cast<long long>(__float2ull_rd(x)), *next++);
    gives(__double2int_ru(x), *next++);
    gives(__double2uint_rd(x), *next++);
    gives(__double2ll_rz(x), *next++);
    gives(static_cast<long long>(__double2ull_rn(x)), *next++);
    gives(__float_as_int(__saturatef(x)), *next++);
  }
  gives(__float2ll_rn(inf), 9223372036854775807);
  gives(__double2ll_rn(dnan), kLeast);
  gives(__double2int_rn(dinf), 2147483647);
  gives(__float_as_int(1.5f), 1069547520);
  gives(__float_as_uint(-1.5f), 3217031168);
  gives(__float_as_int(__int_as_float(0x40490fdb)), 1078530011);
  gives(__double_as_longlong(-2.25), -4611123068473966592);
  gives(__double2hiint(3.5), 1074528256);
  gives(__double2loint(__hiloint2double(0x40091eb8, 0x51eb851f)), 1374389535);
  gives(__float_as_int(__int2float_rn(16777217)), 1266679808);
  gives(__float_as_int(__uint2float_rn(4294967295u)), 1333788672);
  gives(__float_as_int(__double2float_rn(0.1)), 1036831949);
  gives(__float_as_int(__fmaf_rn(1.0000001f, 1.0000001f, -1.0f)), 880803840);
  gives(__float_as_int(__fadd_rn(__fmul_rn(1.0000001f, 1.0000001f), -1.0f)), 880803840);
  gives(__float_as_int(__frcp_rn(3.0f)), 1051372203);
  gives(__float_as_int(__fdiv_rn(1.0f, 3.0f)), 1051372203);
  gives(__float_as_int(__fsqrt_rn(2.0f)), 1068827891);
  gives(__double_as_longlong(__dsqrt_rn(2.0)), 4609047870845172685);
  gives(__double_as_longlong(__fma_rn(0.1, 10.0, -1.0)), 4363988038922010624);
  gives(__float_as_int(min(nan, 1.0f)), 1065353216);
  gives(__float_as_int(max(1.0f, nan)), 1065353216);
  gives(min(-1, 1), -1);
  gives(max(-1, 1u), 4294967295);
  gives(min(-1ll, 1ull), 1);
  gives(max(3ul, 4ul), 4);
  gives(__double_as_longlong(max(1.0f, 2.0)), 4611686018427387904);
  gives(__float_as_int(sinpif(1.0f)), 0);
  gives(__float_as_int(sinpif(0.5f)), 1065353216);
  gives(__float_as_int(cospif(0.5f)), 0);
  gives(__float_as_int(cospif(3.0f)), -1082130432);
  gives(__float_as_int(norm3df(2.0f, 3.0f, 6.0f)), 1088421888);
  gives(__float_as_int(rsqrtf(4.0f)), 1056964608);
  gives(abs(-5) + static_cast<int>(abs(-2.5f) * 2), 10);
  // As <cuda/annotated_ptr> has them on the host, which its own tests hold to a GPU's.
  unsigned long long policy = 0;
  asm("createpolicy.fractional.L2::evict_unchanged.b64 %0;" : "=l"(policy));
  gives(policy, 0x10f0000000000000);
  asm("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %0, %1;"
      : "=l"(policy)
      : "f"(0.5f + zero));
  gives(policy, 0x1570000000000000);
  asm("createpolicy.range.global.L2::evict_normal.b64 %0, [%1], %2, %3;"
      : "=l"(policy)
      : "l"(4ull), "r"(1u), "r"(1u));
  gives(policy, 0x1e00002000000000);
  asm("createpolicy.range.L2::evict_first.L2::evict_first.b64 %0, [%1 + 16], %2, %3;"
      : "=l"(policy)
      : "l"(0x45678ull), "r"(1u << 16), "r"(1u << 20));
  gives(policy, 0x1b12212000000000);
}

std::vector<Exact> exact_results() {
  DeviceArray<Exact> out(std::vector<Exact>(400, Exact{}));
  exact<<<1, 1>>>(out.get(), 0.0f);
  if (cudaGetLastError() != cudaSuccess) return {};
  std::vector<Exact> results = out.download();
  while (!results.empty() && results.back().got == 0) results.pop_back();
  return results;
}

// ---- warps ----

constexpr unsigned kAll = 0xffffffffu;

// Block of two warps; the second warp's results are kept, so that lanes are not thread numbers.
__global__ void warp(long long* out) {
  const int lane = threadIdx.x % 32;
  const bool keep = threadIdx.x >= 32;
  long long results[22];
  int i = 0;
  const int value = 100 + lane;
  results[i++] = __shfl_sync(kAll, value, 5);
  results[i++] = __shfl_sync(kAll, value, lane + 1);
  results[i++] = __shfl_sync(kAll, value, 3, 8);
  results[i++] = __shfl_up_sync(kAll, value, 2);
  results[i++] = __shfl_up_sync(kAll, value, 2, 16);
  results[i++] = __shfl_down_sync(kAll, value, 3);
  results[i++] = __shfl_down_sync(kAll, value, 3, 8);
  results[i++] = __shfl_xor_sync(kAll, value, 7);
  results[i++] = __shfl_xor_sync(kAll, value, 8, 8);
  results[i++] = static_cast<long long>(__shfl_sync(kAll, 0.5 * lane, 31 - lane) * 2);
  results[i++] = static_cast<long long>(__shfl_down_sync(kAll, 0.5f * lane, 1) * 2);
  results[i++] = __shfl_xor_sync(kAll, 1ll << lane, 1);
  results[i++] = __ballot_sync(kAll, lane % 3 == 0);
  results[i++] = __any_sync(kAll, lane == 40);
  results[i++] = __any_sync(kAll, lane == 31);
  results[i++] = __all_sync(kAll, lane < 31);
  results[i++] = __all_sync(kAll, lane < 32);
  results[i++] = __match_any_sync(kAll, lane / 5);
  int same = -1;
  results[i++] = __match_all_sync(kAll, lane / 32, &same);
  results[i++] = same;
  results[i++] = __reduce_add_sync(kAll, static_cast<unsigned>(lane));
  results[i++] = __reduce_max_sync(kAll, lane % 7 - 3);
  if (keep) {
    for (int k = 0; k < i; ++k) out[k * 32 + lane] = results[k];
  }
}

// Only some lanes take part, in two groups with different masks.
__global__ void part_of_a_warp(long long* out) {
  const int lane = threadIdx.x;
  const unsigned odd = 0xaaaaaaaau;
  const unsigned mask = lane % 2 ? odd : ~odd;
  long long sum = lane;
  if (lane % 2) {
    for (int step = 16; step > 1; step /= 2) sum += __shfl_xor_sync(mask, sum, step);
  } else {
    for (int step = 16; step > 1; step /= 2) sum += __shfl_xor_sync(mask, sum, step);
  }
  out[lane] = sum;
  __syncwarp();
  out[32 + lane] = __ballot_sync(mask, lane < 16);
}

std::vector<WarpResult> warp_results() {
  static const char* const kNames[] = {"shfl 5",
                                       "shfl lane+1",
                                       "shfl 3 width 8",
                                       "shfl_up 2",
                                       "shfl_up 2 width 16",
                                       "shfl_down 3",
                                       "shfl_down 3 width 8",
                                       "shfl_xor 7",
                                       "shfl_xor 8 width 8",
                                       "shfl double",
                                       "shfl_down float",
                                       "shfl_xor long long",
                                       "ballot",
                                       "any 40",
                                       "any 31",
                                       "all 31",
                                       "all 32",
                                       "match_any",
                                       "match_all",
                                       "match_all predicate",
                                       "reduce_add",
                                       "reduce_max"};
  constexpr int kCount = sizeof(kNames) / sizeof(kNames[0]);
  DeviceArray<long long> whole(kCount * 32), part(64);
  warp<<<1, 64>>>(whole.get());
  part_of_a_warp<<<1, 32>>>(part.get());
  if (cudaGetLastError() != cudaSuccess) return {};
  std::vector<WarpResult> results;
  const std::vector<long long> lanes = whole.download();
  for (int k = 0; k < kCount; ++k) {
    results.push_back({kNames[k], {lanes.begin() + k * 32, lanes.begin() + (k + 1) * 32}});
  }
  const std::vector<long long> groups = part.download();
  results.push_back({"sum over odd and even lanes", {groups.begin(), groups.begin() + 32}});
  results.push_back({"ballot of odd and even lanes", {groups.begin() + 32, groups.end()}});
  return results;
}

// ---- atomics, by one thread: what they return and what they leave ----

// What an H200 gives (CUDA 13.0) stands beside each.
__global__ void atomics(Atomic* out) {
  __shared__ int shared_cell;
  int i = 0;
  const auto gives = [&](double got, double expected) { out[i++] = {got, expected}; };
  shared_cell = 5;
  gives(atomicAdd(&shared_cell, 3), 5);
  gives(atomicSub(&shared_cell, 10), 8);
  gives(atomicMin(&shared_cell, -7), -2);
  gives(atomicMax(&shared_cell, 9), -7);
  gives(atomicExch(&shared_cell, 12), 9);
  gives(atomicAnd(&shared_cell, 10), 12);
  gives(atomicOr(&shared_cell, 5), 8);
  gives(atomicXor(&shared_cell, 6), 13);
  gives(atomicCAS(&shared_cell, 1, 2), 11);
  gives(atomicCAS(&shared_cell, 11, 2), 11);
  gives(shared_cell, 2);
  __shared__ unsigned counter;
  counter = 2;
  gives(atomicInc(&counter, 3u), 2);
  gives(atomicInc(&counter, 3u), 3);
  gives(atomicInc(&counter, 3u), 0);
  gives(atomicDec(&counter, 3u), 1);
  gives(atomicDec(&counter, 3u), 0);
  counter = 9;
  gives(atomicDec(&counter, 3u), 9);
  gives(counter, 3);
  gives(atomicSub(&counter, 4u), 3);
  gives(counter == 0xffffffffu, 1);
  gives(atomicMax(&counter, 1u) == 0xffffffffu, 1);
  __shared__ float real;
  real = 1.5f;
  gives(atomicAdd(&real, 0.25f), 1.5);
  gives(atomicExch(&real, 8.0f), 1.75);
  gives(real, 8);
  __shared__ double wide;
  wide = 0.1;
  gives(atomicAdd(&wide, 0.2), 0.1);
  gives(wide, 0.1 + 0.2);
  __shared__ unsigned long long big;
  big = 1ull << 40;
  gives(static_cast<double>(atomicAdd(&big, 1ull)), 1099511627776);
  gives(static_cast<double>(atomicCAS(&big, (1ull << 40) + 1, 77ull)), 1099511627777);
  gives(static_cast<double>(atomicMin(&big, 50ull)), 77);
  gives(static_cast<double>(big), 50);
  __shared__ long long least;
  least = 5;
  gives(static_cast<double>(atomicMin(&least, -5ll)), 5);
  gives(static_cast<double>(least), -5);
  __shared__ unsigned short small[2];
  small[0] = 3, small[1] = 4;
  gives(atomicCAS(&small[1], static_cast<unsigned short>(4), static_cast<unsigned short>(9)), 4);
  gives(small[0] * 100 + small[1], 309);
  shared_cell = 0x7fffffff;
  gives(atomicAdd_block(&shared_cell, 1), 2147483647);
  gives(shared_cell, -2147483648);
}

std::vector<Atomic> atomic_results() {
  DeviceArray<Atomic> out(std::vector<Atomic>(100, Atomic{}));
  atomics<<<1, 1>>>(out.get());
  if (cudaGetLastError() != cudaSuccess) return {};
  std::vector<Atomic> results = out.download();
  while (!results.empty() && results.back().got == 0) results.pop_back();
  return results;
}

// ---- vectors: out[t] = in[t], however it is written ----

template <typename T>
__global__ void assign(const T* in, T* out) {
  out[threadIdx.x] = in[threadIdx.x];
}

template <typename T>
__global__ void through_a_local(const T* in, T* out) {
  T value = in[threadIdx.x];
  value.x += 0;
  out[threadIdx.x] = value;
}

__global__ void component_by_component(const float4* in, float4* out) {
  const float4 v = in[threadIdx.x];
  out[threadIdx.x] = make_float4(v.x, v.y, v.z, v.w);
}

__global__ void braces(const float4* in, float4* out) {
  float4 v = in[threadIdx.x];
  float4 copy = {v.x, v.y, v.z, v.w};
  out[threadIdx.x] = copy;
}

__global__ void cached_load(const float4* in, float4* out) {
  out[threadIdx.x] = __ldg(&in[threadIdx.x]);
}

__global__ void cast_pointers(const float* in, float* out) {
  reinterpret_cast<float4*>(out)[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x];
}

__global__ void conditional(const float4* in, float4* out, int n) {
  const int t = threadIdx.x;
  out[t] = t < n ? in[t] : make_float4(0, 0, 0, 0);
}

__global__ void through_a_union(const float4* in, float4* out) {
  union {
    float4 vector;
    float cells[4];
  } u;
  u.vector = in[threadIdx.x];
  for (float& cell : u.cells) cell += 0;
  out[threadIdx.x] = u.vector;
}

__global__ void through_registers(const float4* in, float4* out) {
  float4 cells[2];
  cells[0] = in[threadIdx.x];
  cells[1] = cells[0];
  out[threadIdx.x] = cells[1];
}

__device__ float4 load(const float4* p) { return *p; }
__device__ void store(float4* p, float4 value) { *p = value; }

__global__ void through_functions(const float4* in, float4* out) {
  store(&out[threadIdx.x], load(&in[threadIdx.x]));
}

__global__ void through_shared(const float4* in, float4* out) {
  __shared__ float4 tile[32];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x];
}

struct Pair {
  float4 first, second;
};

__global__ void structure(const Pair* in, Pair* out) { out[threadIdx.x] = in[threadIdx.x]; }

template <typename T, typename Kernel>
static bool moves(Kernel kernel) {
  std::vector<unsigned char> bytes(32 * sizeof(T));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i % 61 + 1);
  DeviceArray<unsigned char> in(bytes), out(bytes.size());
  kernel(reinterpret_cast<const T*>(in.get()), reinterpret_cast<T*>(out.get()));
  return cudaGetLastError() == cudaSuccess && out.download() == bytes;
}

#define RUN(T, launch) [] { return moves<T>([](const T* in, T* out) { launch; }); }

const std::vector<VectorCase>& vector_cases() {
  static const std::vector<VectorCase> cases = {
      {"char2", RUN(char2, (assign<<<1, 32>>>(in, out))), 1, 2, 1, 2},
      {"uchar4", RUN(uchar4, (assign<<<1, 32>>>(in, out))), 1, 4, 1, 4},
      {"short4", RUN(short4, (assign<<<1, 32>>>(in, out))), 1, 8, 1, 8},
      {"float1", RUN(float1, (assign<<<1, 32>>>(in, out))), 1, 4, 1, 4},
      {"float2", RUN(float2, (assign<<<1, 32>>>(in, out))), 1, 8, 1, 8},
      {"float4", RUN(float4, (assign<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"int2", RUN(int2, (assign<<<1, 32>>>(in, out))), 1, 8, 1, 8},
      {"uint4", RUN(uint4, (assign<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"double2", RUN(double2, (assign<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"longlong2", RUN(longlong2, (assign<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      // Three loads of 4 bytes at a stride of 12: each touches all 12 sectors of the warp's 384 bytes.
      {"float3", RUN(float3, (assign<<<1, 32>>>(in, out))), 3, 36, 3, 36},
      {"double4", RUN(double4, (assign<<<1, 32>>>(in, out))), 2, 64, 2, 64},
      {"char2 local", RUN(char2, (through_a_local<<<1, 32>>>(in, out))), 1, 2, 1, 2},
      {"float2 local", RUN(float2, (through_a_local<<<1, 32>>>(in, out))), 1, 8, 1, 8},
      {"float4 local", RUN(float4, (through_a_local<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"short2 local", RUN(short2, (through_a_local<<<1, 32>>>(in, out))), 1, 4, 1, 4},
      {"make_float4", RUN(float4, (component_by_component<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"braces", RUN(float4, (braces<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"__ldg", RUN(float4, (cached_load<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"cast pointers", RUN(float4, (cast_pointers<<<1, 32>>>(&in->x, &out->x))), 1, 16, 1, 16},
      {"conditional", RUN(float4, (conditional<<<1, 32>>>(in, out, 32))), 1, 16, 1, 16},
      {"union", RUN(float4, (through_a_union<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"registers", RUN(float4, (through_registers<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"functions", RUN(float4, (through_functions<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"shared", RUN(float4, (through_shared<<<1, 32>>>(in, out))), 1, 16, 1, 16},
      {"structure", RUN(Pair, (structure<<<1, 32>>>(in, out))), 2, 64, 2, 64},
  };
  return cases;
}

#undef RUN

// ---- indices ----

__global__ void indices(int* out) {
  const uint3 t = threadIdx;
  const dim3 g = gridDim;
  const dim3 b = blockDim;
  const uint3 k = blockIdx;
  const unsigned block = k.x + g.x * (k.y + g.y * k.z);
  const unsigned thread = t.x + b.x * (t.y + b.y * t.z);
  const unsigned cell = thread + b.x * b.y * b.z * block;
  out[cell] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x +
              10000 * blockIdx.y + 100000 * blockIdx.z + warpSize;
}

bool run_indices() {
  const dim3 grid(2, 3, 2), block(4, 2, 3);
  const unsigned cells = 2 * 3 * 2 * 4 * 2 * 3;
  DeviceArray<int> out(cells);
  indices<<<grid, block>>>(out.get());
  std::vector<int> want;
  for (int c = 0; c < 2; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 2; ++a)
        for (int z = 0; z < 3; ++z)
          for (int y = 0; y < 2; ++y)
            for (int x = 0; x < 4; ++x)
              want.push_back(x + 10 * y + 100 * z + 1000 * a + 10000 * b + 100000 * c + 32);
  return cudaGetLastError() == cudaSuccess && out.download() == want;
}

// ---- functions that a GPU computes fast, and not exactly ----

__device__ float fast(Fast function, float x) {
  switch (function) {
    case Fast::exp:
      return __expf(x);
    case Fast::exp10:
      return __exp10f(x);
    case Fast::log:
      return __logf(x);
    case Fast::log2:
      return __log2f(x);
    case Fast::log10:
      return __log10f(x);
    case Fast::sin:
      return __sinf(x);
    case Fast::cos:
      return __cosf(x);
    case Fast::tanh:
      return __tanhf(x);
    case Fast::quotient_of_3_3:
      return __fdividef(3.3f, x);
  }
  return 0;
}

__global__ void apply(Fast function, const float* in, float* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = fast(function, in[i]);
}

std::vector<float> fast_results(Fast function, const std::vector<float>& values) {
  DeviceArray<float> in(values), out(values.size());
  const int count = static_cast<int>(values.size());
  apply<<<(count + 255) / 256, 256>>>(function, in.get(), out.get(), count);
  return out.download();
}

__global__ void power_and_quotient(float a, float b, float* out) {
  out[0] = __powf(a, b);
  out[1] = __fdividef(a, b);
}

float fast_power(float base, float exponent) {
  DeviceArray<float> out(2);
  power_and_quotient<<<1, 1>>>(base, exponent, out.get());
  return out.download().at(0);
}

float fast_quotient(float dividend, float divisor) {
  DeviceArray<float> out(2);
  power_and_quotient<<<1, 1>>>(dividend, divisor, out.get());
  return out.download().at(1);
}

__global__ void read_clock(int* grew) {
  const long long before = clock64();
  __syncthreads();
  const long long between = clock64();
  const long long after = clock64();
  grew[blockIdx.x * blockDim.x + threadIdx.x] = before < between && between < after;
}

bool clock_grows() {
  DeviceArray<int> grew(8 * 64);
  read_clock<<<8, 64>>>(grew.get());
  return cudaGetLastError() == cudaSuccess && grew.download() == std::vector<int>(8 * 64, 1);
}

}  // namespace device_functions
