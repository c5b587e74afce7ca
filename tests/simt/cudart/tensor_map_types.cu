// Types of tensor maps by which a copy changes what it copies, beside what an H200 made of the same numbers: TF32 is rounded
// on its way to shared memory, FTZ flushes what is added. The program's answers are a GPU's own.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <iterator>

constexpr int kFloats = 32, kThere = 28;  // behind these the tensor ends

struct Row {
  std::uint32_t in, loaded_as_tf32, twice, twice_flushed;
};
constexpr Row kRows[] = {
    {0x3f800fff, 0x3f800000, 0x40000fff, 0x40000fff},
    {0x3f801000, 0x3f800000, 0x40001000, 0x40001000},
    {0x3f801001, 0x3f802000, 0x40001001, 0x40001001},
    {0x3f803000, 0x3f804000, 0x40003000, 0x40003000},
    {0xbf803000, 0xbf804000, 0xc0003000, 0xc0003000},
    {0x3fffffff, 0x40000000, 0x407fffff, 0x407fffff},
    {0x7f7fffff, 0x7f800000, 0x7f800000, 0x7f800000},
    {0x7f7fefff, 0x7f7fe000, 0x7f800000, 0x7f800000},
    {0xff800000, 0xff800000, 0xff800000, 0xff800000},
    {0x7f800001, 0x7fffe000, 0x7fffffff, 0x7fffffff},
    {0xffc01234, 0x7fffe000, 0x7fffffff, 0x7fffffff},
    {0x80000000, 0x80000000, 0x80000000, 0x80000000},
    {0x00001000, 0x00000000, 0x00002000, 0x00000000},
    {0x00001001, 0x00002000, 0x00002002, 0x00000000},
    {0x007fffff, 0x00800000, 0x00fffffe, 0x00000000},
    {0x80401234, 0x80402000, 0x80802468, 0x80000000},
    {0x00800fff, 0x00800000, 0x01000fff, 0x01000fff},
};
constexpr int kRowCount = std::size(kRows);

__global__ void load(const __grid_constant__ CUtensorMap map, std::uint32_t* to) {
  __shared__ alignas(128) std::uint32_t tile[kFloats];
  __shared__ alignas(8) std::uint64_t barrier;
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const auto filled = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(filled) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(filled), "n"(4 * kFloats)
               : "memory");
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {0}], [%2];" ::"r"(at),
      "l"(&map), "r"(filled)
      : "memory");
  asm volatile(
      "{ .reg .pred done; again: mbarrier.try_wait.parity.shared.b64 done, [%0], 0; "
      "@!done bra again; }" ::"r"(filled)
      : "memory");
  for (int i = 0; i < kFloats; ++i) to[i] = tile[i];
}

__global__ void add(const __grid_constant__ CUtensorMap map, const std::uint32_t* from) {
  __shared__ alignas(128) std::uint32_t tile[kFloats];
  for (int i = 0; i < kFloats; ++i) tile[i] = from[i];
  const auto at = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  asm volatile("fence.proxy.async;" ::: "memory");
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%0, {0}], [%1];" ::"l"(
          &map),
      "r"(at)
      : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

int main() {
  std::uint32_t in[kFloats] = {}, out[kFloats] = {}, *tensor, *other;
  for (int i = 0; i < kRowCount; ++i) in[i] = kRows[i].in;
  if (cudaMalloc(&tensor, sizeof in) != cudaSuccess ||
      cudaMalloc(&other, sizeof in) != cudaSuccess) {
    return 1;
  }
  int wrong = 0;
  const auto expect = [&](const char* what, int i, std::uint32_t expected) {
    if (out[i] == expected) return;
    std::printf("%s %d: %08x instead of %08x\n", what, i, out[i], expected);
    ++wrong;
  };
  for (const CUtensorMapDataType type :
       {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ}) {
    const bool is_tf32 = type >= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    const bool flushes =
        type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    CUtensorMap map;
    const cuuint64_t size = kThere, none = 0;
    const cuuint32_t box = kFloats, step = 1;
    if (cuTensorMapEncodeTiled(&map, type, 1, tensor, &size, &none, &box, &step,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                               CU_TENSOR_MAP_L2_PROMOTION_NONE,
                               CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) != CUDA_SUCCESS) {
      return 2;
    }
    cudaMemcpy(tensor, in, sizeof in, cudaMemcpyHostToDevice);
    load<<<1, 1>>>(map, other);
    cudaMemcpy(out, other, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < kRowCount; ++i) {
      expect("loaded", i, is_tf32 ? kRows[i].loaded_as_tf32 : kRows[i].in);
    }
    for (int i = kThere; i < kFloats; ++i) expect("beyond", i, 0x7ff77ff7);
    cudaMemcpy(other, in, sizeof in, cudaMemcpyHostToDevice);
    add<<<1, 1>>>(map, other);
    if (cudaMemcpy(out, tensor, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
    for (int i = 0; i < kRowCount; ++i) {
      expect("added", i, flushes ? kRows[i].twice_flushed : kRows[i].twice);
    }
  }
  if (wrong == 0) std::puts("all right");
  return wrong == 0 ? 0 : 4;
}
