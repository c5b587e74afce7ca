// The contract between the stand-in CUDA headers, the CUDA runtime functions (api.cpp) and the
// machine that runs kernels (scheduler.cpp). Included by the stand-in headers: keep it light.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simt {

struct LaunchShape {
  unsigned grid[3] = {1, 1, 1};
  unsigned block[3] = {1, 1, 1};
  unsigned cluster[3] = {0, 0, 0};  // in blocks; before it is checked, 0: not given
  std::size_t dynamic_shared_bytes = 0;
  void* stream = nullptr;
  int stream_number = 0;               // of it (streams.hpp)
  std::uintptr_t program_counter = 0;  // in the program's launch; 0 if unknown
  bool may_begin_early = false;        // before the stream's earlier work has ended
};

// `invoke(body)` runs the kernel body once; `body` points at a bitwise copy of the closure.
using KernelInvoke = void (*)(void* body);

// Called by a translated kernel's host function. Reads the shape left by configure() on this host
// thread, validates it as the CUDA runtime would (errors through set_last_error, api.cpp), runs all
// blocks and returns when they are done. In `bounds` 0 stands for what was not declared.
// `program_counter` lies in the kernel's host function and names the kernel.
struct launch_bounds;
void launch_kernel(const void* closure, std::size_t closure_bytes, KernelInvoke invoke,
                   const launch_bounds& bounds, void* program_counter);

// scheduler.cpp: runs a validated launch, one after another if several host threads call. Returns a CUDA error code (0 = success, 700 = illegal
// address, 702 = launch timeout, 710 = assert, 719 = launch failure).
int run_grid(const LaunchShape& shape, const void* closure, std::size_t closure_bytes,
             KernelInvoke invoke, void* program_counter);

// What last_error_detail() (simt.hpp) says of the error that this host thread's call will return.
void set_error_detail(const char* text);

// program_image.cpp: figures of a kernel, found from any address inside its host function.
std::size_t static_shared_bytes(const void* kernel_function);

// ---- Device-side services used by the stand-in headers (scheduler.cpp) ----
void* dynamic_shared();  // start of the block's dynamic shared memory, 1024-byte aligned
// __syncthreads, and __syncthreads_count, from which _and and _or follow. `place` is what
// __builtin_source_location() gives where the barrier stands: the compiler may make one call of two
// barriers, and two calls of one.
void block_barrier(const void* place);
int block_barrier_count(int predicate, const void* place);
void warp_barrier(unsigned mask);  // __syncwarp
void fence(bool for_all);          // __threadfence; not for all: __threadfence_block
unsigned active_mask();            // __activemask: lanes of the warp that have not ended

// Thread block clusters. The two halves of their barrier, both together, and the extents of the running
// block's cluster. A pointer to shared memory of one of its blocks becomes the same of another, or says
// whose it is.
void cluster_arrive(const void* place);
void cluster_arrive_relaxed(const void* place);  // and orders nothing
void cluster_wait(const void* place);
void cluster_sync(const void* place);
unsigned cluster_extent(int axis);
void* map_shared(const void* pointer, unsigned rank);
unsigned shared_rank(const void* pointer);

// Barriers in shared memory, as <cuda/ptx> has them (mbarriers.cpp). All but st_async's are the running block's own.
void mbarrier_init(void* barrier, unsigned count);
void mbarrier_fence();                                   // fence.mbarrier_init
void mbarrier_arrive(void* barrier, unsigned bytes);     // and expects so many more
bool mbarrier_try_wait(void* barrier, unsigned parity);  // false: not complete yet
// Stores 4, 8 or 16 bytes to the shared memory of a block of the cluster and lets them arrive at a barrier there.
void st_async(void* to, const void* value, std::size_t bytes, void* barrier);

// Of launches that may begin before earlier ones have ended: the thread waits for these; it lets the next one
// begin.
void wait_for_launches();
void let_next_launch_begin();

enum class Exchange { index, up, down, butterfly };
// Shuffle of up to 8 bytes. `operand` is the lane, delta or lane mask; `width` as in CUDA.
std::uint64_t warp_exchange(unsigned mask, std::uint64_t bits, Exchange kind, unsigned operand,
                            int width);
// Ballot over `mask` of the lanes whose predicate is non-zero; any, all follow from it.
unsigned warp_ballot(unsigned mask, int predicate);
// __match_any_sync: lanes of `mask` whose `bits` equal the caller's.
unsigned warp_match_any(unsigned mask, std::uint64_t bits);

// The calling lane's part of a tensor-core instruction: four numbers of C and of D.
struct MmaSums {
  float s0, s1, s2, s3;
};
// D = A B + C with A 16 x depth, B depth x 8 and C 16 x 8, where depth is 8, or 4 and then a2, a3 and b1
// are nothing. The registers are those of PTX's mma.sync.aligned.m16n8k8 and m16n8k4 with .tf32 inputs:
// of the inputs the last 13 bits do not count. All 32 lanes of the warp must call (scheduler.cpp).
MmaSums warp_mma_tf32(unsigned depth, std::uint32_t a0, std::uint32_t a1, std::uint32_t a2,
                      std::uint32_t a3, std::uint32_t b0, std::uint32_t b1, MmaSums c);
// Waits for all 32 lanes of the warp to call it, as instructions do that PTX calls .sync.aligned. Orders
// nothing.
void warp_aligned();

// What PTX calls the address of shared memory, 32 bits wide: static arrays begin at 0, dynamic shared
// memory at 2^24.
std::size_t shared_offset(const void* pointer);
struct MatrixRegisters {
  std::uint32_t r0, r1, r2, r3;
};
// PTX's ldmatrix of 1, 2 or 4 matrices of 8 rows of 16 bytes: lane 8 i + j names row j of matrix i; of
// each matrix lane l gets the word l % 4 of row l / 4.
MatrixRegisters warp_load_matrices(unsigned matrices, std::uint32_t row);

// Records one atomic access of 4 or 8 bytes (2 for 16-bit CAS) before it is performed: bounds,
// alignment, initialised, races (atomics do not race with atomics), counted as an atomic. The
// program counter is the line in the user's source that called the atomic function; the frame is
// that of the same call, so the atomic function itself must call this (the default looks at its
// caller).
void note_atomic(const void* address, unsigned bytes, void* program_counter,
                 void* frame = __builtin_dwarf_cfa());

// Asynchronous copies of the calling thread (async_copies.cpp). async_copy starts one of 4, 8 or 16
// bytes from global to shared memory, the last `zero_fill` bytes zeros; commit_copies closes a batch
// of them; wait_for_copies returns when all batches but the `prior` latest (at most 8, as nvcc's
// header has it) are in shared memory.
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zero_fill);
void commit_copies();
void wait_for_copies(std::size_t prior);

// Instrumented host code touches memory while streams::host_may_be_early (api.cpp). `pc` is relative to
// the load address.
void host_access(std::uintptr_t address, std::size_t bytes, bool writes, std::uint32_t pc);
void host_copies(void* to, const void* from, std::size_t bytes);  // cuda/device_functions.h

// Each ends the calling thread and the grid with a finding: __trap() (719), a failed assert (710), whose
// program counter is the line of the assert.
[[noreturn]] void trap();
[[noreturn]] void fail_assertion(const char* expression, void* program_counter);

// The same for what no kernel may do: "calls abort()". The program counter is the caller's, or where it
// has no line, that of what the thread did last.
[[noreturn]] void stop_kernel(const char* what, void* program_counter);

// Keeps what the calling thread prints for Launch::printed. False if it is to go to stdout.
bool keep_printed(const char* text, std::size_t bytes);
// The running kernel does what cannot be taken back: its launch is not run again.
void cannot_be_undone();
bool inside_kernel();  // true on a simulated thread; the CUDA API must not be called there

}  // namespace simt
