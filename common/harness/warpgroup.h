// What Hopper's tensor cores take from a warpgroup, four warps side by side: wgmma, and what goes with it. Only for
// code that is compiled for compute capability 9.0a.
#pragma once

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cuda/ptx>

namespace halo {

constexpr int kWarpgroup = 128;  // threads

// Registers go from warpgroups that copy to those that multiply. All warps of a warpgroup call it, in a branch of their
// own.
template <int kRegisters>
__device__ __forceinline__ void give_up_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// Waits until the barrier's phase of this parity is over. Of a barrier that is new, phase 1 is.
__device__ __forceinline__ void wait_for_phase(std::uint64_t* barrier, int parity) {
  while (!cuda::ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
}
__device__ __forceinline__ void arrive(std::uint64_t* barrier) {
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cta, cuda::ptx::space_shared,
                             barrier);
}
// The same for a barrier that blocks of a cluster arrive at: their writes are there, and reads are done.
__device__ __forceinline__ void wait_for_phase_of_cluster(std::uint64_t* barrier, int parity) {
  while (!cuda::ptx::mbarrier_try_wait_parity(cuda::ptx::sem_acquire, cuda::ptx::scope_cluster,
                                              barrier, parity)) {
  }
}
// At the one that a block of the cluster has where this one has `barrier`.
__device__ __forceinline__ void arrive_in_cluster(std::uint64_t* barrier, int block) {
  cuda::ptx::mbarrier_arrive(cuda::ptx::sem_release, cuda::ptx::scope_cluster,
                             cuda::ptx::space_cluster,
                             cooperative_groups::cluster_group::map_shared_rank(barrier, block));
}
// Arrives once the thread's asynchronous copies so far are there.
__device__ __forceinline__ void arrive_when_copied(std::uint64_t* barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
               : "memory");
}

// A matrix [8 * n][8] of TF32 in shared memory, as wgmma takes its second factor: cores of 8 rows by 16 bytes,
// each in one piece of 128 bytes; the two that are beside each other follow each other, and then come the next 8 rows.
// 16-byte aligned. Of the address of shared memory the low 18 bits count: in a cluster higher ones name the block.
__device__ __forceinline__ std::uint64_t shared_matrix(const void* first) {
  constexpr std::uint64_t kBeside = 128, kBelow = 256;
  const std::uint64_t at = __cvta_generic_to_shared(first) & 0x3ffff;
  return at >> 4 | kBeside >> 4 << 16 | kBelow >> 4 << 32;
}
// The same for a matrix so many bytes behind.
__device__ __forceinline__ std::uint64_t behind(std::uint64_t matrix, int bytes) {
  return matrix + (bytes >> 4);
}

// Before the first product of those that are then committed together: registers that were written are written.
__device__ __forceinline__ void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// All of the warpgroup's products are done: sums may be read, factors written.
__device__ __forceinline__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// sums[64][kColumns] += a[64][8] * b[kColumns][8] transposed, by a warpgroup; without `adds` it is what they become.
// Warp w has of a and of the sums rows 16 * w ... + 15, distributed as multiply_tf32's (tf32.h): each 8 columns of the
// sums are four registers.
template <int kColumns>
__device__ __forceinline__ void multiply_tf32_warpgroup(float (&sums)[kColumns / 2],
                                                        const std::uint32_t (&a)[4],
                                                        std::uint64_t b, bool adds);

// Of each number of columns the same instruction, which names all its registers.
// clang-format off
#define HALO_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, " \
  "%8, %9, %10, %11, %12, %13, %14, %15"
#define HALO_SUMS_16 \
  "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), \
  "+f"(sums[4]), "+f"(sums[5]), "+f"(sums[6]), "+f"(sums[7]), \
  "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]), \
  "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15])
#define HALO_NAMES_32 HALO_NAMES_16 ", %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define HALO_SUMS_32 HALO_SUMS_16, \
  "+f"(sums[16]), "+f"(sums[17]), "+f"(sums[18]), "+f"(sums[19]), \
  "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]), \
  "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), \
  "+f"(sums[28]), "+f"(sums[29]), "+f"(sums[30]), "+f"(sums[31])
#define HALO_NAMES_40 HALO_NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39"
#define HALO_SUMS_40 HALO_SUMS_32, \
  "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]), \
  "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39])
#define HALO_NAMES_48 HALO_NAMES_40 ", %40, %41, %42, %43, %44, %45, %46, %47"
#define HALO_SUMS_48 HALO_SUMS_40, \
  "+f"(sums[40]), "+f"(sums[41]), "+f"(sums[42]), "+f"(sums[43]), \
  "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47])
#define HALO_NAMES_64 HALO_NAMES_48 ", %48, %49, %50, %51, %52, %53, %54, %55, " \
  "%56, %57, %58, %59, %60, %61, %62, %63"
#define HALO_SUMS_64 HALO_SUMS_48, \
  "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), \
  "+f"(sums[52]), "+f"(sums[53]), "+f"(sums[54]), "+f"(sums[55]), \
  "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]), \
  "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63])
#define HALO_WGMMA(columns, names, sums_of, adds_at, a_at, b_at)                                 \
  template <>                                                                                    \
  __device__ __forceinline__ void multiply_tf32_warpgroup<columns>(                              \
      float (&sums)[columns / 2], const std::uint32_t (&a)[4], std::uint64_t b, bool adds) {     \
    asm volatile("{.reg .pred adds;\n"                                                           \
                 "setp.ne.b32 adds, " adds_at ", 0;\n"                                           \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k8.f32.tf32.tf32 "                \
                 "{" names "}, {" a_at "}, " b_at ", adds, 1, 1;}"                               \
                 : sums_of                                                                       \
                 : "r"(int{adds}), "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));          \
  }
HALO_WGMMA(32, HALO_NAMES_16, HALO_SUMS_16, "%16", "%17, %18, %19, %20", "%21")
HALO_WGMMA(64, HALO_NAMES_32, HALO_SUMS_32, "%32", "%33, %34, %35, %36", "%37")
HALO_WGMMA(80, HALO_NAMES_40, HALO_SUMS_40, "%40", "%41, %42, %43, %44", "%45")
HALO_WGMMA(96, HALO_NAMES_48, HALO_SUMS_48, "%48", "%49, %50, %51, %52", "%53")
HALO_WGMMA(128, HALO_NAMES_64, HALO_SUMS_64, "%64", "%65, %66, %67, %68", "%69")
#undef HALO_WGMMA
#undef HALO_NAMES_16
#undef HALO_SUMS_16
#undef HALO_NAMES_32
#undef HALO_SUMS_32
#undef HALO_NAMES_40
#undef HALO_SUMS_40
#undef HALO_NAMES_48
#undef HALO_SUMS_48
#undef HALO_NAMES_64
#undef HALO_SUMS_64
// clang-format on

}  // namespace halo
